! SPDX-License-Identifier: BSD-3-Clause
! ranks: 2 3
! Sections as buffers of partitioned messages: partitions that cross rows, that become ready in any order and are changed once they have
! arrived; other numbers of partitions at the two sides; several rounds.
program partsections
  use mpi_f08
  implicit none
  integer, parameter :: sizes(3) = [3, 40, 3000]
  integer :: rank, n, bad, k, round, sent, got, to, from, m, total
  integer, allocatable, asynchronous :: a(:, :, :), b(:, :)
  integer, allocatable :: want(:), came(:)
  type(MPI_Request) :: requests(2)
  logical :: flag
  bad = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  to = modulo(rank + 1, n)
  from = modulo(rank - 1, n)
  do m = 1, size(sizes)
     do k = 1, 3
        sent = merge(8, 4, k == 1) ! partitions
        got = merge(8, 2 * k, k /= 2)
        total = 8 * sizes(m)
        allocate(a(2, total / 4, 7), b(total, 2), want(total), came(total))
        call MPI_Psend_init(a(2, :, 7:1:-2), sent, int(total / sent, MPI_COUNT_KIND), MPI_INTEGER, to, 4, MPI_COMM_WORLD, &
             MPI_INFO_NULL, requests(1))
        if (k == 3) then ! the other side need not be a section
           got = 4
           call MPI_Precv_init(b(:, 1), got, int(total / got, MPI_COUNT_KIND), MPI_INTEGER, from, 4, MPI_COMM_WORLD, &
                MPI_INFO_NULL, requests(2))
        else
           call MPI_Precv_init(b(::2, :), got, int(total / got, MPI_COUNT_KIND), MPI_INTEGER, from, 4, MPI_COMM_WORLD, &
                MPI_INFO_NULL, requests(2))
        end if
        do round = 1, 4
           a = -1
           b = -2
           call MPI_Startall(2, requests)
           call fill(rank, want)
           call send(want)
           call fill(from, want)
           call receive()
           call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
           came = received()
           if (round > 2 .and. k /= 3) want(1::total / got) = -3 ! changed once it had arrived
           call expect(all(came == want), 'what comes')
           call expect(count(b == -2) == total, 'what lies between')
        end do
        call MPI_Request_free(requests(1))
        call MPI_Request_free(requests(2))
        deallocate(a, b, want, came)
     end do
  end do
  call MPI_Finalize()
  if (bad > 0) stop 1
contains
  subroutine fill(of, values)
    integer, intent(in) :: of
    integer, intent(out) :: values(:)
    integer :: j
    values = [(100000 * of + 10 * j + round, j = 1, size(values))]
  end subroutine

  ! one after the other, each filled just before
  subroutine send(values)
    integer, intent(in) :: values(:)
    integer :: p, q, each, order(sent)
    each = total / sent
    order = [(1 + mod(3 * p, sent), p = 1, sent)]
    if (round == 4) order = [(p, p = 1, sent)]
    if (round == 3) call put(values, 1, total)
    do p = 1, sent
       q = order(p) - 1
       if (round == 3) then
          call MPI_Pready_range(0, sent - 1, requests(1))
          exit
       end if
       call put(values, q * each + 1, (q + 1) * each)
       if (round == 2) then
          call MPI_Pready_list(1, [q], requests(1))
       else
          call MPI_Pready(q, requests(1))
       end if
    end do
  end subroutine

  subroutine put(values, first, last)
    integer, intent(in) :: values(:), first, last
    integer :: j
    do j = first, last
       a(2, 1 + mod(j - 1, total / 4), 7 - 2 * ((j - 1) / (total / 4))) = values(j)
    end do
  end subroutine

  ! changes what has arrived, which must stay so
  subroutine receive()
    integer :: p, each, j, r, c
    each = total / got
    if (round < 3) return
    do p = 0, got - 1
       flag = .false.
       do while (.not. flag)
          call MPI_Parrived(requests(2), p, flag)
       end do
       do j = p * each + 1, (p + 1) * each
          r = 1 + mod(j - 1, total / 2)
          c = 1 + (j - 1) / (total / 2)
          if (k == 3) then
             call expect(b(j, 1) == want(j), 'what has arrived')
          else
             call expect(b(2 * r - 1, c) == want(j), 'what has arrived')
             if (j == p * each + 1) b(2 * r - 1, c) = -3
          end if
       end do
    end do
  end subroutine

  function received() result(values)
    integer :: values(total)
    if (k == 3) then
       values = b(:, 1)
    else
       values = reshape(b(::2, :), [total])
    end if
  end function

  subroutine expect(ok, what)
    logical, intent(in) :: ok
    character(len=*), intent(in) :: what
    if (ok) return
    bad = bad + 1
    if (bad < 10) write (0, *) 'rank ', rank, ', total ', total, ', case ', k, ', round ', round, ': ', what
  end subroutine
end program
