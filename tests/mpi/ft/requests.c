/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls for several requests, some of which fail: MPI_ERR_IN_STATUS, the class in the status of each, MPI_ERR_PENDING
 * of those that are not over; whoever is left can be waited for again. */
/* ranks: 8 */
/* across: that one is lost, and that others say so, is heard from the device */
/* mpiexec: -with-ft ulfm */
/* stderr: (?s)\A(mpiexec: ranks? [^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n)+\Z */
#include "ft.h"

static MPI_Request request[3];
static MPI_Status status[3];
static int data[3];

/* Receives from the other one that lives (it has come), from the next one that dies, and from the other one (it comes
 * in the second half). */
static void first_half(void)
{
    static int dead = 1;
    int other = 1 - check_rank, v = 7, over = 0;
    dead++;
    CHECK_ERR(MPI_Irecv(&data[0], 1, MPI_INT, other, 1, MPI_COMM_WORLD, &request[0]), MPI_SUCCESS);
    CHECK_ERR(MPI_Irecv(&data[1], 1, MPI_INT, dead, 2, MPI_COMM_WORLD, &request[1]), MPI_SUCCESS);
    CHECK_ERR(MPI_Irecv(&data[2], 1, MPI_INT, other, 3, MPI_COMM_WORLD, &request[2]), MPI_SUCCESS);
    CHECK_ERR(MPI_Send(&v, 1, MPI_INT, other, 1, MPI_COMM_WORLD), MPI_SUCCESS);
    while (!over)
        MPI_Request_get_status(request[0], &over, MPI_STATUS_IGNORE);
    CHECK_ERR(MPI_Send(&v, 1, MPI_INT, dead, 9, MPI_COMM_WORLD), MPI_SUCCESS);
    ft_await(MPI_COMM_WORLD, dead - 1);
}

/* Those that die in their turn: when 0 and 1 have come to that. */
static void dies(void)
{
    int v;
    MPI_Recv(&v, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&v, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ft_die();
}

static void second_half(void)
{
    int v = 8, n = 3, other = 1 - check_rank;
    CHECK_ERR(
        MPI_Sendrecv(&n, 1, MPI_INT, other, 4, &n, 1, MPI_INT, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        MPI_SUCCESS); /* it has come here, too */
    CHECK_ERR(MPI_Send(&v, 1, MPI_INT, 1 - check_rank, 3, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_ERR(MPI_Waitall(n, request, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    CHECK_EQ(data[0], 7);
    CHECK_EQ(data[2], 8);
    for (int i = 0; i < n; i++)
        CHECK(request[i] == MPI_REQUEST_NULL, "request %d", i);
}

static void waitall(void)
{
    first_half();
    CHECK_ERR(MPI_Waitall(3, request, status), MPI_ERR_IN_STATUS);
    CHECK_EQ(status[0].MPI_ERROR, MPI_SUCCESS);
    CHECK_EQ(ft_class(status[1].MPI_ERROR), MPIX_ERR_PROC_FAILED);
    CHECK_EQ(ft_class(status[2].MPI_ERROR), MPI_ERR_PENDING);
    CHECK(request[2] != MPI_REQUEST_NULL, "it is not over");
    second_half();
}

static void testall(void)
{
    int flag, err;
    first_half();
    do
        err = MPI_Testall(3, request, &flag, status);
    while (!err && !flag);
    CHECK_ERR(err, MPI_ERR_IN_STATUS);
    CHECK_EQ(ft_class(status[1].MPI_ERROR), MPIX_ERR_PROC_FAILED);
    CHECK_EQ(ft_class(status[2].MPI_ERROR), MPI_ERR_PENDING);
    second_half();
}

static void some(int waits)
{
    int n = 0, which[3], failed = 0, over = 0;
    first_half();
    while (!failed) {
        int err =
            waits ? MPI_Waitsome(3, request, &n, which, status) : MPI_Testsome(3, request, &n, which, status);
        if (err)
            CHECK_ERR(err, MPI_ERR_IN_STATUS);
        for (int i = 0; i < n; i++) {
            over++;
            if (!err)
                CHECK(which[i] != 1, "it has failed");
            else if (which[i] == 1)
                failed = ft_class(status[i].MPI_ERROR) == MPIX_ERR_PROC_FAILED;
            else
                CHECK_EQ(status[i].MPI_ERROR, MPI_SUCCESS);
        }
    }
    CHECK_EQ(over, 2);
    second_half();
}

static void any(int waits)
{
    int which = MPI_UNDEFINED, flag = 0, err = MPI_SUCCESS;
    first_half();
    for (int i = 0; i < 2; i++) {
        do
            err = waits ? MPI_Waitany(3, request, &which, &status[0])
                        : MPI_Testany(3, request, &which, &flag, &status[0]);
        while (!err && !waits && !flag);
        CHECK(which == 0 || which == 1, "index %d", which);
        CHECK_ERR(err, which == 1 ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS);
        CHECK(which < 0 || request[which] == MPI_REQUEST_NULL, "request %d", which);
    }
    second_half();
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    if (check_rank > 1)
        dies();
    waitall();
    testall();
    some(1);
    some(0);
    any(1);
    any(0);
    return check_done();
}
