# SPDX-License-Identifier: BSD-3-Clause
# KEEL_FORTRAN: a Fortran compiler for the modules, if there is one.  It has to know TYPE(*), DIMENSION(..) of Fortran 2018.
AC_DEFUN([KEEL_FORTRAN], [
AC_ARG_ENABLE([fortran], [AS_HELP_STRING([--disable-fortran], [build no Fortran bindings])])
AC_ARG_VAR([FC], [Fortran compiler])
AS_IF([test "x$enable_fortran" = xno], [FC=],
      [AC_CHECK_PROGS([FC], [gfortran flang-new flang])])
have_fortran=no
AS_IF([test "x$FC" != x], [
    AC_MSG_CHECKING([whether $FC knows what the modules need])
    cat >conftest.f90 <<'_KEEL'
subroutine s(buf, n) bind(C,name="keel_s")
  type(*), dimension(..), asynchronous :: buf
  integer, optional, intent(out) :: n
end subroutine
program p
  if (storage_size(1) /= 32) stop 1
end program
_KEEL
    AS_IF([$FC -c conftest.f90 -o conftest.o >&AS_MESSAGE_LOG_FD 2>&1], [have_fortran=yes])
    dnl Options that change the kinds of INTEGER and REAL, with commas: modules are built for each set of them.
    i=-fdefault-integer-8 r=-fdefault-real-8 d=-fdefault-double-8
    echo end >conftest.f90
    FORTRAN_KINDS=
    AS_IF([$FC $i $r $d -c conftest.f90 -o conftest.o >&AS_MESSAGE_LOG_FD 2>&1],
          [FORTRAN_KINDS="$i $r $r,$d $i,$r $i,$r,$d"])
    AC_SUBST([FORTRAN_KINDS])
    rm -f conftest.f90 conftest.o
    AC_MSG_RESULT([$have_fortran])])
AM_CONDITIONAL([HAVE_FORTRAN], [test "$have_fortran" = yes])
dnl The folder of its modules: the compiler's name without path, options and version.
FORTRAN_NAME=`echo "$FC" | sed 's/ .*//; s|.*/||; s/-@<:@0-9.@:>@*$//'`
AC_SUBST([FORTRAN_NAME])
])
