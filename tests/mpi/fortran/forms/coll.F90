! SPDX-License-Identifier: BSD-3-Clause
! Collective operations: blocking, nonblocking and persistent, with vectors and with datatypes a process, in place, by each operation.
#include "form.inc"
module coll_functions
    implicit none
contains
    ! Not commutative: the digits of the left behind those of the right would be wrong.
#if FORM == 8
    subroutine appends(invec, inoutvec, len, datatype)
        use mpi_f08
        use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
        type(c_ptr), value :: invec, inoutvec
        integer :: len
        type(MPI_Datatype) :: datatype
        integer, pointer :: a(:), b(:)
        call c_f_pointer(invec, a, [2 * len])
        call c_f_pointer(inoutvec, b, [2 * len])
        if (datatype /= MPI_DATATYPE_NULL) call append(a, b, len)
    end subroutine
#else
    subroutine appends(invec, inoutvec, len, datatype)
        integer :: len, datatype
        integer :: invec(2 * len), inoutvec(2 * len)
        if (datatype /= 0) call append(invec, inoutvec, len)
    end subroutine
#endif
    ! Each element is a number and the power of 3 above it.
    subroutine append(a, b, len)
        integer, intent(in) :: len, a(2, len)
        integer, intent(inout) :: b(2, len)
        b(1, :) = a(1, :) * b(2, :) + b(1, :)
        b(2, :) = a(2, :) * b(2, :)
    end subroutine
end module

subroutine collectives()
    USE_MPI
    use checking
    use coll_functions
    implicit none
#if FORM == 0
    include 'mpif.h'
#endif
    integer :: ierr, i, j
    call rooted()
    call everywhere()
    call operations()
    call nonblocking()
    call persistent()
contains
    subroutine rooted()
        integer :: root, counts(n), places(n), mine(n + 1), all_of(n * (n + 1)), got
        do root = 0, n - 1
            mine = -1
            if (rank == root) mine = [(10 * root + i, i = 1, n + 1)]
            call MPI_Bcast(mine, n + 1, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
            call check(all(mine == [(10 * root + i, i = 1, n + 1)]), 'Bcast')
            all_of = -1
            call MPI_Gather([rank + root], 1, MPI_INTEGER, all_of, 1, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
            if (rank == root) call check(all(all_of(:n) == [(i + root, i = 0, n - 1)]), 'Gather')
            if (rank /= root) call check(all(all_of == -1), 'Gather elsewhere')
            ! Process i gives i + 1 elements, and they go to the end first.
            counts = [(i, i = 1, n)]
            places = [(n * (n + 1) / 2 - i * (i + 1) / 2, i = 1, n)]
            mine = rank
            call MPI_Gatherv(mine, rank + 1, MPI_INTEGER, all_of, counts, places, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
            if (rank == root) call check(all([(all(all_of(places(i) + 1:places(i) + i) == i - 1), i = 1, n)]), 'Gatherv')
            mine = -1
            call MPI_Scatterv(all_of, counts, places, MPI_INTEGER, mine, rank + 1, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
            call check(all(mine(:rank + 1) == rank) .and. all(mine(rank + 2:) == -1), 'Scatterv')
            all_of = [(i, i = 1, n * (n + 1))]
            if (rank == root) call MPI_Scatter(all_of, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
            if (rank /= root) call MPI_Scatter(MPI_BOTTOM, 0, MPI_INTEGER, got, 1, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
            if (rank /= root) call check(got == rank + 1, 'Scatter')
            mine = rank
            if (rank == root) call MPI_Reduce(MPI_IN_PLACE, mine, n, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, ierr)
            if (rank /= root) call MPI_Reduce(mine, MPI_BOTTOM, n, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, ierr)
            if (rank == root) call check(all(mine(:n) == n * (n - 1) / 2) .and. mine(n + 1) == rank, 'Reduce')
        end do
    end subroutine

    subroutine everywhere()
        integer :: a(2 * n), b(2 * n), counts(n), places(n), bytes(n), all_of(n * (n + 1) / 2)
        HANDLE(MPI_Datatype) :: types(n)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        b = -1
        call MPI_Allgather([rank, -rank], 2, MPI_INTEGER, b, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr)
        call check(all(b(1::2) == [(i, i = 0, n - 1)]) .and. all(b(2::2) == [(-i, i = 0, n - 1)]), 'Allgather')
        counts = [(i, i = 1, n)]
        places = [(i * (i - 1) / 2, i = 1, n)]
        all_of = -1
        all_of(places(rank + 1) + 1:places(rank + 1) + rank + 1) = 7 * rank
        call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INTEGER, all_of, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
        call check(all([(all(all_of(places(i) + 1:places(i) + i) == 7 * (i - 1)), i = 1, n)]), 'Allgatherv in place')
        a(:n) = [(100 * rank + i, i = 0, n - 1)]
        call MPI_Alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
        call check(all(b(:n) == [(100 * i + rank, i = 0, n - 1)]), 'Alltoall')
        counts = 1
        places = [(2 * i, i = 0, n - 1)]
        a(1::2) = [(100 * rank + i, i = 0, n - 1)]
        b = -1
        call MPI_Alltoallv(a, counts, places, MPI_INTEGER, b, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
        call check(all(b(1::2) == [(100 * i + rank, i = 0, n - 1)]) .and. all(b(2::2) == -1), 'Alltoallv')
        types = [(MPI_INTEGER, i = 1, n)]
        bytes = [(8 * (n - 1 - i), i = 0, n - 1)]
        b = -1
        call MPI_Alltoallw(a, counts, 4 * places, types, b, counts, bytes, types, MPI_COMM_WORLD, ierr)
        call check(all(b(1::2) == [(100 * i + rank, i = n - 1, 0, -1)]) .and. all(b(2::2) == -1), 'Alltoallw')
        a(:n) = [(rank + i, i = 1, n)]
        b = -1
        call MPI_Reduce_scatter_block(a, b, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
        call check(b(1) == n * (n - 1) / 2 + n * (rank + 1) .and. b(2) == -1, 'Reduce_scatter_block')
        counts = 0
        counts(n) = n
        b = -1
        call MPI_Reduce_scatter(a, b, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
        if (rank == n - 1) call check(all(b(:n) == [(n * (n - 1) / 2 + n * i, i = 1, n)]), 'Reduce_scatter')
        if (rank < n - 1) call check(all(b == -1), 'Reduce_scatter of nothing')
        call MPI_Scan([rank + 1], a, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
        b = -1
        call MPI_Exscan([rank + 1], b, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
        call check(a(1) == (rank + 1) * (rank + 2) / 2 .and. b(1) == merge(-1, rank * (rank + 1) / 2, rank == 0), 'Scan and Exscan')
    end subroutine

    subroutine operations()
        integer :: i4(4), power
        integer :: pair(2), best(2)
        logical :: truth(3)
        complex :: c
        double complex :: z
        real :: place(2), found(2)
        character :: byte
        integer(kind=8) :: long
        HANDLE(MPI_Op) :: op
        HANDLE(MPI_Datatype) :: two
        logical :: commutes
        i4 = [rank, 2**rank, rank, ieor(rank, 5)]
        call MPI_Allreduce(MPI_IN_PLACE, i4(1), 1, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, ierr)
        call MPI_Allreduce(MPI_IN_PLACE, i4(2), 1, MPI_INTEGER, MPI_BOR, MPI_COMM_WORLD, ierr)
        call MPI_Allreduce(MPI_IN_PLACE, i4(3), 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
        call MPI_Allreduce(MPI_IN_PLACE, i4(4), 1, MPI_INTEGER, MPI_BAND, MPI_COMM_WORLD, ierr)
        power = 5
        do i = 1, n - 1
            power = iand(power, ieor(i, 5))
        end do
        call check(all(i4 == [0, 2**n - 1, n - 1, power]), 'operations on integers')
        truth = [rank == 0, .true., rank < n]
        call MPI_Allreduce(MPI_IN_PLACE, truth(1), 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierr)
        call MPI_Allreduce(MPI_IN_PLACE, truth(2), 1, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD, ierr)
        call MPI_Allreduce(MPI_IN_PLACE, truth(3), 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
        call check(truth(1) .and. (truth(2) .eqv. mod(n, 2) == 1) .and. truth(3), 'operations on logicals')
        call MPI_Allreduce([cmplx(1, rank)], c, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierr)
        call check(c == cmplx(n, n * (n - 1) / 2), 'complex sum')
        call MPI_Allreduce((0d0, 1d0), z, 1, MPI_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD, ierr)
        call check(z == (0d0, 1d0)**n, 'complex product')
        call MPI_Allreduce(2_8**33, long, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, ierr)
        call check(long == n * 2_8**33, 'long integers')
        call MPI_Allreduce(char(1 + rank), byte, 1, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD, ierr)
        call check(iand(ichar(byte), 1) == 1, 'bytes')
        pair = [mod(rank, 2), rank]
        call MPI_Allreduce(pair, best, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
        call check(all(best == merge([1, 1], [0, 0], n > 1)), 'maxloc')
        place = [-1.5 * rank, real(rank)]
        call MPI_Allreduce(place, found, 1, MPI_2REAL, MPI_MINLOC, MPI_COMM_WORLD, ierr)
        call check(all(found == [-1.5 * (n - 1), real(n - 1)]), 'minloc')
        call MPI_Op_create(appends, .false., op, ierr)
        call MPI_Op_commutative(op, commutes, ierr)
        call check(.not. commutes, 'an operation that does not commute')
        call MPI_Type_contiguous(2, MPI_INTEGER, two, ierr)
        call MPI_Type_commit(two, ierr)
        pair = [mod(rank + 1, 3), 3]
        call MPI_Allreduce(pair, best, 1, two, op, MPI_COMM_WORLD, ierr)
        power = 0
        do i = 1, n
            power = 3 * power + mod(i, 3)
        end do
        call check(all(best == [power, 3**n]), 'an operation of the program')
        best = [1, 3]
        call MPI_Reduce_local([2, 3], best, 1, two, op, ierr)
        call check(all(best == [7, 9]), 'Reduce_local')
        call MPI_Type_free(two, ierr)
        call MPI_Op_free(op, ierr)
        call check(op == MPI_OP_NULL, 'an operation that was freed')
    end subroutine

    ! All are under way at once.
    subroutine nonblocking()
        integer, asynchronous :: b(8), gathered(n, 4), vectors(n), sums(4), one, mine(n), ones(n), places(n), bytes(n)
        HANDLE(MPI_Datatype) :: types(n)
        HANDLE(MPI_Request) :: q(17)
        b = merge(5, -1, rank == 0)
        gathered = -1
        vectors = -1
        mine = [(100 * rank + i, i = 0, n - 1)]
        one = rank + 1
        ones = 1
        places = [(i, i = 0, n - 1)]
        bytes = 4 * places
        types = [(MPI_INTEGER, i = 1, n)]
        sums = -1
        call MPI_Ibarrier(MPI_COMM_WORLD, q(1), ierr)
        call MPI_Ibcast(b, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, q(2), ierr)
        call MPI_Iallgather(one, 1, MPI_INTEGER, gathered(:, 1), 1, MPI_INTEGER, MPI_COMM_WORLD, q(3), ierr)
        call MPI_Ialltoall(mine, 1, MPI_INTEGER, gathered(:, 2), 1, MPI_INTEGER, MPI_COMM_WORLD, q(4), ierr)
        call MPI_Igather(one, 1, MPI_INTEGER, vectors, 1, MPI_INTEGER, n - 1, MPI_COMM_WORLD, q(5), ierr)
        call MPI_Iallreduce(one, sums(1), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, q(6), ierr)
        call MPI_Iscan(one, sums(2), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, q(7), ierr)
        call MPI_Iexscan(one, sums(3), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, q(8), ierr)
        call MPI_Ireduce(one, sums(4), 1, MPI_INTEGER, MPI_PROD, 0, MPI_COMM_WORLD, q(9), ierr)
        call MPI_Ialltoallv(mine, ones, places, MPI_INTEGER, gathered(:, 3), ones, places, MPI_INTEGER, MPI_COMM_WORLD, q(10), ierr)
        call MPI_Ialltoallw(mine, ones, bytes, types, gathered(:, 4), ones, bytes, types, MPI_COMM_WORLD, q(11), ierr)
        call MPI_Iscatter(mine, 1, MPI_INTEGER, b(5), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, q(12), ierr)
        call MPI_Ireduce_scatter_block(mine, b(6), 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, q(13), ierr)
        call MPI_Ireduce_scatter(mine, b(7), ones, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, q(14), ierr)
        call MPI_Iscatterv(mine, ones, places, MPI_INTEGER, b(8), 1, MPI_INTEGER, n - 1, MPI_COMM_WORLD, q(15), ierr)
        q(16) = MPI_REQUEST_NULL
        q(17) = MPI_REQUEST_NULL
        call MPI_Waitall(17, q, MPI_STATUSES_IGNORE, ierr)
        call check(all(b(:4) == 5), 'Ibcast')
        call check(all(gathered(:, 1) == [(i, i = 1, n)]), 'Iallgather')
        do j = 2, 4
            call check(all(gathered(:, j) == [(100 * i + rank, i = 0, n - 1)]), 'Ialltoall, with v and w')
        end do
        if (rank == n - 1) call check(all(vectors == [(i, i = 1, n)]), 'Igather')
        call check(sums(1) == n * (n + 1) / 2 .and. sums(2) == (rank + 1) * (rank + 2) / 2, 'Iallreduce, Iscan')
        if (rank > 0) call check(sums(3) == rank * (rank + 1) / 2, 'Iexscan')
        if (rank == 0) call check(sums(4) == product([(i, i = 1, n)]), 'Ireduce')
        call check(all(b(5:8) == [rank, 100 * (n - 1) + rank, rank, 100 * (n - 1) + rank]), 'Iscatter, Ireduce_scatter, Iscatterv')
        gathered = -1
        call MPI_Iallgatherv(one, 1, MPI_INTEGER, gathered(:, 1), ones, places, MPI_INTEGER, MPI_COMM_WORLD, q(16), ierr)
        call MPI_Igatherv(one, 1, MPI_INTEGER, gathered(:, 2), ones, places, MPI_INTEGER, 0, MPI_COMM_WORLD, q(17), ierr)
        call MPI_Waitall(2, q(16:17), MPI_STATUSES_IGNORE, ierr)
        call check(all(gathered(:, 1) == [(i, i = 1, n)]), 'Iallgatherv')
        if (rank == 0) call check(all(gathered(:, 2) == [(i, i = 1, n)]), 'Igatherv')
    end subroutine

    subroutine persistent()
        integer, asynchronous :: a(n), b(n), sum, c(2)
        HANDLE(MPI_Request) :: q(5)
        integer :: round
        call MPI_Bcast_init(c, 2, MPI_INTEGER, n - 1, MPI_COMM_WORLD, MPI_INFO_NULL, q(1), ierr)
        call MPI_Allgather_init(sum, 1, MPI_INTEGER, a, 1, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, q(2), ierr)
        call MPI_Allreduce_init(MPI_IN_PLACE, b, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, q(3), ierr)
        call MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, q(4), ierr)
        do round = 1, 3
            c = merge(round, -1, rank == n - 1)
            sum = rank * round
            b = rank + round
            call MPI_Startall(4, q, ierr)
            call MPI_Waitall(4, q, MPI_STATUSES_IGNORE, ierr)
            call check(all(c == round), 'a persistent Bcast')
            call check(all(a == [(i * round, i = 0, n - 1)]), 'a persistent Allgather')
            call check(all(b == n * (n - 1) / 2 + n * round), 'a persistent Allreduce')
        end do
        do i = 1, 4
            call MPI_Request_free(q(i), ierr)
        end do
    end subroutine
end subroutine
