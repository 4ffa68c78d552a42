/* SPDX-License-Identifier: BSD-3-Clause */
/* helper.c: the helper: a thread that looks at the devices while the program is in no call.
 *
 * Invariants
 *   1. It touches the core with the device lock only, and only while it is wanted, which is changed with the
 *      lock.  It never waits for the lock.
 *   2. It steps in when no thread of the program has looked at the devices since it asked last, and none waits.
 *      Else it stays away for a moment, longer each time, AWAY_MOST_MS in the end.
 *   3. Beside a thread of the program that sleeps it changes nothing of what wakes that one (ku_wait_beside).
 *   4. The program's next thread that sleeps may take back the word that wakes the helper, so this never sleeps
 *      for long. */
#include "core.h"
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "util/hush.h"

enum { OFF, ON, OVER };
enum { AWAY_MS = 1, AWAY_MOST_MS = 8, LISTEN_MS = 10 };

static struct {
    pthread_t thread;
    bool made;
    _Atomic uint32_t state;
} helper;

bool MPID_Helping;

/* Until it is no longer `is`, or for so long (-1: for ever). */
static void rest(uint32_t is, int most_ms)
{
    struct timespec t = { 0, most_ms * 1000000l };
    syscall(SYS_futex, &helper.state, FUTEX_WAIT_PRIVATE, is, most_ms >= 0 ? &t : NULL, NULL, 0);
}

static void set_state(uint32_t state)
{
    atomic_store_explicit(&helper.state, state, memory_order_release);
    syscall(SYS_futex, &helper.state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* With the lock: the events met; nothing to do: -1. */
static int look(struct sources *s)
{
    if (atomic_load_explicit(&helper.state, memory_order_relaxed) != ON)
        return -1;
    MPID_Helping = true;
    int met = MPID_Helper_look(s);
    MPID_Helping = false;
    return met;
}

static void *help(void *unused)
{
    struct sources s;
    uint32_t seen = 0, state;
    int away = AWAY_MS;
    while ((state = atomic_load_explicit(&helper.state, memory_order_acquire)) != OVER) {
        if (state == OFF) {
            rest(OFF, -1);
            continue;
        }
        MPID_Thread_quiet(true);
        if (!MPID_Thread_help(&seen)) {
            MPID_Thread_quiet(false);
            rest(ON, away);
            away = 2 * away < AWAY_MOST_MS ? 2 * away : AWAY_MOST_MS;
        } else {
            int met = look(&s);
            MPID_Thread_leave();
            MPID_Thread_quiet(false);
            away = AWAY_MS;
            if (met == 0)
                MPID_Helper_sleep(&s, LISTEN_MS);
        }
    }
    return unused;
}

/* Signals are the program's. */
static bool make(void)
{
    sigset_t before;
    ku_hush(&before, 0);
    bool made = pthread_create(&helper.thread, NULL, help, NULL) == 0;
    ku_hush_end(&before);
    return made;
}

/* Without memory for a thread what others ask waits for a call of the program, as without a helper. */
void MPID_Helper(bool on)
{
    set_state(on ? ON : OFF);
    if (on && !helper.made)
        helper.made = make();
}

void MPID_Helper_end(void)
{
    if (!helper.made)
        return;
    set_state(OVER);
    ku_wait_wake(&ku_segment_rank(&MPID_core.job.segment, (uint32_t)MPID_core.job.local_rank)->sleeping,
                 true);
    pthread_join(helper.thread, NULL);
    helper.made = false;
    atomic_store(&helper.state, OFF);
}
