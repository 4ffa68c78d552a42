! SPDX-License-Identifier: BSD-3-Clause
! Topologies: grids, graphs, distributed graphs, and collectives among neighbors.
#include "form.inc"
subroutine topologies()
    USE_MPI
    use checking
    implicit none
#if FORM == 0
    include 'mpif.h'
#endif
    integer :: ierr, i
    call grids()
    call graphs()
    call distributed()
contains
    subroutine grids()
        HANDLE(MPI_Comm) :: grid, row
        HANDLE(MPI_Request) :: request
        integer :: dims(2), got(2), coords(2), count, kind, at, source, dest, around(4), size
        integer, asynchronous :: from(4)
        logical :: periods(2), remain(2), flags(2)
        dims = [0, 1]
        call MPI_Dims_create(n, 2, dims, ierr)
        call check(all(dims == [n, 1]), 'Dims_create with one given')
        dims = 0
        call MPI_Dims_create(n, 2, dims, ierr)
        call check(product(dims) == n .and. dims(1) >= dims(2), 'Dims_create')
        periods = [.true., .false.]
        call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .true., grid, ierr)
        call MPI_Topo_test(grid, kind, ierr)
        call MPI_Cartdim_get(grid, count, ierr)
        call check(kind == MPI_CART .and. count == 2, 'a grid')
        call MPI_Cart_get(grid, 2, got, flags, coords, ierr)
        call check(all(got == dims) .and. all(flags .eqv. periods), 'Cart_get')
        call MPI_Cart_rank(grid, coords, at, ierr)
        call check(at == coords(1) * dims(2) + coords(2), 'Cart_rank')
        call MPI_Comm_rank(grid, kind, ierr)
        call check(at == kind, 'the rank in the grid')
        call MPI_Cart_coords(grid, n - 1, 2, got, ierr)
        call check(all(got == dims - 1), 'Cart_coords')
        call MPI_Cart_shift(grid, 0, 1, source, dest, ierr)
        call check(dest == modulo(coords(1) + 1, dims(1)) * dims(2) + coords(2), 'a shift around')
        around(1:2) = [source, dest]
        call MPI_Cart_shift(grid, 1, 1, source, dest, ierr)
        call check((source == MPI_PROC_NULL) .eqv. coords(2) == 0, 'a shift over the edge')
        around(3:4) = [source, dest]
        from = MPI_PROC_NULL
        call MPI_Neighbor_allgather(at, 1, MPI_INTEGER, from, 1, MPI_INTEGER, grid, ierr)
        call check(all(from == around), 'Neighbor_allgather')
        from = MPI_PROC_NULL
        call MPI_Ineighbor_allgather(at, 1, MPI_INTEGER, from, 1, MPI_INTEGER, grid, request, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(all(from == around), 'Ineighbor_allgather')
        from = MPI_PROC_NULL
        call MPI_Neighbor_alltoall([(4 * at + i, i = 0, 3)], 1, MPI_INTEGER, from, 1, MPI_INTEGER, grid, ierr)
        call check(all([(from(i) == merge(MPI_PROC_NULL, 4 * around(i) + ieor(i - 1, 1), around(i) == MPI_PROC_NULL), i = 1, 4)]), 'Neighbor_alltoall')
        remain = [.false., .true.]
        call MPI_Cart_sub(grid, remain, row, ierr)
        call MPI_Comm_size(row, size, ierr)
        call check(size == dims(2), 'Cart_sub')
        call MPI_Comm_free(row, ierr)
        call MPI_Cart_map(MPI_COMM_WORLD, 1, [1], [.false.], at, ierr)
        call check(at == MPI_UNDEFINED .or. at == 0, 'Cart_map')
        call MPI_Comm_free(grid, ierr)
    end subroutine

    ! A chain: each process has the one before it and the one behind it.
    subroutine graphs()
        HANDLE(MPI_Comm) :: chain
        integer :: index(n), edges(2 * n), nodes, count, kind, neighbors(2), got(n), e(2 * n)
        count = 0
        do i = 0, n - 1
            if (i > 0) then
                count = count + 1
                edges(count) = i - 1
            end if
            if (i < n - 1) then
                count = count + 1
                edges(count) = i + 1
            end if
            index(i + 1) = count
        end do
        call MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, .false., chain, ierr)
        call MPI_Topo_test(chain, kind, ierr)
        call check(kind == MPI_GRAPH, 'a graph')
        call MPI_Graphdims_get(chain, nodes, kind, ierr)
        call check(nodes == n .and. kind == count, 'Graphdims_get')
        call MPI_Graph_get(chain, n, count, got, e, ierr)
        call check(all(got == index) .and. all(e(:count) == edges(:count)), 'Graph_get')
        call MPI_Graph_neighbors_count(chain, rank, nodes, ierr)
        call MPI_Graph_neighbors(chain, rank, 2, neighbors, ierr)
        call check(nodes == index(rank + 1) - merge(0, index(max(rank, 1)), rank == 0), 'Graph_neighbors_count')
        if (nodes > 0) call check(neighbors(1) == merge(1, rank - 1, rank == 0), 'Graph_neighbors')
        call MPI_Graph_map(MPI_COMM_WORLD, n, index, edges, kind, ierr)
        call check(kind >= 0 .and. kind < n, 'Graph_map')
        call MPI_Comm_free(chain, ierr)
    end subroutine

    ! Each sends to the next two.
    subroutine distributed()
        HANDLE(MPI_Comm) :: graph, other
        HANDLE(MPI_Request) :: request
        HANDLE(MPI_Datatype) :: types(2)
        integer :: before(2), behind(2), weights(2), indegree, outdegree, s(2), d(2), sw(2), dw(2), counts(2), places(2)
        integer, asynchronous :: in(2), out(2)
        logical :: weighted
        integer(kind=MPI_ADDRESS_KIND) :: bytes(2)
        before = [modulo(rank - 1, n), modulo(rank - 2, n)]
        behind = [modulo(rank + 1, n), modulo(rank + 2, n)]
        weights = [1, 2]
        call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, before, weights, 2, behind, weights, MPI_INFO_NULL, .false., graph, ierr)
        call MPI_Dist_graph_neighbors_count(graph, indegree, outdegree, weighted, ierr)
        call check(indegree == 2 .and. outdegree == 2 .and. weighted, 'Dist_graph_neighbors_count')
        call MPI_Dist_graph_neighbors(graph, 2, s, sw, 2, d, dw, ierr)
        call check(all(s == before) .and. all(d == behind) .and. all(sw == weights) .and. all(dw == weights), 'Dist_graph_neighbors')
        out = [10 * rank + 1, 10 * rank + 2]
        call MPI_Neighbor_alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, graph, ierr)
        ! Where a process is its own neighbor, or the same one twice, edges keep their order.
        if (n > 2) call check(all(in == [10 * before(1) + 1, 10 * before(2) + 2]), 'Neighbor_alltoall in a graph')
        counts = 1
        places = [0, 1]
        in = -1
        call MPI_Neighbor_alltoallv(out, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, graph, ierr)
        if (n > 2) call check(all(in == [10 * before(1) + 1, 10 * before(2) + 2]), 'Neighbor_alltoallv')
        in = -1
        bytes = [4, 0]
        types = [MPI_INTEGER, MPI_INTEGER]
        call MPI_Ineighbor_alltoallw(out, counts, bytes, types, in, counts, bytes, types, graph, request, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        if (n > 2) call check(all(in == [10 * before(2) + 1, 10 * before(1) + 2]), 'Ineighbor_alltoallw')
        in = -1
        call MPI_Neighbor_allgatherv(rank, 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, graph, ierr)
        call check(all(in == before), 'Neighbor_allgatherv')
        call MPI_Comm_free(graph, ierr)
        call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], [modulo(rank + 1, n)], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., other, ierr)
        call MPI_Dist_graph_neighbors_count(other, indegree, outdegree, weighted, ierr)
        call check(indegree == 1 .and. outdegree == 1 .and. .not. weighted, 'Dist_graph_create')
        call MPI_Dist_graph_neighbors(other, 1, s, MPI_UNWEIGHTED, 1, d, MPI_UNWEIGHTED, ierr)
        call check(s(1) == modulo(rank - 1, n) .and. d(1) == modulo(rank + 1, n), 'its neighbors')
        call MPI_Comm_free(other, ierr)
        call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, s, MPI_WEIGHTS_EMPTY, 0, d, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., other, ierr)
        call MPI_Dist_graph_neighbors_count(other, indegree, outdegree, weighted, ierr)
        call check(indegree == 0 .and. outdegree == 0 .and. weighted, 'MPI_WEIGHTS_EMPTY')
        call MPI_Comm_free(other, ierr)
    end subroutine
end subroutine
