# SPDX-License-Identifier: BSD-3-Clause
# KEEL_DEVICES: which devices are built in.  The core reads the list from dev_builtin.h and never names one.
AC_DEFUN([KEEL_DEVICES], [
AC_ARG_WITH([devices], [AS_HELP_STRING([--with-devices=LIST], [devices built in (default: self,shmem,tcp,stub)])],
            [], [with_devices=self,shmem,tcp,stub])
KEEL_DEVICE_LIST=`echo "$with_devices" | tr ',' ' '`
AC_SUBST([KEEL_DEVICE_LIST])
])
