/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* exit: 16 */
/* stderr: MPI_Finalize: other error \(MPI_ERR_OTHER\): called after MPI_Finalize */
/* A second MPI_Finalize. */
#include "check.h"

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    MPI_Finalize();
    MPI_Finalize();
    return 0;
}
