/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* exit: 16 */
/* stderr: MPI_Barrier: other error \(MPI_ERR_OTHER\): called after MPI_Finalize */
/* A call after MPI_Finalize says so. */
#include "check.h"

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    MPI_Finalize();
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
