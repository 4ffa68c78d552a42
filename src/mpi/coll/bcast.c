/* SPDX-License-Identifier: BSD-3-Clause */
/* bcast.c: MPI_Bcast and its kin (7.4).  The data is what rbuf, rcount, rtype say, in all processes. */
#include "coll.h"
#include "nodes.h"

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

static void bcast_binomial(struct coll *c)
{
    MPIR_Coll_bcast_tree(c, c->rbuf, c->rcount, c->rtype, c->root, 2);
}

static void bcast_wide(struct coll *c)
{
    MPIR_Coll_bcast_tree(c, c->rbuf, c->rcount, c->rtype, c->root, COLL_WIDE);
}

/* ---- The data as bytes ------------------------------------------------------------------------------------------- */

/* What cuts the data into parts does so by bytes: processes may describe the same data by different counts of
 * different types. */
struct bytes {
    char *at;
    int64_t n;
    MPIR_Datatype *type; /* MPI_BYTE */
};

/* In rbuf itself, or in a packed copy of it. */
static struct bytes bytes_begin(struct coll *c)
{
    struct bytes d = { .n = c->rcount * c->rtype->adi.size, .type = MPIR_Datatype_predefined(KEEL_MPI_BYTE) };
    d.at = c->rtype->adi.is_contig ? c->rbuf : MPIR_Coll_temp(c, d.n, d.type);
    if (d.at != c->rbuf && c->rank == c->root)
        MPIR_Coll_copy(c, c->rbuf, c->rcount, c->rtype, d.at, d.n, d.type);
    return d;
}

static void bytes_end(struct coll *c, const struct bytes *d)
{
    if (d->at != c->rbuf && c->rank != c->root)
        MPIR_Coll_copy(c, d->at, d->n, d->type, c->rbuf, c->rcount, c->rtype);
}

/* ---- Scatter, then a ring ---------------------------------------------------------------------------------------- */

struct scattered {
    struct coll_batch batch;
    struct bytes data;
    int32_t p;
};

/* The bytes of parts from .. to - 1. */
static int64_t parts(const struct scattered *s, int64_t from, int64_t to)
{
    return coll_part(s->data.n, s->p, to) - coll_part(s->data.n, s->p, from);
}

static char *part_at(const struct scattered *s, int64_t i)
{
    return s->data.at + coll_part(s->data.n, s->p, i);
}

static void scatter_child(struct coll *c, void *arg, int64_t child, int64_t span)
{
    struct scattered *s = arg;
    MPIR_Coll_batch_send(&s->batch, part_at(s, child), parts(s, child, child + span), s->data.type,
                         coll_real(c, c->root, child));
}

/* Each subtree gets its parts, then every process passes on in a ring what it has got. */
static void scatter_ring(struct coll *c)
{
    struct scattered s = { .data = bytes_begin(c), .p = c->size };
    int64_t v = coll_vrank(c, c->root), p = c->size;
    struct coll_tree t = MPIR_Coll_tree_of(v, p, 2);
    if (t.parent >= 0)
        MPIR_Coll_recv(c, part_at(&s, v), parts(&s, v, v + t.span), s.data.type,
                       coll_real(c, c->root, t.parent));
    coll_batch_begin(&s.batch, c);
    MPIR_Coll_each_child(c, v, p, 2, false, scatter_child, &s);
    MPIR_Coll_batch_end(&s.batch);
    for (int64_t k = 0; k < p - 1; k++) {
        int64_t mine = (v - k + p) % p, next = (v - k - 1 + p) % p;
        MPIR_Coll_sendrecv(c, part_at(&s, mine), parts(&s, mine, mine + 1), s.data.type,
                           coll_real(c, c->root, (v + 1) % p), part_at(&s, next), parts(&s, next, next + 1),
                           s.data.type, coll_real(c, c->root, (v + p - 1) % p));
    }
    bytes_end(c, &s.data);
}

/* ---- Chain in segments --------------------------------------------------------------------------------------- */

enum { SEGMENT = 64 << 10 };

static int64_t segments(int64_t bytes)
{
    int64_t n = (bytes + SEGMENT - 1) / SEGMENT;
    return n < 1 ? 1 : n;
}

static void chain(struct coll *c)
{
    struct coll_batch b;
    struct bytes d = bytes_begin(c);
    int64_t n = segments(d.n), v = coll_vrank(c, c->root);
    coll_batch_begin(&b, c);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i * SEGMENT, len = d.n - at < SEGMENT ? d.n - at : SEGMENT;
        if (v > 0)
            MPIR_Coll_recv(c, d.at + at, len, d.type, coll_real(c, c->root, v - 1));
        if (v < c->size - 1)
            MPIR_Coll_batch_send(&b, d.at + at, len, d.type, coll_real(c, c->root, v + 1));
    }
    MPIR_Coll_batch_end(&b);
    bytes_end(c, &d);
}

/* ---- At a team ----------------------------------------------------------------------------------------------- */

static void bcast_team(struct coll *c)
{
    if (c->rank == c->root)
        MPIR_Coll_stream_out(c, c->rbuf, c->rcount, c->rtype);
    else
        MPIR_Coll_stream_in(c, c->rbuf, c->rcount, c->rtype);
}

/* ---- Costs --------------------------------------------------------------------------------------------------- */

static struct coll_cost binomial_cost(const struct coll_size *s)
{
    return MPIR_Coll_tree_cost(s, 2, 1, (double)s->bytes);
}

static struct coll_cost bcast_wide_cost(const struct coll_size *s)
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
    double p = s->p, n = (double)s->bytes, k = (double)segments(s->bytes);
    return (struct coll_cost){ .rounds = p - 2 + k,
                               .messages = p - 2 + k,
                               .bytes = n / k * (p - 2 + k),
                               .waits = p * k,
                               .total_bytes = n * (p - 1) };
}

const struct coll_alg MPIR_Coll_bcast_algs[] = {
    { "measured", COLL_NEEDS_TEAM | COLL_BY_MEASURING, MPIR_Coll_stream_cost, bcast_team },
    { "team", COLL_NEEDS_TEAM, MPIR_Coll_stream_cost, bcast_team },
    { "read", COLL_NEEDS_TEAM | COLL_BY_READING, MPIR_Coll_stream_cost, bcast_team },
    { "nodes", COLL_NEEDS_NODES, MPIR_Coll_nodes_down_cost, MPIR_Coll_nodes_bcast },
    { "binomial", COLL_TREE, binomial_cost, bcast_binomial },
    { "wide", COLL_NEIGHBORS | COLL_STRAIGHT, bcast_wide_cost, bcast_wide },
    { "scatter_ring", COLL_NEEDS_SPREAD | COLL_NEIGHBORS | COLL_RING, scatter_ring_cost, scatter_ring },
    { "chain", COLL_NEIGHBORS | COLL_RING, chain_cost, chain },
    { 0 },
};

int MPIR_Coll_bcast_is(struct coll *c, struct coll_size *s)
{
    s->local = c->size == 1;
    s->bytes = c->rcount * c->rtype->adi.size;
    s->elements = s->bytes; /* counts may differ */
    return 0;
}
