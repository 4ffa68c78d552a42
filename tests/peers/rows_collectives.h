/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_collectives.h: rows of misuse.c about collectives, groups, communicators, topologies. */
#ifndef ROWS_COLLECTIVES_H
#define ROWS_COLLECTIVES_H

#include "misuse.h"

/* ---- Collectives */

static int bcast_root(void)
{
    return MPI_Bcast(a, 1, I, 1000, S);
}
static int bcast_count(void)
{
    return MPI_Bcast(a, -1, I, 0, S);
}
static int bcast_null_empty(void)
{
    return MPI_Bcast(NULL, 0, MPI_DATATYPE_NULL, 0, S);
}
static int bcast_in_place(void)
{
    return MPI_Bcast(MPI_IN_PLACE, 1, I, 0, S);
}
static int gather_aliased(void)
{
    return MPI_Gather(a, 1, I, a, 1, I, 0, S);
}
static int gather_own_block(void)
{
    return MPI_Gather(a + rank, 1, I, a, 1, I, 0, W);
}
static int scatter_aliased(void)
{
    return MPI_Scatter(a, 1, I, a, 1, I, 0, S);
}
static int allgather_aliased(void)
{
    return MPI_Allgather(a, 1, I, a, 1, I, S);
}
static int allgather_own_block(void)
{
    return MPI_Allgather(a + rank, 1, I, a, 1, I, W);
}
static int alltoall_aliased(void)
{
    return MPI_Alltoall(a, 1, I, a, 1, I, S);
}
static int allreduce_aliased(void)
{
    return MPI_Allreduce(a, a, 1, I, MPI_SUM, S);
}
static int reduce_aliased(void)
{
    return MPI_Reduce(a, a, 1, I, MPI_SUM, 0, S);
}
static int scan_aliased(void)
{
    return MPI_Scan(a, a, 1, I, MPI_SUM, S);
}
static int exscan_aliased(void)
{
    return MPI_Exscan(a, a, 1, I, MPI_SUM, S);
}
static int reduce_scatter_aliased(void)
{
    return MPI_Reduce_scatter(a, a, ones, I, MPI_SUM, S);
}
static int gather_in_place_leaf(void)
{
    int e = rank == 0 ? 0 : MPI_Gather(MPI_IN_PLACE, 0, I, NULL, 0, I, 0, W);
    return e;
}
static int gather_bytes_differ(void)
{
    return MPI_Gather(a, 1, I, b, 2, I, 0, S);
}
static int gather_recv_short(void)
{
    return MPI_Gather(a, 2, I, b, 1, I, 0, S);
}
static int allgather_bytes_differ(void)
{
    return MPI_Allgather(a, 1, I, b, 2, I, S);
}
static int allgatherv_negative(void)
{
    return MPI_Allgatherv(a, 1, I, b, minus, zeros, I, S);
}
static int alltoallw_null_empty(void)
{
    MPI_Datatype t[MOST];
    for (int i = 0; i < MOST; i++)
        t[i] = MPI_DATATYPE_NULL;
    return MPI_Alltoallw(a, zeros, zeros, t, b, zeros, zeros, t, S);
}
static int alltoallv_uncommitted_empty(void)
{
    return MPI_Alltoallv(a, zeros, zeros, vector(0), b, zeros, zeros, vector(0), S);
}
static int neighbors_without(void)
{
    return MPI_Neighbor_allgather(a, 1, I, b, 1, I, S);
}
static int neighbors_in_place(void)
{
    return MPI_Neighbor_allgather(MPI_IN_PLACE, 0, I, b, 0, I, grid());
}
static int scan_inter_counts(void)
{
    return MPI_Reduce_scatter(a, b, minus, I, MPI_SUM, S);
}

/* ---- Groups */

static int group_incl_outside(void)
{
    MPI_Group g = first_of_world(), h;
    return MPI_Group_incl(g, 1, ones, &h);
}
static int group_incl_twice(void)
{
    MPI_Group g = first_of_world(), h;
    return MPI_Group_incl(g, 2, zeros, &h);
}
static int group_incl_count(void)
{
    MPI_Group g = first_of_world(), h;
    return MPI_Group_incl(g, -1, zeros, &h);
}
static int group_excl_twice(void)
{
    MPI_Group g = first_of_world(), h;
    return MPI_Group_excl(g, 2, zeros, &h);
}
static int group_range_stride(void)
{
    MPI_Group g = first_of_world(), h;
    int r[1][3] = { { 0, 0, 0 } };
    return MPI_Group_range_incl(g, 1, r, &h);
}
static int group_range_backwards(void)
{
    MPI_Group g, h;
    int r[1][3] = { { 1, 0, 1 } };
    MPI_Comm_group(W, &g);
    return MPI_Group_range_incl(g, 1, r, &h);
}
static int group_translate_outside(void)
{
    MPI_Group g = first_of_world();
    return MPI_Group_translate_ranks(g, 1, ones, g, b);
}
static int group_translate_nobody(void)
{
    MPI_Group g = first_of_world();
    int nobody = NOBODY;
    return MPI_Group_translate_ranks(g, 1, &nobody, g, b);
}
static int group_free_empty(void)
{
    MPI_Group g = MPI_GROUP_EMPTY;
    return MPI_Group_free(&g);
}
static int group_free_null(void)
{
    MPI_Group g = MPI_GROUP_NULL;
    return MPI_Group_free(&g);
}
static int group_size_null(void)
{
    return MPI_Group_size(MPI_GROUP_NULL, a);
}

/* ---- Communicators */

static int comm_free_world(void)
{
    MPI_Comm c = W;
    return MPI_Comm_free(&c);
}
static int comm_free_self(void)
{
    MPI_Comm c = S;
    return MPI_Comm_free(&c);
}
static int comm_disconnect_world(void)
{
    MPI_Comm c = W;
    return MPI_Comm_disconnect(&c);
}
static int comm_free_null(void)
{
    MPI_Comm c = MPI_COMM_NULL;
    return MPI_Comm_free(&c);
}
static int comm_name_null(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int n;
    return MPI_Comm_get_name(MPI_COMM_NULL, name, &n);
}
static int comm_dup_null(void)
{
    MPI_Comm c;
    return MPI_Comm_dup(MPI_COMM_NULL, &c);
}
static int comm_split_color(void)
{
    MPI_Comm c;
    return MPI_Comm_split(S, -7, 0, &c);
}
static int comm_split_type(void)
{
    MPI_Comm c;
    return MPI_Comm_split_type(S, -99, 0, MPI_INFO_NULL, &c);
}
static int comm_create_stranger(void)
{
    MPI_Comm c;
    MPI_Group g;
    MPI_Comm_group(W, &g);
    return MPI_Comm_create(S, g, &c);
}
static int comm_create_null(void)
{
    MPI_Comm c;
    return MPI_Comm_create(S, MPI_GROUP_NULL, &c);
}
static int comm_create_group_outside(void)
{
    MPI_Comm c;
    return MPI_Comm_create_group(S, MPI_GROUP_EMPTY, 0, &c);
}
static int comm_compare_null(void)
{
    return MPI_Comm_compare(S, MPI_COMM_NULL, a);
}
static int remote_size_intra(void)
{
    return MPI_Comm_remote_size(W, a);
}
static int remote_group_intra(void)
{
    MPI_Group g;
    return MPI_Comm_remote_group(W, &g);
}
static int merge_intra(void)
{
    MPI_Comm c;
    return MPI_Intercomm_merge(W, 0, &c);
}
static int inter_leader(void)
{
    MPI_Comm c;
    return MPI_Intercomm_create(S, 5, W, 0, 0, &c);
}
static int inter_self(void)
{
    MPI_Comm c;
    return size == 1 ? MPI_Intercomm_create(S, 0, W, 0, 0, &c) : 0;
}
static int idup_local(void)
{
    MPI_Comm c;
    MPI_Request r;
    int e, late;
    if (rank)
        MPI_Recv(a, 1, I, 0, 3, W, &st);
    MPI_Comm_idup(W, &c, &r);
    e = MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    e = first_error(e, MPI_Comm_size(c, b));
    if (!rank)
        for (int i = 1; i < size; i++)
            MPI_Send(a, 1, I, i, 3, W);
    late = MPI_Wait(&r, &st);
    return first_error(e, late);
}

/* ---- Topologies */

static int cart(int n, int dim)
{
    MPI_Comm c = S;
    int d[1] = { dim };
    int e = MPI_Cart_create(S, n, d, zeros, 0, &c);
    return !e && dim == 0 && c != MPI_COMM_NULL ? NONSENSE : e;
}
static int cart_dims(void)
{
    return cart(-1, 1);
}
static int cart_negative(void)
{
    return cart(1, -3);
}
static int cart_zero(void)
{
    return cart(1, 0);
}
static int cart_large(void)
{
    return cart(1, 1000);
}
static int cart_map_zero(void)
{
    int r = 0;
    int e = MPI_Cart_map(S, 1, zeros, zeros, &r);
    return e ? e : r == MPI_UNDEFINED ? 0 : NONSENSE;
}
static int cart_rank_outside(void)
{
    return MPI_Cart_rank(grid(), ones, a);
}
static int cart_coords_rank(void)
{
    return MPI_Cart_coords(grid(), 5, 1, a);
}
static int cart_coords_few(void)
{
    return MPI_Cart_coords(grid(), 0, 0, a);
}
static int cart_get_few(void)
{
    return MPI_Cart_get(grid(), 0, a, b, b);
}
static int cart_shift_direction(void)
{
    return MPI_Cart_shift(grid(), 4, 1, a, b);
}
static int cart_shift_zero(void)
{
    return MPI_Cart_shift(grid(), 0, 0, a, b);
}
static int cart_get_without(void)
{
    return MPI_Cartdim_get(S, a);
}
static int cart_sub_graph(void)
{
    MPI_Comm c;
    return MPI_Cart_sub(S, ones, &c);
}
static int dims(int nodes, int n, int x, int y)
{
    int d[2] = { x, y };
    return MPI_Dims_create(nodes, n, d);
}
static int dims_product(void)
{
    return dims(7, 2, 2, 0);
}
static int dims_given(void)
{
    return dims(4, 2, 1, 2);
}
static int dims_negative(void)
{
    return dims(4, 2, -1, 0);
}
static int dims_nodes(void)
{
    return dims(0, 2, 0, 0);
}
static int dims_none(void)
{
    return dims(1, 0, 0, 0);
}
static int dims_none_many(void)
{
    return dims(4, 0, 0, 0);
}
static int graph_neighbor(void)
{
    MPI_Comm c;
    int index[1] = { 1 }, edges[1] = { 7 };
    return MPI_Graph_create(S, 1, index, edges, 0, &c);
}
static int graph_nodes(void)
{
    MPI_Comm c;
    return MPI_Graph_create(S, 5, zeros, zeros, 0, &c);
}
static int graph_falling(void)
{
    MPI_Comm c;
    int index[2] = { 2, 1 }, edges[2] = { 0, 0 };
    return size < 2 ? 0 : MPI_Graph_create(W, 2, index, edges, 0, &c);
}
static int graph_self(void)
{
    MPI_Comm c;
    int index[1] = { 1 }, edges[1] = { 0 };
    return MPI_Graph_create(S, 1, index, edges, 0, &c);
}
static int graph_one_way(void)
{
    MPI_Comm c;
    int index[2] = { 1, 1 }, edges[1] = { 1 };
    return size < 2 ? 0 : MPI_Graph_create(W, 2, index, edges, 0, &c);
}
static MPI_Comm ring_of_one(void)
{
    MPI_Comm c;
    int index[1] = { 1 }, edges[1] = { 0 };
    MPI_Graph_create(S, 1, index, edges, 0, &c);
    return c;
}
static int graph_get_few(void)
{
    return MPI_Graph_get(ring_of_one(), 0, 0, a, b);
}
static int graph_neighbors_few(void)
{
    return MPI_Graph_neighbors(ring_of_one(), 0, 0, a);
}
static int graph_neighbors_rank(void)
{
    return MPI_Graph_neighbors_count(ring_of_one(), 9, a);
}
static int adjacent_disagree(void)
{
    MPI_Comm c;
    int next = (rank + 1) % size;
    return MPI_Dist_graph_create_adjacent(W, 1, &next, MPI_UNWEIGHTED, rank == 0, &next, MPI_UNWEIGHTED,
                                          MPI_INFO_NULL, 0, &c);
}
static int adjacent_rank(void)
{
    MPI_Comm c;
    int bad = 99;
    return MPI_Dist_graph_create_adjacent(S, 1, &bad, MPI_UNWEIGHTED, 0, &bad, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                          0, &c);
}
static int adjacent_weight(void)
{
    MPI_Comm c;
    return MPI_Dist_graph_create_adjacent(S, 1, zeros, minus, 1, zeros, minus, MPI_INFO_NULL, 0, &c);
}
static int adjacent_mixed(void)
{
    MPI_Comm c;
    return MPI_Dist_graph_create_adjacent(S, 1, zeros, MPI_UNWEIGHTED, 1, zeros, ones, MPI_INFO_NULL, 0, &c);
}
static int dist_degree(void)
{
    MPI_Comm c;
    return MPI_Dist_graph_create(S, 1, zeros, minus, zeros, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c);
}
static int dist_null_arrays(void)
{
    MPI_Comm c;
    return MPI_Dist_graph_create(S, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c);
}
static int neighbors_max(void)
{
    MPI_Comm c;
    MPI_Dist_graph_create_adjacent(S, 1, zeros, MPI_UNWEIGHTED, 1, zeros, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &c);
    return MPI_Dist_graph_neighbors(c, 0, a, MPI_UNWEIGHTED, 0, b, MPI_UNWEIGHTED);
}
static int topo_test_null(void)
{
    return MPI_Topo_test(MPI_COMM_NULL, a);
}

#endif
