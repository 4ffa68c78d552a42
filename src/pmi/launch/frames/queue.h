/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.h: bytes that wait to be written.  The room they take follows what waits, not what has come. */
#ifndef QUEUE_H
#define QUEUE_H

#include <stddef.h>

struct queue {
    char *bytes;
    size_t off, len, cap; /* bytes[off .. len) wait */
};

void queue_put(struct queue *q, const void *bytes, size_t n);
/* All that waits is dropped, and its room freed. */
void queue_free(struct queue *q);

static inline size_t queue_waits(const struct queue *q)
{
    return q->len - q->off;
}
static inline const char *queue_first(const struct queue *q)
{
    return q->bytes + q->off;
}
/* The first `n` have been written. */
static inline void queue_took(struct queue *q, size_t n)
{
    q->off += n;
}

#endif
