/* SPDX-License-Identifier: BSD-3-Clause */
/* alltoall.c: MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw and their kin (7.8).  What the three do with a block is
 * the same. */
#include "coll.h"
#include "nodes.h"

static void own_block(struct coll *c)
{
    struct coll_block s = MPIR_Coll_sblock(c, c->rank), r = MPIR_Coll_rblock(c, c->rank);
    MPIR_Coll_copy(c, s.buf, s.count, s.type, r.buf, r.count, r.type);
}

/* One peer after the other: step k to the rank k further on, from the rank k before. */
static void pairwise(struct coll *c)
{
    int64_t p = c->size, r = c->rank;
    own_block(c);
    for (int64_t k = 1; k < p; k++) {
        int to = (int)((r + k) % p), from = (int)((r - k + p) % p);
        struct coll_block s = MPIR_Coll_sblock(c, to), d = MPIR_Coll_rblock(c, from);
        if (coll_empty(&s) && !coll_empty(&d))
            MPIR_Coll_recv(c, d.buf, d.count, d.type, from);
        else if (coll_empty(&d) && !coll_empty(&s))
            MPIR_Coll_send(c, s.buf, s.count, s.type, to);
        else if (!coll_empty(&s))
            MPIR_Coll_sendrecv(c, s.buf, s.count, s.type, to, d.buf, d.count, d.type, from);
    }
}

/* Between nodes blocks of many peers at once fill the queues of the network, which may then lose packets.  That
 * costs most where the end of a block is lost, which TCP notices late, so in short blocks; with long ones it costs
 * more that the way out of a host is idle until a peer has answered. Processes may differ in this: each waits for
 * the oldest of its messages, and both sides have them in the same order. */
static uint32_t messages_at_once(const struct coll *c)
{
    enum { LEAST = 4, BYTES = 256 << 10, LONG = 1 << 20, LEAST_LONG = 8 }; /* two or four each way */
    int64_t longest = 1;
    if (MPIR_Comm_has_team(c->comm) || MPID_World()->nodes < 2)
        return COLL_BATCH;
    for (int64_t i = 0; i < c->size; i++) {
        struct coll_block s = MPIR_Coll_sblock(c, i), d = MPIR_Coll_rblock(c, i);
        int64_t out = coll_empty(&s) ? 0 : coll_block_bytes(&s),
                in = coll_empty(&d) ? 0 : coll_block_bytes(&d);
        longest = out > longest ? out : longest;
        longest = in > longest ? in : longest;
    }
    if (longest >= LONG)
        return LEAST_LONG;
    int64_t n = BYTES / longest;
    return n < LEAST ? LEAST : n < COLL_BATCH ? (uint32_t)n : COLL_BATCH;
}

/* Many peers at a time, in the same order. */
static void linear(struct coll *c)
{
    struct coll_batch b;
    int64_t p = c->size, r = c->rank;
    coll_batch_begin(&b, c);
    b.limit = messages_at_once(c);
    for (int64_t k = 1; k < p; k++) {
        int to = (int)((r + k) % p), from = (int)((r - k + p) % p);
        struct coll_block s = MPIR_Coll_sblock(c, to), d = MPIR_Coll_rblock(c, from);
        if (!coll_empty(&d))
            MPIR_Coll_batch_recv(&b, d.buf, d.count, d.type, from);
        if (!coll_empty(&s))
            MPIR_Coll_batch_send(&b, s.buf, s.count, s.type, to);
    }
    own_block(c);
    MPIR_Coll_batch_end(&b);
}

/* ---- Bruck: log p messages of half of the data each ---------------------------------------------------------- */

/* Blocks i of t with bit k in i, one after the other in `packed`: copy there (out) or back; the number of blocks. */
static int64_t move_blocks(struct coll *c, char *t, char *packed, int64_t k, bool out)
{
    int64_t n = 0;
    for (int64_t i = k; i < c->size; i++)
        if (i & k) {
            void *a = coll_at(t, i * c->rcount, c->rtype), *b = coll_at(packed, n++ * c->rcount, c->rtype);
            MPIR_Coll_copy(c, out ? a : b, c->rcount, c->rtype, out ? b : a, c->rcount, c->rtype);
        }
    return n;
}

static void bruck(struct coll *c)
{
    int64_t p = c->size, r = c->rank;
    char *t = MPIR_Coll_temp(c, p * c->rcount, c->rtype);
    char *out = MPIR_Coll_temp(c, (p + 1) / 2 * c->rcount, c->rtype),
         *in = MPIR_Coll_temp(c, (p + 1) / 2 * c->rcount, c->rtype);
    for (int64_t i = 0; i < p; i++) {
        struct coll_block s = MPIR_Coll_sblock(c, (r + i) % p);
        MPIR_Coll_copy(c, s.buf, s.count, s.type, coll_at(t, i * c->rcount, c->rtype), c->rcount, c->rtype);
    }
    for (int64_t k = 1; k < p; k *= 2) {
        int64_t n = move_blocks(c, t, out, k, true) * c->rcount;
        MPIR_Coll_sendrecv(c, out, n, c->rtype, (int)((r + k) % p), in, n, c->rtype, (int)((r - k + p) % p));
        move_blocks(c, t, in, k, false);
    }
    for (int64_t i = 0; i < p; i++) {
        struct coll_block d = MPIR_Coll_rblock(c, (r - i + p) % p);
        MPIR_Coll_copy(c, coll_at(t, i * c->rcount, c->rtype), c->rcount, c->rtype, d.buf, d.count, d.type);
    }
}

/* ---- In place: exchange with one peer at a time, through a copy of the block --------------------------------- */

static void *room_for_any_block(struct coll *c)
{
    int64_t most = 0, gap;
    for (int32_t i = 0; i < c->size; i++) {
        struct coll_block b = MPIR_Coll_rblock(c, i);
        int64_t span = coll_empty(&b) ? 0 : MPIR_Datatype_span(b.type, b.count, &gap);
        most = span > most ? span : most;
    }
    return MPIR_Coll_temp(c, most, MPIR_Datatype_predefined(KEEL_MPI_BYTE));
}

/* In round k ranks whose sum is k modulo p meet. */
static void in_place(struct coll *c)
{
    int64_t p = c->size;
    char *room = room_for_any_block(c);
    for (int64_t k = 0; k < p; k++) {
        int other = (int)((k - c->rank + p) % p);
        struct coll_block b = MPIR_Coll_rblock(c, other);
        int64_t gap = 0;
        if (other == c->rank || coll_empty(&b))
            continue;
        MPIR_Datatype_span(b.type, b.count, &gap);
        MPIR_Coll_copy(c, b.buf, b.count, b.type, room - gap, b.count, b.type);
        MPIR_Coll_sendrecv(c, room - gap, b.count, b.type, other, b.buf, b.count, b.type, other);
    }
}

/* ---- At a team: each shows all its blocks -------------------------------------------------------------------- */

static void alltoall_team(struct coll *c)
{
    int64_t bytes = c->rcount * c->rtype->adi.size;
    if (coll_in_place(c->sbuf))
        MPIR_Coll_team_put(c, c->rbuf, c->size * c->rcount, c->rtype);
    else
        MPIR_Coll_team_put(c, c->sbuf, c->size * c->scount, c->stype);
    if (!MPIR_Coll_team_meet(c, NULL))
        return;
    for (int64_t i = 0; i < c->size; i++)
        MPIR_Coll_team_get(c, i, c->rank * bytes, coll_at(c->rbuf, i * c->rcount, c->rtype), c->rcount,
                           c->rtype);
}

/* ---- Costs; s->bytes is one block ---------------------------------------------------------------------------- */

static struct coll_cost pairwise_cost(const struct coll_size *s)
{
    double p = s->p, n = (double)s->bytes;
    return (struct coll_cost){ .rounds = p - 1,
                               .messages = p - 1,
                               .bytes = n * (p - 1),
                               .waits = p * (p - 1),
                               .total_bytes = n * p * (p - 1) };
}

static struct coll_cost alltoall_linear_cost(const struct coll_size *s)
{
    double p = s->p, n = (double)s->bytes, batches = (2 * p) / COLL_BATCH + 1;
    /* All at once: the caches suffer.  Over nodes few are (messages_at_once). */
    double at_once = s->nodes > 1 ? 1 : 1.1;
    return (struct coll_cost){ .rounds = batches,
                               .messages = 2 * (p - 1),
                               .bytes = n * (p - 1) * at_once,
                               .waits = batches * p,
                               .total_bytes = n * p * (p - 1) };
}

static struct coll_cost bruck_cost(const struct coll_size *s)
{
    enum { BLOCK = 160 }; /* bytes that could be copied while a block is looked for */
    double p = s->p, n = (double)s->bytes, levels = MPIR_Coll_levels(s->p, 2);
    return (struct coll_cost){ .rounds = levels,
                               .messages = levels,
                               .bytes = n * p / 2 * levels,
                               .copied = n * p * levels + p * BLOCK, /* one by one */
                               .waits = p * levels,
                               .total_bytes = 1.5 * n * p * p * levels };
}

const struct coll_alg MPIR_Coll_alltoall_algs[] = {
    { "team", COLL_NEEDS_TEAM, MPIR_Coll_team_cost, alltoall_team },
    { "measured", COLL_NEEDS_STEPS | COLL_BY_MEASURING, MPIR_Coll_pieces_cost, MPIR_Coll_pieces_alltoall },
    { "pieces", COLL_NEEDS_STEPS, MPIR_Coll_pieces_cost, MPIR_Coll_pieces_alltoall },
    { "read", COLL_NEEDS_STEPS | COLL_BY_READING, MPIR_Coll_pieces_cost, MPIR_Coll_pieces_alltoall },
    { "nodes", COLL_NEEDS_NODES, MPIR_Coll_nodes_alltoall_cost, MPIR_Coll_nodes_alltoall },
    { "bruck", COLL_NEEDS_SEND, bruck_cost, bruck },
    { "pairwise", COLL_NEEDS_SEND | COLL_STRAIGHT, pairwise_cost, pairwise },
    { "linear", COLL_NEEDS_SEND | COLL_STRAIGHT, alltoall_linear_cost, linear },
    { "in_place", COLL_NEEDS_IN_PLACE, pairwise_cost, in_place },
    { 0 },
};

const struct coll_alg MPIR_Coll_alltoallv_algs[] = {
    { "measured", COLL_NEEDS_STEPS | COLL_BY_MEASURING, MPIR_Coll_pieces_v_cost, MPIR_Coll_pieces_alltoallv },
    { "pieces", COLL_NEEDS_STEPS, MPIR_Coll_pieces_v_cost, MPIR_Coll_pieces_alltoallv },
    { "read", COLL_NEEDS_STEPS | COLL_BY_READING, MPIR_Coll_pieces_v_cost, MPIR_Coll_pieces_alltoallv },
    { "nodes", COLL_NEEDS_NODES | COLL_NEEDS_SEND, MPIR_Coll_nodes_alltoallv_cost,
      MPIR_Coll_nodes_alltoallv },
    { "pairwise", COLL_NEEDS_SEND | COLL_STRAIGHT, pairwise_cost, pairwise },
    { "linear", COLL_NEEDS_SEND | COLL_STRAIGHT, alltoall_linear_cost, linear },
    { "in_place", COLL_NEEDS_IN_PLACE, pairwise_cost, in_place },
    { 0 },
};

const struct coll_alg MPIR_Coll_alltoallw_algs[] = {
    { "measured", COLL_NEEDS_STEPS | COLL_BY_MEASURING, MPIR_Coll_pieces_v_cost, MPIR_Coll_pieces_alltoallv },
    { "pieces", COLL_NEEDS_STEPS, MPIR_Coll_pieces_v_cost, MPIR_Coll_pieces_alltoallv },
    { "read", COLL_NEEDS_STEPS | COLL_BY_READING, MPIR_Coll_pieces_v_cost, MPIR_Coll_pieces_alltoallv },
    { "nodes", COLL_NEEDS_NODES | COLL_NEEDS_SEND, MPIR_Coll_nodes_alltoallv_cost,
      MPIR_Coll_nodes_alltoallv },
    { "pairwise", COLL_NEEDS_SEND | COLL_STRAIGHT, pairwise_cost, pairwise },
    { "linear", COLL_NEEDS_SEND | COLL_STRAIGHT, alltoall_linear_cost, linear },
    { "in_place", COLL_NEEDS_IN_PLACE, pairwise_cost, in_place },
    { 0 },
};

int MPIR_Coll_alltoall_is(struct coll *c, struct coll_size *s)
{
    s->bytes = c->rcount * c->rtype->adi.size;
    s->room = s->bytes < COLL_NO_ROOM / c->size ? s->bytes * c->size : COLL_NO_ROOM;
    s->in_place = coll_in_place(c->sbuf);
    s->local = s->bytes == 0;
    return 0;
}

/* The vector forms: blocks of unknown size elsewhere, so the choice goes by the number of ranks alone. */
int MPIR_Coll_alltoallv_is(struct coll *c, struct coll_size *s)
{
    s->in_place = coll_in_place(c->sbuf);
    s->unit = COLL_UNKNOWN;
    c->nsend = s->in_place ? 0 : c->size;
    c->nrecv = c->size;
    int err = s->in_place ? 0 : MPIR_Coll_check_counts("sendcounts", c->scounts, c->size);
    return err ? err : MPIR_Coll_check_counts("recvcounts", c->rcounts, c->size);
}
