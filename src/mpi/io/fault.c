/* SPDX-License-Identifier: BSD-3-Clause */
/* fault.c: catch the SIGBUS of a store to a page of a file that was truncated.
 *
 * The handler is there while some thread is guarded.  A SIGBUS that concerns no mapping of this thread goes to
 * whoever had the signal before. */
#include "config.h"
#include "fault.h"
#include "util/lock.h"
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>

static struct ku_lock lock = KU_LOCK(KU_LOCK_TABLE);
static int guarded KU_GUARDED_BY(lock); /* threads */
static struct sigaction before;
struct guard {
    sigjmp_buf back;
    uintptr_t map;
    size_t len;
};
static _Thread_local struct guard *volatile here; /* NULL: not guarded */

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
    if (here && (uintptr_t)info->si_addr - here->map < here->len)
        siglongjmp(here->back, 1);
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(sig, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(sig);
    else
        sigaction(SIGBUS, &before, NULL); /* the same instruction faults again */
}

static void fault_count(int by)
{
    ku_lock(&lock);
    if (by > 0 && guarded == 0) {
        struct sigaction ours = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_NODEFER };
        sigemptyset(&ours.sa_mask);
        sigaction(SIGBUS, &ours, &before);
    }
    guarded += by;
    if (guarded == 0)
        sigaction(SIGBUS, &before, NULL);
    ku_unlock(&lock);
}

bool MPIR_Io_guard(void (*fn)(void *arg), void *arg, void *map, size_t len)
{
    struct guard guard = { .map = (uintptr_t)map, .len = len };
    fault_count(1);
    volatile bool whole = false;
    if (sigsetjmp(guard.back, 0) == 0) {
        here = &guard;
        fn(arg);
        whole = true;
    }
    here = NULL;
    fault_count(-1);
    return whole;
}
