/* SPDX-License-Identifier: BSD-3-Clause */
/* A start that all ranks leave alike.  A barrier is none over hosts: a rank may be out of it, and its message may
 * have arrived, before another one is out.  So rank 0 names a time, and each rank waits for it by its own clock.
 *
 * What a call takes is from when the first rank has begun it to when the last one is back, by the clock of rank
 * 0.  That is never less than what it takes on any rank, nor than the way from one to another; and what all ranks
 * need alike to wake up is no part of it. */
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include "bench.h"
#include "run.h"

enum { ASKS_MOST = 30, ASKS_LEAST = 5, TRIES = 12, NANO = 1000000000 };

/* Seconds, but for SHARE and DRIFT. */
static const double ASKING = 0.01;             /* one rank for the time, once it has asked ASKS_LEAST times */
static const double AGAIN = 0.2, SHARE = 0.05; /* clocks: how soon, and for which part of the time */
static const double DRIFT = 1e-4;              /* of one clock from another one */
static const double NEAR = 2e-6, FAR = 0.2;    /* how far ahead the named time may be */
static const double SPIN = 2e-4;               /* before it */

struct place {
    char host[MPI_MAX_PROCESSOR_NAME];
    cpu_set_t cpus;
};

static double ahead;            /* by how much this rank's clock is before rank 0's */
static double doubt = HUGE_VAL; /* how wrong that may be */
static double looked, looking;  /* when at the clocks last, and for how long */
static double distance = 1e-5;  /* how far ahead the next time is named */
static int crowded = -1;        /* more ranks than cores on this host; -1: not known yet */
static int beside_first;        /* rank 0 has the same host, by its name */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / NANO;
}

static void look_around(void)
{
    struct place mine = { { 0 }, { { 0 } } }, its;
    cpu_set_t all = mine.cpus;
    int len, ranks = 0;
    MPI_Get_processor_name(mine.host, &len);
    sched_getaffinity(0, sizeof mine.cpus, &mine.cpus);
    for (int i = 0; i < size; i++) {
        its = mine;
        MPI_Bcast(&its, sizeof its, MPI_BYTE, i, MPI_COMM_WORLD);
        if (strcmp(its.host, mine.host) != 0)
            continue;
        ranks++;
        CPU_OR(&all, &all, &its.cpus);
        beside_first |= i == 0;
    }
    crowded = ranks > CPU_COUNT(&all);
}

/* ---- Clocks ---- */

/* The answer is taken to be of the middle of the shortest round trip, and to be wrong by at most half of it.  What
 * an earlier look has found stands if that is less wrong still. */
static void ask_first(void)
{
    double begin = now(), shortest = 0, theirs, found = 0;
    for (int last = 0, i = 0; !last; i++) {
        double asked = now(), took;
        last = i == ASKS_MOST - 1 || (i >= ASKS_LEAST - 1 && asked - begin > ASKING);
        MPI_Sendrecv(&last, 1, MPI_INT, 0, 0, &theirs, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        took = now() - asked;
        if (i == 0 || took < shortest) {
            shortest = took;
            found = asked + took / 2 - theirs;
        }
    }
    doubt += DRIFT * (begin - looked);
    if (shortest / 2 < doubt) {
        /* Ranks of one host have one clock, unless they are in different time namespaces. */
        ahead = beside_first && fabs(found) <= shortest / 2 ? 0 : found;
        doubt = shortest / 2;
    }
}

static void bench_start_answer(int who)
{
    for (int last = 0; !last;) {
        MPI_Recv(&last, 1, MPI_INT, who, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double time = now();
        MPI_Send(&time, 1, MPI_DOUBLE, who, 0, MPI_COMM_WORLD);
    }
}

static void look_at_clocks(void)
{
    double begin = now();
    if (crowded < 0)
        look_around();
    if (rank != 0)
        ask_first();
    for (int i = 1; rank == 0 && i < size; i++)
        bench_start_answer(i);
    looked = now();
    looking = looked - begin; /* what counts is rank 0's, which sees all others */
}

/* ---- Calls ---- */

/* Awake for the last part, since one rank wakes up later than another.  Ranks that share a core give it to each
 * other all the while. */
static void wait_until(double time)
{
    double sleep_to = time - SPIN;
    struct timespec t = { .tv_sec = (time_t)sleep_to };
    t.tv_nsec = (long)((sleep_to - (double)t.tv_sec) * NANO);
    if (now() < sleep_to) {
        prctl(PR_SET_TIMERSLACK, 1);
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
        prctl(PR_SET_TIMERSLACK, 0); /* as before */
    }
    while (now() < time)
        if (crowded)
            sched_yield();
}

/* The time on which all agree; *took: how long the word of it was on its way. */
static double agree(double *took)
{
    double word[3] = { now(), distance,
                       crowded < 0 || now() - looked > (looking > AGAIN * SHARE ? looking / SHARE : AGAIN) };
    MPI_Bcast(word, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (word[2] != 0) {
        look_at_clocks();
        return agree(took);
    }
    *took = now() - ahead - word[0];
    distance = word[1];
    return word[0] + distance + ahead;
}

/* Twice as far as the last word needed, but not much nearer than before: what one needs varies. */
static void bench_start_go_on(double took)
{
    double next = took > distance ? 2 * distance : 2 * took > 0.9 * distance ? 2 * took : 0.9 * distance;
    distance = next < NEAR ? NEAR : next > FAR ? FAR : next;
}

/* A call does not count, and another one follows, where a rank was late: the word came when the time was past, or
 * something else had the rank's core.  Ranks that share a core begin as they get it.  The last of TRIES counts as
 * it is. */
double seconds_apart(void (*call)(long n), long n)
{
    enum { BEFORE, AFTER, TOOK, LATE, ALL };
    double mine[ALL], all[ALL];
    for (int i = 0; i < TRIES; i++) {
        double time = agree(&mine[TOOK]);
        wait_until(time);
        mine[BEFORE] = time - now();
        call(n);
        mine[AFTER] = now() - time;
        mine[LATE] = mine[TOOK] > distance || (!crowded && -mine[BEFORE] > NEAR);
        MPI_Allreduce(mine, all, ALL, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        bench_start_go_on(all[TOOK]);
        if (all[LATE] == 0)
            break;
    }
    return all[BEFORE] + all[AFTER];
}
