/* SPDX-License-Identifier: BSD-3-Clause */
/* program.c: making programs (program.h); running them is the kernels' work. */
#include <stdlib.h>
#include "mpid/datatype/program.h"

enum {
    BLOCKS_MAX = 256, /* more in 16 steps would be blocks of 4 bytes or less */
    WINDOW_WORTH = 4, /* fewer blocks in a window are as fast one by one */
    PROGRAMS_MAX = 8  /* of a layout */
};

/* What is repeated. */
struct source {
    const struct MPID_LIST *list; /* NULL: */
    int64_t block;                /* a block of so many bytes */
    int64_t count, apart;         /* the loop around them */
    int64_t n;                    /* blocks in all */
};

static struct source source_of(const struct MPID_LAYOUT *l, int level)
{
    struct source s = { l->list, l->leaf, 1, 0, l->list ? l->list->n : 1 };
    if (level < l->depth) {
        s.count = l->loop[level].count;
        s.apart = l->loop[level].stride;
    }
    s.n = s.n > BLOCKS_MAX || s.count > BLOCKS_MAX ? BLOCKS_MAX + 1 : s.n * s.count;
    return s;
}

/* The i-th block. */
static void block_at(const struct source *s, int64_t i, int64_t *off, int64_t *bytes)
{
    const struct MPID_LIST *list = s->list;
    int64_t n = list ? list->n : 1, k = i % n;
    *off = i / n * s->apart + (list ? list->off[k] : 0);
    *bytes = list ? MPID_List_entry_bytes(list, k) : s->block;
}

/* One repetition: packed bytes, and the memory they lie in. */
struct extent {
    int64_t bytes, lo, hi;
};

static struct extent extent_of(const struct source *s)
{
    struct extent e = { 0 };
    for (int64_t i = 0; i < s->n; i++) {
        int64_t off, bytes;
        block_at(s, i, &off, &bytes);
        e.lo = i == 0 || off < e.lo ? off : e.lo;
        e.hi = i == 0 || off + bytes > e.hi ? off + bytes : e.hi;
        e.bytes += bytes;
    }
    return e;
}

/* How many repetitions lie in one window, of memory and packed. */
static int64_t repetitions_in_window(struct extent e, int64_t stride)
{
    int64_t per = 1, step = 0;
    if (stride < -MPID_WINDOW || stride > MPID_WINDOW || e.hi - e.lo > MPID_WINDOW)
        return 1;
    step = stride < 0 ? -stride : stride;
    while ((per + 1) * e.bytes <= MPID_WINDOW && e.hi - e.lo + per * step <= MPID_WINDOW)
        per++;
    return per;
}

/* The step that is being filled. */
struct filling {
    struct MPID_PROGRAM *p;
    int64_t lo, hi, off[MPID_WINDOW], bytes[MPID_WINDOW];
    int n, windows;
    int64_t got; /* packed bytes */
    bool full;
};

static enum MPID_STEP_KIND program_kind_of(const struct filling *f)
{
    if (f->n > 1)
        return MPID_STEP_WINDOW;
    switch (f->got) {
    case 4:
        return MPID_STEP_EXACT_4;
    case 8:
        return MPID_STEP_EXACT_8;
    case 16:
        return MPID_STEP_EXACT_16;
    case 32:
        return MPID_STEP_EXACT_32;
    case 64:
        return MPID_STEP_EXACT_64;
    case 256:
        return MPID_STEP_EXACT_256;
    }
    return f->got <= 16   ? MPID_STEP_16
           : f->got <= 32 ? MPID_STEP_32
           : f->got <= 64 ? MPID_STEP_64
                          : MPID_STEP_LONG;
}

/* Returns which bytes of the window are data. */
static uint64_t fill_places(struct MPID_PLACES *s, const struct filling *f)
{
    uint64_t data = 0;
    int at = 0;
    for (int i = 0; i < f->n; i++)
        for (int64_t k = 0; k < f->bytes[i]; k++, at++) {
            int64_t j = f->off[i] - f->lo + k;
            s->pack[at] = (uint8_t)j;
            if (!(data >> j & 1))
                s->unpack[j] = (uint8_t)at;
            data |= (uint64_t)1 << j;
        }
    return data;
}

static void close_step(struct filling *f)
{
    if (f->n == 0)
        return;
    if (f->p->nsteps == MPID_PROGRAM_STEPS) {
        f->full = true;
        return;
    }
    struct MPID_STEP *s = &f->p->step[f->p->nsteps++];
    *s = (struct MPID_STEP){ .mem = f->lo, .bytes = f->got, .kind = program_kind_of(f) };
    if (f->got <= MPID_WINDOW)
        s->out = ~(uint64_t)0 >> (MPID_WINDOW - f->got);
    if (s->kind == MPID_STEP_WINDOW) {
        s->places = f->windows++;
        s->data = fill_places(&f->p->places[s->places], f);
    }
    f->got = f->n = 0;
}

static void add_block(struct filling *f, int64_t off, int64_t bytes)
{
    int64_t lo = f->n && f->lo < off ? f->lo : off, hi = f->n && f->hi > off + bytes ? f->hi : off + bytes;
    if (hi - lo > MPID_WINDOW || f->got + bytes > MPID_WINDOW || f->n == MPID_WINDOW) {
        close_step(f);
        lo = off;
        hi = off + bytes;
    }
    f->lo = lo;
    f->hi = hi;
    f->off[f->n] = off;
    f->bytes[f->n++] = bytes;
    f->got += bytes;
}

static void program_fill(struct filling *f, const struct source *s)
{
    struct MPID_PROGRAM *p = f->p;
    for (int64_t r = 0; r < p->per; r++)
        for (int64_t i = 0; i < s->n && !f->full; i++) {
            int64_t off, bytes;
            block_at(s, i, &off, &bytes);
            add_block(f, off + (p->per > 1 ? r * p->stride : 0), bytes);
        }
    close_step(f);
    p->block = p->step[0].bytes;
    for (int i = 0; i < p->nsteps; i++)
        if (p->step[i].kind == MPID_STEP_WINDOW || p->step[i].bytes != p->block)
            p->block = 0;
}

/* Few blocks of different multiples of 16 bytes, without windows, are steps of 16 bytes for which there are loops
 * without decisions. */
static void split_steps(struct MPID_PROGRAM *p)
{
    enum { PART = 16, PARTS_MAX = 10 };
    struct MPID_STEP parts[PARTS_MAX];
    int n = 0;
    for (int i = 0; i < p->nsteps; i++) {
        const struct MPID_STEP *t = &p->step[i];
        if (t->kind == MPID_STEP_WINDOW || t->bytes % PART != 0 || n + t->bytes / PART > PARTS_MAX)
            return;
        for (int64_t at = 0; at < t->bytes; at += PART)
            parts[n++] = (struct MPID_STEP){
                .mem = t->mem + at, .bytes = PART, .out = 0xffff, .kind = MPID_STEP_EXACT_16
            };
    }
    for (int i = 0; i < n; i++)
        p->step[i] = parts[i];
    p->nsteps = n;
    p->block = PART;
}

/* A new program, of no steps where that is not the way; NULL: no memory. */
static struct MPID_PROGRAM *program_make(const struct MPID_LAYOUT *l, int level, int64_t stride)
{
    struct source s = source_of(l, level);
    struct extent e = { 0 };
    int64_t per = 0;
    if (s.n <= BLOCKS_MAX) {
        e = extent_of(&s);
        per = repetitions_in_window(e, stride);
    }
    bool possible = s.n <= BLOCKS_MAX && (s.n > 1 || per >= WINDOW_WORTH);
    size_t room = possible ? MPID_PROGRAM_STEPS * sizeof(struct MPID_PLACES) : 0;
    struct MPID_PROGRAM *p = aligned_alloc(64, sizeof *p + room);
    if (p == NULL)
        return NULL;
    *p = (struct MPID_PROGRAM){ .stride = stride, .level = level, .per = per, .bytes = e.bytes };
    if (!possible)
        return p;
    struct filling f = { .p = p };
    program_fill(&f, &s);
    if (!f.full && p->block == 0)
        split_steps(p);
    if (f.full)
        p->nsteps = 0;
    else if (level == 1 && stride == l->loop[0].stride)
        p->times = l->loop[0].count;
    return p;
}

const struct MPID_PROGRAM *MPID_Program_find(const struct MPID_LAYOUT *l, int level, int64_t stride)
{
    struct MPID_LAYOUT *mine = (struct MPID_LAYOUT *)l;
    struct MPID_PROGRAM *first = atomic_load_explicit(&mine->programs, memory_order_acquire);
    int n = 0;
    for (struct MPID_PROGRAM *p = first; p; p = p->next, n++)
        if (p->stride == stride && p->level == level)
            return p->nsteps ? p : NULL;
    struct MPID_PROGRAM *p = n < PROGRAMS_MAX ? program_make(l, level, stride) : NULL;
    if (p == NULL)
        return NULL;
    do
        p->next = first;
    while (!atomic_compare_exchange_weak(&mine->programs, &first, p));
    return p->nsteps ? p : NULL;
}

void MPID_Programs_free(struct MPID_PROGRAM *p)
{
    while (p) {
        struct MPID_PROGRAM *next = p->next;
        free(p);
        p = next;
    }
}
