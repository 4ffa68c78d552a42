/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to and from a rank that has failed end with an error that names the reason; all others go on. */
/* ranks: 3 4 */
/* across: that one is lost, and that others say so, is heard from the device */
/* mpiexec: -with-ft ulfm */
/* stderr: \Ampiexec: rank \d+ \([^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n\Z */
#include "ft.h"

enum { LONG = 200000 };
static int data[LONG], more[LONG];

static void sends(int dead)
{
    MPI_Request request;
    const int counts[] = { 0, 1, 1000, LONG };
    for (int i = 0; i < 4; i++) {
        CHECK_ERR(MPI_Send(data, counts[i], MPI_INT, dead, 1, MPI_COMM_WORLD), MPIX_ERR_PROC_FAILED);
        CHECK_ERR(MPI_Ssend(data, counts[i], MPI_INT, dead, 1, MPI_COMM_WORLD), MPIX_ERR_PROC_FAILED);
        CHECK_ERR(MPI_Rsend(data, counts[i], MPI_INT, dead, 1, MPI_COMM_WORLD), MPIX_ERR_PROC_FAILED);
        int err = MPI_Isend(data, counts[i], MPI_INT, dead, 1, MPI_COMM_WORLD, &request);
        if (!err)
            err = MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK_ERR(err, MPIX_ERR_PROC_FAILED);
        err = MPI_Issend(data, counts[i], MPI_INT, dead, 1, MPI_COMM_WORLD, &request);
        if (!err)
            err = MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK_ERR(err, MPIX_ERR_PROC_FAILED);
    }
}

static void receives(int dead)
{
    MPI_Request request;
    MPI_Status status;
    int err = MPI_Irecv(data, 1, MPI_INT, dead, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    if (!err)
        err = MPI_Wait(&request, &status);
    CHECK_ERR(err, MPIX_ERR_PROC_FAILED);
    CHECK_ERR(MPI_Recv(data, 1, MPI_INT, dead, 1, MPI_COMM_WORLD, &status), MPIX_ERR_PROC_FAILED);
    CHECK_ERR(MPI_Recv(data, LONG, MPI_INT, dead, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              MPIX_ERR_PROC_FAILED);
    CHECK_ERR(MPI_Recv(data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
}

static void probes(int dead)
{
    int flag = 1;
    MPI_Message message;
    MPI_Status status;
    CHECK_ERR(MPI_Probe(dead, 1, MPI_COMM_WORLD, &status), MPIX_ERR_PROC_FAILED);
    CHECK_ERR(MPI_Mprobe(dead, 1, MPI_COMM_WORLD, &message, &status), MPIX_ERR_PROC_FAILED);
    CHECK_ERR(MPI_Iprobe(dead, 1, MPI_COMM_WORLD, &flag, &status), MPIX_ERR_PROC_FAILED);
    CHECK_ERR(MPI_Improbe(dead, 1, MPI_COMM_WORLD, &flag, &message, &status), MPIX_ERR_PROC_FAILED);
}

/* One side of it fails: the error is told, and whether the other side was done is not said. */
static void both_ways(int dead)
{
    MPI_Status status;
    int right = (check_rank + 1) % dead, left = (check_rank + dead - 1) % dead, v = check_rank, got = -1;
    CHECK_ERR(MPI_Sendrecv(&v, 1, MPI_INT, right, 2, &got, 1, MPI_INT, dead, 2, MPI_COMM_WORLD, &status),
              MPIX_ERR_PROC_FAILED);
    CHECK_ERR(MPI_Sendrecv(&v, 1, MPI_INT, dead, 2, &got, 1, MPI_INT, dead, 2, MPI_COMM_WORLD, &status),
              MPIX_ERR_PROC_FAILED);
    CHECK_ERR(MPI_Sendrecv_replace(&v, 1, MPI_INT, dead, 2, dead, 2, MPI_COMM_WORLD, &status),
              MPIX_ERR_PROC_FAILED);
    CHECK_ERR(MPI_Sendrecv(&v, 1, MPI_INT, right, 3, &got, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &status),
              MPI_SUCCESS);
    CHECK_EQ(got, left);
}

/* Between those that live all is as ever, of all lengths. */
static void living(int dead)
{
    int right = (check_rank + 1) % dead, left = (check_rank + dead - 1) % dead;
    for (int i = 0; i < LONG; i++)
        data[i] = check_rank + i;
    CHECK_ERR(MPI_Sendrecv(data, LONG, MPI_INT, right, 4, more, LONG, MPI_INT, left, 4, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE),
              MPI_SUCCESS);
    for (int i = 0; i < LONG; i++)
        if (more[i] != left + i) {
            CHECK_EQ(more[i], left + i, "number %d", i);
            break;
        }
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    int dead = check_size - 1, self = 5, got = 0;
    ft_last_dies();

    receives(dead);
    probes(dead);
    sends(dead);
    both_ways(dead);
    living(dead);
    CHECK_ERR(MPI_Sendrecv(&self, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE),
              MPI_SUCCESS);
    CHECK_EQ(got, 5);
    return check_done();
}
