/* bcast.c: MPI_Bcast and its kin (7.4).  The data is what rbuf, rcount, rtype say, in all processes. */
#include "coll.h"

/* ---- Tree -------------------------------------------------------------------------------------------------------- */

struct tree_bcast {
    struct coll_batch batch;
    const void *buf;
    int64_t count;
    MPIR_Datatype *type;
    int root;
};

static void pass_on(struct coll *c, void *arg, int64_t child, int64_t span)
{
    struct tree_bcast *b = arg;
    (void)span;
    MPIR_Coll_batch_send(&b->batch, b->buf, b->count, b->type, coll_real(c, b->root, child));
}

void MPIR_Coll_bcast_tree(struct coll *c, void *buf, int64_t count, MPIR_Datatype *type, int root, int radix)
{
    struct tree_bcast b = { .buf = buf, .count = count, .type = type, .root = root };
    int32_t v = coll_vrank(c, root);
    struct coll_tree t = MPIR_Coll_tree_of(v, c->size, radix);
    if (t.parent >= 0)
        MPIR_Coll_recv(c, buf, count, type, coll_real(c, root, t.parent));
    coll_batch_begin(&b.batch, c);
    MPIR_Coll_each_child(c, v, c->size, radix, false, pass_on, &b);
    MPIR_Coll_batch_end(&b.batch);
}

static void binomial(struct coll *c)
{
    MPIR_Coll_bcast_tree(c, c->rbuf, c->rcount, c->rtype, c->root, 2);
}

static void wide(struct coll *c)
{
    MPIR_Coll_bcast_tree(c, c->rbuf, c->rcount, c->rtype, c->root, COLL_WIDE);
}

/* ---- Scatter, then a ring ---------------------------------------------------------------------------------------- */

/* The elements of parts from .. to - 1. */
static int64_t parts(const struct coll *c, int64_t from, int64_t to)
{
    return coll_part(c->rcount, c->size, to) - coll_part(c->rcount, c->size, from);
}

static void *part_at(const struct coll *c, int64_t i)
{
    return coll_at(c->rbuf, coll_part(c->rcount, c->size, i), c->rtype);
}

static void scatter_child(struct coll *c, void *arg, int64_t child, int64_t span)
{
    MPIR_Coll_batch_send(arg, part_at(c, child), parts(c, child, child + span), c->rtype,
                         coll_real(c, c->root, child));
}

/* Each subtree gets its parts, then every process passes on in a ring what it has got. */
static void scatter_ring(struct coll *c)
{
    struct coll_batch b;
    int64_t v = coll_vrank(c, c->root), p = c->size;
    struct coll_tree t = MPIR_Coll_tree_of(v, p, 2);
    if (t.parent >= 0)
        MPIR_Coll_recv(c, part_at(c, v), parts(c, v, v + t.span), c->rtype, coll_real(c, c->root, t.parent));
    coll_batch_begin(&b, c);
    MPIR_Coll_each_child(c, v, p, 2, false, scatter_child, &b);
    MPIR_Coll_batch_end(&b);
    for (int64_t s = 0; s < p - 1; s++) {
        int64_t mine = (v - s + p) % p, next = (v - s - 1 + p) % p;
        MPIR_Coll_sendrecv(c, part_at(c, mine), parts(c, mine, mine + 1), c->rtype,
                           coll_real(c, c->root, (v + 1) % p), part_at(c, next), parts(c, next, next + 1),
                           c->rtype, coll_real(c, c->root, (v + p - 1) % p));
    }
}

/* ---- Chain in segments --------------------------------------------------------------------------------------------- */

enum { SEGMENT = 64 << 10 };

static int64_t segments(int64_t bytes, int64_t elements)
{
    int64_t n = (bytes + SEGMENT - 1) / SEGMENT;
    return n < 1 ? 1 : n > elements ? elements : n;
}

static void chain(struct coll *c)
{
    struct coll_batch b;
    int64_t n = segments(c->rcount * c->rtype->adi.size, c->rcount), v = coll_vrank(c, c->root);
    coll_batch_begin(&b, c);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i * (c->rcount / n) + (i < c->rcount % n ? i : c->rcount % n);
        int64_t len = c->rcount / n + (i < c->rcount % n);
        void *seg = coll_at(c->rbuf, at, c->rtype);
        if (v > 0)
            MPIR_Coll_recv(c, seg, len, c->rtype, coll_real(c, c->root, v - 1));
        if (v < c->size - 1)
            MPIR_Coll_batch_send(&b, seg, len, c->rtype, coll_real(c, c->root, v + 1));
    }
    MPIR_Coll_batch_end(&b);
}

/* ---- At a team ----------------------------------------------------------------------------------------------------- */

static void team(struct coll *c)
{
    if (c->rank == c->root)
        MPIR_Coll_stream_out(c, c->rbuf, c->rcount, c->rtype);
    else
        MPIR_Coll_stream_in(c, c->rbuf, c->rcount, c->rtype);
}

/* ---- Costs --------------------------------------------------------------------------------------------------------- */

static struct coll_cost binomial_cost(const struct coll_size *s)
{
    return MPIR_Coll_tree_cost(s, 2, 1, (double)s->bytes);
}

static struct coll_cost wide_cost(const struct coll_size *s)
{
    return MPIR_Coll_tree_cost(s, COLL_WIDE, 1, (double)s->bytes);
}

static struct coll_cost scatter_ring_cost(const struct coll_size *s)
{
    double p = s->p, n = (double)s->bytes, levels = MPIR_Coll_levels(s->p, 2);
    return (struct coll_cost){ .rounds = levels + p - 1,
                               .messages = levels + p - 1,
                               .bytes = 2 * n * (p - 1) / p,
                               .waits = p * p,
                               .total_bytes = n * (p - 1) + n * levels / 2 };
}

static struct coll_cost chain_cost(const struct coll_size *s)
{
    double p = s->p, n = (double)s->bytes, k = (double)segments(s->bytes, s->elements);
    return (struct coll_cost){ .rounds = p - 2 + k,
                               .messages = p - 2 + k,
                               .bytes = n / k * (p - 2 + k),
                               .waits = p * k,
                               .total_bytes = n * (p - 1) };
}

const struct coll_alg MPIR_Coll_bcast_algs[] = {
    { "team", COLL_NEEDS_TEAM, MPIR_Coll_stream_cost, team },
    { "binomial", 0, binomial_cost, binomial },
    { "wide", 0, wide_cost, wide },
    { "scatter_ring", COLL_NEEDS_SPREAD, scatter_ring_cost, scatter_ring },
    { "chain", 0, chain_cost, chain },
    { 0 },
};

int MPIR_Coll_bcast_is(struct coll *c, struct coll_size *s)
{
    s->local = c->size == 1;
    s->elements = c->rcount;
    s->bytes = c->rcount * c->rtype->adi.size;
    return 0;
}
