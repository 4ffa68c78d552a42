# KEEL_OUTPUT_FILES: further files made from .in files, each named by the part that needs it.
# KEEL_SUMMARY: what was found and what that switches on.
AC_DEFUN([KEEL_OUTPUT_FILES], [
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
