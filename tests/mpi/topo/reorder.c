/* SPDX-License-Identifier: BSD-3-Clause */
/* reorder = true on several nodes: neighbors come to lie on the same node, never fewer than without; what
 * MPI_Cart_map and MPI_Graph_map say is what the constructors do; a distributed graph's edges go with the ranks. */
/* ranks: 4 6 8 12 16 18 */
/* mpiexec: -fake-nodes 2 */
/* nodes: one, because it asks for several itself */
#include "../check.h"

enum { MOST = 64, DIMS = 4 };

static int node_of[MOST]; /* by rank in MPI_COMM_WORLD: the first rank on its node */

static void find_nodes(void)
{
    MPI_Comm node;
    int first = check_rank;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Bcast(&first, 1, MPI_INT, 0, node);
    MPI_Allgather(&first, 1, MPI_INT, node_of, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Comm_free(&node);
}

/* The nodes of a communicator's ranks. */
static void nodes_in(MPI_Comm c, int *nodes)
{
    int mine = node_of[check_rank];
    MPI_Allgather(&mine, 1, MPI_INT, nodes, 1, MPI_INT, c);
}

/* ---- Grids ----------------------------------------------------------------------------------------------------- */

struct grid {
    int n, cells, dims[DIMS], periods[DIMS];
};

/* Neighbors on different nodes. */
static int grid_cut(const struct grid *g, const int *nodes)
{
    int cut = 0, step = 1;
    for (int i = g->n - 1; i >= 0; i--) {
        for (int v = 0; v < g->cells; v++) {
            int x = v / step % g->dims[i], last = x == g->dims[i] - 1;
            if (!last || g->periods[i])
                cut += nodes[v] != nodes[last ? v - x * step : v + step];
        }
        step *= g->dims[i];
    }
    return cut;
}

/* The smallest cut by equal blocks, one a node. */
static int block_cut(const struct grid *g, int dim, int cells, const int *block)
{
    int b[DIMS], best = 1 << 30;
    if (dim == g->n) {
        int cut = 0;
        for (int i = 0; i < g->n && cells == 1; i++) {
            int blocks = g->dims[i] / block[i];
            cut += g->cells / g->dims[i] * (blocks - 1 + (g->periods[i] && blocks > 1));
        }
        return cells == 1 ? cut : best;
    }
    memcpy(b, block, sizeof b);
    for (b[dim] = 1; b[dim] <= cells && b[dim] <= g->dims[dim]; b[dim]++)
        if (cells % b[dim] == 0 && g->dims[dim] % b[dim] == 0) {
            int cut = block_cut(g, dim + 1, cells / b[dim], b);
            best = cut < best ? cut : best;
        }
    return best;
}

static int nodes_are_equal(const int *nodes, int n, int *size)
{
    int equal = 1;
    *size = 0;
    for (int i = 0; i < n; i++) {
        int here = 0;
        for (int j = 0; j < n; j++)
            here += nodes[j] == nodes[i];
        *size = *size ? *size : here;
        equal &= here == *size;
    }
    return equal;
}

static void one_grid(MPI_Comm old, const struct grid *g)
{
    int before[MOST], after[MOST], mapped = -1, rank, size = 0, result = -1, block[DIMS] = { 0 };
    MPI_Comm c;
    nodes_in(old, before);
    CHECK_ERR(MPI_Cart_create(old, g->n, g->dims, g->periods, 1, &c), MPI_SUCCESS);
    CHECK_ERR(MPI_Cart_map(old, g->n, g->dims, g->periods, &mapped), MPI_SUCCESS);
    MPI_Comm_rank(old, &rank);
    CHECK_EQ(c != MPI_COMM_NULL, rank < g->cells, "the first processes take part");
    if (c == MPI_COMM_NULL) {
        CHECK_EQ(mapped, MPI_UNDEFINED);
        return;
    }
    MPI_Comm_rank(c, &rank);
    CHECK_EQ(mapped, rank, "MPI_Cart_map");
    nodes_in(c, after);
    int was = grid_cut(g, before), is = grid_cut(g, after), best;
    CHECK(is <= was, "%d neighbors on other nodes, %d without reordering", is, was);
    if (nodes_are_equal(before, g->cells, &size)) {
        best = block_cut(g, 0, size, block);
        CHECK(is <= best, "%d neighbors on other nodes, %d with blocks", is, best);
    }
    MPI_Comm_compare(c, old, &result);
    if (is == was)
        CHECK(result == MPI_CONGRUENT || g->cells < check_size, "as good as before: nobody moves");
    else
        CHECK(result == MPI_SIMILAR || g->cells < check_size);
    MPI_Comm_free(&c);
}

static void grids(MPI_Comm old)
{
    for (int n = 1; n <= DIMS; n++)
        for (int periodic = 0; periodic < 2; periodic++) {
            struct grid g = { .n = n, .cells = check_size };
            MPI_Dims_create(check_size, n, g.dims);
            g.periods[n - 1] = g.periods[0] = periodic;
            one_grid(old, &g);
            g.dims[0]--; /* fewer than there are */
            for (int i = 0, cells = 1; i < n; i++)
                g.cells = cells *= g.dims[i];
            if (g.cells)
                one_grid(old, &g);
        }
}

/* ---- Graphs ---------------------------------------------------------------------------------------------------- */

/* Two rings, of the even and of the odd ranks; heavy inside, with light edges between them. */
static int lists(int rank, int *neighbors, int *weights)
{
    const int to[3] = { rank + 2, rank - 2, rank ^ 1 };
    int n = 0;
    for (int i = 0; i < 3; i++)
        if (to[i] >= 0 && to[i] < check_size) {
            weights[n] = i < 2 ? 50 : 1;
            neighbors[n++] = to[i];
        }
    return n;
}

static long list_cut(const int *nodes, int weighted)
{
    int to[3], w[3];
    long cut = 0;
    for (int r = 0; r < check_size; r++) {
        int n = lists(r, to, w);
        for (int i = 0; i < n; i++)
            if (nodes[to[i]] != nodes[r])
                cut += weighted ? w[i] : 1;
    }
    return cut;
}

static void check_lists(MPI_Comm c, int weighted, int in_order)
{
    int rank, in = -1, out = -1, is_weighted = -1, s[3], sw[3], d[3], dw[3], to[3], w[3];
    MPI_Comm_rank(c, &rank);
    int n = lists(rank, to, w);
    MPI_Dist_graph_neighbors_count(c, &in, &out, &is_weighted);
    CHECK_EQ(is_weighted, weighted);
    CHECK_EQ(in, n);
    CHECK_EQ(out, n);
    MPI_Dist_graph_neighbors(c, 3, s, sw, 3, d, dw);
    for (int i = 0; i < n && in == n && out == n; i++) {
        CHECK_EQ(d[i], to[i], "destination %d of rank %d", i, rank);
        CHECK(!weighted || dw[i] == w[i], "weight %d; expected %d", dw[i], w[i]);
        int k = 0;
        while (k < n && to[k] != s[i])
            k++;
        CHECK(k < n && (k == i || !in_order), "source %d of rank %d is %d", i, rank, s[i]);
        CHECK(!weighted || k == n || sw[i] == w[k]);
    }
}

/* Neighbors find each other. */
static void exchange(MPI_Comm c)
{
    int rank, to[3], w[3], got[3] = { -1, -1, -1 };
    MPI_Request r[6];
    MPI_Comm_rank(c, &rank);
    int n = lists(rank, to, w);
    for (int i = 0; i < n; i++) {
        MPI_Irecv(&got[i], 1, MPI_INT, to[i], 0, c, &r[i]);
        MPI_Isend(&rank, 1, MPI_INT, to[i], 0, c, &r[n + i]);
    }
    MPI_Waitall(2 * n, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        CHECK_EQ(got[i], to[i]);
}

static void graphs(MPI_Comm old)
{
    int before[MOST], after[MOST], index[MOST], edges[3 * MOST], w[3], rank, mapped = -1, at = 0;
    MPI_Comm c;
    nodes_in(old, before);
    for (int r = 0; r < check_size; r++)
        index[r] = at += lists(r, edges + at, w);
    CHECK_ERR(MPI_Graph_create(old, check_size, index, edges, 1, &c), MPI_SUCCESS);
    CHECK_ERR(MPI_Graph_map(old, check_size, index, edges, &mapped), MPI_SUCCESS);
    MPI_Comm_rank(c, &rank);
    CHECK_EQ(mapped, rank, "MPI_Graph_map");
    nodes_in(c, after);
    CHECK(list_cut(after, 0) <= list_cut(before, 0));
    exchange(c);
    MPI_Comm_free(&c);
}

static void dist_graphs(MPI_Comm old, int weighted)
{
    int before[MOST], after[MOST], to[3], w[3], rank, nodes, equal;
    MPI_Comm c;
    MPI_Comm_rank(old, &rank);
    nodes_in(old, before);
    int n = lists(rank, to, w), *weights = weighted ? w : MPI_UNWEIGHTED;
    for (int adjacent = 0; adjacent < 2; adjacent++) {
        if (adjacent)
            CHECK_ERR(
                MPI_Dist_graph_create_adjacent(old, n, to, weights, n, to, weights, MPI_INFO_NULL, 1, &c),
                MPI_SUCCESS);
        else
            CHECK_ERR(MPI_Dist_graph_create(old, 1, &rank, &n, to, weights, MPI_INFO_NULL, 1, &c),
                      MPI_SUCCESS);
        nodes_in(c, after);
        CHECK(list_cut(after, weighted) <= list_cut(before, weighted));
        equal = nodes_are_equal(before, check_size, &nodes);
        if (weighted && equal && nodes * 2 == check_size)
            CHECK(list_cut(after, 1) <= 2 * check_size, "only light edges lead to the other node");
        check_lists(c, weighted, adjacent);
        exchange(c);
        MPI_Comm_free(&c);
    }
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    find_nodes();
    const int keys[] = { check_rank,     -check_rank,    check_rank * 7 % 5,
                         check_rank % 2, check_rank % 4, (check_rank * 29 + 5) % 31 };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        MPI_Comm old;
        MPI_Comm_split(MPI_COMM_WORLD, 0, keys[i], &old);
        grids(old);
        graphs(old);
        dist_graphs(old, 0);
        dist_graphs(old, 1);
        MPI_Comm_free(&old);
    }
    return check_done();
}
