/* SPDX-License-Identifier: BSD-3-Clause */
/* check.c: KEEL_CHECK_RMA: accesses of one epoch that conflict, found by the target.
 *
 * All accesses but those of a process to its own part go by messages then, so the target meets every one of them.
 * It keeps what was touched, and compares each new access with that.
 *
 * Invariants
 *   1. What an origin has touched is kept until it is ordered before all that follows: until the origin's flush in
 *      epochs of passive targets, until the target's fence, or the end of its exposure.
 *   2. An access belongs to the fence that its origin has left last; those of different fences do not conflict,
 *      since a process may be past a fence in which the target still is.
 *   3. A touch is in the list of each page that it has bytes in. */
#include "config.h"
#include <stdlib.h>
#include "rma.h"
#include "tell.h"
#include "util/knob.h"

enum { PAGE = 1 << 12, LISTS = 1024 };

/* Bytes [first, end) of the part, within one page. */
struct touch {
    struct touch *next;
    int64_t first, end;
    int32_t source, kind;
    uint32_t basic, fences;
};

struct rma_check {
    struct touch *list[LISTS];
};

bool MPIR_Rma_Check_wanted(void)
{
    return ku_knob_int("CHECK_RMA") != 0 || MPIR_Check_wants(KU_FAULT_WINDOW_CONFLICT);
}

static bool updates(int32_t kind)
{
    return kind == RMA_ACCUMULATE || kind == RMA_GET_ACCUMULATE || kind == RMA_COMPARE_SWAP;
}

/* Accumulates of one type go together with each other, and so do gets. */
static bool conflict(const struct touch *a, const struct touch *b)
{
    if (a->first >= b->end || b->first >= a->end || a->fences != b->fences)
        return false;
    if (updates(a->kind) && updates(b->kind))
        return a->basic != b->basic;
    return a->kind != RMA_GET || b->kind != RMA_GET;
}

struct notes {
    struct rma *r;
    struct touch touch;
    int64_t at; /* of element 0, in the part */
    struct rma_answer *says;
    struct touch *made; /* not compared with each other: one access */
};

static struct touch **check_list_of(struct rma *r, int64_t at)
{
    return &r->check->list[(uint64_t)at / PAGE % LISTS];
}

static void note_page(struct notes *n, int64_t first, int64_t end)
{
    struct touch *t = malloc(sizeof *t);
    if (!t) /* nothing is found where this one would have been */
        return;
    *t = n->touch;
    t->first = first;
    t->end = end;
    for (const struct touch *o = *check_list_of(n->r, first); o && !n->says->error; o = o->next)
        if (conflict(o, t))
            *n->says = (struct rma_answer){ .error = MPI_ERR_RMA_CONFLICT,
                                            .kind = t->kind,
                                            .other = o->source,
                                            .other_kind = o->kind,
                                            .first = first > o->first ? first : o->first,
                                            .end = end < o->end ? end : o->end };
    t->next = n->made;
    n->made = t;
}

static bool note_run(void *arg, int64_t at, int64_t bytes)
{
    struct notes *n = arg;
    for (int64_t first = n->at + at, end = first + bytes, next; first < end; first = next) {
        next = (first / PAGE + 1) * PAGE < end ? (first / PAGE + 1) * PAGE : end;
        note_page(n, first, next);
    }
    return true;
}

bool MPIR_Rma_Check(struct rma *r, int32_t source, const struct rma_msg *m,
                    const struct MPIR_DATATYPE *layout, const char *at, int64_t count,
                    struct rma_answer *says)
{
    *says = (struct rma_answer){ 0 };
    if (!r->check && !(r->check = calloc(1, sizeof *r->check)))
        return true;
    struct notes n = { r,
                       { .source = source, .kind = m->kind, .basic = m->basic, .fences = m->fences },
                       at - r->own->base,
                       says,
                       NULL };
    MPID_Layout_runs(layout, 0, count * layout->size, note_run, &n);
    for (struct touch *t = n.made, *next; t; t = next) {
        struct touch **list = check_list_of(r, t->first);
        next = t->next;
        t->next = *list;
        *list = t;
    }
    says->disp = m->disp;
    return says->error == 0;
}

int MPIR_Rma_Check_tell(const struct rma_answer *says, const char *call, const char *other, int32_t target)
{
    return MPIR_Err(
        MPI_ERR_RMA_CONFLICT, "target_disp",
        "%lld of %s: bytes %lld to %lld of the part of rank %d were touched by %s of rank %d, too, in "
        "the same epoch and without synchronization in between",
        (long long)says->disp, call, (long long)says->first, (long long)says->end - 1, target, other,
        says->other);
}

void MPIR_Rma_Check_forget(struct rma *r, int32_t source, uint32_t fences)
{
    for (int i = 0; r->check && i < LISTS; i++)
        for (struct touch **at = &r->check->list[i], *t; (t = *at);) {
            bool ends = source >= 0 ? t->source == source : (int32_t)(t->fences - fences) < 0;
            if (!ends) {
                at = &t->next;
                continue;
            }
            *at = t->next;
            free(t);
        }
}

void MPIR_Rma_Check_end(struct rma *r)
{
    for (int i = 0; r->check && i < LISTS; i++)
        for (struct touch *t = r->check->list[i], *next; t; t = next) {
            next = t->next;
            free(t);
        }
    free(r->check);
    r->check = NULL;
}
