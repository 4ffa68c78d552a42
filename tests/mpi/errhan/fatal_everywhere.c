/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 8 */
/* across: the end of a job goes from node to node */
/* exit: 4 */
/* stderr: (?s)\A(?!.*MPI_ERR_TAG.*MPI_ERR_TAG).*MPI_Send: invalid tag \(MPI_ERR_TAG\): tag is -8 */
/* All ranks err at once: the text comes once. */
#include "check.h"

int main(int argc, char **argv)
{
    int x = 0;
    check_init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&x, 1, MPI_INT, 0, -8, MPI_COMM_WORLD);
    return 0;
}
