/* Thousands of nonblocking collectives under way, on a communicator that is new and on one that is not: whatever else the process
 * does does not become slow, and all end well. */
/* ranks: 2 3 */
/* timeout: 120 */
#define _GNU_SOURCE
#include <time.h>
#include "../check.h"

enum { N = 10000, TRIPS = 30, ROUNDS = 7, TIMES = 25 };

static int in[N], out[N];
static MPI_Request request[N];

/* Of this process: how long others have the processors is nothing that it could be judged by. */
static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The least processor time of a round of messages between ranks 0 and 1. */
static double trips(void)
{
    double least = 1e9;
    int x = 0, other = 1 - check_rank;
    for (int k = 0; k < ROUNDS && check_rank < 2; k++) {
        double t = processor_time();
        for (int i = 0; i < TRIPS; i++)
            MPI_Sendrecv_replace(&x, 1, MPI_INT, other, 7, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        t = processor_time() - t;
        least = t < least ? t : least;
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

static void in_flight(MPI_Comm comm, double without, const char *which)
{
    int bad = 0, p = check_size;
    if (check_rank == 0)
        begin(comm);
    double with = trips();
    CHECK(check_rank != 0 || with < TIMES * without + 1e-3,
          "%d in flight on a communicator that is %s: %d round trips take %.0f us; %.0f us without", N, which,
          TRIPS, with * 1e6, without * 1e6);
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
    double without = trips();
    in_flight(comm, without, "new");
    in_flight(comm, without, "used");
    MPI_Comm_free(&comm);
    return check_done();
}
