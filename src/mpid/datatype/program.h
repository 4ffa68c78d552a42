/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h: a short list of blocks as a few steps, each one load and one store of up to 64 bytes.
 *
 * A step whose memory lies in a window of 64 bytes holds several blocks: the bytes of the window that are data are
 * loaded, permuted and stored together.  A block that has no neighbours so near is a step of its own, as long as
 * it is.  Where a whole iteration of the list is so small that several fit in one window, the program is one step
 * for `per` of them. */
#ifndef MPID_PROGRAM_H
#define MPID_PROGRAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "mpid/datatype/layout.h"

enum { MPID_PROGRAM_STEPS = 16, MPID_WINDOW = 64 };

enum MPID_STEP_KIND {
    MPID_STEP_16, /* a block of at most 16 bytes */
    MPID_STEP_32,
    MPID_STEP_64,
    MPID_STEP_EXACT_4, /* of so many: no mask, which costs more to store under */
    MPID_STEP_EXACT_8,
    MPID_STEP_EXACT_16,
    MPID_STEP_EXACT_32,
    MPID_STEP_EXACT_64,
    MPID_STEP_EXACT_256,
    MPID_STEP_LONG, /* a longer block */
    MPID_STEP_WINDOW
};

struct MPID_STEP {
    int64_t mem;   /* where the block or the window begins */
    int64_t bytes; /* packed */
    uint64_t data; /* WINDOW: which of its bytes are data */
    uint64_t out;  /* all but LONG: a bit for each packed byte */
    enum MPID_STEP_KIND kind;
    int32_t places; /* WINDOW: which of the program's */
};

struct MPID_PLACES {
    _Alignas(64) uint8_t pack[MPID_WINDOW]; /* packed byte i is byte pack[i] of the window */
    uint8_t unpack[MPID_WINDOW]; /* byte j of the window, if it is data, is (first) packed byte unpack[j] */
};

/* What is repeated: a leaf of a layout (level == depth), or its innermost loop; and how far apart the repetitions
 * are. */
#define MPID_ANY_STRIDE INT64_MAX /* at any places */

struct MPID_PROGRAM {
    struct MPID_PROGRAM *next; /* of the same layout */
    int64_t stride;
    int64_t times; /* so often it makes the whole layout; 0: that is more than repetitions of it */
    int32_t level;
    int32_t nsteps;     /* 0: a program is not the way */
    int64_t per, bytes; /* repetitions in one go, packed bytes of one */
    int64_t block;      /* all steps are blocks of so many bytes; else 0 */
    struct MPID_STEP step[MPID_PROGRAM_STEPS];
    struct MPID_PLACES places[]; /* of the windows */
};

/* The program for repetitions of l from `level` on, made now if there is none yet; kept until the layout goes.
 * NULL: it would have too many steps, other loops are better, or there is no memory. */
const struct MPID_PROGRAM *MPID_Program_find(const struct MPID_LAYOUT *l, int level, int64_t stride);

/* The same; at once if it is the last that was made. */
static inline const struct MPID_PROGRAM *MPID_Program_get(const struct MPID_LAYOUT *l, int level,
                                                          int64_t stride)
{
    const struct MPID_PROGRAM *p =
        atomic_load_explicit(&((struct MPID_LAYOUT *)l)->programs, memory_order_acquire);
    if (p && p->stride == stride && p->level == level)
        return p->nsteps ? p : NULL;
    return MPID_Program_find(l, level, stride);
}

#endif
