/* perf.h: how the benchmarks of this folder take times and print them. Plain MPI-1 calls only, so that the same source
 * compiles with any MPI. A benchmark includes it once, after mpi.h. */
#ifndef PERF_H
#define PERF_H

#include <mpi.h>
#include <stdio.h>

static int rank, size;
static double budget = 0.2; /* seconds a metric */

typedef void round_fn(long n);

/* Seconds a round. The first two touch memory and are not counted; then as many as fill the budget; rank 0 decides. */
static double time_rounds(round_fn *fn, long n)
{
    int rounds = 1;
    double seconds = 0;
    fn(n);
    fn(n);
    for (;;) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (int i = 0; i < rounds; i++)
            fn(n);
        seconds = MPI_Wtime() - start;
        int next = 0;
        if (seconds < budget / 2)
            next = seconds < budget / 64 ? rounds * 8 : (int)(rounds * budget / seconds) + 1;
        MPI_Bcast(&next, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (next <= rounds)
            return seconds / rounds;
        rounds = next;
    }
}

static void report(const char *what, long n, double value, const char *unit)
{
    if (rank == 0)
        printf("%s_%ld@%d %.6g %s\n", what, n, size, value, unit);
    fflush(stdout); /* who stops a slow run sees how far it came */
}

#endif
