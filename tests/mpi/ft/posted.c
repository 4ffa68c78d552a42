/* SPDX-License-Identifier: BSD-3-Clause */
/* What waits for a rank when it fails ends: receives, long and synchronous sends, probes, whichever call waits. */
/* ranks: 2 5 */
/* across: that one is lost, and that others say so, is heard from the device */
/* mpiexec: -with-ft ulfm */
/* stderr: \Ampiexec: rank \d+ \([^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n\Z */
#include "ft.h"
#include <time.h>

enum { LONG = 200000 };
static int data[LONG];

/* Long after the others have begun to wait, whatever they wait for. */
static void dies_later(void)
{
    struct timespec t = { 0, 200 * 1000000L };
    nanosleep(&t, NULL);
    ft_die();
}

static int waits(int way, int dead)
{
    MPI_Request request;
    MPI_Message message;
    int flag = 0, err;
    switch (way % 5) {
    case 0:
        return MPI_Recv(data, 1, MPI_INT, dead, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    case 1:
        return MPI_Send(data, LONG, MPI_INT, dead, 1, MPI_COMM_WORLD);
    case 2:
        return MPI_Mprobe(dead, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    case 3:
        err = MPI_Issend(data, 1, MPI_INT, dead, 1, MPI_COMM_WORLD, &request);
        break;
    default:
        err = MPI_Irecv(data, LONG, MPI_INT, dead, 1, MPI_COMM_WORLD, &request);
    }
    while (way % 2 && !flag && !err)
        err = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    return way % 2 || err ? err : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    CHECK_ERR(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    if (check_rank == check_size - 1)
        dies_later();
    CHECK_ERR(waits(check_rank, check_size - 1), MPIX_ERR_PROC_FAILED);
    return check_done();
}
