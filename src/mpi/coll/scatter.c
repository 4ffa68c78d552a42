/* SPDX-License-Identifier: BSD-3-Clause */
/* scatter.c: MPI_Scatter, MPI_Scatterv and their kin (7.6).  Only the root looks at sbuf, scount(s), stype; rbuf may be
 * MPI_IN_PLACE there. */
#include "coll.h"
#include "nodes.h"

void MPIR_Coll_take_own_block(struct coll *c)
{
    struct coll_block b = MPIR_Coll_sblock(c, c->rank);
    if (!coll_in_place(c->rbuf))
        MPIR_Coll_copy(c, b.buf, b.count, b.type, c->rbuf, c->rcount, c->rtype);
}

static void linear(struct coll *c)
{
    struct coll_batch b;
    if (c->rank != c->root) {
        if (c->rcount > 0 && c->rtype->adi.size > 0)
            MPIR_Coll_recv(c, c->rbuf, c->rcount, c->rtype, c->root);
        return;
    }
    coll_batch_begin(&b, c);
    for (int32_t i = 0; i < c->size; i++) {
        struct coll_block to = MPIR_Coll_sblock(c, i);
        if (i != c->rank && !coll_empty(&to))
            MPIR_Coll_batch_send(&b, to.buf, to.count, to.type, i);
    }
    MPIR_Coll_take_own_block(c);
    MPIR_Coll_batch_end(&b);
}

/* ---- Binomial tree: a process gets the blocks of its subtree, a range of ranks counted from the root --------- */

struct subtree {
    struct coll_batch batch;
    void *blocks; /* below the root: of this process and those after it, rtype */
    int64_t v;
};

/* At the root: the blocks of a subtree, whose ranks may go round the end. */
static void from_root(struct coll *c, struct subtree *s, int64_t child, int64_t span)
{
    int64_t start = coll_real(c, c->root, child), head = start + span > c->size ? c->size - start : span;
    int64_t n = c->scount * span, cut = c->scount * head;
    const void *from = coll_at(c->sbuf, start * c->scount, c->stype);
    if (head < span) {
        void *t = MPIR_Coll_temp(c, n, c->stype);
        MPIR_Coll_copy(c, from, cut, c->stype, t, cut, c->stype);
        MPIR_Coll_copy(c, c->sbuf, n - cut, c->stype, coll_at(t, cut, c->stype), n - cut, c->stype);
        from = t;
    }
    MPIR_Coll_batch_send(&s->batch, from, n, c->stype, (int)start);
}

static void hand_out(struct coll *c, void *arg, int64_t child, int64_t span)
{
    struct subtree *s = arg;
    if (s->v == 0)
        from_root(c, s, child, span);
    else
        MPIR_Coll_batch_send(&s->batch, coll_at(s->blocks, (child - s->v) * c->rcount, c->rtype),
                             c->rcount * span, c->rtype, coll_real(c, c->root, child));
}

static void scatter_binomial(struct coll *c)
{
    struct subtree s = { .v = coll_vrank(c, c->root), .blocks = c->rbuf };
    struct coll_tree t = MPIR_Coll_tree_of(s.v, c->size, 2);
    if (s.v != 0 && t.span > 1)
        s.blocks = MPIR_Coll_temp(c, c->rcount * t.span, c->rtype);
    if (t.parent >= 0)
        MPIR_Coll_recv(c, s.blocks, c->rcount * t.span, c->rtype, coll_real(c, c->root, t.parent));
    coll_batch_begin(&s.batch, c);
    MPIR_Coll_each_child(c, s.v, c->size, 2, false, hand_out, &s);
    if (s.v == 0)
        MPIR_Coll_take_own_block(c);
    else
        MPIR_Coll_copy(c, s.blocks, c->rcount, c->rtype, c->rbuf, c->rcount, c->rtype);
    MPIR_Coll_batch_end(&s.batch);
}

const struct coll_alg MPIR_Coll_scatter_algs[] = {
    { "measured", COLL_NEEDS_STEPS | COLL_BY_MEASURING, MPIR_Coll_pieces_root_cost,
      MPIR_Coll_pieces_scatter },
    { "pieces", COLL_NEEDS_STEPS, MPIR_Coll_pieces_root_cost, MPIR_Coll_pieces_scatter },
    { "read", COLL_NEEDS_STEPS | COLL_BY_READING, MPIR_Coll_pieces_root_cost, MPIR_Coll_pieces_scatter },
    { "nodes", COLL_NEEDS_NODES, MPIR_Coll_nodes_blocks_cost, MPIR_Coll_nodes_scatter },
    { "binomial", COLL_NEIGHBORS | COLL_STRAIGHT, MPIR_Coll_binomial_cost, scatter_binomial },
    { "linear", COLL_NEIGHBORS | COLL_STRAIGHT, MPIR_Coll_linear_cost, linear },
    { 0 },
};

const struct coll_alg MPIR_Coll_scatterv_algs[] = {
    { "measured", COLL_NEEDS_STEPS | COLL_BY_MEASURING, MPIR_Coll_pieces_v_cost, MPIR_Coll_pieces_scatterv },
    { "pieces", COLL_NEEDS_STEPS, MPIR_Coll_pieces_v_cost, MPIR_Coll_pieces_scatterv },
    { "read", COLL_NEEDS_STEPS | COLL_BY_READING, MPIR_Coll_pieces_v_cost, MPIR_Coll_pieces_scatterv },
    { "nodes", COLL_NEEDS_NODES, MPIR_Coll_nodes_v_cost, MPIR_Coll_nodes_scatterv },
    { "packed", COLL_NEIGHBORS | COLL_STRAIGHT, MPIR_Coll_packed_cost, MPIR_Coll_scatter_packed },
    { "linear", COLL_NEIGHBORS | COLL_STRAIGHT, MPIR_Coll_linear_cost, linear },
    { 0 },
};

int MPIR_Coll_scatter_is(struct coll *c, struct coll_size *s)
{
    bool at_root = c->rank == c->root;
    if (coll_in_place(c->rbuf) && !at_root)
        return MPIR_Coll_in_place_misuse("recvbuf", "at the root");
    s->bytes = at_root ? c->scount * c->stype->adi.size : c->rcount * c->rtype->adi.size;
    s->local = s->bytes == 0;
    return 0;
}

int MPIR_Coll_scatterv_is(struct coll *c, struct coll_size *s)
{
    s->unit = COLL_UNKNOWN;
    if (coll_in_place(c->rbuf) && c->rank != c->root)
        return MPIR_Coll_in_place_misuse("recvbuf", "at the root");
    c->nsend = c->rank == c->root ? c->size : 0;
    return MPIR_Coll_check_counts("sendcounts", c->scounts, c->nsend);
}
