/* SPDX-License-Identifier: BSD-3-Clause */
/* Where nobody has said otherwise, an error is fatal for all, also one that another rank's failure is the cause of. */
/* ranks: 3 */
/* mpiexec: -with-ft ulfm */
/* exit: 16 */
/* stderr: rank 2 [^\n]*the job goes on(?s:.*)MPIX?_ERR_PROC_FAILED */
#include "ft.h"

int main(int argc, char **argv)
{
    int v;
    check_init(&argc, &argv);
    ft_last_dies();
    if (check_rank == 0)
        MPI_Recv(&v, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&v, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE); /* for ever */
    return 0;
}
