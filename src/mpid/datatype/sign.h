/* SPDX-License-Identifier: BSD-3-Clause */
/* sign.h: which basic types a datatype is made of, in the order of its packed form: its type signature.
 *
 * Only types of more than one basic type have one; the others are told by `basic` in struct MPIR_DATATYPE.  A
 * signature never changes once made and is shared by reference count.  Memory is proportional to the fields of the
 * structs in it:
 * repetitions are numbers.  Types nested more than MPID_SIGN_DEPTH deep have none (the walkers recurse): they can
 * be sent and packed, but not converted. */
#ifndef MPID_SIGN_H
#define MPID_SIGN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "mpid.h"
#include "mpid/datatype/signature.h"

enum { MPID_SIGN_DEPTH = 1000 };

struct MPID_SIGN_PART {
    int64_t times;
    uint32_t basic;              /* 0: sub */
    const struct MPID_SIGN *sub; /* referenced */
};

struct MPID_SIGN {
    _Atomic int32_t refs;
    int32_t depth; /* signatures below signatures */
    int64_t bytes,
        wire; /* packed bytes of one, natively and in external32 (-1: some part is unknown there) */
    struct MPID_SUM sum; /* of one */
    int64_t n;
    struct MPID_SIGN_PART part[];
};

/* Parts being collected, in order; equal neighbours become one. */
struct MPID_SIGNS {
    struct MPID_SIGN_PART *v;
    int64_t n, cap;
    bool unknown, no_memory;
};

void MPID_Signs_add(struct MPID_SIGNS *s, const struct MPIR_DATATYPE *t, int64_t times);
/* The signature of what was collected, or NULL: some part has none, or no_memory. */
struct MPID_SIGN *MPID_Signs_made(struct MPID_SIGNS *s);

struct MPID_SIGN *MPID_Sign_ref(const struct MPID_SIGN *s); /* NULL allowed, here and below */
void MPID_Sign_unref(const struct MPID_SIGN *s);

#endif
