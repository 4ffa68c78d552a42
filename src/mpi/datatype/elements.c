/* elements.c: from bytes to entries and basic elements, and back.
 *
 * A type map is walked through the types a datatype was made of: whole copies are counted by division, and at most one
 * part is entered, so the cost is the depth of the type plus the fields of its structs.  A pair (MPI_FLOAT_INT) counts as
 * two basic elements. */
#include "type.h"
#include "err.h"
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

/* Basic elements in the first `bytes` bytes of data; MPI_UNDEFINED if the last is not whole. */
static int64_t elements_in(const MPIR_Datatype *t, int64_t bytes)
{
    int64_t n = 0;
    while (bytes > 0) {
        if (t->adi.size == 0)
            return MPI_UNDEFINED;
        n += bytes / t->adi.size * t->nelements;
        bytes %= t->adi.size;
        int64_t parts = parts_of(t);
        if (parts == 0 && bytes > 0)
            return t->nelements == 2 && bytes == pair_value_size(t) ? n + 1 : MPI_UNDEFINED;
        for (int64_t i = 0; i < parts && bytes > 0; i++) {
            int64_t times = part_times(t, i), size = times * t->types[i]->adi.size;
            if (bytes < size) {
                t = t->types[i];
                break;
            }
            n += times * t->types[i]->nelements;
            bytes -= size;
        }
    }
    return n;
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
    *count = elements_in(datatype, status->count);
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
