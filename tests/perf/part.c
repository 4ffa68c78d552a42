/* part: partitioned messages beside a persistent one of the same bytes; half a round trip in us, "name value unit" a line.
 *
 *   part [seconds a metric [early]]       2 ranks; run by part.py
 * persistent: MPI_Send_init; whole: all of 16 partitions ready at once; each: one by one; unequal: 16 to 5 (the sender one by
 * one); grains: 100,000 partitions of 8 bytes to as many, one by one; first: until the first of 16 partitions has arrived
 * (the receiver asks), the others being made ready afterwards: only with "early", as libraries that send all at the end hang. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4 << 20, N = 16, GRAINS = 100000 };
static int rank, early;
static double budget = 0.2;
static char *out, *in;
static MPI_Request s, r;

typedef void round_fn(void);

static void go(void (*ready)(void))
{
    MPI_Start(&s);
    ready();
    MPI_Wait(&s, MPI_STATUS_IGNORE);
}

/* Half of a round: rank 0 sends first. */
static void exchange(void (*ready)(void))
{
    MPI_Start(&r);
    if (rank == 0)
        go(ready);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (rank == 1)
        go(ready);
}

static void nothing(void)
{
}
static void persistent(void)
{
    exchange(nothing);
}

/* Seconds a round; rank 0 decides how many there are. */
static double time_rounds(round_fn *round)
{
    double best = 1e9;
    long n = 1;
    for (int tries = 0; tries < 6; tries++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (long i = 0; i < n; i++)
            round();
        double took = (MPI_Wtime() - start) / (double)n;
        best = tries > 1 && took < best ? took : best;
        n = tries < 3 ? (long)(budget / 6 / took) + 1 : n;
        MPI_Bcast(&n, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    }
    return best;
}

static void report(const char *name, long bytes, round_fn *round)
{
    double t = time_rounds(round);
    if (rank == 0)
        printf("%s_%ld %.4g us\n", name, bytes, t / 2 * 1e6);
    MPI_Request_free(&s);
    MPI_Request_free(&r);
}

#if MPI_VERSION >= 4
static int partitions;

static void ready_all(void)
{
    MPI_Pready_range(0, partitions - 1, s);
}
static void ready_each(void)
{
    for (int i = 0; i < partitions; i++)
        MPI_Pready(i, s);
}
static void whole(void)
{
    exchange(ready_all);
}
static void each(void)
{
    exchange(ready_each);
}

/* A round trip of the first partition. */
static void await_first(void)
{
    int flag = 0;
    while (!flag)
        MPI_Parrived(r, 0, &flag);
}
static void first(void)
{
    MPI_Start(&r);
    MPI_Start(&s);
    if (rank == 1)
        await_first();
    MPI_Pready(0, s);
    if (rank == 0)
        await_first();
    MPI_Pready_range(1, partitions - 1, s);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void make(int ns, int nr, long bytes)
{
    partitions = ns;
    MPI_Psend_init(out, ns, bytes / ns, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Precv_init(in, nr, bytes / nr, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
}

static void partitioned(long bytes)
{
    make(N, N, bytes);
    report("whole", bytes, whole);
    make(N, N, bytes);
    report("each", bytes, each);
    make(N, 5, bytes / 80 * 80);
    report("unequal", bytes, each);
    if (!early)
        return;
    make(N, N, bytes);
    report("first", bytes, first);
}
#else
static void partitioned(long bytes)
{
    (void)bytes;
}
#endif

int main(int argc, char **argv)
{
    static const long sizes[] = { 128, 4096, 32768, 262144, MOST };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    budget = argc > 1 ? atof(argv[1]) : budget;
    early = argc > 2;
    out = calloc(MOST, 1);
    in = calloc(MOST, 1);
    for (int i = 0; i < 5; i++) {
        MPI_Send_init(out, (int)sizes[i], MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, &s);
        MPI_Recv_init(in, (int)sizes[i], MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, &r);
        report("persistent", sizes[i], persistent);
        partitioned(sizes[i]);
    }
#if MPI_VERSION >= 4
    make(GRAINS, GRAINS, 8 * GRAINS);
    report("grains", 8 * GRAINS, each);
#endif
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
