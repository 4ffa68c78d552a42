/* SPDX-License-Identifier: BSD-3-Clause */
/* Long messages that are copied once, straight from the sender's memory to the receiver's.
 *
 *   sender      RTS with the address of the message --> WAIT --(CTS of 0 bytes: MPID_Rndv_cts)--> gone
 *                                                       WAIT --(SHARE)--> GIVE --(CTS of 0 bytes)--> gone
 *   receiver    PULL --(all copied)--> CTS of 0 bytes, gone
 *               SHARE --(all copied by the two)--> CTS of 0 bytes, gone
 *               PULL, SHARE --(the device cannot)--> CTS, as if there had been no address (rndv.c)
 *
 * One copy by one core, or by both, instead of two by two (packets).  Which is fastest depends on where the cores
 * lie and on the size, and both change while a job runs, as a kernel or a host moves its processes: so it is
 * measured, for each peer and class of sizes.
 *
 * Invariants
 *   1. The sender waits only for CTS, so it may be anywhere; a message that cannot be copied so is sent in packets.
 *   2. What is copied so stands in MPID_core.pulls, in order; MPID_Progress goes on with the first that can, a
 *      bounded step each time.
 *   3. SHARE: the receiver takes pieces from the front, the sender from the back, when it is in MPI; both by changing
 *      a word of the receiver's (claim).  A piece that was taken is copied in the same step, so nobody waits for
 *      one who computes:
 *      who never comes takes nothing, and what he has copied he counts in the word.  A sender that took any sends
 *      SHARED when there are no more, to wake the receiver, or when it could not copy one.  Each use of the word
 *      has a number: a SHARE that is read too late finds nothing to take.  Modelled in tests/model/share.pml.
 *   4. A way is kept while messages are under way, as two ways at once would tell nothing of either.  Then the
 *      cheapest one is taken, or another is looked at: at least four messages and two samples, the first of which
 *      does not count.  A sample is a message, or those that were under way together, several of which may end at
 *      once: their time is that of all.  A look has a price, what it took beyond what the best way would have; the
 *      next look at the same way comes after PATIENCE times that, and as many times more as it was slower, or, when
 *      the best way has become slower than it was, after HASTE times.  So looks cost at most 1% a way, less of one
 *      that is far behind, and a change of place is noticed.  The next look comes within LOOK_MOST_NS at most, so one
 *      whose price is more than 10 ms costs more than 1%. */
#include "core.h"
#include "util/clock.h"

enum {
    PULL_STEP = 512 << 10,
    SHARE_MIN = 192 << 10,
    CHUNK_LEAST = 64 << 10,
    CHUNK_SHARE = 8 /* pieces of a message, if they are neither too small nor too large */,
    LOOK_FOR = 4 /* messages, and at least LOOK_SAMPLES */,
    LOOK_SAMPLES = 2,
    SAMPLE_MOST = 64 /* messages */,
    LOOK_AFTER = 8 /* messages of the best way, and as many samples */,
    LONG_ENOUGH = 256 /* messages: then the way may be changed even if some are under way */,
    SLOW_ONES = 3,
    PATIENCE = 100,
    HASTE = 20
};
static const uint64_t LOOK_LEAST_NS = 1000000, LOOK_MOST_NS = 1000000000;

/* ---- Which way ---- */

static struct ways *ways_of(const struct rndv *v)
{
    return &v->peer->ways[v->want < SHARE_MIN ? 0 : v->want < 4 * SHARE_MIN ? 1 : 2];
}

static bool possible(const struct rndv *v, enum way way)
{
    if (way == WAY_PUT)
        return v->remote != NULL && !v->peer->no_put;
    return way != WAY_SHARE || (v->remote == NULL && v->want >= SHARE_MIN && !v->peer->no_share);
}

static void change(struct ways *w, enum way to)
{
    w->now = (uint8_t)to;
    w->n = w->of_sample = w->samples = 0;
    w->price = w->ns = w->kb = 0;
}

/* Over a network where getting is slow, so is putting. */
static bool worth_a_look(const struct ways *w, enum way way)
{
    return way != WAY_PUT || w->best == WAY_PULL;
}

/* Nothing is under way: shall another way be looked at? */
static void look(const struct rndv *v, struct ways *w)
{
    uint64_t now = ku_clock_ns();
    for (enum way way = WAY_PACKETS; way < WAYS; way++)
        if (way != w->best && worth_a_look(w, way) && possible(v, way) && now >= w->look[way]) {
            change(w, way);
            return;
        }
}

/* The way of this message. */
static enum way choose(struct rndv *v)
{
    struct ways *w = ways_of(v);
    if (v->remote != NULL && v->peer->cd->caps.unaided && w->n == 0 && w->cost[WAY_PACKETS] == 0 &&
        w->cost[WAY_PULL] == 0)
        w->now = w->best = WAY_PULL; /* nothing is known yet, but that it costs no processor's copies */
    if (MPID_core.long_way != 0)
        return possible(v, (enum way)(MPID_core.long_way - 1)) ? (enum way)(MPID_core.long_way - 1)
                                                               : WAY_PULL;
    if (w->now == w->best && w->n >= LOOK_AFTER && w->samples >= LOOK_SAMPLES &&
        (w->active == 0 || w->n >= LONG_ENOUGH))
        look(v, w);
    v->measured = true;
    w->active++;
    return (enum way)w->now;
}

void MPID_Pull_forget(struct rndv *v)
{
    v->measured = false;
    ways_of(v)->active--;
}

/* The last message of a look has come. */
static void looked(struct ways *w, uint64_t now)
{
    double price = w->price > 0 ? w->price : 0, behind = w->cost[w->now] / w->cost[w->best];
    uint64_t wait = (uint64_t)(PATIENCE * price * (behind > 1 ? behind : 1)),
             soon = (uint64_t)(HASTE * price);
    wait = wait < LOOK_LEAST_NS ? LOOK_LEAST_NS : wait > LOOK_MOST_NS ? LOOK_MOST_NS : wait;
    w->look[w->now] = now + wait;
    w->soon[w->now] = now + (soon < wait ? soon : wait);
    for (enum way way = WAY_PACKETS; way < WAYS; way++)
        if (w->cost[way] != 0 && w->cost[way] < 0.95f * w->cost[w->best])
            w->best = (uint8_t)way;
    w->then = w->cost[w->best];
    w->slow = 0;
    change(w, (enum way)w->best);
}

/* A sample of the best way took x. */
static void watch(struct ways *w, float x)
{
    w->slow = w->then != 0 && x > 2 * w->then ? w->slow + 1 : 0;
    w->then = w->then == 0 ? x : (15 * w->then + x) / 16;
    if (w->slow < SLOW_ONES)
        return;
    for (enum way way = WAY_PACKETS; way < WAYS; way++)
        w->look[way] = w->look[way] < w->soon[way] ? w->look[way] : w->soon[way];
    w->then = x;
    w->slow = 0;
}

static void sample(struct ways *w)
{
    float x = w->ns / w->kb + 1, *cost = &w->cost[w->now];
    if (w->now != w->best)
        w->price += (x - w->cost[w->best]) * w->kb;
    w->ns = w->kb = 0;
    w->of_sample = 0;
    if (w->samples++ == 0)
        return;
    if (w->samples > 2 && x > *cost * 4) /* the sender was away, perhaps */
        x = *cost * 4;
    *cost = w->samples == 2 ? x : (3 * *cost + x) / 4;
    if (w->now == w->best)
        watch(w, x);
}

/* The time counts from the end of the message before, since of several at once each waits for the others; and when
 * the receiver was ready, not from the first packet: a sender that computes sends none, and can be read all the
 * same. */
void MPID_Pull_ended(struct rndv *v)
{
    struct ways *w = ways_of(v);
    uint64_t now = ku_clock_ns(), from = v->began > MPID_core.long_end ? v->began : MPID_core.long_end;
    bool last = w->active == 1;
    MPID_core.long_end = now;
    w->ns += (float)(now - from);
    w->kb += (float)v->want / 1024;
    w->n += w->n < UINT16_MAX;
    if (last || ++w->of_sample == SAMPLE_MOST)
        sample(w);
    if (w->now != w->best && w->samples >= LOOK_SAMPLES &&
        ((last && w->n >= LOOK_FOR) || w->n >= LONG_ENOUGH))
        looked(w, now);
}

/* ---- Pieces of a message that both copy ---- */

enum { FIELD_BITS = 16, FIELD_MOST = (1 << FIELD_BITS) - 1, WORD_BITS = 8 };
/* Fields of the word. */
enum {
    AT_USE = 48,
    AT_FIRST = 32 /* piece that is free */,
    AT_END = 16 /* of those that are free */,
    AT_DONE = 0 /* pieces that the sender has copied */
};

static uint32_t field(uint64_t word, int at)
{
    return word >> at & FIELD_MOST;
}

static uint32_t use_of(const struct rndv *v)
{
    return v->claim >> WORD_BITS & FIELD_MOST;
}

static _Atomic uint64_t *word_of(const struct rndv *v)
{
    return v->peer->cd->near.word(v->peer->dp, v->state == RNDV_GIVE, v->claim & ((1 << WORD_BITS) - 1));
}

/* A piece to copy now; -1: there is none.  `all`: all of the pieces, which nobody copies then. */
static int32_t claim(const struct rndv *v, bool all)
{
    _Atomic uint64_t *word = word_of(v);
    uint64_t is = atomic_load_explicit(word, memory_order_acquire), next;
    uint32_t first, end;
    do {
        first = field(is, AT_FIRST);
        end = field(is, AT_END);
        if (field(is, AT_USE) != use_of(v) || first >= end)
            return -1;
        next = v->state == RNDV_GIVE ? is - (1ull << AT_END)
                                     : is + ((uint64_t)(all ? end - first : 1) << AT_FIRST);
    } while (
        !atomic_compare_exchange_weak_explicit(word, &is, next, memory_order_acq_rel, memory_order_acquire));
    return (int32_t)(v->state == RNDV_GIVE ? end - 1 : first);
}

static int64_t bytes_at(const struct rndv *v, int64_t at)
{
    return v->want - at < v->chunk ? v->want - at : v->chunk;
}

static bool copy_piece(const struct rndv *v, int32_t k)
{
    const struct dev_near *near = &v->peer->cd->near;
    int64_t at = (int64_t)k * v->chunk;
    char *here = (char *)v->req->buf + at;
    uint64_t there = v->address + (uint64_t)at;
    size_t n = (size_t)bytes_at(v, at);
    return (v->state == RNDV_GIVE ? near->copy_to_peer(v->peer->dp, there, here, n)
                                  : near->copy_from_peer(v->peer->dp, here, there, n)) == DEV_OK;
}

static void append(struct rndv *v)
{
    struct rndv **at = &MPID_core.pulls;
    v->next = NULL;
    while (*at != NULL)
        at = &(*at)->next;
    *at = v;
}

static void leave_word(const struct rndv *v)
{
    MPID_core.words &= ~(1u << (v->claim & ((1 << WORD_BITS) - 1)));
}

/* Take a word, and tell the sender; false: not now. */
static bool begin_share(struct rndv *v)
{
    static uint32_t uses;
    struct peer *p = v->peer;
    int64_t chunk = (v->want / CHUNK_SHARE + 4095) & ~(int64_t)4095;
    uint32_t i = (uint32_t)__builtin_ctz(~MPID_core.words), pieces;
    struct pkt k;
    chunk = chunk < CHUNK_LEAST ? CHUNK_LEAST : chunk > PULL_STEP ? PULL_STEP : chunk;
    if (i >= DEV_WORDS || p->ctl_head != NULL || v->want / chunk >= FIELD_MOST)
        return false;
    pieces = (uint32_t)((v->want + chunk - 1) / chunk);
    v->state = RNDV_SHARE;
    v->chunk = (uint32_t)chunk;
    v->claim = (++uses << WORD_BITS) | i;
    if (word_of(v) == NULL)
        return false;
    atomic_store_explicit(word_of(v), (uint64_t)use_of(v) << AT_USE | (uint64_t)pieces << AT_END,
                          memory_order_release);
    pkt_share_prepare(&k,
                      &(struct pkt_share){ .sender = v->other,
                                           .receiver = rndv_op(v),
                                           .want = (uint64_t)v->want,
                                           .address = p->cd->near.offer(p->dp, v->req->buf, (size_t)v->want),
                                           .chunk = v->chunk,
                                           .claim = v->claim });
    if (MPID_Peer_control(p, &k) != DEV_OK)
        return false;
    MPID_core.words |= 1u << i;
    return true;
}

void MPID_Pull_begin(struct rndv *v, uint64_t address)
{
    struct peer *p = v->peer;
    enum way way = WAY_PACKETS;
    if (v->want >= LONG_MIN_BYTES && (p->cd->caps.has_get || v->remote != NULL) && !p->no_pull) {
        way = choose(v);
        v->began = ku_clock_ns();
    }
    v->address = address;
    if (way == WAY_PACKETS) {
        MPID_Rndv_ask(v);
        return;
    }
    if (v->remote != NULL) {
        if (way != WAY_PUT || !MPID_Fetch_take(v))
            MPID_Fetch_begin(v);
        return;
    }
    if (way == WAY_PULL || p->no_share || !begin_share(v))
        v->state = RNDV_PULL;
    append(v);
}

/* ---- The copying ---- */

enum step { STEP_ON, STEP_WAITS, STEP_OVER };

static enum step pull(struct rndv *v)
{
    int64_t left = v->want - v->done, n = left < PULL_STEP ? left : PULL_STEP;
    v->refused = v->peer->cd->near.copy_from_peer(v->peer->dp, (char *)v->req->buf + v->done,
                                                  v->address + (uint64_t)v->done, (size_t)n) != DEV_OK;
    v->done += n;
    return v->refused || v->done == v->want ? STEP_OVER : STEP_ON;
}

static enum step share(struct rndv *v)
{
    int32_t k = claim(v, false);
    uint64_t is;
    int64_t theirs;
    if (k >= 0 && copy_piece(v, k))
        return STEP_ON;
    if (k >= 0) {
        v->refused = true;
        claim(v, true);
    }
    is = atomic_load_explicit(word_of(v), memory_order_acquire);
    theirs = (v->want + v->chunk - 1) / v->chunk - field(is, AT_END);
    if (theirs != field(is, AT_DONE) && !v->told)
        return STEP_WAITS;
    if (v->lacks && !v->refused)
        v->refused = !copy_piece(v, (int32_t)field(is, AT_END));
    return STEP_OVER;
}

/* The sender that had the last piece says so at once: the receiver may sleep. */
static enum step give(struct rndv *v)
{
    int32_t k = claim(v, false);
    uint64_t is;
    v->had |= k >= 0;
    v->lacks = k >= 0 && !copy_piece(v, k);
    if (k < 0 || v->lacks)
        return STEP_OVER;
    is = atomic_fetch_add_explicit(word_of(v), 1ull << AT_DONE, memory_order_acq_rel);
    return field(is, AT_FIRST) < field(is, AT_END) ? STEP_ON : STEP_OVER;
}

static enum step step(struct rndv *v)
{
    return v->state == RNDV_PULL ? pull(v) : v->state == RNDV_SHARE ? share(v) : give(v);
}

/* v has left the list. */
static void over(struct rndv *v)
{
    struct MPIR_HANDLE *r = v->req;
    int64_t total = v->total;
    if (v->state == RNDV_GIVE) {
        if (v->had)
            MPID_Rndv_shared(v);
        return;
    }
    if (v->state == RNDV_SHARE)
        leave_word(v);
    v->peer->no_share |= v->lacks;
    if (v->refused) {
        v->peer->no_pull = true;
        v->done = 0;
        v->takes = false; /* it has come and gone */
        if (v->measured)
            MPID_Pull_forget(v);
        MPID_Rndv_ask(v);
        return;
    }
    if (v->measured)
        MPID_Pull_ended(v);
    MPID_Rndv_answer(v->peer, v->other, 0);
    MPID_Rndv_free(v);
    recv_finish(r, r->s.MPI_SOURCE, r->s.MPI_TAG, total, MPID_Req_capacity(r));
}

int MPID_Pull_drive(void)
{
    for (struct rndv **at = &MPID_core.pulls, *v; (v = *at) != NULL; at = &v->next) {
        enum step s = step(v);
        if (s == STEP_WAITS)
            continue;
        if (s == STEP_OVER) {
            *at = v->next;
            over(v);
        }
        return 1;
    }
    return 0;
}

/* ---- What the other side says ---- */

void MPID_Pull_share(const struct pkt_share *share)
{
    struct rndv *v = MPID_Rndv_find(share->sender);
    if (!MPID_Rndv_claimed(v))
        return;
    if (v->req->datatype != NULL ||
        v->peer->cd->near.word(v->peer->dp, true, share->claim & ((1 << WORD_BITS) - 1)) == NULL)
        MPID_Broken("rank %d asks this process to copy to its memory a message that it cannot",
                    (int)v->peer->grank);
    if (share->want > (uint64_t)v->total)
        MPID_Broken("rank %d asks for %llu bytes of a message of %lld", (int)v->peer->grank,
                    (unsigned long long)share->want, (long long)v->total);
    v->other = share->receiver;
    v->want = (int64_t)share->want;
    v->address = share->address;
    v->chunk = share->chunk;
    v->claim = share->claim;
    append(v);
}

void MPID_Pull_shared(const struct dev_head *h)
{
    struct rndv *v = MPID_Rndv_find(pkt_shared_op(h));
    if (v != NULL && v->state == RNDV_TAKE)
        MPID_Fetch_taken(v, h->source != 0);
    if (v == NULL || v->state != RNDV_SHARE)
        return;
    v->told = true;
    v->lacks = h->source != 0;
}

/* Take it off the list, if it is there. */
void MPID_Pull_stop(struct rndv *v)
{
    struct rndv **at = &MPID_core.pulls;
    while (*at != NULL && *at != v)
        at = &(*at)->next;
    if (*at != NULL)
        *at = v->next;
}

void MPID_Pull_peer_lost(const struct peer *p)
{
    struct rndv **at = &MPID_core.pulls;
    while (*at != NULL) {
        struct rndv *v = *at;
        if (v->peer != p) {
            at = &v->next;
            continue;
        }
        *at = v->next;
        if (v->state == RNDV_SHARE)
            leave_word(v);
    }
}
