/* SPDX-License-Identifier: BSD-3-Clause */
/* team_stream.c: one member of a team shows the others bytes, and does not wait until they have come; or all show
 * each other bytes, step by step.
 *
 * What is to be shown goes into a slot if it is short, else into pieces, a ring of memory that is filled as far as
 * all have read what was there.  So where ranks share cores the source fills all of the ring in one turn, and each
 * of the others takes all of it in one of theirs.
 *
 * Invariants
 *   1. Operations are numbered as the communicator's collectives are; every member takes part in every stream, as
 *      the source or as a reader, in the order of the numbers.  Operation n has slot n % SLOTS.
 *   2. `done` of a member: it has finished all streams up to that one.  The source writes to a slot when all
 *      members have done what stands there.  (One that has left out an operation does not know what that was: it
 *      shows nothing before all have passed it.)
 *   3. Pieces are counted through: `given` of the team are there, `taken` of a member it has read.  The source writes
 *      piece n into place n % pieces when everybody has taken piece n - pieces, or has done its operation.
 *      A reader that wants no pieces waits for them too, so that the next source finds `given` at rest.
 *   4. A stream does not depend on whether the team is broken: if its source lives it ends well.  Members that are
 *      gone are not waited for; a stream whose source is gone before all was there ends with nothing.
 *   5. Steps of a member are counted through its operations, `step` of a member; who waits for them waits as a
 *      reader does.  A member that is gone in the midst of one ends it for all: whoever waits then finds out by
 *      itself, so nobody need tell.
 *   6. A stream that is lent takes no pieces: its slot says where it lies in the source, which waits until all
 *      have read it.  Who cannot has `refused` it.
 *   7. Who waits says so before its last look (`sleepers` of the team for the source's words, `awaited` of a member for
 *      that member's), and who changes a word looks there afterwards (both with full fences), so it is woken or
 *      does not sleep. */
#include <string.h>
#include "mpid/core/core.h"

enum {
    SLOTS = KU_SEG_SLOTS,
    LINE = 64,
    SPINS = 32,
    IN_VAIN = 2 /* turns before the first look at messages */
};
#define LENT UINT64_MAX

struct stream_head {
    _Alignas(LINE) _Atomic uint64_t given;
    _Atomic uint64_t last;            /* the last operation that used pieces */
    _Atomic uint32_t sleepers, alone; /* as in a team's head */
    _Atomic uint32_t calls; /* what readers sleep on; changes when somebody sleeps and there is more */
    uint32_t each;          /* every piece is published at once: all members have a core */
};
_Static_assert(sizeof(struct stream_head) == KU_SEG_STREAM_HEAD, "room in the segment");

struct stream_member {
    _Alignas(LINE) _Atomic uint64_t done;
    _Atomic uint64_t taken;
    _Atomic uint64_t refused; /* the last operation that was lent in vain */
    _Atomic uint32_t awaited; /* local rank + 1 of who sleeps until one of these changes */
    _Alignas(LINE) _Atomic uint64_t step;
};
_Static_assert(sizeof(struct stream_member) == KU_SEG_STREAM_LINE, "room in the segment");

struct stream_slot {
    _Alignas(LINE) _Atomic uint64_t operation;
    int64_t bytes;
    uint64_t first; /* its first piece; LENT: its address is in data */
    char data[KU_SEG_SLOT_BYTES - 24];
};
_Static_assert(sizeof(struct stream_slot) == KU_SEG_SLOT_BYTES, "room in the segment");
_Static_assert(MPID_STREAM_SHORT == sizeof((struct stream_slot *)0)->data, "what mpid.h promises");

static struct stream_head *head_of(const struct team *t)
{
    return t->streams;
}

static struct stream_member *member_of(const struct team *t, int32_t rank)
{
    return (struct stream_member *)(t->streams + 1) + rank;
}

/* Of a team that is ready for streams. */
static struct stream_slot *team_stream_slot_of(const struct team *t, uint64_t operation)
{
    return (struct stream_slot *)(void *)t->part[KU_TEAM_SLOTS] + operation % SLOTS;
}

static char *piece_of(const struct team *t, uint64_t number)
{
    return t->part[KU_TEAM_PIECES] + number % KU_SEG_PIECES * KU_SEG_PIECE_BYTES;
}

/* In zeroed memory. */
void MPID_Stream_reset(struct stream_head *streams)
{
    streams->each = ku_wait_policy.spin_ns != 0;
}

void MPID_Stream_join(struct team *t)
{
    t->streamed = t->all_done = 0;
}

static struct team *team_of(const struct MPIR_COMMUNICATOR *comm)
{
    return &((struct comm_adi *)comm->adi)->team;
}

/* ---- Waiting ---- */

static bool ready(const struct stream_wait *w)
{
    return atomic_load_explicit(w->word, memory_order_acquire) >= w->least ||
           (w->or_word && atomic_load_explicit(w->or_word, memory_order_acquire) >= w->or_least);
}

static bool gone(const struct team *t, int32_t rank)
{
    return MPID_core.peers.losses > 0 && peer_gone(grank_of(t->comm, rank));
}

/* Whatever others say: a source that has not begins, and nobody goes before it has. */
static bool has_refused(const struct team *t, const struct stream_wait *w)
{
    struct context *c = context_of(t->comm, t->comm->context_id + MPID_CONTEXT_COLL);
    return c != NULL && MPID_Refused_by(c, w->tag, grank_of(t->comm, w->who));
}

/* Who has heard that goes on with nothing, and so do all others. */
static bool is_revoked(const struct team *t)
{
    struct context *c = context_of(t->comm, t->comm->context_id + MPID_CONTEXT_COLL);
    const struct MPID_Refusal *r = c != NULL ? MPID_Refused_in(c, 0) : NULL;
    return r != NULL && r->error == MPID_ERR_REVOKED;
}

/* Does what is waited for not come any more? */
static bool hopeless(const struct team *t, const struct stream_wait *w)
{
    if (unlikely(MPID_core.doubts & DOUBT_REFUSED) && (w->begins ? has_refused(t, w) : is_revoked(t)))
        return true;
    return w->end != 0 ? MPID_Steps_lost(t->comm) >= 0 : gone(t, w->who);
}

int32_t MPID_Stream_missing(const struct team *t)
{
    return t->stream->who;
}

bool MPID_Stream_may_sleep(struct team *t, bool on_word)
{
    struct stream_wait *w = t->stream;
    struct stream_head *h = head_of(t);
    t->on_word = w->source && on_word && ku_wait_can_sleep_on();
    if (w->source)
        atomic_fetch_add(&h->sleepers, 1);
    else
        atomic_store(&member_of(t, w->who)->awaited, (uint32_t)MPID_core.job.local_rank + 1);
    if (w->source && !t->on_word)
        atomic_fetch_add(&h->alone, 1);
    w->calls = atomic_load(&h->calls);
    if (!ready(w) && !hopeless(t, w))
        return true;
    MPID_Stream_awake(t);
    return false;
}

void MPID_Stream_sleep(struct team *t, _Atomic uint32_t *sleeping, int most_ms)
{
    ku_wait_sleep_on(sleeping, &head_of(t)->calls, t->stream->calls, most_ms);
}

void MPID_Stream_awake(struct team *t)
{
    const struct stream_wait *w = t->stream;
    struct stream_head *h = head_of(t);
    if (w->source)
        atomic_fetch_sub(&h->sleepers, 1);
    else
        atomic_store(&member_of(t, w->who)->awaited, 0);
    if (w->source && !t->on_word)
        atomic_fetch_sub(&h->alone, 1);
}

/* False: the member is gone without. */
static bool team_stream_wait_for(struct team *t, struct stream_wait *s)
{
    struct ku_wait w = { 0 };
    bool crowded = ku_wait_policy.spin_ns == 0;
    for (int i = 0; i < SPINS; i++)
        if (ready(s))
            return true;
    while (!ready(s)) {
        if (unlikely(hopeless(t, s)))
            return ready(s); /* it may have been the last thing that it did */
        if (crowded && w.yields < IN_VAIN && MPID_Wait_climb(&w) == KU_WAIT_AGAIN)
            continue;
        if (MPID_Progress() > 0) {
            ku_wait_reset(&w);
            continue;
        }
        MPID_core.waits = t;
        t->stream = s;
        MPID_Wait_step(&w, NULL);
        t->stream = NULL;
        MPID_core.waits = NULL;
    }
    return true;
}

/* False: it is there, or will never be.  True: this process is one that waits for it until it asks for this again,
 * with what it waits for then. */
static bool not_yet(struct team *t, const struct stream_wait *s)
{
    bool is_there = ready(s) || hopeless(t, s);
    MPID_Team_forget(t);
    t->stream = NULL;
    if (is_there)
        return false;
    t->later = *s;
    t->stream = &t->later;
    MPID_Team_await(t);
    return true;
}

/* Something that the source says has changed, by an operation that fences. */
static void wake_readers(const struct team *t)
{
    struct stream_head *h = head_of(t);
    if (atomic_load(&h->sleepers) == 0)
        return;
    atomic_fetch_add(&h->calls, 1);
    ku_wait_wake_all(&h->calls);
    if (atomic_load(&h->alone) != 0)
        MPID_Team_wake_each(t);
}

/* A reader has gone on. */
static void team_stream_say(struct team *t, _Atomic uint64_t *word, uint64_t value)
{
    atomic_exchange(word, value);
    uint32_t sleeper = atomic_load(&member_of(t, t->comm->rank)->awaited);
    if (unlikely(sleeper != 0))
        ku_wait_wake(&ku_segment_rank(&MPID_core.job.segment, sleeper - 1)->sleeping, true);
}

/* ---- Both sides ---- */

static uint64_t team_stream_number_of(const struct team *t, uint32_t when)
{
    return t->streamed + (uint32_t)(when - (uint32_t)t->streamed);
}

static struct team *team_stream_begin(struct MPID_Stream *s, struct MPIR_COMMUNICATOR *comm, uint32_t when)
{
    struct team *t = team_of(comm);
    t->streamed = team_stream_number_of(t, when);
    s->comm = comm;
    s->operation = t->streamed;
    s->at = 0;
    MPID_Team_absent(comm, when);
    return t;
}

void MPID_Stream_skip(struct MPIR_COMMUNICATOR *comm, uint32_t when)
{
    struct MPID_Stream s;
    if ((int32_t)(when - (uint32_t)team_of(comm)->streamed) <= 0) /* it has taken part in later ones */
        return;
    team_stream_begin(&s, comm, when);
    team_of(comm)->skipped = s.operation;
    MPID_Stream_end(&s);
}

void MPID_Stream_end(struct MPID_Stream *s)
{
    struct team *t = team_of(s->comm);
    team_stream_say(t, &member_of(t, s->comm->rank)->done, s->operation);
}

bool MPID_Stream_ready(struct MPIR_COMMUNICATOR *comm)
{
    return team_part(team_of(comm), KU_TEAM_SLOTS) != NULL;
}

/* ---- The source ---- */

/* This process has left out a stream that its source, or who reads it, may not have come to yet.  They do not wait
 * for this process any more; so it waits for them, before it shows something in their place. */
static bool all_have_passed(struct team *t)
{
    if (!MPID_Team_passed(t, t->skipped))
        return false;
    t->skipped = 0;
    return true;
}

static void wait_for_others(struct team *t)
{
    struct ku_wait w = { 0 };
    while (!all_have_passed(t))
        if (MPID_Progress() > 0 || MPID_Wait_climb(&w) == KU_WAIT_SLEEP) /* nobody would wake it */
            ku_wait_reset(&w);
}

/* Until all have done what stands in the slot. */
static void wait_for_slot(struct team *t, uint64_t before)
{
    uint64_t least = UINT64_MAX;
    if (before <= t->all_done)
        return;
    for (int32_t i = 0; i < t->comm->size; i++) {
        struct stream_wait w = { .who = i, .word = &member_of(t, i)->done, .least = before };
        if (i == t->comm->rank)
            continue;
        team_stream_wait_for(t, &w);
        uint64_t done = atomic_load_explicit(w.word, memory_order_relaxed);
        least = !gone(t, i) && done < least ? done : least;
    }
    t->all_done = least > before && least != UINT64_MAX ? least : before;
}

bool MPID_Stream_may_show(struct MPIR_COMMUNICATOR *comm, uint32_t when)
{
    struct team *t = team_of(comm);
    uint64_t before = atomic_load_explicit(&team_stream_slot_of(t, team_stream_number_of(t, when))->operation,
                                           memory_order_relaxed);
    if (unlikely(t->skipped != 0) && !all_have_passed(t))
        return false;
    for (int32_t i = 0; before > t->all_done && i < comm->size; i++) {
        struct stream_wait w = { .who = i, .word = &member_of(t, i)->done, .least = before };
        if (i != comm->rank && not_yet(t, &w))
            return false;
    }
    return true;
}

/* There is no memory to show so much: it goes by messages. */
static void team_stream_refuse(struct MPID_Stream *s, struct stream_slot *slot)
{
    struct team *t = team_of(s->comm);
    slot->bytes = MPID_STREAM_MESSAGES;
    s->bytes = 0;
    s->first = s->last = s->piece = 0;
    slot->first = atomic_load_explicit(&head_of(t)->given, memory_order_relaxed);
    atomic_exchange(&slot->operation, s->operation);
    wake_readers(t);
    MPID_Stream_end(s);
}

bool MPID_Stream_show(struct MPID_Stream *s, struct MPIR_COMMUNICATOR *comm, uint32_t when, int64_t bytes)
{
    struct team *t = team_stream_begin(s, comm, when);
    struct stream_head *h = head_of(t);
    struct stream_slot *slot = team_stream_slot_of(t, s->operation);
    if (unlikely(t->skipped != 0))
        wait_for_others(t);
    wait_for_slot(t, atomic_load_explicit(&slot->operation, memory_order_relaxed));
    if (bytes > MPID_STREAM_SHORT && team_part(t, KU_TEAM_PIECES) == NULL) {
        team_stream_refuse(s, slot);
        return false;
    }
    s->bytes = slot->bytes = bytes;
    s->first = s->piece = slot->first = atomic_load_explicit(&h->given, memory_order_relaxed);
    s->last = 0;
    if (bytes <= MPID_STREAM_SHORT)
        return true;
    s->last = atomic_load_explicit(&h->last, memory_order_relaxed);
    atomic_store_explicit(&h->last, s->operation, memory_order_relaxed);
    atomic_exchange(&slot->operation, s->operation);
    if (h->each)
        wake_readers(t);
    return true;
}

void MPID_Stream_lend(struct MPID_Stream *s, struct MPIR_COMMUNICATOR *comm, uint32_t when, int64_t bytes,
                      const void *at)
{
    struct team *t = team_stream_begin(s, comm, when);
    struct stream_slot *slot = team_stream_slot_of(t, s->operation);
    uint64_t address = (uint64_t)(uintptr_t)at;
    if (unlikely(t->skipped != 0))
        wait_for_others(t);
    wait_for_slot(t, atomic_load_explicit(&slot->operation, memory_order_relaxed));
    s->bytes = slot->bytes = bytes;
    slot->first = LENT;
    memcpy(slot->data, &address, sizeof address);
    atomic_exchange(&slot->operation, s->operation);
    wake_readers(t);
    MPID_Stream_end(s);
}

void MPID_Stream_rest(const struct MPID_Stream *s)
{
    wait_for_slot(team_of(s->comm), s->operation);
}

bool MPID_Stream_refused(const struct MPID_Stream *s, int32_t rank)
{
    return atomic_load(&member_of(team_of(s->comm), rank)->refused) == s->operation;
}

/* Once its last piece is there the next source may give its own at any time: `given` may be beyond this stream's
 * pieces by now. */
static void team_stream_publish(const struct team *t, const struct MPID_Stream *s)
{
    _Atomic uint64_t *given = &head_of(t)->given;
    if (atomic_load_explicit(given, memory_order_relaxed) >= s->piece)
        return;
    atomic_exchange(given, s->piece);
    wake_readers(t);
}

/* Taken by all, before the next piece has a place. */
static uint64_t least_taken(const struct MPID_Stream *s)
{
    return s->piece + 1 - KU_SEG_PIECES;
}

static struct stream_wait taken_by(const struct team *t, const struct MPID_Stream *s, int32_t who)
{
    struct stream_member *m = member_of(t, who);
    return (struct stream_wait){ .who = who,
                                 .word = &m->taken,
                                 .or_word = &m->done,
                                 .least = least_taken(s),
                                 .or_least = least_taken(s) > s->first ? s->operation : s->last };
}

/* Until all have taken what is in the place of the next piece. */
static void wait_for_place(struct team *t, const struct MPID_Stream *s)
{
    uint64_t free_to = s->piece, least = least_taken(s);
    if (s->piece < t->free_to + KU_SEG_PIECES)
        return;
    team_stream_publish(t, s);
    for (int32_t i = 0; i < t->comm->size; i++) {
        struct stream_wait w = taken_by(t, s, i);
        if (i == t->comm->rank)
            continue;
        team_stream_wait_for(t, &w);
        uint64_t taken = atomic_load_explicit(w.word, memory_order_relaxed);
        taken = taken < least ? least : taken; /* it has done with them otherwise */
        free_to = taken < free_to ? taken : free_to;
    }
    t->free_to = free_to;
}

bool MPID_Stream_may_place(const struct MPID_Stream *s)
{
    struct team *t = team_of(s->comm);
    if (s->bytes <= MPID_STREAM_SHORT || s->piece < t->free_to + KU_SEG_PIECES)
        return true;
    team_stream_publish(t, s);
    for (int32_t i = 0; i < t->comm->size; i++) {
        struct stream_wait w = taken_by(t, s, i);
        if (i != t->comm->rank && not_yet(t, &w))
            return false;
    }
    return true;
}

void *MPID_Stream_place(struct MPID_Stream *s, int64_t *bytes)
{
    struct team *t = team_of(s->comm);
    *bytes = s->bytes - s->at;
    if (s->bytes <= MPID_STREAM_SHORT)
        return team_stream_slot_of(t, s->operation)->data + s->at;
    if (*bytes > KU_SEG_PIECE_BYTES)
        *bytes = KU_SEG_PIECE_BYTES;
    wait_for_place(t, s);
    return piece_of(t, s->piece);
}

void MPID_Stream_give(struct MPID_Stream *s, int64_t bytes)
{
    struct team *t = team_of(s->comm);
    s->at += bytes;
    if (s->bytes <= MPID_STREAM_SHORT)
        return;
    s->piece++;
    if (head_of(t)->each)
        team_stream_publish(t,
                            s); /* else all at once, or those who are woken would run before there is more */
}

void MPID_Stream_shown(struct MPID_Stream *s)
{
    struct team *t = team_of(s->comm);
    if (s->bytes <= MPID_STREAM_SHORT) {
        atomic_exchange(&team_stream_slot_of(t, s->operation)->operation, s->operation);
        wake_readers(t);
    } else {
        team_stream_publish(t, s);
    }
    MPID_Stream_end(s);
}

/* ---- A reader ---- */

/* It has come, as far as to a stream whose source may wait for just that (all_have_passed), in a call that does
 * not wait. */
static void say_passed(const struct team *t, int32_t source)
{
    int32_t local = dev_local_of(&MPID_core.world, grank_of(t->comm, source));
    ku_wait_wake(&ku_segment_rank(&MPID_core.job.segment, (uint32_t)local)->sleeping, true);
}

bool MPID_Stream_may_see(struct MPIR_COMMUNICATOR *comm, uint32_t when, int32_t source, int tag)
{
    struct team *t = team_of(comm);
    uint64_t operation = team_stream_number_of(t, when);
    struct stream_wait w = { .who = source,
                             .source = true,
                             .begins = true,
                             .tag = tag,
                             .word = &team_stream_slot_of(t, operation)->operation,
                             .least = operation };
    if (!not_yet(t, &w))
        return true;
    if (unlikely(MPID_core.doubts & DOUBT_REFUSED)) {
        MPID_Team_absent(comm, when);
        say_passed(t, source);
    }
    return false;
}

int64_t MPID_Stream_see(struct MPID_Stream *s, struct MPIR_COMMUNICATOR *comm, uint32_t when, int32_t source,
                        int tag)
{
    struct team *t = team_stream_begin(s, comm, when);
    if (unlikely(MPID_core.doubts & DOUBT_REFUSED))
        say_passed(t, source);
    struct stream_slot *slot = team_stream_slot_of(t, s->operation);
    struct stream_wait w = { .who = source,
                             .source = true,
                             .begins = true,
                             .tag = tag,
                             .word = &slot->operation,
                             .least = s->operation };
    s->source = source;
    s->bytes = 0;
    s->lent = 0;
    if (!team_stream_wait_for(t, &w) ||
        atomic_load_explicit(&slot->operation, memory_order_acquire) != s->operation)
        return MPID_STREAM_LOST; /* also if the source has gone on, and shows another one in the same place */
    s->bytes = slot->bytes;
    s->first = s->piece = slot->first;
    if (s->first == LENT)
        memcpy(&s->lent, slot->data, sizeof s->lent);
    return s->bytes;
}

bool MPID_Stream_borrow(struct MPID_Stream *s, void *to, int64_t n)
{
    if (!MPID_Reach_copy(s->comm, s->source, to, s->lent + (uint64_t)s->at, n)) {
        atomic_store(&member_of(team_of(s->comm), s->comm->rank)->refused, s->operation);
        return false;
    }
    s->at += n;
    return true;
}

static struct stream_wait given_next(const struct team *t, const struct MPID_Stream *s)
{
    return (struct stream_wait){
        .who = s->source, .source = true, .word = &head_of(t)->given, .least = s->piece + 1
    };
}

bool MPID_Stream_may_next(const struct MPID_Stream *s)
{
    struct team *t = team_of(s->comm);
    struct stream_wait w = given_next(t, s);
    return s->bytes <= MPID_STREAM_SHORT || !not_yet(t, &w);
}

const void *MPID_Stream_next(struct MPID_Stream *s, int64_t *bytes)
{
    struct team *t = team_of(s->comm);
    struct stream_wait w = given_next(t, s);
    *bytes = s->bytes - s->at;
    if (s->bytes <= MPID_STREAM_SHORT)
        return team_stream_slot_of(t, s->operation)->data + s->at;
    if (*bytes > KU_SEG_PIECE_BYTES)
        *bytes = KU_SEG_PIECE_BYTES;
    (void)team_part(t, KU_TEAM_PIECES); /* the source has them */
    return team_stream_wait_for(t, &w) ? piece_of(t, s->piece) : NULL;
}

void MPID_Stream_took(struct MPID_Stream *s, int64_t bytes)
{
    struct team *t = team_of(s->comm);
    s->at += bytes;
    if (s->bytes > MPID_STREAM_SHORT)
        team_stream_say(t, &member_of(t, s->comm->rank)->taken, ++s->piece);
}

/* ---- Steps ---- */

uint64_t MPID_Steps_begin(struct MPIR_COMMUNICATOR *comm, uint64_t steps, uint64_t bytes)
{
    struct team *t = team_of(comm);
    uint64_t before = t->bench_used;
    t->bench_used += bytes;
    t->step = t->step_end;
    t->step_end += steps;
    return before;
}

bool MPID_Steps_ready(struct MPIR_COMMUNICATOR *comm)
{
    return team_part(team_of(comm), KU_TEAM_BENCHES) != NULL;
}

void *MPID_Steps_bench(const struct MPIR_COMMUNICATOR *comm, int32_t rank)
{
    char *benches = team_of(comm)->part[KU_TEAM_BENCHES];
    return benches + (uint64_t)rank * MPID_core.job.segment.head->bench_bytes;
}

void MPID_Steps_done(struct MPIR_COMMUNICATOR *comm, uint64_t step)
{
    const struct team *t = team_of(comm);
    atomic_exchange(&member_of(t, comm->rank)->step, t->step + step);
    wake_readers(t);
}

static struct stream_wait done_by(const struct team *t, int32_t rank, uint64_t step)
{
    return (struct stream_wait){ .who = rank,
                                 .source = true,
                                 .word = &member_of(t, rank)->step,
                                 .least = t->step + step,
                                 .end = t->step_end };
}

bool MPID_Steps_wait(struct MPIR_COMMUNICATOR *comm, int32_t rank, uint64_t step)
{
    struct team *t = team_of(comm);
    struct stream_wait w = done_by(t, rank, step);
    return team_stream_wait_for(t, &w);
}

bool MPID_Steps_may_go(struct MPIR_COMMUNICATOR *comm, int32_t rank, uint64_t step)
{
    struct team *t = team_of(comm);
    struct stream_wait w = done_by(t, rank, step);
    return !not_yet(t, &w);
}

int32_t MPID_Steps_lost(const struct MPIR_COMMUNICATOR *comm)
{
    const struct team *t = team_of(comm);
    for (int32_t i = 0; MPID_core.peers.losses > 0 && i < comm->size; i++)
        if (gone(t, i) && atomic_load_explicit(&member_of(t, i)->step, memory_order_acquire) < t->step_end)
            return i;
    return -1;
}
