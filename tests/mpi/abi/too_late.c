/* SPDX-License-Identifier: BSD-3-Clause */
/* A call after MPI_Finalize ends the program with words. */
/* ranks: 1 2 */
/* exit: 16 */
/* stderr: MPI_Barrier.*called after MPI_Finalize */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
