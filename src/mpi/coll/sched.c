/* SPDX-License-Identifier: BSD-3-Clause */
/* sched.c: nonblocking and persistent collectives: schedules, noted down and carried out.
 *
 * An algorithm is run once, in a manner in which its helpers note down what they would do (sched.h).  The schedule is
 * then advanced whenever a message completes that it could not go on without (drive.h), in the order of its steps:
 * a step begins when all before it have been taken; a send or receive is taken when it has begun, or (at_once)
 * when it is over, a WAIT when the send or receive it names is over.
 *
 *   waits for facts -> noted -> under way -> over -> (persistent: under way again, by a start)
 *
 * Invariants
 *   1. Of each send and receive the end is looked at once, by itself or by its WAIT: so all are over when the
 *      schedule is.
 *   2. While a send or receive is under way it has a slot; slots are dealt out as the steps are noted, since steps
 *      end in the order in which they were noted.
 *   3. The schedule holds references to the operation and to all datatypes of its steps; its request, to the
 *      communicator.
 *   4. After the first error the steps go on, but with empty messages and without touching data (coll.h).
 *   5. Nothing is read of the caller's arrays of counts, displacements and types after the call: it has copies of
 *      them. */
#include "nodes.h"
#include "sched.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "coll_own.h"
#include "util/seat.h"

/* The first five are messages. */
enum step_kind {
    STEP_SEND,
    STEP_SEND_HEAP, /* to: the heap */
    STEP_RECV,
    STEP_RECV_IF,   /* to: is it wanted? */
    STEP_RECV_HEAP, /* to: the heap */
    STEP_WAIT,      /* to: is the receive still wanted?  NULL: it is */
    STEP_COPY,
    STEP_COMBINE,
    STEP_CALL /* to: its argument */
};

/* In which communicator a message goes: the call's own, or one behind it. */
enum where { WHERE_COMM, WHERE_LOCAL, WHERE_NODE, WHERE_LEADERS };

struct step {
    uint8_t kind;
    uint8_t slot;
    bool at_once : 1;
    uint8_t where : 3; /* of a message: enum where */
    uint8_t which : 4; /* MPID_CONTEXT_* */
    int32_t peer;
    union {
        void *from; /* a message's buffer */
        coll_call *fn;
    };
    void *to;
    int64_t count, to_count;
    MPIR_Datatype *type, *to_type;
};

struct slot {
    struct MPIR_Watched watched;
    bool live;
};

enum { FEW_STEPS = 12, FEW_SLOTS = 3, FEW_TYPES = 4, MAX_SLOTS = 64 };
/* A schedule has room for the counts, displacements and types of so many blocks that are sent, and as many that
 * are received. */
enum { FEW_BLOCKS = 16 };

struct coll_sched {
    struct MPIR_Closure closure;
    struct MPIR_Driven driven;
    MPIR_Request *request;
    bool noted;
    bool broken; /* there was no memory for all steps */
    bool begun;  /* the step at `at` has, and is not over */
    bool meets;  /* it is at the team, and does no steps of these */
    struct coll_meeting meeting;
    struct coll_own *own; /* a persistent one's team; NULL */
    uint32_t nsteps, steps_room, at, ntypes, types_room, nslots;
    uint64_t busy; /* slots, while noting */
    struct step *steps;
    struct slot *slots;
    MPIR_Datatype **types; /* held */
    struct MPIR_Copies *copies;
    int64_t *arrays; /* the caller's, copied, if few_arrays has no room for them; NULL */
    struct coll call;
    struct coll_size size;
    struct step few_steps[FEW_STEPS];
    struct slot few_slots[FEW_SLOTS];
    MPIR_Datatype *few_types[FEW_TYPES];
    int64_t few_arrays[2 * FEW_BLOCKS * 3];
    struct coll_state st;
};

/* ---- Memory -------------------------------------------------------------------------------------------------- */

/* An array that begins in the schedule itself; NULL without memory. */
static void *sched_grow(void *array, void *few, uint32_t n, uint32_t *room, size_t each)
{
    void *p = array == few ? malloc(2 * *room * each) : realloc(array, 2 * *room * each);
    if (!p)
        return NULL;
    if (array == few)
        memcpy(p, few, n * each);
    *room *= 2;
    return p;
}

static int sched_no_memory(void)
{
    return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for the steps of a collective operation");
}

static void give_up(struct coll *c)
{
    c->st->sched->broken = true;
    MPIR_Coll_note(c, sched_no_memory());
}

/* A reference to a type, which the steps after this one most probably use, too. */
static void hold(struct coll *c, MPIR_Datatype *type)
{
    struct coll_sched *d = c->st->sched;
    if (!type || type->adi.obj.flags & KEEL_OBJ_PREDEFINED || type == c->st->made)
        return;
    for (uint32_t i = d->ntypes; i > 0 && i + FEW_TYPES > d->ntypes; i--)
        if (d->types[i - 1] == type)
            return;
    if (d->ntypes == d->types_room) {
        void *p = sched_grow(d->types, d->few_types, d->ntypes, &d->types_room, sizeof *d->types);
        if (!p) {
            give_up(c);
            return;
        }
        d->types = p;
    }
    MPIR_Object_ref(type);
    d->types[d->ntypes++] = type;
}

/* To 64 bits: a loop, which takes less than a call of memcpy where ranks are few.  NULL remains: it says which
 * form of the collective it is. */
static void keep_counts(int64_t **at, MPIR_Counts *a, int32_t n)
{
    int64_t *copy = *at;
    if (!a->p)
        return;
    for (int32_t i = 0; i < n; i++)
        copy[i] = MPIR_counts_get(*a, i);
    *at += n;
    *a = (MPIR_Counts){ copy, 1 };
}

static void keep_handles(int64_t **at, MPIR_Datatype *const **types, int32_t n)
{
    MPIR_Datatype **copy = (MPIR_Datatype **)*at;
    if (!*types)
        return;
    memcpy(copy, *types, (size_t)n * sizeof *copy);
    *at += n;
    *types = copy;
}
_Static_assert(sizeof(MPIR_Datatype *) == sizeof(int64_t), "both are kept in one array");

/* The caller's arrays may be gone when the call has returned, and the front's, of datatypes, are.  False: there is
 * no memory. */
static bool keep_arrays(struct coll_sched *d)
{
    struct coll *c = &d->call;
    int64_t *at = d->few_arrays, n = (int64_t)c->nsend + c->nrecv;
    if (n == 0)
        return true;
    if (n > 2 * FEW_BLOCKS && !(at = d->arrays = malloc((size_t)(3 * n) * sizeof *at)))
        return false;
    keep_counts(&at, &c->scounts, c->nsend);
    keep_counts(&at, &c->sdispls, c->nsend);
    keep_counts(&at, &c->rcounts, c->nrecv);
    keep_counts(&at, &c->rdispls, c->nrecv);
    keep_handles(&at, &c->stypes, c->nsend);
    keep_handles(&at, &c->rtypes, c->nrecv);
    return true;
}

void MPIR_Sched_keep_types(struct coll *c)
{
    hold(c, c->stype);
    hold(c, c->rtype);
    for (int32_t i = 0; c->stypes && i < c->nsend; i++)
        hold(c, c->stypes[i]);
    for (int32_t i = 0; c->rtypes && i < c->nrecv; i++)
        hold(c, c->rtypes[i]);
}

/* While it waits for facts, or is done at a team. */
static int keep_types(struct coll_sched *d)
{
    d->st.sched = d;
    MPIR_Sched_keep_types(&d->call);
    d->st.sched = NULL;
    return d->broken ? sched_no_memory() : 0;
}

static void destroy(struct coll_sched *d)
{
    for (uint32_t i = 0; i < d->ntypes; i++)
        MPIR_Datatype_release(d->types[i]);
    if (d->call.op)
        MPIR_Op_release(d->call.op);
    MPIR_Coll_drop(&d->st);
    MPIR_Coll_own_free(d->own);
    if (d->types != d->few_types)
        free(d->types);
    if (d->steps != d->few_steps)
        free(d->steps);
    if (d->slots != d->few_slots)
        free(d->slots);
    MPIR_Copies_move(d->copies, MPIR_COPY_GONE, 0, -1);
    free(d->arrays);
    free(d);
}

/* ---- Noting -------------------------------------------------------------------------------------------------- */

/* The next step; after a failure some place that nobody looks at. */
static struct step *next_step(struct coll *c, enum step_kind kind)
{
    static struct step nowhere;
    struct coll_sched *d = c->st->sched;
    if (d->nsteps == d->steps_room) {
        void *p = sched_grow(d->steps, d->few_steps, d->nsteps, &d->steps_room, sizeof *d->steps);
        if (!p) {
            give_up(c);
            return &nowhere;
        }
        d->steps = p;
    }
    struct step *s = &d->steps[d->nsteps++];
    s->kind = (uint8_t)kind;
    return s;
}

static uint32_t last_step(const struct coll *c)
{
    return c->st->sched->nsteps - 1;
}

static uint8_t take_slot(struct coll *c)
{
    struct coll_sched *d = c->st->sched;
    if (d->busy == UINT64_MAX) { /* no algorithm has so many in flight */
        give_up(c);
        return 0;
    }
    uint32_t i = (uint32_t)__builtin_ctzll(~d->busy);
    d->busy |= 1ull << i;
    d->nslots = i < d->nslots ? d->nslots : i + 1;
    return (uint8_t)i;
}

static const struct MPIR_Nodes *nodes_of(const MPIR_Comm *own)
{
    return own->local ? own->local->nodes : own->nodes;
}

static enum where where_of(const struct coll *c)
{
    const MPIR_Comm *own = c->st->sched->call.comm;
    return c->comm == own                                    ? WHERE_COMM
           : c->comm == own->local                           ? WHERE_LOCAL
           : nodes_of(own) && c->comm == nodes_of(own)->node ? WHERE_NODE
                                                             : WHERE_LEADERS;
}

static MPIR_Comm *comm_at(const struct step *s, MPIR_Comm *own)
{
    switch ((enum where)s->where) {
    case WHERE_LOCAL:
        return own->local;
    case WHERE_NODE:
        return nodes_of(own)->node;
    case WHERE_LEADERS:
        return nodes_of(own)->leaders;
    default:
        return own;
    }
}

static uint32_t message(struct coll *c, enum step_kind kind, void *buf, int64_t count, MPIR_Datatype *type,
                        int peer, bool at_once)
{
    struct step *s = next_step(c, kind);
    s->slot = take_slot(c);
    s->at_once = at_once;
    s->which = (uint8_t)(c->which & 15);
    s->where = (uint8_t)(where_of(c) & 7);
    s->peer = peer;
    s->from = buf;
    s->count = count;
    s->type = type;
    hold(c, type);
    if (at_once)
        c->st->sched->busy &= ~(1ull << s->slot);
    return last_step(c);
}

/* What besides the message itself its step refers to. */
static uint32_t set_to(struct coll *c, uint32_t step, const void *to)
{
    struct coll_sched *d = c->st->sched;
    if (!d->broken)
        d->steps[step].to = (void *)(uintptr_t)to;
    return step;
}

uint32_t MPIR_Sched_send(struct coll *c, const void *buf, int64_t count, MPIR_Datatype *type, int dest,
                         bool at_once)
{
    return message(c, STEP_SEND, (void *)(uintptr_t)buf, count, type, dest, at_once);
}

uint32_t MPIR_Sched_recv(struct coll *c, void *buf, int64_t count, MPIR_Datatype *type, int source,
                         bool at_once)
{
    return message(c, STEP_RECV, buf, count, type, source, at_once);
}

void MPIR_Sched_recv_heap(struct coll *c, struct coll_heap *h, int source)
{
    uint32_t i = message(c, STEP_RECV_HEAP, NULL, 0, coll_bytes(), source, true);
    set_to(c, i, h);
}

uint32_t MPIR_Sched_send_heap(struct coll *c, const struct coll_heap *h, int dest)
{
    uint32_t i = message(c, STEP_SEND_HEAP, NULL, 0, coll_bytes(), dest, false);
    return set_to(c, i, h);
}

uint32_t MPIR_Sched_recv_if(struct coll *c, const bool *wanted, void *buf, int64_t count, MPIR_Datatype *type,
                            int source)
{
    uint32_t i = message(c, STEP_RECV_IF, buf, count, type, source, false);
    return set_to(c, i, wanted);
}

void MPIR_Sched_call(struct coll *c, coll_call *fn, void *arg)
{
    struct step *s = next_step(c, STEP_CALL);
    s->fn = fn;
    s->to = arg;
    hold(c, c->stype);
    hold(c, c->rtype);
}

void MPIR_Sched_wait(struct coll *c, uint32_t step, const bool *wanted)
{
    struct coll_sched *d = c->st->sched;
    if (d->broken)
        return;
    struct step *s = next_step(c, STEP_WAIT);
    s->count = step;
    s->to = (void *)(uintptr_t)wanted;
    d->busy &= ~(1ull << d->steps[step].slot);
}

void MPIR_Sched_copy(struct coll *c, const void *src, int64_t scount, MPIR_Datatype *stype, void *dst,
                     int64_t dcount, MPIR_Datatype *dtype)
{
    struct step *s = next_step(c, STEP_COPY);
    s->from = (void *)(uintptr_t)src;
    s->count = scount;
    s->type = stype;
    s->to = dst;
    s->to_count = dcount;
    s->to_type = dtype;
    hold(c, stype);
    hold(c, dtype);
}

void MPIR_Sched_combine(struct coll *c, const void *in, void *inout, int64_t count)
{
    struct step *s = next_step(c, STEP_COMBINE);
    s->from = (void *)(uintptr_t)in;
    s->to = inout;
    s->count = count;
    s->type = c->rtype;
    hold(c, c->rtype);
}

/* Run the algorithm to note down its steps.  Returns an error class if there was no memory for them. */
static int note_steps(struct coll_sched *d)
{
    struct coll *c = &d->call;
    d->st.sched = d;
    if (c->before)
        c->before(c);
    if (!d->size.local) {
        c->room = COLL_NO_ROOM;
        const struct coll_alg *a = MPIR_Coll_choose(c->kind, &c->comm->facts, &d->size);
        MPIR_Coll_count(c, a, &d->size);
        a->run(c);
    }
    d->st.sched = NULL;
    if (!d->broken && d->nslots > FEW_SLOTS) {
        d->slots = malloc(d->nslots * sizeof *d->slots);
        d->broken = !d->slots;
    }
    d->noted = true;
    return d->broken ? sched_no_memory() : 0;
}

/* ---- Carrying out -------------------------------------------------------------------------------------------- */

/* What a message carries, which may have turned out only now; false: there is none. */
static bool find_data(const struct step *s, void **buf, int64_t *count)
{
    const struct coll_heap *h = s->to;
    *buf = s->from;
    *count = s->count;
    if (s->kind == STEP_RECV_IF)
        return *(const bool *)s->to;
    if (s->kind == STEP_SEND_HEAP || s->kind == STEP_RECV_HEAP) {
        *buf = s->kind == STEP_SEND_HEAP ? h->data : h->data + h->used;
        *count = s->kind == STEP_SEND_HEAP ? h->used : h->room - h->used;
    }
    return true;
}

static void sched_begin(struct coll_sched *d, const struct step *s)
{
    struct slot *slot = &d->slots[s->slot];
    MPIR_Request *r = &slot->watched.request;
    struct coll *c = &d->call;
    void *buf;
    int64_t count;
    MPIR_Comm *comm = comm_at(s, c->comm);
    slot->live = false;
    if (d->st.refused || !find_data(s, &buf, &count))
        return;
    if (d->st.mute)
        count = 0;
    r->obj = (struct keel_object){ .index = KEEL_NO_INDEX, .refs = 1 };
    int err = s->kind <= STEP_SEND_HEAP
                  ? MPIR_P2p_isend(buf, count, s->type, s->peer, c->tag, comm, s->which, r)
                  : MPIR_P2p_irecv(buf, count, s->type, s->peer, c->tag, comm, s->which, r);
    slot->live = !err;
    MPIR_Coll_note(c, err);
}

/* A receive has ended. */
static void received(struct coll_sched *d, const struct step *s, MPIR_Request *r)
{
    MPIR_Status status = { 0 };
    int err = MPID_Wait(r, &status);
    if (s->kind == STEP_RECV_HEAP)
        ((struct coll_heap *)s->to)->used += status.count;
    MPIR_Coll_received(&d->call, err, &status,
                       s->kind == STEP_RECV_HEAP ? status.count : s->count * s->type->adi.size, s->peer);
}

/* Is the send or receive over? */
static bool sched_ended(struct coll_sched *d, const struct step *s)
{
    struct slot *slot = &d->slots[s->slot];
    MPIR_Request *r = &slot->watched.request;
    if (!slot->live)
        return true;
    if (!atomic_load_explicit(&r->is_complete, memory_order_acquire))
        return false;
    slot->live = false;
    if (s->kind > STEP_SEND_HEAP) {
        received(d, s, r);
    } else {
        MPIR_Coll_note(&d->call, MPID_Wait(r, NULL));
    }
    return true;
}

/* False: what it waits for is under way. */
static bool take_wait(struct coll_sched *d, const struct step *s)
{
    const struct step *of = &d->steps[s->count];
    if (s->to && !*(const bool *)s->to && d->slots[of->slot].live)
        MPID_Cancel(&d->slots[of->slot].watched.request);
    return sched_ended(d, of);
}

/* False: it is not over. */
static bool take_message(struct coll_sched *d, const struct step *s)
{
    if (!d->begun)
        sched_begin(d, s);
    d->begun = s->at_once && !sched_ended(d, s);
    return !d->begun;
}

/* False: the message it is about is under way. */
static bool sched_take(struct coll_sched *d, const struct step *s)
{
    switch (s->kind) {
    default:
        return take_message(d, s);
    case STEP_CALL:
        s->fn(&d->call, s->to);
        return true;
    case STEP_WAIT:
        return take_wait(d, s);
    case STEP_COPY:
        if (!d->st.mute)
            MPIR_Coll_note(&d->call,
                           MPIR_Localcopy(s->from, s->count, s->type, s->to, s->to_count, s->to_type));
        return true;
    case STEP_COMBINE:
        if (!d->st.mute)
            MPIR_Op_apply(d->call.op, s->from, s->to, s->count, s->type);
        return true;
    }
}

static enum MPIR_DRIVE sched_complete(struct coll_sched *d)
{
    MPIR_Request *r = d->request;
    if (d->st.err)
        MPID_Request_errors++;
    MPIR_Copies_move(d->copies, MPIR_COPY_OUT, 0, -1);
    MPIR_Status_empty(&r->s);
    r->errval = d->st.err;
    atomic_store_explicit(&r->is_complete, 1, memory_order_release);
    return MPIR_DRIVE_DONE;
}

/* Of the message that the step it is at is about. */
static struct slot *sched_slot_of(struct coll_sched *d)
{
    const struct step *s = &d->steps[d->at];
    return &d->slots[s->kind == STEP_WAIT ? d->steps[s->count].slot : s->slot];
}

/* Until that is over; false: it is already. */
static bool sched_sleep_on(struct coll_sched *d)
{
    return MPIR_Drive_watch(&d->driven, &sched_slot_of(d)->watched);
}

/* Of a call that has begun. */
static void note_later(struct coll_sched *d)
{
    MPIR_Coll_note(&d->call, note_steps(d));
    if (d->broken) /* the others wait for this process, which can tell them nothing */
        MPID_Abort(NULL, MPI_ERR_NO_MEM, NULL,
                   "no memory for the steps of a nonblocking collective operation that has begun");
}

static void at_team(struct coll_sched *d, const struct coll_alg *row)
{
    struct coll *c = &d->call;
    if (c->before)
        c->before(c);
    c->before = NULL; /* it has been done, also if this ends as messages */
    c->room = d->size.room;
    MPIR_Coll_count(c, row, &d->size);
    MPIR_Coll_meeting_begin(&d->meeting, c, row, &d->driven);
    d->meets = true;
}

/* Alike in all processes, before a call that waits for the facts and after. */
static void look_at_nodes(struct coll_sched *d)
{
    MPIR_Coll_nodes_is(d->call.comm, &d->size);
    d->call.composes = coll_composes(d->call.comm);
}

static void end_without_steps(struct coll_sched *d, int err)
{
    MPIR_Coll_note(&d->call, err);
    d->nsteps = 0;
    d->noted = true;
}

/* The facts are there, or will never be; or (false) it waits for them.  If somebody has refused the call that was
 * to agree on them, that is up to the next one. */
static bool facts_over(struct coll_sched *d)
{
    struct coll *c = &d->call;
    const MPIR_Coll_facts *f = &c->comm->facts;
    while (!MPIR_Coll_facts_there(c) && (f->again || f->asked)) {
        int err = MPIR_Refused(c->comm, c->which, c->tag);
        if (!err && !f->asked)
            err = MPIR_Coll_facts_ask(c);
        if (err) {
            end_without_steps(d, err);
            return true;
        }
        if (f->asked) {
            MPIR_Coll_facts_await(c->comm, &d->driven);
            return false;
        }
    }
    look_at_nodes(d);
    const struct coll_alg *row = f->heard ? MPIR_Coll_meeting_row(&d->call, &d->size) : NULL;
    if (row) {
        at_team(d, row);
        return true;
    }
    MPIR_Coll_meeting_absent(d->call.comm, d->call.when);
    if (f->heard)
        note_later(d);
    else
        end_without_steps(d, MPIR_Err(f->failed, NULL, "the processes could not agree how to do this"));
    return true;
}

static struct coll_sched *sched_of(struct MPIR_Driven *driven)
{
    return (struct coll_sched *)((char *)driven - offsetof(struct coll_sched, driven));
}

void MPIR_Sched_heard(struct MPIR_Driven *driven)
{
    struct coll_sched *d = sched_of(driven);
    if (!facts_over(d))
        return;
    if (!d->meets ||
        d->call.comm->meetings.first == &d->meeting) /* the others are driven when it is their turn */
        MPIR_Drive(driven);
}

static enum MPIR_DRIVE sched_advance(struct MPIR_Driven *driven)
{
    struct coll_sched *d = sched_of(driven);
    if (d->meets) {
        enum coll_met met = MPIR_Coll_meeting_go(&d->meeting);
        if (met == COLL_MET && d->own)
            MPIR_Coll_own_end(d->own, &d->call);
        if (met == COLL_MET)
            return sched_complete(d);
        if (met != COLL_MET_NEVER)
            return met == COLL_MET_NOT     ? MPIR_DRIVE_WAITS
                   : met == COLL_MET_MOVED ? MPIR_DRIVE_MOVED
                                           : MPIR_DRIVE_SLEEPS;
        d->meets = false;
        if (!d->own)
            note_later(d);
    }
    if (!d->noted) {
        if (d->call.comm->facts.asked) {
            MPIR_Coll_facts_await(d->call.comm, driven);
            return MPIR_DRIVE_SLEEPS;
        }
        if (!facts_over(d))
            return MPIR_DRIVE_SLEEPS;
    }
    while (d->at < d->nsteps)
        if (sched_take(d, &d->steps[d->at]))
            d->at++;
        else if (sched_sleep_on(d))
            return MPIR_DRIVE_SLEEPS;
    return sched_complete(d);
}

/* Is it to be asked again and again? */
static bool is_driven(enum MPIR_DRIVE what)
{
    return what == MPIR_DRIVE_WAITS || what == MPIR_DRIVE_MOVED;
}

static void go(struct coll_sched *d)
{
    if (is_driven(sched_advance(&d->driven)))
        MPIR_Drive(&d->driven);
}

/* ---- Requests ------------------------------------------------------------------------------------------------ */

static void poll_nothing(MPIR_Request *r)
{
    (void)r; /* whoever polls has looked at the devices before, which advances it */
}

static void free_closure(MPIR_Request *r)
{
    destroy(r->aux);
}

static void explain(const MPIR_Request *r)
{
    *ku_err_last() = ((const struct coll_sched *)r->aux)->st.words;
}

static int sched_start(MPIR_Request *r)
{
    struct coll_sched *d = r->aux;
    d->at = 0;
    d->st.err = 0;
    d->st.mute = d->st.refused = false;
    MPIR_Copies_move(d->copies, MPIR_COPY_IN, 0, -1);
    d->meets = d->own && MPIR_Coll_own_start(d->own, &d->meeting, &d->driven);
    go(d);
    return 0;
}

const char *MPIR_Coll_name(const struct coll *c, enum coll_form form)
{
    static char name[64];
    const char *kind = MPIR_Coll_tables[c->kind % COLL_INTER].name, *more = "";
    if (c->kind % COLL_INTER == COLL_REDUCE_SCATTER && !c->rcounts.p)
        more = "_block";
    if (c->kind == COLL_NEIGHBOR_ALLGATHER || c->kind == COLL_NEIGHBOR_ALLTOALL)
        more = c->rtypes ? "w" : c->rcounts.p ? "v" : "";
    snprintf(name, sizeof name, "MPI_%s%s%s%s", form == COLL_NONBLOCKING ? "I" : "", kind, more,
             form == COLL_PERSISTENT ? "_init" : "");
    if (name[4] >= 'a')
        name[4] = (char)(name[4] - 'a' + 'A');
    return name;
}

static const char *parts(MPIR_Request *r, void (*add)(MPIR_Request *message, void *arg), void *arg)
{
    struct coll_sched *d = r->aux;
    if (d->noted && !d->meets && d->at < d->nsteps && sched_slot_of(d)->live)
        add(&sched_slot_of(d)->watched.request, arg);
    return MPIR_Coll_name(&d->call,
                          r->obj.flags & MPIR_REQUEST_PERSISTENT ? COLL_PERSISTENT : COLL_NONBLOCKING);
}

static struct MPIR_Copies **copies(MPIR_Request *r)
{
    return &((struct coll_sched *)r->aux)->copies;
}

/* At a team those who have not come yet mostly come soon: look for them alone before all devices are looked at. */
static bool wait_soon(MPIR_Request *r)
{
    enum { LOOKS = 32 };
    struct coll_sched *d = r->aux;
    enum MPIR_DRIVE what = MPIR_DRIVE_WAITS;
    if (!d->meets || !KU_SINGLE_THREADED || !MPIR_Drive_take(&d->driven))
        return false;
    for (int i = 0; i < LOOKS && is_driven(what); i++)
        what = sched_advance(&d->driven);
    if (is_driven(what))
        MPIR_Drive(&d->driven);
    return what == MPIR_DRIVE_DONE;
}

static const struct MPIR_Request_ops ops = { .poll = poll_nothing,
                                             .wait_soon = wait_soon,
                                             .free = free_closure,
                                             .explain = explain,
                                             .start = sched_start,
                                             .parts = parts,
                                             .may_go = MPIR_Request_of_collective_may_go,
                                             .copies = copies };

static void sched_init(struct coll_sched *d)
{
    d->closure.ops = &ops;
    d->driven = (struct MPIR_Driven){ .advance = sched_advance };
    d->request = NULL;
    d->noted = d->broken = d->begun = d->meets = false;
    d->nsteps = d->at = d->ntypes = d->nslots = 0;
    d->busy = 0;
    d->copies = NULL;
    d->arrays = NULL;
    d->own = NULL;
    d->steps = d->few_steps;
    d->steps_room = FEW_STEPS;
    d->slots = d->few_slots;
    d->types = d->few_types;
    d->types_room = FEW_TYPES;
}

/* A schedule for a call that has begun, with its request.  NULL: *err says why not. */
static struct coll_sched *sched_prepare(struct coll *c, MPIR_Comm *comm, int *err)
{
    struct coll_sched *d = malloc(sizeof *d);
    struct coll_state none;
    if (!d) {
        *err = MPIR_Coll_begin(c, &none, comm);
        if (!*err)
            *err = sched_no_memory();
        return NULL;
    }
    sched_init(d);
    d->size = (struct coll_size){ .p = comm->adi.size };
    *err = MPIR_Coll_begin(c, &d->st, comm);
    d->call = *c;
    if (!*err)
        *err = MPIR_Coll_tables[c->kind].describe(&d->call, &d->size);
    if (!*err && !keep_arrays(d))
        *err = sched_no_memory();
    d->size.anywhere = coll_anywhere(&d->call);
    look_at_nodes(d); /* now, when it is the same in all; the steps may be noted later */
    if (d->call.op)
        MPIR_Object_ref(d->call.op);
    if (!*err && !(d->request = MPIR_Request_alloc(comm)))
        *err = ku_err_last()->code;
    if (*err) {
        destroy(d);
        return NULL;
    }
    d->request->handle_type = MPIR_SCHED;
    d->request->aux = d;
    return d;
}

static int sched_failed(struct coll_sched *d, int err)
{
    d->request->aux = NULL;
    MPIR_Request_release(d->request);
    destroy(d);
    return err;
}

/* The call has begun, but cannot go on later, for this error: take part now, with empty messages (coll.h), so that
 * the others do not wait for ever.  This waits until they have come. */
static int take_part_mutely(const struct coll *begun, MPIR_Comm *comm, int err)
{
    struct coll_state st = { .err = err, .words = *ku_err_last(), .mute = true, .by_messages = true };
    struct coll_size s = { .p = comm->adi.size };
    struct coll call = *begun, *c = &call;
    c->st = &st;
    int unlike = MPIR_Coll_tables[c->kind].describe(c, &s);
    if (unlike != 0) { /* more than that is wrong */
        MPIR_Coll_refuse(c, COLL_NONBLOCKING, unlike);
        *ku_err_last() = st.words;
        return err;
    }
    s.anywhere = coll_anywhere(c);
    if (!s.local && !MPIR_Coll_facts_there(c))
        (void)MPIR_Coll_facts_wait(c);
    /* by a stream if the others do, as who waits for one does not look for messages; else they find out that this
     * process does not come */
    s.team = !s.local && !s.anywhere && c->kind == COLL_BCAST && coll_uses_team(c);
    if (s.team)
        MPIR_Coll_meetings_end(comm);
    else
        MPIR_Coll_team_give_up(comm);
    if (s.local)
        return err;
    c->room = COLL_NO_ROOM;
    MPIR_Coll_nodes_is(comm, &s);
    c->composes = coll_composes(comm);
    if (comm->facts.heard)
        MPIR_Coll_choose(c->kind, &comm->facts, &s)->run(c);
    return MPIR_Coll_end(c);
}

static int give_up_begun(const struct coll *begun, MPIR_Comm *comm, int err)
{
    if (err == MPI_ERR_NO_MEM)
        return take_part_mutely(begun, comm, err);
    MPIR_Coll_refuse(begun, COLL_NONBLOCKING, err);
    return err;
}

/* Its buffers are refused (comm.h). */
static int be_mute(struct coll *c, MPIR_Comm *comm)
{
    struct coll_state none;
    int muted = MPIR_Coll_muted;
    MPIR_Coll_muted = 0; /* other threads may come while this one waits */
    int err = MPIR_Coll_begin(c, &none, comm);
    if (err)
        MPIR_Coll_refuse(c, COLL_NONBLOCKING, err);
    return err ? err : take_part_mutely(c, comm, muted);
}

/* Begin.  What the processes have not agreed on they agree on in the background, and the call goes on when they
 * have. */
static int sched_join(struct coll_sched *d)
{
    MPIR_Comm *comm = d->call.comm;
    bool waits = !d->size.local && !MPIR_Coll_facts_there(&d->call);
    const struct coll_alg *row = waits ? NULL : MPIR_Coll_meeting_row(&d->call, &d->size);
    int err = waits || row ? keep_types(d) : 0;
    if (waits && !err)
        err = MPIR_Coll_facts_ask(&d->call);
    if (waits && !err && MPIR_Coll_facts_there(&d->call)) {
        waits = false;
        look_at_nodes(d);
        row = MPIR_Coll_meeting_row(&d->call, &d->size);
    }
    if (err || waits)
        return err;
    if (row) {
        at_team(d, row);
        return 0;
    }
    MPIR_Coll_meeting_absent(comm, d->call.when);
    return note_steps(d);
}

int MPIR_Coll_nonblocking(struct coll *c, MPIR_Comm *comm, MPIR_Request **request)
{
    int err;
    if (__builtin_expect(MPIR_Coll_muted != 0, 0))
        return be_mute(c, comm);
    struct coll_sched *d = sched_prepare(c, comm, &err);
    if (!d)
        return give_up_begun(c, comm, err);
    err = sched_join(d);
    if (err)
        return give_up_begun(c, comm, sched_failed(d, err));
    go(d);
    *request = d->request;
    return 0;
}

/* Agree on what it needs, with messages of the call that makes it, whose tag is `tag`; and note its steps. */
static int sched_make(struct coll_sched *d, int tag)
{
    struct coll asks = d->call;
    asks.tag = tag;
    int err = d->size.local ? 0 : MPIR_Coll_settle(&asks);
    look_at_nodes(d);
    int kept = err ? err : keep_types(d);
    if (!err)
        d->own = MPIR_Coll_own_make(&d->call, &d->size, !kept, tag, &err);
    if (!err)
        err = kept;
    if (!err)
        err = note_steps(d);
    if (!err && d->st.err) {
        *ku_err_last() = d->st.words;
        err = d->st.err;
    }
    return err;
}

int MPIR_Coll_persistent(struct coll *c, MPIR_Comm *comm, MPIR_Request **request)
{
    int err, tag;
    uint32_t after = comm->coll_seq + MPIR_INIT_NUMBERS;
    struct coll_sched *d = sched_prepare(c, comm, &err);
    if (!d) {
        comm->coll_seq = after - MPIR_INIT_NUMBERS;
        MPIR_Coll_init_refused(comm, err, MPIR_Coll_name(c, COLL_PERSISTENT));
        return err;
    }
    tag = d->call.tag;
    d->call.tag = MPIR_COMM_TAGS + (int)(comm->persistent_seq++ & (MPIR_COMM_TAGS - 1));
    err = sched_make(d, tag);
    comm->coll_seq = after;
    if (err && !MPIR_Refused(comm, MPID_CONTEXT_COLL, tag)) { /* the others may have it, and will start it */
        struct ku_err words = *ku_err_last();
        MPIR_Coll_refuse_starts(&d->call, err);
        *ku_err_last() = words;
    }
    if (err)
        return sched_failed(d, err);
    d->request->obj.flags |= MPIR_REQUEST_PERSISTENT;
    MPIR_Request_rest(d->request);
    *request = d->request;
    return 0;
}
