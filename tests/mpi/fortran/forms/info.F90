! SPDX-License-Identifier: BSD-3-Clause
! Info objects: strings padded and cut, keys in order; what the environment says; versions, names, times.
#include "form.inc"
subroutine infos()
    USE_MPI
    use checking
    implicit none
#if FORM == 0
    include 'mpif.h'
#endif
    HANDLE(MPI_Info) :: info, again
    integer :: ierr, length, count, i, version, subversion
    logical :: flag
    character(len=MPI_MAX_INFO_KEY) :: key
    character(len=20) :: value
    character(len=4) :: short
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: library
    character(len=MPI_MAX_PROCESSOR_NAME) :: processor
    double precision :: now
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'first', 'a  b', ierr)
    call MPI_Info_set(info, '  second  ', '   2   ', ierr)
    call MPI_Info_set(info, 'first', 'one', ierr)
    call MPI_Info_get_nkeys(info, count, ierr)
    call check(count == 2, 'Info_get_nkeys')
    do i = 0, count - 1
        key = repeat('x', len(key))
        call MPI_Info_get_nthkey(info, i, key, ierr)
        call check(key == 'first' .or. key == 'second', 'Info_get_nthkey')
    end do
    value = repeat('x', 20)
    length = 20
    call MPI_Info_get_string(info, 'second', length, value, flag, ierr)
    call check(flag .and. value == '2' .and. length == 1, 'Info_get_string')
    call MPI_Info_set(info, 'long', 'twelve chars', ierr)
    short = 'xxxx'
    length = 4
    call MPI_Info_get_string(info, 'long', length, short, flag, ierr)
    call check(flag .and. short == 'twel' .and. length == 12, 'a value that is cut')
    length = 0
    short = 'xxxx'
    call MPI_Info_get_string(info, 'long', length, short, flag, ierr)
    call check(flag .and. short == 'xxxx' .and. length == 12, 'only the length')
    call MPI_Info_get(info, 'long', 6, value, flag, ierr)
    call check(flag .and. value == 'twelve', 'Info_get')
    call MPI_Info_get_valuelen(info, 'long', length, flag, ierr)
    call check(flag .and. length == 12, 'Info_get_valuelen')
    call MPI_Info_dup(info, again, ierr)
    call MPI_Info_delete(info, 'first', ierr)
    call MPI_Info_get_valuelen(info, 'first', length, flag, ierr)
    call check(.not. flag, 'Info_delete')
    call MPI_Info_get(again, 'first', 20, value, flag, ierr)
    call check(flag .and. value == 'one', 'Info_dup')
    call MPI_Info_free(info, ierr)
    call MPI_Info_free(again, ierr)
    call check(info == MPI_INFO_NULL .and. again == MPI_INFO_NULL, 'freed')
    call MPI_Info_create_env(info, ierr)
    call MPI_Info_get_nkeys(info, count, ierr)
    call check(count >= 0, 'Info_create_env')
    call MPI_Info_free(info, ierr)
    length = 20
    call MPI_Info_get_string(MPI_INFO_ENV, 'maxprocs', length, value, flag, ierr)
    write (short, '(i0)') n
    call check(flag .and. value == short, 'MPI_INFO_ENV')

    call MPI_Get_version(version, subversion, ierr)
    call check(version == MPI_VERSION .and. subversion == MPI_SUBVERSION, 'Get_version')
    call MPI_Get_library_version(library, length, ierr)
    call check(length > 0 .and. len_trim(library) == length, 'Get_library_version')
    call MPI_Get_processor_name(processor, length, ierr)
    call check(length > 0 .and. len_trim(processor) == length, 'Get_processor_name')
    call MPI_Query_thread(i, ierr)
    call MPI_Is_thread_main(flag, ierr)
    call check(i >= MPI_THREAD_FUNNELED .and. flag, 'threads')
    call MPI_Initialized(flag, ierr)
    call check(flag, 'Initialized')
    call MPI_Finalized(flag, ierr)
    call check(.not. flag, 'Finalized')
    now = MPI_Wtime()
    call check(MPI_Wtick() > 0d0 .and. MPI_Wtime() >= now, 'times')
    call MPI_Pcontrol(1)
end subroutine
