/* SPDX-License-Identifier: BSD-3-Clause */
/* op.h: reduction operations. */
#ifndef MPIR_OP_H
#define MPIR_OP_H

#include <stdbool.h>
#include "object.h"
#include "abi.h"
#include "mpid_op.h"
#include "type.h"

typedef struct MPIR_Op {
    struct keel_object obj;
    bool commutative;
    bool user;
    const char *name;       /* "MPI_SUM" */
    MPIR_Callback callback; /* user operations */
} MPIR_Op;

/* Error class (recorded, argument "op") if the operation is not defined on the type; 0 otherwise. */
int MPIR_Op_check(const MPIR_Op *op, const MPIR_Datatype *type);

/* inout[i] = in[i] op inout[i] for `count` elements. */
void MPIR_Op_apply(const MPIR_Op *op, const void *in, void *inout, int64_t count, MPIR_Datatype *type);

/* to[i] = in[i] op with[i] for `count` elements of a contiguous type; `to` may be `with`, else it does not overlap
 * the operands. */
void MPIR_Op_combine(const MPIR_Op *op, const void *in, const void *with, void *to, int64_t count,
                     MPIR_Datatype *type);

/* The loop that computes to[i] = in[i] op with[i] for a predefined operation on a type on which it is defined;
 * NULL: none alone. */
typedef MPID_Op_fn MPIR_Op_loop;
MPIR_Op_loop *MPIR_Op_loop_of(const MPIR_Op *op, const MPIR_Datatype *type);

/* A few bits that are the same where operation and type are: to find out whether those of other processes are.
 * Types that are combined alike have the same (MPI_LONG and MPI_INT64_T); all operations of users do. */
uint32_t MPIR_Op_digest(const MPIR_Op *op, const MPIR_Datatype *type);
enum { MPIR_OP_DIGEST_OP = 0xff /* of it, the operation */ };

void MPIR_Op_release(MPIR_Op *op);

/* The predefined operation with this ABI value; NULL for any other value. */
MPIR_Op *MPIR_Op_predefined(int32_t value);

#endif
