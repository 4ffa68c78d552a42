/* layout.c: making layouts (see layout.h for the invariants).  Nothing here touches user data. */
#include <stdlib.h>
#include <string.h>
#include "mpid/core/layout.h"

/* A list with few entries is spliced into its parent; this bounds how much a type tree can grow by it. */
enum { SPLICE_MAX = 8 };

struct MPID_LAYOUT *MPID_Layout_ref(const struct MPID_LAYOUT *l)
{
    struct MPID_LAYOUT *m = (struct MPID_LAYOUT *)l;
    atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    return m;
}

static void list_unref(struct MPID_LIST *list)
{
    if (list == NULL || atomic_fetch_sub_explicit(&list->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (int64_t i = 0; list->sub && i < list->n; i++)
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
    list_unref(m->list);
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
    return l;
}

/* A new layout over `list`, whose reference it takes over (also on failure). */
static struct MPID_LAYOUT *layout_of_list(struct MPID_LIST *list)
{
    struct MPID_LAYOUT *l = MPID_Layout_run(0, list->bytes);
    if (l == NULL)
        list_unref(list);
    else
        l->list = list;
    return l;
}

static struct MPID_LAYOUT *copy_moved(const struct MPID_LAYOUT *from, int64_t off)
{
    struct MPID_LAYOUT *l = malloc(sizeof *l);
    if (l == NULL)
        return NULL;
    *l = *from;
    l->refs = 1;
    l->off += off;
    if (l->list)
        atomic_fetch_add_explicit(&l->list->refs, 1, memory_order_relaxed);
    return l;
}

static struct MPID_LIST *list_new(enum MPID_LIST_KIND kind, int64_t n)
{
    struct MPID_LIST *list = calloc(1, sizeof *list);
    if (list == NULL)
        return NULL;
    list->refs = 1;
    list->kind = kind;
    list->n = n;
    list->off = malloc((size_t)n * sizeof *list->off);
    if (kind != MPID_LIST_BLOCKS)
        list->start = malloc(((size_t)n + 1) * sizeof *list->start);
    if (kind == MPID_LIST_FIELDS)
        list->sub = calloc((size_t)n, sizeof *list->sub);
    if (list->off && (list->start || kind == MPID_LIST_BLOCKS) && (list->sub || kind != MPID_LIST_FIELDS))
        return list;
    list_unref(list);
    return NULL;
}

/* ---- loops ---- */

/* Is stride == n * step, computed without overflow? */
static bool reaches(int64_t stride, int64_t n, int64_t step)
{
    int64_t product;
    return !__builtin_mul_overflow(n, step, &product) && product == stride;
}

static void push_loop(struct MPID_LAYOUT *l, int64_t count, int64_t stride)
{
    memmove(l->loop + 1, l->loop, (size_t)l->depth * sizeof *l->loop);
    l->loop[0] = (struct MPID_LOOP){ count, stride, l->size };
    l->depth++;
    l->size *= count;
}

/* Fill in entry i of a list that is being made; entries come in order. */
static void list_set(struct MPID_LIST *list, int64_t i, struct MPID_PIECE piece)
{
    const struct MPID_LAYOUT *sub = piece.sub;
    list->off[i] = piece.off;
    if (list->start)
        list->start[i] = list->bytes;
    list->bytes += piece.bytes;
    if (list->start)
        list->start[i + 1] = list->bytes;
    if (sub == NULL)
        return;
    list->sub[i] = MPID_Layout_ref(sub);
    if (list->nesting <= MPID_Layout_nesting(sub))
        list->nesting = MPID_Layout_nesting(sub) + 1;
}

/* All loops are in use: the layout becomes the one field of a new one. */
static struct MPID_LAYOUT *wrapped(const struct MPID_LAYOUT *sub)
{
    struct MPID_LIST *list = list_new(MPID_LIST_FIELDS, 1);
    if (list == NULL)
        return NULL;
    list_set(list, 0, (struct MPID_PIECE){ 0, sub->size, sub });
    return layout_of_list(list);
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
    } else {
        if (l->depth == MPID_LAYOUT_LOOPS) {
            struct MPID_LAYOUT *deep = l;
            l = wrapped(deep);
            MPID_Layout_unref(deep);
            if (l == NULL)
                return NULL;
        }
        push_loop(l, count, stride);
    }
    return l;
}

/* ---- lists ---- */

static void append(struct MPID_PIECES *p, struct MPID_PIECE piece)
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

/* The entries of a short list lie in the parent directly: structs of structs become one list. */
static void splice(struct MPID_PIECES *p, int64_t off, const struct MPID_LIST *list)
{
    for (int64_t i = 0; i < list->n; i++) {
        int64_t bytes = list->start ? list->start[i + 1] - list->start[i] : list->block;
        append(p, (struct MPID_PIECE){ off + list->off[i], bytes, list->sub ? list->sub[i] : NULL });
    }
}

void MPID_Pieces_add(struct MPID_PIECES *p, struct MPID_PIECE piece)
{
    const struct MPID_LAYOUT *sub = piece.sub;
    if (piece.bytes == 0 || p->no_memory)
        return;
    if (sub && MPID_Layout_is_run(sub))
        append(p, (struct MPID_PIECE){ piece.off + sub->off, sub->leaf, NULL });
    else if (sub && sub->depth == 0 && sub->list->n <= SPLICE_MAX && p->n < 8 * SPLICE_MAX)
        splice(p, piece.off + sub->off, sub->list);
    else
        append(p, piece);
}

void MPID_Pieces_fini(struct MPID_PIECES *p)
{
    free(p->v);
    *p = (struct MPID_PIECES){ 0 };
}

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

static enum MPID_LIST_KIND kind_of(const struct MPID_PIECES *p)
{
    enum MPID_LIST_KIND kind = MPID_LIST_BLOCKS;
    for (int64_t i = 0; i < p->n; i++) {
        if (p->v[i].sub)
            return MPID_LIST_FIELDS;
        if (p->v[i].bytes != p->v[0].bytes)
            kind = MPID_LIST_RUNS;
    }
    return kind;
}

struct MPID_LAYOUT *MPID_Layout_list(const struct MPID_PIECES *p)
{
    if (is_regular(p))
        return MPID_Layout_loop(p->n, p->n > 1 ? p->v[1].off - p->v[0].off : 0, p->v[0]);
    struct MPID_LIST *list = list_new(kind_of(p), p->n);
    if (list == NULL)
        return NULL;
    list->block = p->v[0].bytes;
    for (int64_t i = 0; i < p->n; i++)
        list_set(list, i, p->v[i]);
    return layout_of_list(list);
}
