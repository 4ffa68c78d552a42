/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on the memory of other processes by packets: what is sent, and what the process does that has the
 * memory.
 *
 *   put      PUT packets, each of which says where it goes; FLUSH is answered by MEM_ACK, which tells if one was
 *            refused
 *   get      GET is answered by GOT packets in order (an operation GIVE of the process that has the memory), or by
 *            MEM_ACK: refused
 *   atomic   ATOMIC is answered by MEM_ACK with the old value */
#include "mem.h"

/* ---- Sending ---- */

static dev_status control(struct memop *v, struct pkt *k)
{
    return MPID_Peer_control(v->peer, k);
}

/* One packet with bytes [done, ...) of those at `base`. */
static dev_status send_part(struct memop *v, enum pkt_kind kind, struct pkt_op to, uint64_t offset,
                            const char *base, bool *all)
{
    struct peer *p = v->peer;
    uint64_t left = v->len - v->done, n = left < p->cd->caps.max_send ? left : p->cd->caps.max_send;
    struct pkt k = { .head = pkt_part_prepare(kind, to, offset) };
    struct dev_iov iov = { .base = base + v->done, .len = (size_t)n };
    dev_status s;
    if (n <= DEV_SHORT_TELLS) {
        k.head.len = (uint8_t)n;
        memcpy(k.body, iov.base, (size_t)n);
        s = control(v, &k);
    } else {
        s = p->cd->ops.send(p->dp, &k.head, &iov, 1, (char *)v + 2);
        if ((s == DEV_OK || s == DEV_QUEUED))
            tell_packet('>', p->grank, &k.head, (size_t)n);
    }
    if (s == DEV_OK || s == DEV_QUEUED) {
        v->done += n;
        v->inflight += s == DEV_QUEUED;
    }
    *all = v->done == v->len;
    return s;
}

static dev_status send_put(struct memop *v, bool *all)
{
    v->peer->mem_put = true;
    return send_part(v, PKT_PUT, v->region, v->offset + v->done, v->local, all);
}

static dev_status send_answer(struct memop *v)
{
    struct pkt k;
    pkt_mem_ack_prepare(&k, v->answer, v->operand, v->error);
    return control(v, &k);
}

/* Bytes of this process's memory, as long as it is registered. */
static dev_status send_give(struct memop *v, bool *all)
{
    struct MPID_MEMORY *m = MPID_Mem_find(v->region, v->offset, v->len);
    uint32_t before = v->inflight;
    dev_status s;
    if (m == NULL) {
        v->kind = MEMOP_ANSWER;
        v->error = MPI_ERR_RMA_RANGE;
        return send_answer(v);
    }
    s = send_part(v, PKT_GOT, v->answer, v->done, m->base + v->offset, all);
    m->lent += v->inflight - before;
    return s;
}

static struct pkt_op op_of(const struct memop *v)
{
    return (struct pkt_op){ .index = v->obj.index, .gen = v->obj.gen };
}

dev_status MPID_Memop_send(struct memop *v, bool *all)
{
    struct pkt k;
    *all = true;
    switch (v->kind) {
    case MEMOP_PUT:
        return send_put(v, all);
    case MEMOP_GIVE:
        return send_give(v, all);
    case MEMOP_ANSWER:
        return send_answer(v);
    case MEMOP_GET:
        pkt_get_prepare(&k, &(struct pkt_get){
                                .asker = op_of(v), .region = v->region, .offset = v->offset, .len = v->len });
        return control(v, &k);
    case MEMOP_ATOMIC:
        pkt_atomic_prepare(&k, v->op, v->type,
                           &(struct pkt_atomic){ .asker = op_of(v),
                                                 .region = v->region,
                                                 .offset = v->offset,
                                                 .operand = keel_atomic_read(&v->operand, v->len),
                                                 .compare = keel_atomic_read(&v->compare, v->len) });
        return control(v, &k);
    default:
        v->peer->mem_put = false;
        pkt_flush_prepare(&k, op_of(v));
        return control(v, &k);
    }
}

/* ---- In the process that has the memory ---- */

static struct memop *make_answer(struct peer *p, enum memop_kind kind, struct pkt_op asker)
{
    struct memop *v = MPID_Memop_make(p, kind);
    if (v == NULL)
        MPID_Broken("no memory to answer rank %d, which would wait for ever", (int)p->grank);
    v->answer = asker;
    return v;
}

static void answer(struct peer *p, struct pkt_op asker, uint64_t value, int error)
{
    struct memop *v = make_answer(p, MEMOP_ANSWER, asker);
    v->operand = value;
    v->error = error;
    MPID_Memop_push(v);
}

static void put_in(struct peer *p, const struct dev_head *h, const void *body, size_t len)
{
    uint64_t offset = pkt_data_offset(h);
    struct MPID_MEMORY *m = MPID_Mem_find(pkt_data_op(h), offset, len);
    if (m != NULL)
        req_keep(m->base + offset, body, len);
    else if (p->mem_refused == 0)
        p->mem_refused = MPI_ERR_RMA_RANGE;
}

static void get_in(struct peer *p, const struct pkt_get *get)
{
    struct memop *v;
    if (MPID_Mem_find(get->region, get->offset, get->len) == NULL) {
        answer(p, get->asker, 0, MPI_ERR_RMA_RANGE);
        return;
    }
    v = make_answer(p, MEMOP_GIVE, get->asker);
    v->region = get->region;
    v->offset = get->offset;
    v->len = get->len;
    MPID_Memop_push(v);
}

static void atomic_in(struct peer *p, enum keel_atomic_op op, enum keel_atomic_type type,
                      const struct pkt_atomic *a)
{
    size_t n = keel_atomic_bytes(type);
    struct MPID_MEMORY *m = MPID_Mem_find(a->region, a->offset, n);
    uint64_t old = 0, operand = 0, compare = 0;
    if (m == NULL || (uintptr_t)(m->base + a->offset) % n != 0) {
        answer(p, a->asker, 0, MPI_ERR_RMA_RANGE);
        return;
    }
    keel_atomic_write(&operand, a->operand, n);
    keel_atomic_write(&compare, a->compare, n);
    keel_atomic(m->base + a->offset, op, type, &operand, &compare, &old);
    answer(p, a->asker, keel_atomic_read(&old, n), 0);
}

static void flush_in(struct peer *p, struct pkt_op asker)
{
    int refused = (int)p->mem_refused;
    p->mem_refused = 0;
    answer(p, asker, 0, refused);
}

/* ---- In the process that asked ---- */

/* The operation of this process that the peer answers; NULL: it is gone, or waits for nothing of that peer. */
static struct memop *asked(struct pkt_op op, int32_t peer, bool got)
{
    struct memop *v = MPID_Memop_find(op);
    bool asks =
        v != NULL && (v->kind == MEMOP_GET || (!got && (v->kind == MEMOP_ATOMIC || v->kind == MEMOP_FLUSH)));
    return asks && !v->by_device && !v->listed && v->peer->grank == peer ? v : NULL;
}

static void got_in(int32_t peer, const struct dev_head *h, const void *body, size_t len)
{
    struct memop *v = asked(pkt_data_op(h), peer, true);
    if (v == NULL)
        return;
    if (pkt_data_offset(h) != v->done || len > v->len - v->done)
        MPID_Broken("a GOT packet of rank %d with bytes %llu+%zu; expected %llu+1 to %llu", (int)peer,
                    (unsigned long long)pkt_data_offset(h), len, (unsigned long long)v->done,
                    (unsigned long long)(v->len - v->done));
    req_keep(v->local + v->done, body, len);
    v->done += len;
    if (v->done == v->len)
        MPID_Memop_finish(v, 0);
}

static void ack_in(int32_t peer, const struct pkt_mem_ack *ack)
{
    struct memop *v = asked(ack->asker, peer, false);
    if (v == NULL)
        return;
    if (v->kind == MEMOP_GET && ack->error == 0)
        MPID_Broken("rank %d says that a get is done and has sent %llu of %llu bytes", (int)peer,
                    (unsigned long long)v->done, (unsigned long long)v->len);
    if (v->kind == MEMOP_ATOMIC && ack->error == 0 && v->local != NULL)
        keel_atomic_write(v->local, ack->value, v->len);
    MPID_Memop_finish(v, (int)ack->error);
}

void MPID_Mem_packet(int32_t peer, const struct dev_head *h, const void *body, size_t len)
{
    int err = 0;
    struct peer *p = peer_get(peer, &err);
    struct pkt_get get;
    struct pkt_atomic atomic;
    struct pkt_mem_ack ack;
    if (p == NULL)
        MPID_Broken("rank %d cannot be answered: %s", (int)peer, ku_err_last()->text);
    switch (h->kind) {
    case PKT_PUT:
        put_in(p, h, body, len);
        break;
    case PKT_GET:
        get = pkt_get_of(body);
        get_in(p, &get);
        break;
    case PKT_GOT:
        got_in(peer, h, body, len);
        break;
    case PKT_ATOMIC:
        atomic = pkt_atomic_of(body);
        atomic_in(p, h->context, h->tag, &atomic);
        break;
    case PKT_FLUSH:
        flush_in(p, pkt_flush_op(h));
        break;
    case PKT_MEM_ACK:
        ack = pkt_mem_ack_of(body);
        ack_in(peer, &ack);
        break;
    default:
        break;
    }
}
