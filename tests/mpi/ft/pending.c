/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking receives from any source: told of a member that fails, they stay, and go on when that is acknowledged;
 * in each call that waits or looks. */
/* ranks: 3 4 8 */
/* mpiexec: -with-ft ulfm */
/* stderr: (?s)\A(mpiexec: ranks? [^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n)+\Z */
#include "ft.h"

enum { RECEIVES = 8, TAG = 5 };

static MPI_Request request[RECEIVES], named;
static int value[RECEIVES], other;

/* None of these completes one. */
static void looks(void)
{
    int flag = -1, i = -1, n = -1, some[RECEIVES];
    MPI_Status status[RECEIVES];
    CHECK_ERR(MPI_Test(&request[0], &flag, status), MPIX_ERR_PROC_FAILED_PENDING);
    CHECK_EQ(flag, 0);
    CHECK_SAYS("acknowledged");
    CHECK_ERR(MPI_Wait(&request[0], status), MPIX_ERR_PROC_FAILED_PENDING);
    CHECK_ERR(MPI_Request_get_status(request[1], &flag, status), MPIX_ERR_PROC_FAILED_PENDING);
    CHECK_EQ(flag, 0);
    CHECK_ERR(MPI_Waitany(RECEIVES, request, &i, status), MPIX_ERR_PROC_FAILED_PENDING);
    CHECK_EQ(i, 0, "the index");
    flag = -1;
    CHECK_ERR(MPI_Testany(RECEIVES, request, &i, &flag, status), MPIX_ERR_PROC_FAILED_PENDING);
    CHECK_EQ(flag, 0);
    CHECK_ERR(MPI_Waitsome(RECEIVES, request, &n, some, status), MPI_ERR_IN_STATUS);
    CHECK_EQ(n, RECEIVES, "those that wait");
    for (int k = 0; k < n && k < RECEIVES; k++) {
        CHECK_EQ(some[k], k);
        CHECK_EQ(ft_class(status[k].MPI_ERROR), MPIX_ERR_PROC_FAILED_PENDING, "status %d", k);
    }
    CHECK_ERR(MPI_Testsome(RECEIVES, request, &n, some, status), MPI_ERR_IN_STATUS);
    CHECK_ERR(MPI_Waitall(RECEIVES, request, status), MPI_ERR_IN_STATUS);
    for (int k = 0; k < RECEIVES; k++)
        CHECK_EQ(ft_class(status[k].MPI_ERROR), MPIX_ERR_PROC_FAILED_PENDING, "status %d", k);
    CHECK_ERR(MPI_Testall(RECEIVES, request, &flag, status), MPI_ERR_IN_STATUS);
    CHECK_EQ(flag, 0);
    for (int k = 0; k < RECEIVES; k++)
        CHECK(request[k] != MPI_REQUEST_NULL, "receive %d stays", k);
}

int main(int argc, char **argv)
{
    int num, go = 1, cancelled = 0;
    MPI_Status status;
    MPI_Request last;
    check_init(&argc, &argv);
    check_errors_return();
    if (check_rank == 0) {
        for (int i = 0; i < RECEIVES - 1; i++)
            MPI_Irecv(&value[i], 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request[i]);
        MPI_Recv_init(&value[RECEIVES - 1], 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                      &request[RECEIVES - 1]);
        MPI_Start(&request[RECEIVES - 1]);
        MPI_Irecv(&other, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &named); /* after those: a message is theirs */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 1)
        ft_die();
    if (check_rank == 0) {
        CHECK_ERR(MPI_Wait(&named, &status), MPIX_ERR_PROC_FAILED);
        CHECK_EQ(named == MPI_REQUEST_NULL, 1);
        looks();
        CHECK_ERR(MPI_Irecv(&other, 1, MPI_INT, MPI_ANY_SOURCE, TAG + 1, MPI_COMM_WORLD, &last), MPI_SUCCESS);
        CHECK_ERR(MPI_Wait(&last, &status), MPIX_ERR_PROC_FAILED_PENDING);
        CHECK_ERR(MPI_Cancel(&last), MPI_SUCCESS);
        CHECK_ERR(MPI_Wait(&last, &status), MPI_SUCCESS);
        MPI_Test_cancelled(&status, &cancelled);
        CHECK_EQ(cancelled, 1);
        CHECK_ERR(MPIX_Comm_ack_failed(MPI_COMM_WORLD, check_size, &num), MPI_SUCCESS);
        CHECK_EQ(num, 1);
        CHECK_ERR(MPI_Send(&go, 1, MPI_INT, 2, TAG, MPI_COMM_WORLD), MPI_SUCCESS);
        CHECK_ERR(MPI_Waitall(RECEIVES, request, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        for (int i = 0; i < RECEIVES; i++)
            CHECK_EQ(value[i], i, "in their order");
        MPI_Request_free(&request[RECEIVES - 1]);
    } else if (check_rank == 2) {
        CHECK_ERR(MPI_Recv(&go, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &status), MPI_SUCCESS);
        for (int i = 0; i < RECEIVES; i++)
            CHECK_ERR(MPI_Send(&i, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD), MPI_SUCCESS);
    }
    MPI_Comm made = ft_shrunk(MPI_COMM_WORLD, check_size - 1);
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    return check_done();
}
