! SPDX-License-Identifier: BSD-3-Clause
! Datatypes: every constructor, what it says of itself, packing in both formats, names, contents, sizes by precision.
#include "form.inc"
subroutine datatypes()
    USE_MPI
    use checking
    implicit none
#if FORM == 0
    include 'mpif.h'
#endif
    integer :: ierr
    call constructors()
    call structures()
    call distributed()
    call contents()
    call packing()
    call by_precision()
    call swapped()
contains
    ! What arrives when in is sent with this datatype to this process, as elements.
    subroutine picks(type, count, expected, what)
        HANDLE(MPI_Datatype) :: type
        integer, intent(in) :: count, expected(:)
        character(len=*), intent(in) :: what
        integer :: in(40), out(40), i, size, got
        STATUS(status)
        in = [(i, i = 0, 39)]
        out = -1
        call MPI_Type_commit(type, ierr)
        call MPI_Type_size(type, size, ierr)
        call check(size * count == 4 * ubound(expected, 1), what//': size')
        call MPI_Sendrecv(in, count, type, rank, 1, out, 40, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, status, ierr)
        call MPI_Get_count(status, MPI_INTEGER, got, ierr)
        call check(got == ubound(expected, 1), what//': count')
        call check(all(out(:got) == expected), what//': elements')
        ! and back to where they came from
        out = -1
        call MPI_Sendrecv(expected, got, MPI_INTEGER, rank, 2, out, count, type, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        call check(all([(out(i) == merge(i - 1, -1, any(expected == i - 1)), i = 1, 40)]), what//': received')
        call MPI_Type_free(type, ierr)
        call check(type == MPI_DATATYPE_NULL, what//': freed')
    end subroutine

    subroutine constructors()
        HANDLE(MPI_Datatype) :: type, other
        integer(kind=MPI_ADDRESS_KIND) :: lb, extent, true_lb, true_extent
        integer :: i
        call MPI_Type_contiguous(3, MPI_INTEGER, type, ierr)
        call picks(type, 2, [0, 1, 2, 3, 4, 5], 'contiguous')
        call MPI_Type_vector(3, 2, 4, MPI_INTEGER, type, ierr)
        call picks(type, 1, [0, 1, 4, 5, 8, 9], 'vector')
        call MPI_Type_create_hvector(3, 1, 12_MPI_ADDRESS_KIND, MPI_INTEGER, type, ierr)
        call picks(type, 1, [0, 3, 6], 'hvector')
        call MPI_Type_indexed(3, [2, 0, 1], [5, 1, 2], MPI_INTEGER, type, ierr)
        call picks(type, 1, [5, 6, 2], 'indexed')
        call MPI_Type_create_hindexed(2, [1, 2], [16_MPI_ADDRESS_KIND, 0_MPI_ADDRESS_KIND], MPI_INTEGER, type, ierr)
        call picks(type, 1, [4, 0, 1], 'hindexed')
        call MPI_Type_create_indexed_block(3, 2, [8, 4, 0], MPI_INTEGER, type, ierr)
        call picks(type, 1, [8, 9, 4, 5, 0, 1], 'indexed block')
        call MPI_Type_create_hindexed_block(2, 1, [20_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND], MPI_INTEGER, type, ierr)
        call picks(type, 1, [5, 2], 'hindexed block')
        call MPI_Type_vector(2, 1, 2, MPI_INTEGER, other, ierr)
        call MPI_Type_create_resized(other, -4_MPI_ADDRESS_KIND, 20_MPI_ADDRESS_KIND, type, ierr)
        call MPI_Type_get_extent(type, lb, extent, ierr)
        call MPI_Type_get_true_extent(type, true_lb, true_extent, ierr)
        call check(lb == -4 .and. extent == 20 .and. true_lb == 0 .and. true_extent == 12, 'extents')
        call picks(type, 3, [0, 2, 5, 7, 10, 12], 'resized')
        call MPI_Type_dup(other, type, ierr)
        call MPI_Type_free(other, ierr)
        call picks(type, 1, [0, 2], 'a duplicate')
        call MPI_Type_create_subarray(2, [6, 5], [2, 3], [1, 2], MPI_ORDER_FORTRAN, MPI_INTEGER, type, ierr)
        call picks(type, 1, [13, 14, 19, 20, 25, 26], 'subarray')
        call MPI_Type_create_subarray(2, [5, 6], [3, 2], [2, 1], MPI_ORDER_C, MPI_INTEGER, type, ierr)
        call picks(type, 1, [13, 14, 19, 20, 25, 26], 'subarray of C')
    end subroutine

    subroutine structures()
        type particle
            sequence
            double precision :: x(3)
            integer :: id
            character(len=4) :: name
        end type
        type(particle) :: out(4), in(4)
        HANDLE(MPI_Datatype) :: types(3), bare, type
        integer(kind=MPI_ADDRESS_KIND) :: at(3), base, next, extent, lb
        integer :: lengths(3), i, count
        STATUS(status)
        do i = 1, 4
            out(i) = particle([rank + 0.5d0, 2d0, 3d0 * i], 10 * i, 'abcd')
        end do
        in = particle([0d0, 0d0, 0d0], 0, '')
        call MPI_Get_address(out(1)%x, at(1), ierr)
        call MPI_Get_address(out(1)%id, at(2), ierr)
        call MPI_Get_address(out(1)%name, at(3), ierr)
        call MPI_Get_address(out(1), base, ierr)
        call MPI_Get_address(out(2), next, ierr)
        do i = 1, 3
            at(i) = MPI_Aint_diff(at(i), base)
        end do
        call check(all(at == [0, 24, 28]), 'displacements of a structure')
        lengths = [3, 1, 4]
        types(1) = MPI_DOUBLE_PRECISION
        types(2) = MPI_INTEGER
        types(3) = MPI_CHARACTER
        call MPI_Type_create_struct(3, lengths, at, types, bare, ierr)
        call MPI_Type_create_resized(bare, 0_MPI_ADDRESS_KIND, MPI_Aint_diff(next, base), type, ierr)
        call MPI_Type_commit(type, ierr)
        call MPI_Type_get_extent(type, lb, extent, ierr)
        call check(lb == 0 .and. extent == 32, 'extent of a structure')
        call MPI_Sendrecv(out, 3, type, modulo(rank + 1, n), 1, in, 4, type, modulo(rank - 1, n), 1, MPI_COMM_WORLD, status, ierr)
        call MPI_Get_count(status, type, count, ierr)
        call check(count == 3, 'structures received')
        call check(all(in(:3)%id == [10, 20, 30]) .and. all(in(:3)%name == 'abcd') .and. in(4)%id == 0, 'their contents')
        call check(all([(in(i)%x(1) == modulo(rank - 1, n) + 0.5d0 .and. in(i)%x(3) == 3d0 * i, i = 1, 3)]), 'their coordinates')
        ! Half a structure: elements can be counted, but there is no whole number of it.
        call MPI_Sendrecv(out, 1, MPI_DOUBLE_PRECISION, rank, 2, in, 1, type, rank, 2, MPI_COMM_WORLD, status, ierr)
        call MPI_Get_count(status, type, count, ierr)
        call MPI_Get_elements(status, type, i, ierr)
        call check(count == MPI_UNDEFINED .and. i == 1, 'a part of a structure')
        call MPI_Type_free(bare, ierr)
        call MPI_Type_free(type, ierr)
        ! The addresses themselves, from MPI_BOTTOM.
        call MPI_Get_address(out(1)%id, at(1), ierr)
        call MPI_Type_create_hindexed(1, [1], at(1:1), MPI_INTEGER, type, ierr)
        call MPI_Type_commit(type, ierr)
        call MPI_Sendrecv(77, 1, MPI_INTEGER, rank, 3, MPI_BOTTOM, 1, type, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        call MPI_F_sync_reg(out)
        call check(out(1)%id == 77 .and. out(2)%id == 20, 'MPI_BOTTOM')
        call MPI_Type_free(type, ierr)
    end subroutine

    subroutine distributed()
        HANDLE(MPI_Datatype) :: type
        call MPI_Type_create_darray(2, 0, 2, [4, 8], [MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK], &
            [MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG], [1, 2], MPI_ORDER_FORTRAN, MPI_INTEGER, type, ierr)
        call picks(type, 1, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], 'darray of blocks')
        call MPI_Type_create_darray(2, 1, 1, [12], [MPI_DISTRIBUTE_CYCLIC], [2], [2], MPI_ORDER_FORTRAN, MPI_INTEGER, type, ierr)
        call MPI_Type_free(type, ierr)
        call MPI_Type_create_darray(2, 1, 1, [12], [MPI_DISTRIBUTE_CYCLIC], [2], [2], MPI_ORDER_FORTRAN, MPI_INTEGER, type, ierr)
        call picks(type, 1, [2, 3, 6, 7, 10, 11], 'darray that is cyclic')
    end subroutine

    subroutine contents()
        HANDLE(MPI_Datatype) :: type, types(1)
        integer :: integers, addresses, datatypes_, combiner, numbers(4), length
        integer(kind=MPI_ADDRESS_KIND) :: places(1)
        character(len=MPI_MAX_OBJECT_NAME) :: name
        call MPI_Type_create_hvector(3, 2, 40_MPI_ADDRESS_KIND, MPI_REAL, type, ierr)
        call MPI_Type_get_envelope(type, integers, addresses, datatypes_, combiner, ierr)
        call check(integers == 2 .and. addresses == 1 .and. datatypes_ == 1 .and. combiner == MPI_COMBINER_HVECTOR, 'envelope')
        numbers = -1
        call MPI_Type_get_contents(type, 2, 1, 1, numbers, places, types, ierr)
        call check(all(numbers == [3, 2, -1, -1]) .and. places(1) == 40 .and. types(1) == MPI_REAL, 'contents')
        call MPI_Type_get_name(MPI_DOUBLE_COMPLEX, name, length, ierr)
        call check(name == 'MPI_DOUBLE_COMPLEX' .and. length == 18, 'the name of a datatype')
        call MPI_Type_set_name(type, 'pairs  ', ierr)
        call MPI_Type_get_name(type, name, length, ierr)
        call check(name == 'pairs' .and. length == 5, 'a name of its own')
        call MPI_Type_free(type, ierr)
    end subroutine

    subroutine packing()
        character :: buffer(200)
        integer :: position, size, a(3), b(3)
        double precision :: x, y
        complex :: c, d
        integer(kind=MPI_ADDRESS_KIND) :: at, bytes
        a = [1, -2, rank]
        x = 0.25d0 * rank
        c = (1.0, 2.0)
        position = 0
        call MPI_Pack(a, 3, MPI_INTEGER, buffer, 200, position, MPI_COMM_WORLD, ierr)
        call MPI_Pack(x, 1, MPI_DOUBLE_PRECISION, buffer, 200, position, MPI_COMM_WORLD, ierr)
        call MPI_Pack(c, 1, MPI_COMPLEX, buffer, 200, position, MPI_COMM_WORLD, ierr)
        size = position
        call check(size == 28, 'packed')
        call MPI_Sendrecv_replace(buffer, size, MPI_PACKED, modulo(rank + 1, n), 1, modulo(rank - 1, n), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        position = 0
        call MPI_Unpack(buffer, size, position, b, 3, MPI_INTEGER, MPI_COMM_WORLD, ierr)
        call MPI_Unpack(buffer, size, position, y, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
        call MPI_Unpack(buffer, size, position, d, 1, MPI_COMPLEX, MPI_COMM_WORLD, ierr)
        call check(all(b == [1, -2, modulo(rank - 1, n)]) .and. y == 0.25d0 * b(3) .and. d == c .and. position == size, 'unpacked')
        call MPI_Pack_external_size('external32', 3, MPI_INTEGER, bytes, ierr)
        call check(bytes == 12, 'external size')
        at = 0
        call MPI_Pack_external('external32', [1, 2, 258], 3, MPI_INTEGER, buffer, 200_MPI_ADDRESS_KIND, at, ierr)
        call check(at == 12 .and. ichar(buffer(4)) == 1 .and. ichar(buffer(11)) == 1 .and. ichar(buffer(12)) == 2, 'big-endian')
        at = 0
        call MPI_Unpack_external('external32', buffer, 12_MPI_ADDRESS_KIND, at, b, 3, MPI_INTEGER, ierr)
        call check(all(b == [1, 2, 258]) .and. at == 12, 'unpacked from big-endian')
    end subroutine

    subroutine by_precision()
        HANDLE(MPI_Datatype) :: type, again
        integer :: size, integers, addresses, datatypes_, combiner, numbers(2)
        integer(kind=MPI_ADDRESS_KIND) :: places(1)
        HANDLE(MPI_Datatype) :: types(1)
        integer, parameter :: wide = selected_real_kind(12, 200), long = selected_int_kind(15)
        real(kind=wide) :: a, b
        integer(kind=long) :: i, j
        call MPI_Type_create_f90_real(12, 200, type, ierr)
        call MPI_Type_create_f90_real(12, 200, again, ierr)
        call check(type == again, 'the same handle for the same precision')
        a = rank + 0.125
        call MPI_Allreduce(a, b, 1, type, MPI_MAX, MPI_COMM_WORLD, ierr)
        call check(b == n - 1 + 0.125, 'reduced by precision')
        call MPI_Type_get_envelope(type, integers, addresses, datatypes_, combiner, ierr)
        call check(combiner == MPI_COMBINER_F90_REAL .and. integers == 2 .and. datatypes_ == 0, 'envelope by precision')
        call MPI_Type_get_contents(type, 2, 0, 0, numbers, places, types, ierr)
        call check(all(numbers == [12, 200]), 'contents by precision')
        call MPI_Type_create_f90_integer(15, type, ierr)
        i = 2_long**40 + rank
        call MPI_Allreduce(i, j, 1, type, MPI_SUM, MPI_COMM_WORLD, ierr)
        call check(j == n * 2_long**40 + n * (n - 1) / 2, 'integers by range')
        call MPI_Type_create_f90_complex(5, MPI_UNDEFINED, type, ierr)
        call MPI_Type_size(type, size, ierr)
        call check(size == 8, 'complex by precision')
        call MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 2, type, ierr)
        call check(type == MPI_INTEGER2, 'Type_match_size')
        call MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, type, ierr)
        call check(type == MPI_COMPLEX16 .or. type == MPI_DOUBLE_COMPLEX, 'Type_match_size of complex')
    end subroutine

    ! A column of one process is a row of the other; statuses are changed by the program.
    subroutine swapped()
        real :: a(3, 4), b(4, 3)
        HANDLE(MPI_Datatype) :: row, rows
        STATUS(status)
        integer :: i, count
        integer(kind=MPI_COUNT_KIND) :: long
        logical :: flag
        a = reshape([(real(i), i = 1, 12)], [3, 4])
        b = 0
        call MPI_Type_vector(4, 1, 3, MPI_REAL, row, ierr)
        call MPI_Type_create_resized(row, 0_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND, rows, ierr)
        call MPI_Type_commit(rows, ierr)
        call MPI_Sendrecv(a, 3, rows, rank, 1, b, 12, MPI_REAL, rank, 1, MPI_COMM_WORLD, status, ierr)
        call check(all(b == transpose(a)), 'transposed')
        call MPI_Get_elements_x(status, MPI_REAL, long, ierr)
        call check(long == 12, 'Get_elements_x')
        call MPI_Type_size_x(rows, long, ierr)
        call check(long == 16, 'Type_size_x')
        call MPI_Status_set_elements(status, MPI_INTEGER, 5, ierr)
        call MPI_Status_set_cancelled(status, .true., ierr)
        call MPI_Get_count(status, MPI_INTEGER, count, ierr)
        call MPI_Test_cancelled(status, flag, ierr)
        call check(count == 5 .and. flag, 'a status that was set')
        call MPI_Type_free(row, ierr)
        call MPI_Type_free(rows, ierr)
    end subroutine
end subroutine
