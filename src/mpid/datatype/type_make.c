/* SPDX-License-Identifier: BSD-3-Clause */
/* type_make.c: the MPID_Type_* calls: sizes, bounds, layouts and signatures of datatypes.
 *
 * Bounds follow the type map's definition (MPI 5.0, 6.1.6 to 6.1.8): without markers lb and ub are those of
 * the data, and the extent is rounded up to the strictest alignment in the type map.  But ub is never below the
 * ub of a part where that part was put: so the padding of a part remains, which the type map does not show.  Once a
 * part has a marker (of MPID_Type_resized, or MPI-1's MPI_LB and MPI_UB), the markers of that kind alone tell.
 * Parts that are repeated no times are not in the type map. */
#include <stdlib.h>
#include "mpid.h"
#include "mpid/datatype/layout.h"
#include "mpid/datatype/sign.h"
#include "util/err.h"

/* ---- bounds ---- */

struct bounds {
    bool any, any_lb, any_ub;
    bool overflow;
    int64_t true_lb, true_ub;
    int64_t lb, ub;   /* of the markers */
    int64_t parts_ub; /* the greatest ub of the parts */
    int64_t size;
    uint8_t align;
    bool mixed;
    uint32_t basic;
};

static int64_t type_make_add(struct bounds *b, int64_t x, int64_t y)
{
    int64_t r = 0;
    b->overflow |= __builtin_add_overflow(x, y, &r);
    return r;
}

static int64_t sub(struct bounds *b, int64_t x, int64_t y)
{
    int64_t r = 0;
    b->overflow |= __builtin_sub_overflow(x, y, &r);
    return r;
}

static int64_t mul(struct bounds *b, int64_t x, int64_t y)
{
    int64_t r = 0;
    b->overflow |= __builtin_mul_overflow(x, y, &r);
    return r;
}

static void widen(bool first, int64_t *lo, int64_t *hi, int64_t a, int64_t z)
{
    if (first || a < *lo)
        *lo = a;
    if (first || z > *hi)
        *hi = z;
}

/* A sequence of displacements, of which only the ends matter. */
struct span {
    int64_t min, max;
};

/* k * step for k = 0 .. n - 1, on top of `s`. */
static struct span repeated(struct bounds *b, struct span s, int64_t n, int64_t step)
{
    int64_t last = mul(b, n - 1, step);
    return (struct span){ type_make_add(b, s.min, last < 0 ? last : 0),
                          type_make_add(b, s.max, last > 0 ? last : 0) };
}

/* `times` elements of `t`, displaced by s.min at least and s.max at most. */
static void include(struct bounds *b, const struct MPIR_DATATYPE *t, int64_t times, struct span s)
{
    if (t->has_lb) {
        int64_t lb = type_make_add(b, s.min, t->lb);
        b->lb = b->any_lb && b->lb < lb ? b->lb : lb;
        b->any_lb = true;
    }
    if (t->has_ub) {
        int64_t ub = type_make_add(b, s.max, type_make_add(b, t->lb, t->extent));
        b->ub = b->any_ub && b->ub > ub ? b->ub : ub;
        b->any_ub = true;
    }
    if (t->size == 0)
        return;
    int64_t true_ub = type_make_add(b, t->true_lb, t->true_extent);
    widen(!b->any, &b->true_lb, &b->true_ub, type_make_add(b, s.min, t->true_lb),
          type_make_add(b, s.max, true_ub));
    int64_t ub = type_make_add(b, s.max, type_make_add(b, t->lb, t->extent));
    b->parts_ub = b->any && b->parts_ub > ub ? b->parts_ub : ub;
    b->mixed |= t->basic == 0 || (b->any && t->basic != b->basic);
    b->basic = t->basic;
    b->any = true;
    b->size = type_make_add(b, b->size, mul(b, times, t->size));
    if (t->align > b->align)
        b->align = t->align;
}

static int64_t round_up(struct bounds *b, int64_t x, int64_t to)
{
    int64_t over = x % to;
    return over ? type_make_add(b, x, to - over) : x;
}

static int too_large(void)
{
    return ku_err_set(MPI_ERR_TYPE, NULL,
                      "the new datatype's size, bounds or extent would not fit in 63 bits");
}

static int type_make_no_memory(int64_t pieces)
{
    return ku_err_set(MPI_ERR_NO_MEM, NULL, "no memory for the layout of a datatype of %lld parts",
                      (long long)pieces);
}

/* Everything but the layout. */
static int set_bounds(struct MPIR_DATATYPE *t, struct bounds *b)
{
    struct keel_object obj = t->obj;
    int64_t align = b->align ? b->align : 1;
    *t = (struct MPIR_DATATYPE){
        .obj = obj, .size = b->size, .align = (uint8_t)align, .has_lb = b->any_lb, .has_ub = b->any_ub
    };
    t->basic = b->mixed ? 0 : b->basic;
    t->true_lb = b->true_lb;
    t->true_extent = sub(b, b->true_ub, b->true_lb);
    if (!b->any) /* of one marker alone, lb and ub are where it is */
        b->true_lb = b->true_ub = b->any_lb ? b->lb : b->ub;
    int64_t end = b->any && b->parts_ub > b->true_ub ? b->parts_ub : b->true_ub;
    t->lb = b->any_lb ? b->lb : b->true_lb;
    t->extent = sub(b, b->any_ub ? b->ub : end, t->lb);
    if (!b->any_ub)
        t->extent = round_up(b, t->extent, align);
    type_make_add(b, t->lb, t->extent); /* ub */
    t->is_contig = b->size == 0;
    return b->overflow ? too_large() : 0;
}

/* The last step: give the type its layout (a reference taken over; NULL: there was no memory). */
static int set_layout(struct MPIR_DATATYPE *t, struct MPID_LAYOUT *l, int64_t pieces)
{
    if (l == NULL) {
        MPID_Type_fini(t);
        return type_make_no_memory(pieces);
    }
    if (MPID_Layout_nesting(l) > MPID_LAYOUT_NESTING) {
        MPID_Layout_unref(l);
        MPID_Type_fini(t);
        return ku_err_set(MPI_ERR_TYPE, NULL, "datatypes are nested more than %d deep", MPID_LAYOUT_NESTING);
    }
    t->is_contig = MPID_Layout_is_run(l) && l->off == 0 && t->extent == t->size;
    if (t->is_contig)
        MPID_Layout_unref(l);
    else
        t->layout = l;
    return 0;
}

/* A type of several basic types, all of them those of `old`, gets its signature. */
static int repeat_sign(struct MPIR_DATATYPE *t, const struct MPIR_DATATYPE *old)
{
    struct MPID_SIGNS s = { 0 };
    if (t->basic)
        return 0;
    if (t->size == old->size) {
        t->sign = MPID_Sign_ref(old->sign);
        return 0;
    }
    MPID_Signs_add(&s, old, t->size / old->size);
    t->sign = MPID_Signs_made(&s);
    return s.no_memory ? type_make_no_memory(1) : 0;
}

/* ---- parts ---- */

/* `n` consecutive elements of `t` at `off`.  *made is a new layout to be dropped when the piece has been
 * used, or NULL; false: no memory. */
static bool consecutive(const struct MPIR_DATATYPE *t, int64_t n, int64_t off, struct MPID_PIECE *piece,
                        struct MPID_LAYOUT **made)
{
    *made = NULL;
    *piece = (struct MPID_PIECE){ off, n * t->size, t->layout };
    if (t->is_contig || n == 1)
        return true;
    *made = MPID_Layout_loop(n, t->extent, (struct MPID_PIECE){ 0, t->size, t->layout });
    piece->sub = *made;
    return *made != NULL;
}

/* Pieces being collected, with the layout of the last repetition: equal neighbours share one. */
struct collector {
    struct MPID_PIECES pieces;
    const struct MPIR_DATATYPE *type;
    int64_t times;
    struct MPID_LAYOUT **made; /* all that were made, to be dropped at the end */
    int64_t nmade, cap;
};

static void type_make_keep(struct collector *c, struct MPID_LAYOUT *l)
{
    if (c->nmade == c->cap) {
        int64_t cap = c->cap ? 2 * c->cap : 8;
        struct MPID_LAYOUT **v = realloc(c->made, (size_t)cap * sizeof *v);
        if (v == NULL) {
            MPID_Layout_unref(l);
            c->pieces.no_memory = true;
            return;
        }
        c->made = v;
        c->cap = cap;
    }
    c->made[c->nmade++] = l;
}

static void type_make_collect(struct collector *c, const struct MPIR_DATATYPE *t, int64_t times, int64_t off)
{
    struct MPID_PIECE piece;
    struct MPID_LAYOUT *made;
    if (times == 0 || t->size == 0 || c->pieces.no_memory)
        return;
    if (c->type == t && c->times == times && !t->is_contig && times > 1) {
        MPID_Pieces_add(&c->pieces, (struct MPID_PIECE){ off, times * t->size, c->made[c->nmade - 1] });
        return;
    }
    if (!consecutive(t, times, off, &piece, &made))
        c->pieces.no_memory = true;
    if (made) {
        type_make_keep(c, made);
        c->type = t;
        c->times = times;
    }
    MPID_Pieces_add(&c->pieces, piece);
}

/* The collected pieces become the layout of `t`. */
static int set_collected(struct MPIR_DATATYPE *t, struct collector *c, int64_t pieces)
{
    int err = set_layout(t, c->pieces.no_memory ? NULL : MPID_Layout_list(&c->pieces), pieces);
    for (int64_t i = 0; i < c->nmade; i++)
        MPID_Layout_unref(c->made[i]);
    free(c->made);
    MPID_Pieces_fini(&c->pieces);
    return err;
}

/* ---- constructors ---- */

int MPID_Type_basic(struct MPIR_DATATYPE *t, int64_t size, int align, uint32_t basic)
{
    struct keel_object obj = t->obj;
    *t = (struct MPIR_DATATYPE){
        .obj = obj, .size = size, .extent = size, .true_extent = size, .is_contig = true
    };
    t->is_committed = true;
    t->align = (uint8_t)align;
    t->basic = basic;
    return 0;
}

int MPID_Type_dup(struct MPIR_DATATYPE *t, const struct MPIR_DATATYPE *old)
{
    struct keel_object obj = t->obj;
    *t = *old;
    t->obj = obj;
    if (t->layout)
        MPID_Layout_ref(t->layout);
    MPID_Sign_ref(t->sign);
    return 0;
}

int MPID_Type_hvector(struct MPIR_DATATYPE *t, int64_t count, int64_t blocklength, int64_t stride,
                      const struct MPIR_DATATYPE *old)
{
    struct bounds b = { 0 };
    if (count > 0 && blocklength > 0)
        include(&b, old, mul(&b, count, blocklength),
                repeated(&b, repeated(&b, (struct span){ 0 }, blocklength, old->extent), count, stride));
    int err = set_bounds(t, &b);
    if (err || t->size == 0 || (err = repeat_sign(t, old)))
        return err;
    struct MPID_PIECE block;
    struct MPID_LAYOUT *made, *l = NULL;
    if (consecutive(old, blocklength, 0, &block, &made))
        l = MPID_Layout_loop(count, stride, block);
    MPID_Layout_unref(made);
    return set_layout(t, l, 1);
}

/* The blocks of an indexed type. */
struct blocks {
    int64_t count;
    MPIR_Counts lengths; /* p NULL: all are `length` */
    int64_t length;
    MPIR_Counts displacements;
    int64_t unit; /* bytes of a displacement */
};

static inline int64_t length_of(const struct blocks *k, int64_t i)
{
    return k->lengths.p ? MPIR_counts_get(k->lengths, i) : k->length;
}

/* Where the old type is displaced to, if all lengths are equal: between the least and the greatest displacement. */
static struct span span_of_equal(struct bounds *b, const struct blocks *k, int64_t extent)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (int64_t i = 0; i < k->count; i++) {
        int64_t at = MPIR_counts_get(k->displacements, i);
        least = at < least ? at : least;
        most = at > most ? at : most;
    }
    int64_t a = mul(b, least, k->unit), z = mul(b, most, k->unit);
    return repeated(b, (struct span){ a < z ? a : z, a < z ? z : a }, k->length, extent);
}

/* The same for any lengths; *times: how often. */
static struct span span_of(struct bounds *b, const struct blocks *k, int64_t extent, int64_t *times)
{
    struct span all = { INT64_MAX, INT64_MIN };
    *times = 0;
    for (int64_t i = 0; i < k->count; i++) {
        int64_t n = MPIR_counts_get(k->lengths, i);
        if (n <= 0)
            continue;
        int64_t at = mul(b, MPIR_counts_get(k->displacements, i), k->unit);
        struct span s = repeated(b, (struct span){ at, at }, n, extent);
        all.min = s.min < all.min ? s.min : all.min;
        all.max = s.max > all.max ? s.max : all.max;
        *times = type_make_add(b, *times, n);
    }
    return all;
}

/* The bounds of all blocks at once: only the ends matter. */
static void include_blocks(struct bounds *b, const struct blocks *k, const struct MPIR_DATATYPE *old)
{
    int64_t times = 0;
    struct span s = { 0 };
    if (k->lengths.p) {
        s = span_of(b, k, old->extent, &times);
    } else if (k->count > 0 && k->length > 0) {
        s = span_of_equal(b, k, old->extent);
        times = mul(b, k->count, k->length);
    }
    if (times)
        include(b, old, times, s);
}

/* Blocks of one length of which few touch, at unequal distances, are their list without being collected first.
 * NULL: they are not such, or there is no memory; the general way finds out. */
static struct MPID_LAYOUT *mostly_separate_blocks(int64_t count, int64_t bytes, MPIR_Counts displacements,
                                                  int64_t unit)
{
    bool equal = true;
    int64_t runs = 1,
            first = count > 1 ? (MPIR_counts_get(displacements, 1) - MPIR_counts_get(displacements, 0)) : 0;
    for (int64_t i = 1; i < count; i++) {
        int64_t step = MPIR_counts_get(displacements, i) - MPIR_counts_get(displacements, i - 1);
        runs += step * unit != bytes;
        equal &= step == first;
    }
    struct MPID_LAYOUT *l = equal || unit == 0 ? NULL : MPID_Layout_blocks(count, bytes, runs);
    for (int64_t i = 0; l && i < count; i++)
        l->list->off[i] = MPIR_counts_get(displacements, i) * unit;
    return l;
}

/* The runs of contiguous blocks of different lengths, touching ones being one. */
struct runs {
    int64_t n, bytes, longest, last; /* how many, bytes in all, of the longest and of the last */
    bool equal;
    struct MPID_SPLIT split;
};

static void end_run(struct runs *r)
{
    r->equal &= r->longest == 0 || r->longest == r->last;
    r->longest = r->last > r->longest ? r->last : r->longest;
    MPID_Split_add(&r->split, r->last);
}

static struct runs runs_of(int64_t count, MPIR_Counts blocklengths, MPIR_Counts displacements, int64_t unit,
                           int64_t size)
{
    struct runs r = { .equal = true };
    int64_t end = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t bytes = MPIR_counts_get(blocklengths, i) * size;
        if (bytes <= 0)
            continue;
        int64_t at = MPIR_counts_get(displacements, i) * unit;
        if (r.n == 0 || at != end) {
            if (r.n++)
                end_run(&r);
            r.last = 0;
        }
        r.last += bytes;
        r.bytes += bytes;
        end = at + bytes;
    }
    end_run(&r);
    return r;
}

/* Are they best as a list of runs? */
static bool is_list(const struct runs *r)
{
    return r->n > 1 && !r->equal && MPID_Split_length(&r->split) == 0;
}

/* Their list, without being collected first; NULL: no memory. */
static struct MPID_LAYOUT *list_of_runs(const struct runs *r, int64_t count, MPIR_Counts blocklengths,
                                        MPIR_Counts displacements, int64_t unit, int64_t size)
{
    struct MPID_LAYOUT *l = MPID_Layout_of_runs(r->n, r->bytes, r->longest);
    int64_t n = 0, sum = 0, end = 0;
    for (int64_t i = 0; l && i < count; i++) {
        int64_t bytes = MPIR_counts_get(blocklengths, i) * size;
        if (bytes <= 0)
            continue;
        int64_t at = MPIR_counts_get(displacements, i) * unit;
        if (n == 0 || at != end) {
            l->list->off[n] = at;
            l->list->start[n++] = sum;
        }
        sum += bytes;
        end = at + bytes;
    }
    if (l)
        l->list->start[n] = sum;
    return l;
}

/* Blocks of equal length that are neither runs nor few nor at equal distances are their list, too.  NULL as above. */
static struct MPID_LAYOUT *same_at_places(const struct blocks *k, const struct MPIR_DATATYPE *old)
{
    bool regular = true;
    int64_t n = length_of(k, 0), last = 0, step = 0;
    for (int64_t i = 0; i < k->count; i++) {
        if (n <= 0 || length_of(k, i) != n)
            return NULL;
        int64_t at = MPIR_counts_get(k->displacements, i) * k->unit;
        regular &= i < 2 || at - last == step;
        step = at - last;
        last = at;
    }
    struct MPID_PIECE piece;
    struct MPID_LAYOUT *made = NULL, *l = NULL;
    if (!regular && consecutive(old, n, 0, &piece, &made))
        l = MPID_Layout_same(k->count, piece.sub);
    for (int64_t i = 0; l && i < k->count; i++)
        l->list->off[i] = MPIR_counts_get(k->displacements, i) * k->unit;
    MPID_Layout_unref(made);
    return l;
}

/* Are they a list without being collected first?  *l is it then, or NULL: no memory. */
static bool is_list_of_blocks(const struct blocks *k, const struct MPIR_DATATYPE *old, struct MPID_LAYOUT **l)
{
    if (old->is_contig && k->lengths.p) {
        struct runs r = runs_of(k->count, k->lengths, k->displacements, k->unit, old->size);
        if (!is_list(&r))
            return false;
        *l = list_of_runs(&r, k->count, k->lengths, k->displacements, k->unit, old->size);
        return true;
    }
    *l = old->is_contig ? mostly_separate_blocks(k->count, k->length * old->size, k->displacements, k->unit)
                        : same_at_places(k, old);
    return *l != NULL;
}

int MPID_Type_hindexed(struct MPIR_DATATYPE *t, int64_t count, MPIR_Counts blocklengths, int64_t blocklength,
                       MPIR_Counts displacements, int64_t unit, const struct MPIR_DATATYPE *old)
{
    struct bounds b = { 0 };
    struct blocks k = { count, blocklengths, blocklength, displacements, unit };
    include_blocks(&b, &k, old);
    int err = set_bounds(t, &b);
    if (err || t->size == 0 || (err = repeat_sign(t, old)))
        return err;
    struct MPID_LAYOUT *l;
    if (is_list_of_blocks(&k, old, &l))
        return set_layout(t, l, count);
    struct collector c = { 0 };
    for (int64_t i = 0; i < count; i++) {
        int64_t n = length_of(&k, i);
        if (n <= 0)
            continue;
        int64_t at = MPIR_counts_get(displacements, i) * unit;
        if (old->is_contig)
            MPID_Pieces_add(&c.pieces, (struct MPID_PIECE){ at, n * old->size, NULL });
        else
            type_make_collect(&c, old, n, at);
    }
    return set_collected(t, &c, count);
}

int MPID_Type_struct(struct MPIR_DATATYPE *t, int64_t count, MPIR_Counts blocklengths,
                     MPIR_Counts displacements, struct MPIR_DATATYPE *const *types)
{
    struct bounds b = { 0 };
    for (int64_t i = 0; i < count; i++) {
        int64_t n = MPIR_counts_get(blocklengths, i), at = MPIR_counts_get(displacements, i);
        if (n > 0)
            include(&b, types[i], n, repeated(&b, (struct span){ at, at }, n, types[i]->extent));
    }
    int err = set_bounds(t, &b);
    if (err || t->size == 0)
        return err;
    struct MPID_SIGNS s = { 0 };
    for (int64_t i = 0; i < count && !t->basic; i++)
        MPID_Signs_add(&s, types[i], MPIR_counts_get(blocklengths, i));
    t->sign = t->basic ? NULL : MPID_Signs_made(&s);
    if (s.no_memory)
        return type_make_no_memory(count);
    struct collector c = { 0 };
    for (int64_t i = 0; i < count; i++)
        type_make_collect(&c, types[i], MPIR_counts_get(blocklengths, i), MPIR_counts_get(displacements, i));
    return set_collected(t, &c, count);
}

int MPID_Type_resized(struct MPIR_DATATYPE *t, int64_t lb, int64_t extent, const struct MPIR_DATATYPE *old)
{
    int64_t ub;
    if (__builtin_add_overflow(lb, extent, &ub))
        return too_large();
    struct keel_object obj = t->obj;
    *t = *old;
    t->obj = obj;
    t->lb = lb;
    t->extent = extent;
    t->has_lb = t->has_ub = true;
    t->is_committed = t->as_bytes = false;
    t->layout = NULL;
    MPID_Sign_ref(t->sign);
    if (t->size == 0)
        return 0;
    return set_layout(t, old->layout ? MPID_Layout_ref(old->layout) : MPID_Layout_run(0, old->size), 1);
}

int MPID_Type_commit(struct MPIR_DATATYPE *t)
{
    t->is_committed = true; /* layouts are canonical from the start */
    return 0;
}

void MPID_Type_fini(struct MPIR_DATATYPE *t)
{
    MPID_Layout_unref(t->layout);
    MPID_Sign_unref(t->sign);
    t->layout = NULL;
    t->sign = NULL;
}
