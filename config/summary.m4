# SPDX-License-Identifier: BSD-3-Clause
# KEEL_BUILT: include/built.h, what was chosen here as strings of C, for what mpiexec -info and mpi_info tell.
# KEEL_SUMMARY: what was found and what that switches on.
AC_DEFUN([KEEL_BUILT_STRING], [
$1=$(AS_ECHO(["$2"]) | sed 's/^ *//; s/[[\"]]/\&/g')
AC_SUBST([$1])
AM_SUBST_NOTMAKE([$1])
])
AC_DEFUN([KEEL_BUILT], [
AS_IF([test "$have_fortran" = yes], [keel_fc=$FC], [keel_fc=])
KEEL_BUILT_STRING([KEEL_BUILT_CONFIGURED], [$ac_configure_args])
KEEL_BUILT_STRING([KEEL_BUILT_CC], [$CC])
KEEL_BUILT_STRING([KEEL_BUILT_CFLAGS], [$CFLAGS])
KEEL_BUILT_STRING([KEEL_BUILT_FC], [$keel_fc])
KEEL_BUILT_STRING([KEEL_BUILT_DEVICES], [$KEEL_DEVICE_LIST])
AC_CONFIG_FILES([include/built.h])
])
AC_DEFUN([KEEL_SUMMARY], [
AC_MSG_NOTICE([
  keel $PACKAGE_VERSION
    compiler         $CC $CFLAGS
    sanitizers       $enable_sanitize, coverage $enable_coverage
    devices          $KEEL_DEVICE_LIST
    pmix             $have_pmix (programs start under PMIx launchers; libpmix is loaded when one is there)
    ch_ofi           $have_ofi
    ch_ucx           $have_ucx
    hwloc            $have_hwloc (mpiexec: packages, caches, simulated machines; without it: cores and NUMA nodes)
    libdw            $have_libdw (mpiexec: source lines of ranks that hang)
    check            $have_check (unit tests)
    fortran          $have_fortran${FC:+ ($FC)} (mpifort, mpif.h, use mpi, use mpi_f08)
    python           $PYTHON (generates mpi.h and the entry points)
    installs to      $prefix
])
])
