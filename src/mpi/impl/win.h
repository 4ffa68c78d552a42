/* SPDX-License-Identifier: BSD-3-Clause */
/* win.h: windows, as other chapters meet them; src/mpi/rma has the rest. */
#ifndef MPIR_WIN_H
#define MPIR_WIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "basic.h"
#include "comm.h"
#include "errhandler.h"
#include "keel_atomic.h"
#include "object.h"
#include "op.h"

struct rma;

/* What there is to know of a target to which load and store are all, in a window without targets by message: front
 * ends access it at once (front.h). */
struct MPIR_Near {
    int32_t rank;
    char *base;
    int64_t size, unit;
    uint64_t most;                 /* displacements that are not beyond the part */
    _Atomic uint32_t *busy, *gate; /* of updates (src/mpi/rma/update.c) */
};
extern const struct MPIR_Near MPIR_Near_none; /* its rank is nobody's */

typedef struct MPIR_Win {
    struct keel_object obj;
    MPIR_Comm *
        comm; /* its own, of the same processes: barriers, and messages in the context for one-sided communication */
    MPIR_Errhandler *errhandler;
    void *attributes; /* src/mpi/attr */
    char name[128];   /* MPI_MAX_OBJECT_NAME */
    /* This process's part.  The attributes of 12.2.6 are the addresses of these. */
    void *base;
    int64_t size;
    int unit, flavor, model;
    struct rma *rma;              /* src/mpi/rma/rma.h */
    const struct MPIR_Near *near; /* the one that was accessed last in this epoch */
    bool stored; /* something was stored at targets that no fence has followed: a flush needs one */
} MPIR_Win;

/* Is an update by the processor a fence for all that comes before and after it? */
#if defined(__x86_64__) || defined(__i386__)
enum { MPIR_UPDATE_IS_FENCE = 1 };
#else
enum { MPIR_UPDATE_IS_FENCE = 0 };
#endif

/* What was stored at targets is seen by all before what follows. */
static inline void MPIR_Near_fence(MPIR_Win *win)
{
    atomic_thread_fence(memory_order_seq_cst);
    win->stored = false;
}

static inline void MPIR_Near_forget(MPIR_Win *win)
{
    win->near = &MPIR_Near_none;
}

/* An update of a few elements (src/mpi/rma/update.c): begin, unless the part's gate is closed. */
static inline bool MPIR_Near_enter(_Atomic uint32_t *busy, _Atomic uint32_t *gate)
{
    atomic_store_explicit(busy, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(!atomic_load_explicit(gate, memory_order_acquire), 1))
        return true;
    atomic_store_explicit(busy, 0, memory_order_release);
    return false;
}
static inline void MPIR_Near_leave(_Atomic uint32_t *busy)
{
    atomic_store_explicit(busy, 0, memory_order_release);
}

/* What the processor does to an element of 4 or 8 bytes as one step, without the kernels of operations. */
enum MPIR_NEAR_WAY { MPIR_NEAR_NONE, MPIR_NEAR_ADD, MPIR_NEAR_ADD_FLOATS, MPIR_NEAR_REPLACE, MPIR_NEAR_READ };

static inline bool MPIR_Near_can_update(const void *at, int64_t size)
{
    return (size == 4 || size == 8) && (uintptr_t)at % (uintptr_t)size == 0;
}
/* Of an operation and a basic type of this class (enum MPIR_CLASS). */
static inline enum MPIR_NEAR_WAY MPIR_Near_way(const MPIR_Op *op, int class)
{
    bool integers = class & (MPIR_CLASS_C_INTEGER | MPIR_CLASS_F_INTEGER | MPIR_CLASS_MULTI);
    if (!integers && class != MPIR_CLASS_FLOAT)
        return MPIR_NEAR_NONE;
    switch (op->obj.self) {
    case KEEL_MPI_SUM:
        return integers ? MPIR_NEAR_ADD : MPIR_NEAR_ADD_FLOATS;
    case KEEL_MPI_REPLACE:
        return MPIR_NEAR_REPLACE;
    case KEEL_MPI_NO_OP:
        return MPIR_NEAR_READ;
    default:
        return MPIR_NEAR_NONE;
    }
}
#define MPIR_NEAR_UPDATE(T, F) \
    static inline T MPIR_Near_add_##F(T *at, F in) \
    { \
        T was = __atomic_load_n(at, __ATOMIC_RELAXED), next; \
        do { \
            F value; \
            memcpy(&value, &was, sizeof value); \
            value = in + value; \
            memcpy(&next, &value, sizeof next); \
        } while (!__atomic_compare_exchange_n(at, &was, next, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)); \
        return was; \
    } \
    static inline void MPIR_Near_update_##T(enum MPIR_NEAR_WAY way, T *at, const void *in, void *old) \
    { \
        T with = 0, was; \
        F real; \
        if (way != MPIR_NEAR_READ) \
            memcpy(&with, in, sizeof with); \
        memcpy(&real, &with, sizeof real); \
        was = way == MPIR_NEAR_ADD          ? __atomic_fetch_add(at, with, __ATOMIC_SEQ_CST) \
              : way == MPIR_NEAR_ADD_FLOATS ? MPIR_Near_add_##F(at, real) \
              : way == MPIR_NEAR_REPLACE    ? __atomic_exchange_n(at, with, __ATOMIC_SEQ_CST) \
                                            : __atomic_load_n(at, __ATOMIC_SEQ_CST); \
        if (old) \
            memcpy(old, &was, sizeof was); \
    }
MPIR_NEAR_UPDATE(uint32_t, float)
MPIR_NEAR_UPDATE(uint64_t, double)
/* `in` is not looked at where it only reads; old may be NULL. */
static inline void MPIR_Near_update(enum MPIR_NEAR_WAY way, void *at, int64_t size, const void *in, void *old)
{
    if (size == 8)
        MPIR_Near_update_uint64_t(way, at, in, old);
    else
        MPIR_Near_update_uint32_t(way, at, in, old);
}
/* Of an element of 1, 2, 4 or 8 bytes. */
static inline void MPIR_Near_swap(void *at, int64_t size, const void *in, const void *compare, void *old)
{
    uint64_t was = keel_atomic_read(compare, (size_t)size);
    keel_atomic_swap(at, (size_t)size, &was, keel_atomic_read(in, (size_t)size));
    keel_atomic_write(old, was, (size_t)size);
}

/* What the predefined attribute with this key value is; NULL: there is none, or it is a base that is NULL. */
void *MPIR_Win_attribute(MPIR_Win *win, int keyval);

#endif
