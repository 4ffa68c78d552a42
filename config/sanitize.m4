# SPDX-License-Identifier: BSD-3-Clause
# KEEL_SANITIZE: --enable-sanitize=address,undefined; --enable-coverage; --enable-lock-order.
#
# gcov would write its counts down before each exec, under a lock: one that mpiexec shares with the child of a vfork, which may be killed just then.
# So it does not see exec.
AC_DEFUN([KEEL_SANITIZE], [
AC_ARG_ENABLE([sanitize], [AS_HELP_STRING([--enable-sanitize=LIST], [build with -fsanitize=LIST])],
              [KEEL_SANITIZE_CFLAGS="-fsanitize=$enableval -fno-omit-frame-pointer -fno-sanitize-recover=undefined"],
              [enable_sanitize=no])
AC_ARG_ENABLE([coverage], [AS_HELP_STRING([--enable-coverage], [build for gcov])],
              [KEEL_SANITIZE_CFLAGS="$KEEL_SANITIZE_CFLAGS --coverage -fno-builtin-execv -fno-builtin-execve"], [enable_coverage=no])
AC_ARG_ENABLE([lock-order], [AS_HELP_STRING([--enable-lock-order], [a process that takes locks in a wrong order ends (util/lock.h)])],
              [AS_IF([test "$enableval" != no], [KEEL_SANITIZE_CFLAGS="$KEEL_SANITIZE_CFLAGS -DKEEL_LOCK_ORDER"])], [enable_lock_order=no])
AC_SUBST([KEEL_SANITIZE_CFLAGS])
])
