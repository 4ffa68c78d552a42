/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather.c: MPI_Allgather, MPI_Allgatherv and their kin (7.7).  Each process's block is in its place in rbuf
 * before an algorithm starts; from there on all is done in rbuf, in blocks of rtype. */
#include "coll.h"
#include "nodes.h"

static void send_recv_blocks(struct coll *c, int64_t out, int to, int64_t in, int from)
{
    struct coll_block s = MPIR_Coll_rblock(c, out), r = MPIR_Coll_rblock(c, in);
    MPIR_Coll_sendrecv(c, s.buf, s.count, s.type, to, r.buf, r.count, r.type, from);
}

static void ring(struct coll *c)
{
    int64_t p = c->size, r = c->rank;
    for (int64_t s = 0; s < p - 1; s++)
        send_recv_blocks(c, (r - s + p) % p, (int)((r + 1) % p), (r - s - 1 + p) % p, (int)((r + p - 1) % p));
}

/* Processes r and r ^ k have the blocks of k ranks each, and exchange them. */
static void doubling(struct coll *c)
{
    for (int64_t k = 1; k < c->size; k *= 2) {
        int64_t other = c->rank ^ k, mine = c->rank & ~(k - 1), theirs = other & ~(k - 1), n = k * c->rcount;
        MPIR_Coll_sendrecv(c, coll_at(c->rbuf, mine * c->rcount, c->rtype), n, c->rtype, (int)other,
                           coll_at(c->rbuf, theirs * c->rcount, c->rtype), n, c->rtype, (int)other);
    }
}

/* Blocks r, r + 1, ... grow in a temporary by doubling; then they are turned into place. */
static void bruck(struct coll *c)
{
    int64_t p = c->size, r = c->rank, n = c->rcount;
    char *t = MPIR_Coll_temp(c, p * n, c->rtype);
    MPIR_Coll_copy(c, coll_at(c->rbuf, r * n, c->rtype), n, c->rtype, t, n, c->rtype);
    for (int64_t k = 1; k < p; k *= 2) {
        int64_t blocks = k < p - k ? k : p - k;
        MPIR_Coll_sendrecv(c, t, blocks * n, c->rtype, (int)((r - k + p) % p), coll_at(t, k * n, c->rtype),
                           blocks * n, c->rtype, (int)((r + k) % p));
    }
    MPIR_Coll_copy(c, t, (p - r) * n, c->rtype, coll_at(c->rbuf, r * n, c->rtype), (p - r) * n, c->rtype);
    MPIR_Coll_copy(c, coll_at(t, (p - r) * n, c->rtype), r * n, c->rtype, c->rbuf, r * n, c->rtype);
}

static int64_t block_bytes(const struct coll *c, int64_t i)
{
    return MPIR_counts_get(c->rcounts, (c->rank + i) % c->size) * c->rtype->adi.size;
}

/* The same for blocks of any lengths, as bytes one after the other. */
static void bruck_v(struct coll *c)
{
    int64_t p = c->size, r = c->rank, have = block_bytes(c, 0), total = 0;
    for (int64_t i = 0; i < p; i++)
        total += block_bytes(c, i);
    char *t = MPIR_Coll_temp(c, total, coll_bytes());
    struct coll_block mine = MPIR_Coll_rblock(c, r);
    MPIR_Coll_copy(c, mine.buf, mine.count, mine.type, t, have, coll_bytes());
    for (int64_t k = 1; k < p; k *= 2) {
        int64_t blocks = k < p - k ? k : p - k, out = 0, in = 0;
        for (int64_t i = 0; i < blocks; i++) {
            out += block_bytes(c, i);
            in += block_bytes(c, k + i);
        }
        MPIR_Coll_sendrecv(c, t, out, coll_bytes(), (int)((r - k + p) % p), t + have, in, coll_bytes(),
                           (int)((r + k) % p));
        have += in;
    }
    for (int64_t i = 1, at = block_bytes(c, 0); i < p; at += block_bytes(c, i++)) {
        struct coll_block b = MPIR_Coll_rblock(c, (r + i) % p);
        if (!coll_empty(&b))
            MPIR_Coll_copy(c, t + at, block_bytes(c, i), coll_bytes(), b.buf, b.count, b.type);
    }
}

/* ---- To rank 0 and back: few turns of the scheduler ---------------------------------------------------------- */

static void gather_to_0(struct coll *c)
{
    struct coll g = *c;
    struct coll_block mine = MPIR_Coll_rblock(c, c->rank);
    g.root = 0;
    g.sbuf = c->rank == 0 ? MPI_IN_PLACE : mine.buf;
    g.scount = mine.count;
    g.stype = mine.type;
    MPIR_Coll_gather_linear(&g);
}

static void allgather_wide(struct coll *c)
{
    gather_to_0(c);
    MPIR_Coll_bcast_tree(c, c->rbuf, c->size * c->rcount, c->rtype, 0, COLL_WIDE);
}

/* The same, with one datatype for all blocks wherever they lie. */
static void wide_v(struct coll *c)
{
    MPIR_Datatype *all = MPIR_Coll_temp_type(c);
    gather_to_0(c);
    int err = all ? MPID_Type_hindexed(&all->adi, c->size, c->rcounts, 0, c->rdispls, c->rtype->adi.extent,
                                       &c->rtype->adi)
                  : 0;
    if (all && !err)
        err = MPID_Type_commit(&all->adi);
    MPIR_Coll_note(c, err);
    MPIR_Coll_bcast_tree(c, c->rbuf, 1, c->st->err ? c->rtype : all, 0, COLL_WIDE);
}

/* ---- At a team ----------------------------------------------------------------------------------------------- */

static void allgather_team(struct coll *c)
{
    struct coll_block mine = MPIR_Coll_rblock(c, c->rank);
    MPIR_Coll_team_put(c, mine.buf, mine.count, mine.type);
    if (!MPIR_Coll_team_meet(c, NULL))
        return;
    for (int64_t i = 0; i < c->size; i++) {
        struct coll_block b = MPIR_Coll_rblock(c, i);
        if (i != c->rank)
            MPIR_Coll_team_get(c, i, 0, b.buf, b.count, b.type);
    }
}

/* ---- Costs; s->bytes is the sum of all blocks ---------------------------------------------------------------- */

/* Each round takes as long as the longest block. */
static struct coll_cost ring_cost(const struct coll_size *s)
{
    double p = s->p, n = (double)s->bytes,
           most = s->room != COLL_NO_ROOM && (double)s->room > n / p ? (double)s->room : n / p;
    return (struct coll_cost){ .rounds = p - 1,
                               .messages = p - 1,
                               .bytes = most * (p - 1),
                               .waits = p * (p - 1),
                               .total_bytes = n * (p - 1) };
}

static struct coll_cost doubling_cost(const struct coll_size *s)
{
    double p = s->p, n = (double)s->bytes, levels = MPIR_Coll_levels(s->p, 2);
    return (struct coll_cost){ .rounds = levels,
                               .messages = levels,
                               .bytes = n * (p - 1) / p,
                               .waits = p * levels,
                               .total_bytes = n * (p - 1) };
}

static struct coll_cost bruck_cost(const struct coll_size *s)
{
    struct coll_cost cost = doubling_cost(s);
    cost.copied += (double)s->bytes;
    cost.total_bytes += (double)s->bytes * s->p;
    return cost;
}

static struct coll_cost allgather_wide_cost(const struct coll_size *s)
{
    struct coll_cost down = MPIR_Coll_tree_cost(s, COLL_WIDE, 1, (double)s->bytes);
    down.rounds += 1;
    down.messages += s->p - 1;
    down.bytes += (double)s->bytes;
    down.waits += s->p;
    down.total_bytes += (double)s->bytes;
    return down;
}

const struct coll_alg MPIR_Coll_allgather_algs[] = {
    { "team", COLL_NEEDS_TEAM, MPIR_Coll_team_cost, allgather_team },
    { "measured", COLL_NEEDS_STEPS | COLL_BY_MEASURING, MPIR_Coll_pieces_all_cost,
      MPIR_Coll_pieces_allgather },
    { "pieces", COLL_NEEDS_STEPS, MPIR_Coll_pieces_all_cost, MPIR_Coll_pieces_allgather },
    { "read", COLL_NEEDS_STEPS | COLL_BY_READING, MPIR_Coll_pieces_all_cost, MPIR_Coll_pieces_allgather },
    { "nodes", COLL_NEEDS_NODES, MPIR_Coll_nodes_allgather_cost, MPIR_Coll_nodes_allgather },
    { "doubling", COLL_NEEDS_POW2 | COLL_NEAR_FIRST, doubling_cost, doubling },
    { "bruck", 0, bruck_cost, bruck },
    { "ring", COLL_NEIGHBORS | COLL_RING, ring_cost, ring },
    { "wide", COLL_NEIGHBORS | COLL_STRAIGHT, allgather_wide_cost, allgather_wide },
    { 0 },
};

const struct coll_alg MPIR_Coll_allgatherv_algs[] = {
    { "team", COLL_NEEDS_TEAM, MPIR_Coll_team_cost, allgather_team },
    { "measured", COLL_NEEDS_STEPS | COLL_BY_MEASURING, MPIR_Coll_pieces_all_cost,
      MPIR_Coll_pieces_allgather },
    { "pieces", COLL_NEEDS_STEPS, MPIR_Coll_pieces_all_cost, MPIR_Coll_pieces_allgather },
    { "read", COLL_NEEDS_STEPS | COLL_BY_READING, MPIR_Coll_pieces_all_cost, MPIR_Coll_pieces_allgather },
    { "nodes", COLL_NEEDS_NODES, MPIR_Coll_nodes_allgather_cost, MPIR_Coll_nodes_allgatherv },
    { "bruck", 0, bruck_cost, bruck_v },
    { "ring", COLL_NEIGHBORS | COLL_RING, ring_cost, ring },
    { "wide", COLL_NEIGHBORS | COLL_STRAIGHT, allgather_wide_cost, wide_v },
    { 0 },
};

int MPIR_Coll_allgather_is(struct coll *c, struct coll_size *s)
{
    s->room = c->rcount * c->rtype->adi.size;
    s->bytes = c->size * s->room;
    s->local = s->bytes == 0 || c->size == 1;
    c->before = MPIR_Coll_own_block;
    return 0;
}

int MPIR_Coll_allgatherv_is(struct coll *c, struct coll_size *s)
{
    int64_t most;
    c->nrecv = c->size;
    int err = MPIR_Coll_check_counts("recvcounts", c->rcounts, c->nrecv);
    if (err)
        return err;
    s->bytes = MPIR_Coll_total(c->rcounts, c->size, &most) * c->rtype->adi.size;
    s->room = most * c->rtype->adi.size;
    s->local = s->bytes == 0 || c->size == 1;
    c->before = MPIR_Coll_own_block;
    return 0;
}
