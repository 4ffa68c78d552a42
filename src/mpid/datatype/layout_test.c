/* SPDX-License-Identifier: BSD-3-Clause */
/* layout_test.c: the datatype engine against a naive one: every type is also kept as the list of all its
 * bytes. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mpid.h"
#include "mpid/datatype/type_copy.h"
#include "mpid/datatype/type_kernel.h"
#include "mpid/datatype/layout.h"
#include "mpid/datatype/sign.h"
#include "util/err.h"

/* ---- the naive engine ---- */

enum { MAP_MAX = 6000, POOL = 12, SPAN_MAX = 1 << 20 };

struct ref {
    int64_t n;            /* bytes of data */
    int64_t *at;          /* where each lies, in type map order */
    unsigned char *width; /* at the first byte of a basic element its size, else 0 */
    bool marked;
    int64_t lb, ub; /* of the markers */
    int64_t align;
    int64_t parts_ub; /* the greatest ub of the parts, if there is data in them */
    bool any;
};

struct both {
    struct MPIR_DATATYPE t;
    struct ref r;
};

static uint64_t seed;
static int64_t rnd(int64_t n) /* 0 .. n - 1 */
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

static int64_t ref_true(const struct ref *r, bool upper)
{
    int64_t best = 0;
    for (int64_t i = 0; i < r->n; i++) {
        int64_t x = r->at[i] + upper;
        if (i == 0 || (upper ? x > best : x < best))
            best = x;
    }
    return best;
}

static int64_t ref_lb(const struct ref *r)
{
    return r->marked ? r->lb : ref_true(r, false);
}

static int64_t ref_extent(const struct ref *r)
{
    if (r->marked)
        return r->ub - r->lb;
    int64_t data = ref_true(r, true), end = r->n && r->parts_ub > data ? r->parts_ub : data;
    int64_t e = end - ref_true(r, false);
    return r->align ? (e + r->align - 1) / r->align * r->align : e;
}

static void ref_append(struct ref *r, const struct ref *old, int64_t disp)
{
    int64_t ub = ref_lb(old) + ref_extent(old) + disp;
    if (old->n)
        r->parts_ub = r->n && r->parts_ub > ub ? r->parts_ub : ub;
    r->at = realloc(r->at, (size_t)(r->n + old->n + 1) * sizeof *r->at);
    r->width = realloc(r->width, (size_t)(r->n + old->n + 1));
    for (int64_t i = 0; i < old->n; i++) {
        r->width[r->n] = old->width[i];
        r->at[r->n++] = old->at[i] + disp;
    }
    if (old->marked) {
        if (!r->marked || old->lb + disp < r->lb)
            r->lb = old->lb + disp;
        if (!r->marked || old->ub + disp > r->ub)
            r->ub = old->ub + disp;
        r->marked = true;
    }
    if (old->n && old->align > r->align)
        r->align = old->align;
}

static void ref_block(struct ref *r, const struct ref *old, int64_t n, int64_t disp)
{
    for (int64_t i = 0, extent = ref_extent(old); i < n; i++)
        ref_append(r, old, disp + i * extent);
}

/* ---- random types ---- */

static void make_basic(struct both *b, int size)
{
    memset(b, 0, sizeof *b);
    MPID_Type_basic(&b->t, size, size,
                    size == 1   ? KEEL_MPI_INT8_T
                    : size == 2 ? KEEL_MPI_INT16_T
                    : size == 4 ? KEEL_MPI_INT32_T
                                : KEEL_MPI_DOUBLE);
    for (int i = 0; i < size; i++) {
        unsigned char width = i ? 0 : (unsigned char)size;
        struct ref one = { .n = 1, .at = (int64_t[]){ 0 }, .width = &width, .align = size };
        ref_append(&b->r, &one, i);
    }
    b->r.parts_ub = size;
}

static MPIR_Counts counts(const int64_t *v)
{
    return (MPIR_Counts){ v, 1 };
}

static void make_vector(struct both *b, const struct both *old, int64_t count, int64_t bl, int64_t stride)
{
    memset(b, 0, sizeof *b);
    ck_assert_int_eq(MPID_Type_hvector(&b->t, count, bl, stride, &old->t), 0);
    for (int64_t i = 0; i < count; i++)
        ref_block(&b->r, &old->r, bl, i * stride);
}

static int64_t random_stride(const struct both *old)
{
    int64_t e = ref_extent(&old->r);
    switch (rnd(4)) {
    case 0:
        return e * (rnd(7) - 2);
    case 1:
        return e;
    case 2:
        return rnd(200) - 60;
    default:
        return 2 * e;
    }
}

static void make_random(struct both *b, const struct both *pool)
{
    const struct both *old = &pool[rnd(POOL)];
    int64_t n = rnd(6), bl[8], disp[8];
    struct MPIR_DATATYPE *types[8];
    const struct both *olds[8];
    for (int i = 0; i < 8; i++) {
        olds[i] = &pool[rnd(POOL)];
        types[i] = (struct MPIR_DATATYPE *)&olds[i]->t;
        bl[i] = rnd(4);
        disp[i] = rnd(3) ? rnd(400) - 100 : i * ref_extent(&old->r) * 3;
    }
    switch (rnd(5)) {
    case 0:
        make_vector(b, old, rnd(20), rnd(5), random_stride(old));
        return;
    case 1: /* resized */
        memset(b, 0, sizeof *b);
        b->r.align = 0;
        ref_append(&b->r, &old->r, 0);
        b->r.marked = true;
        b->r.lb = rnd(20) - 10;
        b->r.ub = b->r.lb + (rnd(2) ? old->r.n : rnd(100) - 10);
        ck_assert_int_eq(MPID_Type_resized(&b->t, b->r.lb, b->r.ub - b->r.lb, &old->t), 0);
        return;
    case 2: { /* indexed, in elements or bytes */
        bool fixed = rnd(2);
        int64_t unit = rnd(2) ? 1 : ref_extent(&old->r), fix = rnd(4);
        memset(b, 0, sizeof *b);
        MPIR_Counts lens = fixed ? (MPIR_Counts){ NULL, 0 } : counts(bl);
        ck_assert_int_eq(MPID_Type_hindexed(&b->t, n, lens, fix, counts(disp), unit, &old->t), 0);
        for (int64_t i = 0; i < n; i++)
            ref_block(&b->r, &old->r, fixed ? fix : bl[i], disp[i] * unit);
        return;
    }
    case 3: /* struct */
        memset(b, 0, sizeof *b);
        ck_assert_int_eq(MPID_Type_struct(&b->t, n, counts(bl), counts(disp), types), 0);
        for (int64_t i = 0; i < n; i++)
            ref_block(&b->r, &olds[i]->r, bl[i], disp[i]);
        return;
    default: /* a regular pattern from an index list */
        memset(b, 0, sizeof *b);
        for (int i = 0; i < 8; i++)
            disp[i] = 10 + i * 24;
        n = rnd(8);
        ck_assert_int_eq(MPID_Type_hindexed(&b->t, n, (MPIR_Counts){ NULL, 0 }, 1, counts(disp), 1, &old->t),
                         0);
        for (int64_t i = 0; i < n; i++)
            ref_block(&b->r, &old->r, 1, disp[i]);
    }
}

static void drop(struct both *b)
{
    MPID_Type_fini(&b->t);
    free(b->r.at);
    free(b->r.width);
}

/* ---- comparing (Check's assertions are too slow for inner loops) ---- */

/* n elements as the list of their bytes, all moved so that the lowest is at 0; *span is the memory needed. */
static int64_t *places(const struct both *b, int64_t count, int64_t *base, int64_t *span)
{
    int64_t *at = malloc((size_t)(count * b->r.n + 1) * sizeof *at), lo = 0, hi = 0, k = 0;
    int64_t extent = ref_extent(&b->r);
    for (int64_t c = 0; c < count; c++)
        for (int64_t i = 0; i < b->r.n; i++, k++) {
            at[k] = b->r.at[i] + c * extent;
            if (k == 0 || at[k] < lo)
                lo = at[k];
            if (k == 0 || at[k] >= hi)
                hi = at[k] + 1;
        }
    for (int64_t i = 0; i < k; i++)
        at[i] -= lo;
    *base = -lo;
    *span = hi - lo;
    return at;
}

static void compare_bounds(const struct both *b)
{
    const int64_t got[5] = { b->t.size, b->t.lb, b->t.extent, b->t.true_lb, b->t.true_extent };
    const int64_t want[5] = { b->r.n, ref_lb(&b->r), ref_extent(&b->r), ref_true(&b->r, false),
                              ref_true(&b->r, true) - ref_true(&b->r, false) };
    for (int i = 0; i < 5; i++)
        if (got[i] != want[i])
            ck_abort_msg("size, lb, extent, true lb, true extent: number %d is %lld; expected %lld", i,
                         (long long)got[i], (long long)want[i]);
}

/* external32: each basic element with its bytes turned round; back again in two pieces. */
static void compare_external(const struct both *b, char *mem, int64_t count, const int64_t *at, int64_t base,
                             int64_t span)
{
    int64_t total = count * b->r.n, place = 0, out = 0, in = 0, cut = rnd(total + 1);
    char *wire = malloc((size_t)total + 1), *want = malloc((size_t)span + 1);
    int err = 0;
    MPID_Pack(mem + base, count, (struct MPIR_DATATYPE *)&b->t, wire, total, &place, NULL, 0,
              MPID_MSGFORM_EXTERNAL32, MPID_MSG_CONVERT, &err);
    if (err || place != total)
        ck_abort_msg("external32: error %d, %lld bytes of %lld", err, (long long)place, (long long)total);
    for (int64_t i = 0, width = 1; i < total; i += width) {
        width = b->r.width[i % b->r.n];
        for (int64_t k = 0; k < width; k++)
            if (wire[i + k] != mem[at[i + width - 1 - k]])
                ck_abort_msg("external32: byte %lld", (long long)(i + k));
    }
    memcpy(want, mem, (size_t)span);
    for (int64_t i = 0, width = 1; i < total; i += width) {
        width = b->r.width[i % b->r.n];
        for (int64_t k = 0; k < width; k++)
            want[at[i + width - 1 - k]] = wire[i + k] = (char)(at[i] * 5 + k);
    }
    MPID_Unpack(wire, cut, MPID_MSGFORM_EXTERNAL32, &in, mem + base, count, (struct MPIR_DATATYPE *)&b->t,
                &out, NULL, 0, &err);
    if (err || in > cut || in != out || cut - in >= 8)
        ck_abort_msg("external32: error %d, %lld of %lld", err, (long long)in, (long long)cut);
    MPID_Unpack(wire, total, MPID_MSGFORM_EXTERNAL32, &in, mem + base, count, (struct MPIR_DATATYPE *)&b->t,
                &out, NULL, 0, &err);
    if (err || in != total || out != total || memcmp(want, mem, (size_t)span) != 0)
        ck_abort_msg("external32: unpacked from %lld", (long long)cut);
    free(wire);
    free(want);
}

/* Do entries overlap?  Then what unpacking leaves depends on the order. */
static bool overlaps(const int64_t *at, int64_t n, int64_t span)
{
    char *seen = calloc((size_t)span + 1, 1);
    bool twice = false;
    for (int64_t i = 0; i < n; i++)
        twice |= seen[at[i]]++ != 0;
    free(seen);
    return twice;
}

static void compare_copies(const struct both *b, int64_t count)
{
    int64_t base, span, *at = places(b, count, &base, &span), total = count * b->r.n;
    if (span > SPAN_MAX) { /* far apart: no memory for a test */
        free(at);
        return;
    }
    char *mem = malloc((size_t)span + 1), *want = malloc((size_t)span + 1),
         *packed = malloc((size_t)total + 1);
    for (int64_t i = 0; i < span; i++)
        mem[i] = (char)rnd(256);
    for (int round = 0; round < 6; round++) {
        int64_t from = rnd(total + 1), len = round == 0 ? total : rnd(total - from + 1);
        from = round == 0 ? 0 : from;
        MPID_Layout_pack(&b->t, mem + base, count, from, packed, len);
        for (int64_t i = 0; i < len; i++)
            if (packed[i] != mem[at[from + i]])
                ck_abort_msg("pack: byte %lld of [%lld, %lld)", (long long)i, (long long)from,
                             (long long)(from + len));
        /* Unpacking different bytes; overlapping entries get the value of the last (any would do). */
        memcpy(want, mem, (size_t)span);
        for (int64_t i = 0; i < len; i++)
            want[at[from + i]] = packed[i] = (char)(at[from + i] * 7 + round);
        MPID_Layout_unpack(&b->t, mem + base, count, from, packed, len);
        ck_assert_msg(memcmp(want, mem, (size_t)span) == 0, "unpack [%lld, %lld)", (long long)from,
                      (long long)(from + len));
    }
    if (!overlaps(at, total, span))
        compare_external(b, mem, count, at, base, span);
    free(mem);
    free(want);
    free(packed);
    free(at);
}

/* ---- encoded, walked ---- */

static bool same_sign(const struct MPID_SIGN *a, const struct MPID_SIGN *b)
{
    return !a || !b ? a == b
                    : a->depth == b->depth && a->bytes == b->bytes && a->wire == b->wire && a->n == b->n;
}

static void compare_fields(const struct MPIR_DATATYPE *a, const struct MPIR_DATATYPE *b)
{
    const int64_t x[] = { a->size,  a->extent, a->lb,     a->true_extent, a->true_lb,       a->is_contig,
                          a->align, a->has_lb, a->has_ub, a->basic,       a->layout != NULL },
                  y[] = { b->size,  b->extent, b->lb,     b->true_extent, b->true_lb,       b->is_contig,
                          b->align, b->has_lb, b->has_ub, b->basic,       b->layout != NULL };
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        if (x[i] != y[i])
            ck_abort_msg("field %zu is %lld; expected %lld", i, (long long)y[i], (long long)x[i]);
    ck_assert_msg(same_sign(a->sign, b->sign), "the signatures differ");
    if (a->layout)
        ck_assert_msg(a->layout->runs == b->layout->runs && a->layout->depth == b->layout->depth &&
                          MPID_Layout_nesting(a->layout) == MPID_Layout_nesting(b->layout),
                      "the layouts differ");
}

/* Encode and decode; the same again gives the same bytes. */
static struct MPIR_DATATYPE there_and_back(const struct MPIR_DATATYPE *t)
{
    struct MPIR_DATATYPE back = { 0 };
    void *bytes = NULL, *again = NULL;
    int64_t len = 0, len2 = 0;
    ck_assert_int_eq(MPID_Type_encode(t, &bytes, &len), 0);
    int err = MPID_Type_decode(&back, bytes, len);
    ck_assert_msg(err == 0, "%s", err ? ku_err_last()->text : "");
    compare_fields(t, &back);
    ck_assert_int_eq(MPID_Type_encode(&back, &again, &len2), 0);
    ck_assert_msg(len == len2 && memcmp(bytes, again, (size_t)len) == 0, "encoded again: other bytes");
    for (int64_t cut = 0; cut < len && len < 300; cut++) { /* nothing less is a datatype */
        struct MPIR_DATATYPE part = { 0 };
        ck_assert_int_eq(MPID_Type_decode(&part, bytes, cut), MPI_ERR_TYPE);
        ck_assert(part.layout == NULL && part.sign == NULL);
    }
    free(bytes);
    free(again);
    return back;
}

static void compare_encoded(const struct both *b, int64_t count)
{
    struct both back = { there_and_back(&b->t), b->r };
    compare_bounds(&back);
    compare_copies(&back, count);
    MPID_Type_fini(&back.t);
}

/* The runs that a walk should find; it stops before run number `stop`. */
struct expected {
    const int64_t *at; /* of each byte from the walk's first one on, */
    int64_t base;      /* less this much */
    int64_t n, taken, stop, runs;
};

static bool expect_run(void *arg, int64_t at, int64_t bytes)
{
    struct expected *e = arg;
    if (e->runs++ == e->stop)
        return false;
    if (bytes <= 0 || bytes > e->n - e->taken)
        ck_abort_msg("a run of %lld bytes; %lld are left", (long long)bytes, (long long)(e->n - e->taken));
    for (int64_t i = 0; i < bytes; i++)
        if (e->at[e->taken + i] != at + e->base + i)
            ck_abort_msg("byte %lld of the run at %lld", (long long)i, (long long)at);
    e->taken += bytes;
    if (e->taken < e->n && e->at[e->taken] == e->at[e->taken - 1] + 1)
        ck_abort_msg("a run of %lld bytes is not all that touch", (long long)bytes);
    return true;
}

static void compare_runs(const struct both *b, int64_t count)
{
    int64_t base, span, *at = places(b, count, &base, &span), total = count * b->r.n;
    for (int round = 0; round < 6; round++) {
        int64_t from = round == 0 ? 0 : rnd(total + 1), len = round == 0 ? total : rnd(total - from + 1);
        struct expected e = { at + from, base, len, 0, round % 2 ? rnd(9) : -1, 0 };
        int64_t taken = MPID_Layout_runs(&b->t, from, len, expect_run, &e);
        ck_assert_int_eq(taken, e.taken);
        if (e.stop < 0)
            ck_assert_int_eq(taken, len);
        struct expected rest = { at + from + taken, base, len - taken, 0, -1, 0 }; /* goes on there */
        taken = MPID_Layout_runs(&b->t, from + taken, len - taken, expect_run, &rest);
        ck_assert_int_eq(taken, rest.n);
    }
    free(at);
}

START_TEST(random_types)
{
    struct both pool[POOL];
    for (int i = 0; i < POOL; i++)
        make_basic(&pool[i], 1 << (i % 4));
    seed = (uint64_t)_i + 1;
    MPID_Kernels_use(_i % 2);
    for (int k = 0; k < 60; k++) {
        struct both b;
        make_random(&b, pool);
        compare_bounds(&b);
        if (b.r.n > MAP_MAX) {
            drop(&b);
            continue;
        }
        compare_copies(&b, 1);
        compare_copies(&b, 1 + rnd(_i % 4 < 2 ? 9 : 30));
        compare_encoded(&b, 1 + rnd(9));
        compare_runs(&b, 1 + rnd(9));
        int victim = (int)rnd(POOL - 4) + 4; /* old types go while types made from them live on */
        drop(&pool[victim]);
        pool[victim] = b;
    }
    for (int i = 0; i < POOL; i++)
        drop(&pool[i]);
}
END_TEST

/* ---- what a layout should look like ---- */

START_TEST(canonical_forms)
{
    struct both d, v, w, x;
    make_basic(&d, 8);
    make_vector(&v, &d, 10, 1, 16);
    ck_assert_int_eq(v.t.layout->depth, 1);
    ck_assert_int_eq(v.t.layout->leaf, 8);
    make_vector(&w, &v, 5, 1, 160); /* continues the stride: still one loop */
    ck_assert_int_eq(w.t.layout->depth, 1);
    ck_assert_int_eq(w.t.layout->loop[0].count, 50);
    make_vector(&x, &d, 10, 3, 24); /* touching blocks are contiguous */
    ck_assert(x.t.is_contig && x.t.layout == NULL);
    drop(&v);
    drop(&w);
    drop(&x);

    int64_t disp[4] = { 0, 8, 40, 48 }, regular[4] = { 3, 23, 43, 63 }, odd[4] = { 64, 8, 0, 32 };
    struct both l = { 0 };
    MPID_Type_hindexed(&l.t, 4, (MPIR_Counts){ 0 }, 1, counts(disp), 1, &d.t); /* two runs of 16: a loop */
    ck_assert_int_eq(l.t.layout->depth, 1);
    ck_assert_int_eq(l.t.layout->leaf, 16);
    MPID_Type_fini(&l.t);
    MPID_Type_hindexed(&l.t, 4, (MPIR_Counts){ 0 }, 1, counts(regular), 1, &d.t);
    ck_assert_ptr_null(l.t.layout->list);
    ck_assert_int_eq(l.t.layout->loop[0].stride, 20);
    MPID_Type_fini(&l.t);
    MPID_Type_hindexed(&l.t, 4, (MPIR_Counts){ 0 }, 1, counts(odd), 1, &d.t);
    ck_assert_int_eq(l.t.layout->list->kind, MPID_LIST_BLOCKS);
    ck_assert_int_eq(l.t.layout->list->n, 3 + 1);
    MPID_Type_fini(&l.t);
    drop(&d);
}
END_TEST

/* Blocks of every length at distances near to them, forwards and backwards, with every rest of a round: the
 * kernels' cases. */
START_TEST(every_block)
{
    struct both c;
    make_basic(&c, 1);
    MPID_Kernels_use(_i % 2);
    seed = (uint64_t)_i + 1;
    for (int64_t bytes = 1; bytes <= 600; bytes += bytes < 140 ? 1 : 1 + rnd(60)) {
        struct both v, w;
        int64_t stride = (bytes + 1 + rnd(bytes < 40 ? 20 : 200)) * (_i & 2 ? -1 : 1);
        make_vector(&v, &c, 2 + rnd(MAP_MAX / 16 / bytes + 20), bytes, stride);
        compare_copies(&v, 1);
        make_vector(&w, &v, 2 + rnd(9), 1, rnd(2) ? v.t.extent + rnd(9) : -v.t.extent - rnd(9));
        compare_copies(&w, 1);
        drop(&w);
        drop(&v);
    }
    drop(&c);
}
END_TEST

/* Records of a few fields in any order. */
START_TEST(every_record)
{
    struct both pool[POOL];
    struct MPIR_DATATYPE *types[8];
    for (int i = 0; i < POOL; i++)
        make_basic(&pool[i], 1 << (i % 4));
    MPID_Kernels_use(_i % 2);
    seed = (uint64_t)_i + 1;
    for (int k = 0; k < 60; k++) {
        struct both b = { 0 }, l = { 0 };
        int64_t n = 1 + rnd(8), bl[8], disp[8], at = 0, places[40];
        const struct both *olds[8];
        for (int64_t i = 0; i < n; i++) {
            olds[i] = &pool[rnd(POOL)];
            types[i] = (struct MPIR_DATATYPE *)&olds[i]->t;
            bl[i] = 1 + rnd(rnd(8) ? 4 : 40);
            disp[i] = at + rnd(20);
            at = disp[i] + bl[i] * olds[i]->r.n;
        }
        ck_assert_int_eq(MPID_Type_struct(&b.t, n, counts(bl), counts(disp), types), 0);
        for (int64_t i = 0; i < n; i++)
            ref_block(&b.r, &olds[i]->r, bl[i], disp[i]);
        compare_bounds(&b);
        compare_copies(&b, 1 + rnd(60));
        for (int64_t i = 0, where = 0; i < 40; i++, where += b.t.extent + rnd(30))
            places[i] = where;
        ck_assert_int_eq(MPID_Type_hindexed(&l.t, 40, (MPIR_Counts){ 0 }, 1, counts(places), 1, &b.t), 0);
        for (int i = 0; i < 40; i++)
            ref_block(&l.r, &b.r, 1, places[i]);
        compare_bounds(&l);
        compare_copies(&l, 1);
        drop(&l);
        drop(&b);
    }
    for (int i = 0; i < POOL; i++)
        drop(&pool[i]);
}
END_TEST

/* Lists of runs: of many lengths, of few, of one. */
START_TEST(every_list)
{
    enum { N = 150 };
    struct both c;
    make_basic(&c, 4);
    MPID_Kernels_use(_i % 2);
    seed = (uint64_t)_i + 1;
    static const int64_t longest[] = { 1, 2, 3, 4, 8, 15, 16, 17, 32, 40 };
    for (size_t k = 0; k < sizeof longest / sizeof *longest; k++) {
        struct both l = { 0 };
        int64_t bl[N], disp[N], at = 0;
        for (int i = 0; i < N; i++) {
            bl[i] = 1 + rnd(longest[k]);
            disp[i] = at + rnd(3);
            at = disp[i] + bl[i];
        }
        for (int i = 0; i < 20; i++) { /* not in order */
            int64_t a = rnd(N), b = rnd(N), d = disp[a], n = bl[a];
            disp[a] = disp[b];
            bl[a] = bl[b];
            disp[b] = d;
            bl[b] = n;
        }
        ck_assert_int_eq(MPID_Type_hindexed(&l.t, N, counts(bl), 0, counts(disp), 4, &c.t), 0);
        for (int i = 0; i < N; i++)
            ref_block(&l.r, &c.r, bl[i], disp[i] * 4);
        compare_bounds(&l);
        compare_copies(&l, 1);
        compare_copies(&l, 2);
        drop(&l);
    }
    drop(&c);
}
END_TEST

/* Memory and time do not depend on counts: 2^40 blocks are one loop, and any place in them is found at once.
 */
START_TEST(huge_counts)
{
    struct both d, v;
    make_basic(&d, 8);
    memset(&v, 0, sizeof v);
    ck_assert_int_eq(MPID_Type_hvector(&v.t, (int64_t)1 << 40, 1, 24, &d.t), 0);
    ck_assert_int_eq(v.t.size, (int64_t)1 << 43);
    ck_assert_int_eq(v.t.extent, 24 * (((int64_t)1 << 40) - 1) + 8);
    ck_assert_int_eq(v.t.layout->depth, 1);
    double value = 3.5, got = 0;
    int64_t k = ((int64_t)1 << 39) + 17;
    MPID_Layout_pack(&v.t, (char *)((uintptr_t)&value - (uintptr_t)(k * 24)), 1, k * 8, &got, 8);
    ck_assert_double_eq(got, 3.5);
    const int64_t at[3] = { k * 24 + 7, (k + 1) * 24, (k + 1) * 24 + 1 }; /* its last byte, and of the next */
    struct expected e = { at, 0, 3, 0, -1, 0 };
    ck_assert_int_eq(MPID_Layout_runs(&v.t, k * 8 + 7, 3, expect_run, &e), 3);
    struct expected first = { at, 0, 3, 0, 1, 0 };
    ck_assert_int_eq(MPID_Layout_runs(&v.t, k * 8 + 7, v.t.size - k * 8 - 7, expect_run, &first), 1);
    MPID_Type_fini(&v.t);
    drop(&d);
}
END_TEST

START_TEST(overflow_is_an_error)
{
    struct both d, v;
    make_basic(&d, 8);
    memset(&v, 0, sizeof v);
    ck_assert_int_eq(MPID_Type_hvector(&v.t, INT64_MAX / 4, 1, 8, &d.t), MPI_ERR_TYPE);
    ck_assert_int_eq(ku_err_last()->code, MPI_ERR_TYPE);
    ck_assert_int_eq(MPID_Type_hvector(&v.t, 3, 1, INT64_MAX / 2, &d.t), MPI_ERR_TYPE);
    ck_assert_int_eq(MPID_Type_hvector(&v.t, 3, INT64_MAX, 0, &d.t), MPI_ERR_TYPE);
    int64_t disp[2] = { INT64_MIN, INT64_MAX - 8 }, one[2] = { 1, 1 };
    ck_assert_int_eq(MPID_Type_hindexed(&v.t, 2, counts(one), 0, counts(disp), 1, &d.t), MPI_ERR_TYPE);
    ck_assert_int_eq(MPID_Type_hindexed(&v.t, 2, counts(one), 0, counts(disp), 8, &d.t), MPI_ERR_TYPE);
    struct MPIR_DATATYPE *types[2] = { &d.t, &d.t };
    ck_assert_int_eq(MPID_Type_struct(&v.t, 2, counts(one), counts(disp), types), MPI_ERR_TYPE);
    ck_assert_int_eq(MPID_Type_resized(&v.t, 2, INT64_MAX, &d.t), MPI_ERR_TYPE);
    drop(&d);
}
END_TEST

/* A type made of itself thousands of times: an error in the end, not a stack overflow. */
START_TEST(deep_nesting_is_refused)
{
    struct both c;
    make_basic(&c, 1);
    struct MPIR_DATATYPE t = { 0 }, next = { 0 }, vec = { 0 };
    MPID_Type_hvector(&vec, 2, 1, 3, &c.t);
    MPID_Type_dup(&t, &vec);
    int err = 0, depth = 0;
    while (err == 0 && depth < 10 * MPID_LAYOUT_NESTING) {
        struct MPIR_DATATYPE *types[2] = { &t, &vec };
        int64_t disp[2] = { 0, t.extent + 5 }, one[2] = { 1, 1 };
        err = MPID_Type_struct(&next, 2, counts(one), counts(disp), types);
        if (err == 0) {
            MPID_Type_fini(&t);
            t = next;
            depth++;
        }
    }
    ck_assert_int_eq(err, MPI_ERR_TYPE);
    ck_assert_int_gt(depth, 1000);
    char *mem = calloc(1, (size_t)t.true_extent), *packed = malloc((size_t)t.size);
    mem[t.true_extent - 1] = 9;
    MPID_Layout_pack(&t, mem, 1, 0, packed, t.size);
    ck_assert_int_eq(packed[t.size - 1], 9);
    struct MPIR_DATATYPE back = there_and_back(&t);
    packed[t.size - 1] = 0;
    MPID_Layout_pack(&back, mem, 1, 0, packed, t.size);
    ck_assert_int_eq(packed[t.size - 1], 9);
    MPID_Type_fini(&back);
    free(mem);
    free(packed);
    MPID_Type_fini(&t);
    MPID_Type_fini(&vec);
    drop(&c);
}
END_TEST

/* ---- encoded types by hand ---- */

/* Each contains the one before twice: 2^40 runs, and a description of 40 lists. */
START_TEST(what_is_shared_is_encoded_once)
{
    struct both c, i;
    struct MPIR_DATATYPE t = { 0 }, next = { 0 };
    make_basic(&c, 1);
    make_basic(&i, 4);
    MPID_Type_hvector(&t, 40, 1, 3, &c.t);
    for (int k = 0; k < 36; k++) {
        struct MPIR_DATATYPE *types[3] = { &t, k % 2 ? &i.t : &c.t, &t };
        int64_t one[3] = { 1, 1, 1 }, disp[3] = { 0, t.extent + 7, t.extent + 20 };
        ck_assert_int_eq(MPID_Type_struct(&next, 3, counts(one), counts(disp), types), 0);
        MPID_Type_fini(&t);
        t = next;
    }
    void *bytes = NULL;
    int64_t len = 0;
    ck_assert_int_eq(MPID_Type_encode(&t, &bytes, &len), 0);
    ck_assert_int_lt(len, 3000);
    free(bytes);
    struct MPIR_DATATYPE back = there_and_back(&t);
    char a[5000] = { 0 }, packed[2][64];
    for (size_t k = 0; k < sizeof a; k++)
        a[k] = (char)(k * 7);
    MPID_Layout_pack(&t, a, 1, 70, packed[0], 64);
    MPID_Layout_pack(&back, a, 1, 70, packed[1], 64);
    ck_assert_mem_eq(packed[0], packed[1], 64);
    MPID_Type_fini(&back);
    MPID_Type_fini(&t);
    drop(&c);
    drop(&i);
}
END_TEST

START_TEST(types_of_no_bytes_and_of_one_run)
{
    struct both c, v;
    struct MPIR_DATATYPE t = { 0 }, back;
    make_basic(&c, 8);
    ck_assert_int_eq(MPID_Type_hvector(&t, 0, 1, 3, &c.t), 0);
    back = there_and_back(&t);
    ck_assert_int_eq(MPID_Layout_runs(&back, 0, 0, expect_run, NULL), 0);
    ck_assert_int_eq(MPID_Type_resized(&t, -8, 32, &c.t), 0);
    back = there_and_back(&t);
    MPID_Type_fini(&back);
    MPID_Type_fini(&t);
    make_vector(&v, &c, 5, 1, 8);
    back = there_and_back(&v.t);
    ck_assert(back.is_contig);
    drop(&v);
    struct MPIR_DATATYPE pair = { .size = 6, .extent = 8, .true_extent = 8, .align = 4 };
    pair.basic = KEEL_MPI_SHORT_INT;
    pair.layout = &MPID_Layout_short_int;
    back = there_and_back(&pair);
    MPID_Type_fini(&back);
    drop(&c);
}
END_TEST

/* Bytes that are wrong in one thing each, and a word of what is said.  The beginning of each is version 1; RUN(n)
 * is a layout of one run of n bytes. */
#define RUN(n) 1, 0, 0, 0, n
START_TEST(wrong_bytes_are_refused)
{
    static const struct {
        unsigned char bytes[40];
        int64_t len;
        const char *says;
    } wrong[] = {
        { { 2, 0, 0, 1, 0, 0, 0, 0 }, 8, "the version is 2; expected 1" },
        { { 1, 0, 0, 1, 0, 0, 0, 0, 7 }, 9, "before byte 8 of 9, the datatype ends" },
        { { 1, 0, 16, 1, 0, 0, 0, 0 }, 8, "flags is 16; expected 0 to 15" },
        { { 1, 0, 0, 0, 0, 0, 0, 0 }, 8, "alignment is 0" },
        { { 1, 0, 4, 1, 0, 0, 0, 0 }, 8, "there are 0 so far" },
        { { 1, 0, 8, 1, 0, 0, 0, 0 }, 8, "there are 0 so far" },
        { { 1, 0, 0, 1, 0, 0, 0, 8 }, 8, "the extent is 0, the size 8, and there is no layout" },
        { { 1, 0, 0, 1, 0x80, 0, 0, 0, 0 }, 9, "more bytes than it needs" },
        { { 1, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2 }, 14, "more than 64 bits" },
        { { 1, 7, 0, 0, 1, 0, 0, 0, 0 }, 9, "of kind 7; expected 0 to 6" },
        { { 1, 1, 0, 0, 0, 0, 0, 4, 1 }, 9, "length of a run is 0" },
        { { 1, 1, 0, 5, 0, 0, 0, 4, 1 }, 9, "number of loops is 5" },
        { { 1, 1, 0, 1, 1, 0, 0, 4, 1 }, 9, "count of a loop is 1" },
        { { 1, 1, 0, 0, 1, 0, 4, 1, 0 }, 9, "list 0 is meant; there are 0 so far" },
        { { 1, 2, 0, 4, 0, 0, 0, 4, 1 }, 9, "length of a list is 0" },
        { { 1, 2, 100, 4, 0, 0, 0, 4, 1 }, 9, "length of a list is 100; expected 1 to 6" },
        { { 1, 2, 2, 0, 0, 16, 0 }, 7, "length of a block is 0" },
        { { 1, 3, 2, 0, 1, 0, 0, 0 }, 8, "length of a run is 0" },
        { { 1, 4, 2, 0, 0, 0, 0, 0 }, 8, "layout 0 is meant; there are 0 so far" },
        { { 1, RUN(4), 4, 2, 0, 0, 16, 0 }, 12, "layout 0 is one run" },
        { { 1, RUN(4), 5, 2, 0, 2, 0, 0, 0 }, 13, "layout 1 is meant; there are 1 so far" },
        { { 1, 6, 1, 0, 0, 0, 0, 0 }, 8, "repetition in a signature is 0" },
        { { 1, 6, 1, 1, 2, 0, 0, 0 }, 8, "basic type 1 is unknown" },
        { { 1, 6, 1, 1, 1, 0, 0, 0 }, 8, "signature 0 is meant; there are 0 so far" },
    };
    struct MPIR_DATATYPE t = { 0 };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(MPID_Type_decode(&t, wrong[i].bytes, wrong[i].len) == MPI_ERR_TYPE, "row %zu", i);
        ck_assert_msg(strstr(ku_err_last()->text, wrong[i].says) != NULL, "row %zu: %s", i,
                      ku_err_last()->text);
    }
    ck_assert_int_eq(MPID_Type_decode(&t, wrong, MPID_TYPE_ENCODED_MAX + 1), MPI_ERR_TYPE);
    ck_assert_ptr_nonnull(strstr(ku_err_last()->text, "too many"));
}
END_TEST

static unsigned char *put_number(unsigned char *p, unsigned v)
{
    for (; v > 0x7f; v >>= 7)
        *p++ = (unsigned char)(v | 0x80);
    *p++ = (unsigned char)v;
    return p;
}

/* Lists of one layout, `deep` inside one another, the innermost of one block of a byte. */
static int64_t nested_lists(unsigned char *bytes, unsigned deep)
{
    static const unsigned char first[] = { 1, 2, 1, 1, 0, 1, 0, 0, 1 };
    unsigned char *p = bytes + sizeof first;
    memcpy(bytes, first, sizeof first);
    for (unsigned k = 0; k < deep; k++) {
        const unsigned char list[] = { 4, 1 }, layout[] = { 0, 1, 0, 0 };
        memcpy(p, list, sizeof list);
        p = put_number(p + sizeof list, k);
        memcpy(p, layout, sizeof layout);
        p = put_number(p + sizeof layout, k + 2);
    }
    return p - bytes;
}

/* The same of signatures. */
static int64_t nested_signs(unsigned char *bytes, unsigned deep)
{
    unsigned char *p = bytes;
    *p++ = 1;
    for (unsigned k = 0; k <= deep; k++) {
        const unsigned char sign[] = { 6, 1, 1 };
        memcpy(p, sign, sizeof sign);
        p = put_number(p + sizeof sign, k ? 2 * k - 1 : 2 * KEEL_MPI_INT8_T);
    }
    return p - bytes;
}

/* Ends `len` bytes as a type of one byte with a layout or a signature. */
static int decode_ended(unsigned char *bytes, int64_t len, bool sign)
{
    const unsigned char end[] = { 0, sign ? 8 : 4, 1, 0, 0, 2, 1 };
    struct MPIR_DATATYPE t = { 0 };
    memcpy(bytes + len, end, sizeof end);
    int err = MPID_Type_decode(&t, bytes, len + (int64_t)sizeof end - !sign);
    MPID_Type_fini(&t);
    return err;
}

/* Places and sizes that leave 63 bits; layouts and signatures nested too deep. */
START_TEST(encoded_limits)
{
    enum { DEEP = MPID_LAYOUT_NESTING + 2 };
    struct MPIR_DATATYPE t = { 0 };
    static const unsigned char far[] = { /* 2^62 times 2 bytes; a run at 2^63 - 1; a loop of 2 with a stride of 2^62 */
                                         1, 1, 0,    1,    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                         0x40, 0, 0, 2,    0,    4,    1,    0,    0,    0 },
                               place[] = { 1, 1, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,
                                           0, 0, 2,    0,    4,    1,    0,    0,    0 },
                               stride[] = { 1, 1, 0, 1, 2, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                            0x80, 0x80, 1, 0, 2,    0,    4,    1,    0,    0,    0 };
    ck_assert_int_eq(MPID_Type_decode(&t, far, sizeof far), MPI_ERR_TYPE);
    ck_assert_ptr_nonnull(strstr(ku_err_last()->text, "leaves 63 bits"));
    ck_assert_int_eq(MPID_Type_decode(&t, place, sizeof place), MPI_ERR_TYPE);
    ck_assert_ptr_nonnull(strstr(ku_err_last()->text, "leaves 63 bits"));
    ck_assert_int_eq(MPID_Type_decode(&t, stride, sizeof stride), MPI_ERR_TYPE);
    ck_assert_ptr_nonnull(strstr(ku_err_last()->text, "leaves 63 bits"));
    unsigned char *deep = malloc(16 * DEEP);
    for (int sign = 0; sign < 2; sign++)
        for (unsigned over = 0; over < 2; over++) {
            unsigned n = (sign ? MPID_SIGN_DEPTH : MPID_LAYOUT_NESTING) + over;
            int64_t len = sign ? nested_signs(deep, n) : nested_lists(deep, n);
            ck_assert_int_eq(decode_ended(deep, len, sign), over ? MPI_ERR_TYPE : 0);
            if (over)
                ck_assert_ptr_nonnull(strstr(ku_err_last()->text, "nested more than"));
        }
    free(deep);
}
END_TEST

/* ---- MPID_Pack and MPID_Unpack ---- */

START_TEST(pack_and_unpack)
{
    struct both d, v;
    make_basic(&d, 8);
    make_vector(&v, &d, 4, 1, 16);
    double a[8], b[8] = { 0 };
    char packed[40];
    int64_t at = 4, in = 4, out = 0, size;
    int err = 0;
    MPID_Msgrep_t rep;
    MPID_Msg_pack_t act;
    for (int i = 0; i < 8; i++)
        a[i] = i + 0.5;
    MPID_Msg_rep(NULL, 0, &v.t, &rep, &act);
    ck_assert_int_eq(rep, MPID_MSGFORM_NATIVE);
    MPID_Pack_size(1, &v.t, act, &size);
    ck_assert_int_eq(size, 32);
    MPID_Pack(a, 1, &v.t, packed, 36, &at, NULL, 0, rep, act, &err);
    ck_assert_int_eq(err, 0);
    ck_assert_int_eq(at, 36);
    MPID_Unpack(packed, 14, rep, &in, b, 1, &v.t, &out, NULL, 0,
                &err); /* in two pieces, cut inside a double */
    ck_assert_int_eq(out, 10);
    MPID_Unpack(packed, 36, rep, &in, b, 1, &v.t, &out, NULL, 0, &err);
    ck_assert_int_eq(err, 0);
    for (int i = 0; i < 8; i++)
        ck_assert_double_eq(b[i], i % 2 ? 0 : a[i]);

    at = 4;
    MPID_Pack(a, 1, &v.t, packed, 35, &at, NULL, 0, rep, act, &err);
    ck_assert_int_eq(err, MPI_ERR_TRUNCATE);
    ck_assert_int_eq(at, 4);
    err = in = out = 0;
    MPID_Unpack(packed, 40, rep, &in, b, 1, &v.t, &out, NULL, 0, &err);
    ck_assert_int_eq(err, MPI_ERR_TRUNCATE);
    ck_assert_int_eq(out, 32);
    err = 0;
    MPID_Pack(a, 1, &v.t, packed, 40, &at, NULL, 0, 7, act, &err);
    ck_assert_int_eq(err, MPI_ERR_INTERN);
    err = at = 0;
    out = 4; /* the middle of a double: no place to go on from in external32 */
    MPID_Unpack(packed, 8, MPID_MSGFORM_EXTERNAL32, &at, b, 1, &v.t, &out, NULL, 0, &err);
    ck_assert_int_eq(err, MPI_ERR_ARG);
    drop(&v);
    drop(&d);
}
END_TEST

START_TEST(typed_to_typed)
{
    enum { N = 20000 };
    struct both d, v, w;
    make_basic(&d, 8);
    make_vector(&v, &d, N, 1, 16);
    make_vector(&w, &d, N / 4, 4, 40);
    double *a = malloc(2 * N * sizeof *a), *b = calloc(2 * N, sizeof *b);
    for (int i = 0; i < 2 * N; i++)
        a[i] = i;
    MPID_Copy(a, 1, &v.t, b, 1, &w.t, N * 8);
    for (int i = 0; i < N; i++)
        if (b[i / 4 * 5 + i % 4] != 2 * i)
            ck_abort_msg("double %d", i);
    memset(b, 0, 2 * N * sizeof *b);
    MPID_Copy(a, 1, &v.t, b, N, &d.t, N * 8);
    ck_assert_double_eq(b[N - 1], 2 * (N - 1));
    MPID_Copy(a, N, &d.t, b, 1, &v.t, N * 8);
    ck_assert_double_eq(b[2 * (N - 1)], N - 1);
    free(a);
    free(b);
    drop(&v);
    drop(&w);
    drop(&d);
}
END_TEST

/* Structs of {int, the one before}, each longer: what the signature holds is bounded, and so is its depth. */
START_TEST(deep_signatures)
{
    enum { DEEP = 30000 };
    struct both i, d, c;
    struct MPIR_DATATYPE t = { 0 }, u = { 0 };
    int64_t size = 0, at[2] = { 0, 8 }, one[2] = { 1, 1 };
    make_basic(&i, 4);
    make_basic(&d, 8);
    make_basic(&c, 1);
    struct MPIR_DATATYPE *types[2] = { &i.t, &t };
    MPID_Type_dup(&t, &d.t);
    for (int k = 0; k < DEEP; k++) { /* contiguous, so that the layouts merge */
        types[0] = k % 2 ? &i.t : &c.t;
        at[1] = types[0]->size;
        ck_assert_int_eq(MPID_Type_struct(&u, 2, counts(one), counts(at), types), 0);
        MPID_Type_fini(&t);
        ck_assert_int_eq(MPID_Type_resized(&t, 0, u.size, &u), 0);
        MPID_Type_fini(&u);
        if (k == 1000) {
            MPID_Pack_size(1, &t, MPID_MSG_CONVERT, &size);
            ck_assert_int_eq(size, t.size);
        }
    }
    MPID_Pack_size(1, &t, MPID_MSG_CONVERT, &size);
    ck_assert_int_eq(size, -1);
    MPID_Pack_size(1, &t, MPID_MSG_OK, &size);
    ck_assert_int_eq(size, 8 + DEEP / 2 * 5);
    MPID_Type_fini(&t);
    drop(&i);
    drop(&d);
    drop(&c);
}
END_TEST

/* ---- out of memory: the N-th allocation fails, for all N ---- */

static int64_t failing = -1; /* allocations until the one that fails; < 0: none */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static bool fails(void)
{
    return failing >= 0 && failing-- == 0;
}
void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}
void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}
void *__wrap_realloc(void *p, size_t n)
{
    return fails() ? NULL : __real_realloc(p, n);
}

/* Several types of every kind; the first error, all of them freed. */
static int make_many(const struct MPIR_DATATYPE *basic, const struct MPIR_DATATYPE *other)
{
    enum { N = 20 };
    struct MPIR_DATATYPE t[6] = { 0 };
    int64_t disp[N], one[N];
    struct MPIR_DATATYPE *types[3] = { &t[0], &t[1], &t[2] };
    for (int i = 0; i < N; i++) {
        disp[i] = i * i * 1000 % 4001;
        one[i] = 1 + i % 3;
    }
    int err = MPID_Type_hvector(&t[0], 5, 2, 24, basic), made = 1;
    if (!err && (made = 2))
        err = MPID_Type_hindexed(&t[1], N, counts(one), 0, counts(disp), 8, other);
    if (!err && (made = 3))
        err = MPID_Type_hindexed(&t[2], N, counts(one), 0, counts(disp), 100, &t[0]);
    if (!err && (made = 4))
        err = MPID_Type_struct(&t[3], 3, counts(one), counts(disp), types);
    if (!err && (made = 5))
        err = MPID_Type_resized(&t[4], -8, 100000, &t[3]);
    for (int64_t i = 0; !err && i < 6; i++) { /* more loops than one layout has */
        err = MPID_Type_hvector(&t[5], 3, 1, 200000 << (2 * i), &t[4]);
        if (!err) {
            MPID_Type_fini(&t[4]);
            t[4] = t[5];
        }
    }
    for (int i = 0; i < made; i++)
        if (!err || i < made - 1 || made == 5)
            MPID_Type_fini(&t[i]);
    return err;
}

START_TEST(out_of_memory)
{
    struct both d, i;
    int64_t n = 0;
    int err = -1;
    make_basic(&d, 8);
    make_basic(&i, 4);
    while (err && n < 1000) {
        failing = n++;
        err = make_many(&d.t, &i.t);
        bool met = failing < 0;
        failing = -1;
        if (err && (err != MPI_ERR_NO_MEM || ku_err_last()->code != MPI_ERR_NO_MEM))
            ck_abort_msg("allocation %lld failing: error %d", (long long)n, err);
        if (met && !err)
            ck_abort_msg("allocation %lld failed and nobody noticed", (long long)n);
    }
    ck_assert_int_gt(n, 15);
    ck_assert_int_eq(err, 0);
    drop(&d);
    drop(&i);
}
END_TEST

/* Encoding and decoding notice it, too, and leave nothing behind. */
START_TEST(out_of_memory_encoding)
{
    struct both c, i;
    struct MPIR_DATATYPE v = { 0 }, t = { 0 }, back = { 0 };
    make_basic(&c, 1);
    make_basic(&i, 4);
    int64_t disp[40], one[40], n = 0;
    struct MPIR_DATATYPE *types[40];
    MPID_Type_hvector(&v, 40, 1, 3, &c.t);
    for (int k = 0; k < 40; k++) {
        disp[k] = k * (k + 200);
        one[k] = 1 + k % 5;
        types[k] = k % 3 == 0 ? &v : k % 3 == 1 ? &i.t : &c.t;
    }
    ck_assert_int_eq(MPID_Type_struct(&t, 40, counts(one), counts(disp), types), 0);
    for (int err = -1; err && n < 1000;) {
        void *bytes = NULL;
        int64_t len = 0;
        failing = n++;
        err = MPID_Type_encode(&t, &bytes, &len);
        if (err == 0)
            err = MPID_Type_decode(&back, bytes, len);
        bool met = failing < 0;
        failing = -1;
        free(bytes);
        ck_assert_int_eq(err, met ? MPI_ERR_NO_MEM : 0);
    }
    ck_assert_int_gt(n, 20);
    MPID_Type_fini(&back);
    MPID_Type_fini(&t);
    MPID_Type_fini(&v);
    drop(&c);
    drop(&i);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("layout");
    TCase *c = tcase_create("layout");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, random_types, 0, 40);
    tcase_add_loop_test(c, every_block, 0, 4);
    tcase_add_loop_test(c, every_record, 0, 4);
    tcase_add_loop_test(c, every_list, 0, 4);
    tcase_add_test(c, canonical_forms);
    tcase_add_test(c, huge_counts);
    tcase_add_test(c, overflow_is_an_error);
    tcase_add_test(c, deep_nesting_is_refused);
    tcase_add_test(c, pack_and_unpack);
    tcase_add_test(c, typed_to_typed);
    tcase_add_test(c, deep_signatures);
    tcase_add_test(c, out_of_memory);
    tcase_add_test(c, what_is_shared_is_encoded_once);
    tcase_add_test(c, types_of_no_bytes_and_of_one_run);
    tcase_add_test(c, wrong_bytes_are_refused);
    tcase_add_test(c, encoded_limits);
    tcase_add_test(c, out_of_memory_encoding);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
