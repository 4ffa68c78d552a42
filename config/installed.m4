# SPDX-License-Identifier: BSD-3-Clause
# KEEL_INSTALLED: how what is installed finds the rest of it.  The tree may be moved, so the paths are relative: programs and libraries
# carry $ORIGIN, and code asks src/util/installed.h.  The names of the commands are as --program-prefix and --program-suffix make them.
AC_DEFUN([KEEL_INSTALLED], [
dnl libtool would give each program and library the absolute folder of what it is linked to.
hardcode_libdir_flag_spec=
runpath_var=KEEL_NO_RUN_PATH
keel_prefix=$prefix keel_exec_prefix=$exec_prefix
AS_IF([test "x$prefix" = xNONE], [prefix=$ac_default_prefix])
AS_IF([test "x$exec_prefix" = xNONE], [exec_prefix=$prefix])
eval "keel_bindir=$bindir"
eval "keel_bindir=$keel_bindir"
eval "keel_libdir=$libdir"
eval "keel_libdir=$keel_libdir"
eval "keel_datadir=$datadir"
eval "keel_datadir=$keel_datadir"
eval "keel_datadir=$keel_datadir"
keel_home=$prefix
prefix=$keel_prefix exec_prefix=$keel_exec_prefix
KEEL_RELATIVE([KEEL_LIB_FROM_BIN], [$keel_libdir], [$keel_bindir])
KEEL_RELATIVE([KEEL_BIN_FROM_LIB], [$keel_bindir], [$keel_libdir])
KEEL_RELATIVE([KEEL_HOME_FROM_BIN], [$keel_home], [$keel_bindir])
KEEL_RELATIVE([KEEL_HOME_FROM_PC], [$keel_home], [$keel_libdir/pkgconfig])
KEEL_RELATIVE([KEEL_HOME_FROM_ALIASES], [$keel_home], [$keel_datadir/keel/pkgconfig-aliases])
AC_DEFINE_UNQUOTED([KEEL_LIB_FROM_BIN], ["$KEEL_LIB_FROM_BIN"], [the way from the commands to the libraries])
AC_DEFINE_UNQUOTED([KEEL_BIN_FROM_LIB], ["$KEEL_BIN_FROM_LIB"], [the way from the libraries to the commands])
dnl Where the loader looks anyway, a path of our own would only be in the way; and pkg-config knows the prefix of the system by its name.
KEEL_BIN_LDFLAGS= KEEL_LIB_LDFLAGS= KEEL_BY_HAND=. KEEL_FROM_BY_HAND=
case $keel_libdir in
/lib | /lib64 | /usr/lib | /usr/lib64 | /usr/lib/*-linux-gnu*) KEEL_PC_PREFIX='$(prefix)' KEEL_ALIASES_PREFIX='$(prefix)'
    dnl The names that other MPIs' libraries have, too (libmpi.so): there they may be those of packages.
    KEEL_BY_HAND=keel/dev KEEL_FROM_BY_HAND=../../ ;;
*)
    KEEL_PC_PREFIX="\$\${pcfiledir}/$KEEL_HOME_FROM_PC"
    KEEL_ALIASES_PREFIX="\$\${pcfiledir}/$KEEL_HOME_FROM_ALIASES"
    KEEL_BIN_LDFLAGS="-Wl,-rpath,'\$\$ORIGIN/$KEEL_LIB_FROM_BIN' -Wl,--enable-new-dtags"
    KEEL_LIB_LDFLAGS="-Wl,-rpath,'\$\$ORIGIN' -Wl,--enable-new-dtags" ;;
esac
AC_SUBST([KEEL_BY_HAND])
AC_SUBST([KEEL_FROM_BY_HAND])
AC_SUBST([KEEL_BIN_LDFLAGS])
AC_SUBST([KEEL_LIB_LDFLAGS])
AC_SUBST([KEEL_PC_PREFIX])
AC_SUBST([KEEL_ALIASES_PREFIX])
keel_transform=`AS_ECHO(["$program_transform_name"]) | sed 's/@<:@@S|@@:>@@<:@@S|@@:>@/@S|@/g'`
KEEL_MPIEXEC=`echo mpiexec | sed "$keel_transform"`
AC_DEFINE_UNQUOTED([KEEL_MPIEXEC], ["$KEEL_MPIEXEC"], [the installed name of mpiexec])
])

# KEEL_RELATIVE(NAME, FOLDER, FROM): the relative path to FOLDER.
AC_DEFUN([KEEL_RELATIVE], [
$1=`$PYTHON -c 'import os, sys; print(os.path.relpath(sys.argv@<:@1@:>@, sys.argv@<:@2@:>@))' "$2" "$3"`
AC_SUBST([$1])
])
