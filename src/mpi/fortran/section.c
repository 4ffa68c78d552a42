/* section.c: array sections whose elements lie apart, as buffers.
 *
 * A buffer is the sequence of the section's elements.  A blocking call gets a copy of it.  A call that returns before
 * it has read or written the buffer gets a datatype that describes count elements of the user's datatype in the section:
 *
 *   1. the user's datatype is without gaps: named, or made by MPI_Type_contiguous or MPI_Type_dup of such;
 *   2. an element of the array is a whole number of the named ones, or the reverse; in the second case, where one value may
 *      lie in two places, the datatype is of bytes. */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include "fort.h"

enum { MAX_RANK = 15 };

/* ---- Copies ---- */

static intptr_t elements(const struct kf_array *a)
{
    intptr_t n = 1;
    for (int i = 0; i < a->rank; i++)
        n *= a->dim[i].extent;
    return n;
}

/* One row of n elements, sm apart, from or to where they lie side by side; four at a time, so that the loads do not wait for stores.
 * Each call is with a size that the compiler knows. */
#define ROW static inline __attribute__((always_inline)) void
ROW row_in(const char *apart, char *dense, intptr_t n, intptr_t sm, size_t size)
{
    for (; n >= 4; n -= 4, apart += 4 * sm, dense += 4 * size) {
        memcpy(dense, apart, size);
        memcpy(dense + size, apart + sm, size);
        memcpy(dense + 2 * size, apart + 2 * sm, size);
        memcpy(dense + 3 * size, apart + 3 * sm, size);
    }
    for (; n > 0; n--, apart += sm, dense += size)
        memcpy(dense, apart, size);
}

ROW row_out(char *apart, const char *dense, intptr_t n, intptr_t sm, size_t size)
{
    for (; n >= 4; n -= 4, apart += 4 * sm, dense += 4 * size) {
        memcpy(apart, dense, size);
        memcpy(apart + sm, dense + size, size);
        memcpy(apart + 2 * sm, dense + 2 * size, size);
        memcpy(apart + 3 * sm, dense + 3 * size, size);
    }
    for (; n > 0; n--, apart += sm, dense += size)
        memcpy(apart, dense, size);
}

ROW row_of(char *apart, char *dense, intptr_t n, intptr_t sm, size_t size, bool in)
{
    if (in)
        row_in(apart, dense, n, sm, size);
    else
        row_out(apart, dense, n, sm, size);
}

static void move_row(char *apart, char *dense, intptr_t n, intptr_t sm, size_t size, bool in)
{
    if (sm == (intptr_t)size)
        memcpy(in ? dense : apart, in ? apart : dense, (size_t)n * size);
    else if (size == 4)
        row_of(apart, dense, n, sm, 4, in);
    else if (size == 8)
        row_of(apart, dense, n, sm, 8, in);
    else if (size == 16)
        row_of(apart, dense, n, sm, 16, in);
    else
        row_of(apart, dense, n, sm, size, in);
}

static void move(const struct kf_array *a, char *dense, bool in)
{
    intptr_t at[MAX_RANK] = { 0 }, n = a->dim[0].extent, rows = elements(a) / n;
    char *apart = a->base_addr;
    for (intptr_t r = 0; r < rows; r++) {
        move_row(apart, dense, n, a->dim[0].sm, a->elem_len, in);
        dense += (size_t)n * a->elem_len;
        for (int i = 1; i < a->rank; i++) {
            apart += a->dim[i].sm;
            if (++at[i] < a->dim[i].extent)
                break;
            apart -= a->dim[i].extent * a->dim[i].sm;
            at[i] = 0;
        }
    }
}

/* One copy's memory is kept for the next, so that the pages of large ones need not be had from the system at each call. */
enum { KEPT = 4 << 20 };
struct room {
    size_t size;
    _Alignas(16) char bytes[];
};
static _Atomic(struct room *) spare;

static void *room_of(size_t size)
{
    struct room *r = atomic_exchange(&spare, NULL);
    if (!r || r->size < size) {
        free(r);
        r = malloc(sizeof *r + size);
        if (!r)
            return NULL;
        r->size = size;
    }
    return r->bytes;
}

static void give_back(void *bytes)
{
    struct room *r = bytes ? (struct room *)((char *)bytes - offsetof(struct room, bytes)) : NULL;
    if (r && r->size <= KEPT)
        r = atomic_exchange(&spare, r);
    free(r);
}

/* Copied in, too, where the call writes: what it does not write has to stay. */
int kf_copy(struct kf_section *s, const struct kf_array *a, int mode)
{
    (void)mode;
    s->copy = room_of((size_t)elements(a) * a->elem_len);
    if (!s->copy)
        return MPI_ERR_NO_MEM;
    move(a, s->copy, true);
    s->at = s->copy;
    return 0;
}

int kf_refuse(void)
{
    return MPI_ERR_BUFFER;
}

void kf_close_slowly(struct kf_section *s, const struct kf_array *into)
{
    if (s->copy && into)
        move(into, s->copy, false);
    give_back(s->copy);
    if (s->type) {
        MPI_Datatype type = kf_Datatype(s->type);
        PMPI_Type_free(&type);
    }
}

/* ---- Datatypes ---- */

/* The named datatype that this one consists of without gaps, and how often; false: there is none.  What contents gives is freed. */
static bool basis_of(MPI_Datatype type, MPI_Datatype *named, MPI_Count *times)
{
    MPI_Count ints, addresses, larges, types;
    int combiner, numbers[1];
    MPI_Aint addrs[1];
    MPI_Count large[1];
    MPI_Datatype inner;
    *times = 1;
    if (PMPI_Type_get_envelope_c(type, &ints, &addresses, &larges, &types, &combiner))
        return false;
    if (combiner == MPI_COMBINER_NAMED) {
        *named = type;
        return true;
    }
    if ((combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) || types != 1 || ints > 1 ||
        larges > 1 || addresses > 0 ||
        PMPI_Type_get_contents_c(type, ints, 0, larges, 1, numbers, addrs, large, &inner))
        return false;
    MPI_Count more = 1, own = ints ? numbers[0] : larges ? large[0] : 1;
    bool found = basis_of(inner, named, &more);
    if (!found || *named != inner) /* a named one is not freed */
        PMPI_Type_free(&inner);
    *times = own * more;
    return found;
}

/* The first n elements: whole slabs of the last dimension, then whole ones of the one before in what is left, and so on. */
static int first_of(const struct kf_array *a, intptr_t n, MPI_Datatype element, MPI_Datatype *made)
{
    MPI_Datatype slab[MAX_RANK + 1], part[MAX_RANK + 1];
    MPI_Count lengths[MAX_RANK + 1], displs[MAX_RANK + 1];
    intptr_t whole[MAX_RANK + 1] = { 1 }, at = 0;
    int err = PMPI_Type_dup(element, &slab[0]), parts = 0, slabs = 1;
    for (int i = 0; i < a->rank && !err; i++, slabs++) {
        whole[i + 1] = whole[i] * a->dim[i].extent;
        err = PMPI_Type_create_hvector_c(a->dim[i].extent, 1, a->dim[i].sm, slab[i], &slab[i + 1]);
    }
    if (err)
        slabs--;
    if (!err && n == whole[a->rank]) { /* the usual case */
        *made = slab[--slabs];
    } else if (!err) {
        for (int i = a->rank - 1; i >= 0 && !err && n > 0; i--) {
            intptr_t q = n / whole[i];
            n -= q * whole[i];
            if (q == 0)
                continue;
            err = PMPI_Type_create_hvector_c(q, 1, a->dim[i].sm, slab[i], &part[parts]);
            lengths[parts] = 1;
            displs[parts] = at;
            at += q * a->dim[i].sm;
            parts += !err;
        }
        if (!err)
            err = PMPI_Type_create_struct_c(parts, lengths, displs, part, made);
        while (parts > 0)
            PMPI_Type_free(&part[--parts]);
    }
    while (slabs > 0)
        PMPI_Type_free(&slab[--slabs]);
    return err;
}

int kf_describe(struct kf_section *s, const struct kf_array *a, MPI_Count count, int datatype)
{
    MPI_Datatype named, element, made;
    MPI_Count times, size, each = (MPI_Count)a->elem_len;
    if (count < 0 || a->rank > MAX_RANK)
        return MPI_ERR_COUNT;
    if (!basis_of(kf_Datatype(datatype), &named, &times) || PMPI_Type_size_c(named, &size) || size <= 0)
        return MPI_ERR_TYPE;
    MPI_Count bytes = count * times * size;
    if (bytes % each != 0 || bytes / each > elements(a))
        return MPI_ERR_COUNT;
    int err = each % size == 0 ? PMPI_Type_contiguous_c(each / size, named, &element)
                               : PMPI_Type_contiguous_c(each, MPI_BYTE, &element);
    if (err)
        return MPI_ERR_TYPE;
    err = first_of(a, bytes / each, element, &made);
    PMPI_Type_free(&element);
    if (err)
        return MPI_ERR_TYPE;
    if (PMPI_Type_commit(&made)) {
        PMPI_Type_free(&made);
        return MPI_ERR_TYPE;
    }
    s->type = kf_integer(made);
    return 0;
}
