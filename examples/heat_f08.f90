! SPDX-License-Identifier: BSD-3-Clause
! Heat in a rod, with mpi_f08: each rank has a part of the rod and exchanges its ends with its neighbors.
!   mpifort -O2 -o heat heat_f08.f90 && mpiexec -n 4 ./heat
program heat
  use mpi_f08
  implicit none
  integer, parameter :: cells = 1200, steps = 2000
  integer :: rank, n, left, right, first, last, i, step
  real(kind=8), allocatable :: u(:), next(:)
  real(kind=8) :: total
  type(MPI_Comm) :: line
  type(MPI_Request) :: requests(4)

  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [n], [.false.], .true., line)
  call MPI_Comm_rank(line, rank)
  call MPI_Cart_shift(line, 0, 1, left, right)
  first = cells * rank / n + 1
  last = cells * (rank + 1) / n
  allocate (u(first - 1:last + 1), next(first - 1:last + 1))
  u = 0
  do i = first, last
     if (i > cells / 3 .and. i <= 2 * cells / 3) u(i) = 100
  end do
  do step = 1, steps
     ! the ends of the rod are closed
     u(first - 1) = u(first)
     u(last + 1) = u(last)
     call MPI_Irecv(u(first - 1), 1, MPI_DOUBLE_PRECISION, left, 0, line, requests(1))
     call MPI_Irecv(u(last + 1), 1, MPI_DOUBLE_PRECISION, right, 0, line, requests(2))
     call MPI_Isend(u(first), 1, MPI_DOUBLE_PRECISION, left, 0, line, requests(3))
     call MPI_Isend(u(last), 1, MPI_DOUBLE_PRECISION, right, 0, line, requests(4))
     call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
     next(first:last) = u(first:last) + 0.25d0 * (u(first - 1:last - 1) - 2 * u(first:last) + u(first + 1:last + 1))
     u(first:last) = next(first:last)
  end do
  total = sum(u(first:last))
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, line)
  if (rank == 0) print '(a, f12.4)', 'heat in the rod: ', total
  call MPI_Comm_free(line)
  call MPI_Finalize()
end program
