! SPDX-License-Identifier: BSD-3-Clause
! Partitioned messages: partitions made ready in any order, their number differing on the two sides.
#include "form.inc"
subroutine part()
    USE_MPI
    use checking
    implicit none
#if FORM == 0
    include 'mpif.h'
#endif
    integer(kind=MPI_COUNT_KIND), parameter :: three = 3, two = 2
    integer, asynchronous :: out(3, 8), in(2, 12)
    HANDLE(MPI_Request) :: requests(2)
    integer :: left, right, ierr, i, round, order(8)
    logical :: flag
    left = modulo(rank - 1, n)
    right = modulo(rank + 1, n)
    call MPI_Psend_init(out, 8, three, MPI_INTEGER, right, 3, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1), ierr)
    call MPI_Precv_init(in, 12, two, MPI_INTEGER, left, 3, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2), ierr)
    order = [7, 0, 3, 2, 6, 1, 5, 4]
    do round = 1, 3
        in = -1
        out = reshape([(1000 * rank + 100 * round + i, i = 1, 24)], [3, 8])
        call MPI_Startall(2, requests, ierr)
        call MPI_Pready(order(1), requests(1), ierr)
        call MPI_Pready_list(3, order(2:4), requests(1), ierr)
        call MPI_Pready(6, requests(1), ierr)
        call MPI_Pready(1, requests(1), ierr)
        call MPI_Pready_range(4, 5, requests(1), ierr)
        do i = 0, 11
            flag = .false.
            do while (.not. flag)
                call MPI_Parrived(requests(2), i, flag, ierr)
            end do
            call check(all(in(:, i + 1) == 1000 * left + 100 * round + [2 * i + 1, 2 * i + 2]), 'a partition')
        end do
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
        call MPI_Parrived(requests(2), 0, flag, ierr)
        call check(flag, 'inactive: arrived')
    end do
    call MPI_Request_free(requests(1), ierr)
    call MPI_Request_free(requests(2), ierr)
end subroutine
