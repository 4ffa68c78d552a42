/* SPDX-License-Identifier: BSD-3-Clause */
/* inter_reduce.c: reductions on intercommunicators: each group, or the root, gets the other group's combination
 * (inter.h).
 *
 * Input is always sbuf.  All processes of a group get the same bits: the result is computed once and copied, or by
 * all in the order of the other group's ranks. */
#include "inter.h"

/* ---- The other group's operands one after the other, as they come from its ranks 0, 1, ... ------------------- */

struct fold {
    void *acc, *spare;
    int64_t count, at, len; /* operands have count elements, of which len from `at` on are wanted */
};

static struct fold fold_begin(struct coll *c, int64_t count, int64_t at, int64_t len)
{
    return (struct fold){ .acc = MPIR_Coll_temp(c, count, c->rtype),
                          .spare = MPIR_Coll_temp(c, count, c->rtype),
                          .count = count,
                          .at = at,
                          .len = len };
}

/* Take rank i's operand in. */
static void fold_take(struct coll *c, struct fold *f, int i)
{
    MPIR_Coll_recv(c, i == 0 ? f->acc : f->spare, f->count, c->rtype, i);
    if (i == 0)
        return;
    MPIR_Coll_combine(c, coll_at(f->acc, f->at, c->rtype), coll_at(f->spare, f->at, c->rtype), f->len);
    void *t = f->acc;
    f->acc = f->spare;
    f->spare = t;
}

static void fold_end(struct coll *c, const struct fold *f)
{
    MPIR_Coll_copy(c, coll_at(f->acc, f->at, c->rtype), f->len, c->rtype, c->rbuf, f->len, c->rtype);
}

/* Each gets the operands of all of the other group.  Every process goes through the other group in rank order: who
 * waits for rank i there waits for somebody who has less to do before. */
static void fold_all(struct coll *c, int64_t count, int64_t at, int64_t len)
{
    struct coll_batch b;
    struct fold f = fold_begin(c, count, at, len);
    coll_batch_begin(&b, c);
    for (int i = 0; i < inter_remote(c); i++) {
        MPIR_Coll_batch_send(&b, c->sbuf, count, c->rtype, i);
        fold_take(c, &f, i);
    }
    MPIR_Coll_batch_end(&b);
    fold_end(c, &f);
}

/* The local group's combination of `count` elements, at its rank 0. */
static void *reduce_within(struct coll *c, int64_t count)
{
    struct coll l = MPIR_Inter_within(c);
    l.rbuf = c->rank == 0 ? MPIR_Coll_temp(c, count, c->rtype) : NULL;
    l.rcount = count;
    l.rcounts = (MPIR_Counts){ NULL, 0 };
    MPIR_Inter_run(c, &l, COLL_REDUCE);
    return l.rbuf;
}

/* ---- Reduce: of the other group, at the root ----------------------------------------------------------------- */

static void reduce_direct(struct coll *c)
{
    if (inter_opposite(c))
        MPIR_Coll_send(c, c->sbuf, c->rcount, c->rtype, c->root);
    if (!inter_at_root(c))
        return;
    struct fold f = fold_begin(c, c->rcount, 0, c->rcount);
    for (int i = 0; i < inter_remote(c); i++)
        fold_take(c, &f, i);
    fold_end(c, &f);
}

static void reduce_leader(struct coll *c)
{
    if (inter_opposite(c)) {
        void *result = reduce_within(c, c->rcount);
        if (c->rank == 0)
            MPIR_Coll_send(c, result, c->rcount, c->rtype, c->root);
    }
    if (inter_at_root(c))
        MPIR_Coll_recv(c, c->rbuf, c->rcount, c->rtype, 0);
}

/* ---- Allreduce ----------------------------------------------------------------------------------------------- */

static void allreduce_direct(struct coll *c)
{
    fold_all(c, c->rcount, 0, c->rcount);
}

static void allreduce_leaders(struct coll *c)
{
    struct coll l = MPIR_Inter_within(c);
    void *mine = reduce_within(c, c->rcount);
    if (c->rank == 0)
        MPIR_Coll_sendrecv(c, mine, c->rcount, c->rtype, 0, c->rbuf, c->rcount, c->rtype, 0);
    MPIR_Inter_run(c, &l, COLL_BCAST);
}

/* ---- Reduce_scatter: the other group's combination, in blocks as this group's counts say --------------------- */

/* The elements of blocks 0 .. n - 1. */
static int64_t blocks(const struct coll *c, int32_t n)
{
    return c->rcounts.p ? MPIR_Coll_total(c->rcounts, n, NULL) : n * c->rcount;
}

static void reduce_scatter_direct(struct coll *c)
{
    int64_t at = blocks(c, c->rank);
    fold_all(c, blocks(c, c->size), at, blocks(c, c->rank + 1) - at);
}

static void reduce_scatter_leaders(struct coll *c)
{
    struct coll l = MPIR_Inter_within(c);
    int64_t n = blocks(c, c->size);
    void *mine = reduce_within(c, n), *theirs = c->rank == 0 ? MPIR_Coll_temp(c, n, c->rtype) : NULL;
    if (c->rank == 0)
        MPIR_Coll_sendrecv(c, mine, n, c->rtype, 0, theirs, n, c->rtype, 0);
    MPIR_Coll_hand_out(&l, theirs);
}

/* ---- Tables -------------------------------------------------------------------------------------------------- */

const struct coll_alg MPIR_Inter_reduce_algs[] = {
    { "direct", 0, MPIR_Inter_root_cost, reduce_direct },
    { "leader", 0, MPIR_Inter_leader_cost, reduce_leader },
    { 0 },
};

const struct coll_alg MPIR_Inter_allreduce_algs[] = {
    { "direct", 0, MPIR_Inter_direct_cost, allreduce_direct },
    { "leaders", 0, MPIR_Inter_leaders_cost, allreduce_leaders },
    { 0 },
};

const struct coll_alg MPIR_Inter_reduce_scatter_algs[] = {
    { "direct", 0, MPIR_Inter_direct_cost, reduce_scatter_direct },
    { "leaders", 0, MPIR_Inter_leaders_cost, reduce_scatter_leaders },
    { 0 },
};

/* Bytes: of the whole vector. */
static int vector_is(const struct coll *c, struct coll_size *s, int64_t elements)
{
    s->elements = elements;
    s->bytes = elements * c->rtype->adi.size;
    s->commutative = c->op->commutative;
    return 0;
}

int MPIR_Inter_reduce_is(struct coll *c, struct coll_size *s)
{
    MPIR_Inter_rooted_is(c, s);
    if (!inter_opposite(c) && !inter_at_root(c))
        return 0;
    if (inter_opposite(c) && coll_in_place(c->sbuf))
        return MPIR_Inter_in_place("sendbuf");
    return vector_is(c, s, c->rcount);
}

int MPIR_Inter_allreduce_is(struct coll *c, struct coll_size *s)
{
    MPIR_Inter_all_is(c, s);
    return coll_in_place(c->sbuf) ? MPIR_Inter_in_place("sendbuf") : vector_is(c, s, c->rcount);
}

int MPIR_Inter_reduce_scatter_is(struct coll *c, struct coll_size *s)
{
    MPIR_Inter_all_is(c, s);
    if (coll_in_place(c->sbuf))
        return MPIR_Inter_in_place("sendbuf");
    c->nrecv = c->rcounts.p ? c->size : 0;
    int err = MPIR_Coll_check_counts("recvcounts", c->rcounts, c->nrecv);
    return err ? err : vector_is(c, s, blocks(c, c->size));
}
