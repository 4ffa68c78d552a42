/* SPDX-License-Identifier: BSD-3-Clause */
/* hush.h: threads that the library, or one that it uses, makes take no signal that is meant for the program. */
#ifndef UTIL_HUSH_H
#define UTIL_HUSH_H

#include <pthread.h>
#include <signal.h>

/* Until ku_hush_end the calling thread takes none, nor does any that is made meanwhile; `but`: one that they do
 * take; 0: none. */
static inline void ku_hush(sigset_t *before, int but)
{
    sigset_t all;
    sigfillset(&all);
    if (but)
        sigdelset(&all, but);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

static inline void ku_hush_end(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

#endif
