/* SPDX-License-Identifier: BSD-3-Clause */
/* Graph topologies: the standard's examples, loops, multiple edges, one-sided edges, smaller graphs, errors. */
/* ranks: 1 2 3 4 5 8 */
#include "../check.h"

enum { MOST = 64 };

struct graph {
    int nodes, index[MOST], edges[4 * MOST];
};

static void add_node(struct graph *g, int n, const int *neighbors)
{
    int at = g->nodes ? g->index[g->nodes - 1] : 0;
    for (int i = 0; i < n; i++)
        g->edges[at + i] = neighbors[i];
    g->index[g->nodes++] = at + n;
}

static void expect(MPI_Comm c, const struct graph *g)
{
    int status = -1, nodes = -1, edges = -1, size = -1, index[MOST], list[4 * MOST];
    int m = g->index[g->nodes - 1];
    MPI_Comm_size(c, &size);
    CHECK_EQ(size, g->nodes);
    CHECK_ERR(MPI_Topo_test(c, &status), MPI_SUCCESS);
    CHECK_EQ(status, MPI_GRAPH);
    CHECK_ERR(MPI_Graphdims_get(c, &nodes, &edges), MPI_SUCCESS);
    CHECK_EQ(nodes, g->nodes);
    CHECK_EQ(edges, m);
    memset(index, 0xab, sizeof index);
    memset(list, 0xab, sizeof list);
    CHECK_ERR(MPI_Graph_get(c, MOST, 4 * MOST, index, list), MPI_SUCCESS);
    for (int i = 0; i < MOST; i++)
        CHECK_EQ(index[i], i < g->nodes ? g->index[i] : (int)0xabababab, "index[%d]", i);
    for (int i = 0; i < 4 * MOST; i++)
        CHECK_EQ(list[i], i < m ? g->edges[i] : (int)0xabababab, "edges[%d]", i);
    for (int r = 0; r < g->nodes; r++) {
        int n = -1, first = r ? g->index[r - 1] : 0;
        CHECK_ERR(MPI_Graph_neighbors_count(c, r, &n), MPI_SUCCESS);
        CHECK_EQ(n, g->index[r] - first, "of rank %d", r);
        memset(list, 0xab, sizeof list);
        CHECK_ERR(MPI_Graph_neighbors(c, r, n, list), MPI_SUCCESS);
        for (int i = 0; i <= n; i++)
            CHECK_EQ(list[i], i < n ? g->edges[first + i] : (int)0xabababab, "neighbor %d of rank %d", i, r);
    }
}

static void make(const struct graph *g)
{
    MPI_Comm c = MPI_COMM_WORLD, d;
    int rank = -99;
    CHECK_ERR(MPI_Graph_create(MPI_COMM_WORLD, g->nodes, g->index, g->edges, 0, &c), MPI_SUCCESS);
    CHECK_EQ(c != MPI_COMM_NULL, check_rank < g->nodes);
    CHECK_ERR(MPI_Graph_map(MPI_COMM_WORLD, g->nodes, g->index, g->edges, &rank), MPI_SUCCESS);
    CHECK_EQ(rank == MPI_UNDEFINED, check_rank >= g->nodes);
    if (c == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(c, &rank);
    CHECK_EQ(rank, check_rank);
    expect(c, g);
    MPI_Comm_dup(c, &d);
    MPI_Comm_free(&c);
    expect(d, g);
    MPI_Comm_free(&d);
}

/* The standard's examples: of the constructor and, with multiple edges, of the inquiries. */
static void examples(void)
{
    struct graph g = { 4, { 2, 3, 4, 6 }, { 1, 3, 0, 3, 0, 2 } };
    struct graph h = { 4, { 3, 5, 6, 9 }, { 1, 1, 3, 0, 0, 3, 0, 2, 2 } };
    if (check_size < 4)
        return;
    make(&g);
    make(&h);
}

static void any(void)
{
    for (int nodes = 1; nodes <= check_size; nodes++) {
        struct graph ring = { 0 }, star = { 0 }, loops = { 0 }, alone = { 0 }, one_way = { 0 };
        for (int i = 0; i < nodes; i++) {
            add_node(&ring, 2, (const int[]){ (i + 1) % nodes, (i + nodes - 1) % nodes });
            add_node(&star, i != 0, (const int[]){ 0 });
            add_node(&loops, 3, (const int[]){ i, i, nodes - 1 - i });
            add_node(&alone, 0, NULL);
            add_node(&one_way, i + 1 < nodes, (const int[]){ i + 1 });
        }
        make(&ring);
        make(&star);
        make(&loops);
        make(&alone);
        make(&one_way);
    }
}

static void nothing(void)
{
    MPI_Comm c = MPI_COMM_WORLD;
    int rank = -1;
    CHECK_ERR(MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 1, &c), MPI_SUCCESS);
    CHECK(c == MPI_COMM_NULL);
    CHECK_ERR(MPI_Graph_map(MPI_COMM_WORLD, 0, NULL, NULL, &rank), MPI_SUCCESS);
    CHECK_EQ(rank, MPI_UNDEFINED);
}

static void errors(void)
{
    MPI_Comm c = MPI_COMM_WORLD;
    int index[2] = { 1, 2 }, edges[2] = { 0, 0 }, many[MOST] = { 0 }, a, b;
    CHECK_ERR(MPI_Graph_create(MPI_COMM_WORLD, check_size + 1, many, edges, 0, &c), MPI_ERR_ARG);
    CHECK_SAYS(check_text("nnodes is %d; expected 0 to %d", check_size + 1, check_size));
    CHECK_ERR(MPI_Graph_create(MPI_COMM_WORLD, -1, index, edges, 0, &c), MPI_ERR_ARG);
    CHECK_ERR(MPI_Graph_create(MPI_COMM_WORLD, 1, NULL, edges, 0, &c), MPI_ERR_ARG);
    CHECK_ERR(MPI_Graph_create(MPI_COMM_WORLD, 1, index, NULL, 0, &c), MPI_ERR_ARG);
    edges[0] = check_rank == 0 ? 1 : 0; /* wrong on one process alone */
    CHECK_ERR(MPI_Graph_create(MPI_COMM_WORLD, 1, index, edges, 0, &c), MPI_ERR_ARG);
    edges[0] = 1;
    CHECK_ERR(MPI_Graph_map(MPI_COMM_WORLD, 1, index, edges, &a), MPI_ERR_ARG);
    CHECK_SAYS("edges has 1 at index 0; expected a node, 0 to 0");
    index[0] = -1;
    CHECK_ERR(MPI_Graph_create(MPI_COMM_WORLD, 1, index, edges, 0, &c), MPI_ERR_ARG);
    CHECK_SAYS("index has -1 at index 0; expected at least 0");
    index[0] = 1, edges[0] = 0;
    CHECK_ERR(MPI_Graphdims_get(MPI_COMM_WORLD, &a, &b), MPI_ERR_TOPOLOGY);
    CHECK_SAYS("has no topology; expected a communicator with a graph topology");
    CHECK_ERR(MPI_Graph_get(MPI_COMM_WORLD, 1, 1, index, edges), MPI_ERR_TOPOLOGY);
    CHECK_ERR(MPI_Graph_neighbors_count(MPI_COMM_WORLD, 0, &a), MPI_ERR_TOPOLOGY);
    CHECK_ERR(MPI_Graph_neighbors(MPI_COMM_WORLD, 0, 1, edges), MPI_ERR_TOPOLOGY);
    CHECK_ERR(MPI_Graph_create(MPI_COMM_WORLD, 1, index, edges, 0, &c), MPI_SUCCESS);
    if (c != MPI_COMM_NULL) {
        CHECK_ERR(MPI_Graph_get(c, 0, 1, index, edges), MPI_ERR_ARG);
        CHECK_SAYS("maxindex is 0; expected at least 1");
        CHECK_ERR(MPI_Graph_get(c, 1, 0, index, edges), MPI_ERR_ARG);
        edges[0] = -7;
        CHECK_ERR(MPI_Graph_neighbors(c, 0, 0, edges), MPI_SUCCESS); /* what the array holds */
        CHECK_EQ(edges[0], -7);
        CHECK_ERR(MPI_Graph_neighbors(c, 0, 1, edges), MPI_SUCCESS);
        CHECK_EQ(edges[0], 0);
        CHECK_ERR(MPI_Graph_neighbors(c, 1, 1, edges), MPI_ERR_RANK);
        CHECK_ERR(MPI_Graph_neighbors_count(c, -1, &a), MPI_ERR_RANK);
        CHECK_ERR(MPI_Cartdim_get(c, &a), MPI_ERR_TOPOLOGY);
        CHECK_SAYS("has a graph topology; expected a communicator with a Cartesian topology");
        MPI_Comm_free(&c);
    }
    if (check_size == 1)
        return;
    index[0] = check_rank == 1 ? 0 : 1;
    CHECK_ERR(MPI_Graph_create(MPI_COMM_WORLD, 1, index, edges, 0, &c), MPI_ERR_ARG);
    CHECK_SAYS("index differs between the processes");
    CHECK_ERR(MPI_Graph_create(MPI_COMM_WORLD, check_rank == 1 ? 0 : 1, index, edges, 0, &c), MPI_ERR_ARG);
    CHECK_SAYS("nnodes differs");
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    examples();
    any();
    nothing();
    check_errors_return();
    errors();
    return check_done();
}
