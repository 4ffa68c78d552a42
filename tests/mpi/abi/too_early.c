/* SPDX-License-Identifier: BSD-3-Clause */
/* A call before MPI_Init ends the program with words. */
/* ranks: 1 2 */
/* exit: 16 */
/* stderr: MPI_Comm_rank.*called before MPI_Init */
#include <mpi.h>

int main(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return 0;
}
