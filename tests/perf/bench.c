/* bench: the hot paths, one metric a line "name value unit", lower is better for us, higher for MB/s and M/s.
 *
 *   bench latency|bandwidth|rate|collective|crowd|idle [seconds a metric]
 * Plain MPI-1 calls only, so that the same source compiles with any MPI.  Run by compare.py, which puts the
 * libraries side by side.  Each metric runs for about the time given; rank 0 decides how many rounds that is.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include "perf.h"

static char *a, *b;

static void ping_pong(long n)
{
    if (rank == 0) {
        MPI_Send(a, (int)n, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(b, (int)n, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(b, (int)n, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(a, (int)n, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
}

enum { WINDOW = 64 };

static void window(long n)
{
    MPI_Request r[WINDOW];
    if (rank == 0) {
        for (int i = 0; i < WINDOW; i++)
            MPI_Isend(a, (int)n, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &r[i]);
        MPI_Waitall(WINDOW, r, MPI_STATUSES_IGNORE);
        MPI_Recv(b, 4, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        for (int i = 0; i < WINDOW; i++)
            MPI_Irecv(b, (int)n, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &r[i]);
        MPI_Waitall(WINDOW, r, MPI_STATUSES_IGNORE);
        MPI_Send(a, 4, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    }
}

static void barrier(long n)
{
    (void)n;
    MPI_Barrier(MPI_COMM_WORLD);
}
static void bcast(long n)
{
    MPI_Bcast(a, (int)n, MPI_CHAR, 0, MPI_COMM_WORLD);
}
static void allreduce(long n)
{
    MPI_Allreduce(a, b, (int)(n / 8), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void alltoall(long n)
{
    MPI_Alltoall(a, (int)n, MPI_CHAR, b, (int)n, MPI_CHAR, MPI_COMM_WORLD);
}

/* To the next, from the one before. */
static void ring(long n)
{
    MPI_Sendrecv(a, (int)n, MPI_CHAR, (rank + 1) % size, 3, b, (int)n, MPI_CHAR, (rank + size - 1) % size, 3,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static volatile double sink;

static void work(double seconds)
{
    double start = MPI_Wtime();
    while (MPI_Wtime() - start < seconds)
        for (int i = 0; i < 100; i++)
            sink += 1.0 / (i + 1);
}

/* A step of a solver: some work, borders to both sides, a residual. */
static void mix(long n)
{
    for (int i = 0; i < 2000; i++)
        sink += 1.0 / (i + 1);
    ring(n);
    allreduce(8);
}

int main(int argc, char **argv)
{
    static const long sizes[] = { 8, 1024, 4096, 65536, 1 << 20, 4 << 20 };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *what = argc > 1 ? argv[1] : "latency";
    budget = argc > 2 ? atof(argv[2]) : budget;
    size_t bytes = (size_t)(4 << 20) + 65536 * (size_t)size;
    a = malloc(bytes);
    b = malloc(bytes);
    memset(a, 0, bytes);
    memset(b, 0, bytes);
    if (strcmp(what, "latency") == 0)
        for (int i = 0; i < 6; i++)
            report("latency", sizes[i], time_rounds(ping_pong, sizes[i]) / 2 * 1e6, "us");
    if (strcmp(what, "bandwidth") == 0)
        for (int i = 2; i < 6; i++)
            report("bandwidth", sizes[i], WINDOW * (double)sizes[i] / time_rounds(window, sizes[i]) / 1e6,
                   "MB/s");
    if (strcmp(what, "rate") == 0)
        report("rate", 8, WINDOW / time_rounds(window, 8) / 1e6, "M/s");
    if (strcmp(what, "collective") == 0) {
        report("barrier", 0, time_rounds(barrier, 0) * 1e6, "us");
        report("bcast", 8, time_rounds(bcast, 8) * 1e6, "us");
        report("allreduce", 8, time_rounds(allreduce, 8) * 1e6, "us");
        report("allreduce", 65536, time_rounds(allreduce, 65536) * 1e6, "us");
        report("alltoall", 1024, time_rounds(alltoall, 1024) * 1e6, "us");
    }
    if (strcmp(what, "crowd") == 0) {
        report("barrier", 0, time_rounds(barrier, 0) * 1e6, "us");
        report("allreduce", 8, time_rounds(allreduce, 8) * 1e6, "us");
        report("alltoall", 1024, time_rounds(alltoall, 1024) * 1e6, "us");
        report("ring", 8, time_rounds(ring, 8) * 1e6, "us");
        report("bcast", 1 << 20, time_rounds(bcast, 1 << 20) * 1e6, "us");
        report("mix", 1024, time_rounds(mix, 1024) * 1e6, "us");
    }
    if (strcmp(what, "idle") == 0) {
        if (rank == 0)
            work(budget);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
