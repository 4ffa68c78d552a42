/* copy.h: the only functions that read and write user buffers through a datatype.
 *
 * The packed form of (buf, count, t) is its bytes in type map order, count * t->size of them.  Any part of it
 * can be asked for in any order: finding a place costs O(depth of the type), with O(log n) for lists of n
 * entries.  No state is kept between calls.  `buf` may be MPI_BOTTOM (NULL) for types with absolute
 * addresses. */
#ifndef MPID_COPY_H
#define MPID_COPY_H

#include <stdint.h>
#include "mpid.h"

/* Bytes [offset, offset + len) of the packed form, to or from dst/src.  The range must lie within the packed
 * form. */
void MPID_Layout_pack(const struct MPIR_DATATYPE *t, const void *buf, int64_t count, int64_t offset,
                      void *dst, int64_t len);
void MPID_Layout_unpack(const struct MPIR_DATATYPE *t, void *buf, int64_t count, int64_t offset,
                        const void *src, int64_t len);

#endif
