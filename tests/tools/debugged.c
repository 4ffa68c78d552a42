/* SPDX-License-Identifier: BSD-3-Clause */
/* A program to be looked at by debugger.test: each rank goes through work(), then, if there is an argument, waits
 * until a debugger sets `go` (a minute at most). */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

volatile int go, mine;

static __attribute__((noinline)) void work(int rank)
{
    mine = 10 + rank;
}

int main(int argc, char **argv)
{
    int rank, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    work(rank);
    if (argc > 1) {
        printf("rank %d waits\n", rank);
        fflush(stdout);
        for (int i = 0; i < 600 && !go; i++)
            nanosleep(&(struct timespec){ 0, 100000000 }, NULL);
    }
    MPI_Allreduce((void *)&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum %d, go %d\n", all, go);
    MPI_Finalize();
    return 0;
}
