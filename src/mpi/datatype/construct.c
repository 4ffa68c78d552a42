/* SPDX-License-Identifier: BSD-3-Clause */
/* construct.c: the datatype constructors but those of arrays (array.c).  The arithmetic (bounds, overflow, layout)
 * is the ADI's. */
#include <stddef.h>
#include "attr.h"
#include "type.h"
#include "mpi_err.h"
#include "construct.h"
#include "bodies.h"

static const MPIR_Counts none = { NULL, 0 };

/* A call with one old type. */
static int new_of(int combiner, bool large, int nargs, const struct arg *args, MPIR_Datatype *oldtype,
                  MPIR_Datatype **t)
{
    return MPIR_Datatype_new(&(struct contents){ .combiner = combiner,
                                                 .large = large,
                                                 .nargs = nargs,
                                                 .args = args,
                                                 .ntypes = 1,
                                                 .types = &oldtype },
                             t);
}

int MPIR_Type_contiguous(MPI_Count count, MPIR_Datatype *oldtype, MPIR_Datatype **newtype, bool large)
{
    MPIR_Datatype *t;
    const struct arg args[] = { ARG(COUNT, count) };
    int err = new_of(MPI_COMBINER_CONTIGUOUS, large, 1, args, oldtype, &t);
    if (err)
        return err;
    return MPIR_Datatype_made(t, MPID_Type_hvector(&t->adi, 1, count, 0, &oldtype->adi), newtype);
}

/* A stride in elements, in bytes. */
static int in_bytes(int64_t stride, const MPIR_Datatype *oldtype, int64_t *bytes)
{
    if (!__builtin_mul_overflow(stride, oldtype->adi.extent, bytes))
        return MPI_SUCCESS;
    return MPIR_Err(MPI_ERR_TYPE, "stride", "is %lld elements of %lld bytes; expected less than 2^63 bytes",
                    (long long)stride, (long long)oldtype->adi.extent);
}

int MPIR_Type_vector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPIR_Datatype *oldtype,
                     MPIR_Datatype **newtype, bool large)
{
    MPIR_Datatype *t;
    const struct arg args[] = { ARG(COUNT, count), ARG(COUNT, blocklength), ARG(COUNT, stride) };
    int64_t bytes = 0;
    int err = count > 1 && blocklength > 0 ? in_bytes(stride, oldtype, &bytes) : 0; /* else it is not used */
    if (!err)
        err = new_of(MPI_COMBINER_VECTOR, large, 3, args, oldtype, &t);
    if (err)
        return err;
    return MPIR_Datatype_made(t, MPID_Type_hvector(&t->adi, count, blocklength, bytes, &oldtype->adi),
                              newtype);
}

int MPIR_Type_create_hvector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPIR_Datatype *oldtype,
                             MPIR_Datatype **newtype, bool large)
{
    MPIR_Datatype *t;
    const struct arg args[] = { ARG(COUNT, count), ARG(COUNT, blocklength), ARG(AINT, stride) };
    int err = new_of(MPI_COMBINER_HVECTOR, large, 3, args, oldtype, &t);
    if (err)
        return err;
    return MPIR_Datatype_made(t, MPID_Type_hvector(&t->adi, count, blocklength, stride, &oldtype->adi),
                              newtype);
}

int MPIR_Type_indexed(MPI_Count count, MPIR_Counts array_of_blocklengths, MPIR_Counts array_of_displacements,
                      MPIR_Datatype *oldtype, MPIR_Datatype **newtype, bool large)
{
    MPIR_Datatype *t;
    const struct arg args[] = { ARG(COUNT, count), ARG_ARRAY(COUNT, count, array_of_blocklengths),
                                ARG_ARRAY(COUNT, count, array_of_displacements) };
    int err = new_of(MPI_COMBINER_INDEXED, large, 3, args, oldtype, &t);
    if (err)
        return err;
    return MPIR_Datatype_made(t,
                              MPID_Type_hindexed(&t->adi, count, array_of_blocklengths, 0,
                                                 array_of_displacements, oldtype->adi.extent, &oldtype->adi),
                              newtype);
}

int MPIR_Type_create_hindexed(MPI_Count count, MPIR_Counts array_of_blocklengths,
                              MPIR_Counts array_of_displacements, MPIR_Datatype *oldtype,
                              MPIR_Datatype **newtype, bool large)
{
    MPIR_Datatype *t;
    const struct arg args[] = { ARG(COUNT, count), ARG_ARRAY(COUNT, count, array_of_blocklengths),
                                ARG_ARRAY(AINT, count, array_of_displacements) };
    int err = new_of(MPI_COMBINER_HINDEXED, large, 3, args, oldtype, &t);
    if (err)
        return err;
    return MPIR_Datatype_made(t,
                              MPID_Type_hindexed(&t->adi, count, array_of_blocklengths, 0,
                                                 array_of_displacements, 1, &oldtype->adi),
                              newtype);
}

int MPIR_Type_create_indexed_block(MPI_Count count, MPI_Count blocklength, MPIR_Counts array_of_displacements,
                                   MPIR_Datatype *oldtype, MPIR_Datatype **newtype, bool large)
{
    MPIR_Datatype *t;
    const struct arg args[] = { ARG(COUNT, count), ARG(COUNT, blocklength),
                                ARG_ARRAY(COUNT, count, array_of_displacements) };
    int err = new_of(MPI_COMBINER_INDEXED_BLOCK, large, 3, args, oldtype, &t);
    if (err)
        return err;
    return MPIR_Datatype_made(t,
                              MPID_Type_hindexed(&t->adi, count, none, blocklength, array_of_displacements,
                                                 oldtype->adi.extent, &oldtype->adi),
                              newtype);
}

int MPIR_Type_create_hindexed_block(MPI_Count count, MPI_Count blocklength,
                                    MPIR_Counts array_of_displacements, MPIR_Datatype *oldtype,
                                    MPIR_Datatype **newtype, bool large)
{
    MPIR_Datatype *t;
    const struct arg args[] = { ARG(COUNT, count), ARG(COUNT, blocklength),
                                ARG_ARRAY(AINT, count, array_of_displacements) };
    int err = new_of(MPI_COMBINER_HINDEXED_BLOCK, large, 3, args, oldtype, &t);
    if (err)
        return err;
    return MPIR_Datatype_made(
        t, MPID_Type_hindexed(&t->adi, count, none, blocklength, array_of_displacements, 1, &oldtype->adi),
        newtype);
}

int MPIR_Type_create_struct(MPI_Count count, MPIR_Counts array_of_blocklengths,
                            MPIR_Counts array_of_displacements, MPIR_Datatype *const *array_of_types,
                            MPIR_Datatype **newtype, bool large)
{
    _Static_assert(offsetof(MPIR_Datatype, adi) == 0, "an array of pointers to one is an array to the other");
    MPIR_Datatype *t;
    const struct arg args[] = { ARG(COUNT, count), ARG_ARRAY(COUNT, count, array_of_blocklengths),
                                ARG_ARRAY(AINT, count, array_of_displacements) };
    int err = MPIR_Datatype_new(&(struct contents){ .combiner = MPI_COMBINER_STRUCT,
                                                    .large = large,
                                                    .nargs = 3,
                                                    .args = args,
                                                    .ntypes = count,
                                                    .types = array_of_types },
                                &t);
    if (err)
        return err;
    return MPIR_Datatype_made(t,
                              MPID_Type_struct(&t->adi, count, array_of_blocklengths, array_of_displacements,
                                               (struct MPIR_DATATYPE *const *)array_of_types),
                              newtype);
}

int MPIR_Type_create_resized(MPIR_Datatype *oldtype, MPI_Count lb, MPI_Count extent, MPIR_Datatype **newtype,
                             bool large)
{
    MPIR_Datatype *t;
    const struct arg args[] = { ARG(AINT, lb), ARG(AINT, extent) };
    int err = new_of(MPI_COMBINER_RESIZED, large, 2, args, oldtype, &t);
    if (err)
        return err;
    return MPIR_Datatype_made(t, MPID_Type_resized(&t->adi, lb, extent, &oldtype->adi), newtype);
}

int MPIR_Type_dup(MPIR_Datatype *oldtype, MPIR_Datatype **newtype)
{
    MPIR_Datatype *t;
    int err = new_of(MPI_COMBINER_DUP, false, 0, NULL, oldtype, &t);
    if (err)
        return err;
    err = MPIR_Datatype_made(t, MPID_Type_dup(&t->adi, &oldtype->adi), newtype);
    if (!err && (err = MPIR_Attr_copy_all(oldtype, t)))
        MPIR_Datatype_release(t);
    return err;
}
