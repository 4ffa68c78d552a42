/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 8 */
/* across: the end of a job goes from node to node */
/* exit: 7 */
/* stderr: MPI_Abort: called with error code 7 \[communicator MPI_COMM_WORLD\] */
/* One rank aborts while the others wait: the job ends with its code. */
#include "check.h"

int main(int argc, char **argv)
{
    int x;
    check_init(&argc, &argv);
    if (check_rank == check_size - 1)
        MPI_Abort(MPI_COMM_WORLD, 7);
    MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
