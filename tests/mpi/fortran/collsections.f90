! SPDX-License-Identifier: BSD-3-Clause
! ranks: 1 2 3 8
! Sections as buffers that several blocks are in, and of reductions: collectives that are nonblocking or persistent, completed in every
! way, beside the blocking call with contiguous buffers.
program collsections
  use mpi_f08
  implicit none
  integer, parameter :: blocking = 0, nonblocking = 1, persistent = 2, families = 21
  integer :: rank, n, bad, i, way, family, round, turn
  integer, allocatable, asynchronous :: s(:, :), r(:, :), ones(:), twos(:), eights(:)
  integer, allocatable :: flat(:), want(:), result(:)
  integer, asynchronous :: few(4), pair(2), swap(2)
  integer(kind=MPI_ADDRESS_KIND), asynchronous :: places(2), others(2)
  type(MPI_Datatype), allocatable, asynchronous :: types(:)
  type(MPI_Request) :: request
  type(MPI_Comm) :: ring
  character(len=60) :: what
  integer, asynchronous :: many(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2), sums(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2)
  real(kind=8), asynchronous :: deep(3, 2, 4, 5, 2, 3, 2), total(3, 2, 4, 5, 2, 3, 2)
  character(len=3), asynchronous :: words(6), gathered(0:40)
  bad = 0
  turn = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [n], [.true.], .false., ring)
  allocate(s(2 * n, 3), r(3 * n, 2), flat(2 * n), want(2 * n), result(2 * n), ones(n), twos(n), eights(n), types(max(n, 2)))
  ones = 1
  twos = [(2 * i, i = n - 1, 0, -1)]
  eights = 4 * twos
  types = MPI_INTEGER
  pair = 1
  swap = [1, 0]
  places = [4_MPI_ADDRESS_KIND, 0_MPI_ADDRESS_KIND]
  others = [0_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND]
  do family = 1, families
     call begin(0)
     way = blocking
     call operate()
     call begin(0)
     way = nonblocking
     call operate()
     call finish()
     call compare()
     way = persistent
     call begin(7) ! what it sends is read when it starts
     call operate()
     do round = 1, 3
        call begin(10 * round)
        way = blocking
        call operate()
        call begin(10 * round)
        call MPI_Start(request)
        call finish()
        call compare()
     end do
     call expect(request /= MPI_REQUEST_NULL, 'persistent')
     call MPI_Request_free(request)
  end do

  what = 'fifteen dimensions'
  many = reshape([(i + rank, i = 1, 2**15)], shape(many))
  sums = -5
  call MPI_Iallreduce(many(1, :, :, 2, :, :, :, :, :, :, :, :, :, :, :), sums(:, 2, :, :, :, :, 1, :, :, :, :, :, :, :, :), 2**13, &
       MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
  call finish()
  call expect(sum(abs(sums(:, 2, :, :, :, :, 1, :, :, :, :, :, :, :, :) - n * (many(1, :, :, 2, :, :, :, :, :, :, :, :, :, :, :) &
       - rank) - n * (n - 1) / 2)) == 0 .and. count(sums == -5) == 2**15 - 2**13, 'values')
  what = 'seven dimensions'
  deep = reshape([(dble(i + rank), i = 1, size(deep))], shape(deep))
  total = 0
  call MPI_Iscan(deep(::2, 2:1:-1, ::3, 2:5:2, :, ::2, 1:1), total(::2, :, 4:1:-3, 1:3:2, :, 1:2, 2:2), 64, MPI_DOUBLE_PRECISION, &
       MPI_MAX, MPI_COMM_WORLD, request)
  call finish()
  call expect(maxval(abs(total(::2, :, 4:1:-3, 1:3:2, :, 1:2, 2:2) - deep(::2, 2:1:-1, ::3, 2:5:2, :, ::2, 1:1))) == 0 &
       .and. count(total /= 0) == 64, 'values')
  what = 'strings'
  words = ['abc', 'def', 'ghi', 'jkl', 'mno', 'pqr']
  gathered = '---'
  call MPI_Iallgather(words(5:1:-4), 6, MPI_CHARACTER, gathered(1:4 * n:2), 6, MPI_CHARACTER, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  do i = 0, n - 1
     call expect(gathered(4 * i + 1) == 'mno' .and. gathered(4 * i + 3) == 'abc' .and. gathered(4 * i) == '---', 'values')
  end do
  what = 'what lies between the blocks is the program''s meanwhile'
  s = 7
  r = -2
  call MPI_Iallgatherv(s(1::2, 1:2), 1, MPI_INTEGER, r(::3, :), ones, twos, MPI_INTEGER, MPI_COMM_WORLD, request)
  do i = 1, 2 * n - 1, 2 ! places 1, 3, 5 ...
     r(1 + 3 * mod(i, n), 1 + i / n) = i
  end do
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  do i = 0, 2 * n - 1
     call expect(r(1 + 3 * mod(i, n), 1 + i / n) == merge(i, 7, mod(i, 2) == 1), 'values')
  end do
  call MPI_Comm_free(ring)
  call MPI_Finalize()
  deallocate(s, r, flat, want, result, ones, twos, eights, types)
  if (bad > 0) stop 1
contains
  subroutine begin(more)
    integer, intent(in) :: more
    s = -1
    r = -2
    few = -1
    flat = [(1000 * rank + i + more, i = 1, 2 * n)]
    want = [(100 * rank + i, i = 1, 2 * n)]
    s(2::2, 3:1:-2) = reshape(flat, [n, 2])
    few(::3) = flat(1:2)
    r(2::3, :) = reshape(want, [n, 2])
  end subroutine

  subroutine compare()
    call expect(all_equal(), 'what comes')
    call expect(count(r == -2) == 4 * n, 'what lies between')
  end subroutine

  logical function all_equal()
    all_equal = .not. any(reshape(r(2::3, :), [2 * n]) /= result)
  end function

  subroutine finish()
    integer :: indices(1), which, done
    logical :: flag
    type(MPI_Request) :: requests(1)
    flag = .false.
    requests(1) = request
    turn = turn + 1
    select case (mod(turn, 7))
    case (0)
       call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    case (1)
       do while (.not. flag)
          call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE)
       end do
    case (2)
       call MPI_Waitall(1, requests, MPI_STATUSES_IGNORE)
    case (3)
       do while (.not. flag)
          call MPI_Testall(1, requests, flag, MPI_STATUSES_IGNORE)
       end do
    case (4)
       call MPI_Waitany(1, requests, which, MPI_STATUS_IGNORE)
    case (5)
       done = 0
       do while (done == 0)
          call MPI_Testsome(1, requests, done, indices, MPI_STATUSES_IGNORE)
       end do
    case (6)
       do while (.not. flag)
          call MPI_Request_get_status(requests(1), flag, MPI_STATUS_IGNORE)
       end do
       call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    end select
    request = requests(1)
  end subroutine

  subroutine operate()
    select case (family)
    case (1)
      what = 'Allgather'
      select case (way)
      case (blocking)
        call MPI_Allgather(flat, 2, MPI_INTEGER, want, 2, MPI_INTEGER, MPI_COMM_WORLD)
      case (nonblocking)
        call MPI_Iallgather(few(::3), 2, MPI_INTEGER, r(2::3, :), 2, MPI_INTEGER, MPI_COMM_WORLD, request)
      case (persistent)
        call MPI_Allgather_init(few(::3), 2, MPI_INTEGER, r(2::3, :), 2, MPI_INTEGER, MPI_COMM_WORLD, &
         MPI_INFO_NULL, request)
      end select
    case (2)
      what = 'Allgatherv'
      select case (way)
      case (blocking)
        call MPI_Allgatherv(flat, 1, MPI_INTEGER, want, ones, twos, MPI_INTEGER, MPI_COMM_WORLD)
      case (nonblocking)
        call MPI_Iallgatherv(few(::3), 1, MPI_INTEGER, r(2::3, :), ones, twos, MPI_INTEGER, MPI_COMM_WORLD, request)
      case (persistent)
        call MPI_Allgatherv_init(few(::3), 1, MPI_INTEGER, r(2::3, :), ones, twos, MPI_INTEGER, MPI_COMM_WORLD, &
         MPI_INFO_NULL, request)
      end select
    case (3)
      what = 'Gather'
      select case (way)
      case (blocking)
        call MPI_Gather(flat, 2, MPI_INTEGER, want, 2, MPI_INTEGER, n - 1, MPI_COMM_WORLD)
      case (nonblocking)
        call MPI_Igather(few(::3), 2, MPI_INTEGER, r(2::3, :), 2, MPI_INTEGER, n - 1, MPI_COMM_WORLD, request)
      case (persistent)
        call MPI_Gather_init(few(::3), 2, MPI_INTEGER, r(2::3, :), 2, MPI_INTEGER, n - 1, MPI_COMM_WORLD, &
         MPI_INFO_NULL, request)
      end select
    case (4)
      what = 'Gatherv'
      select case (way)
      case (blocking)
        call MPI_Gatherv(flat, 1, MPI_INTEGER, want, ones, twos, MPI_INTEGER, 0, MPI_COMM_WORLD)
      case (nonblocking)
        call MPI_Igatherv(few(::3), 1, MPI_INTEGER, r(2::3, :), ones, twos, MPI_INTEGER, 0, MPI_COMM_WORLD, request)
      case (persistent)
        call MPI_Gatherv_init(few(::3), 1, MPI_INTEGER, r(2::3, :), ones, twos, MPI_INTEGER, 0, MPI_COMM_WORLD, &
         MPI_INFO_NULL, request)
      end select
    case (5)
      what = 'Scatter'
      select case (way)
      case (blocking)
        call MPI_Scatter(flat, 2, MPI_INTEGER, want, 2, MPI_INTEGER, n - 1, MPI_COMM_WORLD)
      case (nonblocking)
        call MPI_Iscatter(s(2::2, 3:1:-2), 2, MPI_INTEGER, r(2::3, :), 2, MPI_INTEGER, n - 1, MPI_COMM_WORLD, request)
      case (persistent)
        call MPI_Scatter_init(s(2::2, 3:1:-2), 2, MPI_INTEGER, r(2::3, :), 2, MPI_INTEGER, n - 1, &
         MPI_COMM_WORLD, MPI_INFO_NULL, request)
      end select
    case (6)
      what = 'Scatterv'
      select case (way)
      case (blocking)
        call MPI_Scatterv(flat, ones, twos, MPI_INTEGER, want, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
      case (nonblocking)
        call MPI_Iscatterv(s(2::2, 3:1:-2), ones, twos, MPI_INTEGER, r(2::3, :), 1, MPI_INTEGER, 0, &
         MPI_COMM_WORLD, request)
      case (persistent)
        call MPI_Scatterv_init(s(2::2, 3:1:-2), ones, twos, MPI_INTEGER, r(2::3, :), 1, MPI_INTEGER, 0, &
         MPI_COMM_WORLD, MPI_INFO_NULL, request)
      end select
    case (7)
      what = 'Alltoall'
      select case (way)
      case (blocking)
        call MPI_Alltoall(flat, 2, MPI_INTEGER, want, 2, MPI_INTEGER, MPI_COMM_WORLD)
      case (nonblocking)
        call MPI_Ialltoall(s(2::2, 3:1:-2), 2, MPI_INTEGER, r(2::3, :), 2, MPI_INTEGER, MPI_COMM_WORLD, request)
      case (persistent)
        call MPI_Alltoall_init(s(2::2, 3:1:-2), 2, MPI_INTEGER, r(2::3, :), 2, MPI_INTEGER, MPI_COMM_WORLD, &
         MPI_INFO_NULL, request)
      end select
    case (8)
      what = 'Alltoallv'
      select case (way)
      case (blocking)
        call MPI_Alltoallv(flat, ones, twos, MPI_INTEGER, want, ones, twos, MPI_INTEGER, MPI_COMM_WORLD)
      case (nonblocking)
        call MPI_Ialltoallv(s(2::2, 3:1:-2), ones, twos, MPI_INTEGER, r(2::3, :), ones, twos, MPI_INTEGER, &
         MPI_COMM_WORLD, request)
      case (persistent)
        call MPI_Alltoallv_init(s(2::2, 3:1:-2), ones, twos, MPI_INTEGER, r(2::3, :), ones, twos, MPI_INTEGER, &
         MPI_COMM_WORLD, MPI_INFO_NULL, request)
      end select
    case (9)
      what = 'Alltoallw'
      select case (way)
      case (blocking)
        call MPI_Alltoallw(flat, ones, eights, types, want, ones, eights, types, MPI_COMM_WORLD)
      case (nonblocking)
        call MPI_Ialltoallw(s(2::2, 3:1:-2), ones, eights, types, r(2::3, :), ones, eights, types, &
         MPI_COMM_WORLD, request)
      case (persistent)
        call MPI_Alltoallw_init(s(2::2, 3:1:-2), ones, eights, types, r(2::3, :), ones, eights, types, &
         MPI_COMM_WORLD, MPI_INFO_NULL, request)
      end select
    case (10)
      what = 'Reduce'
      select case (way)
      case (blocking)
        call MPI_Reduce(flat, want, 2 * n, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
      case (nonblocking)
        call MPI_Ireduce(s(2::2, 3:1:-2), r(2::3, :), 2 * n, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, request)
      case (persistent)
        call MPI_Reduce_init(s(2::2, 3:1:-2), r(2::3, :), 2 * n, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, &
         MPI_INFO_NULL, request)
      end select
    case (11)
      what = 'Allreduce'
      select case (way)
      case (blocking)
        call MPI_Allreduce(flat, want, 2 * n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
      case (nonblocking)
        call MPI_Iallreduce(s(2::2, 3:1:-2), r(2::3, :), 2 * n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, request)
      case (persistent)
        call MPI_Allreduce_init(s(2::2, 3:1:-2), r(2::3, :), 2 * n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, &
         MPI_INFO_NULL, request)
      end select
    case (12)
      what = 'Allreduce in place'
      select case (way)
      case (blocking)
        call MPI_Allreduce(MPI_IN_PLACE, want, 2 * n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
      case (nonblocking)
        call MPI_Iallreduce(MPI_IN_PLACE, r(2::3, :), 2 * n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
      case (persistent)
        call MPI_Allreduce_init(MPI_IN_PLACE, r(2::3, :), 2 * n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
         MPI_INFO_NULL, request)
      end select
    case (13)
      what = 'Scan'
      select case (way)
      case (blocking)
        call MPI_Scan(flat, want, 2 * n - 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
      case (nonblocking)
        call MPI_Iscan(s(2::2, 3:1:-2), r(2::3, :), 2 * n - 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
      case (persistent)
        call MPI_Scan_init(s(2::2, 3:1:-2), r(2::3, :), 2 * n - 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
         MPI_INFO_NULL, request)
      end select
    case (14)
      what = 'Exscan'
      select case (way)
      case (blocking)
        call MPI_Exscan(flat, want, 2 * n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
      case (nonblocking)
        call MPI_Iexscan(s(2::2, 3:1:-2), r(2::3, :), 2 * n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
      case (persistent)
        call MPI_Exscan_init(s(2::2, 3:1:-2), r(2::3, :), 2 * n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
         MPI_INFO_NULL, request)
      end select
    case (15)
      what = 'Reduce_scatter_block'
      select case (way)
      case (blocking)
        call MPI_Reduce_scatter_block(flat, want, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
      case (nonblocking)
        call MPI_Ireduce_scatter_block(s(2::2, 3:1:-2), r(2::3, :), 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
      case (persistent)
        call MPI_Reduce_scatter_block_init(s(2::2, 3:1:-2), r(2::3, :), 2, MPI_INTEGER, MPI_SUM, &
         MPI_COMM_WORLD, MPI_INFO_NULL, request)
      end select
    case (16)
      what = 'Reduce_scatter'
      select case (way)
      case (blocking)
        call MPI_Reduce_scatter(flat, want, ones, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
      case (nonblocking)
        call MPI_Ireduce_scatter(s(2::2, 3:1:-2), r(2::3, :), ones, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
      case (persistent)
        call MPI_Reduce_scatter_init(s(2::2, 3:1:-2), r(2::3, :), ones, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
         MPI_INFO_NULL, request)
      end select
    case (17)
      what = 'Neighbor_allgather'
      select case (way)
      case (blocking)
        call MPI_Neighbor_allgather(flat, 1, MPI_INTEGER, want, 1, MPI_INTEGER, ring)
      case (nonblocking)
        call MPI_Ineighbor_allgather(few(::3), 1, MPI_INTEGER, r(2::3, :), 1, MPI_INTEGER, ring, request)
      case (persistent)
        call MPI_Neighbor_allgather_init(few(::3), 1, MPI_INTEGER, r(2::3, :), 1, MPI_INTEGER, ring, &
         MPI_INFO_NULL, request)
      end select
    case (18)
      what = 'Neighbor_allgatherv'
      select case (way)
      case (blocking)
        call MPI_Neighbor_allgatherv(flat, 1, MPI_INTEGER, want, pair, swap, MPI_INTEGER, ring)
      case (nonblocking)
        call MPI_Ineighbor_allgatherv(few(::3), 1, MPI_INTEGER, r(2::3, :), pair, swap, MPI_INTEGER, ring, request)
      case (persistent)
        call MPI_Neighbor_allgatherv_init(few(::3), 1, MPI_INTEGER, r(2::3, :), pair, swap, MPI_INTEGER, ring, &
         MPI_INFO_NULL, request)
      end select
    case (19)
      what = 'Neighbor_alltoall'
      select case (way)
      case (blocking)
        call MPI_Neighbor_alltoall(flat, 1, MPI_INTEGER, want, 1, MPI_INTEGER, ring)
      case (nonblocking)
        call MPI_Ineighbor_alltoall(s(2::2, 3:1:-2), 1, MPI_INTEGER, r(2::3, :), 1, MPI_INTEGER, ring, request)
      case (persistent)
        call MPI_Neighbor_alltoall_init(s(2::2, 3:1:-2), 1, MPI_INTEGER, r(2::3, :), 1, MPI_INTEGER, ring, &
         MPI_INFO_NULL, request)
      end select
    case (20)
      what = 'Neighbor_alltoallv'
      select case (way)
      case (blocking)
        call MPI_Neighbor_alltoallv(flat, pair, swap, MPI_INTEGER, want, pair, swap, MPI_INTEGER, ring)
      case (nonblocking)
        call MPI_Ineighbor_alltoallv(s(2::2, 3:1:-2), pair, swap, MPI_INTEGER, r(2::3, :), pair, swap, &
         MPI_INTEGER, ring, request)
      case (persistent)
        call MPI_Neighbor_alltoallv_init(s(2::2, 3:1:-2), pair, swap, MPI_INTEGER, r(2::3, :), pair, swap, &
         MPI_INTEGER, ring, MPI_INFO_NULL, request)
      end select
    case (21)
      what = 'Neighbor_alltoallw'
      select case (way)
      case (blocking)
        call MPI_Neighbor_alltoallw(flat, pair, places, types, want, pair, others, types, ring)
      case (nonblocking)
        call MPI_Ineighbor_alltoallw(s(2::2, 3:1:-2), pair, places, types, r(2::3, :), pair, others, types, &
         ring, request)
      case (persistent)
        call MPI_Neighbor_alltoallw_init(s(2::2, 3:1:-2), pair, places, types, r(2::3, :), pair, others, types, &
         ring, MPI_INFO_NULL, request)
      end select
    end select
    if (way == blocking) result = want
  end subroutine

  subroutine expect(ok, more)
    logical, intent(in) :: ok
    character(len=*), intent(in) :: more
    if (ok) return
    bad = bad + 1
    write (0, *) 'rank ', rank, ' of ', n, ': ', trim(what), ', way ', way, ': ', more
  end subroutine
end program
