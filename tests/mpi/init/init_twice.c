/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* exit: 16 */
/* stderr: MPI_Init: other error \(MPI_ERR_OTHER\): called although MPI is initialized already; expected one
 * call */
/* A second MPI_Init ends the job. */
#include "check.h"

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
