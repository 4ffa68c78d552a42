/* construct.h: making a datatype object: the ADI's part is made by an MPID_Type_* call, the rest here. */
#ifndef MPIR_CONSTRUCT_H
#define MPIR_CONSTRUCT_H

#include <stdbool.h>
#include "type.h"

/* The arguments of a constructor call, in the order of MPI_Type_get_contents: integers, then addresses, then types. */
struct contents {
    int32_t combiner;
    bool large; /* given as large counts (they count as such whatever their values) */
    int nfixed; /* integers that are arguments by themselves: fixed[] */
    int64_t fixed[3];
    int64_t count;       /* entries in each of the arrays */
    MPIR_Counts ints[2]; /* arrays of integers; p NULL: none */
    int naddrs;          /* addresses that are arguments by themselves: addrs[] */
    int64_t addrs[2];
    MPIR_Counts addr_array; /* p NULL: none */
    int64_t ntypes;
    MPIR_Datatype *type; /* the one type, or */
    MPIR_Datatype *const *types;
};

/* A new object with its contents filled in, but for the ADI's part; NULL without memory (recorded). */
MPIR_Datatype *MPIR_Datatype_new(const struct contents *c);

/* The ADI's part has been made, with `err`: hand the object out, or drop it if that is not 0.  Returns err. */
int MPIR_Datatype_made(MPIR_Datatype *t, int err, MPIR_Datatype **newtype);

#endif
