# SPDX-License-Identifier: BSD-3-Clause
# KEEL_RDMA: libraries of networks that plug-in devices are built over: ch_ofi, ch_ucx.  libmpi never needs them.
AC_DEFUN([KEEL_RDMA], [
AC_ARG_WITH([ofi], [AS_HELP_STRING([--without-ofi], [do not build the plug-in ch_ofi (libfabric)])])
AC_ARG_WITH([ucx], [AS_HELP_STRING([--without-ucx], [do not build the plug-in ch_ucx (UCX)])])
have_ofi="no (--without-ofi)"
AS_IF([test "x$with_ofi" != xno],
      [PKG_CHECK_MODULES([OFI], [libfabric >= 1.9], [have_ofi=yes],
                         [have_ofi="no (libfabric >= 1.9 is not there; Debian: libfabric-dev)"
                          AS_IF([test "x$with_ofi" = xyes], [AC_MSG_ERROR([libfabric is not there])])])])
have_ucx="no (--without-ucx)"
AS_IF([test "x$with_ucx" != xno],
      [PKG_CHECK_MODULES([UCX], [ucx >= 1.12], [have_ucx=yes],
                         [have_ucx="no (UCX >= 1.12 is not there; Debian: libucx-dev)"
                          AS_IF([test "x$with_ucx" = xyes], [AC_MSG_ERROR([UCX is not there])])])])
AM_CONDITIONAL([HAVE_OFI], [test "$have_ofi" = yes])
AM_CONDITIONAL([HAVE_UCX], [test "$have_ucx" = yes])
])
