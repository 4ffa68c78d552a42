# SPDX-License-Identifier: BSD-3-Clause
# KEEL_WARNINGS: flags every file is compiled with.  --enable-werror is for CI: what compiler a user has, and of what it
# warns, is no reason to have no library.
AC_DEFUN([KEEL_WARNINGS], [
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [treat warnings as errors])],
              [], [enable_werror=no])
KEEL_CFLAGS="-std=gnu11 -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -fvisibility=hidden -fno-math-errno -fno-strict-aliasing"
AS_IF([test "$enable_werror" = yes], [KEEL_CFLAGS="$KEEL_CFLAGS -Werror"])
AC_SUBST([KEEL_CFLAGS])
])
