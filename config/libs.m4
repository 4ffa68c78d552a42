# KEEL_LIBS: headers (hwloc: mpiexec opens the library itself, when it is needed) and libraries of the launcher, the tools and the tests.  libmpi itself needs libc alone.
AC_DEFUN([KEEL_LIBS], [
AC_ARG_WITH([hwloc], [AS_HELP_STRING([--without-hwloc], [build mpiexec without hwloc])])
have_hwloc=no
AS_IF([test "x$with_hwloc" != xno],
      [PKG_CHECK_MODULES([HWLOC], [hwloc >= 2.0],
                         [have_hwloc=yes; AC_DEFINE([HAVE_HWLOC], [1], [hwloc is there, for mpiexec])], [have_hwloc=no])])
PKG_CHECK_MODULES([LIBDW], [libdw],
                  [have_libdw=yes; AC_DEFINE([HAVE_LIBDW], [1], [libdw's headers are there, for mpiexec])], [have_libdw=no])
PKG_CHECK_MODULES([CHECK], [check >= 0.10], [have_check=yes], [have_check=no])
AM_CONDITIONAL([HAVE_CHECK], [test "$have_check" = yes])
])
