/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.c: MPI_Gather, MPI_Gatherv and their kin (7.5).  Only the root looks at rbuf, rcount(s), rtype. */
#include "coll.h"
#include "nodes.h"

void MPIR_Coll_gather_linear(struct coll *c)
{
    struct coll_batch b;
    if (c->rank != c->root) {
        if (c->scount > 0 && c->stype->adi.size > 0)
            MPIR_Coll_send(c, c->sbuf, c->scount, c->stype, c->root);
        return;
    }
    coll_batch_begin(&b, c);
    for (int32_t i = 0; i < c->size; i++) {
        struct coll_block from = MPIR_Coll_rblock(c, i);
        if (i != c->rank && !coll_empty(&from))
            MPIR_Coll_batch_recv(&b, from.buf, from.count, from.type, i);
    }
    MPIR_Coll_own_block(c);
    MPIR_Coll_batch_end(&b);
}

/* ---- Binomial tree: a process collects the blocks of its subtree, a range of ranks counted from the root ----- */

struct subtree {
    void *blocks; /* below the root: of this process and those after it, stype */
    int64_t v;
};

/* At the root: the blocks of a subtree, whose ranks may go round the end. */
static void to_root(struct coll *c, int64_t child, int64_t span)
{
    int64_t start = coll_real(c, c->root, child), head = start + span > c->size ? c->size - start : span;
    int64_t n = c->rcount * span, cut = c->rcount * head;
    if (head == span) {
        MPIR_Coll_recv(c, coll_at(c->rbuf, start * c->rcount, c->rtype), n, c->rtype, (int)start);
        return;
    }
    void *t = MPIR_Coll_temp(c, n, c->rtype);
    MPIR_Coll_recv(c, t, n, c->rtype, (int)start);
    MPIR_Coll_copy(c, t, cut, c->rtype, coll_at(c->rbuf, start * c->rcount, c->rtype), cut, c->rtype);
    MPIR_Coll_copy(c, coll_at(t, cut, c->rtype), n - cut, c->rtype, c->rbuf, n - cut, c->rtype);
}

static void gather_collect(struct coll *c, void *arg, int64_t child, int64_t span)
{
    struct subtree *s = arg;
    if (s->v == 0)
        to_root(c, child, span);
    else
        MPIR_Coll_recv(c, coll_at(s->blocks, (child - s->v) * c->scount, c->stype), c->scount * span,
                       c->stype, coll_real(c, c->root, child));
}

static void gather_binomial(struct coll *c)
{
    struct subtree s = { .v = coll_vrank(c, c->root) };
    struct coll_tree t = MPIR_Coll_tree_of(s.v, c->size, 2);
    const void *out = c->sbuf;
    if (s.v == 0) {
        MPIR_Coll_own_block(c);
    } else if (t.span > 1) {
        s.blocks = MPIR_Coll_temp(c, c->scount * t.span, c->stype);
        MPIR_Coll_copy(c, c->sbuf, c->scount, c->stype, s.blocks, c->scount, c->stype);
        out = s.blocks;
    }
    MPIR_Coll_each_child(c, s.v, c->size, 2, true, gather_collect, &s);
    if (t.parent >= 0)
        MPIR_Coll_send(c, out, c->scount * t.span, c->stype, coll_real(c, c->root, t.parent));
}

struct coll_cost MPIR_Coll_linear_cost(const struct coll_size *s)
{
    double p = s->p, n = (double)s->bytes;
    return (struct coll_cost){
        .rounds = 1, .messages = p - 1, .bytes = n * (p - 1), .waits = p, .total_bytes = n * (p - 1)
    };
}

struct coll_cost MPIR_Coll_binomial_cost(const struct coll_size *s)
{
    double p = s->p, n = (double)s->bytes, levels = MPIR_Coll_levels(s->p, 2);
    return (struct coll_cost){ .rounds = levels,
                               .messages = levels,
                               .bytes = n * (p - 1) * 1.5,
                               .waits = 1.5 * p,
                               .total_bytes = n * p * (1 + levels / 2) };
}

const struct coll_alg MPIR_Coll_gather_algs[] = {
    { "measured", COLL_NEEDS_STEPS | COLL_BY_MEASURING, MPIR_Coll_pieces_root_cost, MPIR_Coll_pieces_gather },
    { "pieces", COLL_NEEDS_STEPS, MPIR_Coll_pieces_root_cost, MPIR_Coll_pieces_gather },
    { "read", COLL_NEEDS_STEPS | COLL_BY_READING, MPIR_Coll_pieces_root_cost, MPIR_Coll_pieces_gather },
    { "nodes", COLL_NEEDS_NODES, MPIR_Coll_nodes_blocks_cost, MPIR_Coll_nodes_gather },
    { "binomial", COLL_NEIGHBORS | COLL_STRAIGHT, MPIR_Coll_binomial_cost, gather_binomial },
    { "linear", COLL_NEIGHBORS | COLL_STRAIGHT, MPIR_Coll_linear_cost, MPIR_Coll_gather_linear },
    { 0 },
};

const struct coll_alg MPIR_Coll_gatherv_algs[] = {
    { "measured", COLL_NEEDS_STEPS | COLL_BY_MEASURING, MPIR_Coll_pieces_v_cost, MPIR_Coll_pieces_gatherv },
    { "pieces", COLL_NEEDS_STEPS, MPIR_Coll_pieces_v_cost, MPIR_Coll_pieces_gatherv },
    { "read", COLL_NEEDS_STEPS | COLL_BY_READING, MPIR_Coll_pieces_v_cost, MPIR_Coll_pieces_gatherv },
    { "nodes", COLL_NEEDS_NODES, MPIR_Coll_nodes_v_cost, MPIR_Coll_nodes_gatherv },
    { "packed", COLL_NEIGHBORS | COLL_STRAIGHT, MPIR_Coll_packed_cost, MPIR_Coll_gather_packed },
    { "linear", COLL_NEIGHBORS | COLL_STRAIGHT, MPIR_Coll_linear_cost, MPIR_Coll_gather_linear },
    { 0 },
};

int MPIR_Coll_gather_is(struct coll *c, struct coll_size *s)
{
    bool at_root = c->rank == c->root;
    if (coll_in_place(c->sbuf) && !at_root)
        return MPIR_Coll_in_place_misuse("sendbuf", "at the root");
    s->bytes = at_root ? c->rcount * c->rtype->adi.size : c->scount * c->stype->adi.size;
    s->local = s->bytes == 0;
    return 0;
}

int MPIR_Coll_gatherv_is(struct coll *c, struct coll_size *s)
{
    s->unit = COLL_UNKNOWN;
    if (coll_in_place(c->sbuf) && c->rank != c->root)
        return MPIR_Coll_in_place_misuse("sendbuf", "at the root");
    c->nrecv = c->rank == c->root ? c->size : 0;
    return MPIR_Coll_check_counts("recvcounts", c->rcounts, c->nrecv);
}
