/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_layout.h: what a rank's area of the segment holds.  All zero is a rank that nobody has opened yet.
 *
 *   struct shm_area             control lines and the rings the rank receives from; lanes that nobody has cost nothing
 *   cells of three classes      the rank's own room for bodies that do not fit a line; untouched ones cost nothing
 *
 * A cell belongs to the rank in whose area it lies, which fills it and tells the receiver by a line of the
 * receiver's ring (struct shm_desc); the receiver gives it back by storing the number of this use in `done`. */
#ifndef SHMEM_LAYOUT_H
#define SHMEM_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cma.h"
#include "util/linering.h"

enum {
    SHM_CLASSES = 3,
    SHM_MAX_LOCAL = 4096 /* ranks a node */,
    SHM_LANES = 4,
    SHM_CELLS_OFF = 96 << 10,
    SHM_MAX_CELLS = 64 /* of a class */,
    SHM_C2_CELLS = 16
};

/* What the owner of a cell notes of its last use; nobody else looks.  One word, written and read as such (see
 * shm_desc). */
/* bits 0 to 31: use: 1, 2, ...; 0: never used; 32 to 47: local rank that gives it back; 48 to 63: cells: 2 of a
 * pair, of which this is the first */
typedef uint64_t shm_note;

static inline shm_note shm_note_of(uint32_t use, uint32_t to, uint32_t span)
{
    uint64_t n = use | (uint64_t)(to & UINT16_MAX) << 32 | (uint64_t)span << 48;
    __asm__("" : "+r"(n)); /* or compilers store only the half that changes */
    return n;
}
static inline uint32_t shm_note_use(shm_note n)
{
    return (uint32_t)n;
}
static inline uint32_t shm_note_to(shm_note n)
{
    return n >> 32 & UINT16_MAX;
}
static inline uint32_t shm_note_span(shm_note n)
{
    return (uint32_t)(n >> 48);
}

struct shm_area {
    _Alignas(64) _Atomic uint32_t claims; /* of this rank's threads, on all rings: linering.h, invariant 5 */
    _Atomic uint32_t opened;              /* how often the rank has opened the device */
    _Atomic uint32_t
        stalled; /* 1: the rank waits for a slot or a cell, and wants to be woken when one is freed */
    struct shm_cookie cookie;
    /* Who sends to this rank: the first SHM_LANES peers that do have a ring of their own each, for as long as the
     * job runs, so that nothing of one peer overtakes anything; the others share `ring`. */
    _Alignas(64) _Atomic uint32_t senders; /* the number of lanes given; SHM_INBOX: somebody uses `ring` */
    _Atomic uint32_t lane_of[SHM_LANES];   /* 1 + local rank whose lane it is */
    /* dev_ops.word: each of a message that two processes copy at once. */
    struct {
        _Alignas(64) _Atomic uint64_t v;
    } word[DEV_WORDS];
    struct ku_ring ring;
    struct ku_ring lane[SHM_LANES];
    _Alignas(64) shm_note note[SHM_CLASSES][SHM_MAX_CELLS];
    /* The use that the receiver is done with. */
    _Alignas(64) _Atomic uint32_t done[SHM_CLASSES][SHM_MAX_CELLS];
};
enum { SHM_INBOX = 0x100, SHM_LANES_GIVEN = 0xff };

/* The body of a line that announces a cell: two words, which go from and to registers.  Fields put together in
 * memory and then moved as words would have to wait until all stores before them have left the processor, those of
 * the body too. */
struct shm_desc {
    uint64_t where; /* bits 0 to 31 local rank whose cell it is, 32 to 47 class, 48 to 63 cell */
    uint64_t what;  /* 0 to 31 number of the use, 32 to 63 bytes */
};

static inline struct shm_desc shm_desc(uint32_t owner, int class, int cell, uint32_t use, uint32_t bytes)
{
    return (struct shm_desc){ owner | (uint64_t) class << 32 | (uint64_t)cell << 48,
                              use | (uint64_t)bytes << 32 };
}
static inline uint32_t shm_desc_owner(struct shm_desc s)
{
    return (uint32_t)s.where;
}
static inline uint16_t shm_desc_class(struct shm_desc s)
{
    return (uint16_t)(s.where >> 32);
}
static inline uint16_t shm_desc_cell(struct shm_desc s)
{
    return (uint16_t)(s.where >> 48);
}
static inline uint32_t shm_desc_use(struct shm_desc s)
{
    return (uint32_t)s.what;
}
static inline uint32_t shm_desc_bytes(struct shm_desc s)
{
    return (uint32_t)(s.what >> 32);
}

/* The `len` byte of a line: up to 48 a short packet; SHM_INLINE | n a packet of send() with n bytes in the line. */
enum { SHM_INLINE = 0x80, SHM_CELL = 0xff };

struct shm_class {
    uint32_t cells, room; /* room: bytes of body */
    uint32_t off;         /* of cell 0 in the area */
    uint32_t stride;
    uint32_t
        paired; /* 1 or 0: an even cell and the next are one room of twice the bytes when both are free */
};

/* Strides are odd multiples of a line, so that equal offsets of cells do not share a cache set. */
#define SHM_C0_STRIDE (64 + 1024)
#define SHM_C1_STRIDE (64 + 4096)
#define SHM_C2_STRIDE (64 + 32768)
#define SHM_C1_OFF (SHM_CELLS_OFF + 64 * SHM_C0_STRIDE)
#define SHM_C2_OFF (SHM_C1_OFF + 64 * SHM_C1_STRIDE)
static const struct shm_class shm_class[SHM_CLASSES] = {
    { 64, SHM_C0_STRIDE, SHM_CELLS_OFF, SHM_C0_STRIDE, 0 },
    { 64, 4096, SHM_C1_OFF, SHM_C1_STRIDE, 0 },
    { SHM_C2_CELLS, 32768, SHM_C2_OFF, SHM_C2_STRIDE, 1 },
};

static inline size_t shm_cell_at(const struct shm_class *k, uint32_t cell)
{
    return k->off + (size_t)cell * k->stride;
}

enum {
    SHM_MAX_SEND = 2 * 32768,
    SHM_LATER =
        4096, /* bytes: lines of bodies up to here are the device's to own (shmem.c, invariant 4), others the core's */
    SHM_AREA_BYTES = SHM_C2_OFF + SHM_C2_CELLS * SHM_C2_STRIDE
};

_Static_assert(sizeof(struct shm_area) <= SHM_CELLS_OFF, "control lines and ring end before the cells");

#endif
