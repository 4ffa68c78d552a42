/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.c: making layouts (see layout.h for the invariants).  Nothing here touches user data. */
#include <stdlib.h>
#include <string.h>
#include "mpid/datatype/layout.h"

/* Layouts of up to FLAT_RUNS runs become entries of the list they are in, as long as that has at most FLAT_FREE
 * entries, or FLAT_TIMES as many as without. */
enum { FLAT_RUNS = 16, FLAT_FREE = 64, FLAT_TIMES = 4, SPLIT_MAX = 64 };

struct MPID_LAYOUT *MPID_Layout_ref(const struct MPID_LAYOUT *l)
{
    struct MPID_LAYOUT *m = (struct MPID_LAYOUT *)l;
    atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    return m;
}

static int64_t nsubs(const struct MPID_LIST *list)
{
    return list->kind == MPID_LIST_FIELDS ? list->n : list->kind == MPID_LIST_SAME;
}

void MPID_List_unref(struct MPID_LIST *list)
{
    if (list == NULL || atomic_fetch_sub_explicit(&list->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (int64_t i = 0, n = nsubs(list); list->sub && i < n; i++)
        MPID_Layout_unref(list->sub[i]);
    free(list->off);
    free(list->start);
    free(list->sub);
    free(list);
}

void MPID_Layout_unref(const struct MPID_LAYOUT *l)
{
    struct MPID_LAYOUT *m = (struct MPID_LAYOUT *)l;
    if (m == NULL || atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) != 1)
        return;
    MPID_List_unref(m->list);
    MPID_Programs_free(atomic_load_explicit(&m->programs, memory_order_relaxed));
    free(m);
}

struct MPID_LAYOUT *MPID_Layout_run(int64_t off, int64_t bytes)
{
    struct MPID_LAYOUT *l = calloc(1, sizeof *l);
    if (l == NULL)
        return NULL;
    l->refs = 1;
    l->size = l->leaf = bytes;
    l->off = off;
    l->runs = 1;
    return l;
}

static int16_t many(int64_t runs)
{
    return (int16_t)(runs < MPID_LAYOUT_RUNS ? runs : MPID_LAYOUT_RUNS);
}

struct MPID_LAYOUT *MPID_Layout_of_list(struct MPID_LIST *list)
{
    struct MPID_LAYOUT *l = MPID_Layout_run(0, list->bytes);
    if (l == NULL) {
        MPID_List_unref(list);
        return NULL;
    }
    l->list = list;
    l->runs = many(list->n);
    for (int64_t i = 0; list->sub && i < list->n && l->runs < MPID_LAYOUT_RUNS; i++) {
        const struct MPID_LAYOUT *sub = MPID_List_entry_sub(list, i);
        l->runs = many(l->runs + (sub ? sub->runs - 1 : 0));
    }
    return l;
}

static struct MPID_LAYOUT *copy_moved(const struct MPID_LAYOUT *from, int64_t off)
{
    struct MPID_LAYOUT *l = malloc(sizeof *l);
    if (l == NULL)
        return NULL;
    *l = (struct MPID_LAYOUT){ .refs = 1,
                               .depth = from->depth,
                               .runs = from->runs,
                               .size = from->size,
                               .off = from->off,
                               .leaf = from->leaf,
                               .list = from->list };
    memcpy(l->loop, from->loop, sizeof l->loop);
    l->off += off;
    if (l->list)
        atomic_fetch_add_explicit(&l->list->refs, 1, memory_order_relaxed);
    return l;
}

struct MPID_LIST *MPID_List_new(enum MPID_LIST_KIND kind, int64_t n)
{
    struct MPID_LIST *list = calloc(1, sizeof *list);
    if (list == NULL)
        return NULL;
    list->refs = 1;
    list->kind = kind;
    list->n = n;
    list->off = malloc((size_t)n * sizeof *list->off);
    bool starts = kind == MPID_LIST_RUNS || kind == MPID_LIST_FIELDS;
    if (starts)
        list->start = malloc(((size_t)n + 1) * sizeof *list->start);
    if (nsubs(list))
        list->sub = calloc((size_t)nsubs(list), sizeof *list->sub);
    if (list->off && (list->start || !starts) && (list->sub || nsubs(list) == 0))
        return list;
    MPID_List_unref(list);
    return NULL;
}

int64_t MPID_List_entry_at(const struct MPID_LIST *list, int64_t at)
{
    if (list->start == NULL)
        return at / list->block;
    int64_t lo = 0, hi = list->n; /* start[lo] <= at < start[hi] */
    while (hi - lo > 1) {
        int64_t mid = lo + (hi - lo) / 2;
        if (list->start[mid] <= at)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* ---- loops ---- */

/* Is stride == n * step, computed without overflow? */
static bool reaches(int64_t stride, int64_t n, int64_t step)
{
    int64_t product;
    return !__builtin_mul_overflow(n, step, &product) && product == stride;
}

void MPID_Layout_push_loop(struct MPID_LAYOUT *l, int64_t count, int64_t stride)
{
    memmove(l->loop + 1, l->loop, (size_t)l->depth * sizeof *l->loop);
    l->loop[0] = (struct MPID_LOOP){ count, stride, l->size };
    l->depth++;
    l->size *= count;
    l->runs = many(count < MPID_LAYOUT_RUNS ? count * l->runs : MPID_LAYOUT_RUNS);
}

void MPID_List_set_sub(struct MPID_LIST *list, int64_t i, const struct MPID_LAYOUT *sub)
{
    list->sub[i] = MPID_Layout_ref(sub);
    if (list->nesting <= MPID_Layout_nesting(sub))
        list->nesting = MPID_Layout_nesting(sub) + 1;
}

void MPID_List_set(struct MPID_LIST *list, int64_t i, struct MPID_PIECE piece)
{
    list->off[i] = piece.off;
    list->start[i] = list->bytes;
    list->bytes += piece.bytes;
    list->start[i + 1] = list->bytes;
    if (piece.bytes > list->block)
        list->block = piece.bytes;
    if (piece.sub)
        MPID_List_set_sub(list, i, piece.sub);
}

/* n times the same, at places to be filled in. */
static struct MPID_LIST *list_same(int64_t n, const struct MPID_LAYOUT *sub)
{
    struct MPID_LIST *list = MPID_List_new(MPID_LIST_SAME, n);
    if (list == NULL)
        return NULL;
    list->block = sub->size;
    list->bytes = n * sub->size;
    MPID_List_set_sub(list, 0, sub);
    return list;
}

/* All loops are in use: the layout becomes the one entry of a new one. */
static struct MPID_LAYOUT *wrapped(const struct MPID_LAYOUT *sub)
{
    struct MPID_LIST *list = list_same(1, sub);
    if (list == NULL)
        return NULL;
    list->off[0] = 0;
    return MPID_Layout_of_list(list);
}

struct MPID_LAYOUT *MPID_Layout_loop(int64_t count, int64_t stride, struct MPID_PIECE piece)
{
    struct MPID_LAYOUT *l =
        piece.sub ? copy_moved(piece.sub, piece.off) : MPID_Layout_run(piece.off, piece.bytes);
    if (l == NULL || count == 1)
        return l;
    if (MPID_Layout_is_run(l) && stride == l->leaf) {
        l->size = l->leaf = count * l->leaf;
    } else if (l->depth > 0 && reaches(stride, l->loop[0].count, l->loop[0].stride)) {
        l->loop[0].count *= count;
        l->size *= count;
        l->runs = many(count < MPID_LAYOUT_RUNS ? count * l->runs : MPID_LAYOUT_RUNS);
    } else {
        if (l->depth == MPID_LAYOUT_LOOPS) {
            struct MPID_LAYOUT *deep = l;
            l = wrapped(deep);
            MPID_Layout_unref(deep);
            if (l == NULL)
                return NULL;
        }
        MPID_Layout_push_loop(l, count, stride);
    }
    return l;
}

/* ---- lists ---- */

static void layout_append(struct MPID_PIECES *p, struct MPID_PIECE piece)
{
    struct MPID_PIECE *last = p->n ? &p->v[p->n - 1] : NULL;
    if (last && !last->sub && !piece.sub && last->off + last->bytes == piece.off) {
        last->bytes += piece.bytes;
        return;
    }
    if (p->n == p->cap) {
        int64_t cap = p->cap ? 2 * p->cap : 16;
        struct MPID_PIECE *v = realloc(p->v, (size_t)cap * sizeof *v);
        if (v == NULL) {
            p->no_memory = true;
            return;
        }
        p->v = v;
        p->cap = cap;
    }
    p->v[p->n++] = piece;
}

void MPID_Pieces_add(struct MPID_PIECES *p, struct MPID_PIECE piece)
{
    const struct MPID_LAYOUT *sub = piece.sub;
    if (piece.bytes == 0 || p->no_memory)
        return;
    if (sub && MPID_Layout_is_run(sub))
        piece = (struct MPID_PIECE){ piece.off + sub->off, sub->leaf, NULL };
    layout_append(p, piece);
}

void MPID_Pieces_fini(struct MPID_PIECES *p)
{
    free(p->v);
    *p = (struct MPID_PIECES){ 0 };
}

/* ---- flattening ---- */

static void add_flat(struct MPID_PIECES *p, int64_t off, const struct MPID_LAYOUT *l, int inner);

static void add_entries(struct MPID_PIECES *p, int64_t off, const struct MPID_LIST *list)
{
    for (int64_t i = 0; i < list->n; i++) {
        const struct MPID_LAYOUT *sub = MPID_List_entry_sub(list, i);
        int64_t bytes = MPID_List_entry_bytes(list, i);
        if (sub)
            add_flat(p, off + list->off[i] + sub->off, sub, sub->depth);
        else
            layout_append(p, (struct MPID_PIECE){ off + list->off[i], bytes, NULL });
    }
}

/* The runs of l inside its `inner` innermost loops. */
static void add_flat(struct MPID_PIECES *p, int64_t off, const struct MPID_LAYOUT *l, int inner)
{
    if (inner > 0) {
        const struct MPID_LOOP *loop = &l->loop[l->depth - inner];
        for (int64_t i = 0; i < loop->count; i++)
            add_flat(p, off + i * loop->stride, l, inner - 1);
    } else if (l->list)
        add_entries(p, off, l->list);
    else
        layout_append(p, (struct MPID_PIECE){ off, l->leaf, NULL });
}

/* The pieces with those of few runs flattened; false: none are. */
static bool flatten(struct MPID_PIECES *flat, const struct MPID_PIECES *p, int64_t limit)
{
    bool any = false;
    for (int64_t i = 0; i < p->n && !flat->no_memory; i++) {
        const struct MPID_PIECE *piece = &p->v[i];
        if (piece->sub && piece->sub->runs <= FLAT_RUNS &&
            flat->n + piece->sub->runs + p->n - i - 1 <= limit) {
            add_flat(flat, piece->off + piece->sub->off, piece->sub, piece->sub->depth);
            any = true;
        } else {
            layout_append(flat, *piece);
        }
    }
    return any;
}

/* ---- which kind ---- */

/* Same bytes, same sub-layout, equal distances: the pieces are one loop. */
static bool is_regular(const struct MPID_PIECES *p)
{
    int64_t stride = p->n > 1 ? p->v[1].off - p->v[0].off : 0;
    for (int64_t i = 1; i < p->n; i++) {
        const struct MPID_PIECE *a = &p->v[i - 1], *b = &p->v[i];
        if (a->sub != b->sub || a->bytes != b->bytes || b->off - a->off != stride)
            return false;
    }
    return true;
}

static enum MPID_LIST_KIND layout_kind_of(const struct MPID_PIECES *p)
{
    bool same_sub = true, same_bytes = true, subs = false;
    for (int64_t i = 0; i < p->n; i++) {
        subs |= p->v[i].sub != NULL;
        same_sub &= p->v[i].sub == p->v[0].sub;
        same_bytes &= p->v[i].bytes == p->v[0].bytes;
    }
    if (subs)
        return same_sub ? MPID_LIST_SAME : MPID_LIST_FIELDS;
    return same_bytes ? MPID_LIST_BLOCKS : MPID_LIST_RUNS;
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

void MPID_Split_run(struct MPID_SPLIT *s, int64_t bytes)
{
    s->length = s->length && bytes % s->length == 0 ? s->length : gcd(bytes, s->length);
    s->bytes += bytes;
    s->n++;
    s->never = s->length == 1 || s->bytes / s->length > 2 * s->n + FLAT_FREE;
}

/* Not if they would take more memory, or are large. */
int64_t MPID_Split_length(const struct MPID_SPLIT *s)
{
    bool better = !s->never && s->n > FLAT_FREE && s->length <= SPLIT_MAX && s->bytes / s->length <= 2 * s->n;
    return better ? s->length : 0;
}

static int64_t split_length(const struct MPID_PIECES *p)
{
    struct MPID_SPLIT s = { 0 };
    for (int64_t i = 0; i < p->n && !s.never; i++)
        MPID_Split_add(&s, p->v[i].bytes);
    return MPID_Split_length(&s);
}

static struct MPID_LAYOUT *layout_of_blocks(int64_t n, int64_t bytes)
{
    struct MPID_LIST *list = MPID_List_new(MPID_LIST_BLOCKS, n);
    if (list == NULL)
        return NULL;
    list->block = bytes;
    list->bytes = n * bytes;
    return MPID_Layout_of_list(list);
}

struct MPID_LAYOUT *MPID_Layout_blocks(int64_t n, int64_t bytes, int64_t runs)
{
    if (runs < n && (runs <= FLAT_FREE || bytes > SPLIT_MAX || n >= 2 * runs))
        return NULL;
    return layout_of_blocks(n, bytes);
}

struct MPID_LAYOUT *MPID_Layout_of_runs(int64_t n, int64_t bytes, int64_t longest)
{
    struct MPID_LIST *list = MPID_List_new(MPID_LIST_RUNS, n);
    if (list == NULL)
        return NULL;
    list->block = longest;
    list->bytes = bytes;
    return MPID_Layout_of_list(list);
}

struct MPID_LAYOUT *MPID_Layout_same(int64_t n, const struct MPID_LAYOUT *sub)
{
    struct MPID_LIST *list = n > FLAT_FREE && !MPID_Layout_is_run(sub) ? list_same(n, sub) : NULL;
    return list ? MPID_Layout_of_list(list) : NULL;
}

static struct MPID_LAYOUT *blocks_of(const struct MPID_PIECES *p, int64_t length)
{
    int64_t bytes = 0, k = 0;
    for (int64_t i = 0; i < p->n; i++)
        bytes += p->v[i].bytes;
    struct MPID_LAYOUT *l = layout_of_blocks(bytes / length, length);
    for (int64_t i = 0; l && i < p->n; i++)
        for (int64_t at = 0; at < p->v[i].bytes; at += length)
            l->list->off[k++] = p->v[i].off + at;
    return l;
}

static struct MPID_LAYOUT *entries_of(const struct MPID_PIECES *p, enum MPID_LIST_KIND kind)
{
    struct MPID_LIST *list =
        kind == MPID_LIST_SAME ? list_same(p->n, p->v[0].sub) : MPID_List_new(kind, p->n);
    if (list == NULL)
        return NULL;
    for (int64_t i = 0; i < p->n; i++)
        if (kind == MPID_LIST_SAME)
            list->off[i] = p->v[i].off;
        else
            MPID_List_set(list, i, p->v[i]);
    return MPID_Layout_of_list(list);
}

static struct MPID_LAYOUT *layout_list_of(const struct MPID_PIECES *p, bool may_flatten);

static struct MPID_LAYOUT *flattened(const struct MPID_PIECES *p, int64_t limit)
{
    struct MPID_PIECES flat = { 0 };
    bool any = flatten(&flat, p, limit);
    struct MPID_LAYOUT *l = flat.no_memory ? NULL : layout_list_of(any ? &flat : p, false);
    MPID_Pieces_fini(&flat);
    return l;
}

static struct MPID_LAYOUT *layout_list_of(const struct MPID_PIECES *p, bool may_flatten)
{
    if (is_regular(p))
        return MPID_Layout_loop(p->n, p->n > 1 ? p->v[1].off - p->v[0].off : 0, p->v[0]);
    enum MPID_LIST_KIND kind = layout_kind_of(p);
    if (may_flatten && kind == MPID_LIST_FIELDS)
        return flattened(p, FLAT_TIMES * p->n > FLAT_FREE ? FLAT_TIMES * p->n : FLAT_FREE);
    if (may_flatten && kind == MPID_LIST_SAME && p->n <= FLAT_FREE && p->n * p->v[0].sub->runs <= FLAT_FREE)
        return flattened(p, FLAT_FREE); /* all; more are best as they are */
    int64_t length = kind == MPID_LIST_BLOCKS ? p->v[0].bytes : kind == MPID_LIST_RUNS ? split_length(p) : 0;
    return length ? blocks_of(p, length) : entries_of(p, kind);
}

struct MPID_LAYOUT *MPID_Layout_list(const struct MPID_PIECES *p)
{
    return layout_list_of(p, true);
}
