/* SPDX-License-Identifier: BSD-3-Clause */
/* signature.h: what a sequence of numbers of basic types adds up to (signature.c). */
#ifndef MPID_SIGNATURE_H
#define MPID_SIGNATURE_H

#include <stdbool.h>
#include <stdint.h>

struct MPID_SUM {
    uint64_t h,
        /* the polynomial's value, and that of the power by which what stands before is multiplied; p 0: there is
         * nothing yet */
        p;
    int64_t n;   /* numbers */
    bool packed; /* there is MPI_PACKED among them, which may be anything */
};

struct MPID_SIGN_PART;
struct MPID_SUM MPID_Sum_add(struct MPID_SUM sum, const struct MPID_SIGN_PART *p);

#endif
