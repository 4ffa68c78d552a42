/* SPDX-License-Identifier: BSD-3-Clause */
/* keel_object.h: the header every object with a handle begins with (installed; mpid.h needs it).
 *
 * A handle names an object by kind and index and carries the generation of the object it was made for, so
 * that a freed or made-up handle is found out before anything is followed.  The ADI-2 paper (3.7) calls this
 * a cookie. */
#ifndef KEEL_OBJECT_H
#define KEEL_OBJECT_H

#include <stdint.h>

struct keel_object {
    uint32_t index; /* place in the slab of its kind; KEEL_NO_INDEX if it lies in no slab (stack, static) */
    uint16_t gen;   /* odd while the object is alive, one more at each alloc and free */
    uint8_t kind;   /* which slab; enum MPIR_KIND in the MPI layer, 0 for objects outside slabs */
    uint8_t flags;  /* KEEL_OBJ_* */
    int32_t refs;   /* references; whoever takes it to 0 frees the object */
    int32_t self; /* predefined objects: the Standard ABI's handle value (paper, 2: "self field"); others 0 */
};

enum {
    KEEL_OBJ_PREDEFINED = 1, /* never freed, found in a table */
    KEEL_OBJ_PENDING =
        2, /* a communicator that MPI_Comm_idup is making: its handle is valid for what is local */
    KEEL_OBJ_REVOKED =
        4 /* a communicator, window or file that is revoked: likewise, and for what survivors of
                          * failures do */
};

#define KEEL_NO_INDEX UINT32_MAX

#endif
