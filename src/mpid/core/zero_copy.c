/* SPDX-License-Identifier: BSD-3-Clause */
/* zero_copy.c: long bodies that a device receives straight into the buffer of the receive.
 *
 * A DATA packet belongs to an operation that knows where its next bytes go.  An EAGER one is matched when its head is
 * there, and its receive becomes an operation without another side, which a lost peer fails like any (rndv.c).
 * What is typed or cut short is received into memory of the operation first.
 *
 * The ticket is the operation's name, as on the wire: when the operation is gone, nothing is written any more.
 *
 * A device whose library writes on its own is lent the room: the bytes count as received at once, and the
 * operation stays as long as the device has some of its room (inflight), also when the peer is lost. */
#include "core.h"
#include <stdlib.h>

static struct rndv *op_of(uint64_t ticket)
{
    struct rndv *v =
        MPID_Rndv_find((struct pkt_op){ .index = (uint32_t)ticket, .gen = (uint32_t)(ticket >> 32) });
    return v != NULL && v->state == RNDV_RECV ? v : NULL;
}

static uint64_t ticket_of(const struct rndv *v)
{
    struct pkt_op op = rndv_op(v);
    return (uint64_t)op.gen << 32 | op.index;
}

static bool is_eager(const struct rndv *v)
{
    return v->other.gen == 0;
}

/* Where a DATA packet goes on; NULL: not to memory that lies as it does. */
static struct rndv *data_op(int32_t grank, const struct dev_head *h, size_t len)
{
    uint64_t offset = pkt_data_offset(h);
    struct rndv *v = MPID_Rndv_find(pkt_data_op(h));
    if (v == NULL || v->state != RNDV_RECV || is_eager(v) || v->peer->grank != grank ||
        v->req->datatype != NULL || offset != (uint64_t)v->done || (int64_t)len > v->want - v->done)
        return NULL;
    return v;
}

static uint64_t place_data(int32_t grank, const struct dev_head *h, size_t len)
{
    struct rndv *v = data_op(grank, h, len);
    if (v == NULL)
        return 0;
    v->placing = (uint32_t)len;
    return ticket_of(v);
}

/* The receive is taken from its queue: from here on the body is its message. */
static uint64_t place_eager(int32_t grank, const struct dev_head *h, size_t len)
{
    struct context *c = MPID_Context_find(h->context);
    int err = 0;
    struct peer *p = peer_get(grank, &err);
    struct rndv *v = c != NULL && p != NULL && !p->gone ? MPID_Rndv_make(p, NULL, RNDV_RECV) : NULL;
    struct MPIR_HANDLE *r =
        v != NULL ? MPID_Posted_take(&c->posted, (int32_t)h->source, (int32_t)h->tag) : NULL;
    if (r == NULL)
        goto none;
    if (r->datatype != NULL || req_bytes(r) < (int64_t)len) {
        v->bounce = malloc(len);
        if (v->bounce == NULL) {
            ku_err_set(MPI_ERR_NO_MEM, NULL, "no memory to receive a message of %zu bytes", len);
            MPID_Req_fail(r, MPI_ERR_NO_MEM);
            uint64_t nobodys = ticket_of(v);
            MPID_Rndv_free(v);
            return nobodys;
        }
    }
    MPID_core.received++;
    MPID_core.received_bytes += len;
    v->req = r;
    v->other = (struct pkt_op){ 0, 0 };
    v->total = v->want = (int64_t)len;
    v->placing = (uint32_t)len;
    r->s.MPI_SOURCE = (int32_t)h->source;
    r->s.MPI_TAG = (int32_t)h->tag;
    r->peer = grank;
    r->aux = v;
    req_state(r, REQ_RNDV);
    return ticket_of(v);
none:
    if (v != NULL)
        MPID_Rndv_free(v);
    return 0;
}

uint64_t MPID_Place(void *arg, int32_t grank, const struct dev_head *h, size_t len)
{
    (void)arg;
    if (!needs_nothing() || len == 0)
        return 0;
    return h->kind == PKT_DATA    ? place_data(grank, h, len)
           : h->kind == PKT_EAGER ? place_eager(grank, h, len)
                                  : 0;
}

void *MPID_Lend(void *arg, int32_t grank, const struct dev_head *h, size_t len, void **cookie)
{
    struct rndv *v = needs_nothing() && len > 0 && h->kind == PKT_DATA ? data_op(grank, h, len) : NULL;
    char *at;
    (void)arg;
    if (v == NULL)
        return NULL;
    at = (char *)v->req->buf + v->done;
    v->done += (int64_t)len;
    v->inflight++;
    *cookie = rndv_cookie(v);
    return at;
}

void *MPID_Place_at(void *arg, uint64_t ticket)
{
    struct rndv *v = op_of(ticket);
    (void)arg;
    if (v == NULL)
        return NULL;
    return v->bounce != NULL ? v->bounce : (char *)v->req->buf + v->done;
}

void MPID_Placed(void *arg, uint64_t ticket)
{
    struct rndv *v = op_of(ticket);
    struct MPIR_HANDLE *r;
    int64_t total, capacity;
    (void)arg;
    if (v == NULL)
        return;
    r = v->req;
    v->done += v->placing;
    if (v->done < v->want)
        return;
    total = v->total;
    capacity = MPID_Req_capacity(r);
    if (v->bounce != NULL && capacity > 0)
        req_take(r, 0, v->bounce, total < capacity ? total : capacity);
    if (v->measured)
        MPID_Pull_ended(v);
    if (is_eager(v))
        v->req = NULL; /* not one that is told of */
    MPID_Rndv_free(v);
    recv_finish(r, r->s.MPI_SOURCE, r->s.MPI_TAG, total, capacity);
}
