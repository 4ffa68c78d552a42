/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.c: MPI_Reduce and its kin (7.9.1).  Input: sbuf, or rbuf at the root with MPI_IN_PLACE; rcount elements
 * of rtype.
 *
 * Operands are combined in rank order: a tree's subtrees are ranges of ranks.  Where the operation does not
 * commute the tree is rooted at rank 0, which sends the result on. */
#include "coll.h"
#include "nodes.h"
#include "halving.h"

/* ---- Tree -------------------------------------------------------------------------------------------------------- */

struct tree_reduce {
    void *acc, *spare; /* acc holds this rank's operand and those of the ranks right after it */
    int64_t count;
    int root;
};

static void take_in(struct coll *c, void *arg, int64_t child, int64_t span)
{
    struct tree_reduce *r = arg;
    (void)span;
    MPIR_Coll_recv(c, r->spare, r->count, c->rtype, coll_real(c, r->root, child));
    if (coll_commutative(c)) {
        MPIR_Coll_combine(c, r->spare, r->acc, r->count);
    } else {
        MPIR_Coll_combine(c, r->acc, r->spare, r->count);
        void *t = r->acc;
        r->acc = r->spare;
        r->spare = t;
    }
}

/* Reduce into `out` of the root (elsewhere unused); `in` may be `out` there. */
void MPIR_Coll_reduce_tree(struct coll *c, const void *in, void *out, int64_t count, int root, int radix)
{
    int top = coll_commutative(c) ? root : 0;
    int64_t v = coll_vrank(c, top);
    struct coll_tree t = MPIR_Coll_tree_of(v, c->size, radix);
    const void *result = in;
    if (t.span > 1) {
        struct tree_reduce r = { .count = count, .root = top };
        r.acc = c->rank == root ? out : MPIR_Coll_temp(c, count, c->rtype);
        r.spare = MPIR_Coll_temp(c, count, c->rtype);
        MPIR_Coll_copy(c, in, count, c->rtype, r.acc, count, c->rtype);
        MPIR_Coll_each_child(c, v, c->size, radix, true, take_in, &r);
        result = r.acc;
    }
    if (t.parent >= 0)
        MPIR_Coll_send(c, result, count, c->rtype, coll_real(c, top, t.parent));
    if (top == root) {
        if (c->rank == root)
            MPIR_Coll_copy(c, result, count, c->rtype, out, count, c->rtype);
    } else if (c->rank == top) {
        MPIR_Coll_send(c, result, count, c->rtype, root);
    } else if (c->rank == root) {
        MPIR_Coll_recv(c, out, count, c->rtype, top);
    }
}

static const void *input(const struct coll *c)
{
    return coll_in_place(c->sbuf) ? c->rbuf : c->sbuf;
}

static void reduce_binomial(struct coll *c)
{
    MPIR_Coll_reduce_tree(c, input(c), c->rbuf, c->rcount, c->root, 2);
}

static void reduce_wide(struct coll *c)
{
    MPIR_Coll_reduce_tree(c, input(c), c->rbuf, c->rcount, c->root, COLL_WIDE);
}

/* ---- Halving ------------------------------------------------------------------------------------------------- */

static void halving(struct coll *c)
{
    struct halving h;
    void *acc = c->rank == c->root ? c->rbuf : MPIR_Coll_temp(c, c->rcount, c->rtype);
    MPIR_Coll_halve(c, &h, input(c), acc, c->root);
    if (h.rank >= 0)
        MPIR_Coll_halving_gather(c, &h, acc, c->root);
}

static struct coll_cost binomial_cost(const struct coll_size *s)
{
    return MPIR_Coll_tree_cost(s, 2, 1, (double)s->bytes);
}

static struct coll_cost reduce_wide_cost(const struct coll_size *s)
{
    return MPIR_Coll_tree_cost(s, COLL_WIDE, 1, (double)s->bytes);
}

static struct coll_cost halving_cost(const struct coll_size *s)
{
    return MPIR_Coll_halving_cost(s);
}

const struct coll_alg MPIR_Coll_reduce_algs[] = {
    { "slices", COLL_NEEDS_STEPS, MPIR_Coll_slices_cost, MPIR_Coll_slices_reduce },
    { "nodes", COLL_NEEDS_NODES | COLL_NEEDS_ORDER, MPIR_Coll_nodes_down_cost, MPIR_Coll_nodes_reduce },
    { "binomial", COLL_TREE, binomial_cost, reduce_binomial },
    { "wide", COLL_NEIGHBORS | COLL_STRAIGHT, reduce_wide_cost, reduce_wide },
    { "halving", COLL_NEEDS_SPREAD | COLL_NEAR_FIRST | COLL_NEIGHBORS, halving_cost, halving },
    { 0 },
};

int MPIR_Coll_reduce_is(struct coll *c, struct coll_size *s)
{
    if (coll_in_place(c->sbuf) && c->rank != c->root)
        return MPIR_Coll_in_place_misuse("sendbuf", "at the root");
    MPIR_Coll_reduction_is(c, s);
    return 0;
}
