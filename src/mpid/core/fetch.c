/* Long messages that the receiver's device gets from the sender's memory (dev_mem_ops), between nodes.
 *
 *   sender      RTS_KEY with the device's key to the message --> WAIT --(CTS of 0 bytes: MPID_Rndv_cts)--> gone
 *                                                             WAIT --(CTS)--> SEND, as if there had been no key
 *   receiver    FETCH --(all is here)--> CTS of 0 bytes, gone
 *               FETCH --(the device cannot, or it was refused there)--> CTS, as if there had been no key (rndv.c)
 *
 * No copy is made, and with a card that does it alone (caps.unaided) the sender need not be in MPI.  Else it has to be, as it has to for packets,
 * which wait for its answer to CTS.  The receiver takes the key or asks for packets, whichever it has measured to be faster (pull.c).
 *
 * Invariants
 *   1. The message is registered from its RTS_KEY until its operation ends, which CTS tells; so a get of it never meets other bytes.
 *   2. An operation in FETCH stands in its peer's stream list until its last get is begun (`done`), and ends when none is
 *      under way (`inflight`).  One that is refused begins no more of them.
 *   3. No more than MPID_core.offered_most bytes are registered; further messages go in packets. */
#include "core.h"

enum {
    PIECE = 1 << 20 /* a get */,
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

/* Its key fits into a packet that is copied at once. */
static bool fits(const struct rndv *v)
{
    const struct core_dev *d = v->peer->cd;
    size_t n = d->mem.mem_key(v->region, NULL, 0);
    return n > 0 && n <= DEV_KEY_MAX && (sizeof(struct pkt_rts) + n <= PKT_SHORT_MAX || d->has_reserve);
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
    if (p->cd->mem.mem_register(p->cd->dev, (void *)(uintptr_t)v->req->buf, (size_t)v->total, DEV_MEM_HOST,
                                &v->region) != DEV_OK)
        v->region = NULL;
    else
        MPID_core.offered += v->total;
    if (v->region != NULL && !fits(v))
        MPID_Fetch_close(v);
    if (v->region == NULL)
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
        observe_packet('>', p->grank, h, len);
    return s;
}

dev_status MPID_Fetch_rts(struct rndv *v)
{
    struct peer *p = v->peer;
    const struct MPIR_HANDLE *r = v->req;
    struct pkt k;
    _Alignas(8) unsigned char body[sizeof(struct pkt_rts) + DEV_KEY_MAX];
    size_t n = p->cd->mem.mem_key(v->region, body + sizeof(struct pkt_rts), DEV_KEY_MAX);
    size_t len = sizeof(struct pkt_rts) + n;
    k.head = pkt_rts_key_prepare(body, r->context_id, r->tag, r->rank, rndv_op(v), (uint64_t)v->total, n);
    if (len > PKT_SHORT_MAX)
        return send_in_room(p, &k.head, body, len);
    memcpy(k.body, body, len);
    return MPID_Peer_control(p, &k);
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

dev_status MPID_Fetch_part(struct rndv *v)
{
    int64_t left = v->want - v->done, n = left < PIECE ? left : PIECE;
    dev_status s = v->refused
                       ? DEV_ERROR
                       : v->peer->cd->mem.get(v->remote, (uint64_t)v->done, (char *)v->req->buf + v->done,
                                              (size_t)n, NULL, rndv_cookie(v));
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

/* From now on messages of this peer come in packets. */
static void in_packets(struct rndv *v)
{
    v->peer->no_pull = true;
    v->refused = false;
    v->done = 0;
    v->takes = false;
    if (v->measured)
        MPID_Pull_forget(v);
    MPID_Fetch_close(v);
    MPID_Rndv_ask(v);
}

void MPID_Fetch_over(struct rndv *v)
{
    struct MPIR_HANDLE *r = v->req;
    int64_t total = v->total;
    if (v->refused) {
        in_packets(v);
        return;
    }
    MPID_core.counts.fetched++;
    if (v->measured)
        MPID_Pull_ended(v);
    MPID_Rndv_answer(v->peer, v->other, 0);
    MPID_Rndv_free(v);
    recv_finish(r, r->s.MPI_SOURCE, r->s.MPI_TAG, total, MPID_Req_capacity(r));
}

/* ---- Both ---- */

void MPID_Fetch_close(struct rndv *v)
{
    if (v->region != NULL) {
        v->peer->cd->mem.mem_unregister(v->region);
        MPID_core.offered -= v->total;
    }
    if (v->remote != NULL)
        v->peer->cd->mem.mem_close(v->remote);
    v->region = NULL;
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
