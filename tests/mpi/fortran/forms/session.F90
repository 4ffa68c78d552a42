! SPDX-License-Identifier: BSD-3-Clause
! Sessions and process sets: their names, a communicator from each, beside the world.
#include "form.inc"
subroutine sessions()
    USE_MPI
    use checking
    implicit none
#if FORM == 0
    include 'mpif.h'
#endif
    HANDLE(MPI_Session) :: session, other
    HANDLE(MPI_Group) :: group
    HANDLE(MPI_Comm) :: comm
    HANDLE(MPI_Info) :: info
    HANDLE(MPI_Errhandler) :: handler
    integer :: ierr, sets, i, length, size, sum, found
    logical :: flag
    character(len=MPI_MAX_PSET_NAME_LEN) :: name
    character(len=4) :: short
    character(len=24) :: value
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierr)
    call check(ierr == MPI_SUCCESS .and. session /= MPI_SESSION_NULL, 'Session_init')
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, other, ierr)
    call MPI_Session_get_num_psets(session, MPI_INFO_NULL, sets, ierr)
    call check(sets >= 2, 'Session_get_num_psets')
    found = 0
    do i = 0, sets - 1
        length = 0
        call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name, ierr)
        call check(length > 0 .and. length <= MPI_MAX_PSET_NAME_LEN, 'the length of a name')
        length = len(name)
        name = repeat('x', len(name))
        call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name, ierr)
        call check(len_trim(name) == length, 'the name of a set')
        if (name == 'mpi://WORLD' .or. name == 'mpi://SELF') found = found + 1
        length = 4
        call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, short, ierr)
        call check(short == name(:4), 'a name that is cut')
        call MPI_Session_get_pset_info(session, name, info, ierr)
        call MPI_Info_get_valuelen(info, 'mpi_size', length, flag, ierr)
        call check(flag, 'mpi_size of a set')
        call MPI_Info_free(info, ierr)
    end do
    call check(found == 2, 'mpi://WORLD and mpi://SELF')
    call MPI_Group_from_session_pset(session, 'mpi://WORLD  ', group, ierr)
    call MPI_Group_size(group, size, ierr)
    call check(size == n, 'the group of a set')
    call MPI_Comm_create_from_group(group, 'forms', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm, ierr)
    call MPI_Group_free(group, ierr)
    call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
    call check(sum == n * (n - 1) / 2, 'a sum in its communicator')
    call MPI_Comm_free(comm, ierr)
    call MPI_Group_from_session_pset(session, 'mpi://nothing', group, ierr)
    call check(ierr == MPI_ERR_ARG, 'a set that is not there')
    call MPI_Session_get_info(session, info, ierr)
    length = 24
    call MPI_Info_get_string(info, 'thread_level', length, value, flag, ierr)
    call check(flag .and. value(:11) == 'MPI_THREAD_', 'Session_get_info')
    call MPI_Info_free(info, ierr)
    call MPI_Session_set_errhandler(session, MPI_ERRORS_ABORT, ierr)
    call MPI_Session_get_errhandler(session, handler, ierr)
    call check(handler == MPI_ERRORS_ABORT, 'the handler of a session')
    call MPI_Session_finalize(other, ierr)
    call MPI_Session_finalize(session, ierr)
    call check(session == MPI_SESSION_NULL .and. other == MPI_SESSION_NULL, 'Session_finalize')
end subroutine
