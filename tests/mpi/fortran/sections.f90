! SPDX-License-Identifier: BSD-3-Clause
! ranks: 2 3
! Sections of arrays as buffers of mpi_f08: blocking and nonblocking, several ranks and kinds, whole and in part.
program sections
  use mpi_f08
  implicit none
  integer :: rank, n, bad, i, to, from, class
  integer :: a(6, 8), b(6, 8), want(6, 8), flat(48)
  real(kind=8) :: cube(4, 3, 5), back(4, 3, 5)
  complex :: z(9), w(9)
  character(len=3) :: words(8), others(8)
  integer :: many(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2), few(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2)
  type(MPI_Request) :: requests(2), request
  type(MPI_Win) :: win
  integer, asynchronous :: spot(10)
  integer :: plane(80, 80)
  integer :: base(1000) = [(i, i = 1, 1000)], long(1000)
  type(MPI_Status) :: status
  type(MPI_Datatype) :: pair, gaps, late
  type(MPI_File) :: file
  integer :: k
  integer(kind=MPI_OFFSET_KIND) :: zero = 0
  bad = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  to = modulo(rank + 1, n)
  from = modulo(rank - 1, n)
  a = reshape([(1000 * rank + i, i = 1, 48)], [6, 8])
  want = reshape([(1000 * from + i, i = 1, 48)], [6, 8])

  ! both sides apart
  b = -1
  call MPI_Sendrecv(a(2:6:2, 1:8:3), 9, MPI_INTEGER, to, 1, b(1:5:2, 2:8:3), 9, MPI_INTEGER, from, 1, MPI_COMM_WORLD, status)
  call expect(all(b(1:5:2, 2:8:3) == want(2:6:2, 1:8:3)), 'Sendrecv')
  call expect(count(b == -1) == 39, 'what lies between is left alone')
  b = -1
  call MPI_Irecv(b(1:5:2, 2:8:3), 9, MPI_INTEGER, from, 2, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(a(2:6:2, 1:8:3), 9, MPI_INTEGER, to, 2, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call expect(all(b(1:5:2, 2:8:3) == want(2:6:2, 1:8:3)), 'Isend, Irecv')
  call expect(count(b == -1) == 39, 'what lies between')
  ! in part: 7 of 9 elements; the other side contiguous
  flat = -1
  call MPI_Irecv(flat, 48, MPI_INTEGER, from, 3, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(a(6:2:-2, 1:8:3), 7, MPI_INTEGER, to, 3, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call expect(all(flat(1:7) == [want(6:2:-2, 1), want(6:2:-2, 4), want(6, 7)]) .and. flat(8) == -1, 'in part, backwards')
  b = -1
  call MPI_Irecv(b(:, 8:1:-2), 10_MPI_COUNT_KIND, MPI_INTEGER, from, 4, MPI_COMM_WORLD, requests(1))
  call MPI_Send(a, 10_MPI_COUNT_KIND, MPI_INTEGER, to, 4, MPI_COMM_WORLD)
  call MPI_Wait(requests(1), status)
  call expect(all(b(:, 8) == want(:, 1)) .and. all(b(1:4, 6) == want(1:4, 2)) .and. count(b == -1) == 38, 'a large count')
  ! a datatype of two elements
  call MPI_Type_contiguous(2, MPI_INTEGER, pair)
  call MPI_Type_commit(pair)
  b = -1
  call MPI_Irecv(b(1, :), 4, pair, from, 5, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(a(3, :), 4, pair, to, 5, MPI_COMM_WORLD, requests(2))
  call MPI_Type_free(pair)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call expect(all(b(1, :) == want(3, :)) .and. count(b == -1) == 40, 'pairs of elements')
  ! reals in three dimensions, and a persistent request
  cube = reshape([(dble(100 * rank + i), i = 1, 60)], [4, 3, 5])
  back = 0
  call MPI_Send_init(cube(::3, 2:3, ::2), 12, MPI_DOUBLE_PRECISION, to, 6, MPI_COMM_WORLD, requests(1))
  call MPI_Recv_init(back(1:2, 1:3:2, 1:3), 12, MPI_DOUBLE_PRECISION, from, 6, MPI_COMM_WORLD, requests(2))
  do i = 1, 2
     cube = cube + 1
     call MPI_Startall(2, requests)
     call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
     call expect(all(back(1:2, 1:3:2, 1:3) == cube(::3, 2:3, ::2) + 100 * (from - rank)), 'persistent')
     call expect(count(back /= 0) == 12, 'nothing else')
  end do
  call MPI_Request_free(requests(1))
  call MPI_Request_free(requests(2))
  ! an element of several datatypes: complex as reals, strings
  z = [(cmplx(i, rank), i = 1, 9)]
  w = 0
  call MPI_Irecv(w(1:9:4), 6, MPI_REAL, from, 7, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(z(9:1:-4), 6, MPI_REAL, to, 7, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call expect(w(1) == cmplx(9, from) .and. w(5) == cmplx(5, from) .and. w(9) == cmplx(1, from) .and. w(2) == 0, 'complex')
  words = ['abc', 'def', 'ghi', 'jkl', 'mno', 'pqr', 'stu', 'vwx']
  others = '---'
  call MPI_Irecv(others(2:8:2), 12, MPI_CHARACTER, from, 8, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(words(1:7:2), 12, MPI_CHARACTER, to, 8, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call expect(all(others == ['---', 'abc', '---', 'ghi', '---', 'mno', '---', 'stu']), 'strings')
  ! fifteen dimensions
  many = reshape([(i + rank, i = 1, 2**15)], shape(many))
  few = 0
  call MPI_Irecv(few(2, :, :, 1, :, :, :, :, :, :, :, :, :, :, 2:2), 2**12, MPI_INTEGER, from, 9, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(many(1, :, :, 2, :, :, :, :, :, :, :, :, :, :, 1:1), 2**12, MPI_INTEGER, to, 9, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call expect(all(few(2, :, :, 1, :, :, :, :, :, :, :, :, :, :, 2) == &
       many(1, :, :, 2, :, :, :, :, :, :, :, :, :, :, 1) + from - rank) .and. count(few /= 0) == 2**12, '15 dimensions')
  ! collectives
  b = -1
  if (rank == 0) b(1:6:5, ::2) = a(1:6:5, ::2)
  call MPI_Bcast(b(1:6:5, ::2), 8, MPI_INTEGER, 0, MPI_COMM_WORLD)
  call expect(all(b(1, ::2) == [1, 13, 25, 37]) .and. count(b == -1) == 40, 'Bcast')
  b = 0
  call MPI_Allreduce(a(::2, 1), b(1, 1:6:2), 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call expect(all(b(1, 1:6:2) == [n, 3 * n, 5 * n] + 500 * n * (n - 1)) .and. count(b /= 0) == 3, 'Allreduce')
  b = -1
  if (rank == 0) b(::2, 1) = [5, 6, 7]
  call MPI_Ibcast(b(::2, 1), 3, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(1))
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  call expect(all(b(::2, 1) == [5, 6, 7]) .and. count(b == -1) == 45, 'Ibcast')
  ! datatypes with gaps: 2 of 3 elements twice, and what lies in the gaps
  call MPI_Type_vector(2, 1, 2, MPI_INTEGER, gaps)
  call MPI_Type_create_resized(gaps, 0_MPI_ADDRESS_KIND, 16_MPI_ADDRESS_KIND, pair)
  call MPI_Type_create_hindexed_block(1, 1, [4_MPI_ADDRESS_KIND], pair, late)
  call MPI_Type_commit(pair)
  call MPI_Type_commit(late)
  do k = 1, 2
     b = -1
     call MPI_Irecv(b(::2, 1:8:3), 2, late, from, 21, MPI_COMM_WORLD, requests(1))
     call MPI_Irecv(b(::2, 1:8:3), 2, pair, from, 20, MPI_COMM_WORLD, requests(2))
     if (k == 1) then
        call MPI_Send(a(2::2, 1:8:3), 2, pair, to, 20, MPI_COMM_WORLD)
        call MPI_Send(a(2::2, 1:8:3), 2, late, to, 21, MPI_COMM_WORLD)
     else
        call MPI_Isend(a(2::2, 1:8:3), 2, pair, to, 20, MPI_COMM_WORLD, request)
        call MPI_Request_free(request)
        call MPI_Isend(a(2::2, 1:8:3), 2, late, to, 21, MPI_COMM_WORLD, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
     end if
     call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
     call expect(all(reshape(b(::2, 1:8:3), [8]) == reshape(want(2::2, 1:8:3), [8])) .and. count(b == -1) == 40, 'gaps')
  end do
  call MPI_Type_free(gaps)
  call MPI_Type_free(pair)
  call MPI_Type_free(late)
  ! a part of an element
  w = 0
  call MPI_Irecv(w(1:9:4), 3, MPI_REAL, from, 22, MPI_COMM_WORLD, requests(1))
  call MPI_Send(z(9:1:-4), 3, MPI_REAL, to, 22, MPI_COMM_WORLD)
  call MPI_Wait(requests(1), status)
  call expect(w(1) == cmplx(9, from) .and. w(5) == cmplx(5, 0) .and. w(9) == 0, 'a part of an element')
  ! many shapes, each more than once
  do i = 1, 3
     do k = 1, 40
        long = 0
        call MPI_Sendrecv(base(1::k), 1000 / k, MPI_INTEGER, to, 23, long(1000:1:-k), 1000 / k, MPI_INTEGER, from, 23, &
             MPI_COMM_WORLD, status)
        call expect(all(long(1000:1001 - k * (1000 / k):-k) == base(1:k * (1000 / k):k)), 'many shapes')
        call MPI_Get_count(status, MPI_INTEGER, n)
        call expect(n == 1000 / k .and. count(long /= 0) == n, 'the count')
     end do
  end do
  do k = 2, 40 ! as many elements, and as far apart, of other extents
     long = 0
     call MPI_Sendrecv(base(1:10 * k:k), 10, MPI_INTEGER, to, 24, long(1:30:3), 10, MPI_INTEGER, from, 24, MPI_COMM_WORLD, status)
     call expect(all(long(1:30:3) == base(1:10 * k:k)), 'ten elements')
     plane = 0
     call MPI_Sendrecv(base, 40, MPI_INTEGER, to, 25, plane(1:2 * k:2, ::2), 40, MPI_INTEGER, from, 25, MPI_COMM_WORLD, status)
     plane(1:2 * k:2, 1:79:2) = plane(1:2 * k:2, 1:79:2) - reshape([(merge(i, 0, i <= 40), i = 1, 40 * k)], [k, 40])
     call expect(all(plane == 0), 'other extents')
  end do
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  ! windows: origin and result; one element
  spot = 1
  flat = [(i, i = 1, 48)]
  b = -1
  call MPI_Win_create(spot, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, win)
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win)
  call MPI_Get_accumulate(flat(1:19:2), 10, MPI_INTEGER, b(1:5:4, 1:5), 10, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, 10, MPI_INTEGER, &
       MPI_SUM, win)
  call MPI_Win_flush(0, win)
  call expect(all(b(1:5:4, 1:5) == 1) .and. count(b == -1) == 38, 'Get_accumulate')
  call MPI_Fetch_and_op(flat(3:7:2), b(1:5:4, 1:5), MPI_INTEGER, 0, 1_MPI_ADDRESS_KIND, MPI_SUM, win)
  call MPI_Win_unlock(0, win)
  call expect(b(1, 1) == 4 .and. spot(2) == 7 .and. spot(10) == 20, 'Fetch_and_op')
  call MPI_Win_free(win)
  ! files: a collective access in two parts
  call MPI_File_open(MPI_COMM_SELF, 'sections.' // achar(iachar('0') + rank), MPI_MODE_RDWR + MPI_MODE_CREATE + &
       MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file)
  call MPI_File_write_at(file, zero, a(::2, ::3), 9, MPI_INTEGER, status)
  b = -1
  call MPI_File_read_at_all_begin(file, zero, b(2::2, 1:7:3), 9, MPI_INTEGER)
  call MPI_File_read_at_all_end(file, b(2::2, 1:7:3), status)
  call expect(all(b(2::2, 1:7:3) == a(::2, ::3)) .and. count(b == -1) == 39, 'a file')
  call MPI_File_close(file)
  ! nothing to send, one element, a scalar
  call MPI_Sendrecv(a(1:0:2, :), 0, MPI_INTEGER, to, 1, b(1:0:2, :), 0, MPI_INTEGER, from, 1, MPI_COMM_WORLD, status)
  call MPI_Sendrecv(a(3:3, 4:4), 1, MPI_INTEGER, to, 1, b(6, 8), 1, MPI_INTEGER, from, 1, MPI_COMM_WORLD, status)
  call expect(b(6, 8) == want(3, 4), 'one element')
  ! what cannot be: more than the section has
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call MPI_Isend(a(::2, 1), 4, MPI_INTEGER, to, 1, MPI_COMM_WORLD, requests(1), i)
  call MPI_Error_class(i, class)
  call expect(class == MPI_ERR_COUNT, 'more elements than there are')
  call MPI_Send(a(::2, 1), 4, MPI_INTEGER, to, 1, MPI_COMM_WORLD, i)
  call MPI_Error_class(i, class)
  call expect(class == MPI_ERR_COUNT, 'more elements than there are')
  call MPI_Buffer_attach(a(::2, 1), 12, i)
  call MPI_Error_class(i, class)
  call expect(class == MPI_ERR_BUFFER, 'a buffer that stays in use')
  call MPI_Finalize()
  if (bad > 0) stop 1
contains
  include 'expect.inc'
end program
