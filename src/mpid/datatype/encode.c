/* SPDX-License-Identifier: BSD-3-Clause */
/* encode.c: a datatype as bytes, and back (MPID_Type_encode, MPID_Type_decode).
 *
 * The bytes are a version, records, and the type.  A record is a layout, a list or a signature; it refers to
 * earlier records only, by number, so there are no cycles, and what is shared is written once.  Numbers are of 7
 * bits a byte, the lowest first, in as few bytes as possible; signed ones with the sign lowest (0, -1, 1, -2,
 * ...).
 *
 *   encoding   version, record..., END, flags, align, basic, lb, extent, size if it has no layout
 *   LAYOUT     off, loops, { count, stride } from the outermost on, 0 and bytes | list + 1
 *   BLOCKS     n, bytes, off...
 *   RUNS       n, { off, bytes }...
 *   SAME       n, layout, off...
 *   FIELDS     n, { off, 0 and bytes | layout + 1 }...
 *   SIGN       n, { times, 2 * basic | 2 * signature + 1 }...
 *
 * Each off of a list is the difference to the one before.  A list, layout or signature is referred to by how many
 * of its sort came before it; the last layout and the last signature are the type's, where the flags say that it
 * has one.
 *
 * Decoding trusts nothing.  It keeps the invariants of layout.h and sign.h that the copy functions depend on: no
 * part is empty, sizes and places fit in 63 bits, nesting is bounded; and computes what can be computed (sizes,
 * the true bounds) instead of reading it, so a type cannot touch other memory than its bounds say.  Nothing is
 * allocated for entries that the bytes left could not describe. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mpid.h"
#include "mpid/datatype/external.h"
#include "mpid/datatype/layout.h"
#include "mpid/datatype/sign.h"
#include "util/err.h"

enum { VERSION = 1 };
enum record { END, LAYOUT, BLOCKS, RUNS, SAME, FIELDS, SIGN };
enum { HAS_LB = 1, HAS_UB = 2, HAS_LAYOUT = 4, HAS_SIGN = 8, FLAGS = 15 };

_Static_assert((int)BLOCKS - (int)MPID_LIST_BLOCKS == (int)FIELDS - (int)MPID_LIST_FIELDS &&
                   MPID_LIST_FIELDS - MPID_LIST_BLOCKS == 3,
               "lists are numbered as their kinds");

/* ---- writing ---- */

/* What has been written, by address: numbers of layouts, lists and signatures. */
struct known {
    const void *what;
    int64_t number;
};

struct writer {
    uint8_t *bytes;
    int64_t len, cap;
    struct known *known; /* a hash table of 2^k places, at most half of them taken */
    size_t places, taken;
    int64_t layouts, lists, signs; /* written so far */
    bool no_memory, too_long;
};

static void encode_put(struct writer *w, uint64_t v)
{
    enum { MOST = 10 };
    if (w->no_memory || w->too_long)
        return;
    if (w->cap - w->len < MOST) {
        int64_t cap = w->cap ? 2 * w->cap : 128;
        uint8_t *bytes = realloc(w->bytes, (size_t)cap);
        w->no_memory = bytes == NULL;
        if (w->no_memory)
            return;
        w->bytes = bytes;
        w->cap = cap;
    }
    for (; v > 0x7f; v >>= 7)
        w->bytes[w->len++] = (uint8_t)(v | 0x80);
    w->bytes[w->len++] = (uint8_t)v;
    w->too_long = w->len > MPID_TYPE_ENCODED_MAX;
}

static void put_signed(struct writer *w, int64_t v)
{
    encode_put(w, (uint64_t)v << 1 ^ (v < 0 ? ~(uint64_t)0 : 0));
}

static size_t encode_place_of(const struct known *table, size_t places, const void *what)
{
    size_t i = (size_t)((uint64_t)(uintptr_t)what * 0x9e3779b97f4a7c15u >> 20) & (places - 1);
    while (table[i].what && table[i].what != what)
        i = (i + 1) & (places - 1);
    return i;
}

/* The number of something written already; -1: it is not. */
static int64_t encode_number_of(const struct writer *w, const void *what)
{
    size_t i = w->places ? encode_place_of(w->known, w->places, what) : 0;
    return w->places && w->known[i].what ? w->known[i].number : -1;
}

static void encode_grow(struct writer *w)
{
    size_t places = w->places ? 2 * w->places : 16;
    struct known *known = calloc(places, sizeof *known);
    if (known == NULL) {
        w->no_memory = true;
        return;
    }
    for (size_t i = 0; i < w->places; i++)
        if (w->known[i].what)
            known[encode_place_of(known, places, w->known[i].what)] = w->known[i];
    free(w->known);
    w->known = known;
    w->places = places;
}

static void remember(struct writer *w, const void *what, int64_t number)
{
    if (2 * w->taken >= w->places)
        encode_grow(w);
    if (w->no_memory)
        return;
    w->known[encode_place_of(w->known, w->places, what)] = (struct known){ what, number };
    w->taken++;
}

static void put_layout(struct writer *w, const struct MPID_LAYOUT *l);

static void put_entry(struct writer *w, const struct MPID_LIST *list, int64_t i)
{
    const struct MPID_LAYOUT *sub = MPID_List_entry_sub(list, i);
    put_signed(w, (int64_t)((uint64_t)list->off[i] - (i ? (uint64_t)list->off[i - 1] : 0)));
    if (list->kind == MPID_LIST_FIELDS)
        encode_put(w, sub ? (uint64_t)encode_number_of(w, sub) + 1 : 0);
    if (list->start && sub == NULL)
        encode_put(w, (uint64_t)MPID_List_entry_bytes(list, i));
}

static void put_list(struct writer *w, const struct MPID_LIST *list)
{
    int64_t subs = list->kind == MPID_LIST_FIELDS ? list->n : list->kind == MPID_LIST_SAME;
    if (w->no_memory || w->too_long || encode_number_of(w, list) >= 0)
        return;
    for (int64_t i = 0; i < subs; i++)
        if (list->sub[i])
            put_layout(w, list->sub[i]);
    encode_put(w, BLOCKS + (unsigned)list->kind);
    encode_put(w, (uint64_t)list->n);
    if (list->kind == MPID_LIST_BLOCKS)
        encode_put(w, (uint64_t)list->block);
    else if (list->kind == MPID_LIST_SAME)
        encode_put(w, (uint64_t)encode_number_of(w, list->sub[0]));
    for (int64_t i = 0; i < list->n && !w->no_memory && !w->too_long; i++)
        put_entry(w, list, i);
    remember(w, list, w->lists++);
}

static void put_layout(struct writer *w, const struct MPID_LAYOUT *l)
{
    if (w->no_memory || w->too_long || encode_number_of(w, l) >= 0)
        return;
    if (l->list)
        put_list(w, l->list);
    encode_put(w, LAYOUT);
    put_signed(w, l->off);
    encode_put(w, (uint64_t)l->depth);
    for (int i = 0; i < l->depth; i++) {
        encode_put(w, (uint64_t)l->loop[i].count);
        put_signed(w, l->loop[i].stride);
    }
    encode_put(w, l->list ? (uint64_t)encode_number_of(w, l->list) + 1 : 0);
    if (l->list == NULL)
        encode_put(w, (uint64_t)l->leaf);
    remember(w, l, w->layouts++);
}

static void put_sign(struct writer *w, const struct MPID_SIGN *s)
{
    if (w->no_memory || w->too_long || encode_number_of(w, s) >= 0)
        return;
    for (int64_t i = 0; i < s->n; i++)
        if (s->part[i].sub)
            put_sign(w, s->part[i].sub);
    encode_put(w, SIGN);
    encode_put(w, (uint64_t)s->n);
    for (int64_t i = 0; i < s->n; i++) {
        const struct MPID_SIGN_PART *p = &s->part[i];
        encode_put(w, (uint64_t)p->times);
        encode_put(w, p->sub ? (uint64_t)encode_number_of(w, p->sub) * 2 + 1 : (uint64_t)p->basic * 2);
    }
    remember(w, s, w->signs++);
}

int MPID_Type_encode(const struct MPIR_DATATYPE *t, void **bytes, int64_t *len)
{
    struct writer w = { 0 };
    encode_put(&w, VERSION);
    if (t->layout)
        put_layout(&w, t->layout);
    if (t->sign)
        put_sign(&w, t->sign);
    encode_put(&w, END);
    encode_put(&w, (t->has_lb ? HAS_LB : 0u) | (t->has_ub ? HAS_UB : 0u) | (t->layout ? HAS_LAYOUT : 0u) |
                       (t->sign ? HAS_SIGN : 0u));
    encode_put(&w, t->align);
    encode_put(&w, t->basic);
    put_signed(&w, t->lb);
    put_signed(&w, t->extent);
    if (t->layout == NULL)
        encode_put(&w, (uint64_t)t->size);
    free(w.known);
    if (!w.no_memory && !w.too_long) {
        *bytes = w.bytes;
        *len = w.len;
        return 0;
    }
    free(w.bytes);
    if (w.no_memory)
        return ku_err_set(MPI_ERR_NO_MEM, NULL, "no memory to encode a datatype");
    return ku_err_set(MPI_ERR_TYPE, NULL, "a datatype takes more than %lld bytes encoded",
                      (long long)MPID_TYPE_ENCODED_MAX);
}

/* ---- reading ---- */

/* What is referred to by number, with the memory that it touches. */
struct made {
    void *what;
    int64_t lo, hi;
};

struct mades {
    struct made *v;
    int64_t n, cap;
};

struct reader {
    const uint8_t *bytes;
    int64_t at, len;
    struct mades layouts, lists, signs;
    int err; /* the first */
};

__attribute__((format(printf, 2, 3))) static void refuse(struct reader *r, const char *fmt, ...)
{
    char text[160];
    va_list ap;
    if (r->err)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    r->err = ku_err_set(MPI_ERR_TYPE, NULL,
                        "bytes that should be a datatype are none: before byte %lld of %lld, %s",
                        (long long)r->at, (long long)r->len, text);
}

static void encode_no_memory(struct reader *r)
{
    if (r->err == 0)
        r->err = ku_err_set(MPI_ERR_NO_MEM, NULL, "no memory to decode a datatype of %lld bytes",
                            (long long)r->len);
}

static uint64_t encode_get(struct reader *r)
{
    uint64_t v = 0;
    for (int shift = 0; r->err == 0; shift += 7) {
        if (r->at == r->len) {
            refuse(r, "they end within a number");
            break;
        }
        uint8_t b = r->bytes[r->at++];
        if (shift == 63 && b > 1) {
            refuse(r, "a number has more than 64 bits");
            break;
        }
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b == 0 && shift)
            refuse(r, "a number has more bytes than it needs");
        if (b < 0x80)
            return r->err ? 0 : v;
    }
    return 0;
}

static int64_t get_signed(struct reader *r)
{
    uint64_t v = encode_get(r);
    return (int64_t)(v >> 1 ^ (v & 1 ? ~(uint64_t)0 : 0));
}

/* v as a number from least to most; `least` after an error. */
static int64_t between(struct reader *r, uint64_t v, int64_t least, int64_t most, const char *what)
{
    if (r->err == 0 && (v > (uint64_t)most || (int64_t)v < least))
        refuse(r, "%s is %llu; expected %lld to %lld", what, (unsigned long long)v, (long long)least,
               (long long)most);
    return r->err ? least : (int64_t)v;
}

static int64_t get_between(struct reader *r, int64_t least, int64_t most, const char *what)
{
    return between(r, encode_get(r), least, most, what);
}

/* How many entries follow, at least one, each of which takes `each` bytes at least. */
static int64_t get_count(struct reader *r, int64_t each, const char *what)
{
    uint64_t v = encode_get(r);
    int64_t most = (r->len - r->at) / each;
    return between(r, v, 1, most, what);
}

static const struct made *get_made(struct reader *r, const struct mades *from, uint64_t number,
                                   const char *what)
{
    if (r->err == 0 && number >= (uint64_t)from->n)
        refuse(r, "%s %llu is meant; there are %lld so far", what, (unsigned long long)number,
               (long long)from->n);
    return r->err ? NULL : &from->v[number];
}

/* Room for one more, before it is made; false: an error. */
static bool encode_has_room(struct reader *r, struct mades *in)
{
    if (in->n < in->cap || r->err)
        return r->err == 0;
    int64_t cap = in->cap ? in->cap * 3 / 2 : 4;
    struct made *v = realloc(in->v, (size_t)cap * sizeof *v);
    if (v == NULL) {
        encode_no_memory(r);
        return false;
    }
    in->v = v;
    in->cap = cap;
    return true;
}

static int64_t checked(struct reader *r, bool overflow, int64_t v)
{
    if (overflow)
        refuse(r, "a size or a place leaves 63 bits");
    return r->err ? 0 : v;
}

static int64_t encode_add(struct reader *r, int64_t a, int64_t b)
{
    int64_t v = 0;
    bool overflow = __builtin_add_overflow(a, b, &v);
    return checked(r, overflow, v);
}

static int64_t mul(struct reader *r, int64_t a, int64_t b)
{
    int64_t v = 0;
    bool overflow = __builtin_mul_overflow(a, b, &v);
    return checked(r, overflow, v);
}

/* [lo, hi) at `off` becomes a part of what m touches; the first one is all of it. */
static void touch(struct reader *r, struct made *m, bool first, int64_t off, int64_t lo, int64_t hi)
{
    int64_t a = encode_add(r, off, lo), z = encode_add(r, off, hi);
    m->lo = first || a < m->lo ? a : m->lo;
    m->hi = first || z > m->hi ? z : m->hi;
}

/* ---- lists ---- */

/* A layout that may be an entry of a list: runs are entries themselves. */
static const struct made *get_sub(struct reader *r, uint64_t number)
{
    const struct made *sub = get_made(r, &r->layouts, number, "layout");
    const struct MPID_LAYOUT *l = sub ? sub->what : NULL;
    if (l && MPID_Layout_is_run(l))
        refuse(r, "layout %llu is one run, which is no part of a list", (unsigned long long)number);
    else if (l && MPID_Layout_nesting(l) >= MPID_LAYOUT_NESTING)
        refuse(r, "layouts are nested more than %d deep", MPID_LAYOUT_NESTING);
    return r->err ? NULL : sub;
}

/* One entry of a list of different parts, at `off`. */
static void get_part(struct reader *r, struct made *m, int64_t i, int64_t off)
{
    struct MPID_LIST *list = m->what;
    uint64_t ref = list->kind == MPID_LIST_FIELDS ? encode_get(r) : 0;
    const struct made *sub = ref ? get_sub(r, ref - 1) : NULL;
    const struct MPID_LAYOUT *l = sub ? sub->what : NULL;
    int64_t bytes = l ? l->size : ref ? 0 : get_between(r, 1, INT64_MAX, "the length of a run");
    encode_add(r, list->bytes, bytes);
    if (r->err)
        return;
    MPID_List_set(list, i, (struct MPID_PIECE){ off, bytes, l });
    touch(r, m, i == 0, off, sub ? sub->lo : 0, sub ? sub->hi : bytes);
}

/* The entries of a list of which all are alike: bytes, and the memory one touches. */
static void get_places(struct reader *r, struct made *m, int64_t lo, int64_t hi)
{
    struct MPID_LIST *list = m->what;
    int64_t off = 0;
    for (int64_t i = 0; i < list->n && r->err == 0; i++) {
        off = (int64_t)((uint64_t)off + (uint64_t)get_signed(r));
        list->off[i] = off;
        touch(r, m, i == 0, off, lo, hi);
    }
}

static void get_alike(struct reader *r, struct made *m)
{
    struct MPID_LIST *list = m->what;
    if (list->kind == MPID_LIST_BLOCKS) {
        list->block = get_between(r, 1, INT64_MAX, "the length of a block");
        get_places(r, m, 0, list->block);
    } else {
        const struct made *sub = get_sub(r, encode_get(r));
        if (sub == NULL)
            return;
        const struct MPID_LAYOUT *l = sub->what;
        MPID_List_set_sub(list, 0, l);
        list->block = l->size;
        get_places(r, m, sub->lo, sub->hi);
    }
    list->bytes = mul(r, list->n, list->block);
}

static void get_list(struct reader *r, enum MPID_LIST_KIND kind)
{
    bool parts = kind == MPID_LIST_RUNS || kind == MPID_LIST_FIELDS;
    int64_t n = get_count(r, parts ? 2 : 1, "the length of a list"), off = 0;
    if (!encode_has_room(r, &r->lists))
        return;
    struct made m = { MPID_List_new(kind, n), 0, 0 };
    if (m.what == NULL) {
        encode_no_memory(r);
        return;
    }
    if (!parts)
        get_alike(r, &m);
    for (int64_t i = 0; parts && i < n && r->err == 0; i++) {
        off = (int64_t)((uint64_t)off + (uint64_t)get_signed(r));
        get_part(r, &m, i, off);
    }
    r->lists.v[r->lists.n++] = m;
}

/* ---- layouts, signatures, the type ---- */

/* One more loop around a layout that touches [m->lo, m->hi). */
static void add_loop(struct reader *r, struct made *m, struct MPID_LOOP loop)
{
    struct MPID_LAYOUT *l = m->what;
    mul(r, loop.count, l->size);
    mul(r, loop.count, loop.stride); /* the copy functions compute where the loop ends */
    int64_t last = mul(r, loop.count - 1, loop.stride);
    m->lo = encode_add(r, m->lo, last < 0 ? last : 0);
    m->hi = encode_add(r, m->hi, last > 0 ? last : 0);
    if (r->err == 0)
        MPID_Layout_push_loop(l, loop.count, loop.stride);
}

/* What the loops of a layout go around. */
static struct made get_leaf(struct reader *r)
{
    uint64_t ref = encode_get(r);
    if (ref) {
        const struct made *list = get_made(r, &r->lists, ref - 1, "list");
        struct MPID_LIST *shared = list ? list->what : NULL;
        if (shared)
            atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
        return shared ? (struct made){ MPID_Layout_of_list(shared), list->lo, list->hi } : (struct made){ 0 };
    }
    int64_t bytes = get_between(r, 1, INT64_MAX, "the length of a run");
    return r->err ? (struct made){ 0 } : (struct made){ MPID_Layout_run(0, bytes), 0, bytes };
}

static void get_layout(struct reader *r)
{
    struct MPID_LOOP loop[MPID_LAYOUT_LOOPS];
    int64_t off = get_signed(r), depth = get_between(r, 0, MPID_LAYOUT_LOOPS, "the number of loops");
    for (int64_t i = 0; i < depth; i++) {
        loop[i].count = get_between(r, 2, INT64_MAX, "the count of a loop");
        loop[i].stride = get_signed(r);
    }
    if (!encode_has_room(r, &r->layouts))
        return;
    struct made m = get_leaf(r);
    if (m.what == NULL) {
        encode_no_memory(r); /* or there is an error already */
        return;
    }
    struct MPID_LAYOUT *l = m.what;
    for (int64_t i = depth; i-- > 0 && r->err == 0;)
        add_loop(r, &m, loop[i]);
    l->off = off;
    touch(r, &m, true, off, m.lo, m.hi);
    r->layouts.v[r->layouts.n++] = m;
}

/* One part of a signature, counted into the whole. */
static void get_sign_part(struct reader *r, struct MPID_SIGN *s)
{
    int64_t times = get_between(r, 1, INT64_MAX, "a repetition in a signature");
    uint64_t ref = encode_get(r);
    const struct made *made = ref & 1 ? get_made(r, &r->signs, ref >> 1, "signature") : NULL;
    const struct MPID_SIGN *sub = made ? made->what : NULL;
    if (r->err)
        return;
    int64_t bytes = sub ? sub->bytes : ref >> 1 > UINT32_MAX ? 0 : MPID_External_native((uint32_t)(ref >> 1));
    int64_t wire = sub ? sub->wire : bytes ? MPID_External_wire((uint32_t)(ref >> 1)) : 0;
    if (bytes == 0)
        refuse(r, "basic type %llu is unknown", (unsigned long long)(ref >> 1));
    if (sub && sub->depth >= MPID_SIGN_DEPTH)
        refuse(r, "signatures are nested more than %d deep", MPID_SIGN_DEPTH);
    s->bytes = encode_add(r, s->bytes, mul(r, times, bytes));
    s->wire = wire < 0 || s->wire < 0 ? -1 : encode_add(r, s->wire, mul(r, times, wire));
    if (r->err)
        return;
    if (sub && s->depth <= sub->depth)
        s->depth = sub->depth + 1;
    s->part[s->n++] = (struct MPID_SIGN_PART){ times, sub ? 0 : (uint32_t)(ref >> 1), MPID_Sign_ref(sub) };
}

static void get_sign(struct reader *r)
{
    int64_t n = get_count(r, 2, "the length of a signature");
    if (!encode_has_room(r, &r->signs))
        return;
    struct MPID_SIGN *s = calloc(1, sizeof *s + (size_t)n * sizeof *s->part);
    if (s == NULL) {
        encode_no_memory(r);
        return;
    }
    s->refs = 1;
    for (int64_t i = 0; i < n && r->err == 0; i++)
        get_sign_part(r, s);
    r->signs.v[r->signs.n++] = (struct made){ s, 0, 0 };
}

static void get_records(struct reader *r)
{
    while (r->err == 0) {
        uint64_t record = encode_get(r);
        if (r->err || record == END)
            return;
        if (record == LAYOUT)
            get_layout(r);
        else if (record == SIGN)
            get_sign(r);
        else if (record <= FIELDS)
            get_list(r, (enum MPID_LIST_KIND)(record - BLOCKS));
        else
            refuse(r, "a record is of kind %llu; expected %d to %d", (unsigned long long)record, END, SIGN);
    }
}

/* Layout and signature, if it has them, and what follows from them. */
static void get_parts(struct reader *r, struct MPIR_DATATYPE *t, int64_t flags)
{
    const struct made *layout = NULL, *sign = NULL;
    if (flags & HAS_LAYOUT)
        layout = get_made(r, &r->layouts, (uint64_t)r->layouts.n - 1, "layout");
    else
        t->size = get_between(r, 0, INT64_MAX, "the size");
    if (flags & HAS_SIGN)
        sign = get_made(r, &r->signs, (uint64_t)r->signs.n - 1, "signature");
    t->true_extent = t->size;
    t->is_contig = layout == NULL;
    if (layout) {
        const struct MPID_LAYOUT *l = layout->what;
        t->size = l->size;
        t->true_lb = layout->lo;
        bool overflow = __builtin_sub_overflow(layout->hi, layout->lo, &t->true_extent);
        t->true_extent = checked(r, overflow, t->true_extent);
        t->layout = r->err ? NULL : MPID_Layout_ref(l);
    }
    t->sign = sign && r->err == 0 ? MPID_Sign_ref(sign->what) : NULL;
}

/* Do the type's parts fit together? */
static void check_type(struct reader *r, const struct MPIR_DATATYPE *t)
{
    int64_t one = t->basic ? MPID_External_native(t->basic) : 0;
    encode_add(r, t->lb, t->extent);
    if (t->layout == NULL && t->size && t->extent != t->size)
        refuse(r, "the extent is %lld, the size %lld, and there is no layout", (long long)t->extent,
               (long long)t->size);
    if (one && t->size % one)
        refuse(r, "the size is %lld, which is no multiple of the basic type's %lld bytes", (long long)t->size,
               (long long)one);
    if (t->sign && (t->basic || t->size == 0 || t->size % t->sign->bytes))
        refuse(r, "the size is %lld, the signature's %lld, the basic type %u", (long long)t->size,
               (long long)t->sign->bytes, t->basic);
    if (r->at != r->len)
        refuse(r, "the datatype ends");
}

static void get_type(struct reader *r, struct MPIR_DATATYPE *t)
{
    int64_t version = get_between(r, 0, INT64_MAX, "the version");
    if (r->err == 0 && version != VERSION)
        refuse(r, "the version is %lld; expected %d", (long long)version, VERSION);
    get_records(r);
    int64_t flags = get_between(r, 0, FLAGS, "the set of flags");
    t->has_lb = flags & HAS_LB;
    t->has_ub = flags & HAS_UB;
    t->align = (uint8_t)get_between(r, 1, UINT8_MAX, "the alignment");
    t->basic = (uint32_t)get_between(r, 0, UINT32_MAX, "the basic type");
    t->lb = get_signed(r);
    t->extent = get_signed(r);
    get_parts(r, t, flags);
    check_type(r, t);
}

static void encode_drop(struct reader *r)
{
    for (int64_t i = 0; i < r->layouts.n; i++)
        MPID_Layout_unref(r->layouts.v[i].what);
    for (int64_t i = 0; i < r->lists.n; i++)
        MPID_List_unref(r->lists.v[i].what);
    for (int64_t i = 0; i < r->signs.n; i++)
        MPID_Sign_unref(r->signs.v[i].what);
    free(r->layouts.v);
    free(r->lists.v);
    free(r->signs.v);
}

int MPID_Type_decode(struct MPIR_DATATYPE *t, const void *bytes, int64_t len)
{
    struct reader r = { .bytes = bytes, .len = len };
    *t = (struct MPIR_DATATYPE){ .obj = t->obj, .is_committed = true };
    if (len > MPID_TYPE_ENCODED_MAX)
        refuse(&r, "there are too many; expected at most %lld", (long long)MPID_TYPE_ENCODED_MAX);
    get_type(&r, t);
    encode_drop(&r);
    if (r.err)
        MPID_Type_fini(t);
    return r.err;
}
