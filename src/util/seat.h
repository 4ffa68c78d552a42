/* SPDX-License-Identifier: BSD-3-Clause */
/* seat.h: the device lock (core/thread.c), as far as the one thread sees it to which it is biased: taking it and
 * leaving it are a store each, here, where nothing is unusual. */
#ifndef KU_SEAT_H
#define KU_SEAT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Do the callers of devices, and of what they use, come one at a time?  So they do unless the process was granted
 * MPI_THREAD_MULTIPLE, however many threads it has (MPID_Need).  A plug-in, which resolves nothing here, has to
 * think that they do not. */
#ifdef KEEL_PLUGIN
#define KU_SINGLE_THREADED 0
#define KU_BIASED 0
#define KU_BIAS_IN_FORCE 0
#else
#include "lock.h"
extern bool ku_threaded __attribute__((visibility("hidden")));
#define KU_SINGLE_THREADED (!ku_threaded)
/* Where they may come from several threads, one may have all to itself for a time: the caller is that one, in a
 * call that others wait for; and, there is such a one. */
struct ku_seat {
    /* How often the thread has taken the device lock by the bias; it alone writes it.  KU_SEAT_NONE: of no thread. */
    _Alignas(64) _Atomic uint32_t inside;
    _Atomic bool used; /* by a thread */
};
#define KU_SEAT_NONE 0x80000000u
/* Of the thread to which the lock is biased, as far as it knows; else ku_no_seat. */
extern _Thread_local struct ku_seat *ku_seat __attribute__((visibility("hidden"), tls_model("initial-exec")));
extern _Atomic bool ku_bias_in_force __attribute__((visibility("hidden")));
extern struct ku_seat ku_no_seat __attribute__((visibility("hidden")));
#define KU_BIASED ((int32_t)atomic_load_explicit(&ku_seat->inside, memory_order_relaxed) > 0)
#define KU_BIAS_IN_FORCE atomic_load_explicit(&ku_bias_in_force, memory_order_seq_cst)

struct ku_bias {
    _Alignas(64) _Atomic(struct ku_seat *) to; /* NULL: nobody; written by who holds the lock's word */
    bool waited; /* with the lock: threads wait, so whoever leaves it looks after them */
};
extern struct ku_bias ku_bias __attribute__((visibility("hidden")));

/* Take the lock for the first time.  False: by its word.  The thread may be inside after all: ku_seat_leave. */
static inline __attribute__((always_inline)) bool ku_seat_says(struct ku_seat *s, uint32_t depth)
{
    atomic_store_explicit(&s->inside, depth, memory_order_relaxed);
    /* The compiler, too, keeps the order that membarrier relies on. */
    atomic_signal_fence(memory_order_seq_cst);
    return __builtin_expect(atomic_load_explicit(&ku_bias.to, memory_order_relaxed) == s, 1);
}

/* (Not cold: gcc 12 thinks that what follows an inlined function is as rare as the cold call at the end of it.) */
void ku_seat_wake(struct ku_seat *s) __attribute__((noinline));
/* Its bias is gone: it leaves. */
void ku_seat_lost(struct ku_seat *s) __attribute__((noinline));
static inline __attribute__((always_inline)) void ku_seat_leave(struct ku_seat *s)
{
    atomic_store_explicit(&s->inside, 0, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst); /* as in ku_seat_says */
    if (__builtin_expect(atomic_load_explicit(&ku_bias.to, memory_order_relaxed) != s, 0))
        ku_seat_wake(s); /* somebody may wait for it */
}

/* Of a call: false, and nothing done, unless it takes the lock by the bias, for the first time. */
static inline __attribute__((always_inline)) bool ku_seat_enter_here(void)
{
    struct ku_seat *s = ku_seat;
    if (atomic_load_explicit(&s->inside, memory_order_relaxed) != 0)
        return false;
    if (__builtin_expect(!ku_seat_says(s, 1), 0)) {
        ku_seat_lost(s);
        return false;
    }
    ku_lock_takes(KU_LOCK_DEVICE);
    return true;
}

/* The end of the same, if it has been inside all the time, and nobody is to be looked after. */
static inline __attribute__((always_inline)) bool ku_seat_leave_here(void)
{
    struct ku_seat *s = ku_seat;
    if (atomic_load_explicit(&s->inside, memory_order_relaxed) != 1 || ku_bias.waited)
        return false;
    ku_seat_leave(s);
    ku_lock_left(KU_LOCK_DEVICE);
    return true;
}
#endif

#endif
