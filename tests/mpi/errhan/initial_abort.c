/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* exit: 16 */
/* mpiexec: --initial-errhandler=mpi_errors_abort */
/* stderr: MPI_Comm_rank: other error \(MPI_ERR_OTHER\): called before MPI_Init */
#include "check.h"

int main(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return 0;
}
