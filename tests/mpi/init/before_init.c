/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* exit: 16 */
/* stderr: MPI_Comm_rank: other error \(MPI_ERR_OTHER\): called before MPI_Init */
/* A call before MPI_Init says so and ends the job. */
#include "check.h"

int main(int argc, char **argv)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
