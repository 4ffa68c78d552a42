#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# UCX 1.18.1 (Debian 13; 1.23.0rc1 of unstable likewise) makes a thread when libucp or libucs is loaded, before any of its functions is called, so also by
# dlopen or for a program that is linked with it and never uses it.  (In these packages the thread ends within milliseconds.)  It begins with the signals open
# that are open in the loading thread, so a signal to the process may be handled there.  One would have guessed that loading has no such effect, and that a
# program may block signals, or set its user namespace, once it has loaded its plug-ins.  UCX 1.13.1 (Debian 12) makes its thread in ucp_init.
# UCX_VFS_ENABLE=n, set before, has UCX make none.
#
# Seen: threads made by dlopen: 1, SIGUSR1 open there: yes
#       with UCX_VFS_ENABLE=n: threads made by dlopen: 0, SIGUSR1 open there: no thread
. "$(dirname "$0")/common.sh"
system trixie libucx0=1.18.1+ds-2+b1 gcc libc6-dev
cat >"$root/tmp/load.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
static int made;
static const char *open_there = "no thread";
/* In place of the C library's, for what is loaded later: looks, and hands on. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
    sigset_t blocked; /* a thread begins with those of its maker */
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    open_there = sigismember(&blocked, SIGUSR1) ? "no" : "yes";
    made++;
    return real(thread, attr, start, arg);
}
int main(void)
{
    if (!dlopen("libucp.so.0", RTLD_NOW))
        printf("not loaded: %s\n", dlerror());
    printf("threads made by dlopen: %d, SIGUSR1 open there: %s\n", made, open_there);
    return 0;
}
C
inside "$root" "gcc -rdynamic -o /tmp/load /tmp/load.c" || exit 1
expect "as it is" "$(inside "$root" /tmp/load)" "threads made by dlopen: 1, SIGUSR1 open there: yes"
expect "with UCX_VFS_ENABLE=n" "$(inside "$root" "UCX_VFS_ENABLE=n /tmp/load")" "threads made by dlopen: 0, SIGUSR1 open there: no thread"
