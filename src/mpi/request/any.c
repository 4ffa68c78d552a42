/* SPDX-License-Identifier: BSD-3-Clause */
/* any.c: the notes that any.h explains. */
#include "config.h"
#include "any.h"
#include <stdlib.h>

struct MPIR_Any MPIR_Any;

void MPIR_Any_forget(void)
{
    free(MPIR_Any.found);
    MPIR_Any = (struct MPIR_Any){ 0 };
}

static int by_order(const void *a, const void *b)
{
    uint32_t x = ((const struct MPIR_Found *)a)->order, y = ((const struct MPIR_Found *)b)->order;
    return (x > y) - (x < y);
}

/* Not polled: only what is known to be complete. */
static uint32_t stamp_of(const MPIR_Request *r)
{
    return MPIR_Request_is_active(r) ? (uint32_t)atomic_load_explicit(&r->is_complete, memory_order_acquire)
                                     : 0;
}

void MPIR_Any_note(int count, MPIR_Request *const *requests, int taken, uint32_t oldest)
{
    int n = 0, k = 0;
    MPIR_Any_forget();
    for (int i = 0; i < count; i++)
        n += i != taken && stamp_of(requests[i]);
    MPIR_Any.found = n ? malloc((size_t)n * sizeof *MPIR_Any.found) : NULL;
    if (!MPIR_Any.found)
        return;
    for (int i = 0; i < count && k < n; i++) {
        uint32_t stamp = stamp_of(requests[i]);
        if (i != taken && stamp)
            MPIR_Any.found[k++] = (struct MPIR_Found){ MPIR_Object_handle(requests[i]), stamp - oldest, i };
    }
    qsort(MPIR_Any.found, (size_t)k, sizeof *MPIR_Any.found, by_order);
    MPIR_Any.n = k;
}
