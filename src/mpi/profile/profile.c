/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.c: how often each procedure was called, how long that took, and how much of it was waiting (see profile.h).
 *
 * A listener (mpid_listen.h) adds up in each process; at MPI_Finalize rank 0 gets the sums of all and writes a
 * page.  Calls that a function of the program makes within another call are part of that one.  A call waits while
 * it looks for something that does not come. */
#include "config.h"
#include "profile.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calls.h"
#include "object.h"
#include "p2p.h"
#include "type.h"
#include "util/clock.h"
#include "util/knob.h"

enum { NAME = 40, TAG = MPID_TAG_UB /* no collective uses it */ };

/* The sums of a procedure, as they travel. */
struct sum {
    char name[NAME];
    uint64_t calls, ns, waited;
    int64_t bytes;
};

/* By its number. */
static struct row {
    struct sum sum;
    int count, datatype; /* the arguments that say how much data it is; count -1: none does */
} * rows;
static uint32_t nrows;

static const char *file; /* where to: "-": stderr; NULL: nobody wants to know */
static uint64_t begun;

/* The program's call that this thread is in. */
static _Thread_local struct inside {
    uint64_t entered, waits_since, waited;
} inside __attribute__((tls_model("initial-exec")));

/* ---- Listening ---- */

/* What is sent, else what is received. */
static void find_data(struct row *r, const struct MPID_Procedure *p)
{
    r->count = -1;
    for (int pass = 0; pass < 2 && r->count < 0; pass++)
        for (int i = 0; i < p->nargs && r->count < 0; i++) {
            const struct MPID_Arg *a = &p->args[i];
            if (a->what == MPID_ARG_BUFFER && a->count >= 0 && a->datatype >= 0 &&
                p->args[a->count].access == MPID_ARG_VALUE && p->args[a->datatype].access == MPID_ARG_VALUE &&
                (pass > 0 || a->access == MPID_ARG_IN)) {
                r->count = a->count;
                r->datatype = a->datatype;
            }
        }
}

/* NULL without memory: the procedure is left out. */
static struct row *profile_row_of(const struct MPID_Procedure *p)
{
    if (p->number >= nrows) {
        uint32_t n = 2 * p->number + 32;
        struct row *more = realloc(rows, n * sizeof *more);
        if (!more)
            return NULL;
        memset(more + nrows, 0, (n - nrows) * sizeof *more);
        rows = more;
        nrows = n;
    }
    struct row *r = &rows[p->number];
    if (!r->sum.name[0]) {
        snprintf(r->sum.name, NAME, "%s", p->name);
        find_data(r, p);
    }
    return r;
}

static int64_t bytes_of(const struct row *r, const struct MPID_Call *call)
{
    int64_t bytes, n = r->count < 0 ? 0 : MPIR_Call_host.integer(call, r->count, 0);
    const MPIR_Datatype *t =
        n > 0 ? MPIR_Object_of(MPIR_KIND_DATATYPE, MPIR_Call_host.handle(call, r->datatype, 0)) : NULL;
    return !t || __builtin_mul_overflow(n, t->adi.size, &bytes) ? 0 : bytes;
}

static void entered(void *self, const struct MPID_Call *call)
{
    (void)self;
    if (call->depth == 0)
        inside = (struct inside){ .entered = ku_clock_ns() };
}

static void left(void *self, const struct MPID_Call *call, int error)
{
    (void)self;
    struct row *r = call->depth == 0 ? profile_row_of(call->procedure) : NULL;
    if (!r)
        return;
    r->sum.calls++;
    r->sum.ns += ku_clock_ns() - inside.entered;
    r->sum.waited += inside.waited;
    r->sum.bytes += error ? 0 : bytes_of(r, call);
}

static void profile_waits(void *self, const struct MPID_Waits *what)
{
    (void)self, (void)what;
    inside.waits_since = ku_clock_ns();
}

static void waits_no_more(void *self)
{
    (void)self;
    inside.waited += ku_clock_ns() - inside.waits_since;
}

static const struct MPID_Listener listener = { .version = MPID_LISTEN_VERSION,
                                               .size = sizeof listener,
                                               .call_entered = entered,
                                               .call_left = left,
                                               .wait_begun = profile_waits,
                                               .wait_ended = waits_no_more };

void MPIR_Profile_begin(void)
{
    const char *name = ku_knob_str("PROFILE");
    file = name && *name && MPID_Listener_add(&listener) == 0 ? name : NULL;
    if (file)
        begun = ku_clock_ns();
}

void MPIR_Profile_end(void)
{
    if (file)
        MPID_Listener_remove(&listener);
    file = NULL;
    free(rows);
    rows = NULL;
    nrows = 0;
}

/* ---- The page ---- */

/* A procedure in all ranks. */
struct total {
    struct sum sum;
    struct of_rank {
        uint64_t ns;
        int rank;
    } least, most;
    int ranks; /* that have called it */
};

struct page {
    struct total *total;
    int n, room;
    struct total all;
    uint64_t ran; /* ns, of all ranks together */
};

static void profile_add(struct total *t, const struct sum *s, int rank)
{
    struct of_rank here = { s->ns, rank };
    t->sum.calls += s->calls;
    t->sum.ns += s->ns;
    t->sum.waited += s->waited;
    t->sum.bytes += s->bytes;
    if (t->ranks == 0 || s->ns < t->least.ns)
        t->least = here;
    if (t->ranks == 0 || s->ns > t->most.ns)
        t->most = here;
    t->ranks++;
}

static void add_sum(struct page *p, const struct sum *s, int rank)
{
    int i = 0;
    while (i < p->n && strncmp(p->total[i].sum.name, s->name, NAME) != 0)
        i++;
    if (p->n == p->room) {
        struct total *more = realloc(p->total, (size_t)(2 * p->room + 32) * sizeof *more);
        if (!more)
            return;
        p->total = more;
        p->room = 2 * p->room + 32;
    }
    if (i == p->n) {
        p->total[p->n++] = (struct total){ .ranks = 0 };
        memcpy(p->total[i].sum.name, s->name, NAME);
    }
    profile_add(&p->total[i], s, rank);
}

static void add_rank(struct page *p, const struct sum *sums, int64_t n, uint64_t ran, int rank)
{
    struct sum all = { .calls = 0 };
    for (int64_t i = 0; i < n; i++) {
        add_sum(p, &sums[i], rank);
        all.calls += sums[i].calls;
        all.ns += sums[i].ns;
        all.waited += sums[i].waited;
    }
    profile_add(&p->all, &all, rank);
    p->ran += ran;
}

static int by_time(const void *a, const void *b)
{
    const struct total *x = a, *y = b;
    return x->sum.ns < y->sum.ns ? 1 : x->sum.ns > y->sum.ns ? -1 : strncmp(x->sum.name, y->sum.name, NAME);
}

static double seconds(uint64_t ns)
{
    return (double)ns * 1e-9;
}

static void write_page(struct page *p, FILE *out)
{
    int ranks = p->all.ranks;
    double ran = p->ran > 0 ? seconds(p->ran) : 1;
    fprintf(out, "keel: profile of %d rank%s: %.3f s from MPI_Init to MPI_Finalize\n", ranks,
            ranks > 1 ? "s" : "", seconds(p->ran) / ranks);
    fprintf(out,
            "in MPI %.3f s a rank, %.1f %%: %.3f s (rank %d) to %.3f s (rank %d); waiting %.3f s a rank\n",
            seconds(p->all.sum.ns) / ranks, 100 * seconds(p->all.sum.ns) / ran, seconds(p->all.least.ns),
            p->all.least.rank, seconds(p->all.most.ns), p->all.most.rank, seconds(p->all.sum.waited) / ranks);
    fprintf(out, "%-28s %10s %10s %6s %10s %10s %6s %10s %6s %12s\n", "call", "calls", "s a rank", "%",
            "waiting", "least s", "rank", "most s", "rank", "MB");
    for (int i = 0; i < p->n; i++) {
        const struct total *t = &p->total[i];
        fprintf(out, "%-28.*s %10llu %10.3f %6.1f %10.3f %10.3f %6d %10.3f %6d %12.3f\n", NAME, t->sum.name,
                (unsigned long long)t->sum.calls, seconds(t->sum.ns) / ranks, 100 * seconds(t->sum.ns) / ran,
                seconds(t->sum.waited) / ranks, seconds(t->least.ns), t->least.rank, seconds(t->most.ns),
                t->most.rank, (double)t->sum.bytes * 1e-6);
    }
}

static void profile_show(struct page *p)
{
    FILE *out = strcmp(file, "-") == 0 ? stderr : fopen(file, "w");
    char text[320];
    qsort(p->total, (size_t)p->n, sizeof *p->total, by_time);
    if (!out) {
        snprintf(text, sizeof text, "warning: the profile cannot be written to %.200s: %s", file,
                 strerror(errno));
        MPID_Message(text);
        return;
    }
    write_page(p, out);
    if (out != stderr && fclose(out) != 0)
        MPID_Message("warning: the profile could not be written as a whole");
}

/* ---- From all ranks to one ---- */

struct head {
    int64_t n;
    uint64_t ran;
};

/* The sums of this process, without what it never called. */
static struct sum *own(struct head *h)
{
    struct sum *sums = calloc(nrows + 1u, sizeof *sums);
    *h = (struct head){ .ran = ku_clock_ns() - begun };
    for (uint32_t i = 0; sums && i < nrows; i++)
        if (rows[i].sum.calls > 0)
            sums[h->n++] = rows[i].sum;
    return sums;
}

static void profile_send_to(int rank)
{
    MPIR_Datatype *byte = MPIR_Datatype_predefined(KEEL_MPI_BYTE);
    struct head h;
    struct sum *sums = own(&h);
    if (MPIR_P2p_send(&h, sizeof h, byte, rank, TAG, &MPIR_Comm_world, MPID_CONTEXT_COLL) == 0 && h.n > 0)
        MPIR_P2p_send(sums, h.n * (int64_t)sizeof *sums, byte, rank, TAG, &MPIR_Comm_world,
                      MPID_CONTEXT_COLL);
    free(sums);
}

/* Whoever is lost by now is left out. */
static void receive_from(int rank, struct page *p)
{
    MPIR_Datatype *byte = MPIR_Datatype_predefined(KEEL_MPI_BYTE);
    struct head h;
    if (MPIR_P2p_recv(&h, sizeof h, byte, rank, TAG, &MPIR_Comm_world, MPID_CONTEXT_COLL, NULL))
        return;
    struct sum *sums = calloc((size_t)h.n + 1, sizeof *sums);
    if (sums && (h.n == 0 || MPIR_P2p_recv(sums, h.n * (int64_t)sizeof *sums, byte, rank, TAG,
                                           &MPIR_Comm_world, MPID_CONTEXT_COLL, NULL) == 0))
        add_rank(p, sums, h.n, h.ran, rank);
    free(sums);
}

void MPIR_Profile_show(void)
{
    struct page p = { .n = 0 };
    struct head h;
    if (!file)
        return;
    if (MPIR_Comm_world.adi.rank != 0) {
        profile_send_to(0);
        return;
    }
    struct sum *sums = own(&h);
    if (sums)
        add_rank(&p, sums, h.n, h.ran, 0);
    free(sums);
    for (int rank = 1; rank < MPIR_Comm_world.adi.size; rank++)
        receive_from(rank, &p);
    if (p.all.ranks > 0)
        profile_show(&p);
    free(p.total);
}
