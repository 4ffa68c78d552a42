/* SPDX-License-Identifier: BSD-3-Clause */
/* external.h: the representation "external32" (MPI 5.0, 15.5.2): big-endian, sizes of its own, no gaps. */
#ifndef MPID_EXTERNAL_H
#define MPID_EXTERNAL_H

#include <stdint.h>
#include "mpid.h"

/* Bytes of one basic type (the Standard ABI's handle value), natively; 0: not known. */
int64_t MPID_External_native(uint32_t basic);
/* The same in external32; -1: not known. */
int64_t MPID_External_wire(uint32_t basic);

/* Bytes of one element in external32; -1: a part of it has no representation there. */
int64_t MPID_External_size(const struct MPIR_DATATYPE *t);

/* All of (buf, count, t) to dst.  MPI_ERR_VALUE_TOO_LARGE: a number does not fit (MPI_LONG has 4 bytes). */
int MPID_External_pack(const struct MPIR_DATATYPE *t, const void *buf, int64_t count, void *dst);

/* src[0, len) to the place behind the first `skip` bytes of the external form of (buf, count, t).  *done: bytes
 * used, all whole basic elements that there are.  MPI_ERR_ARG: skip is inside a basic element. */
int MPID_External_unpack(const struct MPIR_DATATYPE *t, void *buf, int64_t count, int64_t skip,
                         const void *src, int64_t len, int64_t *done);

#endif
