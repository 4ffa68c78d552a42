/* SPDX-License-Identifier: BSD-3-Clause */
/* section.c: array sections whose elements lie apart, as buffers.
 *
 * A buffer is the sequence of the section's elements.  What stands for it in a call:
 *
 *   a datatype    one element of which is count elements of the user's datatype in the section, where the buffer
 *                 has one count and one datatype.  Those of the last shapes with a named datatype are kept for the
 *                 next calls.
 *   a copy        for the time of the call, where it blocks and the buffer has several blocks, or is of a
 *                 reduction, or the datatype is not a named one
 *   a kept copy   the same for a call that returns before it is over: the request moves and frees it (copies.h) */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include "fort.h"
#include "copies.h"

enum { MAX_RANK = 15 };

/* ---- Copies ---- */

static intptr_t elements(const struct kf_array *a)
{
    intptr_t n = 1;
    for (int i = 0; i < a->rank; i++)
        n *= a->dim[i].extent;
    return n;
}

/* One row of n elements, sm apart, from or to where they lie side by side; four at a time, so that the loads do
 * not wait for stores. Each call is with a size that the compiler knows. */
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

/* What has changed in `dense` since it was `before`, byte by byte: what the operation has not written may be
 * somebody else's by now. */
ROW row_changed(char *apart, const char *dense, char *before, intptr_t n, intptr_t sm, size_t size)
{
    for (; n > 0; n--, apart += sm, dense += size, before += size) {
        if (memcmp(dense, before, size) == 0)
            continue;
        for (size_t i = 0; i < size; i++)
            if (dense[i] != before[i])
                apart[i] = before[i] = dense[i];
    }
}

static void bring_row(char *apart, const char *dense, char *before, intptr_t n, intptr_t sm, size_t size)
{
    if (size == 4)
        row_changed(apart, dense, before, n, sm, 4);
    else if (size == 8)
        row_changed(apart, dense, before, n, sm, 8);
    else
        row_changed(apart, dense, before, n, sm, size);
}

enum way { IN, OUT, CHANGED };

/* Elements [first, first + n), to or from `dense`, where all of them have room. */
static void move(const struct kf_array *a, char *dense, char *before, enum way way, intptr_t first,
                 intptr_t n)
{
    intptr_t at[MAX_RANK], rest = first, row = a->dim[0].extent;
    char *apart = a->base_addr;
    for (int i = 0; i < a->rank; i++) {
        at[i] = rest % a->dim[i].extent;
        rest /= a->dim[i].extent;
        if (i > 0)
            apart += at[i] * a->dim[i].sm;
    }
    for (intptr_t k = at[0]; n > 0; k = 0) {
        intptr_t now = row - k < n ? row - k : n;
        char *from = apart + k * a->dim[0].sm, *to = dense + (size_t)first * a->elem_len;
        if (way == CHANGED)
            bring_row(from, to, before + (size_t)first * a->elem_len, now, a->dim[0].sm, a->elem_len);
        else
            move_row(from, to, now, a->dim[0].sm, a->elem_len, way == IN);
        first += now;
        n -= now;
        for (int i = 1; i < a->rank; i++) {
            apart += a->dim[i].sm;
            if (++at[i] < a->dim[i].extent)
                break;
            apart -= a->dim[i].extent * a->dim[i].sm;
            at[i] = 0;
        }
    }
}

/* One copy's memory is kept for the next, so that the pages of large ones need not be had from the system at each
 * call. */
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
int kf_copy(struct kf_section *s, const struct kf_array *a)
{
    s->copy = room_of((size_t)elements(a) * a->elem_len);
    if (!s->copy)
        return MPI_ERR_NO_MEM;
    move(a, s->copy, NULL, IN, 0, elements(a));
    s->at = s->copy;
    return 0;
}

/* ---- Copies that a request has ---- */

struct kept {
    struct MPIR_Copies copies;
    intptr_t elements;
    char *before; /* what the program had when the operation began; NULL: it only reads */
    char *now;    /* what it reads and writes */
    struct kf_array *section;
};

static void move_kept(struct MPIR_Copies *c, int what, int64_t at, int64_t bytes)
{
    struct kept *k = (struct kept *)c;
    intptr_t size = (intptr_t)k->section->elem_len, from = 0, to = k->elements;
    if (what == MPIR_COPY_GONE) {
        free(k->now);
        free(k);
        return;
    }
    if (bytes >= 0) {
        from = at < 0 ? 0 : at / size;
        to = (at + bytes + size - 1) / size;
        to = to > k->elements ? k->elements : to;
    }
    if (from >= to)
        return;
    if (what == MPIR_COPY_OUT && k->before)
        move(k->section, k->now, k->before, CHANGED, from, to - from);
    if (what != MPIR_COPY_IN)
        return;
    move(k->section, k->now, NULL, IN, from, to - from);
    if (k->before)
        memcpy(k->before + from * size, k->now + from * size, (size_t)((to - from) * size));
}

int kf_keep(struct kf_section *s, const struct kf_array *a, int mode, bool begins)
{
    size_t bytes = (size_t)elements(a) * a->elem_len, head = sizeof *a + (size_t)a->rank * sizeof a->dim[0];
    struct kept *k = malloc(sizeof *k + head);
    char *now = k ? malloc(mode == KF_IN ? bytes : 2 * bytes) : NULL;
    if (!now) {
        free(k);
        return MPI_ERR_NO_MEM;
    }
    k->copies = (struct MPIR_Copies){ .move = move_kept };
    k->elements = elements(a);
    k->now = now;
    k->before = mode == KF_IN ? NULL : now + bytes;
    k->section = memcpy(k + 1, a, head);
    if (begins)
        move_kept(&k->copies, MPIR_COPY_IN, 0, -1);
    s->kept = &k->copies;
    s->at = now;
    return 0;
}

int kf_give_slowly(struct kf_section *s, MPI_Request request)
{
    struct MPIR_Copies *c = s->kept;
    s->kept = NULL;
    if (request != MPI_REQUEST_NULL)
        return PMPI_Keel_request_copies(request, c);
    c->move(c, MPIR_COPY_GONE, 0, -1); /* the call has failed */
    return 0;
}

/* ---- Datatypes ---- */

/* Of a shape, for one call at a time. */
struct known {
    MPI_Datatype type;
    MPI_Count count;
    int datatype, rank;
    size_t elem_len;
    intptr_t extent[MAX_RANK], sm[MAX_RANK];
};
enum { KNOWN = 16 };
static _Atomic(struct known *) known[KNOWN];

static void section_forget(struct known *k)
{
    if (!k)
        return;
    PMPI_Type_free(&k->type);
    free(k);
}

/* Of an attribute of MPI_COMM_SELF: MPI_Finalize begins. */
static int forget_all(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    for (int i = 0; i < KNOWN; i++)
        section_forget(atomic_exchange(&known[i], NULL));
    return MPI_SUCCESS;
}

/* MPI's own has not the same name with each ABI. */
static int not_copied(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}

/* May datatypes be kept?  Only if MPI_Finalize will say that it begins. */
static bool may_keep(void)
{
    static _Atomic int told; /* 0: not yet */
    int up = 0, key;
    if (atomic_load_explicit(&told, memory_order_relaxed))
        return true;
    if (PMPI_Initialized(&up) || !up || PMPI_Finalized(&up) || up)
        return false;
    if (atomic_exchange(&told, 1))
        return true;
    if (PMPI_Comm_create_keyval(not_copied, forget_all, &key, NULL))
        return false;
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    PMPI_Comm_free_keyval(&key);
    return true;
}

static unsigned place_of(const struct kf_array *a, MPI_Count count, int datatype)
{
    uint64_t h = (uint64_t)count * 31 + (uint64_t)datatype;
    for (int i = 0; i < a->rank; i++)
        h = (h * 31 + (uint64_t)a->dim[i].extent) * 31 + (uint64_t)a->dim[i].sm;
    return (unsigned)(h * 0x9e3779b97f4a7c15u >> 60);
}

static bool is_of(const struct known *k, const struct kf_array *a, MPI_Count count, int datatype)
{
    if (k->count != count || k->datatype != datatype || k->rank != a->rank || k->elem_len != a->elem_len)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (k->extent[i] != a->dim[i].extent || k->sm[i] != a->dim[i].sm)
            return false;
    return true;
}

static struct known *note(const struct kf_array *a, MPI_Count count, int datatype, MPI_Datatype type)
{
    struct known *k = malloc(sizeof *k);
    if (!k)
        return NULL;
    *k = (struct known){
        .type = type, .count = count, .datatype = datatype, .rank = a->rank, .elem_len = a->elem_len
    };
    for (int i = 0; i < a->rank; i++) {
        k->extent[i] = a->dim[i].extent;
        k->sm[i] = a->dim[i].sm;
    }
    return k;
}

void kf_close_slowly(struct kf_section *s, const struct kf_array *into)
{
    if (s->copy && into)
        move(into, s->copy, NULL, OUT, 0, elements(into));
    give_back(s->copy);
    if (s->kept)
        kf_give_slowly(s, MPI_REQUEST_NULL);
    if (s->known) {
        section_forget(atomic_exchange(&known[s->place], s->known));
    } else if (s->type) {
        MPI_Datatype type = kf_Datatype(s->type);
        PMPI_Type_free(&type);
    }
}

/* The first n elements: whole slabs of the last dimension, then whole ones of the one before in what is left, and
 * so on. */
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

/* The memory of one element of the user's datatype. */
struct layout {
    struct MPIR_Runs runs;
    MPI_Count extent, size;
    int basic; /* what all of it consists of; 0: nothing that can be named */
    struct run {
        int64_t at, bytes;
    } * run;
    size_t n, room;
    bool failed;
};

static void add_run(struct layout *l, int64_t at, int64_t bytes)
{
    if (l->n > 0 && l->run[l->n - 1].at + l->run[l->n - 1].bytes == at) {
        l->run[l->n - 1].bytes += bytes;
        return;
    }
    if (l->n == l->room) {
        struct run *more = realloc(l->run, (l->room = 2 * l->room + 8) * sizeof *more);
        if (!more) {
            l->failed = true;
            l->room = l->n;
            return;
        }
        l->run = more;
    }
    l->run[l->n++] = (struct run){ at, bytes };
}

static void take_run(struct MPIR_Runs *r, int64_t at, int64_t bytes)
{
    add_run((struct layout *)r, at, bytes);
}

/* Bytes [at, at + bytes) of the sequence of elements, where they lie. */
static void add_places(struct layout *to, const struct kf_array *a, int64_t at, int64_t bytes)
{
    int64_t each = (int64_t)a->elem_len;
    while (bytes > 0 && !to->failed) {
        int64_t within = at % each, n = each - within < bytes ? each - within : bytes, rest = at / each;
        int64_t place = within;
        for (int i = 0; i < a->rank; i++) {
            place += rest % a->dim[i].extent * a->dim[i].sm;
            rest /= a->dim[i].extent;
        }
        add_run(to, place, n);
        at += n;
        bytes -= n;
    }
}

/* A datatype with gaps: run by run. */
static int with_gaps(const struct kf_array *a, MPI_Count count, const struct layout *l, MPI_Datatype unit,
                     MPI_Count size, MPI_Datatype *made)
{
    int64_t all = elements(a) * (int64_t)a->elem_len;
    struct layout to = { .n = 0 };
    int err = 0;
    for (MPI_Count e = 0; e < count && !err; e++)
        for (size_t i = 0; i < l->n && !err; i++) {
            int64_t at = e * l->extent + l->run[i].at;
            if (at < 0 || at > all || l->run[i].bytes > all - at)
                err = MPI_ERR_COUNT;
            else
                add_places(&to, a, at, l->run[i].bytes);
            err = to.failed ? MPI_ERR_NO_MEM : err;
        }
    MPI_Count *lengths = malloc((to.n + 1) * sizeof *lengths), *displs = malloc((to.n + 1) * sizeof *displs);
    bool whole = true;
    for (size_t i = 0; i < to.n; i++)
        whole &= to.run[i].bytes % size == 0;
    if (!whole) {
        unit = MPI_BYTE;
        size = 1;
    }
    if (!err && (!lengths || !displs))
        err = MPI_ERR_NO_MEM;
    for (size_t i = 0; !err && i < to.n; i++) {
        lengths[i] = to.run[i].bytes / size;
        displs[i] = to.run[i].at;
    }
    if (!err && PMPI_Type_create_hindexed_c((MPI_Count)to.n, lengths, displs, unit, made))
        err = MPI_ERR_TYPE;
    free(lengths);
    free(displs);
    free(to.run);
    return err;
}

static int without_gaps(const struct kf_array *a, MPI_Count bytes, MPI_Datatype unit, MPI_Count size,
                        MPI_Datatype *made)
{
    MPI_Count each = (MPI_Count)a->elem_len;
    MPI_Datatype element;
    if (bytes / each > elements(a))
        return MPI_ERR_COUNT;
    int err = each % size == 0 ? PMPI_Type_contiguous_c(each / size, unit, &element)
                               : PMPI_Type_contiguous_c(each, MPI_BYTE, &element);
    if (err)
        return MPI_ERR_TYPE;
    err = first_of(a, bytes / each, element, made);
    PMPI_Type_free(&element);
    return err ? MPI_ERR_TYPE : 0;
}

static int describe(const struct kf_array *a, MPI_Count count, MPI_Datatype datatype, MPI_Datatype *made)
{
    struct layout l = { .runs.run = take_run };
    MPI_Count lb, size = 1;
    MPI_Datatype unit = MPI_BYTE;
    int err = 0;
    if (PMPI_Type_get_extent_c(datatype, &lb, &l.extent) || PMPI_Type_size_c(datatype, &l.size) ||
        PMPI_Keel_type_runs(datatype, &l.runs, &l.basic) || l.failed)
        err = MPI_ERR_TYPE;
    if (!err && l.basic && !PMPI_Type_size_c(kf_Datatype(l.basic), &size) && size > 0)
        unit = kf_Datatype(l.basic);
    else
        size = 1;
    if (!err && l.n == 1 && l.run[0].at == 0 && l.size == l.extent) { /* one run of all */
        l.run[0].bytes = count * l.size;
        count = 1;
    }
    if (!err && count == 1 && l.n == 1 && l.run[0].at == 0 && l.run[0].bytes % (MPI_Count)a->elem_len == 0)
        err = without_gaps(a, l.run[0].bytes, unit, size, made);
    else if (!err)
        err = with_gaps(a, count, &l, unit, size, made);
    free(l.run);
    if (!err && PMPI_Type_commit(made)) {
        PMPI_Type_free(made);
        err = MPI_ERR_TYPE;
    }
    return err;
}

int kf_describe(struct kf_section *s, const struct kf_array *a, MPI_Count count, int datatype)
{
    bool named = kf_is_named(datatype), keeps = named && may_keep();
    MPI_Datatype made;
    if (count < 0 || a->rank > MAX_RANK)
        return MPI_ERR_COUNT;
    if (datatype == kf_integer(MPI_DATATYPE_NULL) || count == 0)
        return 0; /* not looked at, or found to be wrong by the call */
    if (keeps) {
        s->place = place_of(a, count, datatype);
        s->known = atomic_exchange(&known[s->place], NULL);
        if (s->known && is_of(s->known, a, count, datatype)) {
            s->type = kf_integer(((struct known *)s->known)->type);
            return 0;
        }
        section_forget(s->known);
        s->known = NULL;
    }
    int err = describe(a, count, kf_Datatype(datatype), &made);
    if (err)
        return err;
    s->type = kf_integer(made);
    if (keeps)
        s->known = note(a, count, datatype, made);
    return 0;
}

int kf_represent(struct kf_section *s, const struct kf_array *a, MPI_Count count, int datatype)
{
    int size = 0;
    if (kf_is_named(datatype) && datatype != kf_integer(MPI_DATATYPE_NULL) &&
        !PMPI_Type_size(kf_Datatype(datatype), &size) && size > 0 && a->elem_len % (size_t)size == 0)
        return kf_describe(s, a, count, datatype);
    return kf_copy(s, a); /* also where a datatype would be of bytes, which a file may have to convert */
}

/* ---- One element ---- */

int kf_first(const struct kf_array *a, int datatype)
{
    MPI_Count size = 0;
    bool fits = datatype == kf_integer(MPI_DATATYPE_NULL) || PMPI_Type_size_c(kf_Datatype(datatype), &size) ||
                size <= (MPI_Count)a->elem_len;
    return fits ? 0 : MPI_ERR_BUFFER;
}
