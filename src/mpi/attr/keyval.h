/* SPDX-License-Identifier: BSD-3-Clause */
/* keyval.h: key values, for the files of this folder. */
#ifndef ATTR_KEYVAL_H
#define ATTR_KEYVAL_H

#include <stdbool.h>
#include "abi.h"
#include "object.h"

/* Referenced by the user until he frees it, and by each attribute. */
typedef struct MPIR_Keyval {
    struct keel_object obj;
    enum MPIR_KIND kind; /* of the objects */
    bool freed;          /* by the user: it lives as long as attributes have it */
    MPIR_Callback copy, delete;
} MPIR_Keyval;

/* What the callbacks' arguments are if they are no functions (the ABI's values). */
enum { NULL_FN = 0 /* no copy, or nothing to do at a deletion */, DUP_FN = 1 };

/* The living key value of objects of this kind that an int names; NULL with the error recorded. */
MPIR_Keyval *MPIR_Keyval_of(enum MPIR_KIND kind, int keyval);
int MPIR_Keyval_int(const MPIR_Keyval *k);
void MPIR_Keyval_release(MPIR_Keyval *k);

/* The keys that MPI defines: their name, and the kind of their objects; NULL for any other int. */
const char *MPIR_Keyval_predefined(int keyval, enum MPIR_KIND *kind);
/* Where the value of a predefined key of communicators is; NULL: it has none. */
int *MPIR_Keyval_predefined_value(int keyval);

/* "comm_keyval": the argument's name where the objects are of this kind. */
const char *MPIR_Keyval_arg(enum MPIR_KIND kind);

#endif
