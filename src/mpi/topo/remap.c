/* SPDX-License-Identifier: BSD-3-Clause */
/* remap.c: reordering.  The graph is divided among the nodes, each node's part among its packages, NUMA nodes and
 * caches of level 3 where ranks are bound to these, and what is left goes in ascending order.
 *
 * Invariants
 *   1. What lies between nodes weighs no more than if each process kept its rank, and each keeps it if it weighs
 *      as much.
 *   2. The division among nodes depends on what all processes know; that inside a node on what its processes know of
 *      each other.  So each process can find its own new rank by itself (MPI_Cart_map), and it is the same that it gets
 *      from the collective calls, in which one process works for all. */
#include "remap.h"
#include <stdlib.h>
#include <string.h>
#include "bodies.h"
#include "op.h"
#include "tiles.h"
#include "type.h"
#include "util/segment.h"

enum { AT_NODE, AT_PACKAGE, AT_NUMA, AT_L3, LEVELS, ROOT = 0 };
enum { LINES_MOST = 1 << 22 }; /* graphs with more edges are left as they are */

/* Where a process runs: the number of the object at each level; -1: not known, or several. */
struct place {
    int32_t at[LEVELS];
};

struct remap {
    int32_t n;
    struct place *place; /* [n] */
    int32_t *rank_of;    /* [n]: the result: the rank of each process */
    int32_t *number;     /* [n]: see MPIR_Fit_part_of */
    int32_t only;        /* only this process's rank is wanted; -1: all */
    struct tiles *tiles; /* of a grid; NULL: no grid */
};

/* ---- Places ---------------------------------------------------------------------------------------------------- */

static int32_t remap_told(uint16_t number)
{
    return number == KU_PLACE_UNKNOWN || number == KU_PLACE_SEVERAL ? -1 : number;
}

static struct place place_from(int32_t node, const struct ku_seg_place *p)
{
    if (!p || !(p->flags & KU_PLACE_KNOWN))
        return (struct place){ { node, -1, -1, -1 } };
    return (struct place){ { node, remap_told(p->package), remap_told(p->numa), remap_told(p->l3) } };
}

/* Those of comm's first n processes as this one knows them: of its own node's all, of others the node. */
static void known_places(const MPIR_Comm *comm, int32_t n, struct place *places)
{
    const struct MPID_World *w = MPID_World();
    const struct ku_seg_place *first = w->place - w->local_rank;
    for (int32_t i = 0; i < n; i++)
        places[i] = place_from(MPID_Node_of(MPIR_Comm_grank(comm, i)), NULL);
    for (int32_t l = 0; l < w->local_size; l++) {
        int32_t i = MPIR_Group_rank_of(comm->group, w->grank_of[l]);
        if (i != MPI_UNDEFINED && i < n)
            places[i] = place_from(w->node, first + l);
    }
}

/* ---- From level to level --------------------------------------------------------------------------------------- */

/* Number the objects at this level that the processes lie in; how many there are, or -1 without memory. */
static int32_t number_objects(const struct remap *m, int level, int32_t n, const int32_t *procs,
                              int32_t *object)
{
    int32_t most = -1, seen = 0;
    for (int32_t i = 0; i < n; i++)
        if (m->place[procs[i]].at[level] > most)
            most = m->place[procs[i]].at[level];
    int32_t *number = calloc((size_t)most + 2, sizeof *number);
    if (!number)
        return -1;
    for (int32_t i = 0; i < n; i++) {
        int32_t *x = &number[m->place[procs[i]].at[level] + 1];
        if (!*x)
            *x = ++seen;
        object[i] = *x - 1;
    }
    free(number);
    return seen;
}

/* Blocks of the size of the largest and of the smallest node. */
static bool tiles_for(struct tiles *t, int32_t n, const int32_t *object, int32_t objects)
{
    int32_t *size = calloc((size_t)objects, sizeof *size), most = 0, least = n;
    if (!size)
        return false;
    for (int32_t i = 0; i < n; i++)
        size[object[i]]++;
    for (int32_t k = 0; k < objects; k++) {
        most = size[k] > most ? size[k] : most;
        least = size[k] < least ? size[k] : least;
    }
    free(size);
    return MPIR_Tiles_of(t, most) && (least == most || MPIR_Tiles_of(t, least));
}

static bool remap_settle(struct remap *m, int level, const struct fit_graph *g, const int32_t *vertices,
                         const int32_t *procs);

/* Go on with the processes and the vertices of one object. */
static bool settle_object(struct remap *m, int level, const struct fit_graph *g, const int32_t *vertices,
                          const int32_t *procs, int32_t k, const int32_t *part, const int32_t *object)
{
    int32_t size = 0, nv = 0, np = 0;
    bool wanted = m->only < 0;
    for (int32_t i = 0; i < g->n; i++)
        size += object[i] == k;
    int32_t *lists = malloc(3 * (size_t)size * sizeof *lists + 1), *v = lists, *p = lists + size,
            *at = p + size;
    if (!lists)
        return false;
    for (int32_t i = 0; i < g->n; i++) {
        if (part[i] == k) {
            v[nv] = vertices[i];
            at[nv++] = i;
        }
        if (object[i] == k) {
            p[np++] = procs[i];
            wanted |= procs[i] == m->only;
        }
    }
    struct fit_graph sub = { 0 };
    bool ok =
        !wanted || (MPIR_Fit_part_of(&sub, g, size, at, m->number) && remap_settle(m, level + 1, &sub, v, p));
    MPIR_Fit_free(&sub);
    free(lists);
    return ok;
}

/* g's vertices, which are the ranks vertices[], are for procs[], both in ascending order. */
static bool remap_settle(struct remap *m, int level, const struct fit_graph *g, const int32_t *vertices,
                         const int32_t *procs)
{
    if (level == LEVELS) {
        for (int32_t i = 0; i < g->n; i++)
            m->rank_of[procs[i]] = vertices[i];
        return true;
    }
    int32_t *object = malloc(2 * (size_t)g->n * sizeof *object + 1), *part = object + g->n;
    int32_t n = object ? number_objects(m, level, g->n, procs, object) : -1;
    bool ok = n >= 0;
    if (ok && n <= 1) {
        free(object);
        return remap_settle(m, level + 1, g, vertices, procs);
    }
    if (ok) {
        struct tiles *tiles = level == AT_NODE ? m->tiles : NULL;
        memcpy(part, object, (size_t)g->n * sizeof *part);
        ok = (!tiles || tiles_for(tiles, g->n, object, n)) &&
             MPIR_Fit(g, n, tiles ? &tiles->orders : NULL, part);
    }
    for (int32_t k = 0; k < n && ok; k++)
        ok = settle_object(m, level, g, vertices, procs, k, part, object);
    free(object);
    return ok;
}

static bool settle_all(struct remap *m, const struct fit_line *lines, int64_t nlines)
{
    struct fit_graph g = { 0 };
    int32_t *all = malloc((size_t)m->n * sizeof *all + 1);
    m->number = calloc((size_t)m->n + 1, sizeof *m->number);
    bool ok = all && m->number && MPIR_Fit_graph(&g, m->n, lines, nlines);
    for (int32_t i = 0; i < m->n && ok; i++)
        all[i] = i;
    ok = ok && remap_settle(m, AT_NODE, &g, all, all);
    MPIR_Fit_free(&g);
    free(m->number);
    free(all);
    return ok;
}

/* ---- The edges of a topology ----------------------------------------------------------------------------------- */

static int64_t count_lines(const MPIR_Topo *t, int32_t n)
{
    return t->kind == MPI_CART ? (int64_t)n * t->cart.ndims : t->graph.nedges;
}

static int64_t lines_of_grid(const MPIR_Topo *t, int32_t n, struct fit_line *lines)
{
    int64_t k = 0;
    int32_t step = 1;
    for (int i = t->cart.ndims - 1; i >= 0; i--) {
        int32_t d = t->cart.dims[i];
        for (int32_t v = 0; v < n && d > 1; v++) {
            bool last = v / step % d == d - 1;
            if (!last || t->cart.periods[i])
                lines[k++] = (struct fit_line){ v, last ? v - (d - 1) * step : v + step, 1 };
        }
        step *= d;
    }
    return k;
}

static int64_t lines_of_graph(const MPIR_Topo *t, struct fit_line *lines)
{
    int64_t k = 0;
    for (int v = 0; v < t->graph.nodes; v++) {
        int n;
        const int *list = topo_list(t, v, &n);
        for (int i = 0; i < n; i++)
            lines[k++] = (struct fit_line){ v, list[i], 1 };
    }
    return k;
}

/* Compute m->rank_of for this topology. */
static int solve(struct remap *m, const MPIR_Topo *t)
{
    struct fit_line *lines = malloc((size_t)count_lines(t, m->n) * sizeof *lines + 1);
    struct tiles tiles;
    if (!lines)
        return MPIR_Topo_no_memory();
    bool grid = t->kind == MPI_CART;
    int64_t n = grid ? lines_of_grid(t, m->n, lines) : lines_of_graph(t, lines);
    MPIR_Tiles_init(&tiles, grid ? t->cart.ndims : 0, grid ? t->cart.dims : NULL);
    m->tiles = grid ? &tiles : NULL;
    int err = settle_all(m, lines, n) ? 0 : MPIR_Topo_no_memory();
    MPIR_Tiles_free(&tiles);
    free(lines);
    return err;
}

/* ---- One process by itself ------------------------------------------------------------------------------------- */

static bool remap_alloc(struct remap *m, int32_t n, int32_t only)
{
    *m = (struct remap){ .n = n, .only = only };
    m->place = malloc((size_t)n * sizeof *m->place + 1);
    m->rank_of = malloc((size_t)n * sizeof *m->rank_of + 1);
    return m->place && m->rank_of;
}

static void remap_free(struct remap *m)
{
    free(m->place);
    free(m->rank_of);
}

int MPIR_Remap_own(MPIR_Comm *comm, const MPIR_Topo *t, int32_t n, int *newrank)
{
    struct remap m;
    int err = 0;
    *newrank = comm->adi.rank < n ? comm->adi.rank : MPI_UNDEFINED;
    if (comm->adi.rank >= n || count_lines(t, n) > LINES_MOST)
        return 0;
    if (!remap_alloc(&m, n, comm->adi.rank))
        err = MPIR_Topo_no_memory();
    if (!err) {
        known_places(comm, n, m.place);
        err = solve(&m, t);
    }
    if (!err)
        *newrank = m.rank_of[comm->adi.rank];
    remap_free(&m);
    return err;
}

/* ---- One process for all --------------------------------------------------------------------------------------- */

/* Is it plain to all processes that there is nothing to choose?  They are all on one node, and nothing tells them
 * apart. */
static bool nothing_to_choose(const MPIR_Comm *comm, const struct place *places)
{
    for (int32_t i = 1; i < comm->adi.size; i++)
        if (memcmp(&places[i], &places[0], sizeof places[0]) != 0)
            return false;
    return true;
}

/* What one process has met, all know: a collective call may have failed in some only. */
static int all_know(MPIR_Comm *comm, int err)
{
    return MPIR_Topo_largest(comm, err, NULL, 0);
}

/* What the root found goes to all: *order, which has room for two more, is freed if all keep their ranks. */
static int remap_tell(MPIR_Comm *comm, int err, int32_t n, int32_t **order)
{
    int32_t *said = *order + n, stay = 1; /* the root's error; does each keep its rank? */
    for (int32_t r = 0; r < n && comm->adi.rank == ROOT && !err; r++)
        stay &= (*order)[r] == r;
    said[0] = err;
    said[1] = stay;
    int e = MPIR_Bcast(*order, (int64_t)n + 2, MPIR_Datatype_predefined(KEEL_MPI_INT32_T), ROOT, comm);
    if (!err && !e && said[0])
        e = MPIR_Err(said[0], NULL, "rank %d of the communicator failed with this error", ROOT);
    err = err ? err : e;
    if (err || said[1]) {
        free(*order);
        *order = NULL;
    }
    return err;
}

/* The root has the edges: in t, or in lines[]. */
static int work_for_all(struct remap *m, const MPIR_Topo *t, const struct fit_line *lines, int64_t nlines,
                        int32_t *order)
{
    int err = t ? solve(m, t) : settle_all(m, lines, nlines) ? 0 : MPIR_Topo_no_memory();
    for (int32_t i = 0; i < m->n && !err; i++)
        order[m->rank_of[i]] = i;
    return err;
}

/* All places to the root. */
static int gather_places(MPIR_Comm *comm, struct place *places)
{
    MPIR_Datatype *type = MPIR_Datatype_predefined(KEEL_MPI_INT32_T);
    struct place own = places[comm->adi.rank];
    return MPIR_Gather(&own, LEVELS, type, places, LEVELS, type, ROOT, comm);
}

/* Memory and places for n processes of comm; *over: all keep their ranks. */
static int remap_begin(MPIR_Comm *comm, struct remap *m, int32_t n, int32_t **order, bool *over)
{
    int err = 0;
    *order = NULL;
    *over = false;
    if (!remap_alloc(m, comm->adi.size, -1) || !(*order = malloc(((size_t)n + 2) * sizeof **order)))
        err = MPIR_Topo_no_memory();
    m->n = n;
    if ((err = all_know(comm, err)))
        return err;
    known_places(comm, comm->adi.size, m->place);
    *over = nothing_to_choose(comm, m->place);
    return *over ? 0 : all_know(comm, gather_places(comm, m->place));
}

static int remap_end(struct remap *m, int err, bool over, int32_t **order)
{
    remap_free(m);
    if (err || over) {
        free(*order);
        *order = NULL;
    }
    return err;
}

int MPIR_Remap(MPIR_Comm *comm, const MPIR_Topo *t, int32_t n, int32_t **order)
{
    struct remap m;
    bool over;
    *order = NULL;
    if (count_lines(t, n) > LINES_MOST || n < 3)
        return 0;
    int err = remap_begin(comm, &m, n, order, &over);
    if (!err && !over) {
        if (comm->adi.rank == ROOT)
            err = work_for_all(&m, t, NULL, 0, *order);
        err = remap_tell(comm, err, n, order);
    }
    return remap_end(&m, err, over, order);
}

/* ---- Edges that are here and there ------------------------------------------------------------------------------ */

struct collected {
    int64_t *counts, *displs; /* [size], in ints; at the root */
    struct fit_line *lines;
    int64_t n;
};
enum { LINE_INTS = sizeof(struct fit_line) / sizeof(int32_t) };

static int remap_collect(MPIR_Comm *comm, const struct fit_line *lines, int64_t nlines, struct collected *c)
{
    MPIR_Datatype *wide = MPIR_Datatype_predefined(KEEL_MPI_INT64_T),
                  *type = MPIR_Datatype_predefined(KEEL_MPI_INT32_T);
    bool root = comm->adi.rank == ROOT;
    int64_t ints = nlines * LINE_INTS;
    int err = 0;
    if (root) {
        c->counts = malloc(2 * (size_t)comm->adi.size * sizeof *c->counts);
        c->lines = malloc((size_t)c->n * sizeof *c->lines + 1);
        if (!c->counts || !c->lines)
            err = MPIR_Topo_no_memory();
        c->displs = c->counts + comm->adi.size;
    }
    if ((err = all_know(comm, err)) ||
        (err = all_know(comm, MPIR_Gather(&ints, 1, wide, c->counts, 1, wide, ROOT, comm))))
        return err;
    for (int32_t i = 0; root && i < comm->adi.size; i++)
        c->displs[i] = i ? c->displs[i - 1] + c->counts[i - 1] : 0;
    return all_know(comm, MPIR_Gatherv(lines, ints, type, c->lines, (MPIR_Counts){ c->counts, 1 },
                                       (MPIR_Counts){ c->displs, 1 }, type, ROOT, comm));
}

int MPIR_Remap_lines(MPIR_Comm *comm, const struct fit_line *lines, int64_t nlines, int32_t **order)
{
    struct remap m;
    struct collected c = { .n = nlines };
    bool over;
    *order = NULL;
    int32_t n = comm->adi.size;
    if (n < 3)
        return 0;
    int err = remap_begin(comm, &m, n, order, &over);
    if (!err && !over) {
        err = all_know(comm, MPIR_Allreduce(&nlines, &c.n, 1, MPIR_Datatype_predefined(KEEL_MPI_INT64_T),
                                            MPIR_Op_predefined(KEEL_MPI_SUM), comm));
        over = c.n > LINES_MOST;
    }
    if (!err && !over)
        err = remap_collect(comm, lines, nlines, &c);
    if (!err && !over) {
        if (comm->adi.rank == ROOT)
            err = work_for_all(&m, NULL, c.lines, c.n, *order);
        err = remap_tell(comm, err, n, order);
    }
    free(c.counts);
    free(c.lines);
    return remap_end(&m, err, over, order);
}
