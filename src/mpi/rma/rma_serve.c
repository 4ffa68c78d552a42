/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_serve.c: the target's half of operations that come as messages (rma_remote.c).
 *
 * A ring of receives takes the messages of all origins.  Each is executed when its turn comes, in whatever call of
 * MPI this process is:
 * its receive is watched, and what is complete is advanced after the next look at the devices (drive.h).
 *
 *   a message   received, with others --(turn)--> executed; behind the last one the place is received into again
 *   what lasts longer (struct incoming): data that come apart --> executed; an answer on its way; a lock that is
 *   not free; a flush behind data that are still to come
 *
 * Invariants
 *   1. Messages have their turns in the order in which they came, so those of one origin in the order in which it
 *      sent them.
 *   2. While an update's or a datatype's data are still to come, the origin's later messages wait, and all behind
 *      them: updates of one origin are done in order.  The data need no turn, so they do come.
 *   3. A flush is answered when nothing of its origin is still to come; what was refused since the last one is
 *      told with it.
 *   4. An incoming is freed only when it is ready, that is while no list of driven ones has it. */
#include "config.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rma.h"

enum { BUCKETS = 64 };

/* A request that wakes the server when it completes. */
struct bell {
    struct MPIR_Watched watched;
    struct MPIR_Driven driven;
    struct rma *rma;
    bool ready, on;
};

struct place {
    struct bell bell;
    bool over;  /* nobody is left who could send */
    int64_t at; /* what of it has had its turn */
    _Alignas(16) char bytes[RMA_BATCH];
};

/* A datatype of an origin. */
struct told {
    struct told *next;
    int32_t source, number, users;
    bool dropped;
    struct MPIR_DATATYPE type;
};

enum state { COMES, ANSWERS, WAITS };

struct incoming {
    struct bell bell;
    struct incoming *next;
    int32_t source;
    enum state state;
    struct rma_msg m;
    struct told *told;
    void *room;
    union {
        struct rma_answer answer;
        char bytes[RMA_WIDTH_MAX];
    } small; /* what is sent back */
};

struct refused {
    struct refused *next;
    int32_t source;
    struct rma_answer says;
};

struct rma_serve {
    struct place ring[RMA_RING];
    uint32_t head;
    struct incoming *first, **last;
    struct told *told[BUCKETS];
    struct refused *refused;
    bool busy, again, waits, ending; /* again: something was ready while it was busy */
};

static void serve(struct rma *r);

static _Noreturn void rma_serve_no_memory(int32_t source)
{
    char text[100];
    snprintf(text, sizeof text,
             "no memory for an operation of rank %d on a window, which would wait for ever", source);
    MPID_Abort(NULL, MPI_ERR_NO_MEM, NULL, text);
}

/* ---- Being told ----------------------------------------------------------------------------------------------- */

static enum MPIR_DRIVE rung(struct MPIR_Driven *d)
{
    struct bell *b = (struct bell *)((char *)d - offsetof(struct bell, driven));
    struct rma *r = b->rma;
    b->ready = true;
    serve(r); /* b may be gone */
    return MPIR_DRIVE_SLEEPS;
}

/* The request has begun. */
static void rma_serve_watch(struct rma *r, struct bell *b)
{
    b->rma = r;
    b->driven.advance = rung;
    b->driven.helped = true;
    b->on = true;
    b->ready = !MPIR_Drive_watch(&b->driven, &b->watched);
}

static void receive(struct rma *r, struct place *p)
{
    memset(&p->bell, 0, sizeof p->bell);
    p->at = 0;
    MPIR_P2p_irecv(p->bytes, sizeof p->bytes, NULL, MPI_ANY_SOURCE, RMA_TAG_AM, r->win->comm,
                   MPID_CONTEXT_RMA, &p->bell.watched.request);
    rma_serve_watch(r, &p->bell);
}

/* ---- What lasts ------------------------------------------------------------------------------------------------ */

static struct incoming *incoming_new(struct rma *r, int32_t source, const struct rma_msg *m,
                                     struct told *told, enum state state)
{
    struct incoming *in = calloc(1, sizeof *in);
    if (!in)
        rma_serve_no_memory(source);
    in->source = source;
    in->m = *m;
    in->told = told;
    in->state = state;
    if (told)
        told->users++;
    *r->serve->last = in;
    r->serve->last = &in->next;
    return in;
}

static void told_drop(struct told *t)
{
    if (!t->dropped || t->users)
        return;
    MPID_Type_fini(&t->type);
    free(t);
}

static void incoming_remove(struct rma *r, struct incoming *in)
{
    struct incoming **at = &r->serve->first;
    while (*at != in)
        at = &(*at)->next;
    *at = in->next;
    if (!*at)
        r->serve->last = at;
    if (in->told) {
        in->told->users--;
        told_drop(in->told);
    }
    free(in->room);
    free(in);
}

/* Something is sent back, from memory that lasts as long as `in`. */
static void rma_serve_answer(struct rma *r, struct incoming *in, const void *bytes, int64_t len)
{
    in->state = ANSWERS;
    memset(&in->bell, 0, sizeof in->bell);
    MPIR_P2p_isend(bytes, len, NULL, in->source, (int)in->m.tag, r->win->comm, MPID_CONTEXT_RMA,
                   &in->bell.watched.request);
    rma_serve_watch(r, &in->bell);
}

/* At once where that can be.  The bytes last: they are in `room` (NULL, or freed), or few, which are copied, or
 * the window's. */
static void reply(struct rma *r, int32_t source, const struct rma_msg *m, const void *bytes, int64_t len,
                  void *room)
{
    if (len <= RMA_INLINE && MPIR_P2p_send_at_once(bytes, len, NULL, source, (int)m->tag, r->win->comm,
                                                   MPID_CONTEXT_RMA) != MPIR_ERR_MAY_BLOCK) {
        free(room); /* an error: the source is lost */
        return;
    }
    struct incoming *in = incoming_new(r, source, m, NULL, ANSWERS);
    in->room = room;
    if (!room && len <= (int64_t)sizeof in->small)
        bytes = memcpy(&in->small, bytes, (size_t)len);
    rma_serve_answer(r, in, bytes, len);
}

/* ---- Refusals --------------------------------------------------------------------------------------------------- */

/* Only the first since the last flush is told. */
static void refuse_saying(struct rma *r, int32_t source, const struct rma_answer *says)
{
    struct refused **at = &r->serve->refused;
    while (*at && (*at)->source != source)
        at = &(*at)->next;
    if (*at)
        return;
    *at = calloc(1, sizeof **at);
    if (!*at)
        rma_serve_no_memory(source);
    (*at)->source = source;
    (*at)->says = *says;
}

static void rma_serve_refuse(struct rma *r, int32_t source, const struct rma_msg *m, int error)
{
    struct rma_answer says = {
        .error = error, .kind = m->kind, .disp = m->disp, .size = r->own->size, .unit = r->own->unit
    };
    refuse_saying(r, source, &says);
}

static struct rma_answer refusal_of(struct rma *r, int32_t source)
{
    struct rma_answer says = { 0 };
    for (struct refused **at = &r->serve->refused, *f; (f = *at); at = &f->next)
        if (f->source == source) {
            says = f->says;
            *at = f->next;
            free(f);
            break;
        }
    return says;
}

/* ---- Datatypes --------------------------------------------------------------------------------------------------- */

static struct told **bucket_of(struct rma *r, int32_t source)
{
    return &r->serve->told[MPIR_Group_hash(source) % BUCKETS];
}

static struct told *told_of(struct rma *r, int32_t source, int32_t number)
{
    struct told *t = *bucket_of(r, source);
    while (t && (t->source != source || t->number != number))
        t = t->next;
    return t;
}

static void rma_serve_learn(struct rma *r, int32_t source, const struct rma_msg *m, const void *bytes)
{
    struct told **bucket = bucket_of(r, source);
    for (struct told **at = bucket, *old; (old = *at); at = &old->next)
        if (old->source == source && old->number == m->type) {
            *at = old->next;
            old->dropped = true;
            told_drop(old);
            break;
        }
    struct told *t = calloc(1, sizeof *t);
    if (!t)
        rma_serve_no_memory(source);
    t->source = source;
    t->number = m->type;
    t->type.obj.refs = 1;
    int err = MPID_Type_decode(&t->type, bytes, m->bytes);
    if (err) {
        free(t);
        rma_serve_refuse(r, source, m, err);
        return;
    }
    t->next = *bucket;
    *bucket = t;
}

/* The target's own side of an operation; false: refused. */
static bool side_of(struct rma *r, int32_t source, const struct rma_msg *m, struct told **told,
                    const struct MPIR_DATATYPE **layout, char **at)
{
    int err = MPI_ERR_TYPE;
    *told = m->type >= 0 ? told_of(r, source, m->type) : NULL;
    MPIR_Datatype *basic = m->type < 0 ? MPIR_Datatype_predefined((int32_t)m->basic) : NULL;
    *layout = *told ? &(*told)->type : basic ? &basic->adi : NULL;
    if (*layout && m->count >= 0) {
        struct rma_answer says;
        err = MPI_ERR_RMA_RANGE;
        if (MPIR_Rma_Place(r, r->own, m->disp, *layout, m->count, at)) {
            if (r->checks && !MPIR_Rma_Check(r, source, m, *layout, *at, m->count, &says))
                refuse_saying(r, source, &says);
            return true;
        }
    }
    rma_serve_refuse(r, source, m, err);
    return false;
}

/* ---- Executing --------------------------------------------------------------------------------------------------- */

/* Data that nobody wants: they come all the same. */
static void swallow(struct rma *r, int32_t source, const struct rma_msg *m)
{
    struct incoming *in = incoming_new(r, source, m, NULL, COMES);
    in->m.kind = RMA_PUT;
    in->room = malloc((size_t)m->bytes);
    if (!in->room)
        rma_serve_no_memory(source);
    MPIR_P2p_irecv(in->room, m->bytes, NULL, source, (int)m->tag | RMA_TAG_DATA, r->win->comm,
                   MPID_CONTEXT_RMA, &in->bell.watched.request);
    rma_serve_watch(r, &in->bell);
}

static void rma_serve_put(struct rma *r, int32_t source, const struct rma_msg *m, const char *data)
{
    struct told *told;
    const struct MPIR_DATATYPE *layout;
    char *at;
    if (!side_of(r, source, m, &told, &layout, &at)) {
        if (m->apart)
            swallow(r, source, m);
        return;
    }
    if (!m->apart) {
        if (m->bytes == m->count * layout->size)
            MPID_Layout_unpack(layout, at, m->count, 0, data, m->bytes);
        return;
    }
    struct incoming *in = incoming_new(r, source, m, told, COMES);
    struct MPID_Operation op =
        MPIR_P2p_from(at, m->bytes, NULL, source, (int)m->tag | RMA_TAG_DATA, r->win->comm, MPID_CONTEXT_RMA);
    if (!layout->is_contig) {
        op.len = m->count;
        op.datatype = (struct MPIR_DATATYPE *)layout;
    }
    MPID_Irecv(&op, &in->bell.watched.request);
    rma_serve_watch(r, &in->bell);
}

static void rma_serve_get(struct rma *r, int32_t source, const struct rma_msg *m)
{
    struct told *told;
    const struct MPIR_DATATYPE *layout;
    char *at;
    bool here = side_of(r, source, m, &told, &layout, &at);
    if (!here || layout->is_contig) {
        reply(r, source, m, here ? at : "", here ? m->count * layout->size : 0, NULL);
        return;
    }
    struct incoming *in = incoming_new(r, source, m, told, ANSWERS);
    struct MPID_Operation op =
        MPIR_P2p_to(at, m->count, NULL, source, (int)m->tag, r->win->comm, MPID_CONTEXT_RMA);
    op.datatype = (struct MPIR_DATATYPE *)layout;
    MPID_Isend(&op, MPID_STANDARD, &in->bell.watched.request);
    rma_serve_watch(r, &in->bell);
}

/* The data are there. */
static void update_now(struct rma *r, int32_t source, const struct rma_msg *m, const void *data)
{
    struct told *told;
    const struct MPIR_DATATYPE *layout = NULL;
    struct rma_update u;
    char *at;
    _Alignas(16) char few[RMA_WIDTH_MAX];
    void *room = NULL;
    bool reads = m->kind == RMA_GET_ACCUMULATE;
    const MPIR_Op *op = MPIR_Op_predefined(m->op);
    bool here = side_of(r, source, m, &told, &layout, &at);
    int64_t bytes = here ? m->count * layout->size : 0;
    int err = !here ? MPI_ERR_RMA_RANGE : !op ? MPI_ERR_OP : MPIR_Rma_Update_of(&u, op, m->basic);
    if (!err && m->op != KEEL_MPI_NO_OP && m->bytes != bytes)
        err = MPI_ERR_ARG;
    if (reads && !err && bytes > (int64_t)sizeof few && !(room = malloc((size_t)bytes)))
        rma_serve_no_memory(source);
    void *old = room ? room : few;
    if (err && here)
        rma_serve_refuse(r, source, m, err);
    if (!err) {
        u.alone = m->alone;
        MPIR_Rma_Update(r, r->own->slot, &u, at, layout, m->count, data, reads ? old : NULL);
    }
    if (reads)
        reply(r, source, m, old, err ? 0 : bytes, room);
}

static void rma_serve_update(struct rma *r, int32_t source, const struct rma_msg *m, const char *data)
{
    if (!m->apart) {
        update_now(r, source, m, data);
        return;
    }
    struct incoming *in =
        incoming_new(r, source, m, m->type >= 0 ? told_of(r, source, m->type) : NULL, COMES);
    in->room = malloc((size_t)m->bytes);
    if (!in->room)
        rma_serve_no_memory(source);
    MPIR_P2p_irecv(in->room, m->bytes, NULL, source, (int)m->tag | RMA_TAG_DATA, r->win->comm,
                   MPID_CONTEXT_RMA, &in->bell.watched.request);
    rma_serve_watch(r, &in->bell);
}

static void swap(struct rma *r, int32_t source, const struct rma_msg *m, const char *data)
{
    struct told *told;
    const struct MPIR_DATATYPE *layout = NULL;
    char *at;
    bool here = side_of(r, source, m, &told, &layout, &at) && m->bytes == 2 * layout->size &&
                layout->size <= RMA_WIDTH_MAX;
    _Alignas(16) char old[RMA_WIDTH_MAX];
    if (here)
        MPIR_Rma_Swap(r, r->own->slot, at, layout->size, data, data + layout->size, old);
    reply(r, source, m, old, here ? layout->size : 0, NULL);
}

static void learn_or_wait(struct rma *r, int32_t source, const struct rma_msg *m, const char *data)
{
    if (m->apart)
        rma_serve_update(r, source, m, data); /* its data are received likewise */
    else
        rma_serve_learn(r, source, m, data);
}

static void give_key(struct rma *r, int32_t source, const struct rma_msg *m)
{
    struct rma_key *key = calloc(1, sizeof *key);
    if (!key)
        rma_serve_no_memory(source);
    reply(r, source, m, key, MPIR_Rma_Device_key(r, key), key);
}

/* Does something of the same origin before it (or anywhere: before is NULL) still come?  blocks: such that later
 * messages must wait. */
static bool comes(const struct rma *r, const struct incoming *before, int32_t source, bool blocks)
{
    for (const struct incoming *in = r->serve->first; in && in != before; in = in->next)
        if (in->source == source && in->state == COMES && (!blocks || in->m.kind != RMA_PUT))
            return true;
    return false;
}

/* May a lock be given, a flush be answered, now?  before: the place of its own among what lasts; NULL: behind all. */
static bool grant(struct rma *r, const struct incoming *before, int32_t source, const struct rma_msg *m,
                  struct rma_answer *says)
{
    if (m->kind == RMA_LOCK_MSG)
        return MPIR_Rma_Lock_try(r, r->own->slot, m->alone);
    if (comes(r, before, source, false))
        return false;
    *says = refusal_of(r, source);
    if (r->checks && m->op) /* this process may still be in the fence before that epoch */
        MPIR_Rma_Check_forget(r, source, 0);
    if (m->unlock)
        MPIR_Rma_Unlock_one(r, r->own->slot, m->alone);
    return true;
}

static void grant_or_wait(struct rma *r, int32_t source, const struct rma_msg *m)
{
    struct rma_answer says = { 0 };
    if (grant(r, NULL, source, m, &says))
        reply(r, source, m, &says, sizeof says, NULL);
    else
        incoming_new(r, source, m, NULL, WAITS);
}

static void execute(struct rma *r, int32_t source, const struct rma_msg *m, const char *data)
{
    switch (m->kind) {
    case RMA_PUT:
        rma_serve_put(r, source, m, data);
        break;
    case RMA_GET:
        rma_serve_get(r, source, m);
        break;
    case RMA_ACCUMULATE:
    case RMA_GET_ACCUMULATE:
        rma_serve_update(r, source, m, data);
        break;
    case RMA_COMPARE_SWAP:
        swap(r, source, m, data);
        break;
    case RMA_TYPE:
        learn_or_wait(r, source, m, data);
        break;
    case RMA_KEY_MSG:
        give_key(r, source, m);
        break;
    default: /* a lock, a flush */
        grant_or_wait(r, source, m);
    }
}

/* ---- Going on ------------------------------------------------------------------------------------------------ */

/* Its data are there. */
static void came(struct rma *r, struct incoming *in)
{
    struct rma_msg m = in->m;
    int32_t source = in->source;
    void *room = in->room;
    bool whole = in->bell.watched.request.errval == 0;
    in->room = NULL;
    incoming_remove(r, in);
    if (whole && m.kind == RMA_TYPE)
        rma_serve_learn(r, source, &m, room);
    else if (whole && m.kind != RMA_PUT)
        update_now(r, source, &m, room);
    free(room);
}

static bool rma_serve_go_on(struct rma *r, struct incoming *in)
{
    if (in->state == WAITS) {
        if (!grant(r, in, in->source, &in->m, &in->small.answer))
            return false;
        rma_serve_answer(r, in, &in->small.answer, sizeof in->small.answer);
        return true;
    }
    if (!in->bell.ready)
        return false;
    if (in->state == COMES)
        came(r, in);
    else
        incoming_remove(r, in);
    return true;
}

static bool take_turn(struct rma *r)
{
    struct place *p = &r->serve->ring[r->serve->head];
    MPIR_Request *request = &p->bell.watched.request;
    struct rma_msg m;
    if (!p->bell.ready || p->over || r->serve->ending)
        return false;
    if (request->errval) { /* all others are gone */
        p->over = true;
        return false;
    }
    memcpy(&m, p->bytes + p->at, sizeof m);
    if (comes(r, NULL, request->s.MPI_SOURCE, true))
        return false;
    execute(r, request->s.MPI_SOURCE, &m, p->bytes + p->at + sizeof m);
    p->at += RMA_length(&m);
    if (p->at < request->s.count)
        return true;
    r->serve->head = (r->serve->head + 1) % RMA_RING;
    receive(r, p);
    return true;
}

/* While a lock is waited for it is tried after each look at the devices. */
static enum MPIR_DRIVE try_locks(struct MPIR_Driven *d)
{
    struct rma *r = (struct rma *)((char *)d - offsetof(struct rma, driven));
    serve(r);
    r->queued = r->serve->waits;
    return r->queued ? MPIR_DRIVE_WAITS : MPIR_DRIVE_SLEEPS;
}

static void serve(struct rma *r)
{
    bool moved, waits = false;
    if (r->serve->busy) {
        r->serve->again = true;
        return;
    }
    r->serve->busy = true;
    do {
        r->serve->again = false;
        moved = false;
        waits = false;
        for (struct incoming *in = r->serve->first, *next; in; in = next) {
            next = in->next;
            bool moves = rma_serve_go_on(r, in);
            moved |= moves;
            waits |= !moves && in->state == WAITS && in->m.kind == RMA_LOCK_MSG;
            if (moves)
                break; /* the list has changed */
        }
        if (!moved)
            moved = take_turn(r);
    } while (moved || r->serve->again);
    r->serve->busy = false;
    r->serve->waits = waits;
    if (waits && !r->queued && !r->serve->ending) {
        r->queued = true;
        r->driven.advance = try_locks;
        r->driven.helped = true;
        MPIR_Drive(&r->driven);
    }
}

/* ---- Beginning and end --------------------------------------------------------------------------------------- */

int MPIR_Rma_Serve_begin(MPIR_Win *win)
{
    struct rma *r = win->rma;
    r->serve = calloc(1, sizeof *r->serve);
    if (!r->serve)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a window");
    r->serve->last = &r->serve->first;
    for (int i = 0; i < RMA_RING; i++)
        receive(r, &r->serve->ring[i]);
    serve(r);
    return 0;
}

/* Nobody sends any more; what this process has still to send leaves it. */
void MPIR_Rma_Serve_end(MPIR_Win *win)
{
    struct rma *r = win->rma;
    struct rma_serve *s = r->serve;
    while (s->first) {
        MPID_DeviceCheck(MPID_BLOCKING);
        serve(r);
    }
    s->ending = true;
    for (int i = 0; i < RMA_RING; i++) {
        struct bell *b = &s->ring[i].bell;
        if (b->ready)
            continue;
        MPID_Cancel(&b->watched.request);
        MPID_Wait(&b->watched.request, NULL);
        while (!b->ready) /* its turn among the driven ones */
            MPID_DeviceCheck(MPID_NOTBLOCKING);
    }
    while (r->queued)
        MPID_DeviceCheck(MPID_NOTBLOCKING);
    for (int i = 0; i < BUCKETS; i++)
        for (struct told *t = s->told[i], *next; t; t = next) {
            next = t->next;
            t->dropped = true;
            told_drop(t);
        }
    for (struct refused *f = s->refused, *next; f; f = next) {
        next = f->next;
        free(f);
    }
    free(s);
    r->serve = NULL;
}
