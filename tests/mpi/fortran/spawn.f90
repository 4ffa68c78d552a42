! SPDX-License-Identifier: BSD-3-Clause
! ranks: 1 2
! MPI_Comm_spawn and MPI_Comm_spawn_multiple: lists of strings that blank ones end, and the constants for none.
program spawn
  use mpi_f08
  implicit none
  character(len=200) :: self, arg
  character(len=20) :: argv(3), argvs(2, 3)
  character(len=200) :: commands(2)
  integer :: bad, size, rank, codes(3), procs(2), n, wanted
  type(MPI_Comm) :: parent, inter
  type(MPI_Info) :: infos(2)
  bad = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call MPI_Comm_get_parent(parent)
  if (parent /= MPI_COMM_NULL) then
     call MPI_Comm_size(MPI_COMM_WORLD, size)
     n = command_argument_count()
     if (size == 2) then
        call expect(n == 2, 'two arguments')
        call get_command_argument(2, arg)
        call expect(arg == 'two words', 'the second argument')
     else if (size == 3) then
        call expect(n == merge(1, 2, rank == 0), 'arguments of each command')
        call get_command_argument(1, arg)
        call expect(arg == merge('a ', 'b1', rank == 0), 'the first argument of each command')
     else
        call expect(n == 0, 'no arguments')
     end if
     call meet(parent)
  else
     call get_command_argument(0, self)
     argv = [character(len=20) :: 'one', 'two words', ' ']
     call MPI_Comm_spawn(self, argv, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, codes)
     call expect(all(codes(:2) == MPI_SUCCESS), 'codes of two')
     call meet(inter)
     call MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE)
     call meet(inter)
     commands = self
     argvs(1, :) = [character(len=20) :: 'a', ' ', ' ']
     argvs(2, :) = [character(len=20) :: 'b1', 'b2', ' ']
     procs = [1, 2]
     infos = MPI_INFO_NULL
     call MPI_Comm_spawn_multiple(2, commands, argvs, procs, infos, 0, MPI_COMM_WORLD, inter, codes)
     call expect(all(codes == MPI_SUCCESS), 'codes of three')
     call meet(inter)
     call MPI_Comm_spawn_multiple(1, commands, MPI_ARGVS_NULL, procs, infos, 0, MPI_COMM_WORLD, inter, codes)
     call meet(inter)
  end if
  call MPI_Finalize()
  if (bad > 0) stop 1
contains
  subroutine meet(comm)
    type(MPI_Comm), intent(inout) :: comm
    type(MPI_Comm) :: everybody
    integer :: remote
    call MPI_Comm_remote_size(comm, remote)
    call MPI_Intercomm_merge(comm, .false., everybody)
    call MPI_Allreduce(1, wanted, 1, MPI_INTEGER, MPI_SUM, everybody)
    call expect(wanted == size + remote, 'a sum over both groups')
    call MPI_Comm_free(everybody)
    call MPI_Comm_disconnect(comm)
  end subroutine

  subroutine expect(ok, what)
    logical, intent(in) :: ok
    character(len=*), intent(in) :: what
    if (ok) return
    bad = bad + 1
    write (0, *) 'rank ', rank, ': not so: ', what
  end subroutine
end program
