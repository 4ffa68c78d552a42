! SPDX-License-Identifier: BSD-3-Clause
! set.f90: small programs in Fortran with one fault each, and right ones that look like them; see set.h for what the comments say.
module cases
    use mpi_f08
    implicit none
    type(MPI_Comm) :: comm
    integer :: rank, many, next, prev
    integer, asynchronous, pointer, contiguous :: a(:), b(:)
    double precision, asynchronous, pointer, contiguous :: d(:)
    type(MPI_Request) :: r(4)
contains

logical function is_last()
    is_last = rank == many - 1
end function

! ---- Messages ----

!WRONG 1
subroutine f_isend_changed()
    call MPI_Isend(a, 100, MPI_INTEGER, next, 1, comm, r(1)) ! send-changed: buf
    a(100) = -1
    call MPI_Recv(b, 100, MPI_INTEGER, prev, 1, comm, MPI_STATUS_IGNORE)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
end subroutine

!RIGHT 1
subroutine f_isend_kept()
    call MPI_Isend(a, 100, MPI_INTEGER, next, 1, comm, r(1))
    a(101) = -1
    call MPI_Recv(b, 100, MPI_INTEGER, prev, 1, comm, MPI_STATUS_IGNORE)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    a(100) = -1
end subroutine

!WRONG 1
subroutine f_section_changed()
    call MPI_Isend(a(11:20), 10, MPI_INTEGER, next, 1, comm, r(1)) ! send-changed: buf
    a(20) = -1
    call MPI_Recv(b, 10, MPI_INTEGER, prev, 1, comm, MPI_STATUS_IGNORE)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
end subroutine

!RIGHT 1
subroutine f_beside_the_section_changed()
    call MPI_Isend(a(11:20), 10, MPI_INTEGER, next, 1, comm, r(1))
    a(21) = -1
    call MPI_Recv(b, 10, MPI_INTEGER, prev, 1, comm, MPI_STATUS_IGNORE)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
end subroutine

!WRONG 1
subroutine f_two_receives()
    call MPI_Irecv(b, 10, MPI_INTEGER, prev, 1, comm, r(1))
    call MPI_Irecv(b(6:), 10, MPI_INTEGER, prev, 2, comm, r(2)) ! overlap: buf
    call MPI_Send(a, 10, MPI_INTEGER, next, 1, comm)
    call MPI_Send(a, 10, MPI_INTEGER, next, 2, comm)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
end subroutine

!RIGHT 1
subroutine f_two_receives_beside()
    call MPI_Irecv(b, 10, MPI_INTEGER, prev, 1, comm, r(1))
    call MPI_Irecv(b(11:), 10, MPI_INTEGER, prev, 2, comm, r(2))
    call MPI_Send(a, 10, MPI_INTEGER, next, 1, comm)
    call MPI_Send(a, 10, MPI_INTEGER, next, 2, comm)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
end subroutine

!WRONG 1
subroutine f_real_for_integer()
    call MPI_Isend(a, 10, MPI_INTEGER, next, 1, comm, r(1))
    call MPI_Recv(b, 10, MPI_REAL, prev, 1, comm, MPI_STATUS_IGNORE) ! type-mismatch: datatype
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
end subroutine

!RIGHT 1
subroutine f_types_of_c()
    call MPI_Isend(a, 10, MPI_INTEGER, next, 1, comm, r(1))
    call MPI_Recv(b, 10, MPI_INT, prev, 1, comm, MPI_STATUS_IGNORE)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    call MPI_Isend(d, 10, MPI_DOUBLE_PRECISION, next, 1, comm, r(1))
    call MPI_Recv(d(11:), 10, MPI_DOUBLE, prev, 1, comm, MPI_STATUS_IGNORE)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
end subroutine

!WRONG 1
subroutine f_too_long()
    call MPI_Isend(a, 10, MPI_INTEGER, next, 1, comm, r(1))
    call MPI_Recv(b, 9, MPI_INTEGER, prev, 1, comm, MPI_STATUS_IGNORE) ! message-too-long: count, returned-error: -
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
end subroutine

!RIGHT 1
subroutine f_long_enough()
    call MPI_Isend(a, 9, MPI_INTEGER, next, 1, comm, r(1))
    call MPI_Recv(b, 10, MPI_INTEGER, prev, 1, comm, MPI_STATUS_IGNORE)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
end subroutine

!WRONG 1
subroutine f_sendrecv_overlaps()
    call MPI_Sendrecv(a, 10, MPI_INTEGER, next, 1, a(6:), 10, MPI_INTEGER, prev, 1, comm, MPI_STATUS_IGNORE) ! overlap: recvbuf
end subroutine

!RIGHT 1
subroutine f_sendrecv_beside()
    call MPI_Sendrecv(a, 10, MPI_INTEGER, next, 1, a(11:), 10, MPI_INTEGER, prev, 1, comm, MPI_STATUS_IGNORE)
end subroutine

!WRONG 1
subroutine f_waited_twice()
    type(MPI_Request) :: same
    call MPI_Isend(a, 1, MPI_INTEGER, next, 1, comm, r(1))
    same = r(1)
    call MPI_Recv(b, 1, MPI_INTEGER, prev, 1, comm, MPI_STATUS_IGNORE)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    call MPI_Wait(same, MPI_STATUS_IGNORE) ! returned-error: request
end subroutine

!RIGHT 1
subroutine f_waited_once()
    call MPI_Isend(a, 1, MPI_INTEGER, next, 1, comm, r(1))
    call MPI_Recv(b, 1, MPI_INTEGER, prev, 1, comm, MPI_STATUS_IGNORE)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
end subroutine

!WRONG 1
subroutine f_no_such_rank()
    call MPI_Send(a, 1, MPI_INTEGER, many, 1, comm) ! returned-error: dest
end subroutine

!WRONG 1
subroutine f_not_committed()
    type(MPI_Datatype) :: pair
    call MPI_Type_contiguous(2, MPI_INTEGER, pair)
    call MPI_Send(a, 1, pair, next, 1, comm) ! returned-error: datatype
    call MPI_Type_free(pair)
end subroutine

!RIGHT 1
subroutine f_committed()
    type(MPI_Datatype) :: pair
    call MPI_Type_contiguous(2, MPI_INTEGER, pair)
    call MPI_Type_commit(pair)
    call MPI_Sendrecv(a, 1, pair, next, 1, b, 2, MPI_INTEGER, prev, 1, comm, MPI_STATUS_IGNORE)
    call MPI_Type_free(pair)
end subroutine

! ---- What is left ----

!WRONG 1
subroutine f_comm_left()
    type(MPI_Comm) :: twin
    call MPI_Comm_dup(comm, twin) ! leak-comm: -
end subroutine

!RIGHT 1
subroutine f_comm_freed()
    type(MPI_Comm) :: twin
    call MPI_Comm_dup(comm, twin)
    call MPI_Comm_free(twin)
end subroutine

!WRONG 1
subroutine f_type_left()
    type(MPI_Datatype) :: column
    call MPI_Type_vector(3, 1, 2, MPI_INTEGER, column) ! leak-datatype: -
end subroutine

!RIGHT 1
subroutine f_type_freed()
    type(MPI_Datatype) :: column
    call MPI_Type_vector(3, 1, 2, MPI_INTEGER, column)
    call MPI_Type_free(column)
end subroutine

!WRONG 1
subroutine f_request_left()
    integer, save, asynchronous :: kept(1)
    call MPI_Isend(kept, 1, MPI_INTEGER, next, 1, comm, r(1)) ! leak-request: -
    call MPI_Recv(b, 1, MPI_INTEGER, prev, 1, comm, MPI_STATUS_IGNORE)
end subroutine

! ---- Windows and files ----

!WRONG 1
subroutine f_put_other_types()
    type(MPI_Win) :: win
    call MPI_Win_create(b, 400_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, comm, win)
    call MPI_Win_fence(0, win)
    call MPI_Put(a, 10, MPI_INTEGER, next, 0_MPI_ADDRESS_KIND, 10, MPI_REAL, win) ! window-types: target_datatype
    call MPI_Win_fence(0, win)
    call MPI_Win_free(win)
end subroutine

!RIGHT 1
subroutine f_put_same_types()
    type(MPI_Win) :: win
    call MPI_Win_create(b, 400_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, comm, win)
    call MPI_Win_fence(0, win)
    call MPI_Put(a, 10, MPI_INTEGER, next, 0_MPI_ADDRESS_KIND, 10, MPI_INT, win)
    call MPI_Win_fence(0, win)
    call MPI_Win_free(win)
end subroutine

!WRONG 1
subroutine f_iwrite_changed()
    type(MPI_File) :: file
    call MPI_File_open(comm, "check_set.f", ior(MPI_MODE_CREATE, ior(MPI_MODE_RDWR, MPI_MODE_DELETE_ON_CLOSE)), MPI_INFO_NULL, file)
    call MPI_File_iwrite_at(file, int(400 * rank, MPI_OFFSET_KIND), a, 100, MPI_INTEGER, r(1)) ! send-changed: buf
    a(5) = -1
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    call MPI_File_close(file)
end subroutine

!RIGHT 1
subroutine f_iwrite_kept()
    type(MPI_File) :: file
    call MPI_File_open(comm, "check_set.f", ior(MPI_MODE_CREATE, ior(MPI_MODE_RDWR, MPI_MODE_DELETE_ON_CLOSE)), MPI_INFO_NULL, file)
    call MPI_File_iwrite_at(file, int(400 * rank, MPI_OFFSET_KIND), a, 100, MPI_INTEGER, r(1))
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    call MPI_File_close(file)
end subroutine

! ---- Collectives ----

!WRONG 1
subroutine f_iallreduce_changed()
    call MPI_Iallreduce(a, b, 100, MPI_INTEGER, MPI_SUM, comm, r(1)) ! send-changed: sendbuf
    a(5) = -1
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
end subroutine

!RIGHT 1
subroutine f_iallreduce_in_place()
    call MPI_Iallreduce(MPI_IN_PLACE, b, 100, MPI_INTEGER, MPI_SUM, comm, r(1))
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
end subroutine

!ASTRAY 2
subroutine f_other_collective()
    if (is_last()) then
        call MPI_Ibarrier(comm, r(1)) ! collective-order: - in last
    else
        call MPI_Ibcast(a, 1, MPI_INTEGER, 0, comm, r(1)) ! collective-order: - in first
    end if
end subroutine

!RIGHT 2
subroutine f_same_collective()
    if (is_last()) then
        call MPI_Ibcast(a, 1, MPI_INTEGER, 0, comm, r(1))
    else
        call MPI_Ibcast(a, 1, MPI_INTEGER, 0, comm, r(1))
    end if
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
end subroutine

!ASTRAY 2
subroutine f_other_root()
    call MPI_Ibcast(a, 1, MPI_INTEGER, merge(1, 0, is_last()), comm, r(1)) ! collective-root: root in ends
end subroutine

!RIGHT 2
subroutine f_last_root()
    call MPI_Ibcast(a, 1, MPI_INTEGER, many - 1, comm, r(1))
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
end subroutine

!ASTRAY 2
subroutine f_other_operation()
    type(MPI_Op) :: op
    op = MPI_MAX
    if (is_last()) op = MPI_MIN
    call MPI_Ireduce(a, b, 1, MPI_INTEGER, op, 0, comm, r(1)) ! collective-op: op in ends
end subroutine

!ASTRAY 2
subroutine f_other_count()
    call MPI_Ibcast(a, merge(5, 4, is_last()), MPI_INTEGER, 0, comm, r(1)) ! collective-data: count in ends
end subroutine

!RIGHT 2
subroutine f_other_type_of_the_same_kind()
    type(MPI_Datatype) :: type
    type = MPI_INTEGER
    if (is_last()) type = MPI_INT
    call MPI_Ibcast(a, 4, type, 0, comm, r(1))
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
end subroutine

!ASTRAY 2
subroutine f_other_type()
    type(MPI_Datatype) :: type
    type = MPI_INTEGER
    if (is_last()) type = MPI_REAL
    call MPI_Ibcast(a, 4, type, 0, comm, r(1)) ! collective-data: datatype in ends
end subroutine

!ASTRAY 2
subroutine f_alltoallv_count()
    integer, asynchronous, save :: n(64), m(64), at(64)
    integer :: i
    n = 1
    m = 1
    at = [(2 * i, i = 0, 63)]
    if (is_last()) n(1) = 2
    call MPI_Ialltoallv(a, n, at, MPI_INTEGER, b, m, at, MPI_INTEGER, comm, r(1)) ! collective-data: recvcounts in 0
end subroutine

!RIGHT 2
subroutine f_alltoallv_counts_by_pair()
    integer, asynchronous, save :: n(64), at(64)
    integer :: i
    n = [(i + rank, i = 0, 63)]
    at = [(10 * i, i = 0, 63)]
    call MPI_Ialltoallv(a, n, at, MPI_INTEGER, b, n, at, MPI_INTEGER, comm, r(1))
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
end subroutine

!ASTRAY 2
subroutine f_in_place_here_alone()
    if (is_last()) then
        call MPI_Iallgather(MPI_IN_PLACE, 1, MPI_INTEGER, b, 1, MPI_INTEGER, comm, r(1)) ! collective-in-place: sendbuf in last
    else
        call MPI_Iallgather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, comm, r(1)) ! collective-in-place: sendbuf in first
    end if
end subroutine

!ASTRAY 2
subroutine f_neighbor_count()
    type(MPI_Comm) :: grid
    integer, asynchronous, save :: n(2) = [1, 2], m(2) = [2, 1], at(2) = [0, 5]
    if (is_last()) m(2) = 2
    call MPI_Cart_create(comm, 1, [many], [.true.], .false., grid)
    call MPI_Ineighbor_alltoallv(a, n, at, MPI_INTEGER, b, m, at, MPI_INTEGER, grid, r(1)) ! collective-data: recvcounts in last
end subroutine

!RIGHT 1
subroutine f_neighbor_counts_cross()
    type(MPI_Comm) :: grid
    call MPI_Cart_create(comm, 1, [many], [.true.], .false., grid)
    call MPI_Neighbor_alltoallv(a, [1, 2], [0, 5], MPI_INTEGER, b, [2, 1], [0, 5], MPI_INTEGER, grid)
    call MPI_Comm_free(grid)
end subroutine

end module

program main
    use cases
    implicit none
    character(64) :: which
    logical :: astray
    astray = .false.
    call get_command_argument(1, which)
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, many)
    next = mod(rank + 1, many)
    prev = mod(rank + many - 1, many)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
@CALLS@
    if (astray) call MPI_Abort(MPI_COMM_WORLD, 9)
    call MPI_Finalize()
contains

subroutine run(how, name, ranks, body)
    character(*), intent(in) :: how, name
    integer, intent(in) :: ranks
    integer :: i
    interface
        subroutine body()
        end subroutine
    end interface
    if ((which /= how .and. which /= name) .or. many < ranks) return
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    allocate (a(1000), b(1000), d(1000))
    a = [(i + 1000 * rank, i = 1, 1000)]
    b = 0
    d = a
    r = MPI_REQUEST_NULL
    call body()
    if (how == 'astray') then
        astray = .true.
        call look(0.01d0)
        call MPI_Barrier(MPI_COMM_WORLD)
        call look(0.01d0) ! operations that are not complete keep their memory
    else
        call MPI_Comm_free(comm)
        deallocate (a, b, d)
    end if
    call MPI_Barrier(MPI_COMM_WORLD)
end subroutine

subroutine look(seconds)
    double precision, intent(in) :: seconds
    double precision :: ends
    logical :: flag
    ends = MPI_Wtime() + seconds
    do while (MPI_Wtime() < ends)
        call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, flag, MPI_STATUS_IGNORE)
        call MPI_Test(r(1), flag, MPI_STATUS_IGNORE)
    end do
end subroutine
end program
