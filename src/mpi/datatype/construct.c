/* construct.c: the datatype constructors.  The arithmetic (bounds, overflow, layout) is the ADI's. */
#include <stddef.h>
#include "type.h"
#include "err.h"
#include "construct.h"
#include "bodies.h"

static const MPIR_Counts none = { NULL, 0 };

int MPIR_Type_contiguous(MPI_Count count, MPIR_Datatype *oldtype, MPIR_Datatype **newtype)
{
    MPIR_Datatype *t = MPIR_Datatype_new(&(struct contents){
        .combiner = MPI_COMBINER_CONTIGUOUS, .nfixed = 1, .fixed = { count }, .ntypes = 1, .type = oldtype });
    if (t == NULL)
        return MPI_ERR_NO_MEM;
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
                     MPIR_Datatype **newtype)
{
    int64_t bytes;
    int err = in_bytes(stride, oldtype, &bytes);
    if (err)
        return err;
    MPIR_Datatype *t = MPIR_Datatype_new(&(struct contents){ .combiner = MPI_COMBINER_VECTOR,
                                                             .nfixed = 3,
                                                             .fixed = { count, blocklength, stride },
                                                             .ntypes = 1,
                                                             .type = oldtype });
    if (t == NULL)
        return MPI_ERR_NO_MEM;
    return MPIR_Datatype_made(t, MPID_Type_hvector(&t->adi, count, blocklength, bytes, &oldtype->adi),
                              newtype);
}

int MPIR_Type_create_hvector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPIR_Datatype *oldtype,
                             MPIR_Datatype **newtype)
{
    MPIR_Datatype *t = MPIR_Datatype_new(&(struct contents){ .combiner = MPI_COMBINER_HVECTOR,
                                                             .nfixed = 2,
                                                             .fixed = { count, blocklength },
                                                             .naddrs = 1,
                                                             .addrs = { stride },
                                                             .ntypes = 1,
                                                             .type = oldtype });
    if (t == NULL)
        return MPI_ERR_NO_MEM;
    return MPIR_Datatype_made(t, MPID_Type_hvector(&t->adi, count, blocklength, stride, &oldtype->adi),
                              newtype);
}

int MPIR_Type_indexed(MPI_Count count, MPIR_Counts array_of_blocklengths, MPIR_Counts array_of_displacements,
                      MPIR_Datatype *oldtype, MPIR_Datatype **newtype)
{
    MPIR_Datatype *t =
        MPIR_Datatype_new(&(struct contents){ .combiner = MPI_COMBINER_INDEXED,
                                              .large = array_of_blocklengths.is_large,
                                              .nfixed = 1,
                                              .fixed = { count },
                                              .count = count,
                                              .ints = { array_of_blocklengths, array_of_displacements },
                                              .ntypes = 1,
                                              .type = oldtype });
    if (t == NULL)
        return MPI_ERR_NO_MEM;
    return MPIR_Datatype_made(t,
                              MPID_Type_hindexed(&t->adi, count, array_of_blocklengths, 0,
                                                 array_of_displacements, oldtype->adi.extent, &oldtype->adi),
                              newtype);
}

int MPIR_Type_create_hindexed(MPI_Count count, MPIR_Counts array_of_blocklengths,
                              MPIR_Counts array_of_displacements, MPIR_Datatype *oldtype,
                              MPIR_Datatype **newtype)
{
    MPIR_Datatype *t = MPIR_Datatype_new(&(struct contents){ .combiner = MPI_COMBINER_HINDEXED,
                                                             .large = array_of_blocklengths.is_large,
                                                             .nfixed = 1,
                                                             .fixed = { count },
                                                             .count = count,
                                                             .ints = { array_of_blocklengths },
                                                             .addr_array = array_of_displacements,
                                                             .ntypes = 1,
                                                             .type = oldtype });
    if (t == NULL)
        return MPI_ERR_NO_MEM;
    return MPIR_Datatype_made(t,
                              MPID_Type_hindexed(&t->adi, count, array_of_blocklengths, 0,
                                                 array_of_displacements, 1, &oldtype->adi),
                              newtype);
}

int MPIR_Type_create_indexed_block(MPI_Count count, MPI_Count blocklength, MPIR_Counts array_of_displacements,
                                   MPIR_Datatype *oldtype, MPIR_Datatype **newtype)
{
    MPIR_Datatype *t = MPIR_Datatype_new(&(struct contents){ .combiner = MPI_COMBINER_INDEXED_BLOCK,
                                                             .large = array_of_displacements.is_large,
                                                             .nfixed = 2,
                                                             .fixed = { count, blocklength },
                                                             .count = count,
                                                             .ints = { array_of_displacements },
                                                             .ntypes = 1,
                                                             .type = oldtype });
    if (t == NULL)
        return MPI_ERR_NO_MEM;
    return MPIR_Datatype_made(t,
                              MPID_Type_hindexed(&t->adi, count, none, blocklength, array_of_displacements,
                                                 oldtype->adi.extent, &oldtype->adi),
                              newtype);
}

int MPIR_Type_create_hindexed_block(MPI_Count count, MPI_Count blocklength,
                                    MPIR_Counts array_of_displacements, MPIR_Datatype *oldtype,
                                    MPIR_Datatype **newtype)
{
    MPIR_Datatype *t = MPIR_Datatype_new(&(struct contents){ .combiner = MPI_COMBINER_HINDEXED_BLOCK,
                                                             .nfixed = 2,
                                                             .fixed = { count, blocklength },
                                                             .count = count,
                                                             .addr_array = array_of_displacements,
                                                             .ntypes = 1,
                                                             .type = oldtype });
    if (t == NULL)
        return MPI_ERR_NO_MEM;
    return MPIR_Datatype_made(
        t, MPID_Type_hindexed(&t->adi, count, none, blocklength, array_of_displacements, 1, &oldtype->adi),
        newtype);
}

int MPIR_Type_create_struct(MPI_Count count, MPIR_Counts array_of_blocklengths,
                            MPIR_Counts array_of_displacements, MPIR_Datatype *const *array_of_types,
                            MPIR_Datatype **newtype)
{
    _Static_assert(offsetof(MPIR_Datatype, adi) == 0, "an array of pointers to one is an array to the other");
    MPIR_Datatype *t = MPIR_Datatype_new(&(struct contents){ .combiner = MPI_COMBINER_STRUCT,
                                                             .large = array_of_blocklengths.is_large,
                                                             .nfixed = 1,
                                                             .fixed = { count },
                                                             .count = count,
                                                             .ints = { array_of_blocklengths },
                                                             .addr_array = array_of_displacements,
                                                             .ntypes = count,
                                                             .types = array_of_types });
    if (t == NULL)
        return MPI_ERR_NO_MEM;
    return MPIR_Datatype_made(t,
                              MPID_Type_struct(&t->adi, count, array_of_blocklengths, array_of_displacements,
                                               (struct MPIR_DATATYPE *const *)array_of_types),
                              newtype);
}

int MPIR_Type_create_resized(MPIR_Datatype *oldtype, MPI_Count lb, MPI_Count extent, MPIR_Datatype **newtype)
{
    MPIR_Datatype *t = MPIR_Datatype_new(&(struct contents){ .combiner = MPI_COMBINER_RESIZED,
                                                             .naddrs = 2,
                                                             .addrs = { lb, extent },
                                                             .ntypes = 1,
                                                             .type = oldtype });
    if (t == NULL)
        return MPI_ERR_NO_MEM;
    return MPIR_Datatype_made(t, MPID_Type_resized(&t->adi, lb, extent, &oldtype->adi), newtype);
}

int MPIR_Type_dup(MPIR_Datatype *oldtype, MPIR_Datatype **newtype)
{
    MPIR_Datatype *t =
        MPIR_Datatype_new(&(struct contents){ .combiner = MPI_COMBINER_DUP, .ntypes = 1, .type = oldtype });
    if (t == NULL)
        return MPI_ERR_NO_MEM;
    return MPIR_Datatype_made(t, MPID_Type_dup(&t->adi, &oldtype->adi), newtype);
}
