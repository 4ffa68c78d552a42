/* SPDX-License-Identifier: BSD-3-Clause */
/* card.h: business cards, which tell where the devices of a rank can be reached.
 *
 * A rank writes its card into a block of its own node's heap (segment_alloc.h).  Ranks of the node read it there.
 * Another node has a card only if a rank there has asked for it: the launcher, who moves it, puts it into a block
 * of that node's heap.
 *
 * A word tells of each card what is known of it on this node: the epoch in its upper half, then a state in 4 bits,
 * then the block's number, or who asked.  The words of the node's ranks are in ku_seg_rank, those of the others in
 * a table of the segment, 8 bytes a rank of the job, which take no memory where nobody asks.
 *
 *     state     who sets it
 *     ASKED     a rank that wants a far card; it then tells the launcher.  If it dies before it has, another may
 *               ask instead.
 *     EMPTY     the owner, or the launcher: the card has no bytes in this epoch, and will have none
 *     THERE     the owner, or the launcher
 *     LACKING   the launcher: the heap had no room for it
 *     ABSENT    the launcher: the rank's process has ended with 0 and had not begun with MPI.  A child of it may
 *               yet, so who waits for the card waits on, but nothing is on its way
 *
 * A word of an earlier epoch is as good as none. */
#ifndef KU_CARD_H
#define KU_CARD_H

#include <stdbool.h>
#include <stdint.h>
#include "segment.h"
#include "segment_alloc.h"

enum { KU_CARD_MAX = 120 << 10 /* it is a small block of the heap */ };

enum ku_card_state {
    KU_CARD_NONE = 0, /* not known; who brings it will wake all ranks here */
    KU_CARD_ASKED = 1,
    KU_CARD_EMPTY = 2,
    KU_CARD_THERE = 3,
    KU_CARD_LACKING = 4,
    KU_CARD_PAST = 5, /* never in a word: the rank is in a later epoch */
    KU_CARD_ABSENT = 6
};

struct ku_card {
    const uint8_t *bytes; /* valid until ku_card_done */
    uint32_t len;
    ku_block block;
};

/* ---- For ranks ---- */

/* This rank's card of its epoch, `len` at most KU_CARD_MAX; wakes those here who wait for one.  0, or an errno
 * value with a text.
 * *wanted: the launcher has asked for it, and is to be told that it is there. */
int ku_card_write(struct ku_heap *h, const void *bytes, uint32_t len, bool *wanted);

/* The card of `grank` in the heap's epoch.  KU_CARD_THERE: ku_card_done follows.  *ask: the caller is to ask the
 * launcher for it. */
enum ku_card_state ku_card_look(struct ku_heap *h, uint32_t grank, struct ku_card *c, bool *ask);
void ku_card_done(struct ku_heap *h, const struct ku_card *c);

/* ---- For the launcher, who waits for nobody ---- */

/* The card of a rank of this node in `epoch`, as a copy to be freed.  KU_CARD_NONE: it is not there yet, and the
 * rank will tell when it is.  KU_CARD_ASKED: cannot be read now. */
enum ku_card_state ku_card_copy(struct ku_heap *h, uint32_t lrank, uint32_t epoch, void **bytes,
                                uint32_t *len);

/* What a rank of this node has asked for, of a rank of another: `is` EMPTY, THERE, LACKING or ABSENT.  False: not
 * now, somebody holds the heap's lock. */
bool ku_card_answer(struct ku_heap *h, uint32_t grank, uint32_t epoch, enum ku_card_state is,
                    const void *bytes, uint32_t len);

#endif
