#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# flang 19.1.7 and 21.1.8 (Debian 13, unstable): what a Fortran program passes to a procedure in C with a TYPE(*), DIMENSION(..) argument has not
# the type code that is named after its C type.  The code is of the kind alone: an INTEGER(C_INT) is CFI_type_int32_t, which is another
# number than CFI_type_int; an INTEGER(C_LONG) or (C_SIZE_T) is CFI_type_int64_t alone; a TYPE(C_PTR) is CFI_type_struct, not
# CFI_type_cptr; and a REAL(C_LONG_DOUBLE) is CFI_type_extended_double, a name of flang's own.  One would have guessed, as the codes are
# listed by C type, that an INTEGER(C_INT) is found by `d->type == CFI_type_int`; with gfortran it is, where names of the same kind have
# the same number.  C that is to work with both has to ask for CFI_type_int32_t and the like; for long double they have no name in common.
#
# Seen: flang 19: c_int: int32_t; c_long: int64_t; c_size_t: int64_t; c_long_double: extended_double; c_ptr: struct;
#       gfortran 14: c_int: int int32_t; c_long: long int64_t size_t; c_size_t: long int64_t size_t; c_long_double: long_double; c_ptr: cptr;
. "$(dirname "$0")/common.sh"
system trixie flang-19=1:19.1.7-3+b1 gfortran-14=14.2.0-19 libc6-dev
cat >"$root/tmp/look.c" <<'X'
#include <ISO_Fortran_binding.h>
#include <stdio.h>
#define NAMED(x) if (d->type == CFI_type_##x) printf(" %s", #x)
void look(CFI_cdesc_t *d, const char *what)
{
    printf("%s:", what);
    NAMED(int);
    NAMED(int32_t);
    NAMED(long);
    NAMED(int64_t);
    NAMED(size_t);
    NAMED(long_double);
#ifdef CFI_type_extended_double
    NAMED(extended_double);
#endif
    NAMED(cptr);
    NAMED(struct);
    printf("; ");
    fflush(stdout);
}
X
cat >"$root/tmp/call.f90" <<'X'
program call_it
  use iso_c_binding
  implicit none
  interface
    subroutine look(what, name) bind(c)
      import
      type(*), dimension(..), intent(in) :: what
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
  end interface
  integer(c_int) :: i
  integer(c_long) :: l
  integer(c_size_t) :: s
  real(c_long_double) :: d
  type(c_ptr) :: p
  i = 1; l = 1; s = 1; d = 1; p = c_null_ptr
  call look(i, 'c_int'//c_null_char)
  call look(l, 'c_long'//c_null_char)
  call look(s, 'c_size_t'//c_null_char)
  call look(d, 'c_long_double'//c_null_char)
  call look(p, 'c_ptr'//c_null_char)
end program
X
# Each compiler's own header; flang's alone is copied, since beside it lie others that are not for gcc.
inside "$root" "cd /tmp && mkdir header && cp /usr/lib/llvm-19/include/flang/ISO_Fortran_binding.h header &&
    gcc-14 -Iheader -c -o flang.o look.c && flang-new-19 -o by_flang call.f90 flang.o &&
    gcc-14 -c -o gfortran.o look.c && gfortran-14 -o by_gfortran call.f90 gfortran.o" || exit 1
expect "flang 19" "$(inside "$root" /tmp/by_flang)" \
    "c_int: int32_t; c_long: int64_t; c_size_t: int64_t; c_long_double: extended_double; c_ptr: struct; "
expect "gfortran 14" "$(inside "$root" /tmp/by_gfortran)" \
    "c_int: int int32_t; c_long: long int64_t size_t; c_size_t: long int64_t size_t; c_long_double: long_double; c_ptr: cptr; "
