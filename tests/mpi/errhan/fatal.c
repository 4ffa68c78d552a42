/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 */
/* exit: 6 */
/* stderr: (?s)\A(?!.*MPI_ERR_RANK.*MPI_ERR_RANK).*rank 1.*MPI_Send: invalid rank \(MPI_ERR_RANK\): dest is
 * 77; expected 0 to [13].*\[communicator MPI_COMM_WORLD\] */
/* The default handler ends the job with the text, once, and the class as the exit code. */
#include "check.h"

int main(int argc, char **argv)
{
    int x = 0;
    check_init(&argc, &argv);
    if (check_rank == 1)
        MPI_Send(&x, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
