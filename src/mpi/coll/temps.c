/* SPDX-License-Identifier: BSD-3-Clause */
/* temps.c: memory of temporary data of collectives.
 *
 * Long blocks are kept for later calls: the system would take their pages back and give new ones, which takes as
 * long as copying what is in them several times.  Calls come one at a time (util/seat.h), so no lock guards them.
 *
 * Long blocks of malloc, so those of programs, begin at one place of a page.  A processor that reads from one such
 * block and writes to another compares the low bits of addresses and waits where there is nothing to wait for: so
 * long blocks begin here at other places, in turn. */
#include "coll.h"
#include <stdint.h>
#include <stdlib.h>

enum { LONG = 64 << 10, MOST_KEPT = 8 << 20 /* bytes, of all together */, PAGE = 4096, PLACES = 4 };

struct block {
    _Alignas(16) size_t room; /* bytes behind this */
    void *whole;              /* what malloc gave */
    struct block *next;       /* of those kept, the last given back first */
};

static struct {
    struct block *first;
    size_t bytes;
} kept;

static struct block *unlink_block(struct block **at)
{
    struct block *b = *at;
    *at = b->next;
    kept.bytes -= b->room;
    return b;
}

/* A short one does not take a long one's. */
static struct block *kept_block(size_t room)
{
    for (struct block **at = &kept.first; *at; at = &(*at)->next)
        if ((*at)->room >= room && (*at)->room / 2 <= room)
            return unlink_block(at);
    return NULL;
}

/* Bytes that a block at this address leaves out. */
static size_t gap_before(uintptr_t whole)
{
    static uint32_t turn;
    size_t place = PAGE / PLACES * (turn++ % PLACES) + PAGE / PLACES / 2;
    return (place - whole - sizeof(struct block)) % PAGE;
}

static struct block *new_block(size_t room)
{
    char *whole = malloc(sizeof(struct block) + room + (room >= LONG ? PAGE : 0));
    if (!whole)
        return NULL;
    struct block *b = (struct block *)(whole + (room >= LONG ? gap_before((uintptr_t)whole) : 0));
    b->room = room;
    b->whole = whole;
    return b;
}

/* NULL: there is none. */
static void *take_block(size_t room)
{
    struct block *b = room >= LONG ? kept_block(room) : NULL;
    if (!b)
        b = new_block(room);
    return b ? b + 1 : NULL;
}

/* Those that nobody has asked for longest make room. */
static void keep_at_most(size_t bytes)
{
    while (kept.bytes > bytes) {
        struct block **at = &kept.first;
        while ((*at)->next)
            at = &(*at)->next;
        free(unlink_block(at)->whole);
    }
}

static void give_block(void *p)
{
    struct block *b = (struct block *)p - 1;
    if (b->room < LONG || b->room > MOST_KEPT) {
        free(b->whole);
        return;
    }
    keep_at_most(MOST_KEPT - b->room);
    b->next = kept.first;
    kept.first = b;
    kept.bytes += b->room;
}

void MPIR_Coll_stop(void)
{
    keep_at_most(0);
}

static void *temps_no_memory(struct coll *c, int64_t bytes)
{
    MPIR_Coll_note(
        c, MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for %lld bytes of temporary data", (long long)bytes));
    return c->st->small;
}

/* NULL: there is none. */
static void *take_memory(struct coll_state *st, int64_t bytes)
{
    size_t room = ((size_t)bytes + 15) & ~(size_t)15;
    if (st->used + room <= sizeof st->small) {
        st->used += room;
        return st->small + st->used - room;
    }
    void *p = st->ntemps < COLL_TEMPS ? take_block(room) : NULL;
    if (p)
        st->temps[st->ntemps++] = p;
    return p;
}

void *MPIR_Coll_temp(struct coll *c, int64_t count, MPIR_Datatype *type)
{
    int64_t gap = 0, span = count ? MPIR_Datatype_span(type, count, &gap) : 0;
    char *p = take_memory(c->st, span);
    return p ? p - gap : temps_no_memory(c, span);
}

void *MPIR_Coll_must_have(struct coll *c, int64_t bytes)
{
    void *p = take_memory(c->st, bytes);
    if (!p)
        MPID_Abort(NULL, MPI_ERR_NO_MEM, NULL,
                   "no memory for what a collective needs to go on that others wait for");
    return p;
}

MPIR_Datatype *MPIR_Coll_temp_type(struct coll *c)
{
    MPIR_Datatype *t = calloc(1, sizeof *t);
    if (!t) {
        temps_no_memory(c, sizeof *t);
        return NULL;
    }
    t->adi.obj = (struct keel_object){ .index = KEEL_NO_INDEX, .refs = 1 };
    c->st->made = t;
    return t;
}

void MPIR_Coll_drop(struct coll_state *st)
{
    for (int i = 0; i < st->ntemps; i++)
        give_block(st->temps[i]);
    if (st->made) {
        MPID_Type_fini(&st->made->adi);
        free(st->made);
    }
}
