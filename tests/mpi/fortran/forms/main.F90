! SPDX-License-Identifier: BSD-3-Clause
! The chapters that are named as arguments, one after another; then how many checks failed.
#include "form.inc"
program main
    USE_MPI
    use checking
    implicit none
#if FORM == 0
    include 'mpif.h'
#endif
    integer :: i, ierr, provided, all_bad
    character(len=32) :: chapter
    call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierr)
    call check(provided >= MPI_THREAD_FUNNELED, 'thread level')
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
    do i = 1, command_argument_count()
        call get_command_argument(i, chapter)
        select case (chapter)
        case ('pt2pt')
            call pt2pt()
        case ('part')
            call part()
        case ('datatype')
            call datatypes()
        case ('coll')
            call collectives()
        case ('comm')
            call communicators()
        case ('topo')
            call topologies()
        case ('attr')
            call attributes()
        case ('info')
            call infos()
        case ('rma')
            call windows()
        case ('io')
            call files()
        case ('session')
            call sessions()
        case default
            call check(.false., 'a chapter of this name: '//chapter)
        end select
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end do
    call MPI_Allreduce(bad, all_bad, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(a,i0,a,i0)', 'ranks ', n, ' failed ', all_bad
    call MPI_Finalize(ierr)
    if (all_bad /= 0) stop 1
end program
