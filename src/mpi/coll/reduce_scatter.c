/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce_scatter.c: MPI_Reduce_scatter, MPI_Reduce_scatter_block and their kin (7.10).  Input: sbuf, or rbuf with
 * MPI_IN_PLACE; block i, of rcounts[i] (or rcount) elements of rtype, is for rank i; the result goes to the start
 * of rbuf. */
#include "coll.h"
#include "nodes.h"

static int64_t reduce_scatter_length(const struct coll *c, int64_t i)
{
    return c->rcounts.p ? MPIR_counts_get(c->rcounts, i) : c->rcount;
}

/* The elements of blocks from .. to - 1. */
int64_t MPIR_Coll_lengths(const struct coll *c, int64_t from, int64_t to)
{
    int64_t sum = 0;
    if (!c->rcounts.p)
        return (to - from) * c->rcount;
    for (int64_t i = from; i < to; i++)
        sum += MPIR_counts_get(c->rcounts, i);
    return sum;
}

static const void *input(const struct coll *c)
{
    return coll_in_place(c->sbuf) ? c->rbuf : c->sbuf;
}

/* ---- To rank 0, and from there to each its block ------------------------------------------------------------- */

void MPIR_Coll_hand_out(struct coll *c, const void *all)
{
    struct coll_batch b;
    int64_t at = 0;
    if (c->rank != 0) {
        if (reduce_scatter_length(c, c->rank) > 0)
            MPIR_Coll_recv(c, c->rbuf, reduce_scatter_length(c, c->rank), c->rtype, 0);
        return;
    }
    coll_batch_begin(&b, c);
    for (int32_t i = 0; i < c->size; at += reduce_scatter_length(c, i++))
        if (i != 0 && reduce_scatter_length(c, i) > 0)
            MPIR_Coll_batch_send(&b, coll_at(all, at, c->rtype), reduce_scatter_length(c, i), c->rtype, i);
    MPIR_Coll_copy(c, all, reduce_scatter_length(c, 0), c->rtype, c->rbuf, reduce_scatter_length(c, 0),
                   c->rtype);
    MPIR_Coll_batch_end(&b);
}

static void reduce_scatter_wide(struct coll *c)
{
    int64_t n = MPIR_Coll_lengths(c, 0, c->size);
    void *all = c->rank == 0 ? MPIR_Coll_temp(c, n, c->rtype) : NULL;
    MPIR_Coll_reduce_tree(c, input(c), all, n, 0, COLL_WIDE);
    MPIR_Coll_hand_out(c, all);
}

/* ---- Each block straight to the one it is for ---------------------------------------------------------------- */

static void pairwise(struct coll *c)
{
    int64_t p = c->size, r = c->rank, mine = reduce_scatter_length(c, r), at = MPIR_Coll_lengths(c, 0, r);
    const void *in = input(c);
    void *acc = coll_in_place(c->sbuf) ? MPIR_Coll_temp(c, mine, c->rtype) : c->rbuf,
         *spare = MPIR_Coll_temp(c, mine, c->rtype);
    MPIR_Coll_copy(c, coll_at(in, at, c->rtype), mine, c->rtype, acc, mine, c->rtype);
    for (int64_t k = 1; k < p; k++) {
        int64_t to = (r + k) % p, from = (r - k + p) % p;
        at = to == 0 ? 0 : at + reduce_scatter_length(c, to - 1);
        MPIR_Coll_sendrecv(c, coll_at(in, at, c->rtype), reduce_scatter_length(c, to), c->rtype, (int)to,
                           spare, mine, c->rtype, (int)from);
        MPIR_Coll_combine(c, spare, acc, mine);
    }
    MPIR_Coll_copy(c, acc, mine, c->rtype, c->rbuf, mine, c->rtype);
}

/* ---- Halving: with the one half of the ranks away, then a quarter, ... --------------------------------------- */

struct halves {
    int32_t pow2, rem;
    void *acc, *spare;
};

/* The first rank of number n; numbers below rem stand for two ranks, of which the odd one acts. */
static int32_t first_rank(const struct halves *h, int32_t n)
{
    return n < h->rem ? 2 * n : n + h->rem;
}

static int32_t acting(const struct halves *h, int32_t n)
{
    return n < h->rem ? 2 * n + 1 : n + h->rem;
}

static void halve(struct coll *c, const struct halves *h, int32_t n)
{
    int32_t lo = 0, hi = h->pow2; /* numbers whose blocks this process still works on */
    while (hi - lo > 1) {
        int32_t mid = lo + (hi - lo) / 2, half = (hi - lo) / 2;
        bool lower = n < mid;
        int partner = acting(h, lower ? n + half : n - half);
        int32_t keep = lower ? lo : mid, give = lower ? mid : lo;
        int64_t at = MPIR_Coll_lengths(c, 0, first_rank(h, keep)),
                away = MPIR_Coll_lengths(c, 0, first_rank(h, give));
        int64_t len = MPIR_Coll_lengths(c, first_rank(h, keep), first_rank(h, keep + half));
        MPIR_Coll_sendrecv(c, coll_at(h->acc, away, c->rtype),
                           MPIR_Coll_lengths(c, first_rank(h, give), first_rank(h, give + half)), c->rtype,
                           partner, h->spare, len, c->rtype, partner);
        MPIR_Coll_combine(c, h->spare, coll_at(h->acc, at, c->rtype), len);
        lo = keep;
        hi = keep + half;
    }
}

static void halving(struct coll *c)
{
    struct halves h = { .pow2 = 1 };
    int64_t n = MPIR_Coll_lengths(c, 0, c->size), mine = reduce_scatter_length(c, c->rank),
            at = MPIR_Coll_lengths(c, 0, c->rank);
    int32_t r = c->rank;
    while (h.pow2 <= c->size / 2)
        h.pow2 *= 2;
    h.rem = c->size - h.pow2;
    if (r < 2 * h.rem && r % 2 == 0) {
        MPIR_Coll_send(c, input(c), n, c->rtype, r + 1);
        MPIR_Coll_recv(c, c->rbuf, mine, c->rtype, r + 1);
        return;
    }
    h.acc = MPIR_Coll_temp(c, n, c->rtype);
    h.spare = MPIR_Coll_temp(c, n, c->rtype);
    MPIR_Coll_copy(c, input(c), n, c->rtype, h.acc, n, c->rtype);
    if (r < 2 * h.rem) {
        MPIR_Coll_recv(c, h.spare, n, c->rtype, r - 1);
        MPIR_Coll_combine(c, h.spare, h.acc, n);
    }
    halve(c, &h, r < 2 * h.rem ? r / 2 : r - h.rem);
    if (r < 2 * h.rem)
        MPIR_Coll_send(c, coll_at(h.acc, at - reduce_scatter_length(c, r - 1), c->rtype),
                       reduce_scatter_length(c, r - 1), c->rtype, r - 1);
    MPIR_Coll_copy(c, coll_at(h.acc, at, c->rtype), mine, c->rtype, c->rbuf, mine, c->rtype);
}

/* ---- At a team: the last to arrive combines for all ---------------------------------------------------------- */

static void reduce_scatter_team(struct coll *c)
{
    MPIR_Coll_team_put(c, input(c), MPIR_Coll_lengths(c, 0, c->size), c->rtype);
    if (MPIR_Coll_team_meet(c, MPIR_Coll_team_fold))
        MPIR_Coll_team_result(c, c->size - 1, MPIR_Coll_lengths(c, 0, c->rank), c->rbuf,
                              reduce_scatter_length(c, c->rank));
}

/* ---- Costs; s->bytes is the whole vector --------------------------------------------------------------------- */

static struct coll_cost reduce_scatter_wide_cost(const struct coll_size *s)
{
    double n = (double)s->bytes;
    struct coll_cost cost = MPIR_Coll_tree_cost(s, COLL_WIDE, 1, n);
    cost.rounds += 1;
    cost.messages += s->p - 1;
    cost.bytes += n;
    cost.waits += s->p;
    cost.total_bytes += n;
    return cost;
}

static struct coll_cost pairwise_cost(const struct coll_size *s)
{
    double p = s->p, n = (double)s->bytes;
    return (struct coll_cost){
        .rounds = p - 1, .messages = p - 1, .bytes = n, .waits = p * (p - 1), .total_bytes = n * (p - 1)
    };
}

static struct coll_cost halving_cost(const struct coll_size *s)
{
    double p = s->p, n = (double)s->bytes, odd = (s->p & (s->p - 1)) ? 1 : 0,
           levels = MPIR_Coll_levels(s->p, 2) + odd;
    return (struct coll_cost){ .rounds = levels,
                               .messages = levels,
                               .bytes = n * (1 + odd),
                               .copied = n,
                               .waits = p * levels,
                               .total_bytes = n * p * (2 + odd) };
}

const struct coll_alg MPIR_Coll_reduce_scatter_algs[] = {
    { "team", COLL_NEEDS_TEAM, MPIR_Coll_team_cost, reduce_scatter_team },
    { "measured", COLL_NEEDS_STEPS | COLL_BY_MEASURING, MPIR_Coll_slices_cost,
      MPIR_Coll_slices_reduce_scatter },
    { "slices", COLL_NEEDS_STEPS, MPIR_Coll_slices_cost, MPIR_Coll_slices_reduce_scatter },
    { "read", COLL_NEEDS_STEPS | COLL_BY_READING, MPIR_Coll_slices_cost, MPIR_Coll_slices_reduce_scatter },
    { "nodes", COLL_NEEDS_NODES | COLL_NEEDS_ORDER, MPIR_Coll_nodes_reduce_scatter_cost,
      MPIR_Coll_nodes_reduce_scatter },
    { "halving", COLL_NEEDS_COMMUTATIVE | COLL_NEAR_FIRST, halving_cost, halving },
    { "pairwise", COLL_NEEDS_COMMUTATIVE | COLL_STRAIGHT, pairwise_cost, pairwise },
    { "wide", COLL_NEIGHBORS | COLL_STRAIGHT, reduce_scatter_wide_cost, reduce_scatter_wide },
    { 0 },
};

/* The only process's operand is the result. */
static void alone(struct coll *c)
{
    int64_t n = reduce_scatter_length(c, 0);
    if (!coll_in_place(c->sbuf))
        MPIR_Coll_copy(c, c->sbuf, n, c->rtype, c->rbuf, n, c->rtype);
}

int MPIR_Coll_reduce_scatter_is(struct coll *c, struct coll_size *s)
{
    c->nrecv = c->rcounts.p ? c->size : 0;
    int err = MPIR_Coll_check_counts("recvcounts", c->rcounts, c->nrecv);
    if (err)
        return err;
    int64_t n = MPIR_Coll_lengths(c, 0, c->size);
    s->elements = n;
    s->bytes = n * c->rtype->adi.size;
    s->room = MPIR_Coll_team_operand(n, c->rtype);
    s->unit = c->rtype->adi.size;
    s->commutative = c->op->commutative;
    s->local = n == 0 || c->size == 1;
    c->before = c->size == 1 ? alone : NULL;
    return 0;
}
