! SPDX-License-Identifier: BSD-3-Clause
! ranks: 1 2 4
! Windows and files with mpi_f08: memory by pointers, put, get, accumulate, locks, shared memory; reads and writes of every way,
! representations, error handlers.
program windows
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
    integer :: rank, n, bad = 0
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, n)
    call memory()
    call passive()
    call shared()
    call files()
    call MPI_Allreduce(MPI_IN_PLACE, bad, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Finalize()
    if (bad /= 0) stop 1
contains
    subroutine check(ok, what)
        logical, intent(in) :: ok
        character(len=*), intent(in) :: what
        if (ok) return
        bad = bad + 1
        print *, 'rank', rank, 'not so: ', what
    end subroutine

    subroutine memory()
        type(MPI_Win) :: win
        type(c_ptr) :: base
        integer, pointer :: mine(:)
        integer :: part(8), right, i
        integer(MPI_ADDRESS_KIND) :: bytes
        logical :: flag
        integer(MPI_ADDRESS_KIND) :: attribute
        right = mod(rank + 1, n)
        bytes = 40
        call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
        call c_f_pointer(base, mine, [10])
        mine = 0
        call MPI_Win_get_attr(win, MPI_WIN_SIZE, attribute, flag)
        call check(flag .and. attribute == 40, 'MPI_WIN_SIZE')
        call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, attribute, flag)
        call check(flag .and. attribute == 4, 'MPI_WIN_DISP_UNIT')
        call MPI_Win_get_attr(win, MPI_WIN_BASE, attribute, flag)
        call check(flag .and. attribute == transfer(base, attribute), 'MPI_WIN_BASE')
        call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, attribute, flag)
        call check(flag .and. attribute == MPI_WIN_FLAVOR_ALLOCATE, 'MPI_WIN_CREATE_FLAVOR')
        part = [(100 * rank + i, i = 1, 8)]
        call MPI_Win_fence(0, win)
        ! every other element: a section
        call MPI_Put(part(1:8:2), 4, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win)
        call MPI_Win_fence(0, win)
        call check(all(mine(1:4) == [(100 * mod(rank + n - 1, n) + i, i = 1, 7, 2)]), 'put of a section')
        part = 0
        call MPI_Get(part(2:8:2), 4, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win)
        call MPI_Win_fence(0, win)
        call check(all(part(2:8:2) == [(100 * rank + i, i = 1, 7, 2)]) .and. all(part(1:7:2) == 0), 'get into a section')
        call MPI_Accumulate([rank + 1], 1, MPI_INTEGER, 0, 9_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, win)
        call MPI_Win_fence(0, win)
        if (rank == 0) call check(mine(10) == n * (n + 1) / 2, 'accumulate')
        call MPI_Win_free(win)
        call check(win == MPI_WIN_NULL, 'freed')
    end subroutine

    subroutine passive()
        type(MPI_Win) :: win
        type(MPI_Request) :: request
        integer, asynchronous :: counter(2), was, got(2)
        integer :: one
        integer(MPI_ADDRESS_KIND) :: zero = 0
        counter = 0
        one = 1
        call MPI_Win_create(counter, 8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
        call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)
        call MPI_Fetch_and_op(one, was, MPI_INTEGER, 0, zero, MPI_SUM, win)
        call MPI_Win_unlock(0, win)
        call check(was >= 0 .and. was < n, 'fetch and op')
        call MPI_Barrier(MPI_COMM_WORLD)
        call MPI_Win_lock_all(0, win)
        call MPI_Rget(got, 2, MPI_INTEGER, 0, zero, 2, MPI_INTEGER, win, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call MPI_Win_unlock_all(win)
        call check(got(1) == n .and. got(2) == 0, 'rget')
        call MPI_Win_free(win)
    end subroutine

    subroutine shared()
        type(MPI_Win) :: win
        type(MPI_Comm) :: node
        type(c_ptr) :: base, theirs
        integer(MPI_ADDRESS_KIND) :: bytes
        integer :: unit, here, size
        integer, pointer :: x(:), y(:)
        call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node)
        call MPI_Comm_rank(node, here)
        call MPI_Comm_size(node, size)
        bytes = 16
        call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, node, base, win)
        call c_f_pointer(base, x, [4])
        x = here
        call MPI_Win_fence(0, win)
        call MPI_Win_shared_query(win, mod(here + 1, size), bytes, unit, theirs)
        call check(bytes == 16 .and. unit == 4, 'shared query')
        call c_f_pointer(theirs, y, [4])
        call check(all(y == mod(here + 1, size)), 'shared memory')
        call MPI_Win_fence(0, win)
        call MPI_Win_free(win)
        call MPI_Comm_free(node)
    end subroutine

    subroutine files()
        type(MPI_File) :: file
        type(MPI_Status) :: status
        type(MPI_Request) :: request
        type(MPI_Datatype) :: etype, filetype, stripes
        type(MPI_Group) :: group
        integer :: i, count, amode, ierror, class, out(6), error_code
        integer, asynchronous :: in(6)
        integer(MPI_OFFSET_KIND) :: size, disp, at
        character(len=60) :: name
        character(len=MPI_MAX_DATAREP_STRING) :: rep
        integer(MPI_ADDRESS_KIND) :: extra = 77, extent
        logical :: flag
        call MPI_File_open(MPI_COMM_SELF, '/nowhere/at all', MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierror)
        call MPI_Error_class(ierror, class)
        call check(class == MPI_ERR_NO_SUCH_FILE, 'no such file')
        if (rank == 0) call system_clock(count)
        call MPI_Bcast(count, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
        write (name, '(a,i0,a,i0,a)') 'windows08-', n, '-', count, '.tmp'
        call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                           MPI_INFO_NULL, file)
        call MPI_File_get_amode(file, amode)
        call check(iand(amode, MPI_MODE_RDWR) /= 0, 'amode')
        ! blocks of two elements, rank by rank
        call MPI_Type_vector(3, 2, 2 * n, MPI_INTEGER, stripes)
        call MPI_Type_commit(stripes)
        disp = 8 * rank
        call MPI_File_set_view(file, disp, MPI_INTEGER, stripes, 'native', MPI_INFO_NULL)
        out = [(10 * rank + i, i = 1, 6)]
        call MPI_File_write_all(file, out, 6, MPI_INTEGER, status)
        call MPI_Get_count(status, MPI_INTEGER, count)
        call check(count == 6, 'written')
        call MPI_File_get_view(file, disp, etype, filetype, rep)
        call check(disp == 8 * rank .and. etype == MPI_INTEGER .and. rep == 'native', 'view')
        call MPI_File_sync(file)
        call MPI_Barrier(MPI_COMM_WORLD)
        call MPI_File_get_size(file, size)
        call check(size == 24 * n, 'size')
        in = 0
        call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
        at = 2 * mod(rank + 1, n)
        call MPI_File_read_at(file, at, in(1:3:2), 2, MPI_INTEGER, status)
        i = 10 * mod(rank + 1, n)
        call check(in(1) == i + 1 .and. in(2) == 0 .and. in(3) == i + 2, 'read into a section')
        call MPI_File_iread_at(file, 0_MPI_OFFSET_KIND, in, 2, MPI_INTEGER, request)
        call MPI_Wait(request, status)
        call check(in(1) == 1 .and. in(2) == 2, 'iread')
        call MPI_File_seek(file, 4_MPI_OFFSET_KIND, MPI_SEEK_SET)
        call MPI_File_get_position(file, at)
        call check(at == 4, 'position')
        call MPI_File_set_atomicity(file, .true.)
        call MPI_File_get_atomicity(file, flag)
        call check(flag, 'atomicity')
        call MPI_File_get_group(file, group)
        call MPI_Group_size(group, count)
        call check(count == n, 'group')
        call MPI_Group_free(group)
        call MPI_File_get_type_extent(file, MPI_DOUBLE_PRECISION, extent)
        call check(extent == 8, 'extent')

        call MPI_Register_datarep('inverted', MPI_CONVERSION_FN_NULL, invert, extent_of, extra)
        call MPI_Register_datarep('inverted', invert, MPI_CONVERSION_FN_NULL, extent_of, extra, error_code)
        call MPI_Error_class(error_code, class)
        call check(class == MPI_ERR_DUP_DATAREP, 'twice the same')
        call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'inverted', MPI_INFO_NULL)
        if (rank == 0) call MPI_File_write_at(file, 0_MPI_OFFSET_KIND, out, 3, MPI_INTEGER, MPI_STATUS_IGNORE)
        call MPI_File_sync(file)
        call MPI_Barrier(MPI_COMM_WORLD)
        call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
        call MPI_File_read_at_all(file, 0_MPI_OFFSET_KIND, in, 3, MPI_INTEGER, MPI_STATUS_IGNORE)
        call check(all(in(1:3) == [(not(i), i = 1, 3)]), 'converted')
        call MPI_File_close(file)
        call check(file == MPI_FILE_NULL, 'closed')
        call MPI_Type_free(stripes)
    end subroutine

    subroutine invert(userbuf, datatype, count, filebuf, position, extra_state, ierror)
        type(c_ptr), value :: userbuf, filebuf
        type(MPI_Datatype) :: datatype
        integer :: count, ierror
        integer(MPI_OFFSET_KIND) :: position
        integer(MPI_ADDRESS_KIND) :: extra_state
        integer, pointer :: user(:), stored(:)
        call c_f_pointer(userbuf, user, [int(position) + count])
        call c_f_pointer(filebuf, stored, [count])
        stored = not(user(int(position) + 1:))
        ierror = merge(MPI_SUCCESS, MPI_ERR_CONVERSION, extra_state == 77 .and. datatype == MPI_INTEGER)
    end subroutine

    subroutine extent_of(datatype, extent, extra_state, ierror)
        type(MPI_Datatype) :: datatype
        integer(MPI_ADDRESS_KIND) :: extent, extra_state
        integer :: ierror, size
        call MPI_Type_size(datatype, size)
        extent = size
        ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, extra_state == 77)
    end subroutine
end program
