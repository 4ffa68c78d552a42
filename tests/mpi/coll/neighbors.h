/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbors.h: neighborhood collectives in all forms, on all kinds of topologies; included by programs that each
 * force another algorithm.  What edge k of a process brings is told from the process at the other end and the
 * edge's place there. */
#ifndef NEIGHBORS_H
#define NEIGHBORS_H

#include "forms.h"

enum { GUARD = 0x5a5a5a5a, MOST = 600, N = 3 };

/* The edges of this process: from[i], its at[i]-th edge out, ends here as edge i; to[j] is where edge j goes. */
struct edges {
    MPI_Comm comm;
    int in, out, from[MOST], at[MOST], to[MOST];
};

/* Element e of what rank r sends along its j-th edge (alltoall), or along all (allgather: j is 0). */
static int datum(int r, int j, int e)
{
    return r * 100000 + j * 100 + e;
}

static void expect(const struct edges *g, const int *out, const int *at, const int *n, int gather,
                   const char *what)
{
    for (int i = 0; i < g->in; i++) {
        int len = g->from[i] >= 0 ? n[i] : 0;
        for (int e = 0; e < len; e++) {
            int want = datum(g->from[i], gather ? 0 : g->at[i], e);
            if (out[at[i] + e] != want) {
                CHECK_EQ(out[at[i] + e], want, "%s, form %d, edge %d of %d, element %d", what, form, i, g->in,
                         e);
                return;
            }
        }
        CHECK_EQ(out[at[i] + len], GUARD, "%s, form %d, after edge %d", what, form, i);
    }
}

static int *guarded(int n)
{
    int *p = malloc((size_t)(n + 1) * sizeof *p);
    for (int i = 0; i <= n; i++)
        p[i] = GUARD;
    return p;
}

/* How long the j-th edge from r to s is: some are nothing. */
static int length_of(int r, int j, int s)
{
    int x = r * 5 + j * 3 + s;
    return x % 3 == 0 ? 0 : x % 7 * (x % 2 ? 1 : 90);
}

static void test_even(const struct edges *g)
{
    int *in = guarded(g->out * N + N), *out = guarded(g->in * N);
    for (int e = 0; e < N; e++)
        in[e] = datum(check_rank, 0, e);
    MPI_Neighbor_allgather(in, N, MPI_INT, out, N, MPI_INT, g->comm);
    for (int i = 0; i < g->in; i++) /* no gaps here */
        for (int e = 0; e < N; e++)
            CHECK_EQ(out[i * N + e], g->from[i] >= 0 ? datum(g->from[i], 0, e) : GUARD, "edge %d, form %d", i,
                     form);
    free(out);
    out = guarded(g->in * N);
    for (int j = 0; j < g->out; j++)
        for (int e = 0; e < N; e++)
            in[j * N + e] = datum(check_rank, j, e);
    MPI_Neighbor_alltoall_c(in, N, MPI_INT, out, N, MPI_INT, g->comm);
    for (int i = 0; i < g->in; i++)
        for (int e = 0; e < N; e++)
            CHECK_EQ(out[i * N + e], g->from[i] >= 0 ? datum(g->from[i], g->at[i], e) : GUARD,
                     "edge %d, form %d", i, form);
    CHECK_EQ(out[g->in * N], GUARD, "beyond the end");
    free(in);
    free(out);
}

static void test_gatherv(const struct edges *g)
{
    int at[MOST], n[MOST], all = 0, mine = length_of(check_rank, 0, 0), *in = guarded(mine), *out;
    for (int i = 0; i < g->in; i++) {
        n[i] = g->from[i] >= 0 ? length_of(g->from[i], 0, 0) : 5;
        at[i] = all;
        all += n[i] + 1;
    }
    out = guarded(all);
    for (int e = 0; e < mine; e++)
        in[e] = datum(check_rank, 0, e);
    MPI_Neighbor_allgatherv(in, mine, MPI_INT, out, n, at, MPI_INT, g->comm);
    expect(g, out, at, n, 1, "allgatherv");
    free(in);
    free(out);
}

static void test_v(const struct edges *g)
{
    int rn[MOST], rat[MOST], sn[MOST], sat[MOST], sall = 0, rall = 0, *in, *out;
    MPI_Aint sbytes[MOST], rbytes[MOST];
    MPI_Datatype types[MOST], pairs[MOST], two;
    MPI_Type_contiguous(1, MPI_INT, &two);
    MPI_Type_commit(&two);
    for (int j = 0; j < g->out; j++) {
        sn[j] = g->to[j] >= 0 ? length_of(check_rank, j, g->to[j]) : 2;
        sat[j] = sall;
        sbytes[j] = 4 * (MPI_Aint)sall;
        types[j] = two;
        sall += sn[j];
    }
    for (int i = 0; i < g->in; i++) {
        rn[i] = g->from[i] >= 0 ? length_of(g->from[i], g->at[i], check_rank) : 4;
        rat[i] = rall;
        rbytes[i] = 4 * (MPI_Aint)rall;
        pairs[i] = MPI_INT;
        rall += rn[i] + 1;
    }
    in = guarded(sall);
    for (int j = 0; j < g->out; j++)
        for (int e = 0; e < sn[j]; e++)
            in[sat[j] + e] = datum(check_rank, j, e);
    out = guarded(rall);
    MPI_Neighbor_alltoallv(in, sn, sat, MPI_INT, out, rn, rat, MPI_INT, g->comm);
    expect(g, out, rat, rn, 0, "alltoallv");
    free(out);
    out = guarded(rall);
    MPI_Neighbor_alltoallw(in, sn, sbytes, types, out, rn, rbytes, pairs, g->comm);
    expect(g, out, rat, rn, 0, "alltoallw");
    MPI_Type_free(&two);
    free(in);
    free(out);
}

static void test_all(struct edges *g)
{
    for (form = BLOCKING; form < FORMS; form++) {
        test_even(g);
        test_gatherv(g);
        test_v(g);
    }
    form = BLOCKING;
    MPI_Comm_free(&g->comm);
}

/* A grid: what goes up along a dimension arrives from below. */
static void grid(int ndims, int periodic)
{
    struct edges g = { .in = 2 * ndims, .out = 2 * ndims };
    int dims[4] = { 0 }, periods[4];
    for (int d = 0; d < ndims; d++)
        periods[d] = periodic;
    MPI_Dims_create(check_size, ndims, dims);
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &g.comm);
    for (int d = 0; d < ndims; d++) {
        int down, up;
        MPI_Cart_shift(g.comm, d, 1, &down, &up);
        g.from[2 * d] = g.to[2 * d] = down;
        g.from[2 * d + 1] = g.to[2 * d + 1] = up;
        g.at[2 * d] = 2 * d + 1;
        g.at[2 * d + 1] = 2 * d;
    }
    test_all(&g);
}

/* Edges with multiplicity: rank r has (r + d) % most of them to the rank d further on, itself too, if d % skip is 0. */
static void multigraph(int most, int skip)
{
    struct edges g = { .comm = MPI_COMM_NULL };
    int p = check_size;
    for (int d = 0; d < p && d / skip < 12; d += skip)
        for (int k = 0; k < (check_rank + d) % most; k++)
            g.to[g.out++] = (check_rank + d) % p;
    for (int s = 0; s < p; s++) {
        int at = 0;
        for (int d = 0; d < p && d / skip < 12; d += skip)
            for (int k = 0; k < (s + d) % most; k++, at++)
                if ((s + d) % p == check_rank) {
                    g.from[g.in] = s;
                    g.at[g.in++] = at;
                }
    }
    CHECK(g.in <= MOST && g.out <= MOST, "too many edges");
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, g.in, g.from, MPI_UNWEIGHTED, g.out, g.to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &g.comm);
    test_all(&g);
}

/* All with all, in the old interface. */
static void graph(void)
{
    struct edges g = { .in = check_size - 1, .out = check_size - 1 };
    int *index = malloc(sizeof *index * (size_t)check_size),
        *edges = malloc(sizeof *edges * (size_t)check_size * (size_t)check_size), n = 0, j = 0;
    for (int r = 0; r < check_size; r++) {
        for (int s = 0; s < check_size; s++)
            if (s != r)
                edges[n++] = s;
        index[r] = n;
    }
    for (int s = 0; s < check_size; s++)
        if (s != check_rank) {
            g.from[j] = g.to[j] = s;
            g.at[j++] = check_rank < s ? check_rank : check_rank - 1;
        }
    MPI_Graph_create(MPI_COMM_WORLD, check_size, index, edges, 0, &g.comm);
    free(index);
    free(edges);
    test_all(&g);
}

static void test_errors(void)
{
    int a[4] = { 0 }, b[4], n = 0;
    MPI_Aint at = 0;
    MPI_Datatype t = MPI_INT;
    MPI_Request r = MPI_REQUEST_NULL;
    CHECK_ERR((MPI_Neighbor_alltoall)(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TOPOLOGY);
    CHECK_SAYS("topology");
    CHECK_ERR((MPI_Neighbor_alltoallw)(a, &n, &at, &t, b, &n, &at, &t, MPI_COMM_WORLD), MPI_ERR_TOPOLOGY);
    CHECK_ERR(MPI_Ineighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD, &r), MPI_ERR_TOPOLOGY);
    CHECK(r == MPI_REQUEST_NULL, "a request of a call that failed");
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int periodic = 0; periodic < 2; periodic++)
        for (int ndims = 1; ndims < 4; ndims++)
            grid(ndims, periodic);
    multigraph(3, 1);
    multigraph(4, 3);
    multigraph(45, 2);
    graph();
    check_errors_return();
    test_errors();
    return check_done();
}

#endif
