# SPDX-License-Identifier: BSD-3-Clause
# KEEL_LIBS: headers (hwloc: mpiexec opens the library itself, when it is needed) and libraries of the launcher, the tools and the tests.  libmpi itself is linked with libc alone; ch_tcp and mpiexec load nettle when
# they first connect to another process.
AC_DEFUN([KEEL_LIBS], [
AC_ARG_WITH([hwloc], [AS_HELP_STRING([--without-hwloc], [build mpiexec without hwloc])])
have_hwloc=no
AS_IF([test "x$with_hwloc" != xno],
      [PKG_CHECK_MODULES([HWLOC], [hwloc >= 2.0],
                         [have_hwloc=yes; AC_DEFINE([HAVE_HWLOC], [1], [hwloc is there, for mpiexec])], [have_hwloc=no])])
PKG_CHECK_MODULES([LIBDW], [libdw],
                  [have_libdw=yes; AC_DEFINE([HAVE_LIBDW], [1], [libdw's headers are there, for mpiexec])], [have_libdw=no])
PKG_CHECK_MODULES([PMIX], [pmix >= 3],
                  [have_pmix=yes; AC_DEFINE([HAVE_PMIX], [1], [PMIx's headers are there])
                   PKG_CHECK_VAR([PMIX_LIBDIR], [pmix], [libdir])
                   AC_DEFINE_UNQUOTED([PMIX_LIBDIR], ["$PMIX_LIBDIR"], [where libpmix is])], [have_pmix=no])
PKG_CHECK_MODULES([NETTLE], [nettle >= 3.4], [],
                  [AC_MSG_ERROR([nettle (Debian: nettle-dev) is missing: connections between processes are authenticated by its HMAC-SHA-256])])
AC_CACHE_CHECK([for the name of nettle's shared library], [keel_cv_nettle_soname], [
    keel_save_LIBS=$LIBS
    LIBS="-Wl,--no-as-needed $NETTLE_LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM],
                   [keel_cv_nettle_soname=`LC_ALL=C ${READELF-readelf} -d conftest$ac_exeext | sed -n 's/.*\@<:@\(libnettle@<:@^@:>@@:>@*\)\@:>@.*/\1/p'`])
    LIBS=$keel_save_LIBS
    AS_IF([test "x$keel_cv_nettle_soname" = x], [keel_cv_nettle_soname=libnettle.so.8])])
AC_DEFINE_UNQUOTED([NETTLE_SONAME], ["$keel_cv_nettle_soname"], [the shared library with nettle's HMAC-SHA-256])
PKG_CHECK_MODULES([CHECK], [check >= 0.10], [have_check=yes], [have_check=no])
AM_CONDITIONAL([HAVE_CHECK], [test "$have_check" = yes])
])
