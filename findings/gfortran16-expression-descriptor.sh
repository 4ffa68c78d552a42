#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# gfortran 16.2.0 (Debian unstable, gfortran-16 16.2.0-4), a procedure in C with BIND(C) and a TYPE(*), DIMENSION(..) argument, valid
# Fortran 2018: for a scalar INTEGER expression without a name (n + 1) the descriptor's base_addr is the value, not an address.  A variable,
# a constant, (n) in parentheses and an array of one element ([n + 1]) are passed as they should be; gcc 12 and 14 do it right.  C only looks
# at the address here and reads nothing there.
#
# Seen: n; n + 1; [n + 1]: an address;the value 42;an address;
. "$(dirname "$0")/common.sh"
system sid gfortran-16=16.2.0-4 libc6-dev
cat >"$root/tmp/look.c" <<'X'
#include <ISO_Fortran_binding.h>
#include <stdint.h>
#include <stdio.h>
void look(CFI_cdesc_t *d)
{
    if ((uintptr_t)d->base_addr < 4096)
        printf("the value %d\n", (int)(intptr_t)d->base_addr);
    else
        printf("an address\n");
    fflush(stdout);
}
X
cat >"$root/tmp/call.f90" <<'X'
program call_it
  implicit none
  interface
    subroutine look(b) bind(c)
      type(*), dimension(..), intent(in) :: b
    end subroutine
  end interface
  integer :: n
  n = 41
  call look(n)
  call look(n + 1)
  call look([n + 1])
end program
X
inside "$root" "cd /tmp && gcc-16 -c look.c && gfortran-16 -o call_it call.f90 look.o" || exit 1
seen=$(inside "$root" /tmp/call_it | tr '\n' ';')
expect "n; n + 1; [n + 1]" "$seen" "an address;the value 42;an address;"
