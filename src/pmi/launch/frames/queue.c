/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: see queue.h. */
#include <stdlib.h>
#include <string.h>
#include "pmi/launch/base/util.h"
#include "queue.h"

/* What waits moves to the front for others' room only where at least as much has gone: moving costs no more than
 * writing did, and the room is at most four times what has waited at once. */
void queue_put(struct queue *q, const void *bytes, size_t n)
{
    size_t waits = queue_waits(q);
    if (n == 0)
        return;
    if (q->off > 0 && (waits == 0 || (q->len + n > q->cap && q->off >= waits))) {
        memmove(q->bytes, q->bytes + q->off, waits);
        q->off = 0;
        q->len = waits;
    }
    if (q->len + n > q->cap) {
        q->cap = 2 * (q->len + n);
        q->bytes = xgrow(q->bytes, q->cap, 1);
    }
    memcpy(q->bytes + q->len, bytes, n);
    q->len += n;
}

void queue_free(struct queue *q)
{
    free(q->bytes);
    *q = (struct queue){ 0 };
}
