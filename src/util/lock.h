/* SPDX-License-Identifier: BSD-3-Clause */
/* lock.h: locks whose contracts are checked: what each guards, by clang (-Wthread-safety, part clang of the
 * tests); the order in which a thread takes them, by a build with --enable-lock-order, which ends the process with
 * both locks named. */
#ifndef KU_LOCK_H
#define KU_LOCK_H

#include <pthread.h>

#ifdef __clang__
#define KU_ATTRIBUTE(x) __attribute__((x))
#else
#define KU_ATTRIBUTE(x)
#endif
/* Of a variable: it is used with the lock only. */
#define KU_GUARDED_BY(l) KU_ATTRIBUTE(guarded_by(l))
/* Of a function: it takes the lock, leaves it, or is called by who has it. */
#define KU_TAKES(l) KU_ATTRIBUTE(acquire_capability(l))
#define KU_LEAVES(l) KU_ATTRIBUTE(release_capability(l))
#define KU_NEEDS(l) KU_ATTRIBUTE(requires_capability(l))
/* Of a function: nothing of that is checked in it; a comment says why. */
#define KU_UNCHECKED KU_ATTRIBUTE(no_thread_safety_analysis)

/* Who has a lock takes only such as stand behind it, and no second one of the same kind; the device lock alone may
 * be taken again. */
enum ku_lock_order {
    KU_LOCK_DEVICE,  /* the device lock (core/thread.c) */
    KU_LOCK_INIT,    /* MPI is begun and ended, one thread at a time */
    KU_LOCK_CONTEXT, /* receives that begin in a context beside the device lock (core/fresh.c) */
    KU_LOCK_SEND,    /* a device's: what senders share of a peer, or of the device */
    KU_LOCK_POOL,    /* spare buffers of a device */
    KU_LOCK_FORTRAN, /* what is known of Fortran */
    /* a table of the MPI layer, in a procedure that may be called before MPI_Init; files that are asked for */
    KU_LOCK_TABLE,
    KU_LOCK_SEGMENT, /* blocks that the processes of a node share */
    KU_LOCK_ORDERS
};

struct KU_ATTRIBUTE(capability("lock")) ku_lock {
    pthread_mutex_t mutex;
    enum ku_lock_order order;
};
#define KU_LOCK(of) \
    { \
        PTHREAD_MUTEX_INITIALIZER, of \
    }

#ifdef KEEL_LOCK_ORDER
/* This thread takes, or has left, a lock of another make than ku_lock. */
void ku_lock_takes(enum ku_lock_order order);
void ku_lock_left(enum ku_lock_order order);
/* This thread has one. */
void ku_lock_needs(enum ku_lock_order order);
#else
static inline void ku_lock_takes(enum ku_lock_order order)
{
    (void)order;
}
static inline void ku_lock_left(enum ku_lock_order order)
{
    (void)order;
}
static inline void ku_lock_needs(enum ku_lock_order order)
{
    (void)order;
}
#endif

static inline void ku_lock_init(struct ku_lock *l, enum ku_lock_order order)
{
    pthread_mutex_init(&l->mutex, NULL);
    l->order = order;
}

static inline void ku_lock_fini(struct ku_lock *l)
{
    pthread_mutex_destroy(&l->mutex);
}

/* A mutex in memory that processes share, and may be killed with; an errno. */
static inline int ku_mutex_init_shared(pthread_mutex_t *m)
{
    pthread_mutexattr_t a;
    int err = pthread_mutexattr_init(&a);
    if (err)
        return err;
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    err = pthread_mutex_init(m, &a);
    pthread_mutexattr_destroy(&a);
    return err;
}

static inline void ku_lock(struct ku_lock *l) KU_TAKES(*l) KU_UNCHECKED
{
    ku_lock_takes(l->order);
    pthread_mutex_lock(&l->mutex);
}

static inline void ku_unlock(struct ku_lock *l) KU_LEAVES(*l) KU_UNCHECKED
{
    pthread_mutex_unlock(&l->mutex);
    ku_lock_left(l->order);
}

#endif
