/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between two ranks, and between pairs of ranks: the first half of them with the second half. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "bench.h"

enum { TAG = 1, ANSWER = 2 };
static const MPI_Comm world = MPI_COMM_WORLD;
static MPI_Request request[2 * WINDOW_MOST], to_send, to_receive;

static void pt2pt_send_to(int to, long n)
{
    MPI_Send(a, (int)n, MPI_CHAR, to, TAG, world);
}
static void receive_from(int from, long n)
{
    MPI_Recv(b, (int)n, MPI_CHAR, from, TAG, world, MPI_STATUS_IGNORE);
}

/* ---- Half round trips ---- */

static void ping_pong(int first, int with, long n)
{
    if (first) {
        pt2pt_send_to(with, n);
        receive_from(with, n);
    } else {
        receive_from(with, n);
        pt2pt_send_to(with, n);
    }
}
static void latency(long n)
{
    if (rank < 2)
        ping_pong(rank == 0, 1 - rank, n);
}

static int pairs(void)
{
    return size / 2;
}
static int in_pair(void)
{
    return rank < 2 * pairs();
}
static int partner(void)
{
    return rank < pairs() ? rank + pairs() : rank - pairs();
}
static void latency_pairs(long n)
{
    if (in_pair())
        ping_pong(rank < pairs(), partner(), n);
}

static void latency_any(long n)
{
    if (rank == 0) {
        pt2pt_send_to(1, n);
        MPI_Recv(b, (int)n, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(b, (int)n, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
        pt2pt_send_to(0, n);
    }
}
static void latency_sync(long n)
{
    if (rank == 0) {
        MPI_Ssend(a, (int)n, MPI_CHAR, 1, TAG, world);
        receive_from(1, n);
    } else if (rank == 1) {
        receive_from(0, n);
        MPI_Ssend(a, (int)n, MPI_CHAR, 0, TAG, world);
    }
}
static void pt2pt_exchange(long n)
{
    if (rank < 2)
        MPI_Sendrecv(a, (int)n, MPI_CHAR, 1 - rank, TAG, b, (int)n, MPI_CHAR, 1 - rank, TAG, world,
                     MPI_STATUS_IGNORE);
}

static void ready_to(int to, long n)
{
    MPI_Rsend(a, (int)n, MPI_CHAR, to, TAG, world);
}

/* The receive stands before the message that makes the other send: so a ready send is right. */
static void to_standing(void (*send)(int to, long n), long n)
{
    if (rank > 1)
        return;
    if (rank == 0)
        send(1, n);
    MPI_Wait(&to_receive, MPI_STATUS_IGNORE);
    MPI_Irecv(b, (int)n, MPI_CHAR, 1 - rank, TAG, world, &to_receive);
    if (rank == 1)
        send(0, n);
}
static void latency_ready(long n)
{
    to_standing(ready_to, n);
}
static void latency_standing(long n)
{
    to_standing(pt2pt_send_to, n);
}
static void ready_before(long n)
{
    if (rank < 2)
        MPI_Irecv(b, (int)n, MPI_CHAR, 1 - rank, TAG, world, &to_receive);
    MPI_Barrier(world);
}
static void ready_after(long n)
{
    if (rank < 2) {
        pt2pt_send_to(1 - rank, n);
        MPI_Wait(&to_receive, MPI_STATUS_IGNORE);
    }
}

static void latency_nonblocking(long n)
{
    if (rank > 1)
        return;
    MPI_Irecv(b, (int)n, MPI_CHAR, 1 - rank, TAG, world, &to_receive);
    if (rank == 0) {
        MPI_Isend(a, (int)n, MPI_CHAR, 1, TAG, world, &to_send);
        MPI_Wait(&to_send, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&to_receive, MPI_STATUS_IGNORE);
    if (rank == 1) {
        MPI_Isend(a, (int)n, MPI_CHAR, 0, TAG, world, &to_send);
        MPI_Wait(&to_send, MPI_STATUS_IGNORE);
    }
}
static void latency_persistent(long n)
{
    (void)n;
    if (rank > 1)
        return;
    MPI_Start(&to_receive);
    if (rank == 0) {
        MPI_Start(&to_send);
        MPI_Wait(&to_send, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&to_receive, MPI_STATUS_IGNORE);
    if (rank == 1) {
        MPI_Start(&to_send);
        MPI_Wait(&to_send, MPI_STATUS_IGNORE);
    }
}
static void persistent_before(long n)
{
    if (rank > 1)
        return;
    MPI_Send_init(a, (int)n, MPI_CHAR, 1 - rank, TAG, world, &to_send);
    MPI_Recv_init(b, (int)n, MPI_CHAR, 1 - rank, TAG, world, &to_receive);
}
static void persistent_after(long n)
{
    (void)n;
    if (rank > 1)
        return;
    MPI_Request_free(&to_send);
    MPI_Request_free(&to_receive);
}

/* ---- Windows: many messages, then one answer ---- */

static long apart; /* bytes from the memory of one message of a window to that of the next */

static void apart_before(long n)
{
    apart = n;
}
static void apart_after(long n)
{
    (void)n;
    apart = 0;
}
static void send_window(int to, long n)
{
    for (int i = 0; i < window; i++)
        MPI_Isend(a + i * apart, (int)n, MPI_CHAR, to, TAG, world, &request[i]);
    MPI_Waitall(window, request, MPI_STATUSES_IGNORE);
    MPI_Recv(b, 4, MPI_CHAR, to, ANSWER, world, MPI_STATUS_IGNORE);
}
static void receive_window(int from, long n)
{
    for (int i = 0; i < window; i++)
        MPI_Irecv(b + i * apart, (int)n, MPI_CHAR, from, TAG, world, &request[i]);
    MPI_Waitall(window, request, MPI_STATUSES_IGNORE);
    MPI_Send(a, 4, MPI_CHAR, from, ANSWER, world);
}
static void one_way(long n)
{
    if (rank == 0)
        send_window(1, n);
    else if (rank == 1)
        receive_window(0, n);
}
static void pairs_one_way(long n)
{
    if (in_pair() && rank < pairs())
        send_window(partner(), n);
    else if (in_pair())
        receive_window(partner(), n);
}
static void both_ways(long n)
{
    if (rank > 1)
        return;
    for (int i = 0; i < window; i++)
        MPI_Irecv(b, (int)n, MPI_CHAR, 1 - rank, TAG, world, &request[i]);
    for (int i = 0; i < window; i++)
        MPI_Isend(a, (int)n, MPI_CHAR, 1 - rank, TAG, world, &request[window + i]);
    MPI_Waitall(2 * window, request, MPI_STATUSES_IGNORE);
}

static void rate_persistent(long n)
{
    (void)n;
    if (rank > 1)
        return;
    MPI_Startall(window, request);
    MPI_Waitall(window, request, MPI_STATUSES_IGNORE);
    if (rank == 0)
        MPI_Recv(b, 4, MPI_CHAR, 1, ANSWER, world, MPI_STATUS_IGNORE);
    else
        MPI_Send(a, 4, MPI_CHAR, 0, ANSWER, world);
}
static void rate_persistent_before(long n)
{
    for (int i = 0; i < window && rank == 0; i++)
        MPI_Send_init(a, (int)n, MPI_CHAR, 1, TAG, world, &request[i]);
    for (int i = 0; i < window && rank == 1; i++)
        MPI_Recv_init(b, (int)n, MPI_CHAR, 0, TAG, world, &request[i]);
}
static void rate_persistent_after(long n)
{
    (void)n;
    for (int i = 0; i < window && rank < 2; i++)
        MPI_Request_free(&request[i]);
}

/* A thread that does nothing, as those of OpenMP between two parallel regions. */
static pthread_t beside;
static int beside_pipe[2];
static void *stand_by(void *arg)
{
    char c;
    (void)arg;
    while (read(beside_pipe[0], &c, 1) < 0)
        ;
    return NULL;
}
static void rate_threads_before(long n)
{
    (void)n;
    if (pipe(beside_pipe) != 0 || pthread_create(&beside, NULL, stand_by, NULL) != 0)
        MPI_Abort(world, 1);
}
static void rate_threads_after(long n)
{
    (void)n;
    close(beside_pipe[1]);
    pthread_join(beside, NULL);
    close(beside_pipe[0]);
}

static double bandwidth_of(long n, double seconds)
{
    return window * (double)n / seconds / 1e6;
}
static double bandwidth_of_both(long n, double seconds)
{
    return 2 * bandwidth_of(n, seconds);
}
static double bandwidth_of_pairs(long n, double seconds)
{
    return pairs() * bandwidth_of(n, seconds);
}
static double rate_of(long n, double seconds)
{
    (void)n;
    return window / seconds / 1e6;
}
static double rate_of_pairs(long n, double seconds)
{
    return pairs() * rate_of(n, seconds);
}

static size_t at_least_a_word(long n)
{
    return n > 64 ? (size_t)n : 64;
}
static size_t of_a_window(long n)
{
    return at_least_a_word(n) * (size_t)window;
}

/* ---- Steps of a program: neighbors in a ring ---- */

static void ring(long n)
{
    MPI_Sendrecv(a, (int)n, MPI_CHAR, (rank + 1) % size, TAG, b, (int)n, MPI_CHAR, (rank + size - 1) % size,
                 TAG, world, MPI_STATUS_IGNORE);
}

static volatile double sink;

/* Some work, borders to one side, a residual. */
static void pt2pt_step(long n)
{
    for (int i = 0; i < 2000; i++)
        sink += 1.0 / (i + 1);
    ring(n);
    MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_SUM, world);
}

/* Rank 0 works for the time of a point, the others wait for it: for those who look at what waiting costs. */
static void idle(const struct test *t, long n)
{
    double start = MPI_Wtime(), took;
    (void)n;
    while (rank == 0 && MPI_Wtime() - start < point_time())
        for (int i = 0; i < 100; i++)
            sink += 1.0 / (i + 1);
    MPI_Barrier(world);
    took = MPI_Wtime() - start;
    report(t, t->name, 0, &took, 1);
}

#define ROW(name_, unit_, ranks_, round_, value_, about_) \
    .group = "pt2pt", .name = name_, .unit = unit_, .least_ranks = ranks_, .round = round_, .value = value_, \
    .about = about_, .room = at_least_a_word
static const struct test rows[] = {
    { ROW("latency", "us", 2, latency, half_microseconds, "half a round trip of MPI_Send and MPI_Recv") },
    { ROW("latency_any", "us", 2, latency_any, half_microseconds,
          "the same, receives of any source and tag") },
    { ROW("latency_sync", "us", 2, latency_sync, half_microseconds, "the same, MPI_Ssend") },
    { ROW("latency_standing", "us", 2, latency_standing, half_microseconds,
          "the same, MPI_Send to an MPI_Irecv that stands"),
      .before = ready_before, .after = ready_after },
    { ROW("latency_ready", "us", 2, latency_ready, half_microseconds, "the same, MPI_Rsend"),
      .before = ready_before, .after = ready_after },
    { ROW("latency_nonblocking", "us", 2, latency_nonblocking, half_microseconds,
          "the same, MPI_Isend and MPI_Irecv, each with MPI_Wait") },
    { ROW("latency_persistent", "us", 2, latency_persistent, half_microseconds,
          "the same, persistent requests"),
      .before = persistent_before, .after = persistent_after },
    { ROW("latency_pairs", "us", 4, latency_pairs, half_microseconds,
          "half a round trip, all pairs at once") },
    { ROW("exchange", "us", 2, pt2pt_exchange, microseconds, "MPI_Sendrecv of two ranks with each other") },
    { ROW("bandwidth", "MB/s", 2, one_way, bandwidth_of, "a window of messages one way"), .least = 1 },
    { .group = "pt2pt",
      .name = "bandwidth_apart",
      .unit = "MB/s",
      .least = 1,
      .least_ranks = 2,
      .on_demand = 1,
      .room = of_a_window,
      .before = apart_before,
      .round = one_way,
      .after = apart_after,
      .value = bandwidth_of,
      .about = "the same, memory of its own for each message" },
    { ROW("bandwidth_both", "MB/s", 2, both_ways, bandwidth_of_both, "windows both ways, their sum"),
      .least = 1 },
    { ROW("bandwidth_pairs", "MB/s", 4, pairs_one_way, bandwidth_of_pairs, "all pairs one way, their sum"),
      .least = 1 },
    { ROW("rate", "M/s", 2, one_way, rate_of, "messages a second in windows one way") },
    { ROW("rate_persistent", "M/s", 2, rate_persistent, rate_of, "the same, persistent requests"),
      .before = rate_persistent_before, .after = rate_persistent_after },
    { ROW("rate_threads", "M/s", 2, one_way, rate_of,
          "the same as rate, beside a thread that does not use MPI"),
      .before = rate_threads_before, .after = rate_threads_after },
    { ROW("rate_pairs", "M/s", 4, pairs_one_way, rate_of_pairs, "all pairs one way, their sum") },
    { ROW("ring", "us", 1, ring, microseconds, "MPI_Sendrecv to the next from the previous rank") },
    { ROW("step", "us", 1, pt2pt_step, microseconds,
          "of a solver: a little work, a ring, an MPI_Allreduce of 8 bytes") },
    { .group = "pt2pt",
      .name = "idle",
      .unit = "s",
      .by = NOTHING,
      .on_demand = 1,
      .run = idle,
      .about = "rank 0 works for the time of a point, the others wait in MPI_Barrier" },
};
const struct table pt2pt_tests = { rows, sizeof rows / sizeof *rows };
