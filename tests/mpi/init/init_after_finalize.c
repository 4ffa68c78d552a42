/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* exit: 16 */
/* stderr: MPI_Init: other error \(MPI_ERR_OTHER\): called after MPI_Finalize */
/* MPI cannot be initialized again. */
#include "check.h"

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    MPI_Finalize();
    MPI_Init(&argc, &argv);
    return 0;
}
