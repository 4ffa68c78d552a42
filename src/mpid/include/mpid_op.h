/* SPDX-License-Identifier: BSD-3-Clause */
/* mpid_op.h: the predefined reduction operations on arrays of basic types: what collectives, and one-sided
 * operations at the target, combine data with.  Operations of the user live in the layer above.
 *
 * An operation and a basic type are named by their values in the Standard ABI (mpi_const.h); any other value is
 * unknown, and nothing here fails on it, so both may come from another process.  MPI_REPLACE and MPI_NO_OP are not
 * here: they combine nothing. */
#ifndef MPID_OP_H
#define MPID_OP_H

#include <stdbool.h>
#include <stdint.h>

/* to[i] = in[i] op with[i] for n elements of the type, each where C aligns it.  `to` may be one of the operands,
 * else it does not overlap them.  Never fails, touches nothing else; in a process it computes the same bits at
 * every call. */
typedef void MPID_Op_fn(const void *in, const void *with, void *to, int64_t n);

/* The function of an operation on a basic type, the best for this processor.  NULL: the operation is not defined on the
 * type, or the compiler of this library could not compute with it (__float128, __int128).  What is returned holds until
 * MPID_Logicals change (basic.h). */
MPID_Op_fn *MPID_Op_kernel(int32_t op, uint32_t basic);

/* The classes of types that an operation is defined on: bits of enum MPIR_CLASS (basic.h); 0: unknown, or none. */
int MPID_Op_classes(int32_t op);
/* The class of a basic type; MPIR_CLASS_NONE: unknown, or no operation is defined on it. */
int MPID_Op_class_of(uint32_t basic);

/* MPI_MAXLOC and MPI_MINLOC on pairs that are no basic type (MPI_Type_get_value_index): basic types of the value, which
 * lies first, and of the index; where the index lies; from pair to pair. */
struct MPID_Op_pair {
    uint32_t value, index;
    int64_t index_at, extent;
};
/* Can the values and indices of such pairs be compared? */
bool MPID_Op_pair_known(const struct MPID_Op_pair *pair);
/* inout[i] = in[i] op inout[i] for n pairs that are known; `op` is one of the two. */
void MPID_Op_pairs(int32_t op, const struct MPID_Op_pair *pair, const void *in, void *inout, int64_t n);

#endif
