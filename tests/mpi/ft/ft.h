/* SPDX-License-Identifier: BSD-3-Clause */
/* ft.h: ranks that fail on purpose, for tests of who survives (User-Level Failure Mitigation). */
#ifndef FT_H
#define FT_H

#include "../check.h"
#include <unistd.h>

/* The class of an error; MPI_SUCCESS of none. */
CHECK_UNUSED static int ft_class(int err)
{
    int c = err;
    if (err)
        MPI_Error_class(err, &c);
    return c;
}

/* Die as by a fault. */
CHECK_UNUSED static void ft_die(void)
{
    kill(getpid(), SIGKILL);
    pause();
}

/* Failed members of comm, as far as they are known. */
CHECK_UNUSED static int ft_failed(MPI_Comm comm)
{
    MPI_Group g;
    int n;
    MPIX_Comm_get_failed(comm, &g);
    MPI_Group_size(g, &n);
    if (n > 0)
        MPI_Group_free(&g);
    return n;
}

/* Until it is known here that n members have. */
CHECK_UNUSED static void ft_await(MPI_Comm comm, int n)
{
    while (ft_failed(comm) < n)
        ;
}

/* The last rank dies, and the others know that. */
CHECK_UNUSED static void ft_last_dies(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == check_size - 1)
        ft_die();
    ft_await(MPI_COMM_WORLD, 1);
}

/* A communicator of those that live, on which a sum comes out right. */
CHECK_UNUSED static MPI_Comm ft_shrunk(MPI_Comm comm, int expected)
{
    MPI_Comm made = MPI_COMM_NULL;
    int size = 0, one = 1, sum = 0;
    CHECK_ERR(MPIX_Comm_shrink(comm, &made), MPI_SUCCESS);
    if (made == MPI_COMM_NULL)
        return made;
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    MPI_Comm_size(made, &size);
    CHECK_EQ(size, expected, "members that live");
    CHECK_ERR(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made), MPI_SUCCESS);
    CHECK_EQ(sum, expected, "a sum of ones");
    return made;
}

#endif
