/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.c: dividing a graph into parts of given sizes.
 *
 * Several divisions are tried: vertices in ascending order cut into pieces, the same of orders that the caller
 * knows to be good ones, and parts that grow from a vertex by the neighbor that has most to do with them (of
 * several the one that has been a neighbor for longest, which makes compact parts in a grid; or the one that has
 * least to do with what is left).  The best of these, and the division that is there already, are then improved by
 * swapping pairs as long as that helps.  All work is counted, so that a large graph gets less of it, and the same
 * on all processes. */
#include "fit.h"
#include <stdlib.h>
#include <string.h>

enum { PASSES = 16 };
static const int64_t work_most = 20 * 1000 * 1000; /* edges looked at, more or less */

/* ---- Graphs ---------------------------------------------------------------------------------------------------- */

static bool alloc_graph(struct fit_graph *g, int32_t n, int64_t edges)
{
    g->n = n;
    g->first = calloc((size_t)n + 2, sizeof *g->first);
    g->edge = malloc((size_t)edges * sizeof *g->edge + 1);
    return g->first && g->edge;
}

void MPIR_Fit_free(struct fit_graph *g)
{
    free(g->first);
    free(g->edge);
    *g = (struct fit_graph){ 0 };
}

bool MPIR_Fit_graph(struct fit_graph *g, int32_t n, const struct fit_line *lines, int64_t nlines)
{
    *g = (struct fit_graph){ 0 };
    if (!alloc_graph(g, n, 2 * nlines))
        return false;
    int64_t *at =
        g->first + 1; /* at[v] counts first, then is where v's next edge goes, and ends as first[v + 1] */
    for (int64_t i = 0; i < nlines; i++)
        if (lines[i].a != lines[i].b) {
            at[lines[i].a + 1]++;
            at[lines[i].b + 1]++;
        }
    for (int32_t v = 0; v < n; v++)
        at[v + 1] += at[v];
    for (int64_t i = 0; i < nlines; i++) {
        const struct fit_line *l = &lines[i];
        if (l->a == l->b)
            continue;
        g->edge[at[l->a]++] = (struct fit_edge){ l->b, l->weight };
        g->edge[at[l->b]++] = (struct fit_edge){ l->a, l->weight };
    }
    return true;
}

bool MPIR_Fit_part_of(struct fit_graph *part, const struct fit_graph *g, int32_t m, const int32_t *vertices,
                      int32_t *number)
{
    int64_t edges = 0, k = 0;
    *part = (struct fit_graph){ 0 };
    for (int32_t i = 0; i < m; i++)
        edges += g->first[vertices[i] + 1] - g->first[vertices[i]];
    if (!alloc_graph(part, m, edges))
        return false;
    for (int32_t i = 0; i < m; i++)
        number[vertices[i]] = i + 1;
    for (int32_t i = 0; i < m; i++) {
        for (int64_t e = g->first[vertices[i]]; e < g->first[vertices[i] + 1]; e++)
            if (number[g->edge[e].to])
                part->edge[k++] = (struct fit_edge){ number[g->edge[e].to] - 1, g->edge[e].weight };
        part->first[i + 1] = k;
    }
    for (int32_t i = 0; i < m; i++)
        number[vertices[i]] = 0;
    return true;
}

int64_t MPIR_Fit_cut(const struct fit_graph *g, const int32_t *part)
{
    int64_t cut = 0;
    for (int32_t v = 0; v < g->n; v++)
        for (int64_t e = g->first[v]; e < g->first[v + 1]; e++)
            cut += part[v] != part[g->edge[e].to] ? g->edge[e].weight : 0;
    return cut;
}

/* ---- One run --------------------------------------------------------------------------------------------------- */

/* A vertex that a part could grow by. */
struct bud {
    int64_t in;   /* its weight to the part when it was noted */
    int64_t rank; /* the smaller, the sooner */
    int32_t v;
};

struct fit {
    const struct fit_graph *g;
    int32_t nparts;
    int64_t work;
    int32_t *cap, *turn; /* [nparts]: sizes; parts in the order in which they appear */
    int32_t *order;      /* [n] */
    int32_t *try, *best; /* [n]: divisions */
    int64_t best_cut;
    int64_t *in,
        *open; /* [n], growing: weight to the part, and to what is in none; `in` is also used for improving */
    int64_t *since; /* [n], growing: when a vertex became a neighbor of the part */
    int64_t now;
    bool oldest;      /* first */
    struct bud *heap; /* [edges + n] */
    int64_t buds;
    int32_t *start, *member,
        *slot; /* [nparts + 1], [n], [n]: who is in each part; where each is in member[] */
};

static void fit_free(struct fit *f)
{
    free(f->cap);
    free(f->turn);
    free(f->order);
    free(f->try);
    free(f->best);
    free(f->in);
    free(f->open);
    free(f->since);
    free(f->heap);
    free(f->start);
    free(f->member);
    free(f->slot);
}

static bool fit_alloc(struct fit *f)
{
    size_t n = (size_t)f->g->n, k = (size_t)f->nparts;
    f->cap = calloc(k, sizeof *f->cap);
    f->turn = malloc(k * sizeof *f->turn);
    f->order = malloc(n * sizeof *f->order);
    f->try = malloc(n * sizeof *f->try);
    f->best = malloc(n * sizeof *f->best);
    f->in = calloc(n > k ? n : k, sizeof *f->in);
    f->open = malloc(n * sizeof *f->open);
    f->since = malloc(n * sizeof *f->since);
    f->heap = malloc(((size_t)f->g->first[n] + n) * sizeof *f->heap);
    f->start = malloc((k + 1) * sizeof *f->start);
    f->member = malloc(n * sizeof *f->member);
    f->slot = malloc(n * sizeof *f->slot);
    return f->cap && f->turn && f->order && f->try && f->best && f->in && f->open && f->since && f->heap &&
           f->start && f->member && f->slot;
}

static void measure_parts(struct fit *f, const int32_t *part)
{
    int32_t seen = 0;
    for (int32_t v = 0; v < f->g->n; v++)
        if (f->cap[part[v]]++ == 0)
            f->turn[seen++] = part[v];
}

/* Keep f->try if it is better than what there is. */
static void consider(struct fit *f)
{
    int64_t cut = MPIR_Fit_cut(f->g, f->try);
    f->work += f->g->first[f->g->n];
    if (f->best_cut >= 0 && cut >= f->best_cut)
        return;
    f->best_cut = cut;
    memcpy(f->best, f->try, (size_t)f->g->n * sizeof *f->best);
}

/* The parts take the vertices in f->order, one part after the other. */
static void cut_order(struct fit *f)
{
    int32_t at = 0;
    for (int32_t t = 0; t < f->nparts && at < f->g->n; t++)
        for (int32_t i = 0; i < f->cap[f->turn[t]] && at < f->g->n; i++)
            f->try[f->order[at++]] = f->turn[t];
    consider(f);
}

/* ---- Growing --------------------------------------------------------------------------------------------------- */

static bool before(const struct bud *a, const struct bud *b)
{
    if (a->in != b->in)
        return a->in > b->in;
    if (a->rank != b->rank)
        return a->rank < b->rank;
    return a->v < b->v;
}

static int64_t fit_rank_of(const struct fit *f, int32_t v)
{
    return f->oldest ? f->since[v] : f->open[v];
}

static void push(struct fit *f, int32_t v)
{
    struct bud bud = { f->in[v], fit_rank_of(f, v), v };
    int64_t i = f->buds++;
    for (; i > 0 && before(&bud, &f->heap[(i - 1) / 2]); i = (i - 1) / 2)
        f->heap[i] = f->heap[(i - 1) / 2];
    f->heap[i] = bud;
}

static struct bud fit_pop(struct fit *f)
{
    struct bud top = f->heap[0], last = f->heap[--f->buds];
    int64_t i = 0;
    for (int64_t child = 1; child < f->buds; child = 2 * i + 1) {
        if (child + 1 < f->buds && before(&f->heap[child + 1], &f->heap[child]))
            child++;
        if (!before(&f->heap[child], &last))
            break;
        f->heap[i] = f->heap[child];
        i = child;
    }
    f->heap[i] = last;
    return top;
}

/* A vertex of no part yet at the edge of what is left. */
static int32_t seed(struct fit *f)
{
    int32_t found = -1;
    for (int32_t v = 0; v < f->g->n; v++)
        if (f->try[v] < 0 && (found < 0 || f->open[v] < f->open[found]))
            found = v;
    f->work += f->g->n;
    return found;
}

static void fit_take(struct fit *f, int32_t v, int32_t part)
{
    const struct fit_graph *g = f->g;
    f->try[v] = part;
    for (int64_t e = g->first[v]; e < g->first[v + 1]; e++) {
        int32_t u = g->edge[e].to;
        if (f->in[u] == 0)
            f->since[u] = f->now++;
        f->in[u] += g->edge[e].weight;
        f->open[u] -= g->edge[e].weight;
        if (f->try[u] < 0)
            push(f, u);
    }
}

static void fit_grow(struct fit *f, bool oldest)
{
    const struct fit_graph *g = f->g;
    if (f->work + 2 * g->first[g->n] + (int64_t)g->n * f->nparts > work_most)
        return;
    f->oldest = oldest;
    for (int32_t v = 0; v < g->n; v++) {
        f->try[v] = -1;
        f->open[v] = 0;
        for (int64_t e = g->first[v]; e < g->first[v + 1]; e++)
            f->open[v] += g->edge[e].weight;
    }
    int32_t left = g->n;
    for (int32_t t = 0; t < f->nparts && left > 0; t++) {
        if (f->work > work_most)
            return;
        memset(f->in, 0, (size_t)g->n * sizeof *f->in);
        f->buds = 0;
        for (int32_t i = 0; i < f->cap[f->turn[t]] && left > 0; i++, left--) {
            struct bud b = { .v = -1 };
            while (f->buds && b.v < 0) { /* what has changed since it was noted was noted again */
                b = fit_pop(f);
                if (f->try[b.v] >= 0 || b.in != f->in[b.v] || b.rank != fit_rank_of(f, b.v))
                    b.v = -1;
            }
            fit_take(f, b.v >= 0 ? b.v : seed(f), f->turn[t]);
        }
    }
    f->work += 2 * g->first[g->n];
    consider(f);
}

/* ---- Improving ------------------------------------------------------------------------------------------------- */

static void list_members(struct fit *f, const int32_t *part)
{
    f->start[0] = 0;
    for (int32_t p = 0; p < f->nparts; p++)
        f->start[p + 1] = f->start[p] + f->cap[p];
    int32_t *at = f->order; /* not in use now */
    memcpy(at, f->start, (size_t)f->nparts * sizeof *at);
    for (int32_t v = 0; v < f->g->n; v++) {
        f->slot[v] = at[part[v]]++;
        f->member[f->slot[v]] = v;
    }
}

struct swap {
    int32_t u;
    int64_t gain;
};

/* The best partner in part b for v, which lies in a and would gain `own` by going to b alone. */
static void find_partner(struct fit *f, const int32_t *part, int32_t v, int32_t b, int64_t own,
                         struct swap *s)
{
    const struct fit_graph *g = f->g;
    int32_t a = part[v];
    for (int32_t i = f->start[b]; i < f->start[b + 1]; i++) {
        int32_t u = f->member[i];
        int64_t gain = own;
        for (int64_t e = g->first[u]; e < g->first[u + 1]; e++) {
            int32_t w = g->edge[e].weight, to = g->edge[e].to;
            if (to == v)
                gain -= w; /* their edge stays between the parts, so v gains less */
            else
                gain += part[to] == a ? w : part[to] == b ? -w : 0;
        }
        f->work += g->first[u + 1] - g->first[u] + 1;
        if (gain > s->gain)
            *s = (struct swap){ u, gain };
    }
}

/* Swap v with whom that helps most, if with anybody. */
static bool improve_vertex(struct fit *f, int32_t *part, int32_t v)
{
    const struct fit_graph *g = f->g;
    struct swap s = { -1, 0 };
    for (int64_t e = g->first[v]; e < g->first[v + 1]; e++)
        f->in[part[g->edge[e].to]] += g->edge[e].weight;
    for (int64_t e = g->first[v]; e < g->first[v + 1]; e++) {
        int32_t b = part[g->edge[e].to];
        if (b == part[v] || f->in[b] < 0)
            continue;
        find_partner(f, part, v, b, f->in[b] - f->in[part[v]], &s);
        f->in[b] = -1; /* done */
    }
    for (int64_t e = g->first[v]; e < g->first[v + 1]; e++)
        f->in[part[g->edge[e].to]] = 0;
    f->in[part[v]] = 0;
    if (s.u < 0)
        return false;
    int32_t a = part[v], slot = f->slot[v];
    part[v] = part[s.u];
    part[s.u] = a;
    f->slot[v] = f->slot[s.u];
    f->slot[s.u] = slot;
    f->member[f->slot[v]] = v;
    f->member[slot] = s.u;
    return true;
}

static void improve(struct fit *f, int32_t *part)
{
    bool better = true;
    memset(f->in, 0, (size_t)(f->g->n > f->nparts ? f->g->n : f->nparts) * sizeof *f->in);
    list_members(f, part);
    for (int pass = 0; pass < PASSES && better; pass++) {
        better = false;
        for (int32_t v = 0; v < f->g->n && f->work < work_most; v++)
            better |= improve_vertex(f, part, v);
    }
}

/* ---- All of it ------------------------------------------------------------------------------------------------- */

static void try_all(struct fit *f, struct fit_orders *orders, int32_t *part)
{
    size_t bytes = (size_t)f->g->n * sizeof *part;
    int64_t cut = MPIR_Fit_cut(f->g, part);
    if (cut == 0)
        return;
    f->best_cut = -1;
    for (int32_t v = 0; v < f->g->n; v++)
        f->order[v] = v;
    cut_order(f);
    while (orders && f->work < work_most / 2 && orders->next(orders, f->order))
        cut_order(f);
    fit_grow(f, true);
    fit_grow(f, false);
    memcpy(f->try, part, bytes);
    f->work /= 2; /* what is there already gets its share */
    improve(f, f->try);
    int64_t improved = MPIR_Fit_cut(f->g, f->try);
    f->work = 0;
    improve(f, f->best);
    int64_t best = MPIR_Fit_cut(f->g, f->best);
    if (best < cut && best < improved)
        memcpy(part, f->best, bytes);
    else if (improved < cut)
        memcpy(part, f->try, bytes);
}

bool MPIR_Fit(const struct fit_graph *g, int32_t nparts, struct fit_orders *orders, int32_t *part)
{
    struct fit f = { .g = g, .nparts = nparts };
    if (nparts < 2 || nparts >= g->n)
        return true; /* one vertex a part: whoever they are, all edges are between parts */
    bool ok = fit_alloc(&f);
    if (ok) {
        measure_parts(&f, part);
        try_all(&f, orders, part);
    }
    fit_free(&f);
    return ok;
}
