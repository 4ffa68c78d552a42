/* SPDX-License-Identifier: BSD-3-Clause */
/* packed.h: blocks that travel with others, each behind a record (record.h). */
#ifndef COLL_PACKED_H
#define COLL_PACKED_H

#include "coll.h"
#include "record.h"

/* Bytes of the longest block that does so where p ranks have one each; longer ones come by themselves. */
int64_t MPIR_Packed_limit(int64_t p);
/* Of a record and the block behind it. */
int64_t MPIR_Packed_room(int64_t bytes);
/* Append the record of a block, with its data unless it is longer than the limit. */
void MPIR_Packed_put(struct coll *c, struct coll_heap *h, int64_t v, struct coll_block b, int64_t limit);
/* Append a record as it came, with another v. */
void MPIR_Packed_put_on(struct coll_heap *h, const struct record *r, int32_t v);
/* The record at *at, which moves on; NULL at the end, or if there is none that makes sense. */
const struct record *MPIR_Packed_next(const struct coll *c, const struct coll_heap *h, int64_t *at);
/* Its data to where it belongs. */
void MPIR_Packed_take(struct coll *c, const struct record *r, struct coll_block to, int from);
/* The block of a rank has not come. */
void MPIR_Packed_lost(struct coll *c, int from);
/* Room for so many records of blocks up to the limit. */
void MPIR_Packed_make(struct coll *c, struct coll_heap *h, int64_t records, int64_t limit);
/* A coll_call: the heap `arg` is empty. */
void MPIR_Packed_empty(struct coll *c, void *arg);

static inline int64_t packed_bytes(const struct coll_block *b)
{
    return b->count * b->type->adi.size;
}

#endif
