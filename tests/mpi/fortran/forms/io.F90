! SPDX-License-Identifier: BSD-3-Clause
! Files: views, accesses by explicit offset, individual and shared pointers, collective, nonblocking and split, a representation of
! the program, info.
#include "form.inc"
module io_functions
    implicit none
contains
    ! In the file, an INTEGER is its complement.
    subroutine complement(user, file, count, position, to_file)
        integer, intent(in) :: count
        integer(kind=8), intent(in) :: position
        logical, intent(in) :: to_file
        integer, intent(inout) :: user(*), file(*)
        integer :: i
        do i = 1, count
            if (to_file) file(i) = not(user(position + i))
            if (.not. to_file) user(position + i) = not(file(i))
        end do
    end subroutine
#if FORM == 8
    subroutine reads(userbuf, datatype, count, filebuf, position, extra_state, ierror)
        use mpi_f08
        use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
        type(c_ptr), value :: userbuf, filebuf
        type(MPI_Datatype) :: datatype
        integer :: count, ierror
        integer(kind=MPI_OFFSET_KIND) :: position
        integer(kind=MPI_ADDRESS_KIND) :: extra_state
        integer, pointer :: user(:), file(:)
        call c_f_pointer(userbuf, user, [int(position) + count])
        call c_f_pointer(filebuf, file, [count])
        call complement(user, file, count, position, .false.)
        ierror = merge(MPI_SUCCESS, MPI_ERR_CONVERSION, datatype == MPI_INTEGER .and. extra_state == 77)
    end subroutine
    subroutine writes(userbuf, datatype, count, filebuf, position, extra_state, ierror)
        use mpi_f08
        use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
        type(c_ptr), value :: userbuf, filebuf
        type(MPI_Datatype) :: datatype
        integer :: count, ierror
        integer(kind=MPI_OFFSET_KIND) :: position
        integer(kind=MPI_ADDRESS_KIND) :: extra_state
        integer, pointer :: user(:), file(:)
        call c_f_pointer(userbuf, user, [int(position) + count])
        call c_f_pointer(filebuf, file, [count])
        call complement(user, file, count, position, .true.)
        ierror = merge(MPI_SUCCESS, MPI_ERR_CONVERSION, datatype == MPI_INTEGER .and. extra_state == 77)
    end subroutine
#else
    subroutine reads(userbuf, datatype, count, filebuf, position, extra_state, ierror)
        integer :: userbuf(*), filebuf(*), datatype, count, ierror
        integer(kind=8) :: position, extra_state
        call complement(userbuf, filebuf, count, position, .false.)
        ierror = merge(0, 1, datatype /= 0 .and. extra_state == 77)
    end subroutine
    subroutine writes(userbuf, datatype, count, filebuf, position, extra_state, ierror)
        integer :: userbuf(*), filebuf(*), datatype, count, ierror
        integer(kind=8) :: position, extra_state
        call complement(userbuf, filebuf, count, position, .true.)
        ierror = merge(0, 1, datatype /= 0 .and. extra_state == 77)
    end subroutine
#endif
    subroutine extent_of(datatype, extent, extra_state, ierror)
        USE_MPI
#if FORM == 0
        include 'mpif.h'
#endif
        HANDLE(MPI_Datatype) :: datatype
        integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
        integer :: ierror, size
        call MPI_Type_size(datatype, size, ierror)
        extent = size
        if (extra_state /= 77) ierror = MPI_ERR_OTHER
    end subroutine
end module

subroutine files()
    USE_MPI
    use checking
    use io_functions
    implicit none
#if FORM == 0
    include 'mpif.h'
#endif
    integer, parameter :: ofs = MPI_OFFSET_KIND
    integer :: ierr, i
    character(len=64) :: path
    HANDLE(MPI_File) :: file
    integer, asynchronous :: out(8), in(8)
    write (path, '(a,i0,a)') 'forms.', FORM, '.out'
    call opening()
    call individual()
    call offsets()
    call shared_pointers()
    call split()
    call representations()
    call closing()
contains
    subroutine opening()
        HANDLE(MPI_Info) :: info
        HANDLE(MPI_Group) :: group
        integer :: mode, size
        integer(kind=MPI_OFFSET_KIND) :: bytes
        integer(kind=MPI_ADDRESS_KIND) :: extent
        logical :: flag
        call MPI_Info_create(info, ierr)
        call MPI_Info_set(info, 'access_style', 'write_once', ierr)
        call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR, info, file, ierr)
        call check(ierr == MPI_SUCCESS, 'File_open')
        call MPI_Info_free(info, ierr)
        call MPI_File_get_info(file, info, ierr)
        call check(info /= MPI_INFO_NULL, 'File_get_info')
        call MPI_File_set_info(file, info, ierr)
        call MPI_Info_free(info, ierr)
        call MPI_File_get_amode(file, mode, ierr)
        call check(mode == MPI_MODE_CREATE + MPI_MODE_RDWR, 'File_get_amode')
        call MPI_File_get_group(file, group, ierr)
        call MPI_Group_size(group, size, ierr)
        call check(size == n, 'File_get_group')
        call MPI_Group_free(group, ierr)
        call MPI_File_preallocate(file, 400_ofs, ierr)
        call MPI_File_get_size(file, bytes, ierr)
        call check(bytes == 400, 'File_preallocate')
        call MPI_File_set_size(file, 0_ofs, ierr)
        call MPI_File_get_size(file, bytes, ierr)
        call check(bytes == 0, 'File_set_size')
        call MPI_File_set_atomicity(file, .true., ierr)
        call MPI_File_get_atomicity(file, flag, ierr)
        call check(flag, 'File_get_atomicity')
        call MPI_File_get_type_extent(file, MPI_DOUBLE_PRECISION, extent, ierr)
        call check(extent == 8, 'File_get_type_extent')
    end subroutine

    ! Each process sees every n-th pair of INTEGERs.
    subroutine individual()
        HANDLE(MPI_Datatype) :: stripes, etype, got
        HANDLE(MPI_Request) :: request
        STATUS(status)
        integer(kind=MPI_OFFSET_KIND) :: at, shift
        integer :: count
        character(len=20) :: name
        call MPI_Type_vector(1, 2, 2, MPI_INTEGER, got, ierr)
        call MPI_Type_create_resized(got, 0_MPI_ADDRESS_KIND, int(8 * n, MPI_ADDRESS_KIND), stripes, ierr)
        call MPI_Type_free(got, ierr)
        call MPI_Type_commit(stripes, ierr)
        call MPI_File_set_view(file, int(8 * rank, ofs), MPI_INTEGER, stripes, 'native', MPI_INFO_NULL, ierr)
        name = repeat('x', 20)
        call MPI_File_get_view(file, shift, etype, got, name, ierr)
        call check(shift == 8 * rank .and. etype == MPI_INTEGER .and. name == 'native', 'File_get_view')
        call MPI_Type_free(got, ierr)
        out = [(1000 * rank + i, i = 0, 7)]
        call MPI_File_write_all(file, out, 4, MPI_INTEGER, status, ierr)
        call MPI_Get_count(status, MPI_INTEGER, count, ierr)
        call check(count == 4, 'File_write_all')
        call MPI_File_write(file, out(5), 2, MPI_INTEGER, status, ierr)
        call MPI_File_iwrite(file, out(7), 2, MPI_INTEGER, request, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call MPI_File_get_position(file, at, ierr)
        call check(at == 8, 'File_get_position')
        call MPI_File_get_byte_offset(file, 3_ofs, at, ierr)
        call check(at == 8 * rank + 8 * n + 4, 'File_get_byte_offset')
        call MPI_File_sync(file, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_File_seek(file, 0_ofs, MPI_SEEK_SET, ierr)
        in = -1
        call MPI_File_read(file, in, 2, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        call MPI_File_read_all(file, in(3), 2, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        call MPI_File_iread(file, in(5), 2, MPI_INTEGER, request, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call MPI_File_iread_all(file, in(7), 2, MPI_INTEGER, request, ierr)
        call MPI_Wait(request, status, ierr)
        call MPI_Get_count(status, MPI_INTEGER, count, ierr)
        call check(count == 2 .and. all(in == out), 'reads at the individual pointer')
        call MPI_File_read(file, in, 2, MPI_INTEGER, status, ierr)
        call MPI_Get_count(status, MPI_INTEGER, count, ierr)
        if (rank == n - 1) call check(count == 0, 'the end of the file')
        call MPI_File_seek(file, -2_ofs, MPI_SEEK_CUR, ierr)
        call MPI_Type_free(stripes, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end subroutine

    subroutine offsets()
        HANDLE(MPI_Request) :: q(2)
        STATUS(status)
        integer(kind=MPI_OFFSET_KIND) :: at
        integer :: pair
        call MPI_File_set_view(file, 0_ofs, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
        ! What the views wrote, seen without them.
        in = -1
        call MPI_File_read_at_all(file, int(2 * n, ofs), in, 2, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        call check(all(in(:2) == [2, 3]), 'the second row of the first process')
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        at = 8 * rank
        out = [(rank - i, i = 1, 8)]
        call MPI_File_write_at(file, at, out, 2, MPI_INTEGER, status, ierr)
        call MPI_File_write_at_all(file, at + 2, out(3), 2, MPI_INTEGER, status, ierr)
        call MPI_File_iwrite_at(file, at + 4, out(5), 2, MPI_INTEGER, q(1), ierr)
        call MPI_File_iwrite_at_all(file, at + 6, out(7), 2, MPI_INTEGER, q(2), ierr)
        call MPI_Waitall(2, q, MPI_STATUSES_IGNORE, ierr)
        call MPI_File_sync(file, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        in = -1
        at = 8 * modulo(rank + 1, n)
        call MPI_File_read_at(file, at, in, 2, MPI_INTEGER, status, ierr)
        call MPI_Get_count(status, MPI_INTEGER, pair, ierr)
        call MPI_File_iread_at(file, at + 2, in(3), 2, MPI_INTEGER, q(1), ierr)
        call MPI_File_iread_at_all(file, at + 4, in(5), 4, MPI_INTEGER, q(2), ierr)
        call MPI_Waitall(2, q, MPI_STATUSES_IGNORE, ierr)
        call check(pair == 2 .and. all(in == [(modulo(rank + 1, n) - i, i = 1, 8)]), 'accesses by offset')
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end subroutine

    subroutine shared_pointers()
        HANDLE(MPI_Request) :: request
        integer(kind=MPI_OFFSET_KIND) :: at
        integer :: sum
        call MPI_File_seek_shared(file, 0_ofs, MPI_SEEK_SET, ierr)
        call MPI_File_write_ordered(file, [rank, rank], 2, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_File_get_position_shared(file, at, ierr)
        call check(at == 2 * n, 'File_get_position_shared')
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_File_write_shared(file, [100 + rank], 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        out(1) = 100 + rank
        call MPI_File_iwrite_shared(file, out, 1, MPI_INTEGER, request, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call MPI_File_sync(file, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_File_seek_shared(file, 0_ofs, MPI_SEEK_SET, ierr)
        in = -1
        call MPI_File_read_ordered(file, in, 2, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        call check(all(in == [rank, rank, -1, -1, -1, -1, -1, -1]), 'File_read_ordered')
        call MPI_File_read_shared(file, in(1), 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        call MPI_File_iread_shared(file, in(2), 1, MPI_INTEGER, request, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call MPI_Allreduce([in(1) + in(2)], sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
        call check(sum == 200 * n + n * (n - 1), 'everything was read once')
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end subroutine

    subroutine split()
        STATUS(status)
        integer :: count
        call MPI_File_seek(file, int(4 * rank, ofs), MPI_SEEK_SET, ierr)
        out = [(50 * rank + i, i = 1, 8)]
        call MPI_File_write_all_begin(file, out, 4, MPI_INTEGER, ierr)
        call MPI_File_write_all_end(file, out, status, ierr)
        call MPI_Get_count(status, MPI_INTEGER, count, ierr)
        call check(count == 4, 'File_write_all_end')
        call MPI_File_write_at_all_begin(file, int(4 * n + 4 * rank, ofs), out(5), 4, MPI_INTEGER, ierr)
        call MPI_File_write_at_all_end(file, out(5), status, ierr)
        call MPI_File_sync(file, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        in = -1
        call MPI_File_seek(file, int(4 * rank, ofs), MPI_SEEK_SET, ierr)
        call MPI_File_read_all_begin(file, in, 4, MPI_INTEGER, ierr)
        call MPI_File_read_all_end(file, in, status, ierr)
        call MPI_File_read_at_all_begin(file, int(4 * n + 4 * rank, ofs), in(5), 4, MPI_INTEGER, ierr)
        call MPI_File_read_at_all_end(file, in(5), status, ierr)
        call check(all(in == out), 'split accesses')
        call MPI_File_seek_shared(file, 0_ofs, MPI_SEEK_SET, ierr)
        call MPI_File_write_ordered_begin(file, out(8), 1, MPI_INTEGER, ierr)
        call MPI_File_write_ordered_end(file, out(8), status, ierr)
        call MPI_File_sync(file, ierr)
        call MPI_File_seek_shared(file, 0_ofs, MPI_SEEK_SET, ierr)
        in = -1
        call MPI_File_read_ordered_begin(file, in, 1, MPI_INTEGER, ierr)
        call MPI_File_read_ordered_end(file, in, status, ierr)
        call check(in(1) == 50 * rank + 8 .and. in(2) == -1, 'split accesses in order')
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end subroutine

    subroutine representations()
        call MPI_Register_datarep('complement', reads, writes, extent_of, 77_MPI_ADDRESS_KIND, ierr)
        call check(ierr == MPI_SUCCESS, 'Register_datarep')
        call MPI_File_set_view(file, 0_ofs, MPI_INTEGER, MPI_INTEGER, 'complement', MPI_INFO_NULL, ierr)
        out = [(10 * rank + i, i = 1, 8)]
        in = -1
        call MPI_File_write_at_all(file, int(4 * rank, ofs), out, 4, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        call MPI_File_read_at_all(file, int(4 * rank, ofs), in, 4, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        call check(all(in(:4) == out(:4)) .and. all(in(5:) == -1), 'written and read as complements')
        call MPI_File_set_view(file, 0_ofs, MPI_INTEGER, MPI_INTEGER, 'external32', MPI_INFO_NULL, ierr)
        call MPI_File_write_at_all(file, int(4 * n + rank, ofs), [1 + rank], 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        call MPI_File_set_view(file, 0_ofs, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
        call MPI_File_read_at_all(file, int(4 * rank, ofs), in, 4, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        call check(all(in(:4) == not(out(:4))), 'complements in the file')
        call MPI_File_read_at_all(file, int(4 * n + rank, ofs), in, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        call check(in(1) == ishft(1 + rank, 24), 'big-endian in the file')
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end subroutine

    subroutine closing()
        HANDLE(MPI_Errhandler) :: handler
        integer :: class, status
        call MPI_File_get_errhandler(file, handler, ierr)
        call check(handler == MPI_ERRORS_RETURN, 'errors of files are returned')
        call MPI_File_read_at(file, -1_ofs, in, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        call MPI_Error_class(ierr, class, status)
        call check(class == MPI_ERR_ARG, 'a negative offset')
        call MPI_File_close(file, ierr)
        call check(file == MPI_FILE_NULL, 'File_close')
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        if (rank == 0) call MPI_File_delete(path, MPI_INFO_NULL, ierr)
        if (rank == 0) call check(ierr == MPI_SUCCESS, 'File_delete')
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierr)
        call MPI_Error_class(ierr, class, status)
        call check(class == MPI_ERR_NO_SUCH_FILE, 'a file that was deleted')
    end subroutine
end subroutine
