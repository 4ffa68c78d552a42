/* SPDX-License-Identifier: BSD-3-Clause */
/* type_copy.c: packing and unpacking.
 *
 * A range of the packed form is at most two partial iterations of each loop around full ones: the walkers
 * below (move_*) find them by division, and give the full ones to kernels (full_*) that know whole iterations
 * only.  User memory is addressed with uintptr_t: absolute addresses relative to MPI_BOTTOM are legal.
 *
 * Within a region of full iterations the order of copying is free, so short inner loops and short lists are
 * copied column by column (all first blocks, all second blocks, ...) in pieces that stay in the L1 cache. */
#include <string.h>
#include "mpid/datatype/type_copy.h"
#include "mpid/datatype/layout.h"
#include "mpid/datatype/type_kernel.h"
#include "mpid/datatype/program.h"

enum {
    COLUMN_CACHE = 24 * 1024, /* memory touched by one pass over columns */
    COLUMN_LIST = 16,         /* lists up to this long, inner loops up to half of it, are copied by columns */
    PROGRAM_WORTH = 96,       /* packed bytes of a call for which programs are looked for */
    PROGRAM_BLOCK = 10,       /* longer blocks in a row are as fast one by one */
    COPY_CHUNK = 32 * 1024
};

/* What one call does, the same for all its walkers. */
struct mover {
    bool packing;
    const struct MPID_KERNELS *k;
    int64_t len; /* packed bytes of the call */
};

static void move_view(struct mover *m, const struct MPID_LAYOUT *l, const struct MPID_LOOP *top,
                      uintptr_t base, int64_t skip, char *packed, int64_t len);
static void full_layout(struct mover *m, const struct MPID_LAYOUT *l, uintptr_t user, char *packed);

/* n blocks of `bytes`: in memory `stride` apart, in the packed form `pstride` apart. */
static inline void blocks(struct mover *m, uintptr_t user, int64_t stride, char *packed, int64_t pstride,
                          int64_t n, int64_t bytes)
{
    if (m->packing)
        m->k->strided(packed, pstride, (const char *)user, stride, n, bytes);
    else
        m->k->strided((char *)user, stride, packed, pstride, n, bytes);
}

static inline void one_block(struct mover *m, uintptr_t user, char *packed, int64_t bytes)
{
    if (m->packing)
        memcpy(packed, (const char *)user, (size_t)bytes);
    else
        memcpy((char *)user, packed, (size_t)bytes);
}

/* n times the loops of l from `level` on, at off[i] or `stride` apart, by a program (program.h); false: there is
 * none. */
static inline bool by_program(struct mover *m, const struct MPID_LAYOUT *l, int level, uintptr_t user,
                              const int64_t *off, int64_t stride, char *packed, int64_t n)
{
    if (m->k->pack == NULL || m->len < PROGRAM_WORTH || l->depth - level > 1 || (l->list && l->list->sub))
        return false;
    if (level == l->depth && l->list == NULL && l->leaf > PROGRAM_BLOCK)
        return false;
    const struct MPID_PROGRAM *p = MPID_Program_get(l, level, stride);
    if (p == NULL)
        return false;
    if (m->packing)
        m->k->pack(p, packed, (const char *)user, off, stride, n);
    else
        m->k->unpack(p, (char *)user, packed, off, stride, n);
    return true;
}

/* How many iterations that each touch `a` bytes here and `b` there stay in the cache together. */
static inline int64_t iterations_in_cache(int64_t a, int64_t b)
{
    uint64_t touched = (a < 0 ? -(uint64_t)a : (uint64_t)a) + (uint64_t)b;
    return touched >= COLUMN_CACHE ? 1 : (int64_t)(COLUMN_CACHE / touched);
}

/* ---- full iterations ---- */

/* All entries once; start[0] need not be 0 (a part of a list). */
static void full_entries(struct mover *m, const struct MPID_LIST *list, uintptr_t user, char *packed)
{
    switch (list->kind) {
    case MPID_LIST_BLOCKS:
        if (m->packing)
            m->k->gather(packed, (const char *)user, list->off, list->n, list->block);
        else
            m->k->scatter((char *)user, packed, list->off, list->n, list->block);
        break;
    case MPID_LIST_RUNS:
        if (m->packing)
            m->k->gather_runs(packed, (const char *)user, list->off, list->start, list->n, list->block);
        else
            m->k->scatter_runs((char *)user, packed, list->off, list->start, list->n, list->block);
        break;
    case MPID_LIST_SAME:
        if (by_program(m, list->sub[0], 0, user + (uintptr_t)list->sub[0]->off, list->off, MPID_ANY_STRIDE,
                       packed, list->n))
            break;
        for (int64_t i = 0; i < list->n; i++, packed += list->block)
            full_layout(m, list->sub[0], user + (uintptr_t)list->off[i], packed);
        break;
    case MPID_LIST_FIELDS:
        for (int64_t i = 0; i < list->n; i++) {
            uintptr_t p = user + (uintptr_t)list->off[i];
            char *at = packed + (list->start[i] - list->start[0]);
            if (list->sub[i])
                full_layout(m, list->sub[i], p, at);
            else
                one_block(m, p, at, MPID_List_entry_bytes(list, i));
        }
        break;
    }
}

/* The list n times, by columns. */
static void list_columns(struct mover *m, const struct MPID_LIST *list, uintptr_t user, int64_t stride,
                         char *packed, int64_t n)
{
    for (int64_t e = 0; e < list->n; e++) {
        int64_t start = MPID_List_start(list, e);
        blocks(m, user + (uintptr_t)list->off[e], stride, packed + start, list->bytes, n,
               MPID_List_entry_bytes(list, e));
    }
}

static void full_list(struct mover *m, const struct MPID_LIST *list, uintptr_t user, int64_t stride,
                      char *packed, int64_t n)
{
    int64_t by =
        list->n <= COLUMN_LIST && list->sub == NULL && n >= 4 ? iterations_in_cache(stride, list->bytes) : 1;
    if (by < 4)
        by = 1;
    for (int64_t i = 0; i < n; i += by) {
        uintptr_t p = user + (uintptr_t)(i * stride);
        if (by == 1)
            full_entries(m, list, p, packed + i * list->bytes);
        else
            list_columns(m, list, p, stride, packed + i * list->bytes, n - i < by ? n - i : by);
    }
}

/* The innermost loop once, over contiguous leaves. */
static void row(struct mover *m, const struct MPID_LAYOUT *l, uintptr_t user, char *packed)
{
    const struct MPID_LOOP *lp = &l->loop[l->depth - 1];
    if (!by_program(m, l, l->depth, user, NULL, lp->stride, packed, lp->count))
        blocks(m, user, lp->stride, packed, l->leaf, lp->count, l->leaf);
}

/* Two loops over contiguous leaves, `n` times the inner one. */
static void full_plane(struct mover *m, const struct MPID_LAYOUT *l, const struct MPID_LOOP *outer,
                       uintptr_t user, char *packed, int64_t n)
{
    const struct MPID_LOOP *inner = &l->loop[l->depth - 1];
    int64_t leaf = l->leaf;
    int64_t by = inner->count <= COLUMN_LIST / 2 ? iterations_in_cache(outer->stride, outer->bytes) : 1;
    if (by > n)
        by = n;
    if (by < inner->count || by == 1) {
        for (int64_t i = 0; i < n; i++)
            row(m, l, user + (uintptr_t)(i * outer->stride), packed + i * outer->bytes);
        return;
    }
    for (int64_t i = 0; i < n; i += by)
        for (int64_t c = 0; c < inner->count; c++)
            blocks(m, user + (uintptr_t)(i * outer->stride + c * inner->stride), outer->stride,
                   packed + i * outer->bytes + c * leaf, outer->bytes, n - i < by ? n - i : by, leaf);
}

static void full_loops(struct mover *m, const struct MPID_LAYOUT *l, const struct MPID_LOOP *lp, int level,
                       uintptr_t user, char *packed, int64_t n);

/* As full_loops, where there is no program. */
static void loops(struct mover *m, const struct MPID_LAYOUT *l, const struct MPID_LOOP *lp, int level,
                  uintptr_t user, char *packed, int64_t n)
{
    if (level == l->depth) {
        if (l->list)
            full_list(m, l->list, user, lp->stride, packed, n);
        else
            blocks(m, user, lp->stride, packed, l->leaf, n, l->leaf);
    } else if (level == l->depth - 1 && l->list == NULL) {
        full_plane(m, l, lp, user, packed, n);
    } else {
        for (int64_t i = 0; i < n; i++)
            full_loops(m, l, &l->loop[level], level + 1, user + (uintptr_t)(i * lp->stride),
                       packed + i * lp->bytes, l->loop[level].count);
    }
}

/* `n` full iterations of `lp`, around the loops of l from `level` on. */
static inline void full_loops(struct mover *m, const struct MPID_LAYOUT *l, const struct MPID_LOOP *lp,
                              int level, uintptr_t user, char *packed, int64_t n)
{
    if (!by_program(m, l, level, user, NULL, lp->stride, packed, n))
        loops(m, l, lp, level, user, packed, n);
}

/* One element. */
static inline void full_element(struct mover *m, const struct MPID_LAYOUT *l, uintptr_t user, char *packed)
{
    user += (uintptr_t)l->off;
    if (l->depth == 1 && l->list == NULL && l->leaf > PROGRAM_BLOCK)
        blocks(m, user, l->loop[0].stride, packed, l->leaf, l->loop[0].count, l->leaf);
    else if (l->depth > 0)
        full_loops(m, l, &l->loop[0], 1, user, packed, l->loop[0].count);
    else if (l->list)
        full_entries(m, l->list, user, packed);
    else
        one_block(m, user, packed, l->leaf);
}

static void full_layout(struct mover *m, const struct MPID_LAYOUT *l, uintptr_t user, char *packed)
{
    full_element(m, l, user, packed);
}

/* ---- ranges ---- */

/* Entries [i, n) as a list of its own, so that the full-list kernels serve the middle of a range. */
static struct MPID_LIST sublist(const struct MPID_LIST *list, int64_t i, int64_t n)
{
    struct MPID_LIST s = { .kind = list->kind, .n = n, .block = list->block, .off = list->off + i };
    s.start = list->start ? list->start + i : NULL;
    s.sub = list->kind == MPID_LIST_FIELDS ? list->sub + i : list->sub;
    return s;
}

static void part_of_entry(struct mover *m, const struct MPID_LIST *list, int64_t i, uintptr_t user,
                          int64_t skip, char *packed, int64_t len)
{
    uintptr_t p = user + (uintptr_t)list->off[i];
    const struct MPID_LAYOUT *sub = MPID_List_entry_sub(list, i);
    if (sub)
        move_view(m, sub, NULL, p, skip, packed, len);
    else
        one_block(m, p + (uintptr_t)skip, packed, len);
}

static void move_list(struct mover *m, const struct MPID_LIST *list, uintptr_t user, int64_t skip,
                      char *packed, int64_t len)
{
    int64_t i = MPID_List_entry_at(list, skip), start = MPID_List_start(list, i);
    if (skip > start) {
        int64_t rest = start + MPID_List_entry_bytes(list, i) - skip, n = rest < len ? rest : len;
        part_of_entry(m, list, i, user, skip - start, packed, n);
        packed += n;
        len -= n;
        skip += n;
        i++;
    }
    if (len == 0)
        return;
    int64_t last = skip + len == list->bytes ? list->n : MPID_List_entry_at(list, skip + len);
    if (last > i) {
        struct MPID_LIST s = sublist(list, i, last - i);
        int64_t done = MPID_List_start(list, last) - skip;
        full_entries(m, &s, user, packed);
        packed += done;
        len -= done;
    }
    if (len)
        part_of_entry(m, list, last, user, 0, packed, len);
}

static void move_loops(struct mover *m, const struct MPID_LAYOUT *l, const struct MPID_LOOP *lp, int level,
                       uintptr_t user, int64_t skip, char *packed, int64_t len);

/* A range inside one iteration of the loop outside `level`. */
static void move_inner(struct mover *m, const struct MPID_LAYOUT *l, int level, uintptr_t user, int64_t skip,
                       char *packed, int64_t len)
{
    if (level < l->depth)
        move_loops(m, l, &l->loop[level], level + 1, user, skip, packed, len);
    else if (l->list)
        move_list(m, l->list, user, skip, packed, len);
    else
        one_block(m, user + (uintptr_t)skip, packed, len);
}

static void move_loops(struct mover *m, const struct MPID_LAYOUT *l, const struct MPID_LOOP *lp, int level,
                       uintptr_t user, int64_t skip, char *packed, int64_t len)
{
    if (skip >= lp->bytes) {
        user += (uintptr_t)(skip / lp->bytes * lp->stride);
        skip %= lp->bytes;
    }
    if (skip) {
        int64_t n = lp->bytes - skip < len ? lp->bytes - skip : len;
        move_inner(m, l, level, user, skip, packed, n);
        user += (uintptr_t)lp->stride;
        packed += n;
        len -= n;
    }
    int64_t full = len / lp->bytes;
    if (full) {
        full_loops(m, l, lp, level, user, packed, full);
        user += (uintptr_t)(full * lp->stride);
        packed += full * lp->bytes;
        len -= full * lp->bytes;
    }
    if (len)
        move_inner(m, l, level, user, 0, packed, len);
}

/* A range of the layout, repeated by `top` if that is not NULL. */
static void move_view(struct mover *m, const struct MPID_LAYOUT *l, const struct MPID_LOOP *top,
                      uintptr_t base, int64_t skip, char *packed, int64_t len)
{
    base += (uintptr_t)l->off;
    if (top == NULL)
        move_inner(m, l, 0, base, skip, packed, len);
    else if (l->depth > 0 && l->loop[0].count * l->loop[0].stride == top->stride)
        move_loops(m, l, &l->loop[0], 1, base, skip, packed,
                   len); /* the elements continue the outermost loop */
    else
        move_loops(m, l, top, 0, base, skip, packed, len);
}

/* All of `count` elements: no place to look for. */
static void full_typed(struct mover *m, const struct MPIR_DATATYPE *t, uintptr_t base, int64_t count,
                       char *packed)
{
    const struct MPID_LAYOUT *l = t->layout;
    struct MPID_LOOP top = { count, t->extent, t->size };
    base += (uintptr_t)l->off;
    if (l->depth > 0 && l->loop[0].count * l->loop[0].stride == top.stride)
        full_loops(m, l, &l->loop[0], 1, base, packed, count * l->loop[0].count);
    else
        full_loops(m, l, &top, 0, base, packed, count);
}

static inline void move_typed(struct mover *m, const struct MPIR_DATATYPE *t, uintptr_t base, int64_t count,
                              int64_t offset, char *packed, int64_t len)
{
    if (offset == 0 && len == t->size) {
        full_element(m, t->layout, base, packed);
    } else if (offset == 0 && len == count * t->size) {
        full_typed(m, t, base, count, packed);
    } else {
        struct MPID_LOOP top = { count, t->extent, t->size };
        move_view(m, t->layout, offset + len <= t->size ? NULL : &top, base, offset, packed, len);
    }
}

/* The program that makes one element, if that is what is asked for and it was the last to be made. */
static inline const struct MPID_PROGRAM *
type_copy_whole(const struct MPIR_DATATYPE *t, const struct MPID_KERNELS *k, int64_t offset, int64_t len)
{
    const struct MPID_PROGRAM *p;
    if (offset != 0 || len != t->size || len < PROGRAM_WORTH || k->pack == NULL)
        return NULL;
    p = atomic_load_explicit(&t->layout->programs, memory_order_acquire);
    return p && p->times ? p : NULL;
}

static __attribute__((noinline)) void pack(const struct MPIR_DATATYPE *t, const void *buf, int64_t count,
                                           int64_t offset, void *dst, int64_t len)
{
    struct mover m = { true, MPID_Kernels(), len };
    const struct MPID_PROGRAM *p = type_copy_whole(t, m.k, offset, len);
    if (p)
        m.k->pack(p, dst, (const char *)((uintptr_t)buf + (uintptr_t)t->layout->off), NULL, p->stride,
                  p->times);
    else
        move_typed(&m, t, (uintptr_t)buf, count, offset, dst, len);
}

static __attribute__((noinline)) void unpack(const struct MPIR_DATATYPE *t, void *buf, int64_t count,
                                             int64_t offset, const void *src, int64_t len)
{
    struct mover m = { false, MPID_Kernels(), len };
    const struct MPID_PROGRAM *p = type_copy_whole(t, m.k, offset, len);
    if (p)
        m.k->unpack(p, (char *)((uintptr_t)buf + (uintptr_t)t->layout->off), src, NULL, p->stride, p->times);
    else
        move_typed(&m, t, (uintptr_t)buf, count, offset, (char *)src, len);
}

/* Contiguous data, of which there is most, passes by the room that the others need on the stack. */
void MPID_Layout_pack(const struct MPIR_DATATYPE *t, const void *buf, int64_t count, int64_t offset,
                      void *dst, int64_t len)
{
    if (t->is_contig && len > 0)
        memcpy(dst, (const char *)((uintptr_t)buf + (uintptr_t)offset), (size_t)len);
    else if (len > 0)
        pack(t, buf, count, offset, dst, len);
}

void MPID_Layout_unpack(const struct MPIR_DATATYPE *t, void *buf, int64_t count, int64_t offset,
                        const void *src, int64_t len)
{
    if (t->is_contig && len > 0)
        memcpy((char *)((uintptr_t)buf + (uintptr_t)offset), src, (size_t)len);
    else if (len > 0)
        unpack(t, buf, count, offset, src, len);
}

/* ---- from one typed buffer to another ---- */

void MPID_Copy(const void *src, int64_t scount, const struct MPIR_DATATYPE *st, void *dst, int64_t dcount,
               const struct MPIR_DATATYPE *dt, int64_t len)
{
    if (len == 0)
        return;
    if (st->is_contig) {
        MPID_Layout_unpack(dt, dst, dcount, 0, src, len);
    } else if (dt->is_contig) {
        MPID_Layout_pack(st, src, scount, 0, dst, len);
    } else {
        _Alignas(64) char chunk[COPY_CHUNK];
        for (int64_t at = 0; at < len; at += COPY_CHUNK) {
            int64_t n = len - at < COPY_CHUNK ? len - at : COPY_CHUNK;
            MPID_Layout_pack(st, src, scount, at, chunk, n);
            MPID_Layout_unpack(dt, dst, dcount, at, chunk, n);
        }
    }
}
