/* SPDX-License-Identifier: BSD-3-Clause */
/* xfer.c: what algorithms are written with: messages, trees, blocks. */
#include "sched.h"

void MPIR_Coll_note(struct coll *c, int err)
{
    if (!err || c->st->refused)
        return;
    struct ku_err words = *ku_err_last();
    int refused = MPIR_Refused(c->comm, c->which, c->tag);
    c->st->refused = refused != 0;
    if (c->st->err)
        return;
    if (!refused)
        *ku_err_last() = words;
    c->st->err = refused ? refused : err;
    c->st->words = *ku_err_last();
    c->st->mute = true;
    if (c->comm->brittle && err == MPID_ERR_PROC_FAILED)
        MPIR_Comm_revoked(&c->comm->adi);
}

/* ---- Messages -------------------------------------------------------------------------------------------------- */

/* Somebody has refused the call: there is nobody to send to or to wait for. */
static inline bool over(const struct coll *c)
{
    return __builtin_expect(c->st->mute, 0) && c->st->refused;
}

static int64_t quiet(const struct coll *c, int64_t count)
{
    return c->st->mute ? 0 : count;
}

/* A member of the group that is known to be gone: its error; else 0. */
static int received_lost(const MPIR_Comm *comm)
{
    int err = 0;
    for (int32_t i = 0; i < comm->adi.remote_size && !err; i++)
        (void)MPID_Lost(MPIR_Comm_grank(comm, i), &err);
    return err;
}

/* The empty message of a process that is mute: why it is, as far as this one knows. */
static int received_none(const struct coll *c, int64_t expect, int source)
{
    MPID_Peer_failed();
    int err = received_lost(c->comm);
    if (!err && c->comm->local)
        err = received_lost(c->comm->local);
    if (err)
        return err;
    return MPIR_Err(MPID_Survives() ? MPID_ERR_PROC_FAILED : MPI_ERR_TRUNCATE, NULL,
                    "rank %d sent 0 bytes; expected %lld: ranks differ in counts or types, or one failed",
                    source, (long long)expect);
}

void MPIR_Coll_received(struct coll *c, int err, const MPIR_Status *status, int64_t expect, int source)
{
    if (!err && status->count != expect && !c->st->mute) {
        if (status->count == 0)
            err = received_none(c, expect, source);
        else
            err = MPIR_Err(
                MPI_ERR_TRUNCATE, NULL,
                "rank %d sent %lld bytes; expected %lld: ranks differ in counts or types, or one failed",
                source, (long long)status->count, (long long)expect);
    }
    MPIR_Coll_note(c, err);
}

void MPIR_Coll_send(struct coll *c, const void *buf, int64_t count, MPIR_Datatype *type, int dest)
{
    if (coll_noting(c)) {
        MPIR_Sched_send(c, buf, count, type, dest, true);
        return;
    }
    if (over(c))
        return;
    MPIR_Coll_note(c, MPIR_P2p_send(buf, quiet(c, count), type, dest, c->tag, c->comm, c->which));
}

void MPIR_Coll_recv(struct coll *c, void *buf, int64_t count, MPIR_Datatype *type, int source)
{
    if (coll_noting(c)) {
        MPIR_Sched_recv(c, buf, count, type, source, true);
        return;
    }
    if (over(c))
        return;
    MPIR_Status status = { 0 };
    int err = MPIR_P2p_recv(buf, quiet(c, count), type, source, c->tag, c->comm, c->which, &status);
    MPIR_Coll_received(c, err, &status, count * type->adi.size, source);
}

void MPIR_Coll_recv_heap(struct coll *c, struct coll_heap *h, int source)
{
    if (coll_noting(c)) {
        MPIR_Sched_recv_heap(c, h, source);
        return;
    }
    if (over(c))
        return;
    MPIR_Status status = { 0 };
    MPIR_Coll_note(c, MPIR_P2p_recv(h->data + h->used, quiet(c, h->room - h->used), coll_bytes(), source,
                                    c->tag, c->comm, c->which, &status));
    h->used += status.count;
}

void MPIR_Coll_sendrecv(struct coll *c, const void *sbuf, int64_t scount, MPIR_Datatype *stype, int dest,
                        void *rbuf, int64_t rcount, MPIR_Datatype *rtype, int source)
{
    if (coll_noting(c)) {
        uint32_t step = MPIR_Sched_recv(c, rbuf, rcount, rtype, source, false);
        MPIR_Sched_send(c, sbuf, scount, stype, dest, true);
        MPIR_Sched_wait(c, step, NULL);
        return;
    }
    if (over(c))
        return;
    MPIR_Status status = { 0 };
    int err = MPIR_P2p_sendrecv(sbuf, quiet(c, scount), stype, dest, c->tag, rbuf, quiet(c, rcount), rtype,
                                source, c->tag, c->comm, c->which, &status);
    MPIR_Coll_received(c, err, &status, rcount * rtype->adi.size, source);
}

/* Wait for the oldest request of the batch. */
static void batch_shift(struct coll_batch *b)
{
    uint32_t i = b->first % COLL_BATCH;
    MPIR_Request *r = &b->op[i].request;
    b->first++;
    b->n--;
    if (coll_noting(b->c)) {
        MPIR_Sched_wait(b->c, b->op[i].step, b->op[i].wanted);
        return;
    }
    if (b->op[i].wanted && !*b->op[i].wanted)
        MPID_Cancel(r);
    MPIR_Status status = { 0 };
    int err = MPID_Wait(r, &status);
    if (b->op[i].expect < 0) {
        MPIR_Coll_note(b->c, err);
    } else {
        MPIR_Coll_received(b->c, err, &status, b->op[i].expect, b->op[i].source);
    }
}

/* A free place in the batch. */
static uint32_t batch_place(struct coll_batch *b, int64_t expect, int source)
{
    if (b->n == b->limit)
        batch_shift(b);
    uint32_t i = (b->first + b->n) % COLL_BATCH;
    b->op[i].expect = expect;
    b->op[i].source = source;
    b->op[i].wanted = NULL;
    b->op[i].request.obj = (struct keel_object){ .index = KEEL_NO_INDEX, .refs = 1 };
    return i;
}

void MPIR_Coll_batch_send(struct coll_batch *b, const void *buf, int64_t count, MPIR_Datatype *type, int dest)
{
    struct coll *c = b->c;
    uint32_t i = batch_place(b, -1, dest);
    if (coll_noting(c)) {
        b->op[i].step = MPIR_Sched_send(c, buf, count, type, dest, false);
        b->n++;
        return;
    }
    if (over(c))
        return;
    int err = MPIR_P2p_isend(buf, quiet(c, count), type, dest, c->tag, c->comm, c->which, &b->op[i].request);
    if (err)
        MPIR_Coll_note(c, err);
    else
        b->n++;
}

void MPIR_Coll_batch_recv_while(struct coll_batch *b, const bool *wanted, void *buf, int64_t count,
                                MPIR_Datatype *type, int source)
{
    struct coll *c = b->c;
    uint32_t i = batch_place(b, count * type->adi.size, source);
    b->op[i].wanted = wanted;
    if (coll_noting(c)) {
        b->op[i].step = MPIR_Sched_recv(c, buf, count, type, source, false);
        b->n++;
        return;
    }
    if (over(c))
        return;
    int err =
        MPIR_P2p_irecv(buf, quiet(c, count), type, source, c->tag, c->comm, c->which, &b->op[i].request);
    if (err)
        MPIR_Coll_note(c, err);
    else
        b->n++;
}

void MPIR_Coll_batch_recv(struct coll_batch *b, void *buf, int64_t count, MPIR_Datatype *type, int source)
{
    MPIR_Coll_batch_recv_while(b, NULL, buf, count, type, source);
}

void MPIR_Coll_batch_send_heap(struct coll_batch *b, const struct coll_heap *h, int dest)
{
    if (!coll_noting(b->c)) {
        MPIR_Coll_batch_send(b, h->data, h->used, coll_bytes(), dest);
        return;
    }
    uint32_t i = batch_place(b, -1, dest);
    b->op[i].step = MPIR_Sched_send_heap(b->c, h, dest);
    b->n++;
}

void MPIR_Coll_batch_recv_if(struct coll_batch *b, const bool *wanted, void *buf, int64_t count,
                             MPIR_Datatype *type, int source)
{
    if (!coll_noting(b->c)) {
        if (*wanted)
            MPIR_Coll_batch_recv(b, buf, count, type, source);
        return;
    }
    uint32_t i = batch_place(b, 0, source);
    b->op[i].step = MPIR_Sched_recv_if(b->c, wanted, buf, count, type, source);
    b->n++;
}

void MPIR_Coll_batch_end(struct coll_batch *b)
{
    while (b->n)
        batch_shift(b);
}

/* ---- Data ------------------------------------------------------------------------------------------------------- */

void MPIR_Coll_copy(struct coll *c, const void *src, int64_t scount, MPIR_Datatype *stype, void *dst,
                    int64_t dcount, MPIR_Datatype *dtype)
{
    /* absolute types may lead from one address, MPI_BOTTOM, to different data */
    if (c->st->mute || (src == dst && stype == dtype))
        return;
    if (coll_noting(c))
        MPIR_Sched_copy(c, src, scount, stype, dst, dcount, dtype);
    else
        MPIR_Coll_note(c, MPIR_Localcopy(src, scount, stype, dst, dcount, dtype));
}

void MPIR_Coll_combine(struct coll *c, const void *in, void *inout, int64_t count)
{
    if (c->st->mute || count <= 0)
        return;
    if (coll_noting(c))
        MPIR_Sched_combine(c, in, inout, count);
    else
        MPIR_Op_apply(c->op, in, inout, count, c->rtype);
}

void MPIR_Coll_call(struct coll *c, coll_call *fn, void *arg)
{
    if (coll_noting(c))
        MPIR_Sched_call(c, fn, arg);
    else
        fn(c, arg);
}

/* ---- Trees ----------------------------------------------------------------------------------------------------- */

struct coll_tree MPIR_Coll_tree_of(int64_t v, int64_t p, int radix)
{
    struct coll_tree t = { .parent = -1, .step = 1 };
    while (t.step < p && v % (t.step * radix) == 0)
        t.step *= radix;
    if (v != 0)
        t.parent = v - v % (t.step * radix);
    t.span = v + t.step < p ? t.step : p - v;
    return t;
}

static void each_child_at(struct coll *c, int64_t v, int64_t end, int64_t step, int radix, bool up,
                          coll_child_fn fn, void *arg)
{
    for (int d = 1; d < radix; d++) {
        int64_t child = v + (up ? d : radix - d) * step;
        if (child < end)
            fn(c, arg, child, child + step < end ? step : end - child);
    }
}

void MPIR_Coll_each_child(struct coll *c, int64_t v, int64_t p, int radix, bool up, coll_child_fn fn,
                          void *arg)
{
    struct coll_tree t = MPIR_Coll_tree_of(v, p, radix);
    int64_t end = v + t.span;
    if (up)
        for (int64_t step = 1; step < t.step; step *= radix)
            each_child_at(c, v, end, step, radix, up, fn, arg);
    else
        for (int64_t step = t.step / radix; step >= 1; step /= radix)
            each_child_at(c, v, end, step, radix, up, fn, arg);
}

double MPIR_Coll_levels(int32_t p, int radix)
{
    double n = 0;
    for (int64_t k = 1; k < p; k *= radix)
        n++;
    return n;
}

/* A tree walked `ways` times (1: up or down; 2: both), with `bytes` in each message. */
struct coll_cost MPIR_Coll_tree_cost(const struct coll_size *s, int radix, double ways, double bytes)
{
    double levels = MPIR_Coll_levels(s->p, radix), fan = radix - 1 < s->p - 1 ? radix - 1 : s->p - 1;
    return (struct coll_cost){ .rounds = ways * levels,
                               .messages = ways * levels * fan,
                               .bytes = ways * levels * fan * bytes,
                               .waits = ways * s->p,
                               .total_bytes = ways * (s->p - 1) * bytes };
}

/* ---- Blocks ---------------------------------------------------------------------------------------------------- */

static struct coll_block block(const void *buf, int64_t i, int64_t count, MPIR_Datatype *type,
                               MPIR_Counts counts, MPIR_Counts displs, MPIR_Datatype *const *types)
{
    if (types)
        return (struct coll_block){ (char *)(uintptr_t)buf + MPIR_counts_get(displs, i),
                                    MPIR_counts_get(counts, i), types[i] };
    if (counts.p)
        return (struct coll_block){ coll_at(buf, MPIR_counts_get(displs, i), type),
                                    MPIR_counts_get(counts, i), type };
    return (struct coll_block){ coll_at(buf, i * count, type), count, type };
}

struct coll_block MPIR_Coll_sblock(const struct coll *c, int64_t i)
{
    return block(c->sbuf, i, c->scount, c->stype, c->scounts, c->sdispls, c->stypes);
}

struct coll_block MPIR_Coll_rblock(const struct coll *c, int64_t i)
{
    return block(c->rbuf, i, c->rcount, c->rtype, c->rcounts, c->rdispls, c->rtypes);
}

void MPIR_Coll_own_block(struct coll *c)
{
    struct coll_block b = MPIR_Coll_rblock(c, c->rank);
    if (!coll_in_place(c->sbuf))
        MPIR_Coll_copy(c, c->sbuf, c->scount, c->stype, b.buf, b.count, b.type);
}

void MPIR_Coll_bring_input(struct coll *c)
{
    if (!coll_in_place(c->sbuf))
        MPIR_Coll_copy(c, c->sbuf, c->rcount, c->rtype, c->rbuf, c->rcount, c->rtype);
}

void MPIR_Coll_reduction_is(struct coll *c, struct coll_size *s)
{
    s->elements = c->rcount;
    s->bytes = c->rcount * c->rtype->adi.size;
    s->unit = c->rtype->adi.size;
    s->commutative = c->op->commutative;
    s->local = c->rcount == 0 || c->size == 1;
    if (c->size == 1 && c->rcount > 0)
        c->before = MPIR_Coll_bring_input;
}

int64_t MPIR_Coll_total(MPIR_Counts counts, int32_t p, int64_t *most)
{
    int64_t sum = 0, max = 0;
    for (int32_t i = 0; i < p; i++) {
        int64_t n = MPIR_counts_get(counts, i);
        sum += n;
        max = n > max ? n : max;
    }
    if (most)
        *most = max;
    return sum;
}
