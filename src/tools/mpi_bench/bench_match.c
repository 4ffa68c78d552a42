/* SPDX-License-Identifier: BSD-3-Clause */
/* What it costs to find the receive of a message, or the message of a receive, among n of them. Rank 0 receives.
 *
 * posted: n receives stand; a batch of messages comes that matches the oldest ones (forward) or the newest ones
 * (reverse);
 *   what counts is the time from the word to go until the batch is complete. unexpected: n messages wait; what
 *   counts is the time of a batch of MPI_Recv that takes the oldest or the newest. Then the batch is replaced, so
 *   n stays.
 * Invariant: the queue holds tags first, first + 1, ... (modulo n), in this order; reverse leaves first as it is. */
#include <stdlib.h>
#include "bench.h"

enum { BATCH = 64, MESSAGE = 8 };
static const MPI_Comm world = MPI_COMM_WORLD;
static MPI_Request *standing; /* by tag */
static long first;
static int source, reverse;

static int batch_of(long n)
{
    return (int)(n < BATCH ? n : BATCH);
}
static int tag_of(long n, long place)
{
    return (int)((first + place) % n);
}
/* The i-th tag that a batch takes. */
static int taken(long n, int i)
{
    return tag_of(n, reverse ? n - 1 - i : i);
}
/* The i-th tag that is put back. */
static int bench_match_put(long n, int i)
{
    return tag_of(n, reverse ? n - batch_of(n) + i : i);
}
static void bench_match_advance(long n)
{
    if (!reverse)
        first = (first + batch_of(n)) % n;
}
static int bench_match_word(long n)
{
    return (int)n; /* a tag no message of the queue has */
}

static void bench_match_send_to(int to, int tag)
{
    MPI_Send(a, MESSAGE, MPI_CHAR, to, tag, world);
}
static void receive(int from, int tag)
{
    MPI_Recv(b, MESSAGE, MPI_CHAR, from, tag, world, MPI_STATUS_IGNORE);
}

static void bench_match_begin(int from, int newest_first)
{
    first = 0;
    source = from;
    reverse = newest_first;
}

/* What fills a queue, in the four ways of the tests. */
#define WAY(fill, way, from, newest_first) \
    static void fill##_##way(long n) \
    { \
        fill(n, from, newest_first); \
    }
#define FOUR_WAYS(fill) \
    WAY(fill, forward, 1, 0) \
    WAY(fill, reverse, 1, 1) \
    WAY(fill, any_forward, MPI_ANY_SOURCE, 0) \
    WAY(fill, any_reverse, MPI_ANY_SOURCE, 1)

/* ---- Posted ---- */

static void bench_match_post(int tag)
{
    MPI_Irecv(b, MESSAGE, MPI_CHAR, source, tag, world, &standing[tag]);
}
static void post_all(long n, int from, int newest_first)
{
    bench_match_begin(from, newest_first);
    if (rank == 0) {
        standing = malloc(sizeof *standing * (size_t)n);
        for (int tag = 0; tag < n; tag++)
            bench_match_post(tag);
    }
    MPI_Barrier(world);
}
FOUR_WAYS(post_all)

static void posted(long n)
{
    MPI_Request batch[BATCH];
    int many = batch_of(n);
    if (rank == 0) {
        for (int i = 0; i < many; i++)
            batch[i] = standing[taken(n, i)];
        double start = MPI_Wtime();
        bench_match_send_to(1, bench_match_word(n));
        MPI_Waitall(many, batch, MPI_STATUSES_IGNORE);
        counted += MPI_Wtime() - start;
        for (int i = 0; i < many; i++)
            bench_match_post(bench_match_put(n, i));
    } else if (rank == 1) {
        receive(0, bench_match_word(n));
        for (int i = 0; i < many; i++)
            bench_match_send_to(0, taken(n, i));
    }
    bench_match_advance(n);
}

/* Oldest first: that is fast with any kind of queue. */
static void take_all_posted(long n)
{
    for (long i = 0; rank == 1 && i < n; i++)
        bench_match_send_to(0, tag_of(n, i));
    if (rank == 0)
        MPI_Waitall((int)n, standing, MPI_STATUSES_IGNORE);
    free(standing);
    standing = NULL;
}

/* n exact receives stand, newer ones take anything: the message looks past all of the exact ones. */
static void posted_wild(long n)
{
    MPI_Request batch[BATCH];
    int many = batch_of(n);
    if (rank == 0) {
        for (int i = 0; i < many; i++)
            MPI_Irecv(b, MESSAGE, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &batch[i]);
        double start = MPI_Wtime();
        bench_match_send_to(1, bench_match_word(n));
        MPI_Waitall(many, batch, MPI_STATUSES_IGNORE);
        counted += MPI_Wtime() - start;
    } else if (rank == 1) {
        receive(0, bench_match_word(n));
        for (int i = 0; i < many; i++)
            bench_match_send_to(0, bench_match_word(n));
    }
}

/* ---- Unexpected ---- */

/* The word comes after the messages, so they are all there when it has come. */
static void send_all(long n, int from, int newest_first)
{
    bench_match_begin(from, newest_first);
    for (int tag = 0; rank == 1 && tag < n; tag++)
        bench_match_send_to(0, tag);
    if (rank == 1)
        bench_match_send_to(0, bench_match_word(n));
    if (rank == 0)
        receive(1, bench_match_word(n));
}
FOUR_WAYS(send_all)

static void unexpected(long n)
{
    int many = batch_of(n);
    if (rank == 0) {
        double start = MPI_Wtime();
        for (int i = 0; i < many; i++)
            receive(source, taken(n, i));
        counted += MPI_Wtime() - start;
        bench_match_send_to(1, bench_match_word(n));
        receive(1, bench_match_word(n));
    } else if (rank == 1) {
        receive(0, bench_match_word(n));
        for (int i = 0; i < many; i++)
            bench_match_send_to(0, bench_match_put(n, i));
        bench_match_send_to(0, bench_match_word(n));
    }
    bench_match_advance(n);
}
static void take_all_unexpected(long n)
{
    for (long i = 0; rank == 0 && i < n; i++)
        receive(1, MPI_ANY_TAG);
    MPI_Barrier(world);
}

static double each(long n, double seconds)
{
    return seconds / batch_of(n) * 1e9;
}

#define ROW(name_, before_, round_, after_, about_) \
    .group = "matching", .name = name_, .unit = "ns", .by = DEPTH, .least = 1, .least_ranks = 2, \
    .own_clock = 1, .before = before_, .round = round_, .after = after_, .value = each, .about = about_
static const struct test rows[] = {
    { ROW("posted", post_all_forward, posted, take_all_posted,
          "a message for the oldest of n posted receives") },
    { ROW("posted_reverse", post_all_reverse, posted, take_all_posted,
          "a message for the newest of n posted receives") },
    { ROW("posted_any", post_all_any_forward, posted, take_all_posted, "posted, of any source") },
    { ROW("posted_any_reverse", post_all_any_reverse, posted, take_all_posted,
          "posted_reverse, of any source") },
    { ROW("posted_wild", post_all_forward, posted_wild, take_all_posted,
          "a message for a receive of anything, posted after n others") },
    { ROW("unexpected", send_all_forward, unexpected, take_all_unexpected,
          "a receive of the oldest of n unexpected messages") },
    { ROW("unexpected_reverse", send_all_reverse, unexpected, take_all_unexpected,
          "a receive of the newest of n unexpected messages") },
    { ROW("unexpected_any", send_all_any_forward, unexpected, take_all_unexpected,
          "unexpected, of any source") },
    { ROW("unexpected_any_reverse", send_all_any_reverse, unexpected, take_all_unexpected,
          "unexpected_reverse, of any source") },
};
const struct table match_tests = { rows, sizeof rows / sizeof *rows };
