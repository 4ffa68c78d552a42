! SPDX-License-Identifier: BSD-3-Clause
! ranks: 1 2 4
! The same with the module mpi, and what it adds: conversion to mpi_f08's handles, 1-based indices, LOGICAL arrays, datatypes.
program ring
  use mpi
  implicit none
  integer :: rank, n, ierr, bad, left, right, i, index, outcount, cart, type, size, dims(2), coords(2), newrank
  integer :: requests(3), indices(3), statuses(MPI_STATUS_SIZE, 3), got(3), sent(3), keyval
  integer(kind=MPI_ADDRESS_KIND) :: lb, extent, address
  logical :: flag, periods(2), again(2)
  type(MPI_Comm) :: a, b
  character(len=20) :: name
  bad = 0
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  left = modulo(rank - 1, n)
  right = modulo(rank + 1, n)
  got = -1
  requests = MPI_REQUEST_NULL
  call MPI_Irecv(got(2), 1, MPI_INTEGER, left, 5, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Send(rank, 1, MPI_INTEGER, right, 5, MPI_COMM_WORLD, ierr)
  call MPI_Waitany(3, requests, index, MPI_STATUS_IGNORE, ierr)
  call expect(index == 2, 'Waitany counts from 1')
  call expect(got(2) == left, 'received')
  call MPI_Waitany(3, requests, index, MPI_STATUS_IGNORE, ierr)
  call expect(index == MPI_UNDEFINED, 'Waitany of null requests')
  call MPI_Irecv(got(3), 1, MPI_INTEGER, left, 6, MPI_COMM_WORLD, requests(3), ierr)
  call MPI_Send(rank, 1, MPI_INTEGER, right, 6, MPI_COMM_WORLD, ierr)
  call MPI_Waitsome(3, requests, outcount, indices, statuses, ierr)
  call expect(outcount == 1 .and. indices(1) == 3, 'Waitsome counts from 1')
  call expect(statuses(MPI_SOURCE, 1) == left .and. statuses(MPI_TAG, 1) == 6, 'its status')
  do i = 1, 3
     sent(i) = 10 * rank + i
     call MPI_Isend(sent(i), 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD, requests(i), ierr)
  end do
  do i = 1, 3
     call MPI_Recv(got(i), 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD, statuses(:, i), ierr)
     call expect(statuses(MPI_TAG, i) == i, 'status of one column')
  end do
  call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, ierr)
  call expect(all(got == sent), 'to itself')
  call expect(all(requests == MPI_REQUEST_NULL), 'requests are null')

  dims = [n, 1]
  periods = [.true., .false.]
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., cart, ierr)
  call MPI_Cart_get(cart, 2, dims, again, coords, ierr)
  call expect(all(again .eqv. periods) .and. dims(1) == n .and. coords(1) == rank, 'Cart_get')
  call MPI_Cart_sub(cart, [.true., .false.], newrank, ierr)
  call MPI_Comm_free(newrank, ierr)
  call expect(newrank == MPI_COMM_NULL, 'freed')
  call MPI_Comm_set_name(cart, '  a name  ', ierr)
  name = repeat('x', 20)
  call MPI_Comm_get_name(cart, name, size, ierr)
  call expect(name == '  a name' .and. size == 8, 'names lose trailing blanks')
  call MPI_Comm_get_name(cart, name(1:3), size, ierr)
  call expect(name(1:3) == '  a', 'a string that is cut')
  call MPI_Comm_free(cart, ierr)

  call MPI_Type_vector(3, 1, 2, MPI_REAL, type, ierr)
  call MPI_Type_commit(type, ierr)
  call MPI_Type_size(type, size, ierr)
  call MPI_Type_get_extent(type, lb, extent, ierr)
  call expect(size == 3 * storage_size(1.0) / 8 .and. lb == 0 .and. extent == 5 * storage_size(1.0) / 8, 'a vector')
  call MPI_Type_free(type, ierr)
  call MPI_Get_address(got(2), address, ierr)
  call MPI_Get_address(got(1), lb, ierr)
  call expect(MPI_Aint_diff(address, lb) == storage_size(got) / 8, 'addresses')
  call expect(MPI_Aint_add(lb, storage_size(got) / 8_MPI_ADDRESS_KIND) == address, 'addresses')

  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND, ierr)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, 2_MPI_ADDRESS_KIND**40, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, cart, ierr)
  call MPI_Comm_get_attr(cart, keyval, address, flag, ierr)
  call expect(flag .and. address == 2_MPI_ADDRESS_KIND**40, 'an attribute that was copied')
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, address, flag, ierr)
  call expect(flag .and. address >= 32767, 'MPI_TAG_UB')
  call MPI_Comm_free(cart, ierr)
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval, ierr)
  call MPI_Comm_free_keyval(keyval, ierr)
  call expect(keyval == MPI_KEYVAL_INVALID, 'key freed')

  a%MPI_VAL = MPI_COMM_WORLD
  b%MPI_VAL = MPI_COMM_SELF
  call expect(a == a .and. a /= b .and. .not. a == b, 'operators of handles')
  call MPI_Sizeof(lb, size, ierr)
  call expect(size == 8, 'Sizeof of a scalar')
  call MPI_Sizeof(got, size, ierr)
  call expect(size == storage_size(got) / 8, 'Sizeof of an array')
  call MPI_Sizeof(periods, size, ierr)
  call expect(size == storage_size(periods) / 8, 'Sizeof of LOGICALs')
  call MPI_Sizeof(name(1:1), size, ierr)
  call expect(size == 1, 'Sizeof of a CHARACTER')

  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call MPI_Send(got, 1, MPI_INTEGER, n, 0, MPI_COMM_WORLD, ierr)
  call MPI_Error_class(ierr, size, i)
  call expect(size == MPI_ERR_RANK, 'an error')
  call MPI_Finalize(ierr)
  if (bad > 0) stop 1
contains
  include 'expect.inc'
end program
