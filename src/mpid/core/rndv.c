/* SPDX-License-Identifier: BSD-3-Clause */
/* Rendezvous: messages of more than one packet, and all packets that answer others.
 *
 *   sender      RTS --(RTS sent: MPID_Rndv_rts)--> WAIT --(CTS: MPID_Rndv_cts)--> SEND --(all handed over)--> gone
 *                                                  WAIT --(CTS of 0 bytes, or CANCEL_ACK)--> gone
 *   receiver    CTS --(CTS sent)--> RECV --(last DATA: MPID_Rndv_data)--> gone
 *   START: the first bytes may go right behind RTS, so that the sender fills a room while CTS is on its way.  A
 *   receiver that has been
 *               waiting takes them and says so in CTS; any other lets them pass, and DATA has them again.
 *               PULL, SHARE, and GIVE of the sender: pull.c; FETCH, TAKE, and RTS_KEY and PUT of the sender: fetch.c
 *
 * Invariants
 *   1. An operation is named on the wire by index and generation; a packet for one that is gone is dropped.
 *   2. What cannot be sent at once waits in the peer's ctl or stream list, and the peer is in MPID_core.busy.
 *   3. An operation whose packets a device still owns (inflight) is not freed and its request not completed.
 *   4. Payload of one operation is sent in order; of several to one peer, one operation after the other.  FETCH
 *      and PUT take their turn among them: what they begin goes to the device as they do. */
#include "core.h"
#include <stdlib.h>

enum { DRIVE_MAX = 8 /* packets to one peer in a turn: what it answers is seen between them */ };
/* part_bytes, send_packed */
enum {
    PART_UNIT = 4 << 10,
    PART_FIRST = 8 << 10,
    PART_SMALL = 16 << 10,
    PART_FEW = 128 << 10,
    PART_LESS = 32 << 10,
    REFUSALS = 64,
    START_PAUSE = 15 /* messages */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

struct rndv *MPID_Rndv_find(struct pkt_op op)
{
    struct rndv *v = ku_slab_at(&MPID_core.rndvs, op.index);
    return v != NULL && v->obj.gen == op.gen && (op.gen & 1) ? v : NULL;
}

struct rndv *MPID_Rndv_make(struct peer *p, struct MPIR_HANDLE *r, enum rndv_state state)
{
    struct rndv *v = ku_slab_alloc(&MPID_core.rndvs);
    if (v != NULL) {
        v->req = r;
        v->peer = p;
        v->state = (uint8_t)state;
    }
    return v;
}

static void tell(enum core_event event, const struct rndv *v)
{
    if (v->req != NULL)
        ku_event_tell(&MPID_events[event],
                      (const int64_t[]){ v->peer->grank, v->state < RNDV_CTS, v->total });
}

void MPID_Rndv_free(struct rndv *v)
{
    tell(EVENT_RNDV_ENDED, v);
    if (v->measured)
        MPID_Pull_forget(v);
    if (v->coming)
        MPID_core.coming -= v->want;
    MPID_Fetch_close(v);
    free(v->bounce);
    ku_slab_free(&MPID_core.rndvs, v);
}

static void append(struct rndv **head, struct rndv **tail, struct rndv *v)
{
    v->next = NULL;
    if (*tail != NULL)
        (*tail)->next = v;
    else
        *head = v;
    *tail = v;
}

static void pop(struct rndv **head, struct rndv **tail)
{
    *head = (*head)->next;
    if (*head == NULL)
        *tail = NULL;
}

static void ctl_push(struct rndv *v, enum pkt_kind kind)
{
    v->ctl = (uint8_t)kind;
    append(&v->peer->ctl_head, &v->peer->ctl_tail, v);
    MPID_Peer_busy(v->peer);
}

static void ctl_remove(struct rndv *v)
{
    struct peer *p = v->peer;
    struct rndv *list = p->ctl_head;
    p->ctl_head = p->ctl_tail = NULL;
    while (list != NULL) {
        struct rndv *next = list->next;
        if (list != v)
            append(&p->ctl_head, &p->ctl_tail, list);
        list = next;
    }
    v->ctl = 0;
}

/* ---- The sender ---- */

struct rndv *MPID_Rndv_send(struct peer *p, struct MPIR_HANDLE *r)
{
    struct rndv *v = MPID_Rndv_make(p, r, RNDV_RTS);
    if (v == NULL)
        goto no_memory;
    v->total = req_bytes(r);
    if (r->datatype != NULL && !p->cd->has_reserve && (v->bounce = malloc(p->cd->caps.max_send)) == NULL) {
        v->req = NULL;
        MPID_Rndv_free(v);
        goto no_memory;
    }
    r->aux = v;
    MPID_core.counts.rndv++;
    MPID_core.sent_bytes += (uint64_t)v->total;
    tell(EVENT_RNDV_BEGUN, v);
    return v;
no_memory:
    ku_err_set(MPI_ERR_NO_MEM, NULL, "no memory to send a message of %lld bytes to rank %d",
               (long long)req_bytes(r), (int)p->grank);
    return NULL;
}

/* Not while other messages are under way, which keep both sides busy, and not for some time after a receiver was
 * not ready. */
static bool may_start(struct peer *p, const struct rndv *v)
{
    const struct rndv *last = MPID_Rndv_find(p->starting);
    if (!p->cd->has_reserve || p->cd->caps.stream || p->xoff || v->total <= PKT_INLINE_MAX ||
        p->stream_head != NULL || (last != NULL && last->state == RNDV_WAIT))
        return false;
    if (p->start_pause == 0)
        return true;
    p->start_pause--;
    return false;
}

/* RTS has gone. */
static void send_start(struct peer *p, struct rndv *v)
{
    struct dev_head h = pkt_start_prepare(rndv_op(v));
    size_t n = (size_t)least(v->total, PART_SMALL);
    void *room = may_start(p, v) ? p->cd->ops.reserve(p->dp, n) : NULL;
    dev_status s;
    if (room == NULL)
        return;
    req_read(v->req, 0, room, (int64_t)n);
    s = p->cd->ops.commit(p->dp, &h, room, n);
    if (s == DEV_AGAIN)
        p->cd->ops.drop(p->dp, room);
    if (s != DEV_OK)
        return;
    v->started = (uint32_t)n;
    p->starting = rndv_op(v);
    tell_packet('>', p->grank, &h, n);
}

/* The receiver has answered. */
static void start_over(struct rndv *v, bool taken)
{
    if (v->started == 0 || taken)
        return;
    v->started = 0;
    v->peer->start_pause = START_PAUSE;
}

static dev_status send_rts(struct peer *p, struct MPIR_HANDLE *r, const struct rndv *v)
{
    struct pkt k;
    pkt_rts_prepare(&k, r->context_id, r->tag, r->rank, rndv_op(v), (uint64_t)v->total);
    if (v->total <= PKT_INLINE_MAX)
        req_read(r, 0, pkt_rts_payload(&k), v->total);
    else if (r->datatype == NULL)
        pkt_rts_address(&k, p->cd->near.offer(p->dp, r->buf, (size_t)v->total));
    return MPID_Peer_control(p, &k);
}

dev_status MPID_Rndv_rts(struct peer *p, struct MPIR_HANDLE *r)
{
    struct rndv *v = r->aux;
    bool keyed = MPID_Fetch_offer(v);
    dev_status s = keyed ? MPID_Fetch_rts(v) : send_rts(p, r, v);
    if (s == DEV_OK) {
        v->state = RNDV_WAIT;
        req_state(r, REQ_RNDV);
        if (!keyed)
            send_start(p, v);
    }
    return s;
}

static void send_done(struct rndv *v)
{
    struct MPIR_HANDLE *r = v->req;
    MPID_Rndv_free(v);
    if (r != NULL)
        req_complete(r);
}

void MPID_Rndv_cts(const struct pkt_cts *cts)
{
    struct rndv *v = MPID_Rndv_find(cts->sender);
    if (v == NULL || (v->state != RNDV_WAIT && v->state != RNDV_GIVE))
        return;
    if (v->state == RNDV_GIVE)
        MPID_Pull_stop(v);
    if (cts->want > (uint64_t)v->total)
        MPID_Broken("rank %d asks for %llu bytes of a message of %lld", (int)v->peer->grank,
                    (unsigned long long)cts->want, (long long)v->total);
    if (v->ctl != 0)
        ctl_remove(v);
    v->cancelling = false;
    MPID_Fetch_answered(v, cts->want == 0);
    start_over(v, cts->start != 0);
    if (cts->error != 0) {
        struct MPIR_HANDLE *r = v->req;
        ku_err_set((int)cts->error, NULL, "rank %d could not take the message", (int)v->peer->grank);
        MPID_Rndv_free(v);
        MPID_Req_fail(r, (int)cts->error);
        return;
    }
    v->done = v->started;
    if (cts->want <= (uint64_t)v->done) {
        send_done(v);
        return;
    }
    v->state = RNDV_SEND;
    v->other = cts->receiver;
    v->want = (int64_t)cts->want;
    MPID_Rndv_stream(v);
}

bool MPID_Rndv_claimed(struct rndv *v)
{
    if (v == NULL || v->state != RNDV_WAIT)
        return false;
    if (v->ctl != 0)
        ctl_remove(v);
    v->cancelling = false;
    start_over(v, false);
    v->state = RNDV_GIVE;
    return true;
}

void MPID_Rndv_shared(struct rndv *v)
{
    ctl_push(v, PKT_SHARED);
    MPID_Peer_drive(v->peer);
}

/* A packet of *bytes, or, after some refusals, of fewer: others may hold for long what is lacking. */
static dev_status send_packed(struct peer *p, struct rndv *v, const struct dev_head *h, int64_t *bytes)
{
    int64_t n = *bytes;
    struct dev_iov iov = { .base = v->bounce, .len = (size_t)n };
    dev_status s;
    if (!p->cd->has_reserve) {
        if (v->bounce_busy) /* or it was made when the peer's device was not known yet, and there is no memory */
            return DEV_AGAIN;
        if (v->bounce == NULL && (v->bounce = malloc(p->cd->caps.max_send)) == NULL)
            return DEV_AGAIN;
        iov.base = v->bounce;
        req_read(v->req, v->done, v->bounce, n);
        s = p->cd->ops.send(p->dp, h, &iov, 1, rndv_cookie(v));
        v->bounce_busy = s == DEV_QUEUED;
        return s;
    }
    void *room = p->cd->ops.reserve(p->dp, (size_t)n);
    if (room == NULL && n > PART_LESS && ++v->refusals == REFUSALS) {
        *bytes = n = PART_LESS;
        room = p->cd->ops.reserve(p->dp, (size_t)n);
    }
    if (room == NULL) {
        v->refusals %= REFUSALS;
        return DEV_AGAIN;
    }
    v->refusals = 0;
    req_read(v->req, v->done, room, n);
    s = p->cd->ops.commit(p->dp, h, room, (size_t)n);
    if (s == DEV_AGAIN)
        p->cd->ops.drop(p->dp, room);
    return s;
}

/* Bytes of the next DATA packet.  The first ones are small, so that the receiver begins early, and the last ones,
 * so that he has not much to do when the sender has done all: one side stands still then.  Not where there is a
 * message before, or behind: small packets leave cells half empty, and less is under way then. */
static int64_t part_bytes(const struct rndv *v, int64_t most)
{
    int64_t left = v->want - v->done, n = most;
    if (v->peer->cd->caps.stream)
        return least(most, left);
    if (!v->follows && v->done < PART_FEW)
        n = v->done == 0 ? PART_FIRST : PART_SMALL;
    if (v->next == NULL && n > left / 2)
        n = left / 2 > PART_SMALL ? left / 2 & ~(int64_t)(PART_UNIT - 1) : PART_SMALL;
    return least(least(n, most), left);
}

/* From where it lies?  Into the device's room it is copied where the two sides copy in turns, and a second copy is
 * none. */
static bool lies_ready(const struct peer *p, const struct rndv *v)
{
    return v->req->datatype == NULL && (!p->cd->has_reserve || p->cd->caps.stream);
}

/* One DATA packet. */
static dev_status send_data(struct peer *p, struct rndv *v)
{
    bool ready = lies_ready(p, v);
    int64_t n = part_bytes(v, ready ? p->cd->caps.max_lying : p->cd->caps.max_send);
    struct dev_head h = pkt_data_prepare(v->other, (uint64_t)v->done);
    struct dev_iov iov = { .base = (const char *)v->req->buf + v->done };
    dev_status s;
    iov.len = (size_t)n;
    s = ready ? p->cd->ops.send(p->dp, &h, &iov, 1, rndv_cookie(v)) : send_packed(p, v, &h, &n);
    if (s == DEV_OK || s == DEV_QUEUED) {
        v->done += n;
        v->inflight += s == DEV_QUEUED;
        tell_packet('>', p->grank, &h, (size_t)n);
    }
    return s;
}

static dev_status send_part(struct peer *p, struct rndv *v)
{
    return v->state == RNDV_FETCH || v->state == RNDV_PUT ? MPID_Fetch_part(v) : send_data(p, v);
}

/* The device has done all that it was given, or lent. */
static void stream_done(struct rndv *v)
{
    if (v->state == RNDV_FETCH || v->state == RNDV_PUT)
        MPID_Fetch_over(v);
    else if (v->state == RNDV_RECV)
        MPID_Rndv_received(v);
    else
        send_done(v);
}

static int drive_stream(struct peer *p, dev_status *s)
{
    int n = 0;
    while (p->stream_head != NULL && n < DRIVE_MAX) {
        struct rndv *v = p->stream_head;
        *s = send_part(p, v);
        if (*s != DEV_OK && *s != DEV_QUEUED)
            break;
        n++;
        if (v->done == v->want) {
            pop(&p->stream_head, &p->stream_tail);
            if (p->stream_head != NULL)
                p->stream_head->follows = true;
            if (v->inflight == 0)
                stream_done(v);
        }
    }
    return n;
}

void MPID_Rndv_sent(struct rndv *v, dev_status status)
{
    v->inflight--;
    v->bounce_busy = false;
    if (status == DEV_ERROR && (v->state == RNDV_FETCH || v->state == RNDV_PUT))
        v->refused = true;
    else if (status != DEV_OK)
        MPID_Peer_gone(v->peer->grank);
    if (v->inflight != 0)
        return;
    if (v->peer->gone)
        MPID_core.gone_pending = true; /* it can be failed now */
    else if (v->done == v->want)
        stream_done(v);
}

void MPID_Rndv_stream(struct rndv *v)
{
    append(&v->peer->stream_head, &v->peer->stream_tail, v);
    MPID_Peer_busy(v->peer);
    MPID_Peer_drive(v->peer);
}

/* ---- The receiver ---- */

static dev_status send_cts(struct peer *p, struct pkt_op sender, struct pkt_op receiver, int64_t want,
                           int error, bool start)
{
    struct pkt k;
    pkt_cts_prepare(&k, sender, receiver, (uint64_t)want, error, start);
    return MPID_Peer_control(p, &k);
}

/* Answer with nothing to follow: an operation exists only if the answer has to wait. */
void MPID_Rndv_answer(struct peer *p, struct pkt_op sender, int error)
{
    struct rndv *v;
    if (p->ctl_head == NULL && send_cts(p, sender, (struct pkt_op){ 0, 0 }, 0, error, false) != DEV_AGAIN)
        return;
    v = MPID_Rndv_make(p, NULL, RNDV_CTS);
    if (v == NULL)
        MPID_Broken("no memory to answer rank %d, which would wait for ever", (int)p->grank);
    v->other = sender;
    v->error = error;
    ctl_push(v, PKT_CTS);
}

void MPID_Rndv_control(struct peer *p, const struct pkt *k)
{
    struct rndv *v;
    if (p->ctl_head == NULL && MPID_Peer_control(p, k) != DEV_AGAIN)
        return;
    v = MPID_Rndv_make(p, NULL, RNDV_CTS);
    if (v == NULL || (v->bounce = malloc(sizeof *k)) == NULL)
        MPID_Broken("no memory to tell rank %d, which would wait for ever", (int)p->grank);
    memcpy(v->bounce, k, sizeof *k);
    ctl_push(v, PKT_REFUSED);
}

void MPID_Rndv_ask(struct rndv *v)
{
    v->state = RNDV_CTS;
    if (v->peer->ctl_head == NULL &&
        send_cts(v->peer, v->other, rndv_op(v), v->want, 0, v->takes) == DEV_OK) {
        v->state = RNDV_RECV;
        if (v->takes)
            v->peer->taking = rndv_op(v);
    } else {
        v->takes = false;
        ctl_push(v, PKT_CTS);
    }
}

/* Messages that follow each other into the same memory, as benchmarks have it, stay in the caches however many
 * they are: so where they go counts too. Of derived types it is not looked for. */
static void comes(struct rndv *v)
{
    bool known = v->req->datatype == NULL, first = MPID_core.coming == 0;
    uintptr_t low = known ? (uintptr_t)v->req->buf : 0, high = known ? low + (uintptr_t)v->want : UINTPTR_MAX;
    v->coming = true;
    MPID_core.coming += v->want;
    if (first || low < MPID_core.coming_low)
        MPID_core.coming_low = low;
    if (first || high > MPID_core.coming_high)
        MPID_core.coming_high = high;
}

void MPID_Rndv_cts_key(struct rndv *v)
{
    if (v->peer->ctl_head != NULL || MPID_Fetch_cts(v) != DEV_OK)
        ctl_push(v, PKT_CTS_KEY);
}

/* Half of the cache, where the user has told nothing.  MPI_Init does not look for its size: most jobs have no long
 * messages. */
static void look_for_cache(void)
{
    size_t bytes = ku_copy_cache();
    MPID_core.past_cache = bytes != 0 ? (int64_t)(bytes / 2) : INT64_MAX;
}

bool MPID_Steps_past(int64_t bytes)
{
    if (__builtin_expect(MPID_core.past_cache == 0, 0))
        look_for_cache();
    return bytes >= MPID_core.past_cache;
}

static bool exceed_cache(void)
{
    return MPID_Steps_past(MPID_core.coming) &&
           MPID_core.coming_high - MPID_core.coming_low >= (uint64_t)MPID_core.past_cache;
}

static void begin_recv(struct peer *p, struct MPIR_HANDLE *r, const struct rts_in *in, int64_t want,
                       bool takes)
{
    struct rndv *v = MPID_Rndv_make(p, r, RNDV_CTS);
    int64_t total = (int64_t)in->rts.total;
    uint64_t address = in->key_bytes == 0 ? pkt_rts_address_of(in->payload) : 0; /* 0: not known */
    if (v == NULL) {
        ku_err_set(MPI_ERR_NO_MEM, NULL, "no memory to receive a message of %lld bytes", (long long)total);
        MPID_Rndv_answer(p, in->rts.sender, MPI_ERR_NO_MEM);
        MPID_Req_fail(r, MPI_ERR_NO_MEM);
        return;
    }
    v->other = in->rts.sender;
    v->total = total;
    v->want = want;
    v->takes = takes;
    r->aux = v;
    req_state(r, REQ_RNDV);
    comes(v);
    tell(EVENT_RNDV_BEGUN, v);
    if (in->key_bytes > 0)
        MPID_Fetch_open(v, in);
    if ((address != 0 && r->datatype == NULL) || v->remote != NULL)
        MPID_Pull_begin(v, address);
    else
        MPID_Rndv_ask(v);
}

void MPID_Rndv_recv(struct MPIR_HANDLE *r, int32_t peer, int32_t source, int32_t tag, const struct rts_in *in,
                    bool at_once)
{
    int64_t capacity = MPID_Req_capacity(r), total = (int64_t)in->rts.total;
    int64_t want = total < capacity ? total : capacity;
    int err = 0;
    struct peer *p = peer_get(peer, &err);
    r->s.MPI_SOURCE = source;
    r->s.MPI_TAG = tag;
    r->peer = peer;
    if (want > 0 && total > PKT_INLINE_MAX) {
        if (p == NULL || p->gone)
            MPID_Req_fail(r, p == NULL ? err : MPID_Err_gone(peer));
        else
            begin_recv(p, r, in, want, at_once);
        return;
    }
    if (want > 0)
        req_write(r, 0, in->payload, want);
    recv_finish(r, source, tag, total, capacity);
    if (p != NULL && !p->gone)
        MPID_Rndv_answer(p, in->rts.sender, 0);
}

void MPID_Rndv_received(struct rndv *v)
{
    struct MPIR_HANDLE *r = v->req;
    int64_t total = v->total;
    if (v->measured)
        MPID_Pull_ended(v);
    MPID_Rndv_free(v);
    recv_finish(r, r->s.MPI_SOURCE, r->s.MPI_TAG, total, MPID_Req_capacity(r));
}

static void take_part(struct rndv *v, const void *body, int64_t n)
{
    struct MPIR_HANDLE *r = v->req;
    if (exceed_cache() && r->datatype == NULL && n > COPY_LARGE) {
        MPID_core.counts.past_cache += (uint64_t)n;
        ku_copy_own_past((char *)r->buf + v->done, (void *)(uintptr_t)body, (size_t)n);
    } else
        req_take(r, v->done, body, n);
    v->done += n;
    if (v->done == v->want && v->inflight == 0)
        MPID_Rndv_received(v);
}

void MPID_Rndv_data(const struct dev_head *h, const void *body, size_t len)
{
    struct rndv *v = MPID_Rndv_find(pkt_data_op(h));
    uint64_t offset = pkt_data_offset(h);
    if (v == NULL || v->state != RNDV_RECV)
        return;
    if (offset != (uint64_t)v->done || len == 0 || (int64_t)len > v->want - v->done)
        MPID_Broken("a DATA packet of rank %d with bytes %llu+%zu; expected %lld+1 to %lld",
                    (int)v->peer->grank, (unsigned long long)offset, len, (long long)v->done,
                    (long long)(v->want - v->done));
    take_part(v, body, (int64_t)len);
}

void MPID_Rndv_start(int32_t peer, const struct dev_head *h, const void *body, size_t len)
{
    struct peer *p = MPID_core.peers.at[peer];
    struct rndv *v = p != NULL ? MPID_Rndv_find(p->taking) : NULL;
    struct pkt_op sender = pkt_start_op(h);
    if (v == NULL || v->state != RNDV_RECV || !v->takes || v->other.index != sender.index ||
        v->other.gen != sender.gen)
        return;
    v->takes = false;
    take_part(v, body, least((int64_t)len, v->want));
}

/* ---- Cancel ---- */

void MPID_Rndv_cancel(struct MPIR_HANDLE *r)
{
    struct rndv *v = r->aux;
    if (v->state == RNDV_WAIT && !v->cancelling) {
        v->cancelling = true;
        ctl_push(v, PKT_CANCEL);
        MPID_Peer_drive(v->peer);
    }
}

void MPID_Rndv_cancel_in(int32_t peer, const struct dev_head *h, const struct pkt_cancel *cancel)
{
    struct context *c = MPID_Context_find(h->context);
    struct umsg *m = c != NULL ? c->unexp.tail : NULL;
    int err = 0;
    struct peer *p = peer_get(peer, &err);
    if (p != NULL && p->gone)
        return;
    struct rndv *v = p != NULL ? MPID_Rndv_make(p, NULL, RNDV_CTS) : NULL;
    if (v == NULL)
        MPID_Broken("no memory to answer rank %d, which cancels a send", (int)peer);
    while (m != NULL &&
           !(m->kind == UMSG_RTS && m->grank == peer && m->rts.sender.index == cancel->sender.index &&
             m->rts.sender.gen == cancel->sender.gen))
        m = m->prev;
    if (m != NULL) {
        MPID_Unexp_remove(&c->unexp, m);
        MPID_Umsg_free(m);
        v->cancelled = true;
    }
    v->other = cancel->sender;
    ctl_push(v, PKT_CANCEL_ACK);
    MPID_Peer_drive(p);
}

void MPID_Rndv_cancel_ack(const struct pkt_cancel *cancel)
{
    struct rndv *v = MPID_Rndv_find(cancel->sender);
    if (v == NULL || v->state != RNDV_WAIT || !v->cancelling)
        return;
    v->cancelling = false;
    if (cancel->cancelled) {
        v->req->s.cancelled = 1;
        send_done(v);
    }
}

/* ---- What waits for a peer's device ---- */

static dev_status send_ctl(struct peer *p, struct rndv *v)
{
    struct pkt k;
    if (v->ctl == PKT_CTS)
        return send_cts(p, v->other, v->req != NULL ? rndv_op(v) : (struct pkt_op){ 0, 0 }, v->want, v->error,
                        false);
    if (v->ctl == PKT_CTS_KEY)
        return MPID_Fetch_cts(v);
    if (v->ctl == PKT_REFUSED)
        return MPID_Peer_control(p, v->bounce);
    if (v->ctl == PKT_SHARED)
        pkt_shared_prepare(&k, v->other, v->lacks);
    else if (v->ctl == PKT_CANCEL)
        pkt_cancel_prepare(&k, v->req->context_id, v->req->tag, v->req->rank, rndv_op(v));
    else
        pkt_cancel_ack_prepare(&k, v->other, v->cancelled);
    return MPID_Peer_control(p, &k);
}

static int drive_ctl(struct peer *p, dev_status *s)
{
    int n = 0;
    while (p->ctl_head != NULL) {
        struct rndv *v = p->ctl_head;
        *s = send_ctl(p, v);
        if (*s != DEV_OK)
            break;
        n++;
        pop(&p->ctl_head, &p->ctl_tail);
        v->ctl = 0;
        if (v->req == NULL)
            MPID_Rndv_free(v);
        else if (v->state == RNDV_CTS)
            v->state = RNDV_RECV;
        else if (v->state == RNDV_PUT)
            send_done(v); /* SHARED has gone */
    }
    return n;
}

static int drive_signals(struct peer *p, dev_status *s)
{
    static const enum pkt_kind kind[] = { PKT_XOFF, PKT_XON, PKT_WATCH, PKT_DIED };
    int n = 0;
    while (p->signals != 0 && *s == DEV_OK) {
        struct pkt k;
        int bit = __builtin_ctz(p->signals);
        int32_t died = 0;
        if (1 << bit == SIGNAL_DIED && !MPID_Jobs_next_dead(p, &died)) {
            p->signals ^= SIGNAL_DIED;
            continue;
        }
        k.head = pkt_signal_prepare(kind[bit], (uint32_t)died);
        *s = MPID_Peer_control(p, &k);
        if (*s != DEV_OK)
            break;
        n++;
        if (1 << bit == SIGNAL_DIED)
            p->told++;
        else
            p->signals ^= (uint8_t)(1 << bit);
    }
    return n;
}

static int drive_msgs(struct peer *p, dev_status *s)
{
    int n = 0;
    while (p->msg_head != NULL && !p->gone) {
        struct MPIR_HANDLE *r = p->msg_head, *next = r->next;
        if (MPID_Send_first(p, r) == SEND_AGAIN) {
            *s = DEV_AGAIN;
            break;
        }
        p->msg_head = next; /* r may be gone */
        if (next == NULL)
            p->msg_tail = NULL;
        n++;
    }
    return n;
}

/* Payload of messages and operations on memory, by turns: what is first gets the room that there is. */
static int drive_long(struct peer *p, dev_status *s)
{
    int n = 0;
    if (p->mem_head == NULL)
        return drive_stream(p, s);
    p->mem_turn = !p->mem_turn;
    if (!p->mem_turn)
        n += drive_stream(p, s);
    if (*s == DEV_OK || *s == DEV_QUEUED)
        n += MPID_Mem_drive(p, s);
    if (p->mem_turn && (*s == DEV_OK || *s == DEV_QUEUED))
        n += drive_stream(p, s);
    return n;
}

int MPID_Peer_drive(struct peer *p)
{
    dev_status s = DEV_OK;
    int n = 0;
    if (p->gone)
        return 0;
    n += drive_signals(p, &s);
    if (s == DEV_OK)
        n += drive_ctl(p, &s);
    if (s == DEV_OK)
        n += drive_msgs(p, &s);
    if (s == DEV_OK)
        n += drive_long(p, &s);
    if (s == DEV_PEER_GONE)
        MPID_Peer_gone(p->grank);
    return n;
}

/* ---- A lost peer ---- */

static void find_peer(void *obj, void *arg)
{
    const struct rndv *v = obj;
    const struct peer **p = arg;
    if (v->peer == *p)
        *p = NULL;
}

bool MPID_Rndv_has(const struct peer *p)
{
    const struct peer *left = p;
    ku_slab_each(&MPID_core.rndvs, find_peer, &left);
    return left == NULL;
}

static void lose(void *obj, void *arg)
{
    struct rndv *v = obj;
    struct MPIR_HANDLE *r = v->req;
    const struct peer *p = arg;
    if (v->peer != p || v->inflight != 0)
        return;
    MPID_Rndv_free(v);
    if (r != NULL)
        MPID_Req_fail(r, MPID_Err_gone(p->grank));
}

void MPID_Rndv_peer_lost(struct peer *p)
{
    while (p->msg_head != NULL) {
        struct MPIR_HANDLE *r = p->msg_head;
        p->msg_head = r->next;
        if (r->aux != NULL)
            MPID_Rndv_free(r->aux);
        MPID_Req_fail(r, MPID_Err_gone(p->grank));
    }
    p->msg_tail = NULL;
    p->ctl_head = p->ctl_tail = p->stream_head = p->stream_tail = NULL;
    p->signals = 0;
    MPID_Pull_peer_lost(p);
    ku_slab_each(&MPID_core.rndvs, lose, p);
}
