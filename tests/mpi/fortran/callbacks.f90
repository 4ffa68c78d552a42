! SPDX-License-Identifier: BSD-3-Clause
! ranks: 1 3
! cflags: -Wno-unused-dummy-argument
! Functions of the program that MPI calls, with the module mpi, among them the attributes of MPI-1, which are INTEGERs.
module functions
  use mpi
  implicit none
  integer :: copies = 0, deletions = 0, errors = 0, last_comm = 0
contains
  subroutine adds(invec, inoutvec, len, datatype)
    integer :: len, datatype, i
    integer :: invec(len), inoutvec(len)
    do i = 1, len
       if (datatype == MPI_INTEGER) inoutvec(i) = inoutvec(i) + invec(i)
    end do
  end subroutine
  subroutine old_copy(oldcomm, keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierr)
    integer :: oldcomm, keyval, extra_state, attribute_val_in, attribute_val_out, ierr
    logical :: flag
    copies = copies + 1
    attribute_val_out = attribute_val_in - extra_state
    flag = .true.
    ierr = MPI_SUCCESS
  end subroutine
  subroutine old_delete(comm, keyval, attribute_val, extra_state, ierr)
    integer :: comm, keyval, attribute_val, extra_state, ierr
    deletions = deletions + attribute_val
    ierr = MPI_SUCCESS
    if (extra_state /= 10) ierr = MPI_ERR_OTHER
  end subroutine
  subroutine handler(comm, code)
    integer :: comm, code, ierr, class
    call MPI_Error_class(code, class, ierr)
    errors = errors + class
    last_comm = comm
  end subroutine
end module

program callbacks
  use functions
  implicit none
  integer :: rank, n, bad, ierr, op, key, value, comm, errhandler, a(2), b(2)
  integer(kind=MPI_ADDRESS_KIND) :: long
  logical :: flag
  bad = 0
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  call MPI_Op_create(adds, .true., op, ierr)
  a = [rank, 1]
  call MPI_Allreduce(a, b, 2, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
  call expect(b(1) == n * (n - 1) / 2 .and. b(2) == n, 'an operation')
  call MPI_Op_free(op, ierr)

  call MPI_Keyval_create(old_copy, old_delete, key, 10, ierr)
  call MPI_Attr_put(MPI_COMM_SELF, key, -50, ierr)
  call MPI_Attr_get(MPI_COMM_SELF, key, value, flag, ierr)
  call expect(flag .and. value == -50, 'Attr_get')
  call MPI_Comm_get_attr(MPI_COMM_SELF, key, long, flag, ierr)
  call expect(flag .and. long == -50, 'sign-extended in MPI-2''s')
  call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr)
  call MPI_Attr_get(comm, key, value, flag, ierr)
  call expect(flag .and. value == -60 .and. copies == 1, 'copied')
  call MPI_Comm_set_attr(comm, key, 2_MPI_ADDRESS_KIND**32 + 3, ierr)
  call expect(deletions == -60, 'deleted')
  call MPI_Attr_get(comm, key, value, flag, ierr)
  call expect(flag .and. value == merge(3_8, 2_8**32 + 3, kind(value) == 4), 'what an INTEGER has of a long one')
  call MPI_Comm_free(comm, ierr)
  call expect(deletions == merge(-57_8, 2_8**32 - 57, kind(value) == 4), 'deleted with its communicator')
  call MPI_Attr_delete(MPI_COMM_SELF, key, ierr)
  call MPI_Keyval_free(key, ierr)
  call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
  call expect(flag .and. value >= 32767, 'MPI_TAG_UB')

  call MPI_Comm_create_errhandler(handler, errhandler, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler, ierr)
  call MPI_Send(a, -1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, ierr)
  call expect(errors == MPI_ERR_COUNT .and. last_comm == MPI_COMM_WORLD .and. ierr /= MPI_SUCCESS, 'an error handler')
  call MPI_Errhandler_free(errhandler, ierr)
  call MPI_Finalize(ierr)
  if (bad > 0) stop 1
contains
  include 'expect.inc'
end program
