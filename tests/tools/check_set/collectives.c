/* SPDX-License-Identifier: BSD-3-Clause */
/* collectives.c: ranks that call different collectives, or with arguments that do not fit; the last one is odd. */
#include "set.h"

static int odd(void)
{
    return rank == size - 1;
}

ASTRAY(other_collective, 2)
{
    if (odd())
        MPI_Ibarrier(comm, r); /* collective-order: - in last */
    else
        MPI_Ibcast(a, 1, MPI_INT, 0, comm, r); /* collective-order: - in first */
}

RIGHT(same_collectives_from_other_places, 2)
{
    if (odd())
        MPI_Ibcast(a, 1, MPI_INT, 0, comm, r);
    else
        MPI_Ibcast(a, 1, MPI_INT32_T, 0, comm, r);
    MPI_Wait(r, no);
}

ASTRAY(other_order, 2)
{
    if (odd()) {
        MPI_Iallreduce(a, b, 1, MPI_INT, MPI_SUM, comm, r); /* collective-order: - in last */
        MPI_Ibarrier(comm, r + 1);
    } else {
        MPI_Ibarrier(comm, r); /* collective-order: - in first */
        MPI_Iallreduce(a, b, 1, MPI_INT, MPI_SUM, comm, r + 1);
    }
}

RIGHT(other_order_on_two_communicators, 2)
{
    MPI_Comm twin;
    MPI_Comm_dup(comm, &twin);
    MPI_Ibarrier(odd() ? comm : twin, r);
    MPI_Ibarrier(odd() ? twin : comm, r + 1);
    MPI_Waitall(2, r, none);
    MPI_Comm_free(&twin);
}

RIGHT(same_form, 2)
{
    if (odd())
        MPI_Barrier_init(comm, MPI_INFO_NULL, r);
    else
        MPI_Barrier_init(comm, MPI_INFO_NULL, r);
    MPI_Start(r);
    MPI_Wait(r, no);
    MPI_Request_free(r);
}

ASTRAY(bcast_root, 2)
{
    MPI_Ibcast(a, 1, MPI_INT, odd(), comm, r); /* collective-root: root in ends */
}

RIGHT(bcast_last_root, 2)
{
    MPI_Ibcast(a, 1, MPI_INT, size - 1, comm, r);
    MPI_Wait(r, no);
}

ASTRAY(gatherv_root, 2)
{
    static const int n[64] = { 0 };
    MPI_Igatherv(a, 0, MPI_INT, b, n, n, MPI_INT, odd(), comm, r); /* collective-root: root in ends */
}

ASTRAY(scatterv_root, 2)
{
    static const int n[64] = { 0 };
    MPI_Iscatterv(a, n, n, MPI_INT, b, 0, MPI_INT, odd(), comm, r); /* collective-root: root in ends */
}

ASTRAY(reduce_op, 2)
{
    MPI_Ireduce(a, b, 1, MPI_INT, odd() ? MPI_MIN : MPI_MAX, 0, comm, r); /* collective-op: op in ends */
}

RIGHT(reduce_large_and_small, 2)
{
    if (odd())
        MPI_Ireduce_c(a, b, 1, MPI_INT, MPI_MAX, 0, comm, r);
    else
        MPI_Ireduce(a, b, 1, MPI_INT, MPI_MAX, 0, comm, r);
    MPI_Wait(r, no);
}

ASTRAY(exscan_op, 2)
{
    MPI_Iexscan(a, b, 1, MPI_INT, odd() ? MPI_BOR : MPI_BAND, comm, r); /* collective-op: op in ends */
}

ASTRAY(allgather_in_place, 2)
{
    MPI_Iallgather(odd() ? MPI_IN_PLACE : a, 1, MPI_INT, b, 1, MPI_INT, comm,
                   r); /* collective-in-place: sendbuf in ends */
}

RIGHT(scan_in_place, 2)
{
    MPI_Iscan(odd() ? MPI_IN_PLACE : a, b, 1, MPI_INT, MPI_SUM, comm, r);
    MPI_Wait(r, no);
}

ASTRAY(bcast_count, 2)
{
    MPI_Ibcast(a, 4 + odd(), MPI_INT, 0, comm, r); /* collective-data: count in ends */
}

RIGHT(bcast_of_a_column, 2)
{
    MPI_Ibcast(a, odd() ? 1 : 10, odd() ? column : MPI_INT, 0, comm, r);
    MPI_Wait(r, no);
}

ASTRAY(bcast_type, 2)
{
    MPI_Ibcast(a, 4, odd() ? MPI_FLOAT : MPI_INT, 0, comm, r); /* collective-data: datatype in ends */
}

ASTRAY(allreduce_count, 2)
{
    MPI_Iallreduce(a, b, 4 + odd(), MPI_INT, MPI_SUM, comm, r); /* collective-data: count in ends */
}

ASTRAY(persistent_allreduce_count, 2)
{
    MPI_Allreduce_init(a, b, 4 + odd(), MPI_INT, MPI_SUM, comm, MPI_INFO_NULL,
                       r); /* collective-data: count in ends */
}

ASTRAY(gather_count, 2)
{
    MPI_Igather(a, 4 + odd(), MPI_INT, b, 4, MPI_INT, 0, comm, r); /* collective-data: any in ends */
}

ASTRAY(scatter_type, 2)
{
    MPI_Iscatter(a, 4, MPI_INT, b, 4, odd() ? MPI_FLOAT : MPI_INT, 0, comm,
                 r); /* collective-data: any in ends */
}

ASTRAY(alltoallv_count, 2)
{
    static int n[64], m[64], at[64];
    for (int i = 0; i < size; i++)
        n[i] = m[i] = 1, at[i] = 2 * i;
    n[0] += odd();
    MPI_Ialltoallv(a, n, at, MPI_INT, b, m, at, MPI_INT, comm, r); /* collective-data: recvcounts in 0 */
}

RIGHT(alltoallv_counts_by_pair, 2)
{
    static int n[64], at[64];
    for (int i = 0; i < size; i++)
        n[i] = i + rank, at[i] = 10 * i;
    MPI_Ialltoallv(a, n, at, MPI_INT, b, n, at, MPI_INT, comm, r);
    MPI_Wait(r, no);
}

ASTRAY(alltoallw_type, 2)
{
    static int n[64], at[64];
    static MPI_Datatype types[64], others[64];
    for (int i = 0; i < size; i++) {
        n[i] = 1, at[i] = 8 * i;
        types[i] = others[i] = MPI_INT;
    }
    types[0] = odd() ? MPI_FLOAT : MPI_INT;
    MPI_Ialltoallw(a, n, at, types, b, n, at, others, comm, r); /* collective-data: recvtypes in 0 */
    MPI_Wait(r, no);
}

RIGHT(alltoallw_types_by_pair, 2)
{
    static int n[64], at[64];
    static MPI_Datatype types[64];
    for (int i = 0; i < size; i++) {
        n[i] = 1, at[i] = 8 * i;
        types[i] = (i + rank) % 2 ? MPI_FLOAT : MPI_INT;
    }
    MPI_Ialltoallw(a, n, at, types, b, n, at, types, comm, r);
    MPI_Wait(r, no);
}

ASTRAY(reduce_scatter_counts, 2)
{
    static int n[64];
    for (int i = 0; i < size; i++)
        n[i] = 4;
    if (odd())
        n[0]++, n[1]--;
    MPI_Ireduce_scatter(a, b, n, MPI_INT, MPI_SUM, comm, r); /* collective-data: recvcounts in ends */
}

/* ---- Neighborhoods ---- */

/* Arrays that stay as long as what is never complete. */
static const int one_and_two[] = { 1, 2 }, two_and_one[] = { 2, 1 }, two_and_two[] = { 2, 2 },
                 places[] = { 0, 5 }, ones[] = { 1, 1 }, two[] = { 2 }, three[] = { 3 };

/* A ring, in which each has two neighbors, which may be one process, or itself. */
static MPI_Comm ring(void)
{
    MPI_Comm grid;
    MPI_Cart_create(comm, 1, &size, (int[]){ 1 }, 0, &grid);
    return grid;
}

/* Each sends to the next one alone. */
static MPI_Comm chain(void)
{
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(comm, 1, &prev, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &graph);
    return graph;
}

ASTRAY(neighbor_allgather_count, 2)
{
    MPI_Comm on = chain();
    MPI_Ineighbor_allgather(a, 2 + odd(), MPI_INT, b, 2, MPI_INT, on,
                            r); /* collective-data: recvcount in 0 */
}

RIGHT(neighbor_allgather_types, 1)
{
    MPI_Comm on = ring();
    MPI_Ineighbor_allgather(a, 1, column, b, 10, MPI_INT, on, r);
    MPI_Wait(r, no);
    MPI_Neighbor_allgather(a, 2, MPI_INT, b, 2, MPI_INT, on);
    MPI_Comm_free(&on);
}

ASTRAY(neighbor_allgather_type, 2)
{
    MPI_Comm on = chain();
    MPI_Ineighbor_allgather(a, 2, odd() ? MPI_FLOAT : MPI_INT, b, 2, MPI_INT, on,
                            r); /* collective-data: recvtype in 0 */
}

ASTRAY(neighbor_allgatherv_count, 2)
{
    MPI_Comm on = chain();
    MPI_Ineighbor_allgatherv(a, 2, MPI_INT, b, odd() ? three : two, places, MPI_INT, on,
                             r); /* collective-data: recvcounts in last */
}

RIGHT(neighbor_allgatherv_counts, 1)
{
    MPI_Comm on = chain();
    MPI_Neighbor_allgatherv(a, rank, MPI_INT, b, &prev, (int[]){ 3 }, MPI_INT, on);
    MPI_Comm_free(&on);
}

ASTRAY(neighbor_alltoall_count, 2)
{
    MPI_Comm on = chain();
    MPI_Ineighbor_alltoall(a, 2 + odd(), MPI_INT, b, 2, MPI_INT, on, r); /* collective-data: recvcount in 0 */
}

RIGHT(neighbor_alltoall_types, 1)
{
    MPI_Comm on = ring();
    MPI_Neighbor_alltoall(a, 1, column, b, 10, MPI_INT, on);
    MPI_Comm_free(&on);
}

ASTRAY(neighbor_alltoallv_counts, 2)
{
    MPI_Comm on = ring();
    MPI_Ineighbor_alltoallv(a, one_and_two, places, MPI_INT, b, odd() ? two_and_two : two_and_one, places,
                            MPI_INT, on,
                            r); /* collective-data: recvcounts in last at MPI_Ineighbor_alltoallv */
}

/* What goes down comes from above. */
RIGHT(neighbor_alltoallv_crosses, 1)
{
    MPI_Comm on = ring();
    MPI_Neighbor_alltoallv(a, (int[]){ 1, 2 }, (int[]){ 0, 5 }, MPI_INT, b, (int[]){ 2, 1 }, (int[]){ 0, 5 },
                           MPI_INT, on);
    MPI_Comm_free(&on);
}

ASTRAY(neighbor_alltoallw_types, 2)
{
    MPI_Comm on = ring();
    MPI_Datatype sent[2] = { MPI_INT, MPI_FLOAT }, got[2] = { MPI_FLOAT, odd() ? MPI_UNSIGNED : MPI_INT };
    static MPI_Aint at[2] = { 0, 8 };
    MPI_Ineighbor_alltoallw(a, ones, at, sent, b, ones, at, got, on,
                            r); /* collective-data: recvtypes in last */
}

RIGHT(neighbor_alltoallw_types_cross, 1)
{
    MPI_Comm on = ring();
    MPI_Datatype sent[2] = { MPI_INT, MPI_FLOAT }, got[2] = { MPI_FLOAT, MPI_INT };
    MPI_Aint at[2] = { 0, 8 };
    MPI_Neighbor_alltoallw(a, (int[]){ 1, 1 }, at, sent, b, (int[]){ 1, 1 }, at, got, on);
    MPI_Comm_free(&on);
}

/* Several edges between two processes are told apart by their order. */
RIGHT(edges_beside_each_other, 1)
{
    MPI_Comm on;
    int from[2] = { prev, prev }, to[2] = { next, next }, n[2] = { 1, 3 }, at[2] = { 0, 5 };
    MPI_Dist_graph_create_adjacent(comm, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &on);
    MPI_Neighbor_alltoallv(a, n, at, MPI_INT, b, n, at, MPI_INT, on);
    MPI_Comm_free(&on);
}

ASTRAY(edges_in_another_order, 2)
{
    MPI_Comm on;
    static const int n[2] = { 1, 3 }, m[2] = { 3, 1 }, at[2] = { 0, 5 };
    int from[2] = { prev, prev }, to[2] = { next, next };
    MPI_Dist_graph_create_adjacent(comm, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &on);
    MPI_Ineighbor_alltoallv(a, n, at, MPI_INT, b, m, at, MPI_INT, on, r); /* collective-data: recvcounts */
}
