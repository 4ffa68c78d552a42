/* SPDX-License-Identifier: BSD-3-Clause */
/* record.h: what packed.c and nodes_v.c put before each block that travels with others (doc/wire.md). */
#ifndef COLL_RECORD_H
#define COLL_RECORD_H

#include <stdint.h>
#include "util/le.h"

/* As it travels: little-endian. */
struct record {
    uint32_t v;     /* counted from the root; in nodes_v.c: a rank */
    uint32_t bytes; /* that follow; or, signed, STRAIGHT: the block comes by itself; or FROM */
    char data[];
};
enum { STRAIGHT = -1, FROM = -2 /* the records behind it, up to the next such one, are blocks of v */ };

static inline void record_prepare(struct record *r, int32_t v, int32_t bytes)
{
    r->v = ku_le32((uint32_t)v);
    r->bytes = ku_le32((uint32_t)bytes);
}
static inline int32_t record_v(const struct record *r)
{
    return (int32_t)ku_le32(r->v);
}
static inline int32_t record_bytes(const struct record *r)
{
    return (int32_t)ku_le32(r->bytes);
}

#endif
