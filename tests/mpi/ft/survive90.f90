! SPDX-License-Identifier: BSD-3-Clause
! ranks: 3
! mpiexec: -with-ft ulfm
! stderr: \Ampiexec: rank 2 \([^\n]*without calling MPI_Finalize[^\n]*; the job goes on\n\Z
! abi: mpich openmpi, because their modules do not have these calls under these names
! User-Level Failure Mitigation with the module mpi: one dies, the others agree, shrink and go on.
program survive90
  use mpi
  implicit none
  integer :: comm, left
  integer :: failed, acked
  integer :: request
  integer :: rank, n, code, class, ones, ierr
  integer, asynchronous :: flag
  logical :: revoked
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (rank == 2) stop
  n = 0
  do while (n == 0)
     call MPIX_Comm_get_failed(comm, failed, ierr)
     call MPI_Group_size(failed, n, ierr)
  end do
  call MPI_Barrier(comm, code)
  call MPI_Error_class(code, class, ierr)
  if (class /= MPIX_ERR_PROC_FAILED) error stop 'the class of a barrier with the dead'
  flag = ior(4, rank)
  call MPIX_Comm_agree(comm, flag, code)
  call MPI_Error_class(code, class, ierr)
  if (class /= MPIX_ERR_PROC_FAILED .or. flag /= 4) error stop 'MPIX_Comm_agree'
  call MPIX_Comm_ack_failed(comm, 5, n, ierr)
  if (n /= 1) error stop 'MPIX_Comm_ack_failed'
  call MPIX_Comm_failure_get_acked(comm, acked, ierr)
  call MPI_Group_size(acked, n, ierr)
  if (n /= 1) error stop 'MPIX_Comm_failure_get_acked'
  call MPIX_Comm_failure_ack(comm, ierr)
  flag = ior(8, rank)
  call MPIX_Comm_iagree(comm, flag, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  if (flag /= 8) error stop 'MPIX_Comm_iagree'
  call MPIX_Comm_is_revoked(comm, revoked, ierr)
  if (rank == 0) call MPIX_Comm_revoke(comm, ierr)
  do while (.not. revoked)
     call MPIX_Comm_is_revoked(comm, revoked, ierr)
  end do
  call MPI_Barrier(comm, code)
  call MPI_Error_class(code, class, ierr)
  if (class /= MPIX_ERR_REVOKED) error stop 'the class of a barrier on a revoked communicator'
  call PMPIX_Comm_shrink(comm, left, ierr)
  call MPI_Allreduce(1, ones, 1, MPI_INTEGER, MPI_SUM, left, ierr)
  if (ones /= 2) error stop 'MPIX_Comm_shrink'
  call MPI_Comm_free(left, ierr)
  call MPI_Comm_free(comm, ierr)
  call MPI_Group_free(failed, ierr)
  call MPI_Group_free(acked, ierr)
  call MPI_Finalize(ierr)
end program
