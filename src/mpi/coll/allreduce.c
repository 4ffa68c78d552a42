/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce.c: MPI_Allreduce and its kin (7.9.6).  All processes get the same bits: each element of the result is
 * computed once and copied, or by all in the same order of operands. */
#include "coll.h"
#include "halving.h"
#include "nodes.h"

/* ---- Recursive doubling -------------------------------------------------------------------------------------- */

struct doubling {
    void *acc, *spare; /* spare takes the other side's */
};

/* Always lower op higher, in all processes alike. */
static void merge(struct coll *c, struct doubling *d, bool other_is_lower)
{
    if (other_is_lower) {
        MPIR_Coll_combine(c, d->spare, d->acc, c->rcount);
        return;
    }
    MPIR_Coll_combine(c, d->acc, d->spare, c->rcount);
    void *t = d->acc;
    d->acc = d->spare;
    d->spare = t;
}

static void allreduce_exchange(struct coll *c, struct doubling *d, int32_t n, int32_t pow2, int32_t rem)
{
    for (int32_t mask = 1; mask < pow2; mask *= 2) {
        int32_t other = n ^ mask, partner = other < rem ? 2 * other + 1 : other + rem;
        MPIR_Coll_sendrecv(c, d->acc, c->rcount, c->rtype, partner, d->spare, c->rcount, c->rtype, partner);
        merge(c, d, partner < c->rank);
    }
}

/* Ranks beyond a power of two are taken in by pairs first, and told the result at the end. */
static void doubling(struct coll *c)
{
    struct doubling d = { c->rbuf, MPIR_Coll_temp(c, c->rcount, c->rtype) };
    int32_t pow2 = 1, rem, rank = c->rank;
    while (pow2 <= c->size / 2)
        pow2 *= 2;
    rem = c->size - pow2;
    MPIR_Coll_bring_input(c);
    if (rank < 2 * rem && rank % 2 == 0) {
        MPIR_Coll_send(c, d.acc, c->rcount, c->rtype, rank + 1);
        MPIR_Coll_recv(c, c->rbuf, c->rcount, c->rtype, rank + 1);
        return;
    }
    if (rank < 2 * rem) {
        MPIR_Coll_recv(c, d.spare, c->rcount, c->rtype, rank - 1);
        merge(c, &d, true);
    }
    allreduce_exchange(c, &d, rank < 2 * rem ? rank / 2 : rank - rem, pow2, rem);
    if (rank < 2 * rem)
        MPIR_Coll_send(c, d.acc, c->rcount, c->rtype, rank - 1);
    MPIR_Coll_copy(c, d.acc, c->rcount, c->rtype, c->rbuf, c->rcount, c->rtype);
}

/* ---- Halving, then doubling (Rabenseifner) ------------------------------------------------------------------- */

static void halving(struct coll *c)
{
    struct halving h;
    MPIR_Coll_halve(c, &h, coll_in_place(c->sbuf) ? c->rbuf : c->sbuf, c->rbuf, MPI_UNDEFINED);
    if (h.rank >= 0)
        MPIR_Coll_halving_allgather(c, &h, c->rbuf);
    if (c->rank >= 2 * h.rem)
        return;
    if (h.rank >= 0)
        MPIR_Coll_send(c, c->rbuf, c->rcount, c->rtype, c->rank - 1);
    else
        MPIR_Coll_recv(c, c->rbuf, c->rcount, c->rtype, c->rank + 1);
}

/* ---- Ring ---------------------------------------------------------------------------------------------------- */

static int64_t part_len(const struct coll *c, int64_t i)
{
    return coll_part(c->rcount, c->size, i + 1) - coll_part(c->rcount, c->size, i);
}

static void *part_at(const struct coll *c, int64_t i)
{
    return coll_at(c->rbuf, coll_part(c->rcount, c->size, i), c->rtype);
}

/* Each part goes round once, growing, and once more, complete. */
static void ring(struct coll *c)
{
    int64_t p = c->size, r = c->rank;
    int right = (int)((r + 1) % p), left = (int)((r + p - 1) % p);
    void *spare = MPIR_Coll_temp(c, part_len(c, 0), c->rtype);
    MPIR_Coll_bring_input(c);
    for (int64_t s = 0; s < p - 1; s++) {
        int64_t out = (r - s + p) % p, in = (r - s - 1 + p) % p;
        MPIR_Coll_sendrecv(c, part_at(c, out), part_len(c, out), c->rtype, right, spare, part_len(c, in),
                           c->rtype, left);
        MPIR_Coll_combine(c, spare, part_at(c, in), part_len(c, in));
    }
    for (int64_t s = 0; s < p - 1; s++) {
        int64_t out = (r + 1 - s + p) % p, in = (r - s + p) % p;
        MPIR_Coll_sendrecv(c, part_at(c, out), part_len(c, out), c->rtype, right, part_at(c, in),
                           part_len(c, in), c->rtype, left);
    }
}

/* ---- Up a tree and down -------------------------------------------------------------------------------------- */

static void allreduce_wide(struct coll *c)
{
    MPIR_Coll_reduce_tree(c, coll_in_place(c->sbuf) ? c->rbuf : c->sbuf, c->rbuf, c->rcount, 0, COLL_WIDE);
    MPIR_Coll_bcast_tree(c, c->rbuf, c->rcount, c->rtype, 0, COLL_WIDE);
}

/* ---- At a team: the last to arrive combines for all ---------------------------------------------------------- */

static void allreduce_team(struct coll *c)
{
    MPIR_Coll_team_put(c, coll_in_place(c->sbuf) ? c->rbuf : c->sbuf, c->rcount, c->rtype);
    if (MPIR_Coll_team_meet(c, MPIR_Coll_team_fold))
        MPIR_Coll_team_result(c, c->size - 1, 0, c->rbuf, c->rcount);
}

static struct coll_cost doubling_cost(const struct coll_size *s)
{
    double rounds = MPIR_Coll_levels(s->p, 2) + ((s->p & (s->p - 1)) ? 1 : 0), n = (double)s->bytes;
    return (struct coll_cost){ .rounds = rounds,
                               .messages = rounds,
                               .bytes = rounds * n,
                               .waits = rounds * s->p,
                               .total_bytes = rounds * s->p * n };
}

static struct coll_cost ring_cost(const struct coll_size *s)
{
    double p = s->p, n = (double)s->bytes;
    return (struct coll_cost){ .rounds = 2 * (p - 1),
                               .messages = 2 * (p - 1),
                               .bytes = 2 * n * (p - 1) / p,
                               .waits = 2 * (p - 1) * p,
                               .total_bytes = 2 * n * (p - 1) };
}

static struct coll_cost allreduce_wide_cost(const struct coll_size *s)
{
    return MPIR_Coll_tree_cost(s, COLL_WIDE, 2, (double)s->bytes);
}

const struct coll_alg MPIR_Coll_allreduce_algs[] = {
    { "team", COLL_NEEDS_TEAM, MPIR_Coll_team_cost, allreduce_team },
    { "measured", COLL_NEEDS_STEPS | COLL_BY_MEASURING, MPIR_Coll_slices_cost, MPIR_Coll_slices_allreduce },
    { "slices", COLL_NEEDS_STEPS, MPIR_Coll_slices_cost, MPIR_Coll_slices_allreduce },
    { "read", COLL_NEEDS_STEPS | COLL_BY_READING, MPIR_Coll_slices_cost, MPIR_Coll_slices_allreduce },
    { "nodes", COLL_NEEDS_NODES | COLL_NEEDS_ORDER, MPIR_Coll_nodes_allreduce_cost,
      MPIR_Coll_nodes_allreduce },
    { "doubling", COLL_NEAR_FIRST, doubling_cost, doubling },
    { "halving", COLL_NEEDS_SPREAD | COLL_NEAR_FIRST | COLL_NEIGHBORS, MPIR_Coll_halving_cost, halving },
    { "ring", COLL_NEEDS_SPREAD | COLL_NEEDS_COMMUTATIVE | COLL_NEIGHBORS | COLL_RING, ring_cost, ring },
    { "wide", COLL_NEIGHBORS | COLL_STRAIGHT, allreduce_wide_cost, allreduce_wide },
    { 0 },
};

int MPIR_Coll_allreduce_is(struct coll *c, struct coll_size *s)
{
    MPIR_Coll_reduction_is(c, s);
    s->room = MPIR_Coll_team_operand(c->rcount, c->rtype);
    return 0;
}
