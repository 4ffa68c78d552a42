/* SPDX-License-Identifier: BSD-3-Clause */
/* elements.c: from bytes to entries and basic elements, and back.
 *
 * A type map is walked through the types a datatype was made of: whole copies are counted by division, and at most
 * one part is entered, so the cost is the depth of the type plus the fields of its structs.  A pair
 * (MPI_FLOAT_INT) counts as two basic elements. */
#include "type.h"
#include "mpi_err.h"
#include "basic.h"
#include "bodies.h"

static int64_t pair_value_size(const MPIR_Datatype *t)
{
#define VALUE_SIZE(NAME, VALUE, INDEX, REPR, LAYOUT) \
    case KEEL_##NAME: \
        return sizeof(VALUE);
    switch (t->adi.basic) {
        MPIR_PAIR_TYPES(VALUE_SIZE)
    }
    return t->adi.size / 2; /* of Fortran's numbers whose size has been changed */
}

/* One part of a type: `times` elements of `type`.  Structs have one a block, pairs without a name two, predefined types
 * none, all others one. */
static int64_t parts_of(const MPIR_Datatype *t)
{
    return t->nt;
}

static int64_t part_times(const MPIR_Datatype *t, int64_t i)
{
    if (t->combiner == MPI_COMBINER_STRUCT)
        return MPIR_Datatype_argument(t, 1 + i);
    if (t->combiner == MPI_COMBINER_VALUE_INDEX)
        return 1;
    return t->types[0]->adi.size ? t->adi.size / t->types[0]->adi.size : 0;
}

/* A part of the type: it is not whole. */
static void add_part(struct MPIR_ELEMENTS *e, const MPIR_Datatype *t, const MPIR_Datatype *there, bool pairs,
                     int64_t bytes)
{
    int64_t value = pair_value_size(t), index = t->adi.size - value;
    if (t->nelements != 2 || !pairs || bytes < there->adi.size - index)
        return;
    e->n++;
    e->here += value;
    e->there += there->adi.size - index;
}

struct MPIR_ELEMENTS MPIR_Datatype_elements(const MPIR_Datatype *t, const MPIR_Datatype *there, int64_t bytes,
                                            bool pairs)
{
    struct MPIR_ELEMENTS e = { 0 };
    while (bytes > 0 && there->adi.size > 0) {
        int64_t whole = bytes / there->adi.size, parts = parts_of(t);
        e.n += whole * t->nelements;
        e.here += whole * t->adi.size;
        e.there += whole * there->adi.size;
        bytes %= there->adi.size;
        if (parts == 0) {
            add_part(&e, t, there, pairs, bytes);
            break;
        }
        for (int64_t i = 0; i < parts && bytes > 0; i++) {
            const MPIR_Datatype *part = t->types[i], *part_there = there->types[i];
            int64_t times = part_times(t, i);
            if (bytes < times * part_there->adi.size) {
                t = part;
                there = part_there;
                break;
            }
            e.n += times * part->nelements;
            e.here += times * part->adi.size;
            e.there += times * part_there->adi.size;
            bytes -= times * part_there->adi.size;
        }
    }
    return e;
}

/* Bytes of the first n basic elements; -1 if they do not fit in 63 bits or the type has none. */
static int64_t bytes_of(const MPIR_Datatype *t, int64_t n)
{
    int64_t bytes = 0;
    while (n > 0) {
        int64_t whole;
        if (t->nelements == 0 || __builtin_mul_overflow(n / t->nelements, t->adi.size, &whole) ||
            __builtin_add_overflow(bytes, whole, &bytes))
            return -1;
        n %= t->nelements;
        int64_t parts = parts_of(t);
        if (parts == 0 && n > 0)
            return bytes + pair_value_size(t);
        for (int64_t i = 0; i < parts && n > 0; i++) {
            int64_t times = part_times(t, i), elements = times * t->types[i]->nelements;
            if (n < elements) {
                t = t->types[i];
                break;
            }
            bytes += times * t->types[i]->adi.size;
            n -= elements;
        }
    }
    return bytes;
}

int MPIR_Get_count(const MPIR_Status *status, MPIR_Datatype *datatype, MPI_Count *count)
{
    int64_t size = datatype->adi.size;
    if (size == 0)
        *count = status->count == 0 ? 0 : MPI_UNDEFINED;
    else
        *count = status->count % size == 0 ? status->count / size : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int MPIR_Get_elements(const MPIR_Status *status, MPIR_Datatype *datatype, MPI_Count *count)
{
    struct MPIR_ELEMENTS e = MPIR_Datatype_elements(datatype, datatype, status->count, true);
    *count = e.here == status->count ? e.n : MPI_UNDEFINED; /* the last one has to be whole */
    return MPI_SUCCESS;
}

int MPIR_Status_set_elements(MPIR_Status *status, MPIR_Datatype *datatype, MPI_Count count)
{
    int64_t bytes = bytes_of(datatype, count);
    if (bytes < 0)
        return MPIR_Err(MPI_ERR_COUNT, "count", "is %lld; expected %s", (long long)count,
                        datatype->nelements ? "elements of less than 2^63 bytes in all"
                                            : "0 for a datatype without elements");
    status->count = bytes;
    return MPI_SUCCESS;
}
