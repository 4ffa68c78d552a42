/* SPDX-License-Identifier: BSD-3-Clause */
/* bind_threads.c: how many threads each rank is told to have, where it would count too many itself.
 *
 * OpenMP's runtimes, and the BLAS libraries that take the same variable, start as many threads as the process's
 * mask has cpus. That is right for a rank with cpus of its own.  Ranks that have the same cpus would each start
 * threads for all of them, and these spin against each other.
 *
 * Whether a rank is bound may depend on what else runs at the moment; what it is told may not: an unbound rank
 * gets as many threads as the share that it would be bound to has cpus. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "bind.h"
#include "pmi/launch/job/launch.h"

static int at_least_1(int n)
{
    return n < 1 ? 1 : n;
}

/* The ranks here that have one of its cpus, itself too. */
static int neighbours(const struct seat *seats, int n, const struct seat *s)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        cpu_set_t both;
        CPU_AND(&both, &seats[i].cpus, &s->cpus);
        count += CPU_COUNT(&both) > 0;
    }
    return count;
}

/* The cpus of the share that each would be bound to. */
static void shares(const struct topology *t, const struct bind_policy *p, const cpu_set_t *avail,
                   const struct seat *seats, int n, int *share)
{
    struct bind_policy even = *p;
    struct seat *piece = xalloc((size_t)n, sizeof *piece);
    const char *why;
    bool refused;
    memcpy(piece, seats, (size_t)n * sizeof *piece);
    even.to = BIND_DEFAULT;
    even.share = true;
    even.pe = 0;
    bool fit = bind_map(t, &even, avail, piece, n, &why, &refused);
    long long threads = 0;
    for (int i = 0; i < n; i++)
        threads += seats[i].threads;
    for (int i = 0; i < n; i++)
        share[i] = at_least_1(fit ? CPU_COUNT(&piece[i].cpus)
                                  : (int)(CPU_COUNT(avail) * (long long)seats[i].threads / threads));
    free(piece);
}

void bind_threads(const struct topology *t, const struct bind_policy *p, const cpu_set_t *avail,
                  struct seat *seats, int n, int most)
{
    int *share = xalloc((size_t)n, sizeof *share);
    long long all = 0;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    shares(t, p, avail, seats, n, share);
    for (int i = 0; i < n; i++) {
        struct seat *s = &seats[i];
        int whole = CPU_COUNT(&s->cpus);
        int mine = s->bound ? at_least_1(whole / at_least_1(neighbours(seats, n, s))) : share[i];
        mine = mine < most / n ? mine : at_least_1(most / n);
        s->told = s->says_threads || mine >= whole ? 0 : mine;
        all += s->says_threads ? s->threads : s->told ? s->told : whole;
        CPU_OR(&cpus, &cpus, &s->cpus);
    }
    int there = CPU_COUNT(&cpus) < most ? CPU_COUNT(&cpus) : most;
    for (int i = 0; i < n; i++)
        seats[i].gives_way = all > there && !seats[i].says_wait;
    free(share);
}
