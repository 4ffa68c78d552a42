/* SPDX-License-Identifier: BSD-3-Clause */
/* segment_alloc.h: blocks of memory that all processes of a node share, from the job's segment (segment.h).
 *
 * The heap lies behind the fixed part of the segment's file, which grows as it is needed.  The file's new part is
 * divided into extents; a block lies in one of them, and its name (ku_block) says which and where, so it means the
 * same in all processes. An extent is either one large block, or a chunk of 1 MiB for small ones.  A process maps
 * an extent when it first uses it.
 *
 * What the caller may rely on
 *   - Any thread of any process of the node may call any function at any time.
 *   - A block has its pages when ku_heap_alloc returns it: want of memory is an error there, not a signal later.
 *     (Where the kernel cannot allot pages in advance, which no Linux since 3.5 does, they come when they are touched.)
 *   - A block is zero at first.  Freeing it gives its pages back to the system: at once if it is large, when its
 *     chunk is empty if it is small.  At most KU_HEAP_KEPT bytes stay when there is no block.
 *   - A process may be killed at any instruction: the others go on, and lose at most what it was about to allot. */
#ifndef KU_SEGMENT_ALLOC_H
#define KU_SEGMENT_ALLOC_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct ku_segment;

typedef uint64_t ku_block; /* 0: none */
enum {
    KU_HEAP_EXTENTS = 16384,
    KU_HEAP_GRAIN = 128, /* blocks begin at a multiple of this, which is two lines */
    KU_HEAP_CHUNK = 1 << 20,
    KU_HEAP_KEPT = 64 << 10,
    KU_HEAP_SMALL = 128 << 10 /* the longest block in a chunk */
};

/* ---- In the segment ---- */

struct ku_heap_extent {
    _Atomic uint32_t state; /* enum extent_state in segment_alloc.c */
    uint32_t maker;         /* local rank of who makes it */
    uint64_t offset, bytes; /* in the file */
    uint32_t backed;        /* a chunk: its parts that have pages, a bit each */
    uint32_t free;          /* a chunk: grains */
};

struct ku_heap_head {
    pthread_mutex_t lock;  /* robust: the kernel gives it on when its holder dies */
    uint32_t epoch;        /* in which all blocks were allotted: MPID_Inits of the job, from 1 */
    _Atomic uint32_t next; /* the same, or the one whose beginning is about to free them */
    _Atomic uint32_t n;    /* extents that have been used so far */
    uint64_t end;          /* of the file */
    _Atomic uint32_t recoveries;
    struct ku_heap_extent extent[KU_HEAP_EXTENTS];
};

/* A new heap, in zeroed memory; it begins at `end` of the file.  Returns 0, or an errno value. */
int ku_heap_format(struct ku_heap_head *head, uint64_t end);

/* ---- In each process ---- */

struct ku_heap_mapped {
    _Atomic(char *) at; /* NULL: not mapped */
    _Atomic uint64_t bytes;
    _Atomic uint32_t users; /* of a large block: calls of ku_heap_map without ku_heap_unmap yet */
};

/* Zero at first, and static: what nobody touches of the table is no memory, and there is none to be had for it when a
 * block that others wait for has to be mapped. */
struct ku_heap {
    const struct ku_segment *segment;
    uint32_t lrank, epoch;
    struct ku_heap_mapped mapped[KU_HEAP_EXTENTS];
};

/* Begin to use the heap of a segment, as local rank `lrank`: no system call.  Blocks of an earlier epoch are
 * forgotten when the first process of a later one uses the heap; nobody may use them any more by then. */
void ku_heap_open(struct ku_heap *h, const struct ku_segment *s, uint32_t lrank, uint32_t epoch);

/* Unmap everything.  Blocks stay allotted. */
void ku_heap_close(struct ku_heap *h);

/* A zeroed block.  0: there is no memory; ku_err_last() has an errno value and says why. */
ku_block ku_heap_alloc(struct ku_heap *h, uint64_t bytes);

/* Give a block back.  No process uses it any more, and all that mapped it have called ku_heap_unmap, or ended. */
void ku_heap_free(struct ku_heap *h, ku_block b);

/* Where the block lies in this process.  NULL: it cannot be mapped, or there is none of this name; ku_err_last()
 * says why. Each call needs one of ku_heap_unmap before the block is freed. */
void *ku_heap_map(struct ku_heap *h, ku_block b);
void ku_heap_unmap(struct ku_heap *h, ku_block b);

/* For a process that must not wait for a rank, and is of no epoch (the launcher).  Get the lock, to take blocks of
 * this epoch: 0; EBUSY:
 * another has it; ESTALE: the heap's blocks are of a later one. */
int ku_heap_try(struct ku_heap *h, uint32_t epoch);
/* With the lock: as ku_heap_alloc, of at most KU_HEAP_SMALL bytes, but not zeroed. */
ku_block ku_heap_take(struct ku_heap *h, uint32_t bytes);
void ku_heap_leave(struct ku_heap *h);
/* The latest that has begun: what was read of a block before is what its owner wrote if that is still its own epoch. */
uint32_t ku_heap_epoch(const struct ku_heap *h);

/* What the heap has, in bytes. */
struct ku_heap_use {
    uint64_t blocks; /* allotted */
    uint64_t pages;  /* that the system has given for them */
};
struct ku_heap_use ku_heap_use(struct ku_heap *h);

/* A small block's name in 32 bits, and back; 0: none, or it is too long a block. */
uint32_t ku_block_number(ku_block b);
ku_block ku_block_of(uint32_t number);

#endif
