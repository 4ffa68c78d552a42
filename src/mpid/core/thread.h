/* SPDX-License-Identifier: BSD-3-Clause */
/* thread.h: what several threads of a process share in the core (MPID_NEEDS_THREADS), and how they wait.
 *
 * Invariants
 *   1. A thread that is in a call of the ADI holds the device lock, but for what device.h allows at any time
 *      (send_short) and while it waits.  The lock may be taken again by who holds it.  All waiting goes through this
 *      file, which gives the lock away.
 *   2. One of the threads that wait, the driver, looks at the devices and sleeps on the rank's word or
 *      descriptors.  The others are parked, each on a word of its own.  Who gives the lock away wakes those for whom
 *      something has happened meanwhile: a parked thread whose requests are done, and the driver, if it sleeps, for
 *      anything.  It does so before the lock is free, so between the last look of a thread at what it waits for and
 *      its sleep nothing is lost.
 *   3. While a thread is parked there is a driver, or one of the parked (the heir) has been called to become it,
 *      or one of them runs:
 *      before it sleeps it looks whether somebody drives.  A driver that lets others of its core run may be
 *      replaced meanwhile, so after a step (MPID_Thread_step) it asks again whether it drives.
 *   4. `events` and the counters beside it only go up: equal sums at two times say that nothing has happened.
 *   5. While the lock is biased to a thread (ku_bias_in_force) nobody sends without it, and that thread uses lanes
 *      as if it were alone; before that it waits for those in a lane.  Who takes the lock's word ends the bias first.
 *   6. Who takes the lock's word begins the receives that others have begun without it (fresh.c). */
#ifndef MPID_THREAD_H
#define MPID_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include "util/wait.h"

struct MPIR_HANDLE;

/* MPID_NEEDS_THREADS begins, perhaps again; before another thread calls. */
void MPID_Thread_begin(void);
/* How often the lock has been biased to a thread; for tests. */
uint32_t MPID_Thread_biases(void);

/* Something has happened that a thread may wait for and that no counter of the core tells. */
void MPID_Thread_event(void);

/* There is more to sleep for than a driver that sleeps already knows of: it is woken, and looks. */
void MPID_Thread_more(void);

/* Changes whenever something happens: invariant 4. */
uint32_t MPID_Thread_events(void);

/* The caller waits: may it drive?  If so it does from now on, until its call of the ADI ends. */
bool MPID_Thread_drive(void);
/* Another one drives: wait until something has happened to the request (NULL: to what MPID_Waited says, or
 * anything), or nobody drives, or for so long.  First up the ladder, if there is one.  Nonzero: something has
 * happened. */
struct team;
int MPID_Thread_park(struct MPIR_HANDLE *r, const struct team *team, struct ku_wait *w, int most_ms);
/* Within MPID_Report: tell of each (MPID_Report_thread). */
void MPID_Thread_report(void);
/* Of the driver: a step up the ladder without the lock. */
enum ku_wait_step MPID_Thread_step(struct ku_wait *w);
/* Let others have the lock, if somebody waits for it. */
void MPID_Thread_yield(void);
/* The caller, a thread of the program, looks at the devices. */
void MPID_Thread_looks(void);
/* Of the helper: the device lock, if it is free, no thread of the program waits, and none has looked at the
 * devices since the last call with this `seen`. */
bool MPID_Thread_help(uint32_t *seen);
/* Around a sleep of the driver on the rank's word or descriptors. */
uint32_t MPID_Thread_lie_down(void);
void MPID_Thread_rise(uint32_t depth);

#endif
