! SPDX-License-Identifier: BSD-3-Clause
! ranks: 1 2 4
! The same with mpi_f08: handles and statuses as types, ierror left out, large counts, keywords, operators.
program ring
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: rank, n, bad, left, right, count, size, i, index
  integer(kind=MPI_COUNT_KIND) :: big
  integer :: got(4), f_status(MPI_STATUS_SIZE)
  type(MPI_Status) :: status, statuses(2), other
  type(MPI_Request) :: requests(2)
  type(MPI_Comm) :: comm
  type(MPI_Datatype) :: type
  type(MPI_Info) :: info
  type(c_ptr) :: memory
  integer, pointer :: words(:)
  logical :: flag
  character(len=5) :: value
  bad = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(comm=MPI_COMM_WORLD, size=n)
  left = modulo(rank - 1, n)
  right = modulo(rank + 1, n)
  got = -1
  call MPI_Isend(rank, 1, MPI_INTEGER, right, 5, MPI_COMM_WORLD, requests(1))
  call MPI_Irecv(got, 4_MPI_COUNT_KIND, MPI_INTEGER, left, MPI_ANY_TAG, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, statuses)
  call expect(statuses(2)%MPI_SOURCE == left .and. statuses(2)%MPI_TAG == 5 .and. got(1) == left, 'received')
  call MPI_Get_count(statuses(2), MPI_INTEGER, count)
  call MPI_Get_count(statuses(2), MPI_INTEGER, big)
  call expect(count == 1 .and. big == 1, 'a count in both kinds')
  call expect(requests(1) == MPI_REQUEST_NULL .and. .not. requests(2) /= MPI_REQUEST_NULL, 'null requests')
  call expect(all(requests == MPI_REQUEST_NULL) .and. .not. any(requests /= MPI_REQUEST_NULL), 'an array of null requests')
  call MPI_Status_f082f(statuses(2), f_status)
  call expect(f_status(MPI_SOURCE) == left .and. f_status(MPI_TAG) == 5, 'Status_f082f')
  call MPI_Status_f2f08(f_status, other)
  call MPI_Get_count(other, MPI_INTEGER, count)
  call expect(other%MPI_TAG == 5 .and. count == 1, 'Status_f2f08')
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, right, 1, got(2), 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
  call expect(got(2) == left .and. status%MPI_SOURCE == left, 'Sendrecv')
  call MPI_Sendrecv_replace(got(2), 1, MPI_INTEGER, left, 1, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call expect(got(2) == rank, 'Sendrecv_replace')
  do i = 1, 2
     call MPI_Isend(got(i), 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD, requests(i))
  end do
  call MPI_Recv(got(4), 1, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Recv(got(3), 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call expect(got(3) == left .and. got(4) == rank, 'both arrived')
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call expect(comm /= MPI_COMM_WORLD, 'a new communicator')
  got(1) = rank
  call MPI_Allreduce(MPI_IN_PLACE, got(1), 1, MPI_INTEGER, MPI_MAX, comm)
  call expect(got(1) == n - 1, 'in place')
  call MPI_Bcast(got(1), 1, MPI_INTEGER, n - 1, comm)
  call MPI_Comm_free(comm)
  call expect(comm == MPI_COMM_NULL, 'freed')
  call MPI_Type_create_f90_real(6, MPI_UNDEFINED, type)
  call MPI_Type_size(type, size)
  call expect(size == 4, 'Type_create_f90_real')
  call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, type)
  call MPI_Type_size(type, big)
  call expect(big == 8, 'Type_match_size')
  call MPI_Info_create(info)
  call MPI_Info_set(info, ' key ', ' a value ')
  call MPI_Info_get_valuelen(info, 'key', count, flag)
  call expect(flag .and. count == 7, 'blanks around an info value')
  size = 5
  call MPI_Info_get_string(info, 'key  ', size, value, flag)
  call expect(flag .and. value == 'a val' .and. size == 7, 'a value that is cut')
  call MPI_Info_get_string(info, 'none', size, value, flag)
  call expect(.not. flag .and. value == 'a val', 'no value')
  call MPI_Info_free(info)
  call MPI_Alloc_mem(40_MPI_ADDRESS_KIND, MPI_INFO_NULL, memory)
  call c_f_pointer(memory, words, [10])
  words = 3
  call expect(sum(words) == 30, 'Alloc_mem')
  call MPI_Free_mem(words)
  call MPI_Sizeof(got, size)
  call expect(size == storage_size(got) / 8, 'Sizeof')
  call MPI_Sizeof(flag, size)
  call expect(size == storage_size(flag) / 8, 'Sizeof of a LOGICAL')
  call MPI_Sizeof((1.0d0, 2.0d0), size)
  call expect(size == 16, 'Sizeof of a constant')
  call MPI_F_sync_reg(got)
  index = MPI_ERR_OTHER
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Recv(got, -1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, status, index)
  call MPI_Error_class(index, size)
  call expect(size == MPI_ERR_COUNT, 'an error')
  call expect(MPI_SUBARRAYS_SUPPORTED .and. MPI_ASYNC_PROTECTS_NONBLOCKING, 'constants')
  call MPI_Finalize()
  if (bad > 0) stop 1
contains
  include 'expect.inc'
end program
