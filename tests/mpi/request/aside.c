/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops of calls that do not wait (MPI_Test, MPI_Testany, MPI_Iprobe, MPI_Improbe ...) step aside where ranks
 * share a core: who computes there gets nearly all of it, and messages are not slowed to time slices. */
/* ranks: 2 5 */
/* mpiexec: --bind-to none */
/* timeout: 120 */
#define _GNU_SOURCE
#include "../check.h"
#include <sched.h>
#include <time.h>

#define W MPI_COMM_WORLD

enum { NEWS = 7, TRIPS = 300 };

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu(void)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

/* All on one core. */
static int share_a_core(void)
{
    cpu_set_t all, one;
    int c = 0;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return 0;
    while (c < CPU_SETSIZE - 1 && !CPU_ISSET(c, &all))
        c++;
    CPU_ZERO(&one);
    CPU_SET(c, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

static const char *const ways[] = { "MPI_Test",   "MPI_Testany", "MPI_Testall",           "MPI_Testsome",
                                    "MPI_Iprobe", "MPI_Improbe", "MPI_Request_get_status" };
enum { WAYS = sizeof ways / sizeof *ways };

/* Has the message of tag NEWS come?  Requests are left complete. */
static int ask(int way, MPI_Request *r)
{
    int flag = 0, index;
    MPI_Message m;
    switch (way) {
    case 0:
        MPI_Test(r, &flag, MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Testany(1, r, &index, &flag, MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Testall(1, r, &flag, MPI_STATUSES_IGNORE);
        break;
    case 3:
        MPI_Testsome(1, r, &flag, &index, MPI_STATUSES_IGNORE);
        break;
    case 4:
        MPI_Iprobe(0, NEWS, W, &flag, MPI_STATUS_IGNORE);
        break;
    case 5:
        MPI_Improbe(0, NEWS, W, &flag, &m, MPI_STATUS_IGNORE);
        if (flag)
            MPI_Mrecv(NULL, 0, MPI_INT, &m, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Request_get_status(*r, &flag, MPI_STATUS_IGNORE);
    }
    return flag;
}

/* Ask until it has come. */
static void await(int way)
{
    MPI_Request r = MPI_REQUEST_NULL;
    if (way < 4 || way == 6)
        MPI_Irecv(NULL, 0, MPI_INT, 0, NEWS, W, &r);
    while (!ask(way, &r))
        ;
    if (way == 4)
        MPI_Recv(NULL, 0, MPI_INT, 0, NEWS, W, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void tell_all(void)
{
    for (int i = 1; i < check_size; i++)
        MPI_Send(NULL, 0, MPI_INT, i, NEWS, W);
}

/* Do all ranks believe that they are on one machine?  Those of several hosts share no core, unless the hosts are
 * made by a test. */
static int on_one_machine(void)
{
    char mine[MPI_MAX_PROCESSOR_NAME] = "", first[MPI_MAX_PROCESSOR_NAME];
    int n, same;
    MPI_Get_processor_name(mine, &n);
    memcpy(first, mine, sizeof first);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, W);
    same = !strcmp(mine, first);
    MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, W);
    return same;
}

/* Rank 0 computes, the others ask: each may use a fraction of what would be its fair share; if it cannot know of
 * the others, that share. */
static void compute(void)
{
    double work = 0.4, most = on_one_machine() ? work / 3 : 1.5 * work, used = cpu();
    MPI_Barrier(W);
    if (check_rank == 0) {
        while (cpu() - used < work)
            ;
        tell_all();
    } else {
        await((check_rank - 1) % WAYS);
    }
    used = cpu() - used;
    CHECK(getenv("LD_PRELOAD") /* Valgrind */ || check_rank == 0 || used < most,
          "%s in a loop took %g s of the processor while rank 0 computed %g s on the same core",
          ways[(check_rank - 1 + WAYS) % WAYS], used, work);
}

/* The last one computes, and seldom looks whether it may end. */
static void work_until_told(void)
{
    MPI_Request r;
    int told = 0;
    MPI_Irecv(NULL, 0, MPI_INT, 0, NEWS, W, &r);
    while (!told) {
        double start = cpu();
        while (cpu() - start < 0.02)
            ;
        MPI_Test(&r, &told, MPI_STATUS_IGNORE);
    }
}

/* A number of trips to rank 1, which asks, and back, while the others ask, too, or the last one computes: the
 * seconds. */
static double trips(int way, int works)
{
    MPI_Barrier(W);
    double start = seconds(CLOCK_MONOTONIC);
    for (int i = 0; i < TRIPS && check_rank < 2; i++) {
        if (check_rank == 0) {
            MPI_Send(NULL, 0, MPI_INT, 1, NEWS, W);
            MPI_Recv(NULL, 0, MPI_INT, 1, 0, W, MPI_STATUS_IGNORE);
        } else {
            await(way);
            MPI_Send(NULL, 0, MPI_INT, 0, 0, W);
        }
    }
    double took = seconds(CLOCK_MONOTONIC) - start;
    for (int i = 2; i < check_size && check_rank == 0; i++)
        MPI_Send(NULL, 0, MPI_INT, i, NEWS, W);
    if (check_rank > 1 && works && check_rank == check_size - 1)
        work_until_told();
    else if (check_rank > 1)
        await((way + check_rank) % WAYS);
    return took;
}

/* Other programs may have the core for a while: three tries. */
static void check_trips(int way, int works)
{
    double took = 1e9, limit = TRIPS * 0.003 /* a time slice is 4 ms as a rule */;
    for (int i = 0; i < 3 && took > limit; i++) {
        took = trips(way, works);
        MPI_Bcast(&took, 1, MPI_DOUBLE, 0, W);
    }
    CHECK(getenv("LD_PRELOAD") || check_rank != 0 || took <= limit, "%d trips to %s in a loop%s took %g s",
          TRIPS, ways[way], works ? ", beside one who computes," : "", took);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    if (share_a_core()) {
        compute();
        for (int way = 0; way < WAYS; way++)
            check_trips(way, 0);
        check_trips(0, check_size > 2);
    }
    return check_done();
}
