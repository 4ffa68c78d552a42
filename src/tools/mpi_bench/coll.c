/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives: blocking, nonblocking and waited for at once, persistent (MPI 4).
 *
 * Bytes are those of the vector, or of each block where every rank has one for or from each; reduce_scatter: of
 * the whole vector. Neighbors are those of a torus of two dimensions. */
#include <stdlib.h>
#include "bench.h"

enum { NEIGHBORS = 4 };
static const MPI_Comm world = MPI_COMM_WORLD;
static MPI_Comm torus;
static int *counts, *places, *shares; /* of bytes, for a block a rank and for the neighbors; of doubles */
static MPI_Aint *addresses;
static MPI_Datatype *types;
static MPI_Request request;

static int doubles(long n)
{
    return (int)(n / 8);
}
static int coll_share(long n)
{
    return n / 8 > size ? (int)(n / 8 / size) : 1;
}

static void make_lists(long n)
{
    int most = size > NEIGHBORS ? size : NEIGHBORS;
    counts = malloc(sizeof *counts * (size_t)most);
    places = malloc(sizeof *places * (size_t)most);
    shares = malloc(sizeof *shares * (size_t)most);
    addresses = malloc(sizeof *addresses * (size_t)most);
    types = malloc(sizeof *types * (size_t)most);
    for (int i = 0; i < most; i++) {
        counts[i] = (int)n;
        addresses[i] = places[i] = (int)n * i;
        shares[i] = coll_share(n);
        types[i] = MPI_CHAR;
    }
}
static void free_lists(long n)
{
    (void)n;
    free(counts);
    free(places);
    free(shares);
    free(addresses);
    free(types);
}

/* Made only where it is needed: in some libraries all that comes after the first new communicator is slower. */
static void make_torus(long n)
{
    int dims[2] = { 0, 0 }, around[2] = { 1, 1 };
    make_lists(n);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(world, 2, dims, around, 0, &torus);
}
static void free_torus(long n)
{
    MPI_Comm_free(&torus);
    free_lists(n);
}

/* A block for each rank and each neighbor. */
static size_t room_of_blocks(long n)
{
    return (size_t)(n + 8) * (size_t)(size > NEIGHBORS ? size : NEIGHBORS);
}
static size_t room_of_one(long n)
{
    return (size_t)n + 8 * (size_t)size;
}

/* Rows X(procedure, its name within others, what n is, what it needs, room, least n, arguments). */
#define COLLECTIVES(X) \
    X(Barrier, barrier, NOTHING, lists, room_of_one, 0, world) \
    X(Bcast, bcast, BYTES, lists, room_of_one, 1, a, (int)n, MPI_CHAR, 0, world) \
    X(Gather, gather, BYTES, lists, room_of_blocks, 1, a, (int)n, MPI_CHAR, b, (int)n, MPI_CHAR, 0, world) \
    X(Gatherv, gatherv, BYTES, lists, room_of_blocks, 1, a, (int)n, MPI_CHAR, b, counts, places, MPI_CHAR, \
      0, world) \
    X(Scatter, scatter, BYTES, lists, room_of_blocks, 1, a, (int)n, MPI_CHAR, b, (int)n, MPI_CHAR, 0, world) \
    X(Scatterv, scatterv, BYTES, lists, room_of_blocks, 1, a, counts, places, MPI_CHAR, b, (int)n, MPI_CHAR, \
      0, world) \
    X(Allgather, allgather, BYTES, lists, room_of_blocks, 1, a, (int)n, MPI_CHAR, b, (int)n, MPI_CHAR, \
      world) \
    X(Allgatherv, allgatherv, BYTES, lists, room_of_blocks, 1, a, (int)n, MPI_CHAR, b, counts, places, \
      MPI_CHAR, world) \
    X(Alltoall, alltoall, BYTES, lists, room_of_blocks, 1, a, (int)n, MPI_CHAR, b, (int)n, MPI_CHAR, world) \
    X(Alltoallv, alltoallv, BYTES, lists, room_of_blocks, 1, a, counts, places, MPI_CHAR, b, counts, places, \
      MPI_CHAR, world) \
    X(Alltoallw, alltoallw, BYTES, lists, room_of_blocks, 1, a, counts, places, types, b, counts, places, \
      types, world) \
    X(Reduce, reduce, BYTES, lists, room_of_one, 8, a, b, doubles(n), MPI_DOUBLE, MPI_SUM, 0, world) \
    X(Allreduce, allreduce, BYTES, lists, room_of_one, 8, a, b, doubles(n), MPI_DOUBLE, MPI_SUM, world) \
    X(Reduce_scatter, reduce_scatter, BYTES, lists, room_of_one, 8, a, b, shares, MPI_DOUBLE, MPI_SUM, \
      world) \
    X(Reduce_scatter_block, reduce_scatter_block, BYTES, lists, room_of_one, 8, a, b, coll_share(n), \
      MPI_DOUBLE, MPI_SUM, world) \
    X(Scan, scan, BYTES, lists, room_of_one, 8, a, b, doubles(n), MPI_DOUBLE, MPI_SUM, world) \
    X(Exscan, exscan, BYTES, lists, room_of_one, 8, a, b, doubles(n), MPI_DOUBLE, MPI_SUM, world) \
    X(Neighbor_allgather, neighbor_allgather, BYTES, torus, room_of_blocks, 1, a, (int)n, MPI_CHAR, b, \
      (int)n, MPI_CHAR, torus) \
    X(Neighbor_allgatherv, neighbor_allgatherv, BYTES, torus, room_of_blocks, 1, a, (int)n, MPI_CHAR, b, \
      counts, places, MPI_CHAR, torus) \
    X(Neighbor_alltoall, neighbor_alltoall, BYTES, torus, room_of_blocks, 1, a, (int)n, MPI_CHAR, b, (int)n, \
      MPI_CHAR, torus) \
    X(Neighbor_alltoallv, neighbor_alltoallv, BYTES, torus, room_of_blocks, 1, a, counts, places, MPI_CHAR, \
      b, counts, places, MPI_CHAR, torus) \
    X(Neighbor_alltoallw, neighbor_alltoallw, BYTES, torus, room_of_blocks, 1, a, counts, addresses, types, \
      b, counts, addresses, types, torus)

/* call_bcast: MPI_Bcast; start_bcast: MPI_Ibcast; init_bcast: MPI_Bcast_init. */
#define CALL(Name, name, by, with, room, least, ...) \
    static void call_##name(long n) \
    { \
        (void)n; \
        MPI_##Name(__VA_ARGS__); \
    }
#define START(Name, name, by, with, room, least, ...) \
    static void start_##name(long n) \
    { \
        (void)n; \
        MPI_I##name(__VA_ARGS__, &request); \
        MPI_Wait(&request, MPI_STATUS_IGNORE); \
    }
COLLECTIVES(CALL)
COLLECTIVES(START)

#if MPI_VERSION >= 4
#define END(Name, name, by, with, room, least, ...) \
    static void end_##name(long n) \
    { \
        MPI_Request_free(&request); \
        free_##with(n); \
    }
#define INIT(Name, name, by, with, room, least, ...) \
    static void init_##name(long n) \
    { \
        make_##with(n); \
        MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request); \
    }
COLLECTIVES(INIT)
COLLECTIVES(END)

static void restart(long n)
{
    (void)n;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
#define PERSISTENT_ROW(Name, name_, by_, with_, room_, least_, ...) \
    { .group = "persistent", \
      .name = #name_ "_init", \
      .unit = "us", \
      .about = "MPI_Start and MPI_Wait of MPI_" #Name "_init", \
      .by = by_, \
      .least = least_, \
      .room = room_, \
      .together = 1, \
      .before = init_##name_, \
      .round = restart, \
      .after = end_##name_, \
      .value = microseconds },
#else
#define PERSISTENT_ROW(...)
#endif

#define ROW(group_, name_, by_, with_, room_, least_, round_, about_) \
    { .group = group_, \
      .name = name_, \
      .unit = "us", \
      .about = about_, \
      .by = by_, \
      .least = least_, \
      .room = room_, \
      .together = 1, \
      .before = make_##with_, \
      .round = round_, \
      .after = free_##with_, \
      .value = microseconds },
#define CALL_ROW(Name, name, by, with, room, least, ...) \
    ROW("collective", #name, by, with, room, least, call_##name, "MPI_" #Name)
#define START_ROW(Name, name, by, with, room, least, ...) \
    ROW("nonblocking", "i" #name, by, with, room, least, start_##name, "MPI_I" #name " and MPI_Wait")

static const struct test rows[] = { COLLECTIVES(CALL_ROW) COLLECTIVES(START_ROW)
                                        COLLECTIVES(PERSISTENT_ROW) };
const struct table coll_tests = { rows, sizeof rows / sizeof *rows };
