/* SPDX-License-Identifier: BSD-3-Clause */
/* scan.c: MPI_Scan, MPI_Exscan and their kin (7.11).  Operands are combined in rank order. */
#include "coll.h"
#include "nodes.h"

static const void *input(const struct coll *c)
{
    return coll_in_place(c->sbuf) ? c->rbuf : c->sbuf;
}

/* ---- Scan ---------------------------------------------------------------------------------------------------- */

/* From rank to rank. */
static void scan_linear(struct coll *c)
{
    if (!coll_in_place(c->sbuf))
        MPIR_Coll_copy(c, c->sbuf, c->rcount, c->rtype, c->rbuf, c->rcount, c->rtype);
    if (c->rank > 0) {
        void *before = MPIR_Coll_temp(c, c->rcount, c->rtype);
        MPIR_Coll_recv(c, before, c->rcount, c->rtype, c->rank - 1);
        MPIR_Coll_combine(c, before, c->rbuf, c->rcount);
    }
    if (c->rank < c->size - 1)
        MPIR_Coll_send(c, c->rbuf, c->rcount, c->rtype, c->rank + 1);
}

/* What both algorithms of doubling keep: the combination of this process's group of 2^k ranks. */
struct doubling {
    void *group, *theirs;
};

static struct doubling begin_doubling(struct coll *c)
{
    struct doubling d = { MPIR_Coll_temp(c, c->rcount, c->rtype), MPIR_Coll_temp(c, c->rcount, c->rtype) };
    MPIR_Coll_copy(c, input(c), c->rcount, c->rtype, d.group, c->rcount, c->rtype);
    return d;
}

/* Fetch the other group's combination into d->theirs. */
static void scan_exchange(struct coll *c, struct doubling *d, int32_t other)
{
    MPIR_Coll_sendrecv(c, d->group, c->rcount, c->rtype, other, d->theirs, c->rcount, c->rtype, other);
}

/* The group of the next size; afterwards `theirs` is free. */
static void scan_grow(struct coll *c, struct doubling *d, int32_t other)
{
    if (other < c->rank) {
        MPIR_Coll_combine(c, d->theirs, d->group, c->rcount);
        return;
    }
    MPIR_Coll_combine(c, d->group, d->theirs, c->rcount);
    void *t = d->group;
    d->group = d->theirs;
    d->theirs = t;
}

static void scan_doubling(struct coll *c)
{
    struct doubling d = begin_doubling(c);
    if (!coll_in_place(c->sbuf))
        MPIR_Coll_copy(c, c->sbuf, c->rcount, c->rtype, c->rbuf, c->rcount, c->rtype);
    for (int64_t k = 1; k < c->size; k *= 2) {
        int32_t other = (int32_t)(c->rank ^ k);
        if (other >= c->size)
            continue;
        scan_exchange(c, &d, other);
        if (other < c->rank)
            MPIR_Coll_combine(c, d.theirs, c->rbuf, c->rcount);
        scan_grow(c, &d, other);
    }
}

/* ---- Exscan: rank 0's rbuf stays as it is -------------------------------------------------------------------- */

static void exscan_linear(struct coll *c)
{
    bool first = c->rank == 0, last = c->rank == c->size - 1;
    void *upto = (void *)(uintptr_t)input(c);
    if (!first && !last) {
        upto = MPIR_Coll_temp(c, c->rcount, c->rtype);
        MPIR_Coll_copy(c, input(c), c->rcount, c->rtype, upto, c->rcount, c->rtype);
    }
    if (!first)
        MPIR_Coll_recv(c, c->rbuf, c->rcount, c->rtype, c->rank - 1);
    if (!first && !last)
        MPIR_Coll_combine(c, c->rbuf, upto, c->rcount);
    if (!last)
        MPIR_Coll_send(c, upto, c->rcount, c->rtype, c->rank + 1);
}

static void exscan_doubling(struct coll *c)
{
    struct doubling d = begin_doubling(c);
    bool any = false;
    for (int64_t k = 1; k < c->size; k *= 2) {
        int32_t other = (int32_t)(c->rank ^ k);
        if (other >= c->size)
            continue;
        scan_exchange(c, &d, other);
        if (other < c->rank) {
            if (any)
                MPIR_Coll_combine(c, d.theirs, c->rbuf, c->rcount);
            else
                MPIR_Coll_copy(c, d.theirs, c->rcount, c->rtype, c->rbuf, c->rcount, c->rtype);
            any = true;
        }
        scan_grow(c, &d, other);
    }
}

/* ---- At a team: the last to arrive combines for all ---------------------------------------------------------- */

static void scan_team(struct coll *c)
{
    MPIR_Coll_team_put(c, input(c), c->rcount, c->rtype);
    if (MPIR_Coll_team_meet(c, MPIR_Coll_team_fold))
        MPIR_Coll_team_result(c, c->rank, 0, c->rbuf, c->rcount);
}

static void exscan_team(struct coll *c)
{
    MPIR_Coll_team_put(c, input(c), c->rcount, c->rtype);
    if (MPIR_Coll_team_meet(c, MPIR_Coll_team_fold) && c->rank > 0)
        MPIR_Coll_team_result(c, c->rank - 1, 0, c->rbuf, c->rcount);
}

static struct coll_cost scan_linear_cost(const struct coll_size *s)
{
    double p = s->p, n = (double)s->bytes;
    return (struct coll_cost){ .rounds = p - 1,
                               .messages = p - 1,
                               .bytes = n * (p - 1),
                               .copied = n * (p - 1),
                               .waits = p,
                               .total_bytes = n * (p - 1) };
}

static struct coll_cost doubling_cost(const struct coll_size *s)
{
    double p = s->p, n = (double)s->bytes, levels = MPIR_Coll_levels(s->p, 2);
    return (struct coll_cost){ .rounds = levels,
                               .messages = levels,
                               .bytes = n * levels,
                               .copied = 1.5 * n * levels, /* a result, and what is passed on */
                               .waits = p * levels,
                               .total_bytes = n * p * levels };
}

const struct coll_alg MPIR_Coll_scan_algs[] = {
    { "team", COLL_NEEDS_TEAM, MPIR_Coll_team_cost, scan_team },
    { "nodes", COLL_NEEDS_NODES | COLL_NEEDS_BLOCKS, MPIR_Coll_nodes_scan_cost, MPIR_Coll_nodes_scan },
    { "doubling", COLL_NEAR_FIRST, doubling_cost, scan_doubling },
    { "linear", COLL_NEIGHBORS | COLL_CHAIN, scan_linear_cost, scan_linear },
    { 0 },
};

const struct coll_alg MPIR_Coll_exscan_algs[] = {
    { "team", COLL_NEEDS_TEAM, MPIR_Coll_team_cost, exscan_team },
    { "nodes", COLL_NEEDS_NODES | COLL_NEEDS_BLOCKS, MPIR_Coll_nodes_scan_cost, MPIR_Coll_nodes_exscan },
    { "doubling", COLL_NEAR_FIRST, doubling_cost, exscan_doubling },
    { "linear", COLL_NEIGHBORS | COLL_CHAIN, scan_linear_cost, exscan_linear },
    { 0 },
};

int MPIR_Coll_scan_is(struct coll *c, struct coll_size *s)
{
    MPIR_Coll_reduction_is(c, s);
    s->room = MPIR_Coll_team_operand(c->rcount, c->rtype);
    return 0;
}

int MPIR_Coll_exscan_is(struct coll *c, struct coll_size *s)
{
    int err = MPIR_Coll_scan_is(c, s);
    c->before = NULL;
    return err;
}
