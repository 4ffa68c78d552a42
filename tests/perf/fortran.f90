! SPDX-License-Identifier: BSD-3-Clause
! What a call costs in Fortran more than in C, and a section as a buffer beside MPI_Pack: both sides in turns, the median of the rounds.
module other_forms
    implicit none
contains
    function mpi_messages(n) result(seconds)
        use mpi
        use, intrinsic :: iso_c_binding
        integer, intent(in) :: n
        real(c_double) :: seconds, start
        integer :: out, in, i, ierror
        interface
            real(c_double) function c_now() bind(c)
                import
            end function
        end interface
        out = 1
        start = c_now()
        do i = 1, n
            call MPI_Send(out, 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierror)
            call MPI_Recv(in, 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
        end do
        seconds = c_now() - start
    end function
end module

program costs
    use mpi_f08
    use other_forms
    use, intrinsic :: iso_c_binding
    implicit none
    interface
        real(c_double) function c_now() bind(c)
            import
        end function
        real(c_double) function c_messages(n) bind(c)
            import
            integer(c_int), value :: n
        end function
        real(c_double) function c_sections(n, from, packed, to, count) bind(c)
            import
            integer(c_int), value :: n, count
            real(c_double) :: from(*), packed(*), to(*)
        end function
    end interface
    integer, parameter :: rounds = 31, n = 20000
    integer, parameter :: counts(3) = [1000, 50000, 500000]
    integer :: r, count, k
    real(c_double) :: c(rounds), f08(rounds), old(rounds)
    real(c_double), allocatable, asynchronous :: from(:), packed(:), to(:)
    call MPI_Init()
    do r = 1, rounds
        c(r) = c_messages(n)
        f08(r) = f08_messages(n)
        old(r) = mpi_messages(n)
    end do
    ! two calls a message
    print '(a,f7.1,a)', 'a call in C:             ', 1d9 * median(c) / (2 * n), ' ns'
    print '(a,f7.1,a)', 'mpi_f08 adds:            ', 1d9 * median(f08 - c) / (2 * n), ' ns; the goal is at most 15'
    print '(a,f7.1,a)', 'mpi and mpif.h add:      ', 1d9 * median(old - c) / (2 * n), ' ns; the goal is at most 15'
    do k = 1, 3
        count = counts(k)
        allocate(from(2 * count), packed(count), to(count))
        from = 1
        packed = 0
        do r = 1, rounds
            c(r) = c_sections(200000 / count + 1, from, packed, to, count)
            f08(r) = f08_sections(200000 / count + 1)
        end do
        print '(a,i8,a,f5.2,a)', 'a section of ', 8 * count, ' bytes: ', median(c / f08), ' of the speed of MPI_Pack'
        if (any(to /= 1)) stop 1
        deallocate(from, packed, to)
    end do
    call MPI_Finalize()
contains
    real(c_double) function f08_messages(n) result(seconds)
        integer, intent(in) :: n
        integer :: out, in, i
        real(c_double) :: start
        out = 1
        start = c_now()
        do i = 1, n
            call MPI_Send(out, 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF)
            call MPI_Recv(in, 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE)
        end do
        seconds = c_now() - start
    end function

    real(c_double) function f08_sections(n) result(seconds)
        integer, intent(in) :: n
        type(MPI_Request) :: request
        integer :: i
        real(c_double) :: start
        start = c_now()
        do i = 1, n
            call MPI_Irecv(to, count, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_SELF, request)
            call MPI_Send(from(1::2), count, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_SELF)
            call MPI_Wait(request, MPI_STATUS_IGNORE)
        end do
        seconds = c_now() - start
    end function

    real(c_double) function median(x)
        real(c_double), intent(in) :: x(:)
        real(c_double) :: y(size(x)), t
        integer :: i, j
        y = x
        do i = 2, size(y)
            t = y(i)
            do j = i - 1, 1, -1
                if (y(j) <= t) exit
                y(j + 1) = y(j)
            end do
            y(j + 1) = t
        end do
        median = y((size(y) + 1) / 2)
    end function
end program
