/* SPDX-License-Identifier: BSD-3-Clause */
/* part_send.c: the sending end of a channel: partitions become ready, and travel. */
#include "config.h"
#include "bodies.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "env.h"
#include "part.h"
#include "partitioned.h"
#include "util/seat.h"

enum { LOOK_EVERY = 32 };

static inline int64_t size_of(const struct part *p)
{
    return p->type->adi.size;
}

/* ---- Pieces ---- */

static struct part_piece *piece_new(struct part_send *s, size_t data)
{
    struct part_piece *f = malloc(sizeof *f + data);
    if (!f) {
        MPIR_Part_fail(&s->p, MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for one more piece of a message"));
        return NULL;
    }
    f->next = s->flight;
    s->flight = f;
    s->nflight++;
    return f;
}

/* HEAD, with the data if they are short.  Most are gone when this returns; others wait in a copy. */
static void send_head(struct part_send *s, const void *message, int64_t len)
{
    struct part *p = &s->p;
    int err = MPIR_P2p_send_at_once(message, len, NULL, p->peer, part_tag(p->channel, PART_HEAD), p->comm,
                                    MPID_CONTEXT_PART);
    if (err == MPIR_ERR_MAY_BLOCK) {
        struct part_piece *f = piece_new(s, (size_t)len);
        if (!f)
            return;
        memcpy(f->data, message, (size_t)len);
        part_isend(p, f->data, len, PART_HEAD, &f->request); /* an error stays in the request */
    } else if (err)
        MPIR_Part_fail(p, err);
}

static void send_data(struct part_send *s, const char *at, int64_t elements)
{
    struct part *p = &s->p;
    struct part_piece *f = piece_new(s, 0);
    if (f)
        MPIR_P2p_isend(at, elements, p->type, p->peer, part_tag(p->channel, PART_DATA), p->comm,
                       MPID_CONTEXT_PART, &f->request);
}

/* Elements [at, at + elements) of the buffer, which are `count` partitions from `first` on, or a part of that one. */
static void send_piece(struct part_send *s, uint32_t first, uint32_t count, int64_t at, int64_t elements,
                       uint64_t flags)
{
    struct part *p = &s->p;
    int64_t bytes = elements * size_of(p);
    const char *from = p->buf + at * p->type->adi.extent;
    bool alone = bytes > PART_INLINE || s->split;
    struct {
        struct part_head head;
        char data[PART_INLINE];
    } message;
    s->pieces++;
    if (!(flags & PART_MORE))
        s->nsent += count;
    if (s->pieces - s->asked >= PART_ASK || s->nsent == p->n) {
        flags |= PART_ASKED;
        s->asked = s->pieces;
    }
    message.head = part_head_le((struct part_head){ first, count, (uint64_t)bytes | flags });
    if (!alone)
        MPID_Layout_pack(&p->type->adi, from, elements, 0, message.data, bytes);
    send_head(s, &message, (int64_t)sizeof message.head + (alone ? 0 : bytes));
    if (alone && !p->err)
        send_data(s, from, elements);
}

/* The next elements of a partition that is too long for a piece. */
static void send_part_of_one(struct part_send *s)
{
    struct part *p = &s->p;
    int64_t at = s->split_at, most = PART_PIECE / size_of(p) + !(PART_PIECE / size_of(p)),
            left = p->count - at, k = left < most ? left : most;
    s->split_at += k;
    send_piece(s, s->split_of, 1, s->split_of * p->count + at, k, k < left ? PART_MORE : 0);
    s->split = k < left;
}

/* The next partitions that wait: as many neighbours as fit in one piece. */
static void send_run(struct part_send *s)
{
    struct part *p = &s->p;
    int64_t each = p->count * size_of(p), most = PART_PIECE / each;
    uint32_t low = bits_find(s->pending, s->cursor, p->n - 1, true), high;
    if (low == p->n)
        low = bits_find(s->pending, 0, p->n - 1, true);
    high = most > p->n - low ? p->n - 1 : low + (uint32_t)(most > 1 ? most - 1 : 0);
    high = bits_find(s->pending, low, high, false) - 1;
    bits_fill(s->pending, low, high, false);
    s->npending -= high - low + 1;
    s->cursor = high + 1 < p->n ? high + 1 : 0;
    s->split = most == 0 && p->count > 1;
    if (s->split) {
        s->split_of = low;
        s->split_at = 0;
        send_part_of_one(s);
    } else
        send_piece(s, low, high - low + 1, low * p->count, (high - low + 1) * p->count, 0);
}

static void send_whole(struct part_send *s)
{
    struct part *p = &s->p;
    s->whole = true;
    s->npending = 0;
    s->nsent = p->n;
    MPIR_P2p_isend(p->buf, p->n * p->count, p->type, p->peer, part_tag(p->channel, PART_WHOLE), p->comm,
                   MPID_CONTEXT_WHOLE, &p->whole);
}

static bool part_send_may_send(const struct part_send *s)
{
    return s->nflight < PART_FLIGHT && s->pieces - s->acked < PART_WINDOW && !s->p.err;
}

/* Send what may go now. */
static void part_send_flush(struct part_send *s)
{
    struct part *p = &s->p;
    if (p->peer == MPI_PROC_NULL || p->err)
        s->npending = 0;
    else if (s->nready == p->n && s->nsent == 0 && !s->split && !s->whole && s->acked == s->pieces)
        send_whole(s);
    else if (p->bytes > 0)
        while ((s->split || s->npending > 0) && part_send_may_send(s)) {
            if (s->split)
                send_part_of_one(s);
            else
                send_run(s);
        }
}

/* ---- Partitions that are said to be ready beside the lock ---- */

static void part_send_mark(struct part_send *s, uint32_t low, uint32_t high)
{
    if (s->p.copies)
        MPIR_Part_copy(&s->p, MPIR_COPY_IN, low, high);
    bits_fill(s->ready, low, high, true);
    bits_fill(s->pending, low, high, true);
    if (s->npending == 0)
        s->cursor = low;
    s->nready += high - low + 1;
    s->npending += high - low + 1;
    s->marked = true;
}

/* With the lock. */
static inline bool is_said(const struct part_send *s)
{
    uint32_t at = atomic_load_explicit(&s->said_begin, memory_order_relaxed);
    return atomic_load_explicit(&s->said[at % PART_SAID], memory_order_acquire) != 0;
}

static void take_in(struct part_send *s)
{
    while (__builtin_expect(is_said(s), 0)) {
        uint32_t at = atomic_load_explicit(&s->said_begin, memory_order_relaxed);
        int64_t what = atomic_load_explicit(&s->said[at % PART_SAID], memory_order_relaxed);
        atomic_store_explicit(&s->said[at % PART_SAID], 0, memory_order_relaxed);
        atomic_store_explicit(&s->said_begin, at + 1, memory_order_release);
        if (what != PART_NONE)
            part_send_mark(s, (uint32_t)(what - 1), (uint32_t)(what - 1));
    }
}

/* ---- Going on ---- */

static bool part_send_reap(struct part_send *s)
{
    bool moved = false;
    for (struct part_piece **link = &s->flight; *link;) {
        struct part_piece *f = *link;
        if (!part_done(&f->request)) {
            link = &f->next;
            continue;
        }
        if (f->request.errval)
            MPIR_Part_fail_by(&s->p, &f->request);
        s->p.stamp = f->request.is_complete;
        *link = f->next;
        s->nflight--;
        free(f);
        moved = true;
    }
    return moved;
}

/* One acknowledgement is waited for at a time. */
static bool part_send_hear(struct part_send *s)
{
    struct part *p = &s->p;
    bool moved = false;
    while (s->asked != s->acked && part_done(&p->ack) && !p->err) {
        s->hears = !s->hears;
        moved |= !s->hears;
        if (s->hears)
            part_irecv(p, &p->ack_value, sizeof p->ack_value, PART_ACK, &p->ack);
        else if (p->ack.errval)
            MPIR_Part_fail_by(p, &p->ack);
        else
            s->acked = ku_le32(p->ack_value);
    }
    return moved;
}

/* All has gone.  A request at rest has the empty status, and no other is due. */
static inline void end_round(struct part_send *s)
{
    struct part *p = &s->p;
    if (s->whole) {
        if (p->whole.errval)
            MPIR_Part_fail_by(p, &p->whole);
        p->stamp = p->whole.is_complete;
    }
    MPIR_Part_complete(p);
}

static void part_send_finish(struct part_send *s)
{
    struct part *p = &s->p;
    if (part_done(&p->init) && p->init.errval)
        MPIR_Part_fail_by(p, &p->init);
    if ((s->nready < p->n || s->npending > 0 || s->split) && !p->err)
        return;
    if (s->nflight == 0 && part_done(&p->whole))
        end_round(s);
}

bool MPIR_Part_send_advance(struct part_send *s)
{
    bool moved = s->flight && part_send_reap(s);
    take_in(s);
    uint32_t before = s->pieces + s->whole;
    moved |= part_send_hear(s);
    if (!s->p.active)
        return moved;
    part_send_flush(s);
    part_send_hear(s);
    part_send_finish(s);
    return moved || s->pieces + s->whole != before || !s->p.active;
}

static void push(struct part_send *s);

/* Threads that find the lock taken go on: whoever looks at the devices takes in what they have said. */
static void open_round(struct part_send *s)
{
    bool open = MPIR_ENV(threaded) && s->p.n > 0 && s->p.peer != MPI_PROC_NULL && !s->p.copies;
    atomic_store_explicit(&s->nclaimed, 0, memory_order_relaxed);
    atomic_store_explicit(&s->open, open, memory_order_relaxed);
    if (open)
        MPIR_Part_list(&s->p);
}

static int part_send_start(MPIR_Request *r)
{
    struct part_send *s = r->aux;
    if (s->p.quiet)
        MPIR_Part_announce(&s->p);
    if (s->marked)
        memset(s->bits, 0, 3 * bits_words(s->p.n) * sizeof s->bits[0]);
    s->marked = s->whole = s->split = false;
    s->nready = s->npending = s->nsent = s->cursor = 0;
    s->began = s->pieces;
    s->p.err = 0;
    s->p.stamp = 0;
    s->p.active = true;
    r->moved = s->p.n;
    open_round(s);
    if (s->p.n == 0) /* nobody will say that they are ready */
        push(s);
    return 0;
}

/* Threads whose partitions others have sent may still be in MPIR_Pready_beside. */
void MPIR_Part_send_close(struct part_send *s)
{
    uint32_t end = atomic_load_explicit(&s->said_end, memory_order_relaxed);
    while (atomic_load_explicit(&s->said_gone, memory_order_acquire) != end) {
        uint32_t depth = MPID_Thread_suspend(); /* one of them may wait for the lock */
        sched_yield();
        MPID_Thread_resume(depth);
    }
}

void MPIR_Part_send_free(struct part_send *s)
{
    while (s->flight) { /* none, unless the operation was never given to the ADI */
        struct part_piece *f = s->flight;
        s->flight = f->next;
        free(f);
    }
}

static void part_send_poll_nothing(MPIR_Request *r)
{
    (void)r; /* whoever polls has looked at the devices before, which advances it */
}

static void part_send_explain(const MPIR_Request *r)
{
    *ku_err_last() = ((const struct part *)r->aux)->words;
}

static int cancel(MPIR_Request *r)
{
    (void)r;
    return MPIR_Err(MPI_ERR_REQUEST, "request", "is of a partitioned send, which cannot be cancelled");
}

static int may_go(const MPIR_Request *r)
{
    const struct part_send *s = r->aux;
    if (!MPIR_Request_is_active(r))
        return 0;
    return MPIR_Err(
        MPI_ERR_REQUEST, "request",
        "is of a partitioned send that has been started (%u of %u partitions are ready); expected one "
        "that is completed first",
        (unsigned)s->nready, (unsigned)s->p.n);
}

const struct MPIR_Request_ops MPIR_Part_send_ops = { .poll = part_send_poll_nothing,
                                                     .free = MPIR_Part_close,
                                                     .explain = part_send_explain,
                                                     .cancel = cancel,
                                                     .start = part_send_start,
                                                     .may_go = may_go,
                                                     .copies = MPIR_Part_copies };

/* ---- MPI_Pready and its kin ---- */

static int find_send(MPIR_Request *r, struct part_send **send)
{
    bool part = r && r->handle_type == MPIR_PART;
    *send = NULL;
    if (!part || MPIR_Request_ops_of(r) != &MPIR_Part_send_ops)
        return MPIR_Err(MPI_ERR_REQUEST, "request", "is of %s; expected one of MPI_Psend_init",
                        part ? "a partitioned receive" : "an operation that is not partitioned");
    if (!MPIR_Request_is_active(r))
        return MPIR_Err(MPI_ERR_REQUEST, "request", "is inactive; expected one that MPI_Start has started");
    *send = r->aux;
    return 0;
}

static int check_number(const struct part_send *s, int partition, const char *arg)
{
    if (partition >= 0 && (uint32_t)partition < s->p.n)
        return 0;
    return MPIR_Part_no_such(&s->p, partition, arg);
}

/* More are ready, said with the lock. */
static inline void count_claimed(struct part_send *s, uint32_t more)
{
    if (atomic_load_explicit(&s->open, memory_order_relaxed))
        atomic_fetch_add_explicit(&s->nclaimed, more, memory_order_relaxed);
}

/* The first of the range that is ready already; high + 1: none. */
static uint32_t find_ready(const struct part_send *s, uint32_t low, uint32_t high)
{
    return s->nready == s->p.n ? low : bits_find(s->ready, low, high, true);
}

static int twice(uint32_t partition, const char *arg)
{
    return MPIR_Err(MPI_ERR_ARG, arg,
                    "is %u, which is ready already; expected each partition once after a start",
                    (unsigned)partition);
}

/* Is there something to go on with before the program calls again? */
static bool is_under_way(const struct part_send *s)
{
    return s->p.active &&
           (s->npending > 0 || s->nflight > 0 || s->split || !part_done(&s->p.whole) || s->p.err);
}

/* May what has become ready wait for its neighbours, since many small ones have gone before?  A message for each
 * costs more than what is in it: the more pieces have gone in this round, the more partitions go together, up to
 * what lies in one message.  Whatever looks at the devices sends them all. */
static inline bool may_gather(const struct part_send *s, uint32_t more)
{
    enum { AT_ONCE = 32 /* pieces from one doubling to the next */, MOST = 16 /* doublings */ };
    uint32_t doublings = (s->pieces - s->began) / AT_ONCE;
    return doublings > 0 && s->npending + more < s->gather && s->nready + more < s->p.n &&
           (s->npending + more) >> (doublings < MOST ? doublings : MOST) == 0;
}

/* Some have become ready.  Where they cannot go yet the devices must be looked at now and then: what they wait for
 * may have come, and the program may mark many before it waits. */
static void push(struct part_send *s)
{
    take_in(s); /* after the caller's have been counted: else the last one may be theirs */
    s->p.request->moved = s->p.n - s->nready; /* for the report on a job that hangs */
    if (may_gather(s, 0)) {
        MPIR_Part_list(&s->p);
        return;
    }
    if (MPIR_Part_enter()) {
        MPIR_Part_send_advance(s);
        MPIR_Part_leave();
    }
    if (is_under_way(s))
        MPIR_Part_list(&s->p);
    if (s->p.active && s->npending > 0 && ++s->stalls % LOOK_EVERY == 0)
        MPID_DeviceCheck(MPID_NOTBLOCKING);
}

/* What gather_one does not see to: it is wrong, or to be sent. */
static __attribute__((noinline)) int ready_one(int partition, MPIR_Request *request)
{
    struct part_send *s;
    int err = find_send(request, &s);
    if (!err)
        take_in(s);
    if (!err)
        err = check_number(s, partition, "partition");
    if (!err && find_ready(s, (uint32_t)partition, (uint32_t)partition) == (uint32_t)partition)
        err = twice((uint32_t)partition, "partition");
    if (err)
        return err;
    count_claimed(s, 1);
    part_send_mark(s, (uint32_t)partition, (uint32_t)partition);
    push(s);
    return 0;
}

/* The short way of one that gathers, or must wait since too much is under way. */
static inline bool gather_one(struct part_send *s, uint32_t k)
{
    uint64_t bit = 1ull << k % 64;
    if (k >= s->p.n || s->nready + 1 >= s->p.n || !s->p.listed || is_said(s) || (s->ready[k / 64] & bit) ||
        !(may_gather(s, 1) || (!part_send_may_send(s) && ++s->stalls % LOOK_EVERY != 0)))
        return false;
    if (s->npending++ == 0)
        s->cursor = k;
    if (s->p.copies)
        MPIR_Part_copy(&s->p, MPIR_COPY_IN, k, k);
    count_claimed(s, 1);
    __atomic_store_n(&s->ready[k / 64], s->ready[k / 64] | bit, __ATOMIC_RELAXED);
    s->pending[k / 64] |= bit;
    s->nready++;
    s->marked = true;
    s->p.request->moved = s->p.n - s->nready;
    return true;
}

static inline bool is_active_send(const MPIR_Request *r)
{
    return r && r->handle_type == MPIR_PART && MPIR_Request_is_active(r) &&
           MPIR_Request_ops_of(r) == &MPIR_Part_send_ops;
}

int MPIR_Pready(int partition, MPIR_Request *request)
{
    if (__builtin_expect(is_active_send(request), 1) && gather_one(request->aux, (uint32_t)partition))
        return 0;
    return ready_one(partition, request);
}

/* A partition into the next place, unless all are full; PART_NONE if it is ready already. */
enum said { SAID_NO_ROOM, SAID_TWICE, SAID };
static enum said part_send_say(struct part_send *s, uint32_t k)
{
    uint64_t bit = 1ull << k % 64;
    uint32_t at = atomic_load_explicit(&s->said_end, memory_order_relaxed);
    bool twice;
    do
        if (at - atomic_load_explicit(&s->said_begin, memory_order_acquire) >= PART_SAID)
            return SAID_NO_ROOM;
    while (!atomic_compare_exchange_weak_explicit(&s->said_end, &at, at + 1, memory_order_relaxed,
                                                  memory_order_relaxed));
    twice = (__atomic_fetch_or(&s->claimed[k / 64], bit, __ATOMIC_RELAXED) |
             __atomic_load_n(&s->ready[k / 64], __ATOMIC_RELAXED)) &
            bit;
    atomic_store_explicit(&s->said[at % PART_SAID], twice ? PART_NONE : (int64_t)k + 1, memory_order_release);
    return twice ? SAID_TWICE : SAID;
}

static void push_said(struct part_send *s)
{
    if (s->p.active)
        push(s);
    MPID_Thread_leave();
}

/* With the lock, if nobody has it; and again, for who has found it taken meanwhile. */
static void try_said(struct part_send *s)
{
    do {
        if (!MPID_Thread_try_enter())
            return;
        push_said(s);
        atomic_thread_fence(memory_order_seq_cst); /* between leaving and looking */
    } while (is_said(s));
}

/* Is it the last one?  Nobody waits for the lock for any other. */
static bool claim_last(struct part_send *s)
{
    bool last = atomic_fetch_add_explicit(&s->nclaimed, 1, memory_order_acq_rel) + 1 == s->p.n;
    atomic_thread_fence(memory_order_seq_cst); /* between saying it and looking at the lock */
    return last;
}

static inline bool is_open(const struct part_send *s, int partition)
{
    return atomic_load_explicit(&s->open, memory_order_relaxed) && (uint32_t)partition < s->p.n;
}

static void push_locked(struct part_send *s)
{
    MPID_Thread_enter();
    push_said(s);
}

bool MPIR_Pready_beside(int partition, MPIR_Request *request)
{
    struct part_send *s = request->aux;
    enum said said;
    if (KU_BIAS_IN_FORCE || request->handle_type != MPIR_PART ||
        MPIR_Request_ops_of(request) != &MPIR_Part_send_ops || !is_open(s, partition))
        return false;
    while ((said = part_send_say(s, (uint32_t)partition)) == SAID_NO_ROOM)
        push_locked(s);
    if (said == SAID)
        (claim_last(s) ? push_locked : try_said)(s);
    atomic_fetch_add_explicit(&s->said_gone, 1, memory_order_release);
    return said == SAID;
}

/* What ready_whole does not see to. */
static __attribute__((noinline)) int ready_range(int partition_low, int partition_high, MPIR_Request *request)
{
    struct part_send *s;
    int err = find_send(request, &s);
    if (!err)
        take_in(s);
    if (!err)
        err = check_number(s, partition_low, "partition_low");
    if (!err)
        err = check_number(s, partition_high, "partition_high");
    if (err)
        return err;
    if (partition_low > partition_high)
        return MPIR_Err(MPI_ERR_ARG, "partition_low", "is %d; expected at most partition_high, which is %d",
                        partition_low, partition_high);
    uint32_t low = (uint32_t)partition_low, high = (uint32_t)partition_high, ready = find_ready(s, low, high);
    if (ready <= high)
        return MPIR_Err(
            MPI_ERR_ARG, "partition_low",
            "to partition_high is %u to %u, of which %u is ready already; expected each partition "
            "once after a start",
            (unsigned)low, (unsigned)high, (unsigned)ready);
    count_claimed(s, high - low + 1);
    part_send_mark(s, low, high);
    push(s);
    return 0;
}

/* The short way of all of a round at once, where nothing of earlier ones is under way: it goes without a note of
 * each partition. */
static inline bool ready_whole(struct part_send *s)
{
    struct part *p = &s->p;
    if (s->nready > 0 || is_said(s) || s->acked != s->pieces || s->flight || p->peer == MPI_PROC_NULL ||
        p->err || !part_done(&p->init) || p->init.errval || !MPIR_Part_enter())
        return false;
    if (p->copies)
        MPIR_Part_copy(p, MPIR_COPY_IN, 0, p->n - 1);
    s->nready = p->n;
    count_claimed(s, p->n);
    p->request->moved = 0;
    send_whole(s);
    if (part_done(&p->whole))
        end_round(s);
    else
        MPIR_Part_list(p);
    MPIR_Part_leave();
    return true;
}

int MPIR_Pready_range(int partition_low, int partition_high, MPIR_Request *request)
{
    if (__builtin_expect(is_active_send(request), 1)) {
        struct part_send *s = request->aux;
        if (partition_low == 0 && partition_high >= 0 && (uint32_t)partition_high + 1 == s->p.n &&
            ready_whole(s))
            return 0;
    }
    return ready_range(partition_low, partition_high, request);
}

/* Take back what has been marked and not sent. */
static void unmark(struct part_send *s, const int *partitions, int n)
{
    for (int i = 0; i < n; i++) {
        uint32_t k = (uint32_t)partitions[i];
        bits_fill(s->ready, k, k, false);
        bits_fill(s->pending, k, k, false);
    }
    s->nready -= (uint32_t)n;
    s->npending -= (uint32_t)n;
}

int MPIR_Pready_list(int length, const int *array_of_partitions, MPIR_Request *request)
{
    struct part_send *s;
    char arg[48];
    int err = find_send(request, &s);
    if (!err)
        take_in(s);
    for (int i = 0; i < length && !err; i++) {
        uint32_t k = (uint32_t)array_of_partitions[i];
        snprintf(arg, sizeof arg, "array_of_partitions[%d]", i);
        err = check_number(s, array_of_partitions[i], arg);
        if (!err && find_ready(s, k, k) == k)
            err = twice(k, arg);
        if (err)
            unmark(s, array_of_partitions, i);
        else
            part_send_mark(s, k, k);
    }
    if (!err && length > 0) {
        count_claimed(s, (uint32_t)length);
        push(s);
    }
    return err;
}

/* ---- Making one ---- */

void MPIR_Part_send_init(struct part *p)
{
    struct part_send *s = (struct part_send *)p;
    s->ready = s->bits;
    s->pending = s->bits + bits_words(p->n);
    s->claimed = s->bits + 2 * bits_words(p->n);
    s->gather = p->bytes > 0 ? (uint32_t)(PART_INLINE / (p->bytes / p->n)) : 0;
}

void MPIR_Part_send_announce(struct part *p)
{
    static uint32_t channels;
    p->channel = channels++ % PART_CHANNELS;
    p->first = part_init_le((struct part_init){ p->channel, p->n, p->bytes });
    MPIR_P2p_isend(&p->first, sizeof p->first, NULL, p->peer, p->tag, p->comm, MPID_CONTEXT_PART, &p->init);
}
