/* SPDX-License-Identifier: BSD-3-Clause */
/* construct.h: making a datatype object: the ADI's part is made by an MPID_Type_* call, the rest here. */
#ifndef MPIR_CONSTRUCT_H
#define MPIR_CONSTRUCT_H

#include <stdbool.h>
#include "type.h"

/* One argument of a constructor call, for MPI_Type_get_contents: where it comes there depends on its type in the
 * call. */
struct arg {
    enum arg_type {
        ARG_INT,   /* int in both calls: an integer */
        ARG_COUNT, /* int, in the _c call MPI_Count: an integer or a large count */
        ARG_AINT   /* MPI_Aint, in the _c call MPI_Count: an address or a large count */
    } type;
    const char *array_name; /* NULL: a number, which is `value` */
    int64_t value;
    int64_t n;
    MPIR_Counts array; /* n entries */
};

#define ARG(TYPE, VALUE) \
    { \
        ARG_##TYPE, NULL, (VALUE), 1, \
        { \
            NULL, 0 \
        } \
    }
#define ARG_ARRAY(TYPE, N, ARRAY) \
    { \
        ARG_##TYPE, #ARRAY, 0, (N), (ARRAY) \
    }

/* A constructor call: its arguments in the order of the standard, and its old types. */
struct contents {
    int32_t combiner;
    bool large; /* the _c call */
    int nargs;
    const struct arg *args;
    int64_t ntypes;
    MPIR_Datatype *const *types;
};

/* A new object with its contents filled in, but for the ADI's part; MPI_ERR_ARG if an array that is needed is NULL. */
int MPIR_Datatype_new(const struct contents *c, MPIR_Datatype **newtype);

/* The ADI's part has been made, with `err`: hand the object out, or drop it if that is not 0.  Returns err. */
int MPIR_Datatype_made(MPIR_Datatype *t, int err, MPIR_Datatype **newtype);

#endif
