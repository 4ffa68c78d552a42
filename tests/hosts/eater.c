/* SPDX-License-Identifier: BSD-3-Clause */
/* eater.c: rank 1 takes so many MB of memory, while the others wait for it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    size_t bytes = (size_t)atoi(argv[1]) << 20;
    volatile char *at = rank == 1 ? malloc(bytes) : NULL;
    for (size_t i = 0; at && i < bytes; i += 4096)
        at[i] = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d goes on\n", rank);
    MPI_Finalize();
    return 0;
}
