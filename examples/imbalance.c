/* SPDX-License-Identifier: BSD-3-Clause */
/* imbalance.c: a program with three faults of performance, for mpiexec -profile to find (doc/profiling.md).
 *
 *     mpicc -g -o imbalance imbalance.c
 *     mpiexec -profile -n 4 ./imbalance
 *
 * 1. Imbalance: the last rank has twice as much to compute as the others, which wait for it in an allreduce.
 * 2. A late sender: rank 0 computes before it sends to rank 1, which needs the data at once.
 * 3. A bad collective: rank 0 gathers all data and sends them to each rank in turn, where one call of MPI_Allgather
 *    would do; the others wait for their turn. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 20, BLOCK = 20000 };
static const double UNIT = 0.004; /* seconds of work */

/* Work that takes the same time also where ranks outnumber cores. */
static void compute(double seconds)
{
    usleep((useconds_t)(seconds * 1e6));
}

static void imbalance(int rank, int size)
{
    double mine = rank, sum;
    compute(rank == size - 1 ? 2 * UNIT : UNIT);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void late_sender(int rank)
{
    int word = 0;
    if (rank == 0) {
        compute(UNIT);
        MPI_Send(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        compute(UNIT);
    } else {
        compute(UNIT);
    }
}

static void bad_collective(int rank, int size, double *all)
{
    double *mine = all + (size_t)rank * BLOCK;
    if (rank > 0) {
        MPI_Send(mine, BLOCK, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
        MPI_Recv(all, BLOCK * size, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    for (int i = 1; i < size; i++)
        MPI_Recv(all + (size_t)i * BLOCK, BLOCK, MPI_DOUBLE, i, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i < size; i++)
        MPI_Send(all, BLOCK * size, MPI_DOUBLE, i, 3, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *all = calloc((size_t)size * BLOCK, sizeof *all);
    if (!all)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; step < STEPS; step++) {
        imbalance(rank, size);
        late_sender(rank);
        bad_collective(rank, size, all);
    }
    free(all);
    MPI_Finalize();
    return 0;
}
