/* SPDX-License-Identifier: BSD-3-Clause */
/* Thousands of nonblocking collectives under way, on a communicator that is new and on one that is not: whatever
 * else the process does does not become slow, and all end well. */
/* ranks: 2 3 */
/* timeout: 120 */
#define _GNU_SOURCE
#include <time.h>
#include "../check.h"

enum { N = 10000, TRIPS = 30, ROUNDS = 7, TIMES = 25 };

#define OTHERS (TRIPS * 1e-3) /* seconds that other programs may keep the processors */

static int in[N], out[N];
static MPI_Request request[N];

/* What trips take: time of this process on a processor, and time in all, which other programs make longer. */
struct times {
    double busy, all;
};

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The least times of a round of messages between ranks 0 and 1. */
static struct times trips(void)
{
    struct times least = { 1e9, 1e9 };
    int x = 0, other = 1 - check_rank;
    for (int k = 0; k < ROUNDS && check_rank < 2; k++) {
        double busy = processor_time(), all = MPI_Wtime();
        for (int i = 0; i < TRIPS; i++)
            MPI_Sendrecv_replace(&x, 1, MPI_INT, other, 7, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        busy = processor_time() - busy;
        all = MPI_Wtime() - all;
        least.busy = busy < least.busy ? busy : least.busy;
        least.all = all < least.all ? all : least.all;
    }
    return least;
}

static void begin(MPI_Comm comm)
{
    for (int i = 0; i < N; i++) {
        in[i] = check_rank + i;
        out[i] = -1;
        MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, comm, &request[i]);
    }
}

static void in_flight(MPI_Comm comm, struct times without, const char *which)
{
    int bad = 0, p = check_size;
    if (check_rank == 0)
        begin(comm);
    struct times with = trips();
    CHECK(check_rank != 0 ||
              (with.busy < TIMES * without.busy + 1e-3 && with.all < TIMES * without.all + OTHERS),
          "%d in flight on a communicator that is %s: %d round trips take %.0f us, %.0f of them on a "
          "processor; %.0f and %.0f without",
          N, which, TRIPS, with.all * 1e6, with.busy * 1e6, without.all * 1e6, without.busy * 1e6);
    if (check_rank != 0)
        begin(comm);
    MPI_Waitall(N, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        bad += out[i] != p * i + p * (p - 1) / 2;
    CHECK_EQ(bad, 0);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    check_init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    struct times without = trips();
    in_flight(comm, without, "new");
    in_flight(comm, without, "used");
    MPI_Comm_free(&comm);
    return check_done();
}
