/* SPDX-License-Identifier: BSD-3-Clause */
/* hang_family.c: a deadlock that spans jobs, which have spawned each other.
 *
 * A job that can go on by other jobs only says so to the daemon of the job that has spawned it, together with
 * those that it has spawned itself (PMI_REST).  The first whose ranks are connected to nobody outside of its own
 * family judges: nothing can go on if all of them rest, and have been found to rest once more after all had been
 * found so for the first time.  What was sent before the first look has arrived by then, and is seen in the second
 * one; clocks are those of one machine.  Where a look is too old, all are asked to look again. */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pmi/launch/job/ranks.h"
#include "hang.h"
#include "pmi/launch/job/spawned.h"
#include "pmi/launch/job/launch.h"
#include "pmi/pmi.h"
#include "pmi/pmi_wire.h"
#include "util/clock.h"

enum { JOBS = 64 /* spawned by one: of more nothing is found */ };

/* What the jobs that were spawned here have said. */
static struct told {
    pid_t mpiexec; /* 0: free */
    struct pmi_rest rest;
} told[JOBS];

/* This job's own rest: the greatest `since` of its ranks, and when it was seen first. */
static struct {
    uint64_t since, first;
} own;

static struct told *find(pid_t mpiexec)
{
    for (int i = 0; i < JOBS; i++)
        if (told[i].mpiexec == mpiexec)
            return &told[i];
    return NULL;
}

/* A place of a job that is not there any more. */
static struct told *find_free(void)
{
    pid_t there[JOBS];
    int n = spawned_pids(there, JOBS);
    for (int i = 0; i < JOBS; i++) {
        int k = 0;
        while (k < n && k < JOBS && there[k] != told[i].mpiexec)
            k++;
        if (k == n)
            return &told[i];
    }
    return NULL;
}

void hang_family_take(pid_t mpiexec, const void *rest, size_t len)
{
    struct told *t = find(mpiexec);
    struct pmi_rest r = { 0 };
    if (!t)
        t = find_free();
    if (!t || len > sizeof r || len < offsetof(struct pmi_rest, name))
        return;
    memcpy(&r, rest, len);
    if ((uint64_t)r.njobs + r.met > (len - offsetof(struct pmi_rest, name)) / sizeof *r.name)
        return;
    *t = (struct told){ mpiexec, r };
}

int hang_family_ask(int question)
{
    pid_t there[JOBS];
    int n = spawned_pids(there, JOBS);
    for (int i = 0; i < n && i < JOBS; i++)
        sigqueue(there[i], REPORT_SIGNAL, (union sigval){ .sival_int = question });
    return n;
}

/* ---- names ---- */

static bool has(const uint64_t *name, uint32_t n, uint64_t one)
{
    for (uint32_t i = 0; i < n; i++)
        if (name[i] == one)
            return true;
    return false;
}

/* False: no room.  Of the jobs there, then of those that they are connected to; each list is built by itself. */
struct names {
    uint32_t n;
    uint64_t name[PMI_REST_JOBS];
};

static bool add(struct names *s, const uint64_t *name, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (has(s->name, s->n, name[i]))
            continue;
        if (s->n == PMI_REST_JOBS)
            return false;
        s->name[s->n++] = name[i];
    }
    return true;
}

static bool add_own(const struct hang_rank *ranks, int n, struct names *jobs, struct names *met)
{
    bool fits = add(jobs, &crew.job_id, 1);
    for (int i = 0; i < n && fits; i++)
        if (ranks[i].pid != 0 && ranks[i].answered)
            fits = add(met, ranks[i].call->job, (uint32_t)ranks[i].call->njobs);
    return fits;
}

/* ---- the judgement ---- */

static uint64_t latest(const struct hang_rank *ranks, int n)
{
    uint64_t since = 0;
    for (int i = 0; i < n; i++)
        if (ranks[i].pid != 0 && ranks[i].since > since)
            since = ranks[i].since;
    return since;
}

/* All jobs that ranks here have spawned have said that they rest. */
static bool add_spawned(struct pmi_rest *all, struct names *jobs, struct names *met)
{
    pid_t there[JOBS];
    int n = spawned_pids(there, JOBS);
    if (n > JOBS)
        return false;
    for (int i = 0; i < n; i++) {
        const struct told *t = find(there[i]);
        if (!t || !add(jobs, t->rest.name, t->rest.njobs) ||
            !add(met, t->rest.name + t->rest.njobs, t->rest.met))
            return false;
        all->first = t->rest.first > all->first ? t->rest.first : all->first;
        all->looked = t->rest.looked < all->looked ? t->rest.looked : all->looked;
    }
    return true;
}

/* To the daemon of the job that has spawned this one, by the name of this one's mpiexec. */
static void tell_spawner(struct pmi_rest *all, const struct names *jobs, const struct names *met)
{
    if (!crew.launch->spawned || jobs->n + met->n > PMI_REST_JOBS)
        return;
    all->njobs = jobs->n;
    all->met = met->n;
    memcpy(all->name, jobs->name, jobs->n * sizeof *all->name);
    memcpy(all->name + jobs->n, met->name, met->n * sizeof *all->name);
    pmi_keel_send(PMI_REST, (uint32_t)getppid(), all,
                  offsetof(struct pmi_rest, name) + (jobs->n + met->n) * sizeof *all->name);
}

bool hang_family_rests(const struct hang_rank *ranks, int n, uint64_t looked)
{
    struct names jobs = { 0 }, met = { 0 };
    uint64_t since = latest(ranks, n);
    if (own.first == 0 || own.since != since)
        own.first = ku_clock_ns();
    own.since = since;
    struct pmi_rest all = { .first = own.first, .looked = looked };
    if (!add_own(ranks, n, &jobs, &met) || !add_spawned(&all, &jobs, &met))
        return false;
    for (uint32_t i = 0; i < met.n; i++)
        if (!has(jobs.name, jobs.n, met.name[i])) {
            tell_spawner(&all, &jobs, &met);
            return false;
        }
    if (all.first <= all.looked)
        return true;
    hang_look();
    return false;
}
