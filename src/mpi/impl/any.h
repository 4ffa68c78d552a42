/* SPDX-License-Identifier: BSD-3-Clause */
/* any.h: what a look at many requests found besides the one it handed out.
 *
 * MPI_Waitany over n requests looks at all of them, in the front, too, which turns handles into objects.  So that
 * n calls do not cost n * n, a call that met several complete requests notes them, in the order of their
 * completion, and the calls after it on the same array take those first: the array is looked at again when they
 * are used up.
 *
 * Invariants
 *   1. A note is a hint.  It is used only if the array holds that very handle in that place now and its request is
 *      active and complete; else it is dropped.
 *   2. Arrays shorter than MPIR_ANY_MANY have no notes. */
#ifndef MPIR_ANY_H
#define MPIR_ANY_H

#include "request.h"

enum { MPIR_ANY_MANY = 64 };

struct MPIR_Found {
    uint64_t handle; /* native */
    uint32_t order;
    int32_t index;
};

extern struct MPIR_Any {
    const void *array; /* of the user's handles; NULL: nothing is noted */
    struct MPIR_Found *found;
    int32_t next, n;
} MPIR_Any __attribute__((visibility("hidden")));

void MPIR_Any_forget(void);
/* Note the complete ones of many requests but for the one at `taken`; `oldest` is its is_complete.  The front adds
 * whose array they are from (MPIR_Any_of). */
void MPIR_Any_note(int count, MPIR_Request *const *requests, int taken, uint32_t oldest);
static inline void MPIR_Any_of(const void *array)
{
    if (MPIR_Any.found)
        MPIR_Any.array = array;
}

/* May the request with this handle be handed out now? */
static inline bool MPIR_Any_holds(const struct MPIR_Found *f, uint64_t handle)
{
    MPIR_Request *r;
    return handle == f->handle && (r = MPIR_Object_of(MPIR_KIND_REQUEST, handle)) &&
           MPIR_Request_is_active(r) && atomic_load_explicit(&r->is_complete, memory_order_acquire);
}

#endif
