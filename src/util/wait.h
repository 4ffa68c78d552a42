/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.h: sleeping on a word in the segment, or on descriptors, and being woken; and the ladder that leads there.
 *
 * Invariants
 *   1. A sleeper publishes sleeping = 1, makes every producer's earlier stores visible (membarrier, or the
 * producers fence), looks again, and only then sleeps.  So no wake is lost.
 *   2. A waker that sees sleeping = 1 takes it to 0 by compare-and-swap and alone calls futex: one wake an episode.
 *   2b. A rank that sleeps in poll on descriptors says sleeping = 2 instead; the waker takes that to 0 likewise
 *   and sends a
 * byte to the rank's doorbell, a datagram socket that it polls besides.  The byte stays until it is read, and it
 * is read after poll only, before the rank looks again: so a wake between the last look and poll is not lost
 * either.  Where the byte cannot be sent the waker says so (bell_mute) and the rank never sleeps for more than
 * MUTE_MS again.
 *   3. Rungs: spin while every rank has a core; sched_yield a few tens of times; sleep.  (Sleeping at once
 * costs five times the yielding barrier, never sleeping burns the machine.) */
#ifndef KU_WAIT_H
#define KU_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "segment.h"

/* One blocking call's place on the ladder.  Start with {0}; tell progress with ku_wait_reset. */
struct ku_wait {
    uint32_t spins, yields;
    uint64_t spin_until, awake_until; /* ns, ku_clock_ns */
    uint64_t since;                   /* the caller's: of its first sleep; 0: it has not slept */
    _Atomic bool *aside; /* true while others of its core are let run; NULL: nobody wants to know */
};

struct ku_wait_policy {
    uint32_t spin_ns;   /* 0 when ranks outnumber cores */
    uint32_t yields;    /* sched_yields before sleeping, */
    uint32_t awake_ns;  /* and then for so long where they meet nobody who has something to do */
    uint32_t hogged_ns; /* a yield among ranks that all wait, or do a little each, takes less */
};

/* Set once from the census (ranks here, cores usable, far: there are ranks on other nodes) and the KEEL_SPIN_US /
 * KEEL_YIELDS knobs. */
extern struct ku_wait_policy ku_wait_policy;
void ku_wait_init(uint32_t ranks, uint32_t cpus, bool far);

/* From now on, while every rank has a core by the census, local rank `me` of this segment steps apart from another
 * one where it finds that both are on one cpu and that it may use one where none is: a kernel that sees both run
 * all the time (they yield to each other) may leave them so for good, at microseconds a message.  NULL: no longer. */
void ku_wait_company(const struct ku_segment *segment, uint32_t me);

/* Who fences between its stores and its look at a word: those that could not register, and their peers, or, where ranks
 * outnumber cores and sleep often, all from the start, which spares every sleeper its membarrier. */
enum ku_fences { KU_FENCE_NONE = 0, KU_FENCE_SOME = 1, KU_FENCE_ALL = 2 };

/* Register this process with membarrier.  Call while single-threaded; false if the kernel refuses: then set
 * fence_all in the segment's head before anything is sent.  A process that is not registered (the launcher)
 * always fences. */
bool ku_wait_register(void);

enum ku_wait_step { KU_WAIT_AGAIN /* poll again */, KU_WAIT_SLEEP /* prepare to sleep */ };

/* Others go on who have the core, or the turn (service.h). */
void ku_wait_yield(void);
/* The same for a while. */
void ku_wait_nap(int ms);

/* One step up the ladder after a poll that found nothing: pauses or yields; tells when it is time to sleep.
 */
enum ku_wait_step ku_wait_step(struct ku_wait *w);
/* Has a yield met somebody who does not step aside?  Then the next waits sleep at once. */
bool ku_wait_hogged(void);
/* Nobody else seems to use this core: polling for a while is better than stepping aside. */
bool ku_wait_alone(void);
/* Between two looks at what another core is about to write: one look at once after the other disturbs it. */
static inline void ku_wait_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}
static inline void ku_wait_reset(struct ku_wait *w)
{
    *w = (struct ku_wait){ 0 };
}

/* Somebody who runs now, on another core, is about to change *word from `is`: look at it for about as long as it
 * takes to step aside and come back.  True: it has changed. */
bool ku_wait_near(_Atomic uint32_t *word, uint32_t is);

/* Values of the word. */
enum { KU_AWAKE = 0, KU_ASLEEP = 1, KU_IN_POLL = 2 };

/* Make visible what producers have stored before they look at a word that this process has written before this call. */
void ku_wait_show_stores(uint32_t fences);
/* A fence in all processes of the job on this node at once; false: they cannot all be reached, and nothing is done. */
bool ku_wait_show_all_stores(uint32_t fences);

/* Invariant 1, first half.  After it the caller polls once more; then ku_wait_cancel or ku_wait_sleep. */
void ku_wait_prepare(_Atomic uint32_t *sleeping, uint32_t fences);
void ku_wait_cancel(_Atomic uint32_t *sleeping);

/* Sleep while *sleeping is 1, at most `timeout_ms` (-1: for ever).  Spurious returns are allowed. */
void ku_wait_sleep(_Atomic uint32_t *sleeping, int timeout_ms);

/* The same also while *word is `is`, a word on which many sleep and which ku_wait_wake_all wakes; false at once,
 * and nothing done, where the kernel has no such call (Linux before 5.16). */
bool ku_wait_sleep_on(_Atomic uint32_t *sleeping, _Atomic uint32_t *word, uint32_t is, int timeout_ms);
bool ku_wait_can_sleep_on(void);
/* For those who have nothing else to wait for: sleep while *word is `is`.  It may return early. */
void ku_wait_while(_Atomic uint32_t *word, uint32_t is);
void ku_wait_wake_all(_Atomic uint32_t *word);

/* Sleeping on descriptors too.  The rank's doorbell is made by the first ku_wait_prepare_poll, or
 * ku_wait_bell_open, and removed by ku_wait_bell_close; without one (the system refuses abstract sockets)
 * ku_wait_poll returns after MUTE_MS at most. Between the two the caller polls once more, or calls
 * ku_wait_cancel(&rank->sleeping). */
enum { KU_WAIT_FDS = 8 };
void ku_wait_bell_open(struct ku_seg_rank *rank);
void ku_wait_prepare_poll(struct ku_seg_rank *rank, uint32_t fences);
void ku_wait_poll(struct ku_seg_rank *rank, const int fds[], int n, int timeout_ms);
void ku_wait_bell_close(struct ku_seg_rank *rank);

/* Of a thread that may sleep on the rank's word beside another one of its process: as ku_wait_sleep or, with
 * descriptors, ku_wait_poll, but it leaves the word and the doorbell as they are.  ku_wait_beside_end, while no
 * other thread sleeps there, does the rest. */
void ku_wait_beside(struct ku_seg_rank *rank, const int fds[], int n, int timeout_ms);
void ku_wait_beside_end(struct ku_seg_rank *rank);

/* The producer's side, after its data is published.  A word that may be KU_IN_POLL is that of a struct ku_seg_rank. */
void ku_wait_wake_slow(_Atomic uint32_t *sleeping);
static inline void ku_wait_wake(_Atomic uint32_t *sleeping, bool fence_all)
{
    if (__builtin_expect(fence_all, 0))
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(
            memory_order_seq_cst); /* the compiler, too, must keep the order that membarrier relies on */
    if (__builtin_expect(atomic_load_explicit(sleeping, memory_order_relaxed) != 0, 0))
        ku_wait_wake_slow(sleeping);
}

#endif
