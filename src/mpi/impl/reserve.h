/* SPDX-License-Identifier: BSD-3-Clause */
/* reserve.h: requests that a thread has in reserve, for what it begins beside other threads without the device
 * lock.  The slab of requests belongs to who has the lock; so a thread that has it takes some more. */
#ifndef MPIR_RESERVE_H
#define MPIR_RESERVE_H

#include "request.h"

enum { MPIR_RESERVE = 32 };
struct MPIR_Reserve {
    uint32_t n;
    MPIR_Request *request[MPIR_RESERVE];
};
extern _Thread_local struct MPIR_Reserve *MPIR_reserve
    __attribute__((visibility("hidden"), tls_model("initial-exec")));

/* One with its header filled in, without a communicator; NULL: there is none. */
static inline MPIR_Request *MPIR_Reserve_take(void)
{
    struct MPIR_Reserve *s = MPIR_reserve;
    if (__builtin_expect(!s || s->n == 0, 0))
        return NULL;
    MPIR_Request *r = s->request[--s->n];
    r->obj.flags = 0;
    return r;
}
/* The one that was taken last, unused. */
static inline void MPIR_Reserve_put_back(MPIR_Request *r)
{
    r->obj.flags = KEEL_OBJ_PREDEFINED;
    MPIR_reserve->request[MPIR_reserve->n++] = r;
}
/* With the device lock: take some if there is none. */
void MPIR_Reserve_fill(void) __attribute__((cold));

#endif
