# KEEL_SANITIZE: --enable-sanitize=address,undefined; --enable-coverage.
#
# gcov would write its counts down before each exec, under a lock: one that mpiexec shares with the child of a vfork, which may be killed just then.
# So it does not see exec.
AC_DEFUN([KEEL_SANITIZE], [
AC_ARG_ENABLE([sanitize], [AS_HELP_STRING([--enable-sanitize=LIST], [build with -fsanitize=LIST])],
              [KEEL_SANITIZE_CFLAGS="-fsanitize=$enableval -fno-omit-frame-pointer -fno-sanitize-recover=undefined"],
              [enable_sanitize=no])
AC_ARG_ENABLE([coverage], [AS_HELP_STRING([--enable-coverage], [build for gcov])],
              [KEEL_SANITIZE_CFLAGS="$KEEL_SANITIZE_CFLAGS --coverage -fno-builtin-execv -fno-builtin-execve"], [enable_coverage=no])
AC_SUBST([KEEL_SANITIZE_CFLAGS])
])
