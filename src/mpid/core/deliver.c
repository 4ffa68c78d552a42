/* SPDX-License-Identifier: BSD-3-Clause */
/* What devices bring: packets come in here, whatever the device. */
#include "core.h"
#include <stdlib.h>

static void fail_posted(struct MPIR_HANDLE *r, void *arg)
{
    MPID_Posted_remove(arg, r);
    ku_err_set(MPI_ERR_NO_MEM, NULL, "messages were lost because there was no memory to keep them");
    MPID_Req_fail(r, MPI_ERR_NO_MEM);
}

static void fail_context(struct context *c, void *arg)
{
    (void)arg;
    MPID_Posted_each(&c->posted, fail_posted, &c->posted);
}

/* A message is gone, for want of even a descriptor: nobody can tell any more which receive waits in vain. */
static void lose(void)
{
    MPID_core.doubts |= DOUBT_LOST;
    MPID_Contexts_each(fail_context, NULL);
}

/* Keep a message that nobody waits for. */
static void keep(struct context *c, int32_t peer, const struct dev_head *h, const void *body, size_t len)
{
    struct umsg *m;
    if (unlikely(refused_in(c, (int32_t)h->tag) != NULL))
        return;
    m = MPID_Umsg_make(len > PKT_SHORT_MAX ? (int64_t)len : 0);
    if (m == NULL) {
        m = MPID_Umsg_make(0);
        if (m == NULL) {
            lose();
            return;
        }
        m->kind = UMSG_LOST;
    } else
        req_keep(m->kind == UMSG_HEAP ? m->heap : m->body, body, len);
    m->source = (int32_t)h->source;
    m->tag = (int32_t)h->tag;
    m->len = (int64_t)len;
    m->grank = peer;
    MPID_Unexp_add(&c->unexp, m);
    count_unexpected(m, c->id);
    MPID_Umsg_pressure(c, peer, m->source);
}

static inline struct context *context_in(uint32_t id)
{
    return likely(MPID_core.last != NULL && MPID_core.last->id == id) ? MPID_core.last : MPID_Context_get(id);
}

static void message_in(int32_t peer, const struct dev_head *h, const void *body, size_t len)
{
    struct context *c = context_in(h->context);
    struct MPIR_HANDLE *r;
    MPID_core.received++;
    MPID_core.received_bytes += len;
    if (unlikely(c == NULL)) {
        lose();
        return;
    }
    r = MPID_Posted_take(&c->posted, (int32_t)h->source, (int32_t)h->tag);
    if (r == NULL) {
        keep(c, peer, h, body, len);
        return;
    }
    tell_matched(r, (int32_t)h->source, (int32_t)h->tag, (int64_t)len, NULL);
    int64_t capacity = req_bytes(r), n = (int64_t)len < capacity ? (int64_t)len : capacity;
    if (n > 0)
        req_take(r, 0, body, n);
    recv_finish(r, (int32_t)h->source, (int32_t)h->tag, (int64_t)len, capacity);
}

/* Without memory for the key the message comes in packets. */
static void keep_key(struct umsg *m, const struct rts_in *in)
{
    m->rts.key = in->key_bytes > 0 ? malloc(in->key_bytes) : NULL;
    m->rts.key_bytes = m->rts.key != NULL ? (uint16_t)in->key_bytes : 0;
    if (m->rts.key != NULL)
        memcpy(m->rts.key, in->key, in->key_bytes);
}

static void rts_in(int32_t peer, const struct dev_head *h, const void *body, size_t len)
{
    struct context *c = context_in(h->context);
    struct MPIR_HANDLE *r;
    struct umsg *m;
    unsigned char payload[PKT_INLINE_MAX] = { 0 };
    bool keyed = h->kind == PKT_RTS_KEY;
    struct rts_in in = { .rts = pkt_rts_of(body),
                         .payload = payload,
                         .key = (const unsigned char *)body + sizeof in.rts,
                         .key_bytes = keyed ? len - sizeof in.rts : 0 };
    if (!keyed)
        memcpy(payload, in.key, len - sizeof in.rts);
    MPID_core.received++;
    MPID_core.received_bytes += in.rts.total;
    r = c != NULL ? MPID_Posted_take(&c->posted, (int32_t)h->source, (int32_t)h->tag) : NULL;
    if (r != NULL) {
        tell_matched(r, (int32_t)h->source, (int32_t)h->tag, (int64_t)in.rts.total, NULL);
        MPID_Rndv_recv(r, peer, (int32_t)h->source, (int32_t)h->tag, &in, true);
        return;
    }
    if (c != NULL && unlikely(refused_in(c, (int32_t)h->tag) != NULL)) {
        MPID_Refused_answer(c, (int32_t)h->tag, peer, in.rts.sender);
        return;
    }
    m = c != NULL ? MPID_Umsg_make(0) : NULL;
    if (m == NULL) {
        lose();
        return;
    }
    m->kind = UMSG_RTS;
    m->source = (int32_t)h->source;
    m->tag = (int32_t)h->tag;
    m->len = (int64_t)in.rts.total;
    m->grank = peer;
    m->rts.sender = in.rts.sender;
    memcpy(m->rts.payload, payload, sizeof m->rts.payload);
    keep_key(m, &in);
    MPID_Unexp_add(&c->unexp, m);
    count_unexpected(m, c->id);
}

static void xoff_in(int32_t grank, bool off)
{
    int err = 0;
    struct peer *p = peer_get(grank, &err);
    if (p == NULL || p->gone)
        return; /* never used, nothing has been sent to it; or nothing more will be */
    p->xoff = off;
    MPID_Peer_update(p);
}

/* ---- The barrier of MPID_End: counts survive it, as the first packets of a next round may come before this
 * process has begun it. ---- */

static uint32_t sync_seen[32], sync_round;

static void sync_by_messages(void)
{
    int32_t n = MPID_core.job.size;
    sync_round++;
    for (uint32_t k = 0; (int64_t)1 << k < n && MPID_core.peers.ngone == 0; k++) {
        struct ku_wait w = { 0 };
        int32_t to = (int32_t)((MPID_core.rank + ((int64_t)1 << k)) % n);
        int err = 0;
        struct peer *p = peer_get(to, &err);
        struct pkt packet = { .head = pkt_signal_prepare(PKT_SYNC, k) };
        bool sent = p == NULL;
        while (MPID_core.peers.ngone == 0 && (!sent || sync_seen[k] < sync_round)) {
            if (!sent) {
                sent = MPID_Peer_control(p, &packet) != DEV_AGAIN;
                if (sent)
                    continue; /* the other side's may be here already, and then nothing more need come */
            }
            if (MPID_Progress() > 0)
                ku_wait_reset(&w);
            else
                MPID_Wait_step(&w, NULL);
        }
    }
}

/* On one node a count in the segment does it: no messages, and one turn of each process. */
bool MPID_Sync_over(void)
{
    const struct ku_seg_head *h = MPID_core.job.segment.head;
    return (int32_t)(atomic_load(&h->ended) - MPID_core.job.epoch * h->nlocal) >= 0;
}

static void sync_here(void)
{
    struct ku_wait w = { 0 };
    ku_segment_rank(&MPID_core.job.segment, (uint32_t)MPID_core.job.local_rank)->ended = MPID_core.job.epoch;
    atomic_fetch_add(&MPID_core.job.segment.head->ended, 1);
    if (MPID_Sync_over())
        ku_segment_wake_all(&MPID_core.job.segment);
    MPID_core.ending = true;
    while (MPID_core.peers.ngone == 0 && !MPID_Sync_over())
        if (MPID_Progress() > 0)
            ku_wait_reset(&w);
        else
            MPID_Wait_step(&w, NULL);
    MPID_core.ending = false;
    while (MPID_Progress() > 0) /* all is published by now: the next epoch finds nothing of this one */
        ;
}

void MPID_Sync(void)
{
    if (MPID_core.job.size > 1 && MPID_core.job.local_size == MPID_core.job.size)
        sync_here();
    else
        sync_by_messages();
}

static void odd_in(int32_t peer, const struct dev_head *h, const void *body, size_t len)
{
    struct pkt_cts cts;
    struct pkt_cancel cancel;
    struct pkt_share share;
    switch (h->kind) {
    case PKT_CTS:
        cts = pkt_cts_of(body);
        MPID_Rndv_cts(&cts);
        break;
    case PKT_CTS_KEY:
        cts = pkt_cts_of(body);
        MPID_Fetch_put(&cts, (const char *)body + sizeof cts, len - sizeof cts);
        break;
    case PKT_SHARE:
        share = pkt_share_of(body);
        MPID_Pull_share(&share);
        break;
    case PKT_SHARED:
        MPID_Pull_shared(h);
        break;
    case PKT_CANCEL:
        cancel = pkt_cancel_of(body);
        MPID_Rndv_cancel_in(peer, h, &cancel);
        break;
    case PKT_CANCEL_ACK:
        cancel = pkt_cancel_of(body);
        MPID_Rndv_cancel_ack(&cancel);
        break;
    case PKT_XOFF:
    case PKT_XON:
        xoff_in(peer, h->kind == PKT_XOFF);
        break;
    case PKT_SYNC:
        sync_seen[h->tag]++;
        break;
    case PKT_WATCH:
        MPID_Jobs_watched_by(peer);
        break;
    case PKT_DIED:
        MPID_Jobs_died(peer, (int32_t)h->tag);
        break;
    case PKT_REFUSED:
        MPID_Refused_packet(h, body, len);
        break;
    case PKT_NOTE:
        MPID_Note_in(h, body);
        break;
    case PKT_NOTE_ALONE:
        MPID_Note_alone_in(h, body);
        break;
    default:
        MPID_Mem_packet(peer, h, body, len);
    }
}

void MPID_Deliver(void *arg, int32_t peer, const struct dev_head *h, const void *body, size_t len)
{
    const char *wrong = pkt_check(h, body, len);
    (void)arg;
    if (unlikely(peer < 0 && h->kind != PKT_SHORT && h->kind != PKT_NOTE && h->kind != PKT_NOTE_ALONE))
        wrong = "one whose sender is not known";
    if (unlikely(wrong != NULL))
        MPID_Broken("a packet came that no Keel process sends: %s (kind %d, %zu bytes)", wrong, (int)h->kind,
                    len);
    tell_packet('<', peer, h, len);
    if (likely(h->kind == PKT_SHORT || h->kind == PKT_EAGER))
        message_in(peer, h, body, len);
    else if (h->kind == PKT_DATA)
        MPID_Rndv_data(h, body, len);
    else if (h->kind == PKT_RTS || h->kind == PKT_RTS_KEY)
        rts_in(peer, h, body, len);
    else if (h->kind == PKT_START)
        MPID_Rndv_start(peer, h, body, len);
    else
        odd_in(peer, h, body, len);
}

void MPID_Sent(void *arg, void *cookie, dev_status status)
{
    struct MPIR_HANDLE *r = cookie;
    (void)arg;
    if ((uintptr_t)cookie & 1) {
        MPID_Rndv_sent((struct rndv *)((char *)cookie - 1), status);
        return;
    }
    if ((uintptr_t)cookie & 2) {
        MPID_Mem_sent((struct memop *)((char *)cookie - 2), status);
        return;
    }
    if (status == DEV_OK)
        req_complete(r);
    else {
        MPID_Peer_gone(r->peer);
        MPID_Req_fail(r, MPID_Err_gone(r->peer));
    }
}
