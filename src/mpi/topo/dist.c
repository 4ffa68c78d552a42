/* SPDX-License-Identifier: BSD-3-Clause */
/* dist.c: distributed graph topologies: a process keeps its own edges.
 *
 * MPI_Dist_graph_create brings each edge to its two ends: who knows edges of a process sends it one message, and a
 * reduction tells each process how many will come, so that nobody sends a message of nothing.  Edges of one
 * process are kept in the order of who told them and then in the order in which he did: so the k-th edge from a to
 * b is the same one on both.
 *
 * If ranks are reordered, the edges of rank r go to the process that has got rank r. */
#include "topo.h"
#include "process_topology.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "bodies.h"
#include "remap.h"
#include "env.h"
#include "op.h"
#include "p2p.h"
#include "type.h"

/* ---- Weights: all processes have them, or all say MPI_UNWEIGHTED ---------------------------- */

enum { HAS_WEIGHTS, HAS_NONE, REORDER, NO_REORDER, VOTES };

/* Without edges any weights will do, NULL as well: it says nothing of what the others have. */
static int vote(uint32_t *votes, const int *weights, int64_t n, const char *arg)
{
    if (weights == MPI_UNWEIGHTED)
        votes[HAS_NONE] = 1;
    else if (weights == MPI_WEIGHTS_EMPTY && n > 0)
        return MPIR_Err(MPI_ERR_ARG, arg, "is MPI_WEIGHTS_EMPTY; expected weights of %lld edges",
                        (long long)n);
    else if (weights)
        votes[HAS_WEIGHTS] = 1;
    for (int64_t i = 0; i < n && weights != MPI_UNWEIGHTED && weights; i++)
        if (weights[i] < 0)
            return MPIR_Err(MPI_ERR_ARG, arg, "has %d at index %lld; expected at least 0", weights[i],
                            (long long)i);
    return weights ? 0 : MPIR_Topo_check_array(weights, n, arg);
}

/* What all say; on an error of one all fail. */
static int agree(MPIR_Comm *comm, int err, uint32_t *votes, int reorder)
{
    votes[REORDER] = reorder != 0;
    votes[NO_REORDER] = reorder == 0;
    err = MPIR_Topo_largest(comm, err, votes, VOTES);
    if (!err && votes[HAS_WEIGHTS] && votes[HAS_NONE])
        err = MPIR_Err(MPI_ERR_ARG, "weights",
                       "are MPI_UNWEIGHTED on some processes, but not on all; expected weights everywhere or "
                       "nowhere");
    if (!err && votes[REORDER] && votes[NO_REORDER])
        err = MPIR_Err(MPI_ERR_ARG, "reorder",
                       "differs between the processes; expected the same on all of them");
    return err;
}

/* ---- The object ------------------------------------------------------------------------------------------------ */

static int64_t ints_for(int in, int out, bool weighted)
{
    return ((int64_t)in + out) * (weighted ? 2 : 1);
}
static int64_t ints_of(const MPIR_Topo *t)
{
    return ints_for(t->dist.in, t->dist.out, t->dist.weighted);
}

static MPIR_Topo *alloc_dist(int in, int out, bool weighted)
{
    MPIR_Topo *t = MPIR_Topo_alloc(MPI_DIST_GRAPH, (size_t)ints_for(in, out, weighted));
    if (!t)
        return NULL;
    t->dist.in = in;
    t->dist.out = out;
    t->dist.weighted = weighted;
    t->dist.sources = t->data;
    t->dist.destinations = t->data + in;
    if (weighted) {
        t->dist.source_weights = t->dist.destinations + out;
        t->dist.dest_weights = t->dist.source_weights + in;
    }
    return t;
}

/* n ranks of comm. */
static int check_ranks(const MPIR_Comm *comm, const int *ranks, int64_t n, const char *arg)
{
    int err = MPIR_Topo_check_array(ranks, n, arg);
    for (int64_t i = 0; i < n && !err; i++)
        if (ranks[i] < 0 || ranks[i] >= comm->adi.size)
            err = MPIR_Err(MPI_ERR_RANK, arg, "has %d at index %lld; expected 0 to %d", ranks[i],
                           (long long)i, comm->adi.size - 1);
    return err;
}

/* ---- MPI_Dist_graph_create_adjacent ------------------------------------------------------------------------------
 *
 * That each edge is there on both of its processes is not looked at: the graph may be one that is only asked for
 * its neighbors. */

struct adjacent {
    int in, out;
    const int *sources, *source_weights, *destinations, *dest_weights;
};

static int check_adjacent(const MPIR_Comm *comm, const struct adjacent *a, uint32_t *votes)
{
    int err;
    if ((err = MPIR_Topo_check_count(a->in, "indegree")) ||
        (err = MPIR_Topo_check_count(a->out, "outdegree")) ||
        (err = check_ranks(comm, a->sources, a->in, "sources")) ||
        (err = check_ranks(comm, a->destinations, a->out, "destinations")) ||
        (err = vote(votes, a->source_weights, a->in, "sourceweights")))
        return err;
    return vote(votes, a->dest_weights, a->out, "destweights");
}

static void copy_ints(int *to, const int *from, int n)
{
    if (n)
        memcpy(to, from, (size_t)n * sizeof *to);
}

static MPIR_Topo *copy_adjacent(const struct adjacent *a, bool weighted)
{
    MPIR_Topo *t = alloc_dist(a->in, a->out, weighted);
    if (!t)
        return NULL;
    copy_ints(t->dist.sources, a->sources, a->in);
    copy_ints(t->dist.destinations, a->destinations, a->out);
    if (weighted) {
        copy_ints(t->dist.source_weights, a->source_weights, a->in);
        copy_ints(t->dist.dest_weights, a->dest_weights, a->out);
    }
    return t;
}

/* The lists of rank r, which the process with that rank in comm has passed, to the one that has got it: a header,
 * then the object's data. */
static int hand_over(MPIR_Comm *comm, const int32_t *order, MPIR_Topo **topo)
{
    MPIR_Datatype *type = MPIR_Datatype_predefined(KEEL_MPI_INT32_T);
    MPIR_Topo *t = *topo, *mine = NULL;
    bool weighted = t->dist.weighted;
    int head[2] = { t->dist.in, t->dist.out }, got[2], to = order[comm->adi.rank], from = 0;
    int tag = MPIR_Comm_next_tag(comm), err;
    while (order[from] != comm->adi.rank)
        from++;
    err = MPIR_P2p_sendrecv(head, 2, type, to, tag, got, 2, type, from, tag, comm, MPID_CONTEXT_COLL, NULL);
    if (!err && !(mine = alloc_dist(got[0], got[1], weighted)))
        err = MPI_ERR_NO_MEM;
    if ((err = MPIR_Topo_largest(comm, err, NULL, 0)) == 0)
        err = MPIR_P2p_sendrecv(t->data, ints_of(t), type, to, tag, mine->data, ints_of(mine), type, from,
                                tag, comm, MPID_CONTEXT_COLL, NULL);
    MPIR_Topo_release(t);
    *topo = mine;
    return err;
}

/* Before the processes agree: what info says of the new communicator (8.4.4). */
static int check_hints(const MPIR_Info *info)
{
    MPIR_Comm_hints hints = { 0 };
    int err = MPIR_Comm_hints_read(&hints, info);
    MPIR_Comm_hints_clear(&hints);
    return err;
}

/* Edges that lead out of this process. */
static int remap_adjacent(MPIR_Comm *comm, const MPIR_Topo *t, int32_t **order)
{
    struct fit_line *lines = malloc((size_t)t->dist.out * sizeof *lines + 1);
    int err = MPIR_Topo_largest(comm, lines ? 0 : MPIR_Topo_no_memory(), NULL, 0);
    for (int i = 0; i < t->dist.out && !err; i++)
        lines[i] = (struct fit_line){ comm->adi.rank, t->dist.destinations[i],
                                      t->dist.weighted ? t->dist.dest_weights[i] : 1 };
    if (!err)
        err = MPIR_Remap_lines(comm, lines, t->dist.out, order);
    free(lines);
    return err;
}

int MPIR_Dist_graph_create_adjacent(MPIR_Comm *comm_old, int indegree, const int *sources,
                                    const int *sourceweights, int outdegree, const int *destinations,
                                    const int *destweights, MPIR_Info *info, int reorder,
                                    MPIR_Comm **comm_dist_graph)
{
    const struct adjacent a = { indegree, outdegree, sources, sourceweights, destinations, destweights };
    uint32_t votes[VOTES] = { 0 };
    MPIR_Topo *t = NULL;
    int32_t *order = NULL;
    int err = MPIR_Comm_check_intra(comm_old);
    if (err)
        return err;
    err = check_adjacent(comm_old, &a, votes);
    if (!err)
        err = check_hints(info);
    err = agree(comm_old, err, votes, reorder);
    if (err)
        return err;
    if (!(t = copy_adjacent(&a, !votes[HAS_NONE])))
        err = MPI_ERR_NO_MEM;
    if (reorder)
        err = MPIR_Topo_largest(comm_old, err, NULL, 0);
    if (reorder && !err)
        err = remap_adjacent(comm_old, t, &order);
    if (order && !err)
        err = hand_over(comm_old, order, &t);
    err = MPIR_Topo_create(comm_old, comm_old->adi.size, order, t, err, comm_dist_graph);
    free(order);
    return err ? err : MPIR_Comm_set_info(*comm_dist_graph, info);
}

/* ---- MPI_Dist_graph_create ----------------------------------------------------------------------------------- */

/* One end of an edge on its way to the process that it is about. */
struct end {
    int32_t other;  /* the process at the other end, */
    int32_t is_out; /* to which the edge leads? */
    int32_t weight;
};
enum { END_INTS = sizeof(struct end) / sizeof(int32_t) };

/* What goes to one process: the ends from `first` on. */
struct parcel {
    int32_t to;
    int64_t first, n;
    MPIR_Request request;
};

/* What has come from one. */
struct arrival {
    int32_t from;
    int64_t first, n;
};

struct exchange {
    MPIR_Comm *comm;
    int tag;
    int64_t nends;
    struct end *ends; /* grouped by the process that they go to, in the order in which they were given */
    int nparcels;
    struct parcel *parcels;
    uint64_t expect[2]; /* messages, ends; those of this process itself included */
    struct end *got;
    struct arrival *arrivals;
};

/* n sources with degrees[i] destinations each. */
struct pieces {
    int n;
    const int *sources, *degrees, *destinations, *weights;
    bool weighted;        /* else weights is MPI_UNWEIGHTED */
    const int32_t *order; /* which process gets each rank; NULL: the one that has it */
};

static int check_pieces(const MPIR_Comm *comm, const struct pieces *p, uint32_t *votes)
{
    int64_t total = 0;
    int err;
    if ((err = MPIR_Topo_check_count(p->n, "n")) || (err = check_ranks(comm, p->sources, p->n, "sources")) ||
        (err = MPIR_Topo_check_array(p->degrees, p->n, "degrees")))
        return err;
    for (int i = 0; i < p->n; i++) {
        if (p->degrees[i] < 0)
            return MPIR_Err(MPI_ERR_ARG, "degrees", "has %d at index %d; expected at least 0", p->degrees[i],
                            i);
        total += p->degrees[i];
    }
    if ((err = check_ranks(comm, p->destinations, total, "destinations")))
        return err;
    return vote(votes, p->weights, total, "weights");
}

/* Call for both ends of each edge. */
typedef void (*end_fn)(void *arg, int32_t to, struct end end);
static void each_end(const struct pieces *p, end_fn fn, void *arg)
{
    int64_t k = 0;
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < p->degrees[i]; j++, k++) {
            int32_t s = p->sources[i], d = p->destinations[k], w = p->weighted ? p->weights[k] : 0;
            fn(arg, p->order ? p->order[s] : s, (struct end){ d, 1, w });
            fn(arg, p->order ? p->order[d] : d, (struct end){ s, 0, w });
        }
}

/* counts[2 * r]: is there anything for rank r; counts[2 * r + 1]: how much. */
static void count_end(void *arg, int32_t to, struct end end)
{
    uint64_t *counts = arg;
    (void)end;
    counts[2 * (size_t)to] = 1;
    counts[2 * (size_t)to + 1]++;
}

struct filler {
    struct exchange *x;
    int64_t *next; /* by rank: where its next end goes */
};
static void put_end(void *arg, int32_t to, struct end end)
{
    struct filler *f = arg;
    f->x->ends[f->next[to]++] = end;
}

/* Sort the ends by where they go, without comparing. */
static int pack(struct exchange *x, const struct pieces *p, const uint64_t *counts)
{
    int32_t size = x->comm->adi.size;
    for (int32_t r = 0; r < size; r++) {
        x->nparcels += counts[2 * r] != 0;
        x->nends += (int64_t)counts[2 * r + 1];
    }
    int64_t *next = malloc((size_t)size * sizeof *next);
    x->ends = malloc((size_t)x->nends * sizeof *x->ends + 1);
    x->parcels = calloc((size_t)x->nparcels + 1, sizeof *x->parcels);
    if (!next || !x->ends || !x->parcels) {
        free(next);
        return MPIR_Topo_no_memory();
    }
    int64_t at = 0;
    for (int32_t r = 0, k = 0; r < size; r++) {
        next[r] = at;
        if (counts[2 * r])
            x->parcels[k++] = (struct parcel){ .to = r, .first = at, .n = (int64_t)counts[2 * r + 1] };
        at += (int64_t)counts[2 * r + 1];
    }
    each_end(p, put_end, &(struct filler){ x, next });
    free(next);
    return 0;
}

/* Pack, and learn how much will come. */
static int dist_prepare(struct exchange *x, const struct pieces *p)
{
    uint64_t *counts = calloc((size_t)x->comm->adi.size, 2 * sizeof *counts);
    int err = 0;
    if (!counts) {
        err = MPIR_Topo_no_memory();
    } else {
        each_end(p, count_end, counts);
        err = pack(x, p, counts);
    }
    if (!(err = MPIR_Topo_largest(x->comm, err, NULL, 0)))
        err = MPIR_Reduce_scatter_block(counts, x->expect, 2, MPIR_Datatype_predefined(KEEL_MPI_UINT64_T),
                                        MPIR_Op_predefined(KEEL_MPI_SUM), x->comm);
    free(counts);
    if (!err && x->expect[1] > INT_MAX)
        err = MPIR_Err(MPI_ERR_OTHER, NULL, "%llu edges lead from and to this process; expected at most %d",
                       (unsigned long long)x->expect[1], INT_MAX);
    if (!err) {
        x->got = malloc((size_t)x->expect[1] * sizeof *x->got + 1);
        x->arrivals = malloc((size_t)x->expect[0] * sizeof *x->arrivals + 1);
        if (!x->got || !x->arrivals)
            err = MPIR_Topo_no_memory();
    }
    return MPIR_Topo_largest(x->comm, err, NULL, 0); /* nobody sends unless all can receive */
}

static int send_parcels(struct exchange *x)
{
    int err = 0, e;
    for (int i = 0; i < x->nparcels; i++) {
        struct parcel *p = &x->parcels[i];
        p->request.obj = (struct keel_object){ .index = KEEL_NO_INDEX, .gen = 1, .refs = 1 };
        if (p->to == x->comm->adi.rank)
            continue;
        e = MPIR_P2p_isend(x->ends + p->first, p->n * END_INTS, MPIR_Datatype_predefined(KEEL_MPI_INT32_T),
                           p->to, x->tag, x->comm, MPID_CONTEXT_COLL, &p->request);
        if (e)
            p->n = 0; /* not under way */
        err = err ? err : e;
    }
    return err;
}

static int receive_all(struct exchange *x)
{
    int64_t at = 0, i = 0, left;
    int err = 0;
    for (int k = 0; k < x->nparcels; k++)
        if (x->parcels[k].to == x->comm->adi.rank) {
            const struct parcel *p = &x->parcels[k];
            memcpy(x->got, x->ends + p->first, (size_t)p->n * sizeof *x->got);
            x->arrivals[i++] = (struct arrival){ p->to, 0, at = p->n };
        }
    for (; i < (int64_t)x->expect[0] && !err; i++) {
        MPIR_Status status = { 0 };
        left = (int64_t)x->expect[1] - at;
        err = MPIR_P2p_recv(x->got + at, left * END_INTS, MPIR_Datatype_predefined(KEEL_MPI_INT32_T),
                            MPI_ANY_SOURCE, x->tag, x->comm, MPID_CONTEXT_COLL, &status);
        int64_t n = status.count / (int64_t)sizeof *x->got;
        x->arrivals[i] = (struct arrival){ status.MPI_SOURCE, at, n };
        at += n;
    }
    return err;
}

static int finish_sends(struct exchange *x)
{
    int err = 0, e;
    for (int i = 0; i < x->nparcels; i++)
        if (x->parcels[i].to != x->comm->adi.rank && x->parcels[i].n)
            if ((e = MPID_Wait(&x->parcels[i].request, NULL)))
                err = e;
    return err;
}

static int by_sender(const void *a, const void *b)
{
    const struct arrival *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* The topology, from what has come. */
static MPIR_Topo *unpack(const struct exchange *x, bool weighted)
{
    int in = 0, out = 0;
    for (uint64_t i = 0; i < x->expect[1]; i++)
        out += x->got[i].is_out;
    MPIR_Topo *t = alloc_dist((int)x->expect[1] - out, out, weighted);
    if (!t)
        return NULL;
    qsort(x->arrivals, (size_t)x->expect[0], sizeof *x->arrivals, by_sender);
    out = 0;
    for (uint64_t i = 0; i < x->expect[0]; i++)
        for (int64_t j = 0; j < x->arrivals[i].n; j++) {
            const struct end *e = &x->got[x->arrivals[i].first + j];
            int k = e->is_out ? out++ : in++;
            (e->is_out ? t->dist.destinations : t->dist.sources)[k] = e->other;
            if (weighted)
                (e->is_out ? t->dist.dest_weights : t->dist.source_weights)[k] = e->weight;
        }
    return t;
}

static int dist_exchange(MPIR_Comm *comm, const struct pieces *p, MPIR_Topo **topo)
{
    struct exchange x = { .comm = comm };
    int err = dist_prepare(&x, p), sent = 0;
    x.tag = MPIR_Comm_next_tag(comm);
    if (!err) {
        err = send_parcels(&x);
        int e = receive_all(&x);
        err = err ? err : e;
        sent = finish_sends(&x);
        err = err ? err : sent;
    }
    if (!err && !(*topo = unpack(&x, p->weighted)))
        err = MPI_ERR_NO_MEM;
    free(x.ends);
    free(x.parcels);
    free(x.got);
    free(x.arrivals);
    return err;
}

static int remap_pieces(MPIR_Comm *comm, const struct pieces *p, int32_t **order)
{
    int64_t n = 0, k = 0;
    for (int i = 0; i < p->n; i++)
        n += p->degrees[i];
    struct fit_line *lines = malloc((size_t)n * sizeof *lines + 1);
    int err = MPIR_Topo_largest(comm, lines ? 0 : MPIR_Topo_no_memory(), NULL, 0);
    for (int i = 0; i < p->n && !err; i++)
        for (int j = 0; j < p->degrees[i]; j++, k++)
            lines[k] =
                (struct fit_line){ p->sources[i], p->destinations[k], p->weighted ? p->weights[k] : 1 };
    if (!err)
        err = MPIR_Remap_lines(comm, lines, n, order);
    free(lines);
    return err;
}

int MPIR_Dist_graph_create(MPIR_Comm *comm_old, int n, const int *sources, const int *degrees,
                           const int *destinations, const int *weights, MPIR_Info *info, int reorder,
                           MPIR_Comm **comm_dist_graph)
{
    struct pieces p = { n, sources, degrees, destinations, weights, false, NULL };
    uint32_t votes[VOTES] = { 0 };
    MPIR_Topo *t = NULL;
    int32_t *order = NULL;
    int err = MPIR_Comm_check_intra(comm_old);
    if (err)
        return err;
    err = check_pieces(comm_old, &p, votes);
    if (!err)
        err = check_hints(info);
    err = agree(comm_old, err, votes, reorder);
    if (err)
        return err;
    p.weighted = !votes[HAS_NONE];
    if (reorder)
        err = remap_pieces(comm_old, &p, &order);
    p.order = order;
    if (!err)
        err = dist_exchange(comm_old, &p, &t);
    err = MPIR_Topo_create(comm_old, comm_old->adi.size, order, t, err, comm_dist_graph);
    free(order);
    return err ? err : MPIR_Comm_set_info(*comm_dist_graph, info);
}

/* ---- Inquiry --------------------------------------------------------------------------------------------------- */

int MPIR_Dist_graph_neighbors_count(MPIR_Comm *comm, int *indegree, int *outdegree, int *weighted)
{
    const MPIR_Topo *t = MPIR_Topo_of(comm, MPI_DIST_GRAPH);
    if (!t)
        return MPI_ERR_TOPOLOGY;
    *indegree = t->dist.in;
    *outdegree = t->dist.out;
    *weighted = t->dist.weighted;
    return 0;
}

static int dist_least(int a, int b)
{
    return a < b ? a : b;
}

static void copy_weights(int *to, const int *from, int n)
{
    if (from && to != MPI_UNWEIGHTED && to != MPI_WEIGHTS_EMPTY)
        copy_ints(to, from, n);
}

/* Smaller arrays get the first part of the list. */
int MPIR_Dist_graph_neighbors(MPIR_Comm *comm, int maxindegree, int *sources, int *sourceweights,
                              int maxoutdegree, int *destinations, int *destweights)
{
    const MPIR_Topo *t = MPIR_Topo_of(comm, MPI_DIST_GRAPH);
    int err;
    if (!t)
        return MPI_ERR_TOPOLOGY;
    if ((err = MPIR_Topo_check_count(maxindegree, "maxindegree")) ||
        (err = MPIR_Topo_check_count(maxoutdegree, "maxoutdegree")))
        return err;
    int in = dist_least(maxindegree, t->dist.in), out = dist_least(maxoutdegree, t->dist.out);
    bool w = t->dist.weighted;
    if ((err = MPIR_Topo_check_array(sources, in, "sources")) ||
        (err = MPIR_Topo_check_array(destinations, out, "destinations")) ||
        (w && (err = MPIR_Topo_check_array(sourceweights, in, "sourceweights"))) ||
        (w && (err = MPIR_Topo_check_array(destweights, out, "destweights"))))
        return err;
    copy_ints(sources, t->dist.sources, in);
    copy_ints(destinations, t->dist.destinations, out);
    copy_weights(sourceweights, t->dist.source_weights, in);
    copy_weights(destweights, t->dist.dest_weights, out);
    return 0;
}
