/* SPDX-License-Identifier: BSD-3-Clause */
/* How times are taken: blocks of rounds, as many rounds as fill a block. All ranks see the same (greatest)
 * seconds, so all decide alike without a word more. */
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "run.h"

enum { WARM = 2, WARM_MOST = 10, AGAIN = 8 };

int rank, size, window = 64, one_side;
char *a, *b;
double counted;

/* Seconds of the rounds: `wall` by the clock, and what counts of them. */
struct seconds {
    double counts, wall;
};

static struct seconds block(void (*round)(long n), long n, long rounds, int own_clock)
{
    double mine[2], most[2];
    MPI_Barrier(MPI_COMM_WORLD);
    counted = 0;
    double start = MPI_Wtime();
    for (long i = 0; i < rounds; i++)
        round(n);
    mine[1] = MPI_Wtime() - start;
    mine[0] = own_clock ? counted : mine[1];
    MPI_Allreduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return (struct seconds){ most[0], most[1] };
}

/* A block of at least half of the time; *rounds: how many rounds that is. */
static struct seconds bench_engine_fill(void (*round)(long n), long n, double time, int own_clock,
                                        long *rounds)
{
    for (*rounds = 1;;) {
        struct seconds s = block(round, n, *rounds, own_clock);
        if (s.wall >= time / 2)
            return s;
        *rounds = s.wall < time / 64 ? *rounds * 8 : (long)((double)*rounds * time / s.wall) + 1;
    }
}

/* Libraries choose between ways by what the first calls took: these do not count, unless they take very long. */
static void warm_up(void (*round)(long n), long n)
{
    double wall = 0;
    for (int i = 0; i < WARM || (i < WARM_MOST && wall < 4 * opt.time); i++)
        wall += block(round, n, 1, 0).wall;
}

double seconds_a_round(void (*round)(long n), long n, double time, int own_clock)
{
    long rounds;
    warm_up(round, n);
    struct seconds s = bench_engine_fill(round, n, time, own_clock, &rounds);
    return s.counts / (double)rounds;
}

/* What one call takes (bench_start.c).  Calls one after another, of which some ranks wait for nobody, make a rate. */
static void (*call)(long n);

static void apart(long n)
{
    counted += seconds_apart(call, n);
}

/* Blocks until there are enough, or until they have taken three times what they should. A block that is far too
 * short means that something else disturbed the one that told how many rounds are needed: begin again. */
void point(const struct test *t, const char *name, long n)
{
    double values[BLOCKS], wall = 0, share = opt.time / BLOCKS;
    long rounds;
    int k = 0, again = 0, own_clock = t->own_clock || (opt.apart && t->together);
    void (*round)(long n) = opt.apart && t->together ? apart : t->round;
    call = t->round;
    if (t->before)
        t->before(n);
    warm_up(round, n);
    struct seconds s = bench_engine_fill(round, n, share, own_clock, &rounds);
    for (;; s = block(round, n, rounds, own_clock)) {
        if (s.wall < share / 4 && again++ < AGAIN) {
            rounds *= s.wall > share / 64 ? (long)(share / s.wall) : 64;
            k = 0;
            continue;
        }
        wall += s.wall;
        values[k++] = t->value(n, s.counts / (double)rounds);
        if (k == BLOCKS || wall > 3 * opt.time)
            break;
    }
    if (t->after)
        t->after(n);
    report(t, name, n, values, k);
}

double point_time(void)
{
    return opt.time;
}
double microseconds(long n, double seconds)
{
    (void)n;
    return seconds * 1e6;
}
double half_microseconds(long n, double seconds)
{
    return microseconds(n, seconds) / 2;
}

/* ---- Buffers ---- */

static size_t room;

static char *zeros(size_t bytes)
{
    void *p;
    if (posix_memalign(&p, 4096, bytes) != 0)
        return NULL;
    return memset(p, 0, bytes);
}

/* 1 if a and b are that long now on every rank. */
int make_room(size_t bytes)
{
    int mine, all;
    if (bytes <= room)
        return 1;
    free_room();
    mine = 2 * bytes <= opt.memory && (a = zeros(bytes)) != NULL && (b = zeros(bytes)) != NULL;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (all)
        room = bytes;
    else
        free_room();
    return all;
}
void free_room(void)
{
    free(a);
    free(b);
    a = b = NULL;
    room = 0;
}
