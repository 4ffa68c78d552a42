/* collectives: microseconds a call, one metric a line "name_bytes@ranks us us", lower is better.
 *
 *   collectives GROUP[,NAME...] [seconds a metric] [bytes ...]
 * GROUP is a word of the table below, or `all`; NAMEs restrict it. Bytes are those of the vector, or of each block where every rank has
 * one for or from each; reduce_scatter: of the whole vector.  What the library has not is left out.  Run by
 * collectives.py. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include "perf.h"

static const MPI_Comm world = MPI_COMM_WORLD;
static MPI_Comm torus;
static char *a, *b;
static int *counts, *places; /* of bytes, for `size` blocks and for 4 neighbors */
static MPI_Datatype *bytes_each;
static MPI_Request request;

static int doubles(long n)
{
    return (int)(n / 8);
}
static int share(long n)
{
    return n / 8 > size ? (int)(n / 8 / size) : 1;
}

static void barrier(long n)
{
    (void)n;
    MPI_Barrier(world);
}
static void bcast(long n)
{
    MPI_Bcast(a, (int)n, MPI_CHAR, 0, world);
}
static void gather(long n)
{
    MPI_Gather(a, (int)n, MPI_CHAR, b, (int)n, MPI_CHAR, 0, world);
}
static void gatherv(long n)
{
    MPI_Gatherv(a, (int)n, MPI_CHAR, b, counts, places, MPI_CHAR, 0, world);
}
static void scatter(long n)
{
    MPI_Scatter(a, (int)n, MPI_CHAR, b, (int)n, MPI_CHAR, 0, world);
}
static void scatterv(long n)
{
    MPI_Scatterv(a, counts, places, MPI_CHAR, b, (int)n, MPI_CHAR, 0, world);
}
static void allgather(long n)
{
    MPI_Allgather(a, (int)n, MPI_CHAR, b, (int)n, MPI_CHAR, world);
}
static void allgatherv(long n)
{
    MPI_Allgatherv(a, (int)n, MPI_CHAR, b, counts, places, MPI_CHAR, world);
}
static void alltoall(long n)
{
    MPI_Alltoall(a, (int)n, MPI_CHAR, b, (int)n, MPI_CHAR, world);
}
static void alltoallv(long n)
{
    (void)n;
    MPI_Alltoallv(a, counts, places, MPI_CHAR, b, counts, places, MPI_CHAR, world);
}
static void alltoallw(long n)
{
    (void)n;
    MPI_Alltoallw(a, counts, places, bytes_each, b, counts, places, bytes_each, world);
}
static void reduce(long n)
{
    MPI_Reduce(a, b, doubles(n), MPI_DOUBLE, MPI_SUM, 0, world);
}
static void allreduce(long n)
{
    MPI_Allreduce(a, b, doubles(n), MPI_DOUBLE, MPI_SUM, world);
}
static void reduce_scatter(long n)
{
    for (int i = 0; i < size; i++)
        counts[i] = share(n);
    MPI_Reduce_scatter(a, b, counts, MPI_DOUBLE, MPI_SUM, world);
}
static void reduce_scatter_block(long n)
{
    MPI_Reduce_scatter_block(a, b, share(n), MPI_DOUBLE, MPI_SUM, world);
}
static void scan(long n)
{
    MPI_Scan(a, b, doubles(n), MPI_DOUBLE, MPI_SUM, world);
}
static void exscan(long n)
{
    MPI_Exscan(a, b, doubles(n), MPI_DOUBLE, MPI_SUM, world);
}

/* ---- Nonblocking, waited for at once ---- */

static void complete(void)
{
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void ibarrier(long n)
{
    (void)n;
    MPI_Ibarrier(world, &request);
    complete();
}
static void ibcast(long n)
{
    MPI_Ibcast(a, (int)n, MPI_CHAR, 0, world, &request);
    complete();
}
static void iallgather(long n)
{
    MPI_Iallgather(a, (int)n, MPI_CHAR, b, (int)n, MPI_CHAR, world, &request);
    complete();
}
static void ialltoall(long n)
{
    MPI_Ialltoall(a, (int)n, MPI_CHAR, b, (int)n, MPI_CHAR, world, &request);
    complete();
}
static void ireduce(long n)
{
    MPI_Ireduce(a, b, doubles(n), MPI_DOUBLE, MPI_SUM, 0, world, &request);
    complete();
}
static void iallreduce(long n)
{
    MPI_Iallreduce(a, b, doubles(n), MPI_DOUBLE, MPI_SUM, world, &request);
    complete();
}

/* ---- Persistent ---- */

static void start(long n)
{
    (void)n;
    MPI_Start(&request);
    complete();
}
#if MPI_VERSION >= 4
static void barrier_init(long n)
{
    (void)n;
    MPI_Barrier_init(world, MPI_INFO_NULL, &request);
}
static void bcast_init(long n)
{
    MPI_Bcast_init(a, (int)n, MPI_CHAR, 0, world, MPI_INFO_NULL, &request);
}
static void allgather_init(long n)
{
    MPI_Allgather_init(a, (int)n, MPI_CHAR, b, (int)n, MPI_CHAR, world, MPI_INFO_NULL, &request);
}
static void alltoall_init(long n)
{
    MPI_Alltoall_init(a, (int)n, MPI_CHAR, b, (int)n, MPI_CHAR, world, MPI_INFO_NULL, &request);
}
static void allreduce_init(long n)
{
    MPI_Allreduce_init(a, b, doubles(n), MPI_DOUBLE, MPI_SUM, world, MPI_INFO_NULL, &request);
}
#endif

/* ---- On a torus of two dimensions ---- */

static void neighbor_allgather(long n)
{
    MPI_Neighbor_allgather(a, (int)n, MPI_CHAR, b, (int)n, MPI_CHAR, torus);
}
static void neighbor_alltoall(long n)
{
    MPI_Neighbor_alltoall(a, (int)n, MPI_CHAR, b, (int)n, MPI_CHAR, torus);
}
static void neighbor_alltoallv(long n)
{
    (void)n;
    MPI_Neighbor_alltoallv(a, counts, places, MPI_CHAR, b, counts, places, MPI_CHAR, torus);
}

static const struct row {
    const char *group, *name;
    round_fn *call, *before; /* before: makes the persistent request */
} rows[] = {
    { "rooted", "bcast", bcast, NULL },
    { "rooted", "gather", gather, NULL },
    { "rooted", "gatherv", gatherv, NULL },
    { "rooted", "scatter", scatter, NULL },
    { "rooted", "scatterv", scatterv, NULL },
    { "exchange", "barrier", barrier, NULL },
    { "exchange", "allgather", allgather, NULL },
    { "exchange", "allgatherv", allgatherv, NULL },
    { "exchange", "alltoall", alltoall, NULL },
    { "exchange", "alltoallv", alltoallv, NULL },
    { "exchange", "alltoallw", alltoallw, NULL },
    { "reductions", "reduce", reduce, NULL },
    { "reductions", "allreduce", allreduce, NULL },
    { "reductions", "reduce_scatter", reduce_scatter, NULL },
    { "reductions", "reduce_scatter_block", reduce_scatter_block, NULL },
    { "reductions", "scan", scan, NULL },
    { "reductions", "exscan", exscan, NULL },
    { "nonblocking", "ibarrier", ibarrier, NULL },
    { "nonblocking", "ibcast", ibcast, NULL },
    { "nonblocking", "iallgather", iallgather, NULL },
    { "nonblocking", "ialltoall", ialltoall, NULL },
    { "nonblocking", "ireduce", ireduce, NULL },
    { "nonblocking", "iallreduce", iallreduce, NULL },
#if MPI_VERSION >= 4
    { "persistent", "barrier_init", start, barrier_init },
    { "persistent", "bcast_init", start, bcast_init },
    { "persistent", "allgather_init", start, allgather_init },
    { "persistent", "alltoall_init", start, alltoall_init },
    { "persistent", "allreduce_init", start, allreduce_init },
#endif
    { "neighbor", "neighbor_allgather", neighbor_allgather, NULL },
    { "neighbor", "neighbor_alltoall", neighbor_alltoall, NULL },
    { "neighbor", "neighbor_alltoallv", neighbor_alltoallv, NULL },
};

/* Is the row of the group, and one of the names if some are given? */
static int wanted(const struct row *r, const char *words)
{
    char *list = strdup(words), *save = NULL, *word = strtok_r(list, ",", &save);
    int yes = word != NULL && (strcmp(word, "all") == 0 || strcmp(word, r->group) == 0);
    if (yes && (word = strtok_r(NULL, ",", &save)) != NULL)
        for (yes = 0; word != NULL && !yes; word = strtok_r(NULL, ",", &save))
            yes = strcmp(word, r->name) == 0;
    free(list);
    return yes;
}

static void time_row(const struct row *r, long n)
{
    for (int i = 0; i < size + 4; i++) {
        counts[i] = (int)n;
        places[i] = (int)n * i;
    }
    if (r->before)
        r->before(n);
    report(r->name, n, time_rounds(r->call, n) * 1e6, "us");
    if (r->before)
        MPI_Request_free(&request);
}

static void prepare(long most)
{
    int dims[2] = { 0, 0 }, around[2] = { 1, 1 };
    size_t room = (size_t)most * (size_t)(size + 4);
    a = calloc(room, 1);
    b = calloc(room, 1);
    counts = malloc(sizeof *counts * (size_t)(size + 4));
    places = malloc(sizeof *places * (size_t)(size + 4));
    bytes_each = malloc(sizeof(MPI_Datatype) * (size_t)size);
    for (int i = 0; i < size; i++)
        bytes_each[i] = MPI_CHAR;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(world, 2, dims, around, 0, &torus);
}

int main(int argc, char **argv)
{
    long most = 8;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    budget = argc > 2 ? atof(argv[2]) : budget;
    for (int i = 3; i < argc; i++)
        most = atol(argv[i]) > most ? atol(argv[i]) : most;
    prepare(most);
    for (int r = 0; argc > 1 && r < (int)(sizeof rows / sizeof *rows); r++)
        if (wanted(&rows[r], argv[1]))
            for (int i = 3; i < argc; i++) {
                time_row(&rows[r], atol(argv[i]));
                if (strstr(rows[r].name, "barrier"))
                    break;
            }
    MPI_Comm_free(&torus);
    free(a);
    free(b);
    free(counts);
    free(places);
    free(bytes_each);
    MPI_Finalize();
    return 0;
}
