! SPDX-License-Identifier: BSD-3-Clause
! What the chapters share: who this process is, and what turned out not to be so.
module checking
    implicit none
    integer :: rank, n, bad = 0
    integer, parameter :: address = 8, offset = 8 ! kinds
contains
    subroutine check(ok, what)
        logical, intent(in) :: ok
        character(len=*), intent(in) :: what
        if (ok) return
        bad = bad + 1
        print '(a,i0,2a)', 'rank ', rank, ' not so: ', what
    end subroutine
end module
