! SPDX-License-Identifier: BSD-3-Clause
! ranks: 1 3
! INTEGER and REAL of the kinds that options of the compiler choose (kinds.test): sizes, messages of all forms of buffers, large counts,
! arrays of statuses and of datatypes, constants that are addresses, functions of the program.
module functions
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: bad = 0, calls = 0, rank = -1
contains
  include 'expect.inc'
  subroutine greatest(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    call expect(datatype == MPI_INTEGER, 'the datatype of an operation')
    b = max(a, b)
  end subroutine
  subroutine on_error(comm, code)
    type(MPI_Comm) :: comm
    integer :: code, class
    call MPI_Error_class(code, class)
    calls = calls + 1
    call expect(comm == MPI_COMM_SELF .and. class == merge(MPI_ERR_RANK, MPI_ERR_VALUE_TOO_LARGE, calls == 1), &
                'what an error handler gets')
  end subroutine
  subroutine copy(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    call expect(oldcomm == MPI_COMM_SELF .and. extra_state == 9 .and. comm_keyval /= MPI_KEYVAL_INVALID, &
                'what a copy function gets')
    attribute_val_out = attribute_val_in + 1
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    call MPI_Status_set_elements(status, MPI_INTEGER, 3)
    call MPI_Status_set_cancelled(status, .false.)
    status%MPI_SOURCE = 77
    status%MPI_TAG = int(extra_state)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine done(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    call expect(extra_state == 12, 'what is freed')
    ierror = MPI_SUCCESS
  end subroutine
  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    call expect(extra_state == 12 .and. complete, 'what is cancelled')
    ierror = MPI_SUCCESS
  end subroutine
end module

program kinds
  use functions
  implicit none
  integer :: n, i, got, ierr, next, before, key
  integer :: a(20), b(20), lengths(2)
  integer(MPI_ADDRESS_KIND) :: displacements(2), value
  real :: r(2), s(2)
  double precision :: d
  complex :: c, z
  logical :: l, ls(2), flag, ok
  character(len=40) :: string
  type(MPI_Status) :: st, sts(3)
  type(MPI_Request) :: rq(3)
  type(MPI_Datatype) :: t, types(2), inner(2)
  type(MPI_Op) :: op
  type(MPI_Comm) :: comm
  type(MPI_Errhandler) :: handler
  call MPI_Init(ierr)
  call expect(ierr == MPI_SUCCESS, 'ierror')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  next = mod(rank + 1, n)
  before = mod(rank + n - 1, n)
  call expect(MPI_INTEGER_KIND == kind(rank), 'MPI_INTEGER_KIND')
  call MPI_Type_size(MPI_INTEGER, got)
  call expect(got == storage_size(got) / 8, 'the size of MPI_INTEGER')
  call MPI_Type_size(MPI_LOGICAL, got)
  call expect(got == storage_size(l) / 8, 'the size of MPI_LOGICAL')
  call MPI_Type_size(MPI_REAL, got)
  call expect(got == storage_size(r(1)) / 8, 'the size of MPI_REAL')
  call MPI_Type_size(MPI_DOUBLE_PRECISION, got)
  call expect(got == storage_size(d) / 8, 'the size of MPI_DOUBLE_PRECISION')
  call MPI_Type_size(MPI_COMPLEX, got)
  call expect(got == storage_size(c) / 8, 'the size of MPI_COMPLEX')
  call expect(MPI_Wtime() > 0 .and. MPI_Wtick() < 1, 'the time')

  a = [(huge(i) - i - 1000 * rank, i = 1, 20)]
  b = -1
  call MPI_Irecv(b(1:19:2), 10, MPI_INTEGER, before, 5, MPI_COMM_WORLD, rq(1))
  call MPI_Isend(a(2:20:2), 10, MPI_INTEGER, next, 5, MPI_COMM_WORLD, rq(2))
  rq(3) = MPI_REQUEST_NULL
  call MPI_Waitall(3, rq, sts)
  call expect(all(b(1:19:2) == [(huge(i) - 2 * i - 1000 * before, i = 1, 10)]) .and. all(b(2:20:2) == -1), 'nonblocking sections')
  call MPI_Get_count(sts(1), MPI_INTEGER, got)
  call expect(got == 10 .and. sts(1)%MPI_SOURCE == before .and. sts(1)%MPI_TAG == 5, 'statuses')
  call expect(all([(rq(i) == MPI_REQUEST_NULL, i = 1, 3)]), 'requests')
  call MPI_Sendrecv(a, 20, MPI_INTEGER, next, 6, b, 20, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, st)
  call expect(all(b == [(huge(i) - i - 1000 * before, i = 1, 20)]) .and. st%MPI_SOURCE == before, 'MPI_Sendrecv')
  call MPI_Sendrecv(a, 1, MPI_INTEGER, next, 6, b, 1, MPI_INTEGER, before, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Irecv(b, 20, MPI_INTEGER, before, 7, MPI_COMM_WORLD, rq(1))
  call MPI_Isend(a, 20, MPI_INTEGER, next, 7, MPI_COMM_WORLD, rq(2))
  call MPI_Waitall(2, rq, MPI_STATUSES_IGNORE)
  r = [1.5, 2.5] + rank
  call MPI_Allreduce(r, s, 2, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
  call expect(abs(s(1) - (1.5 * n + n * (n - 1) / 2)) < 0.001, 'a sum of REALs')
  d = 1 + rank
  call MPI_Allreduce(MPI_IN_PLACE, d, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  call expect(d == n + n * (n - 1) / 2, 'a sum of DOUBLE PRECISION, in place')
  c = cmplx(1, rank)
  call MPI_Allreduce(c, z, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD)
  call expect(z == cmplx(n, n * (n - 1) / 2), 'a sum of COMPLEX')
  l = rank == 0
  call MPI_Allreduce(l, ok, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD)
  call expect(ok, 'MPI_LOR')
  call MPI_Op_create(greatest, .true., op)
  call MPI_Allreduce(a, b, 20, MPI_INTEGER, op, MPI_COMM_WORLD)
  call expect(all(b == [(huge(i) - i, i = 1, 20)]), 'an operation of the program')
  call MPI_Op_free(op)

  ! datatypes: what a constructor was given is had again, large numbers too
  call MPI_Type_contiguous(3, MPI_INTEGER, types(1))
  call MPI_Type_vector(2, 1, 3, MPI_REAL, types(2))
  lengths = [2, 1]
  displacements = [0_MPI_ADDRESS_KIND, 100_MPI_ADDRESS_KIND]
  call MPI_Type_create_struct(2, lengths, displacements, types, t)
  call MPI_Type_get_envelope(t, i, got, ierr, key)
  call expect(i == 3 .and. got == 2 .and. ierr == 2 .and. key == MPI_COMBINER_STRUCT, 'MPI_Type_get_envelope')
  call MPI_Type_get_contents(t, 3, 2, 2, a, displacements, inner)
  call expect(all(a(1:3) == [2, 2, 1]) .and. displacements(2) == 100, 'MPI_Type_get_contents')
  call MPI_Type_size(inner(1), got)
  call expect(got == 3 * storage_size(i) / 8, 'a datatype in another')
  call MPI_Type_free(inner(1))
  call MPI_Type_free(inner(2))
  call MPI_Type_free(t)
  call MPI_Type_free(types(1))
  call MPI_Type_free(types(2))
  if (kind(i) == 8) then
    call MPI_Type_contiguous(3 * shiftl(1, min(30, storage_size(i) - 20)), MPI_CHARACTER, t)
    call MPI_Type_size(t, got)
    call expect(got == 3 * shiftl(1, min(30, storage_size(i) - 20)), 'a large datatype')
    call MPI_Type_free(t)
  end if

  call MPI_Cart_create(MPI_COMM_WORLD, 1, [n], [.true.], .false., comm)
  call MPI_Cart_get(comm, 1, lengths, ls, a)
  call expect(lengths(1) == n .and. ls(1) .and. a(1) == rank, 'MPI_Cart_get')
  call MPI_Cart_rank(comm, [rank + n], got)
  call expect(got == rank, 'MPI_Cart_rank')
  call MPI_Comm_free(comm)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [before], MPI_UNWEIGHTED, 1, [next], MPI_UNWEIGHTED, MPI_INFO_NULL, &
                                      .false., comm, ierr)
  call MPI_Comm_free(comm)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [before], [2], 1, [next], [3], MPI_INFO_NULL, .false., comm)
  call MPI_Dist_graph_neighbors(comm, 1, a(1:1), lengths(1:1), 1, b(1:1), lengths(2:2))
  call expect(a(1) == before .and. b(1) == next .and. all(lengths == [2, 3]), 'MPI_Dist_graph_neighbors')
  a(1) = rank
  call MPI_Neighbor_alltoallw(a, [1], [0_MPI_ADDRESS_KIND], [MPI_INTEGER], b, [1], [0_MPI_ADDRESS_KIND], [MPI_INTEGER], comm)
  call expect(b(1) == before, 'MPI_Neighbor_alltoallw')
  call MPI_Comm_free(comm)

  call MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, key, 9_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(MPI_COMM_SELF, key, 5000000000_MPI_ADDRESS_KIND)
  call MPI_Comm_dup(MPI_COMM_SELF, comm)
  call MPI_Comm_get_attr(comm, key, value, flag)
  call expect(flag .and. value == 5000000001_MPI_ADDRESS_KIND, 'an attribute')
  call MPI_Comm_free(comm)
  call MPI_Comm_delete_attr(MPI_COMM_SELF, key)
  call MPI_Comm_free_keyval(key)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
  call expect(flag .and. value >= 32767, 'MPI_TAG_UB')
  call MPI_Comm_create_errhandler(on_error, handler)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, handler)
  call MPI_Send(a, 1, MPI_INTEGER, 5, 0, MPI_COMM_SELF, ierr)
  call expect(calls == 1 .and. ierr /= MPI_SUCCESS, 'an error')
  if (kind(i) == 8) then ! no rank, whatever is left of it in 4 bytes
    call MPI_Send(a, 1, MPI_INTEGER, shiftl(1, storage_size(i) - 20), 0, MPI_COMM_SELF, ierr)
    call expect(calls == 2 .and. ierr == MPI_ERR_VALUE_TOO_LARGE, 'a rank that is no int')
    comm = MPI_COMM_SELF
    call MPI_Comm_split(MPI_COMM_SELF, shiftl(1, storage_size(i) - 20), 0, comm, ierr)
    call expect(calls == 3 .and. ierr == MPI_ERR_VALUE_TOO_LARGE, 'a color that is no int')
    call MPI_Cart_create(MPI_COMM_SELF, 1, [shiftl(1, storage_size(i) - 20) + 1], [.false.], .false., comm, ierr)
    call expect(calls == 4 .and. ierr == MPI_ERR_VALUE_TOO_LARGE, 'dims of which one is no int')
  end if
  call MPI_Error_string(ierr, string, got)
  call expect(got > 0 .and. index(string, 'MPI') > 0, 'MPI_Error_string')
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
  call MPI_Errhandler_free(handler)
  call MPI_Grequest_start(query, done, cancel, 12_MPI_ADDRESS_KIND, rq(1))
  call MPI_Grequest_complete(rq(1))
  call MPI_Wait(rq(1), st)
  call MPI_Get_elements(st, MPI_INTEGER, got)
  call expect(got == 3 .and. st%MPI_SOURCE == 77 .and. st%MPI_TAG == 12, 'a generalized request')
  call MPI_Finalize()
  if (bad /= 0) stop 1
  if (rank == 0) print '(a,4i3)', 'bytes', storage_size(i) / 8, storage_size(l) / 8, storage_size(r(1)) / 8, storage_size(d) / 8
end program
