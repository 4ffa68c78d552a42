/* SPDX-License-Identifier: BSD-3-Clause */
/* Members die at any time of an agreement, the first ones, which lead it, as well: those that live get the same. */
/* ranks: 3 5 8 16 */
/* mpiexec: -with-ft ulfm */
/* stderr: (?s)\A(mpiexec: ranks? [^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n)+\Z */
#include "ft.h"
#include <time.h>

/* A moment that is long enough for one message or a few. */
static void moment(int n)
{
    struct timespec t = { 0, n * 30000L };
    nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
    MPI_Comm made;
    check_init(&argc, &argv);
    check_errors_return();
    int dead = check_size > 4 ? 3 : 1;
    for (int round = 0; round < 20; round++) { /* without failures */
        int flag = ~(1 << check_rank % 16);
        CHECK_ERR(MPIX_Comm_agree(MPI_COMM_WORLD, &flag), MPI_SUCCESS);
        int all = -1;
        for (int i = 0; i < check_size; i++)
            all &= ~(1 << i % 16);
        CHECK_EQ(flag, all, "round %d", round);
    }
    int flag = 1 << check_rank | 1 << 20;
    if (check_rank <
        dead) { /* the leaders, each a little later than the one before: in its turn, or beside it */
        MPI_Request request;
        MPIX_Comm_iagree(MPI_COMM_WORLD, &flag, &request);
        for (int i = 0, over = 0; i < 2 + check_rank && !over; i++) {
            MPI_Test(&request, &over, MPI_STATUS_IGNORE);
            moment(check_rank);
        }
        ft_die();
    }
    MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
    made = ft_shrunk(MPI_COMM_WORLD, check_size - dead);
    if (made == MPI_COMM_NULL)
        return 1;
    int least, most;
    CHECK_ERR(MPI_Allreduce(&flag, &least, 1, MPI_INT, MPI_MIN, made), MPI_SUCCESS);
    CHECK_ERR(MPI_Allreduce(&flag, &most, 1, MPI_INT, MPI_MAX, made), MPI_SUCCESS);
    CHECK_EQ(least, most, "the same at all");
    MPI_Comm_free(&made);
    return check_done();
}
