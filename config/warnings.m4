# KEEL_WARNINGS: flags every file is compiled with.  --disable-werror for compilers newer than we have seen.
AC_DEFUN([KEEL_WARNINGS], [
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--disable-werror], [do not treat warnings as errors])],
              [], [enable_werror=yes])
KEEL_CFLAGS="-std=gnu11 -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -fvisibility=hidden -fno-math-errno -fno-strict-aliasing"
AS_IF([test "$enable_werror" = yes], [KEEL_CFLAGS="$KEEL_CFLAGS -Werror"])
AC_SUBST([KEEL_CFLAGS])
])
