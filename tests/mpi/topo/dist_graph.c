/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributed graphs, adjacent and not: edges told by anybody, weights, loops, multiple edges, order, errors. */
/* ranks: 1 2 3 4 5 8 13 */
/* across: edges are told in messages */
#include "../check.h"

enum { MOST = 4096 };

struct list {
    int in, out, sources[MOST], sw[MOST], destinations[MOST], dw[MOST];
};

static void get(MPI_Comm c, struct list *l, int expect_weighted)
{
    int weighted = -1, status = -1;
    l->in = l->out = -1;
    CHECK_ERR(MPI_Topo_test(c, &status), MPI_SUCCESS);
    CHECK_EQ(status, MPI_DIST_GRAPH);
    CHECK_ERR(MPI_Dist_graph_neighbors_count(c, &l->in, &l->out, &weighted), MPI_SUCCESS);
    CHECK_EQ(weighted, expect_weighted);
    memset(l->sources, 0xab, sizeof l->sources);
    memset(l->sw, 0xab, sizeof l->sw);
    memset(l->destinations, 0xab, sizeof l->destinations);
    memset(l->dw, 0xab, sizeof l->dw);
    CHECK_ERR(MPI_Dist_graph_neighbors(c, l->in, l->sources, expect_weighted ? l->sw : MPI_UNWEIGHTED, l->out,
                                       l->destinations, expect_weighted ? l->dw : MPI_UNWEIGHTED),
              MPI_SUCCESS);
    CHECK(l->sources[l->in] == (int)0xabababab && l->destinations[l->out] == (int)0xabababab);
}

static void same(const int *got, const int *expected, int n, const char *what)
{
    for (int i = 0; i < n; i++)
        CHECK_EQ(got[i], expected[i], "%s %d", what, i);
}

/* Adjacent: the lists come back as they were, from duplicates too. */
static void adjacent(int weighted)
{
    static struct list l, g;
    MPI_Comm c, d;
    int rank = -1;
    l.in = l.out = 0;
    for (int k = 3; k >= 0; k--) { /* to rank + k and twice to itself; weights tell the edge */
        l.destinations[l.out] = (check_rank + k) % check_size;
        l.dw[l.out++] = k * 100 + check_rank;
        l.sources[l.in] = (check_rank + 4 * check_size - k) % check_size;
        l.sw[l.in] = k * 100 + l.sources[l.in];
        l.in++;
    }
    l.sources[l.in] = l.destinations[l.out] = check_rank;
    l.sw[l.in++] = l.dw[l.out++] = 7;
    CHECK_ERR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, l.in, l.sources,
                                             weighted ? l.sw : MPI_UNWEIGHTED, l.out, l.destinations,
                                             weighted ? l.dw : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c),
              MPI_SUCCESS);
    MPI_Comm_dup(c, &d);
    MPI_Comm_free(&c);
    MPI_Comm_rank(d, &rank);
    CHECK_EQ(rank, check_rank);
    get(d, &g, weighted);
    CHECK_EQ(g.in, l.in);
    CHECK_EQ(g.out, l.out);
    same(g.sources, l.sources, l.in, "source");
    same(g.destinations, l.destinations, l.out, "destination");
    if (weighted) {
        same(g.sw, l.sw, l.in, "source's weight");
        same(g.dw, l.dw, l.out, "destination's weight");
    }
    MPI_Comm_free(&d);
}

/* A part of a list, and weights that are not wanted. */
static void parts(void)
{
    static struct list g;
    MPI_Comm c;
    int three[3] = { check_rank, check_rank, check_rank }, w[3] = { 5, 6, 7 };
    int a[3] = { -1, -1, -1 }, b[3] = { -1, -1, -1 };
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, three, w, 3, three, w, MPI_INFO_NULL, 0, &c);
    CHECK_ERR(MPI_Dist_graph_neighbors(c, 1, a, b, 0, NULL, MPI_WEIGHTS_EMPTY), MPI_SUCCESS);
    CHECK(a[0] == check_rank && a[1] == -1 && b[0] == 5 && b[1] == -1);
    CHECK_ERR(MPI_Dist_graph_neighbors(c, 0, NULL, MPI_UNWEIGHTED, 2, a, b), MPI_SUCCESS);
    CHECK(a[1] == check_rank && a[2] == -1 && b[0] == 5 && b[1] == 6 && b[2] == -1);
    CHECK_ERR(MPI_Dist_graph_neighbors(c, 100, a, MPI_UNWEIGHTED, 100, b, MPI_UNWEIGHTED), MPI_SUCCESS);
    CHECK(a[2] == check_rank && b[2] == check_rank);
    get(c, &g, 1);
    MPI_Comm_free(&c);
}

/* No edges at all, or on some processes only; the weights of nothing. */
static void isolated(void)
{
    static struct list g;
    MPI_Comm c;
    int zero = 0, w = 3, n = check_rank == 0;
    for (int weighted = 0; weighted < 2; weighted++) {
        int *none = weighted ? MPI_WEIGHTS_EMPTY : MPI_UNWEIGHTED, *own = weighted ? &w : MPI_UNWEIGHTED;
        CHECK_ERR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, none, 0, NULL, none, MPI_INFO_NULL,
                                                 0, &c),
                  MPI_SUCCESS);
        get(c, &g, weighted);
        CHECK(g.in == 0 && g.out == 0);
        MPI_Comm_free(&c);
        CHECK_ERR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, &zero, n ? own : none, n, &zero,
                                                 n ? own : none, MPI_INFO_NULL, 0, &c),
                  MPI_SUCCESS);
        get(c, &g, weighted);
        CHECK(g.in == n && g.out == n);
        MPI_Comm_free(&c);
        CHECK_ERR(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, none, MPI_INFO_NULL, 0, &c),
                  MPI_SUCCESS);
        get(c, &g, weighted);
        CHECK(g.in == 0 && g.out == 0);
        MPI_Comm_free(&c);
        CHECK_ERR(
            MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &check_rank, &zero, NULL, none, MPI_INFO_NULL, 0, &c),
            MPI_SUCCESS);
        get(c, &g, weighted);
        CHECK(g.in == 0 && g.out == 0);
        MPI_Comm_free(&c);
    }
}

/* Where there are no edges the weights may be any array, NULL too: only MPI_UNWEIGHTED says that
 * there are none. */
static void null_weights(void)
{
    static struct list g;
    MPI_Comm c;
    int zero = 0, w = 3, n = check_rank == 0;
    CHECK_ERR(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, NULL, MPI_INFO_NULL, 0, &c),
              MPI_SUCCESS);
    get(c, &g, 1);
    MPI_Comm_free(&c);
    CHECK_ERR(
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, NULL, 0, NULL, NULL, MPI_INFO_NULL, 0, &c),
        MPI_SUCCESS);
    get(c, &g, 1);
    MPI_Comm_free(&c);
    for (int weighted = 0; weighted < 2; weighted++) { /* on some processes */
        int *own = weighted ? &w : MPI_UNWEIGHTED;
        CHECK_ERR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, &zero, n ? own : NULL, n, &zero,
                                                 n ? own : NULL, MPI_INFO_NULL, 0, &c),
                  MPI_SUCCESS);
        get(c, &g, weighted);
        CHECK(g.in == n && g.out == n);
        MPI_Comm_free(&c);
    }
}

/* Keys that nobody knows, in an info object that goes away. */
static void hints(void)
{
    static struct list g;
    MPI_Info info;
    MPI_Comm c;
    int zero = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_such_hint", "42");
    CHECK_ERR(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, &zero, &zero, &zero, MPI_UNWEIGHTED, info, 1, &c),
              MPI_SUCCESS);
    get(c, &g, 0);
    MPI_Comm_free(&c);
    CHECK_ERR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &check_rank, MPI_UNWEIGHTED, 1, &check_rank,
                                             MPI_UNWEIGHTED, info, 0, &c),
              MPI_SUCCESS);
    MPI_Info_free(&info);
    get(c, &g, 0);
    CHECK(g.in == 1 && g.out == 1);
    MPI_Comm_free(&c);
}

/* The standard's example, told by each process, and by one. */
static void example(void)
{
    static struct list g;
    const int degrees[4] = { 2, 1, 1, 2 }, all[6] = { 1, 3, 0, 3, 0, 2 }, first[4] = { 0, 2, 3, 4 },
              nodes[4] = { 0, 1, 2, 3 }, ones[6] = { 1, 1, 1, 1, 1, 1 };
    MPI_Comm c;
    if (check_size < 4)
        return;
    for (int by_one = 0; by_one < 2; by_one++) {
        int n = by_one ? (check_rank == check_size - 1 ? 4 : 0) : check_rank < 4;
        int at = by_one || n == 0 ? 0 : check_rank;
        CHECK_ERR(MPI_Dist_graph_create(MPI_COMM_WORLD, n, nodes + at, degrees + at, all + first[at], ones,
                                        MPI_INFO_NULL, 0, &c),
                  MPI_SUCCESS);
        get(c, &g, 1);
        CHECK_EQ(g.out, check_rank < 4 ? degrees[check_rank] : 0);
        CHECK_EQ(g.in, check_rank < 4 ? degrees[check_rank] : 0, "the matrix is symmetric");
        if (check_rank < 4)
            same(g.destinations, all + first[check_rank], g.out, "destination");
        MPI_Comm_free(&c);
    }
}

/* Edge k of those that process p tells, the same everywhere. */
static void edge(int p, int k, int *s, int *d, int *w)
{
    uint32_t h = ((uint32_t)p * 977 + (uint32_t)k + 1) * 2654435761u;
    *s = (int)((h >> 7) % (uint32_t)check_size);
    *d = (int)((h >> 17) % (uint32_t)check_size);
    *w = p * 10000 + k;
}

/* Edges between any processes, told by any: each ends up where it belongs, exactly once; in the order of the
 * tellers. */
static void anywhere(int each, int weighted)
{
    static int s[MOST], d[MOST], w[MOST], ones[MOST];
    static struct list g, again;
    MPI_Comm c;
    int in = 0, out = 0, es, ed, ew;
    for (int k = 0; k < each; k++) {
        edge(check_rank, k, &s[k], &d[k], &w[k]);
        ones[k] = 1;
    }
    CHECK_ERR(MPI_Dist_graph_create(MPI_COMM_WORLD, each, s, ones, d, weighted ? w : MPI_UNWEIGHTED,
                                    MPI_INFO_NULL, 0, &c),
              MPI_SUCCESS);
    get(c, &g, weighted);
    get(c, &again, weighted);
    CHECK(!memcmp(&g, &again, sizeof g), "two calls return the same");
    for (int p = 0; p < check_size; p++)
        for (int k = 0; k < each; k++) {
            edge(p, k, &es, &ed, &ew);
            if (es == check_rank) {
                CHECK_EQ(g.destinations[out], ed);
                CHECK(!weighted || g.dw[out] == ew, "weight %d; expected %d", g.dw[out], ew);
                out++;
            }
            if (ed == check_rank) {
                CHECK_EQ(g.sources[in], es);
                CHECK(!weighted || g.sw[in] == ew, "weight %d; expected %d", g.sw[in], ew);
                in++;
            }
        }
    CHECK_EQ(g.in, in);
    CHECK_EQ(g.out, out);
    MPI_Comm_free(&c);
}

/* Edges that one of their processes alone knows: the graph can be asked for its neighbors. */
static void one_sided(int reorder)
{
    MPI_Comm c = MPI_COMM_NULL;
    int next = (check_rank + 1) % check_size, last = check_rank == check_size - 1, in = -1, out = -1,
        weighted = -1;
    int *u = MPI_UNWEIGHTED, to = -1, from = -1;
    CHECK_ERR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &next, u, last, &next, u, MPI_INFO_NULL,
                                             reorder, &c),
              MPI_SUCCESS);
    CHECK_EQ(MPI_Dist_graph_neighbors_count(c, &in, &out, &weighted), MPI_SUCCESS);
    if (!reorder) {
        CHECK(in == 1 && out == last && weighted == 0, "%d %d %d", in, out, weighted);
        CHECK_EQ(MPI_Dist_graph_neighbors(c, 1, &from, u, out, &to, u), MPI_SUCCESS);
        CHECK(from == next && to == (last ? next : -1), "%d %d", from, to);
    }
    MPI_Comm_free(&c);
}

static void errors(void)
{
    MPI_Comm c = MPI_COMM_WORLD;
    int me = check_rank, bad = check_size, one = 1, minus = -1, last;
    int *u = MPI_UNWEIGHTED;
    MPI_Info no = MPI_INFO_NULL;
    last = check_rank == check_size - 1;
    CHECK_ERR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, -1, &me, u, 0, &me, u, no, 0, &c), MPI_ERR_ARG);
    CHECK_SAYS("indegree is -1");
    CHECK_ERR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, &me, u, -1, &me, u, no, 0, &c), MPI_ERR_ARG);
    CHECK_ERR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &bad, u, 0, &me, u, no, 0, &c), MPI_ERR_RANK);
    CHECK_SAYS(check_text("sources has %d at index 0; expected 0 to %d", bad, check_size - 1));
    CHECK_ERR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, u, 1, NULL, u, no, 0, &c), MPI_ERR_ARG);
    CHECK_ERR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &me, &minus, 1, &me, &one, no, 0, &c),
              MPI_ERR_ARG);
    CHECK_SAYS("sourceweights has -1 at index 0");
    CHECK_ERR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &me, NULL, 1, &me, &one, no, 0, &c),
              MPI_ERR_ARG);
    CHECK_ERR(
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &me, MPI_WEIGHTS_EMPTY, 1, &me, &one, no, 0, &c),
        MPI_ERR_ARG);
    CHECK_SAYS("is MPI_WEIGHTS_EMPTY; expected weights of 1 edges");
    CHECK_ERR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &me, u, 1, &me, &one, no, 0, &c),
              MPI_ERR_ARG);
    CHECK_SAYS("MPI_UNWEIGHTED on some processes, but not on all");
    CHECK_ERR(MPI_Dist_graph_create(MPI_COMM_WORLD, last ? -1 : 1, &me, &one, &me, u, no, 0, &c),
              MPI_ERR_ARG);
    CHECK_ERR(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, &minus, &me, u, no, 0, &c), MPI_ERR_ARG);
    CHECK_SAYS("degrees has -1 at index 0");
    CHECK_ERR(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, &one, &bad, u, no, 0, &c), MPI_ERR_RANK);
    CHECK_ERR(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &minus, &one, &me, u, no, 0, &c), MPI_ERR_RANK);
    CHECK_ERR(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, &one, &me, &minus, no, 0, &c), MPI_ERR_ARG);
    /* wrong on one process alone: an error on all */
    CHECK_ERR(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, last ? &bad : &me, &one, &me, u, no, 0, &c),
              MPI_ERR_RANK);
    CHECK_ERR(MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &me, &me, &me), MPI_ERR_TOPOLOGY);
    CHECK_SAYS("expected a communicator with a distributed graph topology");
    CHECK_ERR(MPI_Dist_graph_neighbors(MPI_COMM_WORLD, 0, NULL, NULL, 0, NULL, NULL), MPI_ERR_TOPOLOGY);
    me = check_rank;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &me, &one, 1, &me, &one, no, 0, &c);
    CHECK_ERR(MPI_Dist_graph_neighbors(c, -1, &me, u, 1, &me, u), MPI_ERR_ARG);
    CHECK_ERR(MPI_Dist_graph_neighbors(c, 1, &me, NULL, 0, NULL, NULL), MPI_ERR_ARG);
    CHECK_SAYS("sourceweights is NULL");
    CHECK_ERR(MPI_Dist_graph_neighbors(c, 1, NULL, u, 0, NULL, u), MPI_ERR_ARG);
    MPI_Comm_free(&c);
    if (check_size == 1)
        return;
    CHECK_ERR(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, &one, &me, last ? &one : u, no, 0, &c),
              MPI_ERR_ARG);
    CHECK_SAYS("MPI_UNWEIGHTED on some processes, but not on all");
    CHECK_ERR(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, &one, &me, u, no, last, &c), MPI_ERR_ARG);
    CHECK_SAYS("reorder differs");
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    adjacent(0);
    adjacent(1);
    parts();
    one_sided(0);
    one_sided(1);
    isolated();
    null_weights();
    hints();
    example();
    for (int weighted = 0; weighted < 2; weighted++) {
        anywhere(1, weighted);
        anywhere(7, weighted);
        anywhere(150, weighted);
    }
    check_errors_return();
    errors();
    return check_done();
}
