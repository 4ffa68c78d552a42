/* SPDX-License-Identifier: BSD-3-Clause */
/* part_engine.c: channels that go on by themselves, whatever the process waits for, and those whose request has
 * been freed.
 *
 * A channel is listed while it is in a round (a sender: while something of it waits that is ready), owes an
 * acknowledgement, or is an orphan: freed by the user while a message of it is still under way that must be taken
 * (an acknowledgement), or matched in its turn (INIT).  Before its first start it is in the list of those that are
 * quiet. */
#include "config.h"
#include <stdlib.h>
#include "drive.h"
#include "part.h"
#include "partitioned.h"

static struct {
    struct part *first;
    struct part *quiet, *quiet_last; /* in the order in which they were made */
    bool inside, driven;
} engine;

bool MPIR_Part_enter(void)
{
    if (engine.inside)
        return false;
    engine.inside = true;
    return true;
}

void MPIR_Part_leave(void)
{
    engine.inside = false;
}

static void unlist(struct part *p)
{
    if (p->prev)
        p->prev->next = p->next;
    else
        engine.first = p->next;
    if (p->next)
        p->next->prev = p->prev;
    p->listed = false;
}

void MPIR_Part_quiet(struct part *p)
{
    p->quiet = true;
    p->prev = engine.quiet_last;
    *(p->prev ? &p->prev->next : &engine.quiet) = p;
    engine.quiet_last = p;
}

static void end_quiet(struct part *p)
{
    *(p->prev ? &p->prev->next : &engine.quiet) = p->next;
    *(p->next ? &p->next->prev : &engine.quiet_last) = p->prev;
    p->next = p->prev = NULL;
    p->quiet = false;
}

static bool may_match_the_same(const struct part *a, const struct part *b)
{
    return a->sends == b->sends && a->comm == b->comm && a->peer == b->peer && a->tag == b->tag;
}

void MPIR_Part_announce(struct part *p)
{
    while (p->quiet) {
        struct part *first = engine.quiet;
        while (!may_match_the_same(first, p))
            first = first->next;
        end_quiet(first);
        if (first->sends)
            MPIR_Part_send_announce(first);
        else
            MPIR_Part_recv_announce(first);
    }
}

static void destroy(struct part *p)
{
    if (p->listed)
        unlist(p);
    if (p->quiet)
        end_quiet(p);
    if (p->sends)
        MPIR_Part_send_free((struct part_send *)p);
    else
        MPIR_Part_recv_free((struct part_recv *)p);
    if (p->orphan && !(p->comm->adi.obj.flags & KEEL_OBJ_PREDEFINED))
        MPIR_Comm_release(p->comm);
    MPIR_Copies_move(p->copies, MPIR_COPY_GONE, 0, -1);
    free(p);
}

static bool has_more(const struct part *p)
{
    const struct part_send *s = (const struct part_send *)p;
    if (!part_done(&p->init) || !part_done(&p->ack))
        return true;
    return p->sends ? s->nflight > 0 || (s->asked != s->acked && !p->err)
                    : ((const struct part_recv *)p)->ack_due;
}

static bool advance_one(struct part *p)
{
    bool moved = p->sends ? MPIR_Part_send_advance((struct part_send *)p)
                          : MPIR_Part_recv_advance((struct part_recv *)p);
    if (p->orphan) {
        if (!has_more(p))
            destroy(p);
    } else if (!p->active && !(!p->sends && ((struct part_recv *)p)->ack_due)) {
        unlist(p);
    }
    return moved;
}

static enum MPIR_DRIVE part_engine_advance(struct MPIR_Driven *d)
{
    bool moved = false;
    (void)d;
    if (!MPIR_Part_enter())
        return MPIR_DRIVE_WAITS;
    for (struct part *p = engine.first, *next; p; p = next) {
        next = p->next;
        moved |= advance_one(p);
    }
    MPIR_Part_leave();
    engine.driven = engine.first != NULL;
    return !engine.driven ? MPIR_DRIVE_DONE : moved ? MPIR_DRIVE_MOVED : MPIR_DRIVE_WAITS;
}

static struct MPIR_Driven driven = { .advance = part_engine_advance };

bool MPIR_Part_pause(void)
{
    return !engine.inside && MPIR_Drive_pause(&driven);
}

void MPIR_Part_list(struct part *p)
{
    if (!p->listed) {
        p->listed = true;
        p->prev = NULL;
        p->next = engine.first;
        if (p->next)
            p->next->prev = p;
        engine.first = p;
    }
    if (!engine.driven) {
        engine.driven = true;
        MPIR_Drive(&driven);
    }
}

void MPIR_Part_fail(struct part *p, int err)
{
    if (p->err)
        return;
    p->err = err;
    p->words = *ku_err_last();
}

void MPIR_Part_fail_by(struct part *p, struct MPIR_HANDLE *r)
{
    MPIR_Part_fail(p, MPID_Wait(r, NULL)); /* the ADI records the words, again */
}

void MPIR_Part_copy(struct part *p, enum MPIR_COPY what, uint32_t low, uint32_t high)
{
    const struct MPIR_DATATYPE *t = &p->type->adi;
    int64_t first = low * p->count, n = (high - low + 1) * p->count;
    if (n > 0)
        MPIR_Copies_move(p->copies, what, first * t->extent + t->true_lb,
                         (n - 1) * t->extent + t->true_extent);
}

struct MPIR_Copies **MPIR_Part_copies(MPIR_Request *r)
{
    return &((struct part *)r->aux)->copies;
}

void MPIR_Part_complete(struct part *p)
{
    MPIR_Request *r = p->request;
    if (p->copies)
        MPIR_Copies_move(p->copies, MPIR_COPY_OUT, 0, -1);
    p->active = false;
    r->errval = p->err;
    if (p->err)
        MPID_Request_errors++;
    atomic_store_explicit(&r->is_complete, p->stamp ? p->stamp : 1, memory_order_release);
}

void MPIR_Part_close(MPIR_Request *r)
{
    struct part *p = r->aux;
    if (p->sends)
        MPIR_Part_send_close((struct part_send *)p);
    p->request = NULL;
    if (!has_more(p)) {
        destroy(p);
        return;
    }
    p->orphan = true;
    MPIR_Object_ref(p->comm);
    MPIR_Part_list(p);
}

static void part_engine_end(struct MPIR_HANDLE *r)
{
    if (part_done(r))
        return;
    MPID_Cancel(r);
    while (!part_done(r))
        MPID_DeviceCheck(MPID_BLOCKING);
}

void MPIR_Part_fini(const struct MPIR_Session *s)
{
    MPIR_Part_enter();
    for (struct part *p = engine.quiet, *next; p; p = next) {
        next = p->next;
        if (p->comm->session == s)
            end_quiet(p);
    }
    for (struct part *p = engine.first, *next; p; p = next) {
        next = p->next;
        if (p->comm->session != s)
            continue;
        unlist(p);
        if (!p->orphan) /* started, and never completed: an error of the program */
            continue;
        part_engine_end(&p->init);
        part_engine_end(&p->ack);
        destroy(p);
    }
    MPIR_Part_leave();
}

void MPIR_Part_stop(void)
{
    engine.driven = false;
}
