/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* across: a rank that ends early is noticed by its connections */
/* exit: 123 */
/* stderr: exited with 0 without calling MPI_Finalize */
/* A rank that leaves without MPI_Finalize: the job says so and ends, though others wait for it. */
#include "check.h"

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    if (check_rank == check_size - 1)
        return 0;
    MPI_Recv(NULL, 0, MPI_INT, check_size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
