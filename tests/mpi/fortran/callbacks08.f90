! SPDX-License-Identifier: BSD-3-Clause
! ranks: 1 2 3
! Functions of the program that MPI calls, in mpi_f08: operations, attributes, error handlers, generalized requests.
module functions
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: copies = 0, deletions = 0, errors = 0, last_error = 0, queries = 0, frees = 0, cancels = 0
  type(MPI_Comm) :: last_comm
  logical :: was_complete
contains
  subroutine first(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    if (datatype /= MPI_INTEGER) errors = errors + 100
    b = a
  end subroutine
  subroutine greatest(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(kind=MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    if (datatype /= MPI_INTEGER) errors = errors + 100
    b = max(a, b)
  end subroutine
  subroutine copy(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    if (oldcomm /= MPI_COMM_SELF) errors = errors + 1000
    if (comm_keyval == MPI_KEYVAL_INVALID) errors = errors + 1000
    copies = copies + 1
    attribute_val_out = attribute_val_in + extra_state
    flag = attribute_val_in /= -7
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    deletions = deletions + int(attribute_val / extra_state)
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, attribute_val /= 999)
    if (comm == MPI_COMM_NULL .or. comm_keyval == MPI_KEYVAL_INVALID) ierror = MPI_ERR_INTERN
  end subroutine
  subroutine type_copy(olddatatype, type_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Datatype) :: olddatatype
    integer :: type_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = attribute_val_in * 2
    flag = olddatatype == MPI_INTEGER .and. extra_state == -1 .and. type_keyval /= MPI_KEYVAL_INVALID
    ierror = MPI_SUCCESS
  end subroutine
  subroutine handler(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code, ierror
    errors = errors + 1
    last_comm = comm
    call MPI_Error_class(error_code, last_error, ierror)
  end subroutine
  subroutine query(extra_state, status, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    queries = queries + 1
    status%MPI_SOURCE = int(extra_state)
    status%MPI_TAG = 9
    call MPI_Status_set_elements(status, MPI_INTEGER, 3)
    call MPI_Status_set_cancelled(status, .true.)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine finish(extra_state, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    frees = frees + int(extra_state)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine query_changing(extra_state, status, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    extra_state = extra_state + 10
    call MPI_Status_set_elements(status, MPI_INTEGER, 0)
    call MPI_Status_set_cancelled(status, .false.)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine finish_changing(extra_state, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    extra_state = extra_state + 100
    ierror = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra_state, complete, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    cancels = cancels + int(extra_state)
    was_complete = complete
    ierror = MPI_SUCCESS
  end subroutine
end module

program callbacks
  use mpi_f08
  use functions
  implicit none
  integer :: rank, n, bad, i, key, typekey, nullkey, code, a(3), b(3), list(64)
  integer(kind=MPI_ADDRESS_KIND) :: value
  integer(kind=MPI_ADDRESS_KIND), volatile :: state ! callbacks change it
  type(MPI_Op) :: op
  type(MPI_Comm) :: comm
  type(MPI_Datatype) :: type
  type(MPI_Errhandler) :: errhandler
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  logical :: flag
  bad = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)

  call MPI_Op_create(first, .false., op)
  call MPI_Op_commutative(op, flag)
  call expect(.not. flag, 'not commutative')
  a = [1, 2, 3] + rank
  call MPI_Allreduce(a, b, 3, MPI_INTEGER, op, MPI_COMM_WORLD)
  call expect(all(b == [1, 2, 3]), 'an operation')
  b = [10, 20, 30]
  call MPI_Reduce_local(a, b, 3, MPI_INTEGER, op)
  call expect(all(b == a), 'Reduce_local')
  call MPI_Op_free(op)
  call expect(op == MPI_OP_NULL, 'freed')
  call MPI_Op_create_c(greatest, .true., op)
  list = [(rank * i, i = 1, 64)]
  call MPI_Allreduce(MPI_IN_PLACE, list, 64, MPI_INTEGER, op, MPI_COMM_WORLD)
  call expect(all(list == [((n - 1) * i, i = 1, 64)]), 'an operation of large counts')
  call MPI_Op_free(op)

  call MPI_Comm_create_keyval(copy, delete, key, 100_MPI_ADDRESS_KIND)
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, nullkey, 0_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(MPI_COMM_SELF, key, 200_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(MPI_COMM_SELF, nullkey, 1_MPI_ADDRESS_KIND)
  call MPI_Comm_dup(MPI_COMM_SELF, comm)
  call MPI_Comm_get_attr(comm, key, value, flag)
  call expect(flag .and. value == 300 .and. copies == 1, 'a copy')
  call MPI_Comm_get_attr(comm, nullkey, value, flag)
  call expect(.not. flag, 'not copied')
  call MPI_Comm_free(comm)
  call expect(deletions == 3, 'deleted with its communicator')
  call MPI_Comm_set_attr(MPI_COMM_SELF, key, -7_MPI_ADDRESS_KIND)
  call expect(deletions == 5, 'deleted by a new value')
  call MPI_Comm_dup(MPI_COMM_SELF, comm)
  call MPI_Comm_get_attr(comm, key, value, flag)
  call expect(.not. flag .and. copies == 2, 'a copy function that says no')
  call MPI_Comm_free(comm)
  call MPI_Comm_delete_attr(MPI_COMM_SELF, key)
  call MPI_Comm_delete_attr(MPI_COMM_SELF, nullkey)
  call MPI_Comm_free_keyval(key)
  call MPI_Comm_free_keyval(nullkey)

  call MPI_Type_create_keyval(type_copy, MPI_TYPE_NULL_DELETE_FN, typekey, -1_MPI_ADDRESS_KIND)
  call MPI_Type_set_attr(MPI_INTEGER, typekey, 2_MPI_ADDRESS_KIND**33)
  call MPI_Type_dup(MPI_INTEGER, type)
  call MPI_Type_get_attr(type, typekey, value, flag)
  call expect(flag .and. value == 2_MPI_ADDRESS_KIND**34, 'a datatype''s attribute')
  call MPI_Type_free(type)
  call MPI_Type_delete_attr(MPI_INTEGER, typekey)
  call MPI_Type_free_keyval(typekey)

  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_create_errhandler(handler, errhandler)
  call MPI_Comm_set_errhandler(comm, errhandler)
  call MPI_Errhandler_free(errhandler)
  call MPI_Send(a, 1, MPI_INTEGER, n + 3, 0, comm, code)
  call expect(errors == 1 .and. last_error == MPI_ERR_RANK .and. last_comm == comm, 'an error handler')
  call MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER)
  call expect(errors == 2 .and. last_error == MPI_ERR_OTHER, 'called by the program')
  call MPI_Comm_free(comm)

  call MPI_Grequest_start(query, finish, cancel, 5_MPI_ADDRESS_KIND, request)
  call MPI_Test(request, flag, status)
  call expect(.not. flag, 'not complete yet')
  call MPI_Cancel(request)
  call expect(cancels == 5 .and. .not. was_complete, 'cancelled')
  call MPI_Grequest_complete(request)
  call MPI_Wait(request, status)
  call MPI_Get_count(status, MPI_INTEGER, i)
  call MPI_Test_cancelled(status, flag)
  call expect(status%MPI_SOURCE == 5 .and. status%MPI_TAG == 9 .and. i == 3 .and. flag, 'its status')
  call expect(queries == 1 .and. frees == 5, 'asked and freed once')

  ! A callback's change of the extra state is a change of the program's variable.
  state = 1
  call MPI_Grequest_start(query_changing, finish_changing, cancel, state, request)
  call MPI_Grequest_complete(request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call expect(state == 111, 'the extra state is the program''s variable')
  call MPI_Finalize()
  if (bad > 0) stop 1
contains
  include 'expect.inc'
end program
