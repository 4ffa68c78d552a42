/* SPDX-License-Identifier: BSD-3-Clause */
/* Long messages that the receiver's device gets from the sender's memory, or the sender's puts into the receiver's
 * (dev_mem_ops), between nodes.
 *
 *   sender      RTS_KEY with the device's key to the message --> WAIT --(CTS of 0 bytes: MPID_Rndv_cts)--> gone
 *                                                             WAIT --(CTS)--> SEND, as if there had been no key
 *                                                             WAIT --(CTS_KEY, the key to the receiver's memory)--> PUT
 *                                                             PUT --(all is there: flush)--> SHARED, gone
 *                                                             PUT --(the device cannot)--> SHARED, which says so, WAIT
 *   receiver    FETCH --(all is here)--> CTS of 0 bytes, gone
 *               FETCH --(the device cannot, or it was refused there)--> CTS, as if there had been no key (rndv.c)
 *               TAKE --(SHARED)--> gone, or CTS, as if there had been no key
 *
 * No copy is made, and with a card that does it alone (caps.unaided) the sender need not be in MPI.  Else it has
 * to be, as it has to for packets, which wait for its answer to CTS, and for a put.  The receiver takes the key,
 * gives one, or asks for packets, whichever it has measured to be fastest (pull.c).
 *
 * Invariants
 *   1. The message is registered from its RTS_KEY until its operation ends, which CTS tells; so a get of it never
 *      meets other bytes. The receiver's memory is registered from CTS_KEY until SHARED comes, which follows the end
 *      of all puts.
 *   2. An operation in FETCH or PUT stands in its peer's stream list until its last get or put is begun (`done`),
 *      and ends when none is under way (`inflight`).  One that is refused begins no more of them.  After its puts it
 *      stands there again, to flush.
 *   3. No more than MPID_core.offered_most bytes are registered; further messages go in packets. */
#include "core.h"

enum {
    PIECE = 1 << 19 /* a get or put */,
    DECLINED_MOST = 16 /* messages in a row that receivers asked for in packets; */,
    OFFER_PAUSE = 64 /* then so many go without a key */
};

/* ---- The sender ---- */

static bool may_offer(const struct rndv *v)
{
    const struct core_dev *d = v->peer->cd;
    return d->mem.put != NULL && (d->caps.reach & DEV_REACH_ANY) && MPID_core.long_way != 1 + WAY_PACKETS &&
           v->req->datatype == NULL && v->total >= LONG_MIN_BYTES &&
           MPID_core.offered_most - MPID_core.offered >= v->total;
}

/* Its key fits, behind `before` bytes, into a packet that is copied at once. */
static bool fits(const struct rndv *v, size_t before)
{
    const struct core_dev *d = v->peer->cd;
    size_t n = d->mem.mem_key(v->region, NULL, 0);
    return n > 0 && n <= DEV_KEY_MAX && (before + n <= PKT_SHORT_MAX || d->has_reserve);
}

static void hide(struct rndv *v)
{
    v->peer->cd->mem.mem_unregister(v->region);
    v->region = NULL;
    MPID_core.offered -= v->total;
}

/* The other one's device may reach the bytes of the request. */
static bool expose(struct rndv *v, int64_t bytes, size_t before)
{
    if (v->peer->cd->mem.mem_register(v->peer->cd->dev, (void *)(uintptr_t)v->req->buf, (size_t)bytes,
                                      DEV_MEM_HOST, &v->region) != DEV_OK)
        v->region = NULL;
    else
        MPID_core.offered += v->total;
    if (v->region != NULL && !fits(v, before))
        hide(v);
    return v->region != NULL;
}

bool MPID_Fetch_offer(struct rndv *v)
{
    struct peer *p = v->peer;
    if (v->region != NULL)
        return true; /* it was refused then */
    if (!may_offer(v))
        return false;
    if (p->offer_pause > 0) {
        p->offer_pause--;
        return false;
    }
    if (!expose(v, v->total, sizeof(struct pkt_rts)))
        p->offer_pause = OFFER_PAUSE;
    return v->region != NULL;
}

/* The key is too long for a short packet. */
static dev_status send_in_room(struct peer *p, const struct dev_head *h, const void *body, size_t len)
{
    void *room = p->cd->ops.reserve(p->dp, len);
    dev_status s;
    if (room == NULL)
        return DEV_AGAIN;
    memcpy(room, body, len);
    s = p->cd->ops.commit(p->dp, h, room, len);
    if (s == DEV_AGAIN)
        p->cd->ops.drop(p->dp, room);
    if (s == DEV_OK)
        tell_packet('>', p->grank, h, len);
    return s;
}

static dev_status send_key(struct peer *p, struct dev_head h, const void *body, size_t len)
{
    struct pkt k = { .head = h };
    if (len > PKT_SHORT_MAX)
        return send_in_room(p, &h, body, len);
    memcpy(k.body, body, len);
    return MPID_Peer_control(p, &k);
}

dev_status MPID_Fetch_rts(struct rndv *v)
{
    const struct MPIR_HANDLE *r = v->req;
    _Alignas(8) unsigned char body[sizeof(struct pkt_rts) + DEV_KEY_MAX];
    size_t n = v->peer->cd->mem.mem_key(v->region, body + sizeof(struct pkt_rts), DEV_KEY_MAX);
    struct dev_head h =
        pkt_rts_key_prepare(body, r->context_id, r->tag, r->rank, rndv_op(v), (uint64_t)v->total, n);
    return send_key(v->peer, h, body, sizeof(struct pkt_rts) + n);
}

void MPID_Fetch_answered(struct rndv *v, bool fetched)
{
    struct peer *p = v->peer;
    if (v->region == NULL)
        return;
    p->declined = fetched ? 0 : p->declined + 1;
    if (p->declined < DECLINED_MOST)
        return;
    p->declined = 0;
    p->offer_pause = OFFER_PAUSE;
}

/* The receiver is told that its device's put has failed, and asks for packets. */
static void put_fails(struct rndv *v)
{
    if (v->remote != NULL)
        v->peer->cd->mem.mem_close(v->remote);
    v->remote = NULL;
    v->refused = false;
    v->done = 0;
    v->state = RNDV_WAIT;
    v->lacks = true;
    MPID_Rndv_shared(v);
}

void MPID_Fetch_put(const struct pkt_cts *cts, const void *key, size_t key_bytes)
{
    struct rndv *v = MPID_Rndv_find(cts->sender);
    if (!MPID_Rndv_claimed(v))
        return;
    if (cts->want == 0 || cts->want > (uint64_t)v->total || v->req->datatype != NULL ||
        v->peer->cd->mem.put == NULL)
        MPID_Broken("rank %d asks for %llu bytes of a message of %lld by a key", (int)v->peer->grank,
                    (unsigned long long)cts->want, (long long)v->total);
    MPID_Fetch_answered(v, true);
    v->other = cts->receiver;
    v->want = (int64_t)cts->want;
    v->done = 0;
    if (v->peer->cd->mem.mem_open(v->peer->dp, key, key_bytes, &v->remote) != DEV_OK) {
        v->remote = NULL;
        put_fails(v);
        return;
    }
    v->state = RNDV_PUT;
    MPID_Rndv_stream(v);
}

/* All puts have ended here; are they done there? */
static void put_over(struct rndv *v)
{
    if (v->refused)
        put_fails(v);
    else if (!v->flushing) {
        v->flushing = true;
        MPID_Rndv_stream(v);
    } else {
        MPID_core.counts.put++;
        MPID_Rndv_shared(v);
    }
}

/* ---- The receiver ---- */

void MPID_Fetch_open(struct rndv *v, const struct rts_in *in)
{
    const struct peer *p = v->peer;
    if (p->undecided || p->cd->mem.get == NULL || v->req->datatype != NULL ||
        p->cd->mem.mem_open(p->dp, in->key, in->key_bytes, &v->remote) != DEV_OK)
        v->remote = NULL;
}

void MPID_Fetch_begin(struct rndv *v)
{
    v->state = RNDV_FETCH;
    MPID_Rndv_stream(v);
}

static void refuse(struct rndv *v)
{
    v->refused = true;
    v->done = v->want;
}

static dev_status move(struct rndv *v, int64_t n)
{
    const struct dev_mem_ops *mem = &v->peer->cd->mem;
    char *here = (char *)v->req->buf + v->done;
    if (v->flushing)
        return mem->flush(v->peer->dp, rndv_cookie(v));
    return v->state == RNDV_PUT
               ? mem->put(v->remote, (uint64_t)v->done, here, (size_t)n, v->region, rndv_cookie(v))
               : mem->get(v->remote, (uint64_t)v->done, here, (size_t)n, NULL, rndv_cookie(v));
}

dev_status MPID_Fetch_part(struct rndv *v)
{
    int64_t left = v->want - v->done, n = left < PIECE ? left : PIECE;
    dev_status s = v->refused ? DEV_ERROR : move(v, n);
    if (s == DEV_NO_SUPPORT || s == DEV_ERROR) {
        refuse(v);
        return DEV_OK;
    }
    if (s == DEV_OK || s == DEV_QUEUED) {
        v->done += n;
        v->inflight += s == DEV_QUEUED;
    }
    return s;
}

bool MPID_Fetch_take(struct rndv *v)
{
    if (MPID_core.offered_most - MPID_core.offered < v->total ||
        !expose(v, v->want, sizeof(struct pkt_cts))) {
        v->peer->no_put = true;
        return false;
    }
    v->state = RNDV_TAKE;
    MPID_Rndv_cts_key(v);
    return true;
}

dev_status MPID_Fetch_cts(struct rndv *v)
{
    _Alignas(8) unsigned char body[sizeof(struct pkt_cts) + DEV_KEY_MAX];
    size_t n = v->peer->cd->mem.mem_key(v->region, body + sizeof(struct pkt_cts), DEV_KEY_MAX);
    struct dev_head h = pkt_cts_key_prepare(body, v->other, rndv_op(v), (uint64_t)v->want, n);
    return send_key(v->peer, h, body, sizeof(struct pkt_cts) + n);
}

/* This message comes in packets. */
static void in_packets(struct rndv *v)
{
    v->refused = false;
    v->done = 0;
    v->takes = false;
    if (v->measured)
        MPID_Pull_forget(v);
    MPID_Fetch_close(v);
    MPID_Rndv_ask(v);
}

static void fetch_over(struct rndv *v)
{
    if (v->refused) {
        v->peer->no_pull = true; /* and those to come */
        in_packets(v);
        return;
    }
    MPID_core.counts.fetched++;
    MPID_Rndv_answer(v->peer, v->other, 0);
    MPID_Rndv_received(v);
}

void MPID_Fetch_over(struct rndv *v)
{
    if (v->state == RNDV_PUT)
        put_over(v);
    else
        fetch_over(v);
}

void MPID_Fetch_taken(struct rndv *v, bool failed)
{
    if (failed) {
        v->peer->no_put = true;
        in_packets(v);
    } else
        MPID_Rndv_received(v);
}

/* ---- Both ---- */

void MPID_Fetch_close(struct rndv *v)
{
    if (v->region != NULL)
        hide(v);
    if (v->remote != NULL)
        v->peer->cd->mem.mem_close(v->remote);
    v->remote = NULL;
}

static void close_one(void *obj, void *arg)
{
    (void)arg;
    MPID_Fetch_close(obj);
}

void MPID_Fetch_close_all(void)
{
    ku_slab_each(&MPID_core.rndvs, close_one, NULL);
}
