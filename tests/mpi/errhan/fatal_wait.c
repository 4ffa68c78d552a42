/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* across: the end of a job goes from node to node */
/* exit: 15 */
/* stderr: MPI_Wait: message truncated on receive \(MPI_ERR_TRUNCATE\).*\[communicator MPI_COMM_WORLD\] */
/* A failed nonblocking receive is reported by the call that completes it. */
#include "check.h"

int main(int argc, char **argv)
{
    int x[8] = { 0 };
    MPI_Request r;
    check_init(&argc, &argv);
    MPI_Irecv(x, 4, MPI_INT, check_rank ^ 1, 3, MPI_COMM_WORLD, &r);
    MPI_Send(x, 8, MPI_INT, check_rank ^ 1, 3, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
