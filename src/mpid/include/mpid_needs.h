/* SPDX-License-Identifier: BSD-3-Clause */
/* mpid_needs.h: what a process needs beyond the messages: threads, listeners, ... (mpid.h). */
#ifndef KEEL_MPID_NEEDS_H
#define KEEL_MPID_NEEDS_H

#include "mpid_base.h"

/* ---- Needs (extension) ----------------------------------------------------------------------- */

/* How messages are carried (extension): what some part of the process needs beyond the messages themselves.  With
 * no bit set, which is how a process begins, messages go the shortest ways there are; with any of them none is
 * lost or changed, but some of these ways are closed. Set by one thread while no other calls the ADI. */
enum MPID_NEEDS {
    MPID_NEEDS_THREADS = 1, /* several threads may call at once */
    MPID_NEEDS_TYPES = 2,   /* requests keep the datatypes of contiguous messages, too */
    MPID_NEEDS_OBSERVERS =
        4, /* somebody is told of each packet, and of each message that meets its receive */
    MPID_NEEDS_DEVICE_MEMORY =
        8, /* the layer above looks at the memory of each buffer; what comes here is the host's */
    MPID_NEEDS_CALLS =
        16, /* somebody looks at each call of the layer above, which goes no shorter way then */
    MPID_NEEDS_LISTENED = 32, /* listeners are told of calls, or of waits */
    MPID_NEEDS_STRICT =
        64 /* standard sends of point-to-point messages wait for their receives, as synchronous ones */
};
void MPID_Need(uint32_t bits, bool on);
uint32_t MPID_Needs(void);
/* What tests want to be taken for needed (KEEL_NEEDS).  It is part of MPID_Needs, but for MPID_NEEDS_THREADS,
 * which is up to the layer above, as that has to take the lock. */
uint32_t MPID_Needs_tested(void);

/* Listeners (extension; mpid_listen.h says what they are told).  Added and removed by one thread while no other
 * calls the ADI; nonzero:
 * an error class.  Who adds one that hears of calls is the layer above, or looks at MPID_Needs again
 * (MPID_NEEDS_LISTENED). */
enum { MPID_LISTENERS_MAX = 16 };
enum MPID_HEARD {
    MPID_HEARD_CALLS = 1,
    MPID_HEARD_OBJECTS = 2,
    MPID_HEARD_TRANSFERS = 4,
    MPID_HEARD_PACKETS = 8,
    MPID_HEARD_WAITS = 16
};
struct MPID_Listener;
extern struct MPID_Listeners {
    int n;
    uint32_t heard; /* enum MPID_HEARD, by some of them */
    const struct MPID_Listener *at[MPID_LISTENERS_MAX];
} MPID_Listeners;
int MPID_Listener_add(const struct MPID_Listener *listener);
void MPID_Listener_remove(const struct MPID_Listener *listener);
void MPID_Listeners_tune(void); /* what `hears` says of events has changed */
void MPID_Listeners_left(void); /* a call is left, and so is the wait in it */
/* Tell the listeners of a process (`noted`), here or elsewhere, without waiting for anything; a process that has gone
 * is told nothing. */
struct MPID_Noted;
void MPID_Note_alone(int32_t grank, const struct MPID_Noted *noted);

/* ---- Threads (6.3) --------------------------------------------------------------------------
 *
 * In MPID_NEEDS_THREADS a thread that calls the ADI holds the device lock, which it may take again; a call that
 * waits gives it away meanwhile, so what is shared may have changed when it returns.  Without the lock:
 * MPID_Send_beside, and what says so.  In other modes nobody takes it. */

void MPID_Thread_enter(void);
/* Of a procedure that has begun this mode: as if it had been in force when it began.  It is inside until it returns. */
void MPID_Thread_come_in(void);
bool MPID_Thread_try_enter(void); /* false: another thread is inside */
void MPID_Thread_leave(void);     /* nothing happens if the caller is not inside */
/* Around something that may take long or wait for another thread: gives the lock away, however often it was taken;
 * 0: it was not. */
uint32_t MPID_Thread_suspend(void);
void MPID_Thread_resume(uint32_t depth);

/* The caller has the lock.  When it leaves, the lock is biased to it (core/thread.c). */
void MPID_Thread_alone(void);
/* Of who has not: does another thread of the program have it just now?  False if that has left it before this call
 * began. */
bool MPID_Thread_busy(void);
/* Around taking and leaving it by who may do so beside a thread of the program that is told to be alone: that is
 * not busy. */
void MPID_Thread_quiet(bool begins);

/* Threads besides the caller that wait in a call; *call is the procedure of MPI that one of them is in, NULL: not
 * known. */
int MPID_Thread_waiting(const char **call);

/* A thread of the ADI that looks at the devices while the program is in no call (extension): so what others ask of
 * this process does not wait for its next call.  Only in MPID_NEEDS_THREADS; it sleeps while nothing comes, and
 * keeps out of the way of the program's threads.  MPID_Helping: the caller of MPID_Progress_also is that thread,
 * which must call nothing of the program's. */
void MPID_Helper(bool on);
void MPID_Helper_end(void); /* the thread ends, if there is one */
extern bool MPID_Helping;

#define MPID_THREAD_DS_LOCK_DECLARE
#define MPID_THREAD_DS_LOCK_INIT(p)
#define MPID_THREAD_DS_LOCK(p) MPID_Thread_enter()
#define MPID_THREAD_DS_UNLOCK(p) MPID_Thread_leave()
#define MPID_THREAD_DS_LOCK_FREE(p)

#endif
