! SPDX-License-Identifier: BSD-3-Clause
! Groups, communicators, intercommunicators.
#include "form.inc"
subroutine communicators()
    USE_MPI
    use checking
    implicit none
#if FORM == 0
    include 'mpif.h'
#endif
    integer :: ierr, i
    call groups()
    call intra()
    call inter()
contains
    subroutine groups()
        HANDLE(MPI_Group) :: world, evens, odds, other
        integer :: size, place, outcome, ranges(3, 1), ranks(n), to(n)
        call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
        call MPI_Group_size(world, size, ierr)
        call MPI_Group_rank(world, place, ierr)
        call check(size == n .and. place == rank, 'the group of the world')
        ranges(:, 1) = [0, n - 1, 2]
        call MPI_Group_range_incl(world, 1, ranges, evens, ierr)
        call MPI_Group_range_excl(world, 1, ranges, odds, ierr)
        call MPI_Group_size(evens, size, ierr)
        call MPI_Group_size(odds, place, ierr)
        call check(size == (n + 1) / 2 .and. place == n / 2, 'ranges')
        call MPI_Group_rank(evens, place, ierr)
        call check(place == merge(rank / 2, MPI_UNDEFINED, mod(rank, 2) == 0), 'a rank in a group')
        call MPI_Group_intersection(evens, odds, other, ierr)
        call check(other == MPI_GROUP_EMPTY, 'MPI_GROUP_EMPTY')
        call MPI_Group_union(odds, evens, other, ierr)
        call MPI_Group_compare(world, other, outcome, ierr)
        call check(outcome == merge(MPI_IDENT, MPI_SIMILAR, n == 1), 'a union')
        ranks = [(i, i = 0, n - 1)]
        call MPI_Group_translate_ranks(world, n, ranks, other, to, ierr)
        call check(all(to == [(merge(n / 2 + i / 2, i / 2, mod(i, 2) == 0), i = 0, n - 1)]), 'translated ranks')
        call MPI_Group_free(other, ierr)
        call check(other == MPI_GROUP_NULL, 'a group that was freed')
        call MPI_Group_difference(world, odds, other, ierr)
        call MPI_Group_compare(evens, other, outcome, ierr)
        call check(outcome == MPI_IDENT, 'a difference')
        call MPI_Group_free(other, ierr)
        call MPI_Group_incl(world, 1, [n - 1], other, ierr)
        call MPI_Group_rank(other, place, ierr)
        call check(place == merge(0, MPI_UNDEFINED, rank == n - 1), 'Group_incl')
        call MPI_Group_free(other, ierr)
        call MPI_Group_excl(world, 1, [0], other, ierr)
        call MPI_Group_size(other, size, ierr)
        call check(size == n - 1, 'Group_excl')
        if (n > 1) call MPI_Group_free(other, ierr)
        call MPI_Group_free(evens, ierr)
        if (n > 1) call MPI_Group_free(odds, ierr)
        call MPI_Group_free(world, ierr)
    end subroutine

    subroutine intra()
        HANDLE(MPI_Comm) :: comm, other
        HANDLE(MPI_Group) :: world, first
        HANDLE(MPI_Request) :: request
        HANDLE(MPI_Info) :: info
        integer :: size, place, outcome, length, sum
        character(len=MPI_MAX_OBJECT_NAME) :: name
        logical :: flag
        call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, comm, ierr)
        call MPI_Comm_size(comm, size, ierr)
        call MPI_Comm_rank(comm, place, ierr)
        call check(size == (n + 1 - mod(rank, 2)) / 2 .and. place == size - 1 - rank / 2, 'Comm_split')
        call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
        call check(sum == size * (size - 1) + size * mod(rank, 2), 'a sum in a part')
        call MPI_Comm_compare(comm, MPI_COMM_WORLD, outcome, ierr)
        call check(outcome == merge(MPI_CONGRUENT, MPI_UNEQUAL, n == 1), 'Comm_compare')
        call MPI_Comm_test_inter(comm, flag, ierr)
        call check(.not. flag, 'not an intercommunicator')
        call MPI_Comm_free(comm, ierr)
        call check(comm == MPI_COMM_NULL, 'a communicator that was freed')
        call MPI_Comm_split(MPI_COMM_WORLD, merge(MPI_UNDEFINED, 1, rank == 0), 0, comm, ierr)
        call check((comm == MPI_COMM_NULL) .eqv. rank == 0, 'of no color')
        if (comm /= MPI_COMM_NULL) call MPI_Comm_free(comm, ierr)
        call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, comm, ierr)
        call MPI_Comm_size(comm, size, ierr)
        call check(size >= 1 .and. size <= n, 'Comm_split_type')
        call MPI_Comm_free(comm, ierr)
        call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
        call MPI_Group_incl(world, 1, [0], first, ierr)
        call MPI_Comm_create(MPI_COMM_WORLD, first, comm, ierr)
        call check((comm == MPI_COMM_NULL) .eqv. rank > 0, 'Comm_create')
        if (rank == 0) call MPI_Comm_free(comm, ierr)
        if (rank == 0) then
            call MPI_Comm_create_group(MPI_COMM_WORLD, first, 5, comm, ierr)
            call MPI_Comm_compare(comm, MPI_COMM_SELF, outcome, ierr)
            call check(outcome == MPI_CONGRUENT, 'Comm_create_group')
            call MPI_Comm_free(comm, ierr)
        end if
        call MPI_Group_free(first, ierr)
        call MPI_Comm_create_from_group(world, 'a tag', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm, ierr)
        call MPI_Comm_compare(comm, MPI_COMM_WORLD, outcome, ierr)
        call check(outcome == MPI_CONGRUENT, 'Comm_create_from_group')
        call MPI_Group_free(world, ierr)
        call MPI_Comm_idup(comm, other, request, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call MPI_Comm_free(comm, ierr)
        call MPI_Comm_set_name(other, 'twice', ierr)
        call MPI_Comm_get_name(other, name, length, ierr)
        call check(name == 'twice' .and. length == 5, 'the name of a communicator')
        call MPI_Info_create(info, ierr)
        call MPI_Info_set(info, 'mpi_assert_no_any_tag', 'true', ierr)
        call MPI_Comm_dup_with_info(other, info, comm, ierr)
        call MPI_Info_free(info, ierr)
        call MPI_Comm_get_info(comm, info, ierr)
        call MPI_Info_get_nkeys(info, size, ierr)
        call check(size >= 1, 'Comm_get_info')
        call MPI_Info_free(info, ierr)
        call MPI_Comm_free(other, ierr)
        call MPI_Comm_free(comm, ierr)
        call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, ierr)
        call check(name == 'MPI_COMM_WORLD', 'the name of the world')
    end subroutine

    ! The even against the odd.
    subroutine inter()
        HANDLE(MPI_Comm) :: half, between, merged
        HANDLE(MPI_Group) :: there
        integer :: size, place, leader, got, mine, sum
        logical :: flag
        if (n == 1) return
        mine = mod(rank, 2)
        call MPI_Comm_split(MPI_COMM_WORLD, mine, rank, half, ierr)
        call MPI_Comm_rank(half, place, ierr)
        leader = 1 - mine
        call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, leader, 12, between, ierr)
        call MPI_Comm_test_inter(between, flag, ierr)
        call MPI_Comm_remote_size(between, size, ierr)
        call check(flag .and. size == (n + mine) / 2, 'an intercommunicator')
        call MPI_Comm_remote_group(between, there, ierr)
        call MPI_Group_size(there, got, ierr)
        call check(got == size, 'the remote group')
        call MPI_Group_free(there, ierr)
        call MPI_Allreduce(1, sum, 1, MPI_INTEGER, MPI_SUM, between, ierr)
        call check(sum == size, 'a sum of the others')
        got = -1
        if (mine == 0) then
            call MPI_Bcast(41, 1, MPI_INTEGER, merge(MPI_ROOT, MPI_PROC_NULL, place == 0), between, ierr)
        else
            call MPI_Bcast(got, 1, MPI_INTEGER, 0, between, ierr)
            call check(got == 41, 'from the others')
        end if
        call MPI_Intercomm_merge(between, mine == 1, merged, ierr)
        call MPI_Comm_rank(merged, got, ierr)
        call check(got == merge(rank / 2, (n + 1) / 2 + rank / 2, mine == 0), 'merged')
        call MPI_Comm_free(merged, ierr)
        call MPI_Comm_free(between, ierr)
        call MPI_Comm_free(half, ierr)
    end subroutine
end subroutine
