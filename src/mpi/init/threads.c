/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c: see callback.h.
 *
 * A process that has one thread takes no lock, whatever level it was granted.  The first call that finds more
 * threads sets the mode for several (MPIR_Library_threads), and so does MPI_Init if there are some by then.  No
 * other thread is in a call at that time, as there was none, but for one that has called a function of the
 * program: that one has the lock.
 *
 * Below MPI_THREAD_MULTIPLE it is told once in a process that its threads do what its level does not allow: by
 * MPI_THREAD_FUNNELED, that another thread than the first one calls; by MPI_THREAD_SERIALIZED that one calls while
 * another one is in a call.  A call that has ended before another one begins has left the lock, and nobody waits
 * in it, so what is legal is not told of. */
#include "config.h"
#include "callback.h"
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "mpi_err.h"
#include "mpi_const.h"
#include "mpid.h"
#include "tell.h"

static const char *threads_name_of(int level)
{
    return level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
           : level == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED"
                                          : "MPI_THREAD_SINGLE";
}

/* `other`: the call that another thread is in; NULL: not known. */
static void threads_tell(bool overlap, const char *other)
{
    char text[768], at[160] = "";
    const char *call = MPID_Call_name;
    uint64_t caller = MPID_Find_caller(&call);
    int level;
    if (!MPIR_Library_noted(&level))
        return;
    if (overlap)
        snprintf(at, sizeof at, " while another thread is in %s", other ? other : "MPI");
    snprintf(
        text, sizeof text,
        "thread %ld called %s (" MPID_PLACE ")%s, but the program asked for %s, by which %s; expected "
        "MPI_THREAD_%s. From here on its calls take turns (not with KEEL_THREAD_GUARD=0). This is told once.",
        (long)syscall(SYS_gettid), call ? call : "MPI", (unsigned long long)caller, at,
        threads_name_of(level),
        overlap ? "one thread at a time calls MPI" : "only the thread that initialized MPI calls it",
        overlap ? "MULTIPLE" : "SERIALIZED or _MULTIPLE");
    MPID_Message_places(text);
    MPIR_Check_note(KU_FAULT_THREADS, call ? call : "MPI", NULL, caller, text);
}

static void threads_look(enum MPIR_WATCH watched, bool busy)
{
    const char *other = NULL;
    if (watched == MPIR_WATCH_MAIN) {
        if (!MPIR_Library_is_first_thread())
            threads_tell(false, NULL);
    } else if (MPID_Thread_waiting(&other) > 0 || busy) {
        threads_tell(true, other);
    }
}

static void threads_begin(void)
{
    MPID_Thread_enter();
    if (!MPIR_ENV(threaded) && MPIR_Library_meets_threads())
        MPIR_Library_threads();
}

int MPIR_Enter(void)
{
    if (MPIR_ENV(threaded) && MPIR_ENV(watched) == MPIR_WATCH_NONE) {
        MPID_Thread_enter();
        return 1;
    }
    if (!MPIR_ENV(threaded) && !MPIR_Library_meets_threads())
        return 0;
    bool busy = MPIR_ENV(watched) == MPIR_WATCH_OVERLAP && MPID_Thread_busy();
    threads_begin();
    if (MPIR_ENV(watched) != MPIR_WATCH_NONE)
        threads_look(MPIR_ENV(watched), busy);
    return 1;
}

int MPIR_Enter_silently(bool always)
{
    if (!MPIR_ENV(threaded) && !always && !MPIR_Library_meets_threads())
        return 0;
    MPID_Thread_quiet(true);
    threads_begin();
    return 1;
}

void MPIR_Leave_silently(void)
{
    MPID_Thread_leave();
    MPID_Thread_quiet(false);
}

bool MPIR_Callback_claim(void)
{
    if (!MPIR_Library_is_guarded())
        return false;
    MPID_Thread_enter();
    return true;
}

void MPIR_Callback_disclaim(void)
{
    if (MPIR_Library_meets_threads())
        MPIR_Library_threads();
    else
        MPID_Thread_leave();
}
