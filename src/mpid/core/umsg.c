/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of messages that came before their receives, and what keeps it bounded.
 *
 * Descriptors come from chunks of 64 that are all returned when the last message has gone.  A spare chunk made at start
 * is used when there is no memory for another.  Above unexp_limit bytes (KEEL_UNEXPECTED_MB) a sender is told to stop
 * sending eagerly (XOFF): its messages stay with it, and only their envelopes come; below half of that it may again. */
#include "core.h"
#include <stdlib.h>

enum { CHUNK = 64 };

struct umsg_chunk {
    struct umsg_chunk *next;
    struct umsg msg[CHUNK];
};

static void open_chunk(struct umsg_chunk *c)
{
    c->next = MPID_core.chunks;
    MPID_core.chunks = c;
    for (int i = CHUNK; i-- > 0;) {
        c->msg[i].next = MPID_core.free_msgs;
        MPID_core.free_msgs = &c->msg[i];
    }
}

static bool more(void)
{
    struct umsg_chunk *c = malloc(sizeof *c);
    if (c == NULL) {
        c = MPID_core.spare;
        MPID_core.spare = NULL;
    }
    if (c != NULL)
        open_chunk(c);
    return c != NULL;
}

struct umsg *MPID_Umsg_make(int64_t heap)
{
    struct umsg *m;
    void *data = NULL;
    if (MPID_core.free_msgs == NULL && !more())
        return NULL;
    if (heap > 0 && (data = malloc((size_t)heap)) == NULL)
        return NULL;
    m = MPID_core.free_msgs;
    MPID_core.free_msgs = m->next;
    MPID_core.live_msgs++;
    if (MPID_core.live_msgs > MPID_core.counts.most_msgs)
        MPID_core.counts.most_msgs = MPID_core.live_msgs;
    MPID_core.unexp_bytes += (int64_t)sizeof *m + heap;
    if (MPID_core.unexp_bytes > MPID_core.unexp_peak)
        MPID_core.unexp_peak = MPID_core.unexp_bytes;
    if (MPID_core.unexp_bytes > MPID_core.counts.most_bytes)
        MPID_core.counts.most_bytes = MPID_core.unexp_bytes;
    m->len = heap;
    m->kind = UMSG_SHORT;
    if (heap > 0) {
        m->heap = data;
        m->kind = UMSG_HEAP;
    }
    return m;
}

static void free_chunks(void)
{
    while (MPID_core.chunks != NULL) {
        struct umsg_chunk *c = MPID_core.chunks;
        MPID_core.chunks = c->next;
        if (MPID_core.spare == NULL)
            MPID_core.spare = c;
        else
            free(c);
    }
    MPID_core.free_msgs = NULL;
}

static void xon_all(void)
{
    MPID_core.xoff_any = false;
    for (struct peer *p = MPID_core.peers.first; p != NULL; p = p->next_used)
        if (p->xoff_sent) {
            p->xoff_sent = false;
            p->signals ^=
                p->signals & SIGNAL_XOFF ? SIGNAL_XOFF : SIGNAL_XON; /* one not yet sent is taken back */
            MPID_Peer_busy(p);
        }
}

void MPID_Umsg_free(struct umsg *m)
{
    MPID_core.unexp_bytes -= (int64_t)sizeof *m;
    if (m->kind == UMSG_HEAP) {
        MPID_core.unexp_bytes -= m->len;
        free(m->heap);
    }
    if (m->kind == UMSG_RTS)
        free(m->rts.key);
    m->next = MPID_core.free_msgs;
    MPID_core.free_msgs = m;
    if (--MPID_core.live_msgs < MPID_core.counts.least_msgs)
        MPID_core.counts.least_msgs = MPID_core.live_msgs;
    if (MPID_core.live_msgs == 0 && MPID_core.chunks->next != NULL)
        free_chunks();
    if (unlikely(MPID_core.xoff_any) && MPID_core.unexp_bytes < MPID_core.unexp_limit / 2)
        xon_all();
}

static void xoff(int32_t grank)
{
    int err = 0;
    struct peer *p = grank == MPID_core.rank || peer_gone(grank) ? NULL : peer_get(grank, &err);
    if (p == NULL || p->xoff_sent)
        return;
    p->xoff_sent = MPID_core.xoff_any = true;
    p->signals ^= p->signals & SIGNAL_XON ? SIGNAL_XON : SIGNAL_XOFF;
    MPID_Peer_busy(p);
}

void MPID_Umsg_pressure(const struct context *c, int32_t peer, int32_t source)
{
    if (likely(MPID_core.unexp_bytes <= MPID_core.unexp_limit && MPID_core.spare != NULL))
        return;
    if (peer < 0 && c->comm != NULL)
        peer = grank_of(c->comm, source);
    if (peer >= 0) /* else a sender of other messages, whose devices tell it, is told in time */
        xoff(peer);
}

int MPID_Umsg_init(void)
{
    MPID_core.spare = malloc(sizeof *MPID_core.spare);
    return MPID_core.spare != NULL ? 0
                                   : ku_err_set(MPI_ERR_NO_MEM, NULL, "no memory for unexpected messages");
}

void MPID_Umsg_fini(void)
{
    free_chunks();
    free(MPID_core.spare);
    MPID_core.spare = NULL;
    MPID_core.live_msgs = 0;
    MPID_core.unexp_bytes = 0;
}
