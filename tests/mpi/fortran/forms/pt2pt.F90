! SPDX-License-Identifier: BSD-3-Clause
! Point-to-point messages: every mode, blocking, nonblocking and persistent; probes, matched too; buffers; generalized requests.
#include "form.inc"
module pt2pt_functions
    use checking
    implicit none
    integer :: queries = 0, frees = 0, cancels = 0
contains
    subroutine query(extra_state, status, ierror)
        USE_MPI
#if FORM == 0
        include 'mpif.h'
#endif
        integer(kind=MPI_ADDRESS_KIND) :: extra_state
        STATUS(status)
        integer :: ierror
        queries = queries + 1
        SOURCE_OF(status) = int(extra_state)
        TAG_OF(status) = 9
        call MPI_Status_set_elements(status, MPI_REAL, 3, ierror)
        call MPI_Status_set_cancelled(status, .false., ierror)
    end subroutine
    subroutine finish(extra_state, ierror)
        integer(kind=address) :: extra_state
        integer :: ierror
        frees = frees + int(extra_state)
        ierror = 0
    end subroutine
    subroutine cancel(extra_state, complete, ierror)
        integer(kind=address) :: extra_state
        logical :: complete
        integer :: ierror
        if (.not. complete) cancels = cancels + int(extra_state)
        ierror = 0
    end subroutine
end module

subroutine pt2pt()
    USE_MPI
    use checking
    use pt2pt_functions
    implicit none
#if FORM == 0
    include 'mpif.h'
#endif
    integer :: left, right, ierr
    left = modulo(rank - 1, n)
    right = modulo(rank + 1, n)
    call modes()
    call probes()
    call persistent()
    call completions()
    call generalized()
contains
    subroutine modes()
        real :: out(100), in(100)
        double precision :: space(400)
        integer :: mode, size, count, i
        HANDLE(MPI_Request) :: request
        STATUS(status)
        call MPI_Pack_size(100, MPI_REAL, MPI_COMM_WORLD, size, ierr)
        size = 2 * (size + MPI_BSEND_OVERHEAD)
        call check(size <= 3200, 'the overhead of buffered sends')
        call MPI_Buffer_attach(space, 3200, ierr)
        do mode = 1, 4
            out = [(1000.0 * rank + i * mode, i = 1, 100)]
            in = -1
            call MPI_Irecv(in, 100, MPI_REAL, left, mode, MPI_COMM_WORLD, request, ierr)
            if (mode == 4) call MPI_Barrier(MPI_COMM_WORLD, ierr) ! a ready send wants its receive
            if (mode == 1) call MPI_Send(out, 50 + mode, MPI_REAL, right, mode, MPI_COMM_WORLD, ierr)
            if (mode == 2) call MPI_Bsend(out, 50 + mode, MPI_REAL, right, mode, MPI_COMM_WORLD, ierr)
            if (mode == 3) call MPI_Ssend(out, 50 + mode, MPI_REAL, right, mode, MPI_COMM_WORLD, ierr)
            if (mode == 4) call MPI_Rsend(out, 50 + mode, MPI_REAL, right, mode, MPI_COMM_WORLD, ierr)
            call MPI_Wait(request, status, ierr)
            call MPI_Get_count(status, MPI_REAL, count, ierr)
            call MPI_Get_elements(status, MPI_REAL, i, ierr)
            call check(count == 50 + mode .and. i == count, 'the count of a mode')
            call check(SOURCE_OF(status) == left .and. TAG_OF(status) == mode, 'the envelope of a mode')
            call check(all(in(:count) == [(1000.0 * left + i * mode, i = 1, count)]) .and. all(in(count + 1:) == -1), 'the data of a mode')
            call nonblocking(mode, out, in)
        end do
        in(1) = rank
        call MPI_Sendrecv_replace(in, 1, MPI_REAL, right, 5, left, 5, MPI_COMM_WORLD, status, ierr)
        call check(in(1) == left .and. SOURCE_OF(status) == left, 'Sendrecv_replace')
        call MPI_Sendrecv(out, 1, MPI_REAL, MPI_PROC_NULL, 5, in, 1, MPI_REAL, MPI_PROC_NULL, 5, MPI_COMM_WORLD, status, ierr)
        call MPI_Get_count(status, MPI_REAL, count, ierr)
        call check(SOURCE_OF(status) == MPI_PROC_NULL .and. TAG_OF(status) == MPI_ANY_TAG .and. count == 0, 'MPI_PROC_NULL')
        call detach(size)
        call check(size == 3200, 'Buffer_detach')
    end subroutine

    ! The address is that of the space: mpi_f08 gives it as a C_PTR, the others as an INTEGER of address kind.
    subroutine detach(size)
        use, intrinsic :: iso_c_binding, only: c_ptr
        integer, intent(out) :: size
#if FORM == 8
        type(c_ptr) :: where
#else
        integer(kind=MPI_ADDRESS_KIND) :: where
#endif
        call MPI_Buffer_detach(where, size, ierr)
    end subroutine

    subroutine nonblocking(mode, out, in)
        integer, intent(in) :: mode
        real, asynchronous :: out(100), in(100)
        HANDLE(MPI_Request) :: requests(2)
        STATUSES(statuses, 2)
        integer :: i, count
        out(1) = rank + mode
        in = -1
        call MPI_Irecv(in, 100, MPI_REAL, MPI_ANY_SOURCE, 10 + mode, MPI_COMM_WORLD, requests(1), ierr)
        if (mode == 4) call MPI_Barrier(MPI_COMM_WORLD, ierr)
        if (mode == 1) call MPI_Isend(out, 1, MPI_REAL, right, 10 + mode, MPI_COMM_WORLD, requests(2), ierr)
        if (mode == 2) call MPI_Ibsend(out, 1, MPI_REAL, right, 10 + mode, MPI_COMM_WORLD, requests(2), ierr)
        if (mode == 3) call MPI_Issend(out, 1, MPI_REAL, right, 10 + mode, MPI_COMM_WORLD, requests(2), ierr)
        if (mode == 4) call MPI_Irsend(out, 1, MPI_REAL, right, 10 + mode, MPI_COMM_WORLD, requests(2), ierr)
        call MPI_Waitall(2, requests, statuses, ierr)
        call MPI_Get_count(STATUS_AT(statuses, 1), MPI_REAL, count, ierr)
        call check(SOURCE_AT(statuses, 1) == left .and. TAG_AT(statuses, 1) == 10 + mode .and. count == 1, 'a nonblocking mode')
        call check(in(1) == left + mode .and. all(in(2:) == -1), 'the data of a nonblocking mode')
        call check(all([(requests(i) == MPI_REQUEST_NULL, i = 1, 2)]), 'requests are null')
    end subroutine

    subroutine probes()
        character(len=12) :: out, in
        HANDLE(MPI_Message) :: message
        HANDLE(MPI_Request) :: request, receive
        STATUS(status)
        logical :: flag
        integer :: i, count
        do i = 1, 4
            write (out, '(a,i0)') 'from ', rank
            in = repeat('x', 12)
            call MPI_Isend(out, len_trim(out), MPI_CHARACTER, right, i, MPI_COMM_WORLD, request, ierr)
            flag = .false.
            select case (i)
            case (1)
                call MPI_Probe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, status, ierr)
            case (2)
                do while (.not. flag)
                    call MPI_Iprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, flag, status, ierr)
                end do
            case (3)
                call MPI_Mprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, message, status, ierr)
            case (4)
                do while (.not. flag)
                    call MPI_Improbe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, flag, message, status, ierr)
                end do
            end select
            call MPI_Get_count(status, MPI_CHARACTER, count, ierr)
            call check(SOURCE_OF(status) == left .and. TAG_OF(status) == i .and. count >= 6, 'a probe')
            if (i <= 2) call MPI_Recv(in, count, MPI_CHARACTER, left, i, MPI_COMM_WORLD, status, ierr)
            if (i == 3) call MPI_Mrecv(in, count, MPI_CHARACTER, message, status, ierr)
            if (i == 4) then
                call MPI_Imrecv(in, count, MPI_CHARACTER, message, receive, ierr)
                call MPI_Wait(receive, status, ierr)
            end if
            if (i > 2) call check(message == MPI_MESSAGE_NULL, 'a message that was received')
            write (out, '(a,i0)') 'from ', left
            call check(in(:count) == out .and. in(count + 1:) == repeat('x', 12 - count), 'a text')
            write (out, '(a,i0)') 'from ', rank
            call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        end do
        call MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, flag, status, ierr)
        call check(.not. flag, 'no message')
        call MPI_Mprobe(MPI_PROC_NULL, 77, MPI_COMM_WORLD, message, status, ierr)
        call check(message == MPI_MESSAGE_NO_PROC, 'MPI_MESSAGE_NO_PROC')
        call MPI_Mrecv(in, 0, MPI_CHARACTER, message, status, ierr)
        call check(SOURCE_OF(status) == MPI_PROC_NULL, 'of no process')
    end subroutine

    subroutine persistent()
        integer, asynchronous :: out(4), in(4)
        HANDLE(MPI_Request) :: requests(8)
        integer :: i, round
        double precision :: space(100)
        call MPI_Buffer_attach(space, 800, ierr)
        do i = 1, 4
            call MPI_Recv_init(in(i), 1, MPI_INTEGER, left, i, MPI_COMM_WORLD, requests(i), ierr)
        end do
        call MPI_Send_init(out(1), 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(5), ierr)
        call MPI_Bsend_init(out(2), 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD, requests(6), ierr)
        call MPI_Ssend_init(out(3), 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD, requests(7), ierr)
        call MPI_Rsend_init(out(4), 1, MPI_INTEGER, right, 4, MPI_COMM_WORLD, requests(8), ierr)
        do round = 1, 3
            in = -1
            out = [(100 * rank + 10 * round + i, i = 1, 4)]
            call MPI_Startall(4, requests, ierr)
            call MPI_Barrier(MPI_COMM_WORLD, ierr)
            call MPI_Start(requests(8), ierr)
            call MPI_Startall(3, requests(5:7), ierr)
            call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE, ierr)
            call check(all(in == [(100 * left + 10 * round + i, i = 1, 4)]), 'persistent requests')
            call check(all([(requests(i) /= MPI_REQUEST_NULL, i = 1, 8)]), 'persistent requests stay')
        end do
        do i = 1, 8
            call MPI_Request_free(requests(i), ierr)
            call check(requests(i) == MPI_REQUEST_NULL, 'a request that was freed')
        end do
        call detach(i)
    end subroutine

    subroutine completions()
        integer, asynchronous :: in(3), one
        HANDLE(MPI_Request) :: requests(3), request
        STATUSES(statuses, 3)
        STATUS(status)
        integer :: indices(3), outcount, index, i, seen
        logical :: flag
        in = -1
        do i = 1, 3
            call MPI_Irecv(in(i), 1, MPI_INTEGER, rank, 20 + i, MPI_COMM_WORLD, requests(i), ierr)
        end do
        call MPI_Testany(3, requests, index, flag, status, ierr)
        call check(.not. flag .and. index == MPI_UNDEFINED, 'Testany of none')
        call MPI_Testsome(3, requests, outcount, indices, statuses, ierr)
        call check(outcount == 0, 'Testsome of none')
        call MPI_Testall(3, requests, flag, statuses, ierr)
        call check(.not. flag, 'Testall of none')
        call MPI_Request_get_status(requests(2), flag, status, ierr)
        call check(.not. flag, 'Request_get_status of none')
        call MPI_Send(32, 1, MPI_INTEGER, rank, 22, MPI_COMM_WORLD, ierr)
        call MPI_Waitany(3, requests, index, status, ierr)
        call check(index == 2 .and. in(2) == 32 .and. TAG_OF(status) == 22, 'Waitany')
        call MPI_Send(33, 1, MPI_INTEGER, rank, 23, MPI_COMM_WORLD, ierr)
        call MPI_Waitsome(3, requests, outcount, indices, statuses, ierr)
        call check(outcount == 1 .and. indices(1) == 3 .and. TAG_AT(statuses, 1) == 23, 'Waitsome')
        call MPI_Send(31, 1, MPI_INTEGER, rank, 21, MPI_COMM_WORLD, ierr)
        flag = .false.
        do while (.not. flag)
            call MPI_Testany(3, requests, index, flag, status, ierr)
        end do
        call check(index == 1 .and. all(in == [31, 32, 33]), 'Testany')
        call MPI_Waitsome(3, requests, outcount, indices, statuses, ierr)
        call check(outcount == MPI_UNDEFINED, 'Waitsome of null requests')
        seen = 0
        do i = 1, 2
            call MPI_Irecv(in(i), 1, MPI_INTEGER, rank, 20, MPI_COMM_WORLD, requests(i), ierr)
        end do
        do i = 1, 2
            call MPI_Send(i, 1, MPI_INTEGER, rank, 20, MPI_COMM_WORLD, ierr)
        end do
        do while (seen < 2)
            call MPI_Testsome(3, requests, outcount, indices, MPI_STATUSES_IGNORE, ierr)
            if (outcount > 0) seen = seen + outcount
        end do
        call check(in(1) == 1 .and. in(2) == 2, 'in order')
        call MPI_Irecv(one, 1, MPI_INTEGER, rank, 99, MPI_COMM_WORLD, request, ierr)
        call MPI_Cancel(request, ierr)
        call MPI_Wait(request, status, ierr)
        call MPI_Test_cancelled(status, flag, ierr)
        call check(flag, 'a receive that was cancelled')
        call MPI_Irecv(one, 1, MPI_INTEGER, rank, 98, MPI_COMM_WORLD, request, ierr)
        call MPI_Test(request, flag, status, ierr)
        call check(.not. flag, 'Test of none')
        call MPI_Send(7, 1, MPI_INTEGER, rank, 98, MPI_COMM_WORLD, ierr)
        do while (.not. flag)
            call MPI_Request_get_status(request, flag, status, ierr)
        end do
        call check(TAG_OF(status) == 98 .and. request /= MPI_REQUEST_NULL, 'Request_get_status')
        call MPI_Test(request, flag, MPI_STATUS_IGNORE, ierr)
        call check(flag .and. request == MPI_REQUEST_NULL .and. one == 7, 'Test')
    end subroutine

    subroutine generalized()
        HANDLE(MPI_Request) :: request
        STATUS(status)
        integer :: count
        logical :: flag
        call MPI_Grequest_start(query, finish, cancel, 5_MPI_ADDRESS_KIND, request, ierr)
        call MPI_Test(request, flag, status, ierr)
        call check(.not. flag .and. queries == 0, 'not complete yet')
        call MPI_Cancel(request, ierr)
        call check(cancels == 5, 'cancelled')
        call MPI_Grequest_complete(request, ierr)
        call MPI_Wait(request, status, ierr)
        call MPI_Get_count(status, MPI_REAL, count, ierr)
        call MPI_Test_cancelled(status, flag, ierr)
        call check(SOURCE_OF(status) == 5 .and. TAG_OF(status) == 9 .and. count == 3 .and. .not. flag, 'the status of a generalized request')
        call check(queries == 1 .and. frees == 5, 'asked and freed once')
    end subroutine
end subroutine
