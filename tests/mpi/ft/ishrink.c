/* SPDX-License-Identifier: BSD-3-Clause */
/* MPIX_Comm_ishrink: beside computation and other agreements, while members fail. */
/* ranks: 2 3 5 8 16 */
/* mpiexec: -with-ft ulfm */
/* stderr: (?s)\A(mpiexec: ranks? [^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n)+\Z */
#include "ft.h"
#include <stdbool.h>

/* A communicator that is being made is complete when its request is. */
static MPI_Comm made_beside(MPI_Comm comm, bool dies)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request[3];
    int flag = 3, other = 5;
    MPIX_Comm_iagree(comm, &flag, &request[0]);
    CHECK_ERR(MPIX_Comm_ishrink(comm, &made, &request[1]), MPI_SUCCESS);
    MPIX_Comm_iagree(comm, &other, &request[2]);
    if (dies) {
        for (int i = 0, over; i < check_rank; i++)
            MPI_Test(&request[1], &over, MPI_STATUS_IGNORE);
        ft_die();
    }
    CHECK_ERR(MPI_Wait(&request[1], MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Waitall(2, (MPI_Request[]){ request[0], request[2] }, MPI_STATUSES_IGNORE);
    CHECK_EQ(flag, 3);
    CHECK_EQ(other, 5);
    return made;
}

int main(int argc, char **argv)
{
    int size = 0, sum = 0, one = 1, result = -1;
    check_init(&argc, &argv);
    check_errors_return();
    MPI_Comm all = made_beside(MPI_COMM_WORLD, false), made, last;
    MPI_Comm_compare(all, MPI_COMM_WORLD, &result);
    CHECK_EQ(result, MPI_CONGRUENT);
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    MPI_Barrier(all);
    MPIX_Comm_revoke(all);
    made = made_beside(all, check_rank == 0 || check_rank == check_size - 2);
    int dead = check_size > 2 ? 2 : 1;
    last = ft_shrunk(made, check_size - dead); /* what was made may have one that died later */
    if (last == MPI_COMM_NULL)
        return 1;
    MPI_Comm_size(last, &size);
    CHECK_EQ(size, check_size - dead);
    CHECK_ERR(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, last), MPI_SUCCESS);
    CHECK_EQ(sum, size);
    MPI_Comm_free(&last);
    MPI_Comm_free(&made);
    MPI_Comm_free(&all);
    return check_done();
}
