! SPDX-License-Identifier: BSD-3-Clause
! ranks: 3
! mpiexec: -with-ft ulfm
! stderr: \Ampiexec: rank 2 \([^\n]*without calling MPI_Finalize[^\n]*; the job goes on\n\Z
! abi: mpich openmpi, because their modules do not have these calls under these names
! User-Level Failure Mitigation with the module mpi_f08: one dies, the others agree, shrink and go on.
program survive08
  use mpi_f08
  implicit none
  type(MPI_Comm) :: comm, left
  type(MPI_Group) :: failed, acked
  type(MPI_Request) :: request
  integer :: rank, n, code, class, ones, ierr
  integer, asynchronous :: flag
  logical :: revoked
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 2) stop
  n = 0
  do while (n == 0)
     call MPIX_Comm_get_failed(comm, failed)
     call MPI_Group_size(failed, n)
  end do
  call MPI_Barrier(comm, code)
  call MPI_Error_class(code, class)
  if (class /= MPIX_ERR_PROC_FAILED) error stop 'the class of a barrier with the dead'
  flag = ior(4, rank)
  call MPIX_Comm_agree(comm, flag, code)
  call MPI_Error_class(code, class)
  if (class /= MPIX_ERR_PROC_FAILED .or. flag /= 4) error stop 'MPIX_Comm_agree'
  call MPIX_Comm_ack_failed(comm, 5, n)
  if (n /= 1) error stop 'MPIX_Comm_ack_failed'
  call MPIX_Comm_failure_get_acked(comm, acked)
  call MPI_Group_size(acked, n)
  if (n /= 1) error stop 'MPIX_Comm_failure_get_acked'
  call MPIX_Comm_failure_ack(comm, ierr)
  flag = ior(8, rank)
  call MPIX_Comm_iagree(comm, flag, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  if (flag /= 8) error stop 'MPIX_Comm_iagree'
  call MPIX_Comm_is_revoked(comm, revoked)
  if (rank == 0) call MPIX_Comm_revoke(comm)
  do while (.not. revoked)
     call MPIX_Comm_is_revoked(comm, revoked)
  end do
  call MPI_Barrier(comm, code)
  call MPI_Error_class(code, class)
  if (class /= MPIX_ERR_REVOKED) error stop 'the class of a barrier on a revoked communicator'
  call PMPIX_Comm_shrink(comm, left)
  call MPI_Allreduce(1, ones, 1, MPI_INTEGER, MPI_SUM, left)
  if (ones /= 2) error stop 'MPIX_Comm_shrink'
  call MPI_Comm_free(left)
  call MPI_Comm_free(comm)
  call MPI_Group_free(failed)
  call MPI_Group_free(acked)
  call MPI_Finalize()
end program
