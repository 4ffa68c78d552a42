/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of locks, in builds that check it. */
#include "lock.h"

#ifdef KEEL_LOCK_ORDER

#include <stdio.h>
#include <stdlib.h>

static const char *const names[KU_LOCK_ORDERS] = {
    [KU_LOCK_DEVICE] = "of the device",
    [KU_LOCK_INIT] = "of the beginning and end of MPI",
    [KU_LOCK_SEND] = "of senders",
    [KU_LOCK_POOL] = "of spare buffers",
    [KU_LOCK_FORTRAN] = "of what is known of Fortran",
    [KU_LOCK_TABLE] = "of a table",
    [KU_LOCK_SEGMENT] = "of the segment's blocks",
};

/* What this thread has. */
static _Thread_local unsigned held[KU_LOCK_ORDERS];

void ku_lock_takes(enum ku_lock_order order)
{
    for (int i = KU_LOCK_ORDERS - 1; i >= (int)order; i--)
        if (held[i] > 0 && !(i == (int)order && order == KU_LOCK_DEVICE)) {
            fprintf(stderr, "keel: a thread that has a lock %s takes one %s; the order is in util/lock.h\n",
                    names[i], names[order]);
            abort();
        }
    held[order]++;
}

void ku_lock_left(enum ku_lock_order order)
{
    held[order]--;
}

void ku_lock_needs(enum ku_lock_order order)
{
    if (held[order] > 0)
        return;
    fprintf(stderr, "keel: a thread does without a lock %s what needs one\n", names[order]);
    abort();
}

#endif
