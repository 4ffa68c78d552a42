/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h: where the bytes of a datatype lie: the form that the copy functions work on.
 *
 * A layout is up to MPID_LAYOUT_LOOPS nested strided loops over a leaf; the leaf is a run of contiguous bytes
 * or a list. A list holds blocks of one length, runs of any length, the same layout at many places, or fields that
 * are different layouts again.
 *
 * Invariants
 *   1. Layouts and lists never change once made (but for the programs that are added), and are shared by reference
 *      count: a type may be freed while
 * layouts made from it live on.
 *   2. The order of the bytes in a layout is the order of the type map: entries are merged, never sorted.
 *   3. Canonical: loops of one iteration are dropped, loops whose iterations touch are one loop or one run,
 * runs that touch are one run, blocks at equal distances are a loop, layouts of few runs in a list are its
 * entries.  No part is empty.  The exception: runs whose lengths are small multiples of one length are blocks of
 * that, if these take less memory.
 *   4. Memory is proportional to the description: to the number of blocks of an index list, never to counts.
 *   5. Every offset and size fits in 63 bits; type_make.c checks that before it makes a layout. */
#ifndef MPID_LAYOUT_H
#define MPID_LAYOUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MPID_LAYOUT_LOOPS = 4,
    MPID_LAYOUT_RUNS = 1000,
    MPID_LAYOUT_NESTING =
        2000 /* the walkers recurse once a level; more is an error, never a stack overflow */
};

struct MPID_LOOP {
    int64_t count, stride; /* iterations, and bytes of memory from one to the next */
    int64_t bytes;         /* packed bytes of one iteration */
};

enum MPID_LIST_KIND {
    MPID_LIST_BLOCKS, /* n blocks of `block` bytes */
    MPID_LIST_RUNS,   /* n runs; run i is start[i + 1] - start[i] bytes, at most `block` */
    MPID_LIST_SAME,   /* n times sub[0], which has `block` packed bytes */
    MPID_LIST_FIELDS  /* n fields; field i is sub[i], or a run if that is NULL */
};

struct MPID_LAYOUT;
struct MPID_PROGRAM;

struct MPID_LIST {
    _Atomic int32_t refs;
    enum MPID_LIST_KIND kind;
    int64_t n;
    int64_t bytes;                  /* packed bytes of all */
    int64_t block;                  /* of an entry; RUNS: of the longest */
    int32_t nesting;                /* layouts below layouts, at most MPID_LAYOUT_NESTING */
    int64_t *off;                   /* [n] bytes from the list's origin */
    int64_t *start;                 /* [n + 1] packed offset of each entry; RUNS and FIELDS */
    const struct MPID_LAYOUT **sub; /* [n], SAME [1]; referenced */
};

struct MPID_LAYOUT {
    _Atomic int32_t refs;
    int16_t depth;          /* loops in use; loop[0] is the outermost */
    int16_t runs;           /* contiguous pieces, at most MPID_LAYOUT_RUNS */
    int64_t size;           /* packed bytes */
    int64_t off;            /* where the first leaf's origin lies from the address of the element */
    int64_t leaf;           /* packed bytes of a leaf */
    struct MPID_LIST *list; /* NULL: a leaf is contiguous */
    struct MPID_LOOP loop[MPID_LAYOUT_LOOPS];
    _Atomic(struct MPID_PROGRAM *) programs; /* made when first needed: program.h */
};

/* One part of a datatype being described: `bytes` at `off`, contiguous or laid out as `sub` (not referenced).
 */
struct MPID_PIECE {
    int64_t off, bytes;
    const struct MPID_LAYOUT *sub;
};

/* Pieces in type map order, merged as they come. */
struct MPID_PIECES {
    struct MPID_PIECE *v;
    int64_t n, cap;
    bool no_memory;
};

static inline bool MPID_Layout_is_run(const struct MPID_LAYOUT *l)
{
    return l->depth == 0 && l->list == NULL;
}

static inline int32_t MPID_Layout_nesting(const struct MPID_LAYOUT *l)
{
    return l && l->list ? l->list->nesting : 0;
}

/* Packed bytes of entry i. */
static inline int64_t MPID_List_entry_bytes(const struct MPID_LIST *list, int64_t i)
{
    return list->start ? list->start[i + 1] - list->start[i] : list->block;
}

/* Packed bytes before entry i. */
static inline int64_t MPID_List_start(const struct MPID_LIST *list, int64_t i)
{
    return list->start ? list->start[i] : i * list->block;
}

/* The layout of entry i; NULL: it is a run. */
static inline const struct MPID_LAYOUT *MPID_List_entry_sub(const struct MPID_LIST *list, int64_t i)
{
    return list->sub ? list->sub[list->kind == MPID_LIST_SAME ? 0 : i] : NULL;
}

/* The entry that holds packed byte `at`. */
int64_t MPID_List_entry_at(const struct MPID_LIST *list, int64_t at);

/* All that make a layout return a reference for the caller, or NULL without memory. */
struct MPID_LAYOUT *MPID_Layout_run(int64_t off, int64_t bytes);
/* `count` times the piece, `stride` apart; count and piece are not empty. */
struct MPID_LAYOUT *MPID_Layout_loop(int64_t count, int64_t stride, struct MPID_PIECE piece);
/* n blocks of `bytes`, which the caller knows to be `runs` runs and not all at equal distances, and whose
 * list->off it fills in.  NULL: runs are better, or no memory. */
struct MPID_LAYOUT *MPID_Layout_blocks(int64_t n, int64_t bytes, int64_t runs);
/* n runs that are not blocks, `bytes` in all, whose list->off and list->start the caller fills in. */
struct MPID_LAYOUT *MPID_Layout_of_runs(int64_t n, int64_t bytes, int64_t longest);
/* n times `sub`, not all at equal distances, whose list->off the caller fills in.  NULL: fewer or simpler parts
 * than are best this way, or no memory. */
struct MPID_LAYOUT *MPID_Layout_same(int64_t n, const struct MPID_LAYOUT *sub);
/* The parts that layouts are made of, for what describes one itself (encode.c): an empty list of n entries, with
 * off, start and sub of the size its kind asks for; NULL: no memory. */
struct MPID_LIST *MPID_List_new(enum MPID_LIST_KIND kind, int64_t n);
/* Entry i of RUNS or FIELDS; entries come in order. */
void MPID_List_set(struct MPID_LIST *list, int64_t i, struct MPID_PIECE piece);
/* Where entry i is a layout; of SAME, i is 0. */
void MPID_List_set_sub(struct MPID_LIST *list, int64_t i, const struct MPID_LAYOUT *sub);
void MPID_List_unref(struct MPID_LIST *list); /* NULL allowed */
/* A new layout over the list, whose reference it takes over (also on failure). */
struct MPID_LAYOUT *MPID_Layout_of_list(struct MPID_LIST *list);
/* One more loop around a layout that nobody else has; fewer than MPID_LAYOUT_LOOPS are in use. */
void MPID_Layout_push_loop(struct MPID_LAYOUT *l, int64_t count, int64_t stride);

/* The pieces one after another; there is at least one, and no_memory is false. */
struct MPID_LAYOUT *MPID_Layout_list(const struct MPID_PIECES *pieces);

/* Runs as they come: of which length would they be blocks (invariant 3)? */
struct MPID_SPLIT {
    int64_t n, bytes, length;
    bool never;
};
void MPID_Split_run(struct MPID_SPLIT *s, int64_t bytes);
static inline void MPID_Split_add(struct MPID_SPLIT *s, int64_t bytes)
{
    if (!s->never)
        MPID_Split_run(s, bytes);
}
int64_t MPID_Split_length(const struct MPID_SPLIT *s); /* 0: they are not; there is at least one */

void MPID_Pieces_add(struct MPID_PIECES *p, struct MPID_PIECE piece);
void MPID_Pieces_fini(struct MPID_PIECES *p);

struct MPID_LAYOUT *MPID_Layout_ref(const struct MPID_LAYOUT *l);
void MPID_Layout_unref(const struct MPID_LAYOUT *l); /* NULL allowed */

/* All that are linked (program.c); NULL allowed. */
void MPID_Programs_free(struct MPID_PROGRAM *first);

#endif
