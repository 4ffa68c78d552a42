! SPDX-License-Identifier: BSD-3-Clause
! Windows of each kind, every access, every kind of synchronization.  Memory of the library is a C_PTR in each form.
#include "form.inc"
subroutine windows()
    USE_MPI
    use checking
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer, c_associated
    implicit none
#if FORM == 0
    include 'mpif.h'
#endif
    integer(kind=MPI_ADDRESS_KIND), parameter :: zero = 0, one = 1, two = 2
    integer :: ierr, left, right
    left = modulo(rank - 1, n)
    right = modulo(rank + 1, n)
    call created()
    call allocated()
    call shared()
    call dynamic()
contains
    subroutine created()
        integer, asynchronous :: memory(0:n + 3), got(4)
        integer :: i, sum, kind
        HANDLE(MPI_Win) :: win
        HANDLE(MPI_Group) :: world, before, behind
        HANDLE(MPI_Info) :: info
        logical :: flag
        integer(kind=MPI_ADDRESS_KIND) :: value, bytes
        character(len=MPI_MAX_OBJECT_NAME) :: name
        character(len=8) :: answer
        bytes = 4 * (n + 4)
        memory = -1
        call MPI_Info_create(info, ierr)
        call MPI_Info_set(info, 'same_disp_unit', 'true', ierr)
        call MPI_Win_create(memory, bytes, 4, info, MPI_COMM_WORLD, win, ierr)
        call MPI_Info_free(info, ierr)
        call MPI_Win_get_info(win, info, ierr)
        kind = 8
        call MPI_Info_get_string(info, 'same_disp_unit', kind, answer, flag, ierr)
        if (flag) call check(answer == 'true', 'Win_get_info')
        call MPI_Info_free(info, ierr)
        call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierr)
        call check(flag .and. value == bytes, 'MPI_WIN_SIZE')
        call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierr)
        call check(flag .and. value == 4, 'MPI_WIN_DISP_UNIT')
        call MPI_Get_address(memory, bytes, ierr)
        call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierr)
        call check(flag .and. value == bytes, 'MPI_WIN_BASE')
        call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, ierr)
        call check(flag .and. value == MPI_WIN_FLAVOR_CREATE, 'MPI_WIN_CREATE_FLAVOR')
        call MPI_Win_get_attr(win, MPI_WIN_MODEL, value, flag, ierr)
        call check(flag .and. (value == MPI_WIN_UNIFIED .or. value == MPI_WIN_SEPARATE), 'MPI_WIN_MODEL')
        call MPI_Win_set_name(win, 'my window ', ierr)
        call MPI_Win_get_name(win, name, kind, ierr)
        call check(name == 'my window' .and. kind == 9, 'the name of a window')

        ! Between fences: each writes its rank to each.
        call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, ierr)
        do i = 0, n - 1
            call MPI_Put(rank, 1, MPI_INTEGER, i, int(rank, MPI_ADDRESS_KIND), 1, MPI_INTEGER, win, ierr)
        end do
        call MPI_Accumulate(5, 1, MPI_INTEGER, right, int(n, MPI_ADDRESS_KIND), 1, MPI_INTEGER, MPI_REPLACE, win, ierr)
        call MPI_Win_fence(0, win, ierr)
        call check(all(memory(0:n - 1) == [(i, i = 0, n - 1)]) .and. memory(n) == 5 .and. memory(n + 1) == -1, 'Put by all')
        got = -1
        call MPI_Get(got, 1, MPI_INTEGER, left, int(rank, MPI_ADDRESS_KIND), 1, MPI_INTEGER, win, ierr)
        call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierr)
        call check(got(1) == rank .and. got(2) == -1, 'Get')

        ! The right one exposes, the left one accesses.
        call MPI_Win_get_group(win, world, ierr)
        call MPI_Group_size(world, sum, ierr)
        call check(sum == n, 'Win_get_group')
        call MPI_Group_incl(world, 1, [left], before, ierr)
        call MPI_Group_incl(world, 1, [right], behind, ierr)
        call MPI_Win_post(before, 0, win, ierr)
        call MPI_Win_start(behind, 0, win, ierr)
        call MPI_Put([rank, 70 + rank], 2, MPI_INTEGER, right, int(n + 2, MPI_ADDRESS_KIND), 2, MPI_INTEGER, win, ierr)
        call MPI_Win_complete(win, ierr)
        call MPI_Win_wait(win, ierr)
        call check(memory(n + 2) == left .and. memory(n + 3) == 70 + left, 'post, start, complete, wait')
        call MPI_Win_post(before, MPI_MODE_NOSTORE, win, ierr)
        call MPI_Win_start(behind, 0, win, ierr)
        call MPI_Get(got, 2, MPI_INTEGER, right, int(n + 2, MPI_ADDRESS_KIND), 2, MPI_INTEGER, win, ierr)
        call MPI_Win_complete(win, ierr)
        flag = .false.
        do while (.not. flag)
            call MPI_Win_test(win, flag, ierr)
        end do
        call check(got(1) == rank .and. got(2) == 70 + rank, 'Win_test')
        call MPI_Group_free(world, ierr)
        call MPI_Group_free(before, ierr)
        call MPI_Group_free(behind, ierr)
        call MPI_Win_free(win, ierr)
        call check(win == MPI_WIN_NULL, 'a window that was freed')
    end subroutine

    ! Locks, atomic accesses and requests.
    subroutine allocated()
        type(c_ptr) :: base
        integer, pointer :: memory(:)
        integer, asynchronous :: was, got(3), mine(3)
        integer :: i
        HANDLE(MPI_Win) :: win
        HANDLE(MPI_Request) :: q(4)
        call MPI_Win_allocate(32_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierr)
        call check(c_associated(base), 'Win_allocate')
        call c_f_pointer(base, memory, [8])
        call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win, ierr)
        memory = 0
        call MPI_Win_unlock(rank, win, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, ierr)
        call MPI_Fetch_and_op(1, was, MPI_INTEGER, 0, zero, MPI_SUM, win, ierr)
        call MPI_Win_flush(0, win, ierr)
        call check(was >= 0 .and. was < n, 'Fetch_and_op')
        ! Who comes first writes 1 more than nothing; the others see that.
        call MPI_Compare_and_swap([was + 1], 0, got(1), MPI_INTEGER, 0, one, win, ierr)
        call MPI_Win_flush_local(0, win, ierr)
        call MPI_Win_unlock(0, win, ierr)
        call check(got(1) >= 0 .and. got(1) <= n, 'Compare_and_swap')
        call MPI_Allreduce([merge(1, 0, got(1) == 0)], i, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
        call check(i == 1, 'one Compare_and_swap takes place')
        call MPI_Win_lock_all(MPI_MODE_NOCHECK, win, ierr)
        mine = [rank + 1, 2 * rank, -rank]
        call MPI_Rput(mine, 3, MPI_INTEGER, right, 5_MPI_ADDRESS_KIND, 3, MPI_INTEGER, win, q(1), ierr)
        call MPI_Raccumulate(mine, 1, MPI_INTEGER, 0, two, 1, MPI_INTEGER, MPI_SUM, win, q(2), ierr)
        call MPI_Waitall(2, q, MPI_STATUSES_IGNORE, ierr)
        call MPI_Win_flush_all(win, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_Win_sync(win, ierr)
        got = -1
        call MPI_Rget(got, 3, MPI_INTEGER, right, 5_MPI_ADDRESS_KIND, 3, MPI_INTEGER, win, q(3), ierr)
        call MPI_Rget_accumulate(mine, 0, MPI_INTEGER, was, 1, MPI_INTEGER, 0, two, 1, MPI_INTEGER, MPI_NO_OP, win, q(4), ierr)
        call MPI_Waitall(2, q(3:4), MPI_STATUSES_IGNORE, ierr)
        call check(all(got == mine), 'Rput and Rget')
        call check(was == n * (n + 1) / 2, 'Raccumulate and Rget_accumulate')
        call MPI_Get_accumulate(mine, 1, MPI_INTEGER, was, 1, MPI_INTEGER, right, 3_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_REPLACE, win, ierr)
        call MPI_Win_flush_local_all(win, ierr)
        call check(was == 0, 'Get_accumulate')
        call MPI_Win_unlock_all(win, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win, ierr)
        call check(memory(4) == left + 1 .and. all(memory(6:8) == [left + 1, 2 * left, -left]), 'what others wrote')
        if (rank == 0) call check(memory(1) == n, 'the counter')
        call MPI_Win_unlock(rank, win, ierr)
        call MPI_Win_free(win, ierr)
    end subroutine

    subroutine shared()
        type(c_ptr) :: base, there
        integer, pointer :: mine(:), theirs(:)
        integer :: me, size, unit, other
        integer(kind=MPI_ADDRESS_KIND) :: bytes
        HANDLE(MPI_Comm) :: node
        HANDLE(MPI_Win) :: win
        call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node, ierr)
        call MPI_Comm_rank(node, me, ierr)
        call MPI_Comm_size(node, size, ierr)
        call MPI_Win_allocate_shared(16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, node, base, win, ierr)
        call c_f_pointer(base, mine, [4])
        call MPI_Win_fence(0, win, ierr)
        mine = 10 * me
        call MPI_Win_fence(0, win, ierr)
        other = modulo(me + 1, size)
        call MPI_Win_shared_query(win, other, bytes, unit, there, ierr)
        call check(bytes == 16 .and. unit == 4, 'Win_shared_query')
        call c_f_pointer(there, theirs, [4])
        call check(all(theirs == 10 * other), 'the memory of another')
        theirs(2) = 1000 + me
        call MPI_Win_fence(0, win, ierr)
        call check(mine(2) == 1000 + modulo(me - 1, size), 'written by another')
        call MPI_Win_free(win, ierr)
        call MPI_Comm_free(node, ierr)
    end subroutine

    subroutine dynamic()
        integer, asynchronous, target, save :: memory(4)
        type(c_ptr) :: base
        integer, pointer :: more(:)
        integer(kind=MPI_ADDRESS_KIND) :: at(2), all_at(2, n), place
        HANDLE(MPI_Win) :: win
        call MPI_Alloc_mem(40_MPI_ADDRESS_KIND, MPI_INFO_NULL, base, ierr)
        call c_f_pointer(base, more, [10])
        more = 0
        memory = 0
        call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
        call MPI_Win_attach(win, memory, 16_MPI_ADDRESS_KIND, ierr)
        call MPI_Win_attach(win, more, 40_MPI_ADDRESS_KIND, ierr)
        call MPI_Get_address(memory, at(1), ierr)
        call MPI_Get_address(more, at(2), ierr)
        call MPI_Allgather(at, 2, MPI_AINT, all_at, 2, MPI_AINT, MPI_COMM_WORLD, ierr)
        call MPI_Win_fence(0, win, ierr)
        call MPI_Put([rank, rank + 1], 2, MPI_INTEGER, right, all_at(1, right + 1), 2, MPI_INTEGER, win, ierr)
        place = MPI_Aint_add(all_at(2, left + 1), 36_MPI_ADDRESS_KIND)
        call MPI_Put([100 + rank], 1, MPI_INTEGER, left, place, 1, MPI_INTEGER, win, ierr)
        call MPI_Win_fence(0, win, ierr)
        call MPI_F_sync_reg(memory)
        call check(all(memory == [left, left + 1, 0, 0]), 'attached memory')
        call check(more(10) == 100 + right .and. all(more(:9) == 0), 'attached memory of the library')
        call MPI_Win_detach(win, memory, ierr)
        call MPI_Win_detach(win, more, ierr)
        call MPI_Win_free(win, ierr)
        call MPI_Free_mem(more, ierr)
        call check(ierr == MPI_SUCCESS, 'Free_mem')
    end subroutine
end subroutine
