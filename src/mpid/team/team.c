/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c: processes of one node that wait for each other through memory of the segment.
 *
 * Where ranks share cores a message to each of them costs each a turn of the scheduler; here all arrive at one
 * counter, the last of them advances one word, and nobody is woken who does not sleep.
 *
 * Invariants
 *   1. `word` is twice the number of operations that have ended, plus 1 once the team is broken.  The last to
 *      arrive advances it by compare-and-swap, who breaks the team sets the lowest bit: so an operation ends for all
 *      or for nobody.
 *   2. Before anybody arrives at operation n + 1 all have left operation n - 1, so two sets of rooms suffice: a
 *      process writes to those of n + 1 only when n has ended, that is when all have arrived at n.
 *   3. `arrived` counts, in its low bits, who is here; above them it adds up what each said the operation is.  If
 *      that is not what one says times their number, they mean different operations.
 *   4. A member waits for the others with the ladder of util/wait.h.  It counts itself in `sleepers` before its
 *      last look at the word, and the one who changes the word looks at `sleepers` afterwards, so it is woken or does
 *      not sleep.  Sleepers wait for a change of the word besides their own word, and one call wakes them all; those
 *      that cannot are in `alone`, too, and woken one by one.
 *   5. Where ranks share cores a turn of a waiting process should be as short as can be: it looks at the word, and
 *      at messages only if it has come in vain before.  Stepping aside costs two turns, there and back; so who misses
 *      but one member, which came from another core the last time and thus is at work there, looks at the word a
 *      little longer first.
 *   6. A meeting may be begun in one call and ended in another.  To the others it is one whose member is slow.
 *      The same holds of streams (MPID_Stream_may_*).
 *      Whoever sleeps meanwhile, for whatever reason, is a sleeper of each team that it has begun a meeting of,
 *      `alone`, since it cannot sleep on the words of all; so who comes last wakes it.
 *
 *   7. A team is a block of the segment's heap, the core, and further blocks, its parts, that are allotted when
 *      they are first used. `part` of the head is the verdict on each, the same for all members: UNASKED -> being
 *      made by a member -> the block, or NO_MEMORY. If the maker is lost another member makes it.  The last to leave
 *      frees all.
 *
 * A few members with a core each meet over lines instead (even.c): of the above only what 5 says of messages holds
 * there. */
#define _GNU_SOURCE
#include "mpid/core/core.h"

enum {
    COUNT_BITS = 20,
    PATIENCE_MS = 20,
    PATIENCE_RANKS = 32,
    PATIENCE_MAX = 1000,
    NOT_HERE = 1,
    IN_VAIN = 2 /* turns before the first look at messages */,
    FEW = 16 /* members whose cores it pays to look at */
};

/* What `part` of a team's head may be besides a block (a multiple of KU_HEAP_GRAIN): see invariant 7. */
enum { UNASKED = 0, NO_MEMORY = 1, MAKING = 2, MAKER_SHIFT = 32 };
/* All parts of all teams of a node, if one is asked for that is larger than PART_SMALL. */
enum { PARTS_MOST = 512 << 20, PART_SMALL = 64 << 10 };

struct team_head {
    _Atomic uint32_t begun;               /* of the given team: 0, BEGINNING, or 1 */
    _Atomic uint32_t users;               /* members that have not left */
    _Atomic uint64_t part[KU_TEAM_PARTS]; /* invariant 7; the core's is not used */
    _Alignas(64) _Atomic uint64_t arrived;
    _Alignas(64) _Atomic uint32_t word;
    _Atomic uint32_t sleepers, alone;
    uint32_t even; /* a few members with a core each */
    struct ku_epoch_head epochs;
};
_Static_assert(sizeof(struct team_head) <= KU_SEG_TEAM_HEAD, "room in the segment");

struct team_member {
    _Alignas(128) struct ku_epoch_lines lines;
    /* Its own line: twice the number of the last operation it came to, counted from 1 (0: it has come to none),
     * plus NOT_HERE if by messages. */
    _Alignas(128) _Atomic uint64_t at;
    _Atomic uint64_t words; /* what that is to the caller (MPID_Team_tell) */
    _Atomic uint64_t later; /* as `at`, which stays, since the team is broken; 0: nothing */
    _Atomic int32_t cpu;    /* where it was then, in small teams of ranks that share cores */
};
_Static_assert(sizeof(struct team_member) == KU_SEG_TEAM_LINE, "room in the segment");

static struct team *team_of(const struct MPIR_COMMUNICATOR *comm)
{
    return &((struct comm_adi *)comm->adi)->team;
}

static struct team_member *member(const struct team *t, int32_t rank)
{
    return (struct team_member *)((char *)t->head + KU_SEG_TEAM_HEAD) + rank;
}

static void *room(const struct team *t, int32_t rank, uint64_t operation)
{
    if (t->shows <= KU_EPOCH_DATA)
        return member(t, rank)->lines.by_turns[operation & 1].data;
    return t->rooms + (2 * (uint64_t)rank + (operation & 1)) * t->room_bytes;
}

/* ---- Making and ending ---- */

static int32_t local_of(const struct MPIR_COMMUNICATOR *comm, int32_t rank)
{
    int32_t g = grank_of(comm, rank);
    return g >= 0 ? dev_local_of(&MPID_core.world, g) : g;
}

static bool on_this_node(const struct MPIR_COMMUNICATOR *comm)
{
    for (int32_t i = 0; i < comm->size; i++)
        if (local_of(comm, i) < 0)
            return false;
    return comm->size > 1 && comm->size < 1 << COUNT_BITS;
}

_Static_assert((int)MPID_TEAM_SHORT == (int)KU_EPOCH_DATA, "what mpid.h promises");

static struct stream_head *streams_of(struct team_head *h, int32_t size)
{
    return (struct stream_head *)member(&(struct team){ .head = h }, size);
}

/* In zeroed memory. */
static void team_begin(struct team_head *h, int32_t size)
{
    atomic_store(&h->users, (uint32_t)size);
    h->even = ku_wait_policy.spin_ns != 0 && size <= KU_EPOCH_MOST;
    MPID_Stream_reset(streams_of(h, size));
}

/* Number of the team that nobody allots: the first of its members to ask for it begins it. */
enum { GIVEN = 1 };
enum { BEGUN = 1, BEGINNING };

uint32_t MPID_Team_given(const struct MPIR_COMMUNICATOR *comm)
{
    const struct ku_seg_head *h = MPID_core.job.segment.head;
    bool whole = comm->size == MPID_core.job.size && h->nlocal == h->size && comm->lrank_to_grank == NULL;
    if (!whole || MPID_core.job.epoch != 1 || !on_this_node(comm))
        return 0;
    struct team_head *t = ku_segment_team(&MPID_core.job.segment, KU_TEAM_CORE);
    uint32_t nobody = 0;
    if (atomic_compare_exchange_strong(&t->begun, &nobody, BEGINNING)) {
        team_begin(t, comm->size);
        atomic_store(&t->begun, BEGUN);
    }
    while (atomic_load(&t->begun) == BEGINNING)
        ku_wait_yield();
    return GIVEN;
}

uint32_t MPID_Team_allot(const struct MPIR_COMMUNICATOR *comm)
{
    if (!on_this_node(comm))
        return 0;
    uint64_t bytes = ku_team_part_bytes(MPID_core.job.segment.head, KU_TEAM_CORE, (uint64_t)comm->size);
    ku_block b = ku_heap_alloc(&MPID_core.heap, bytes);
    struct team_head *h = b != 0 ? ku_heap_map(&MPID_core.heap, b) : NULL;
    if (h == NULL) {
        ku_heap_free(&MPID_core.heap, b);
        return 0;
    }
    team_begin(h, comm->size);
    ku_heap_unmap(&MPID_core.heap, b);
    return ku_block_number(b);
}

/* The given team has all its parts in the segment's fixed part, which takes no memory until it is used. */
static void join_given(struct team *t)
{
    for (unsigned i = KU_TEAM_CORE; i < KU_TEAM_PARTS; i++)
        t->part[i] = ku_segment_team(&MPID_core.job.segment, (enum ku_team_part)i);
}

static void join_allotted(struct team *t, ku_block block)
{
    t->block = block;
    t->part[KU_TEAM_CORE] = ku_heap_map(&MPID_core.heap, block);
    if (t->part[KU_TEAM_CORE] == NULL)
        MPID_Broken("a communicator's team: %s", ku_err_last()->text);
}

void MPID_Team_join(struct MPIR_COMMUNICATOR *comm, uint32_t number)
{
    struct team *t = team_of(comm);
    if (number == 0)
        return;
    *t = (struct team){ .comm = comm, .failures = MPID_Comm_failures(comm) };
    if (number == GIVEN)
        join_given(t);
    else
        join_allotted(t, ku_block_of(number));
    t->head = (struct team_head *)t->part[KU_TEAM_CORE];
    t->streams = streams_of(t->head, comm->size);
    if (t->head->even)
        MPID_Even_join(t, &t->head->epochs, &member(t, 0)->lines, sizeof(struct team_member));
    MPID_Stream_join(t);
}

/* ---- Parts (invariant 7) ---- */

static bool is_verdict(uint64_t is)
{
    return is != UNASKED && (is & (KU_HEAP_GRAIN - 1)) != MAKING;
}

static ku_block make_part(const struct team *t, enum ku_team_part part)
{
    struct ku_heap *heap = &MPID_core.heap;
    uint64_t bytes = ku_team_part_bytes(MPID_core.job.segment.head, part, (uint64_t)t->comm->size);
    if (bytes > PART_SMALL && ku_heap_use(heap).pages + bytes > PARTS_MOST)
        return 0;
    return ku_heap_alloc(heap, bytes);
}

/* Is who makes it lost? */
static bool maker_lost(uint64_t is)
{
    return atomic_load(&ku_segment_gone(&MPID_core.job.segment)[is >> MAKER_SHIFT]) != 0;
}

static uint64_t verdict_on(const struct team *t, enum ku_team_part part)
{
    _Atomic uint64_t *at = &t->head->part[part];
    uint64_t is = atomic_load(at), mine = (uint64_t)MPID_core.rank << MAKER_SHIFT | MAKING;
    while (!is_verdict(is)) {
        if (is != UNASKED && !maker_lost(is))
            ku_wait_yield();
        else if (atomic_compare_exchange_strong(at, &is, mine)) {
            ku_block b = make_part(t, part);
            atomic_store(at, b != 0 ? b : NO_MEMORY);
        }
        is = atomic_load(at);
    }
    return is;
}

char *MPID_Team_part_get(struct team *t, enum ku_team_part part)
{
    uint64_t is = verdict_on(t, part);
    if (is == NO_MEMORY)
        return NULL;
    t->part[part] = ku_heap_map(&MPID_core.heap, is);
    if (t->part[part] == NULL) /* the others rely on it */
        MPID_Broken("a communicator's team: %s", ku_err_last()->text);
    return t->part[part];
}

/* This process is the last: nobody asks for a part any more. */
static void free_parts(struct team_head *h)
{
    for (unsigned i = KU_TEAM_CORE + 1; i < KU_TEAM_PARTS; i++) {
        uint64_t is = atomic_load(&h->part[i]);
        if (is_verdict(is) && is != NO_MEMORY)
            ku_heap_free(&MPID_core.heap, is);
    }
}

/* Of the heap: this process leaves it. */
static void team_leave(struct team *t)
{
    for (unsigned i = KU_TEAM_CORE + 1; i < KU_TEAM_PARTS; i++)
        if (t->part[i] != NULL)
            ku_heap_unmap(&MPID_core.heap, atomic_load(&t->head->part[i]));
    bool last = atomic_fetch_sub(&t->head->users, 1) == 1;
    if (last)
        free_parts(t->head);
    ku_heap_unmap(&MPID_core.heap, t->block);
    if (last)
        ku_heap_free(&MPID_core.heap, t->block);
}

/* Another thread may sleep for it, or have begun to before it was begun. */
static void awake_begun(struct team *t)
{
    if (t->lies)
        MPID_Team_awake(t);
    t->lies = false;
}

void MPID_Team_await(struct team *t)
{
    t->next = MPID_core.begun;
    t->in_begun = true;
    MPID_core.begun = t;
    MPID_Thread_more();
}

void MPID_Team_forget(struct team *t)
{
    struct team **at = &MPID_core.begun;
    if (!t->in_begun)
        return;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    t->in_begun = false;
    awake_begun(t);
}

void MPID_Team_drop(struct team *t)
{
    MPID_Team_forget(t);
    if (t->head != NULL && t->block != 0)
        team_leave(t);
    t->head = NULL;
}

/* ---- Who is there ---- */

/* Does some member do the operation this process is in by messages, or has it gone past it?  (Also when it has
 * ended.) */
static bool member_absent(const struct team *t)
{
    uint64_t mine = atomic_load_explicit(&member(t, t->comm->rank)->at, memory_order_relaxed);
    for (int32_t i = 0; i < t->comm->size; i++)
        if (atomic_load_explicit(&member(t, i)->at, memory_order_acquire) > mine)
            return true;
    return false;
}

int32_t MPID_Team_missing(const struct team *t)
{
    uint64_t mine = atomic_load_explicit(&member(t, t->comm->rank)->at, memory_order_relaxed);
    if (t->stream != NULL)
        return grank_of(t->comm, MPID_Stream_missing(t));
    for (int32_t i = 0; i < t->comm->size; i++)
        if (atomic_load_explicit(&member(t, i)->at, memory_order_relaxed) < mine)
            return grank_of(t->comm, i);
    return -1;
}

void MPID_Team_wake_each(const struct team *t)
{
    for (int32_t i = 0; i < t->comm->size; i++)
        if (i != t->comm->rank)
            ku_wait_wake(&ku_segment_rank(&MPID_core.job.segment, (uint32_t)local_of(t->comm, i))->sleeping,
                         true);
}

static void wake_sleepers(const struct team *t)
{
    if (atomic_load(&t->head->sleepers) == 0)
        return;
    ku_wait_wake_all(&t->head->word);
    if (atomic_load(&t->head->alone) != 0)
        MPID_Team_wake_each(t);
}

/* Break the team unless the operation has ended. */
static void break_operation(const struct team *t)
{
    uint32_t now = 2 * (uint32_t)t->epoch;
    if (t->lines.head != NULL)
        MPID_Even_leave(t);
    else if (atomic_compare_exchange_strong(&t->head->word, &now, now + 1))
        wake_sleepers(t);
}

void MPID_Team_break(struct MPIR_COMMUNICATOR *comm)
{
    const struct team *t = team_of(comm);
    if (t->head != NULL && t->lines.head != NULL)
        MPID_Even_refuse(t);
    else if (t->head != NULL && (atomic_fetch_or(&t->head->word, 1) & 1) == 0)
        wake_sleepers(t);
}

/* ---- An operation ---- */

void *MPID_Team_room(const struct MPIR_COMMUNICATOR *comm, int32_t rank)
{
    return room(team_of(comm), rank, team_of(comm)->shown);
}

void *MPID_Team_own(struct MPIR_COMMUNICATOR *comm, int64_t bytes)
{
    struct team *t = team_of(comm);
    t->shows = bytes;
    if (bytes > KU_EPOCH_DATA) {
        bool is_short = bytes <= KU_SEG_SHORT_ROOM;
        t->room_bytes = is_short ? (uint64_t)KU_SEG_SHORT_ROOM : MPID_core.job.segment.head->room_bytes;
        t->rooms = team_part(t, is_short ? KU_TEAM_SHORT_ROOMS : KU_TEAM_ROOMS);
        if (t->rooms == NULL)
            return NULL;
    }
    return room(t, comm->rank, t->epoch);
}

bool MPID_Team_even(const struct MPIR_COMMUNICATOR *comm)
{
    return team_of(comm)->lines.head != NULL;
}

static uint64_t last_of(const struct team *t, int32_t rank)
{
    uint64_t at = atomic_load_explicit(&member(t, rank)->at, memory_order_acquire);
    uint64_t later = atomic_load_explicit(&member(t, rank)->later, memory_order_acquire);
    return later > at ? later : at;
}

bool MPID_Team_passed(const struct team *t, uint64_t number)
{
    for (int32_t i = 0; i < t->comm->size; i++)
        if (i != t->comm->rank && last_of(t, i) / 2 < number + 2 && !peer_gone(grank_of(t->comm, i)))
            return false;
    return true;
}

/* The number grows from call to call although `when` may begin again at 0 after 2^32. */
static void tell_where(const struct team *t, uint32_t when, uint64_t how)
{
    _Atomic uint64_t *at = &member(t, t->comm->rank)->at;
    uint64_t before = atomic_load_explicit(at, memory_order_relaxed) / 2 - 1;
    uint64_t now = before + (uint32_t)(when - (uint32_t)before);
    atomic_store_explicit(at, 2 * (now + 1) + how, memory_order_release);
}

void MPID_Team_tell(const struct MPIR_COMMUNICATOR *comm, uint64_t words)
{
    if (team_of(comm)->head != NULL)
        atomic_store_explicit(&member(team_of(comm), comm->rank)->words, words, memory_order_relaxed);
}

bool MPID_Team_told(const struct MPIR_COMMUNICATOR *comm, int32_t rank, uint32_t when, uint64_t *words)
{
    const struct team *t = team_of(comm);
    if (t->head == NULL)
        return false;
    uint64_t at = atomic_load_explicit(&member(t, rank)->at, memory_order_acquire);
    *words = atomic_load_explicit(&member(t, rank)->words, memory_order_relaxed);
    return at % 2 == 0 && at > 0 && (uint32_t)(at / 2 - 1) == when;
}

static bool broken(const struct team *t)
{
    if (t->lines.head != NULL)
        return ku_epoch_end(&t->lines) != KU_EPOCH_FREE;
    return atomic_load_explicit(&t->head->word, memory_order_acquire) != 2 * (uint32_t)t->epoch;
}

/* When it is broken others may still look for what this member said at the last meeting. */
static void tell_later(const struct team *t, uint32_t when)
{
    uint64_t before = last_of(t, t->comm->rank) / 2 - 1;
    uint64_t now = before + (uint32_t)(when - (uint32_t)before);
    atomic_store_explicit(&member(t, t->comm->rank)->later, 2 * (now + 1), memory_order_release);
}

void MPID_Team_absent(struct MPIR_COMMUNICATOR *comm, uint32_t when)
{
    const struct team *t = team_of(comm);
    if (t->head != NULL && likely(!broken(t)))
        tell_where(t, when, NOT_HERE);
    else if (t->head != NULL)
        tell_later(t, when);
}

enum MPID_TEAM_TURN MPID_Team_arrive(struct MPIR_COMMUNICATOR *comm, uint32_t when, uint32_t what)
{
    struct team *t = team_of(comm);
    uint64_t says = (uint64_t)what << COUNT_BITS, size = (uint64_t)comm->size, sum;
    if (t->head == NULL || broken(t))
        return MPID_TEAM_BROKEN;
    t->shown = t->epoch;
    tell_where(t, when, 0);
    if (t->lines.head != NULL) {
        MPID_Even_arrive(t, what);
        return MPID_TEAM_WAIT;
    }
    if (ku_wait_policy.spin_ns == 0 && size <= FEW)
        atomic_store_explicit(&member(t, comm->rank)->cpu, sched_getcpu(), memory_order_relaxed);
    sum = atomic_fetch_add(&t->head->arrived, says + 1) + says + 1;
    t->missing = (uint32_t)(size - (sum & ((1u << COUNT_BITS) - 1)));
    if (t->missing > 0)
        return MPID_TEAM_WAIT;
    atomic_store_explicit(&t->head->arrived, 0, memory_order_relaxed);
    if (sum == (says + 1) * size)
        return MPID_TEAM_LAST;
    break_operation(t);
    return MPID_TEAM_BROKEN;
}

bool MPID_Team_release(struct MPIR_COMMUNICATOR *comm)
{
    struct team *t = team_of(comm);
    uint32_t now = 2 * (uint32_t)t->epoch;
    if (!atomic_compare_exchange_strong(&t->head->word, &now, now + 2))
        return false;
    t->epoch++;
    wake_sleepers(t);
    return true;
}

/* To a meeting of an even team, to wait for the others; false: it is broken. */
static inline bool team_come(struct team *t, uint32_t when, uint32_t what)
{
    if (t->head == NULL || ku_epoch_end(&t->lines) != KU_EPOCH_FREE)
        return false;
    t->shown = t->epoch;
    tell_where(t, when, 0);
    MPID_Even_arrive(t, what);
    return true;
}

bool MPID_Team_meet(struct MPIR_COMMUNICATOR *comm, uint32_t when, uint32_t what)
{
    return team_come(team_of(comm), when, what) && MPID_Even_wait(team_of(comm));
}

/* ---- Meetings that are begun, and ended later (invariant 6) ---- */

enum MPID_TEAM_TURN MPID_Team_begin(struct MPIR_COMMUNICATOR *comm, uint32_t when, uint32_t what)
{
    struct team *t = team_of(comm);
    enum MPID_TEAM_TURN turn = MPID_Team_arrive(comm, when, what);
    if (turn != MPID_TEAM_WAIT)
        return turn;
    t->patience_ms = MPID_Team_patience(t);
    MPID_Team_await(t);
    return turn;
}

/* At the counter. */
static enum MPID_TEAM_TURN look_at_word(struct team *t)
{
    uint32_t before = 2 * (uint32_t)t->epoch, word;
    word = atomic_load_explicit(&t->head->word, memory_order_acquire);
    if (word == before && unlikely(MPID_Comm_lost_some(t->comm))) {
        break_operation(t);
        word = atomic_load_explicit(&t->head->word, memory_order_acquire);
    }
    if (word == before)
        return MPID_TEAM_WAIT;
    if (word == before + 1)
        return MPID_TEAM_BROKEN;
    t->epoch++;
    return MPID_TEAM_MET;
}

enum MPID_TEAM_TURN MPID_Team_look(struct MPIR_COMMUNICATOR *comm)
{
    struct team *t = team_of(comm);
    if (!t->in_begun) /* the last to come: it has released the others */
        return MPID_TEAM_MET;
    enum MPID_TEAM_TURN turn = t->lines.head != NULL ? MPID_Even_look(t) : look_at_word(t);
    if (turn != MPID_TEAM_WAIT)
        MPID_Team_forget(t);
    return turn;
}

bool MPID_Teams_may_sleep(int *most_ms)
{
    for (struct team *t = MPID_core.begun; t != NULL; t = t->next) {
        t->lies = MPID_Team_may_sleep(t, false, most_ms);
        if (!t->lies) {
            MPID_Teams_awake();
            return false;
        }
    }
    return true;
}

void MPID_Teams_awake(void)
{
    for (struct team *t = MPID_core.begun; t != NULL; t = t->next)
        awake_begun(t);
}

/* Invariant 5. */
static bool last_is_near(const struct team *t)
{
    int32_t here = member(t, t->comm->rank)->cpu;
    uint64_t mine = atomic_load_explicit(&member(t, t->comm->rank)->at, memory_order_relaxed);
    if (t->missing != 1 || t->comm->size > FEW)
        return false;
    for (int32_t i = 0; i < t->comm->size; i++) {
        const struct team_member *m = member(t, i);
        if (atomic_load_explicit(&m->at, memory_order_relaxed) < mine)
            return atomic_load_explicit(&m->cpu, memory_order_relaxed) != here;
    }
    return true; /* it has just come */
}

static void lie_down(struct team *t)
{
    if (t->lines.head != NULL) {
        MPID_Even_lie_down(t);
        return;
    }
    if (!t->on_word)
        atomic_fetch_add(&t->head->alone, 1);
    atomic_fetch_add(&t->head->sleepers, 1);
}

static bool team_waits(const struct team *t)
{
    if (t->lines.head != NULL)
        return MPID_Even_waits(t);
    return atomic_load(&t->head->word) == 2 * (uint32_t)t->epoch;
}

bool MPID_Team_may_sleep(struct team *t, bool on_word, int *most_ms)
{
    if (t->stream != NULL)
        return MPID_Stream_may_sleep(t, on_word);
    if (t->patience_ms < *most_ms)
        *most_ms = t->patience_ms;
    t->patience_ms = t->patience_ms < PATIENCE_MAX / 2 ? 2 * t->patience_ms : PATIENCE_MAX;
    t->on_word = on_word && ku_wait_can_sleep_on();
    lie_down(t);
    if (member_absent(t) && team_waits(t)) /* else one has gone past it because it has ended */
        break_operation(t);
    if (team_waits(t) && !MPID_Comm_lost_some(t->comm))
        return true;
    MPID_Team_awake(t);
    return false;
}

void MPID_Team_sleep(struct team *t, _Atomic uint32_t *sleeping, int most_ms)
{
    if (t->stream != NULL)
        MPID_Stream_sleep(t, sleeping, most_ms);
    else if (t->lines.head != NULL)
        MPID_Even_sleep(t, sleeping, most_ms);
    else
        ku_wait_sleep_on(sleeping, &t->head->word, 2 * (uint32_t)t->epoch, most_ms);
}

void MPID_Team_awake(struct team *t)
{
    if (t->stream != NULL) {
        MPID_Stream_awake(t);
        return;
    }
    if (t->lines.head != NULL) {
        MPID_Even_rise(t);
        return;
    }
    atomic_fetch_sub(&t->head->sleepers, 1);
    if (!t->on_word)
        atomic_fetch_sub(&t->head->alone, 1);
}

/* Many looks at many members would cost more than they wait for. */
int MPID_Team_patience(const struct team *t)
{
    int32_t ms = PATIENCE_MS * (1 + t->comm->size / PATIENCE_RANKS);
    return ms < PATIENCE_MAX ? ms : PATIENCE_MAX;
}

bool MPID_Team_wait(struct MPIR_COMMUNICATOR *comm)
{
    struct team *t = team_of(comm);
    struct ku_wait w = { 0 };
    uint32_t word, before = 2 * (uint32_t)t->epoch;
    bool crowded = ku_wait_policy.spin_ns == 0;
    if (t->lines.head != NULL)
        return MPID_Even_wait(t);
    t->patience_ms = MPID_Team_patience(t);
    if (crowded && last_is_near(t))
        ku_wait_near(&t->head->word, before);
    while ((word = atomic_load_explicit(&t->head->word, memory_order_acquire)) == before) {
        if (unlikely(!comm_whole(t->failures)) && MPID_Comm_lost_some(t->comm)) {
            break_operation(t);
            continue;
        }
        if (crowded && w.yields < IN_VAIN && MPID_Wait_climb(&w) == KU_WAIT_AGAIN)
            continue;
        if (MPID_Progress() > 0) {
            ku_wait_reset(&w);
            continue;
        }
        MPID_core.waits = t;
        MPID_Wait_step(&w, NULL);
        MPID_core.waits = NULL;
    }
    if (word == before + 1)
        return false;
    t->epoch++;
    return true;
}
