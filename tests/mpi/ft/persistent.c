/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent and partitioned requests with a rank that fails: what was started ends with an error, and the request is
 * inactive; starting it again is an error at once or when it is waited for; it can be freed. */
/* ranks: 2 4 */
/* across: that one is lost, and that others say so, is heard from the device */
/* mpiexec: -with-ft ulfm */
/* stderr: \Ampiexec: rank \d+ \([^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n\Z */
#include "ft.h"

enum { LONG = 200000, REQUESTS = 6 };
static int data[REQUESTS][LONG];

static void make(int dead, MPI_Request *r)
{
    MPI_Comm c = MPI_COMM_WORLD;
    CHECK_ERR(MPI_Recv_init(data[0], 1, MPI_INT, dead, 1, c, &r[0]), MPI_SUCCESS);
    CHECK_ERR(MPI_Recv_init(data[1], LONG, MPI_INT, dead, MPI_ANY_TAG, c, &r[1]), MPI_SUCCESS);
    CHECK_ERR(MPI_Send_init(data[2], LONG, MPI_INT, dead, 2, c, &r[2]), MPI_SUCCESS);
    CHECK_ERR(MPI_Ssend_init(data[3], 1, MPI_INT, dead, 3, c, &r[3]), MPI_SUCCESS);
    CHECK_ERR(MPI_Precv_init(data[4], 4, 10, MPI_INT, dead, 4, c, MPI_INFO_NULL, &r[4]), MPI_SUCCESS);
    CHECK_ERR(MPI_Psend_init(data[5], 4, LONG / 4, MPI_INT, dead, 5, c, MPI_INFO_NULL, &r[5]), MPI_SUCCESS);
}

static int start(MPI_Request *r, int i)
{
    int err = MPI_Start(r);
    for (int p = 0; p < 4 && i == 5 && !err; p++)
        err = MPI_Pready(p, *r);
    return err;
}

int main(int argc, char **argv)
{
    MPI_Request r[REQUESTS];
    MPI_Status status;
    int flag;
    check_init(&argc, &argv);
    check_errors_return();
    int dead = check_size - 1;
    if (check_rank != dead) {
        make(dead, r);
        for (int i = 0; i < REQUESTS; i++)
            CHECK_ERR(start(&r[i], i), MPI_SUCCESS);
    }
    ft_last_dies();
    for (int i = 0; i < REQUESTS; i++) {
        int err = MPI_Wait(&r[i], &status);
        if (ft_class(err) != MPIX_ERR_PROC_FAILED)
            CHECK_EQ(ft_class(err), MPIX_ERR_PROC_FAILED, "request %d", i);
        CHECK(r[i] != MPI_REQUEST_NULL, "request %d stays", i);
        CHECK_ERR(MPI_Test(&r[i], &flag, &status), MPI_SUCCESS); /* of an inactive one */
        CHECK_EQ(flag, 1);
        err = start(&r[i], i);
        if (!err)
            err = MPI_Wait(&r[i], &status);
        if (ft_class(err) != MPIX_ERR_PROC_FAILED)
            CHECK_EQ(ft_class(err), MPIX_ERR_PROC_FAILED, "request %d, started again", i);
        CHECK_ERR(MPI_Request_free(&r[i]), MPI_SUCCESS);
    }
    return check_done();
}
