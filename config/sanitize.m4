# KEEL_SANITIZE: --enable-sanitize=address,undefined; --enable-coverage.
AC_DEFUN([KEEL_SANITIZE], [
AC_ARG_ENABLE([sanitize], [AS_HELP_STRING([--enable-sanitize=LIST], [build with -fsanitize=LIST])],
              [KEEL_SANITIZE_CFLAGS="-fsanitize=$enableval -fno-omit-frame-pointer -fno-sanitize-recover=undefined"],
              [enable_sanitize=no])
AC_ARG_ENABLE([coverage], [AS_HELP_STRING([--enable-coverage], [build for gcov])],
              [KEEL_SANITIZE_CFLAGS="$KEEL_SANITIZE_CFLAGS --coverage"], [enable_coverage=no])
AC_SUBST([KEEL_SANITIZE_CFLAGS])
])
