/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* exit: 3 */
/* stderr: MPI_Send: invalid datatype \(MPI_ERR_TYPE\) */
/* MPI_ERRORS_ABORT. */
#include "check.h"

int main(int argc, char **argv)
{
    int x = 0;
    check_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT);
    MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD);
    return 0;
}
