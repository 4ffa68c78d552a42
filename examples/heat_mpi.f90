! SPDX-License-Identifier: BSD-3-Clause
! Heat in a rod, with the module mpi: as heat_f08.f90, with blocking exchanges.
!   mpifort -O2 -o heat heat_mpi.f90 && mpiexec -n 4 ./heat
program heat
  use mpi
  implicit none
  integer, parameter :: cells = 1200, steps = 2000
  integer :: rank, n, left, right, first, last, i, step, line, ierr
  real(kind=8), allocatable :: u(:), next(:)
  real(kind=8) :: total

  call MPI_Init(ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [n], [.false.], .true., line, ierr)
  call MPI_Comm_rank(line, rank, ierr)
  call MPI_Cart_shift(line, 0, 1, left, right, ierr)
  first = cells * rank / n + 1
  last = cells * (rank + 1) / n
  allocate (u(first - 1:last + 1), next(first - 1:last + 1))
  u = 0
  do i = first, last
     if (i > cells / 3 .and. i <= 2 * cells / 3) u(i) = 100
  end do
  do step = 1, steps
     u(first - 1) = u(first)
     u(last + 1) = u(last)
     call MPI_Sendrecv(u(first), 1, MPI_DOUBLE_PRECISION, left, 0, u(last + 1), 1, MPI_DOUBLE_PRECISION, right, 0, &
          line, MPI_STATUS_IGNORE, ierr)
     call MPI_Sendrecv(u(last), 1, MPI_DOUBLE_PRECISION, right, 1, u(first - 1), 1, MPI_DOUBLE_PRECISION, left, 1, &
          line, MPI_STATUS_IGNORE, ierr)
     next(first:last) = u(first:last) + 0.25d0 * (u(first - 1:last - 1) - 2 * u(first:last) + u(first + 1:last + 1))
     u(first:last) = next(first:last)
  end do
  total = sum(u(first:last))
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, line, ierr)
  if (rank == 0) print '(a, f12.4)', 'heat in the rod: ', total
  call MPI_Comm_free(line, ierr)
  call MPI_Finalize(ierr)
end program
