/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor.c: MPI_Neighbor_allgather, MPI_Neighbor_alltoall and their kin (9.6 to 9.8): a message for each edge of
 * the communicator's topology.
 *
 * Edges between the same two processes are told from each other by their order, which both ends have alike.  A
 * grid's is the order of directions: what goes down arrives from above, so there receives come in pairs the other
 * way round; this counts where both neighbors of a dimension are one process.
 *
 * A process with many edges takes them in the order of the distance in ranks from the sender to the receiver, each
 * time the k-th receive of a distance before the k-th send of it.  Then it may wait for its oldest message while
 * others have not begun: by induction the first message, in this order, that anybody waits for has begun on both
 * sides. */
#include "bodies.h"
#include "coll.h"
#include "topo.h"
#include <stdlib.h>

/* What this process sends to, or receives from, its neighbor i. */
static struct coll_block out_block(const struct coll *c, int64_t i)
{
    if (c->kind == COLL_NEIGHBOR_ALLGATHER)
        return (struct coll_block){ (void *)(uintptr_t)c->sbuf, c->scount, c->stype };
    return MPIR_Coll_sblock(c, i);
}

struct neighbors {
    int in, out;
    bool grid;
    int *sources, *destinations;
};

/* Also for a process that is mute and plays its part; NULL: there is no memory for it (noted). */
static void *neighbor_list(struct coll *c, int64_t bytes)
{
    struct coll_state *st = c->st;
    int64_t before = st->ntemps + (int64_t)st->used;
    void *p = MPIR_Coll_temp(c, bytes, coll_bytes());
    return bytes == 0 || st->ntemps + (int64_t)st->used > before ? p : NULL;
}

/* False: there is no memory for them (noted). */
static bool find_neighbors(struct coll *c, struct neighbors *n)
{
    int kind = MPI_UNDEFINED;
    MPIR_Coll_note(c, MPIR_Topo_degrees(c->comm, &n->in, &n->out));
    n->sources = neighbor_list(c, (n->in + n->out) * (int64_t)sizeof *n->sources);
    if (!n->sources)
        return false;
    n->destinations = n->sources + n->in;
    MPIR_Coll_note(c, MPIR_Topo_neighbors(c->comm, n->sources, n->destinations));
    MPIR_Topo_test(c->comm, &kind);
    n->grid = kind == MPI_CART;
    return true;
}

static void receive(struct coll_batch *b, const struct neighbors *n, int i)
{
    struct coll_block to = MPIR_Coll_rblock(b->c, i);
    if (n->sources[i] >= 0 && !coll_empty(&to))
        MPIR_Coll_batch_recv(b, to.buf, to.count, to.type, n->sources[i]);
}

static void send(struct coll_batch *b, const struct neighbors *n, int i)
{
    struct coll_block from = out_block(b->c, i);
    if (n->destinations[i] >= 0 && !coll_empty(&from))
        MPIR_Coll_batch_send(b, from.buf, from.count, from.type, n->destinations[i]);
}

/* ---- All at once --------------------------------------------------------------------------------------------- */

static void all_at_once(struct coll *c, const struct neighbors *n)
{
    struct coll_batch b;
    coll_batch_begin(&b, c);
    for (int i = 0; i < n->in; i++)
        receive(&b, n, n->grid ? i ^ 1 : i);
    for (int i = 0; i < n->out; i++)
        send(&b, n, i);
    MPIR_Coll_batch_end(&b);
}

/* ---- A few at a time ----------------------------------------------------------------------------------------- */

struct edge {
    int32_t distance, index;
    int32_t turn; /* at first its place among all, then among those of the same distance and direction */
    bool out;
};

static int by_direction(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    if (x->out != y->out)
        return x->out ? 1 : -1;
    return x->turn < y->turn ? -1 : 1;
}

static int by_turn(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return x->out ? 1 : -1;
}

static void edge_to(struct coll *c, struct edge *e, int *nedges, int peer, int index, int turn)
{
    struct coll_block block = out_block(c, index);
    if (peer >= 0 && !coll_empty(&block))
        e[(*nedges)++] = (struct edge){ (peer - c->rank + c->size) % c->size, index, turn, true };
}

static void edge_from(struct coll *c, struct edge *e, int *nedges, int peer, int index, int turn)
{
    struct coll_block block = MPIR_Coll_rblock(c, index);
    if (peer >= 0 && !coll_empty(&block))
        e[(*nedges)++] = (struct edge){ (c->rank - peer + c->size) % c->size, index, turn, false };
}

static int in_order(struct coll *c, const struct neighbors *n, struct edge *e)
{
    int nedges = 0;
    for (int i = 0; i < n->in; i++)
        edge_from(c, e, &nedges, n->sources[i], i, n->grid ? i ^ 1 : i);
    for (int i = 0; i < n->out; i++)
        edge_to(c, e, &nedges, n->destinations[i], i, i);
    qsort(e, (size_t)nedges, sizeof *e, by_direction);
    for (int i = 0; i < nedges; i++) {
        bool first = i == 0 || e[i].distance != e[i - 1].distance || e[i].out != e[i - 1].out;
        e[i].turn = first ? 0 : e[i - 1].turn + 1;
    }
    qsort(e, (size_t)nedges, sizeof *e, by_turn);
    return nedges;
}

/* limit: at least 2 */
static void few_at_a_time(struct coll *c, const struct neighbors *n, uint32_t limit)
{
    struct coll_batch b;
    struct edge *e = neighbor_list(c, (n->in + n->out) * (int64_t)sizeof *e);
    if (!e)
        return;
    int nedges = in_order(c, n, e);
    coll_batch_begin(&b, c);
    b.limit = limit;
    for (int i = 0; i < nedges; i++)
        if (e[i].out)
            send(&b, n, e[i].index);
        else
            receive(&b, n, e[i].index);
    MPIR_Coll_batch_end(&b);
}

static void linear(struct coll *c)
{
    struct neighbors n;
    if (!find_neighbors(c, &n))
        return;
    if (n.in + n.out <= COLL_BATCH)
        all_at_once(c, &n);
    else
        few_at_a_time(c, &n, COLL_BATCH);
}

static void in_turn(struct coll *c)
{
    struct neighbors n;
    if (find_neighbors(c, &n))
        few_at_a_time(c, &n, 4);
}

/* ---- Costs; s->elements is the number of neighbors, s->bytes what each of them gets -------------------------- */

static struct coll_cost neighbor_linear_cost(const struct coll_size *s)
{
    double n = (double)s->elements, batches = 2 * n / COLL_BATCH + 1, bytes = n * (double)s->bytes;
    return (struct coll_cost){ .rounds = batches,
                               .messages = 2 * n,
                               .bytes = 1.1 * bytes, /* all at once: the caches suffer */
                               .waits = batches * s->p,
                               .total_bytes = bytes * s->p };
}

static struct coll_cost in_turn_cost(const struct coll_size *s)
{
    double n = (double)s->elements, bytes = n * (double)s->bytes;
    return (struct coll_cost){
        .rounds = n, .messages = 3 * n, .bytes = bytes, .waits = n * s->p, .total_bytes = bytes * s->p
    };
}

const struct coll_alg MPIR_Coll_neighbor_allgather_algs[] = {
    { "linear", 0, neighbor_linear_cost, linear },
    { "in_turn", 0, in_turn_cost, in_turn },
    { 0 },
};

const struct coll_alg MPIR_Coll_neighbor_alltoall_algs[] = {
    { "linear", 0, neighbor_linear_cost, linear },
    { "in_turn", 0, in_turn_cost, in_turn },
    { 0 },
};

static int64_t bytes_for(struct coll *c, int i)
{
    struct coll_block b = out_block(c, i);
    return b.count * b.type->adi.size;
}

/* Which algorithm a process takes is its own affair: the messages are the same. */
int MPIR_Coll_neighbor_is(struct coll *c, struct coll_size *s)
{
    int in = 0, out = 0, err = MPIR_Topo_degrees(c->comm, &in, &out);
    if (err)
        return err;
    if (coll_in_place(c->sbuf))
        return MPIR_Err(MPI_ERR_BUFFER, "sendbuf",
                        "is MPI_IN_PLACE, which neighborhood collectives do not have");
    s->elements = in > out ? in : out;
    s->bytes = out ? bytes_for(c, 0) : 0;
    c->nsend = out;
    c->nrecv = in;
    return 0;
}
