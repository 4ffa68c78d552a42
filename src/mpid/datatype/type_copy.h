/* SPDX-License-Identifier: BSD-3-Clause */
/* type_copy.h: the only functions that read and write user buffers through a datatype.
 *
 * The packed form of (buf, count, t) is its bytes in type map order, count * t->size of them.  Any part of it
 * can be asked for in any order: finding a place costs O(depth of the type), with O(log n) for lists of n
 * entries.  No state is kept between calls.  `buf` may be MPI_BOTTOM (NULL) for types with absolute
 * addresses. */
#ifndef MPID_COPY_H
#define MPID_COPY_H

#include <stdint.h>
#include "mpid.h"

/* MPID_Layout_pack, MPID_Layout_unpack: see mpid.h. */

#endif
