/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned messages, half a round trip (MPI 4). Compare with latency_persistent of the same bytes. */
#include <stddef.h>
#include "bench.h"

#if MPI_VERSION >= 4
enum { MANY = 16, FEW = 5, TAG = 1 };
static MPI_Request s, r;
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

static void go(void (*ready)(void))
{
    MPI_Start(&s);
    ready();
    MPI_Wait(&s, MPI_STATUS_IGNORE);
}
static void bench_part_exchange(void (*ready)(void))
{
    MPI_Start(&r);
    if (rank == 0)
        go(ready);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (rank == 1)
        go(ready);
}
static void bench_part_whole(long n)
{
    (void)n;
    if (rank < 2)
        bench_part_exchange(ready_all);
}
static void each(long n)
{
    (void)n;
    if (rank < 2)
        bench_part_exchange(ready_each);
}

static void await_first(void)
{
    int flag = 0;
    while (!flag)
        MPI_Parrived(r, 0, &flag);
}
/* A round trip of the first partition, then the others. */
static void first(long n)
{
    (void)n;
    if (rank > 1)
        return;
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

static void bench_part_make(int to_send, int to_receive, long n)
{
    partitions = to_send;
    if (rank > 1)
        return;
    MPI_Psend_init(a, to_send, n / to_send, MPI_CHAR, 1 - rank, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Precv_init(b, to_receive, n / to_receive, MPI_CHAR, 1 - rank, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
}
static void make_equal(long n)
{
    bench_part_make(MANY, MANY, n / MANY * MANY);
}
static void make_unequal(long n)
{
    bench_part_make(MANY, FEW, n / (MANY * FEW) * (MANY * FEW));
}
static void make_grains(long n)
{
    bench_part_make((int)(n / 8), (int)(n / 8), n / 8 * 8);
}
static void free_both(long n)
{
    (void)n;
    if (rank > 1)
        return;
    MPI_Request_free(&s);
    MPI_Request_free(&r);
}

#define ROW(name_, least_, before_, round_, about_) \
    .group = "partitioned", .name = name_, .unit = "us", .least = least_, .least_ranks = 2, \
    .before = before_, .round = round_, .after = free_both, .value = half_microseconds, .about = about_
static const struct test rows[] = {
    { ROW("part_whole", 128, make_equal, bench_part_whole, "16 partitions, ready at once") },
    { ROW("part_each", 128, make_equal, each, "16 partitions, one by one") },
    { ROW("part_unequal", 128, make_unequal, each, "16 partitions to 5, one by one") },
    { ROW("part_grains", 8, make_grains, each, "partitions of 8 bytes, one by one") },
    { ROW("part_first", 128, make_equal, first,
          "until the first of 16 has arrived; hangs where all is sent at the end"),
      .on_demand = 1 },
};
const struct table part_tests = { rows, sizeof rows / sizeof *rows };
#else
const struct table part_tests = { NULL, 0 };
#endif
