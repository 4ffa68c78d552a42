/* SPDX-License-Identifier: BSD-3-Clause */
/* cards.h: business cards on their way between nodes (util/card.h, doc/wire.md).
 *
 * A rank asks its daemon for the card of a rank of another node (PMI_ASK); the daemon of that node reads it from
 * the segment when it is there, and the first one puts it into the segment of its node.  Who judges passes both
 * on, and keeps nothing. */
#ifndef CARDS_H
#define CARDS_H

#include <stddef.h>
#include <stdint.h>
#include "util/card.h"

struct card_answer {
    uint32_t rank, epoch;  /* whose, and in which epoch that was asked */
    int node;              /* where it is wanted */
    enum ku_card_state is; /* EMPTY, THERE, LACKING, ABSENT or PAST */
    const void *bytes;
    uint32_t len;
};

/* `answer` gets the cards that are wanted on nodes that are not here. */
void cards_init(void (*answer)(const struct card_answer *a));

/* The card of a rank of this machine is wanted on a node: it is sent there now, or when the rank has told that it
 * is there. */
void cards_want(uint32_t rank, uint32_t epoch, int node);
/* The rank has told so. */
void cards_there(uint32_t rank);
/* The rank's process has ended with 0 before it had begun with MPI: those who ask are told.  A child of it may
 * still write the card. */
void cards_absent(uint32_t rank);
/* Nothing is to be sent for it any more. */
void cards_gone(uint32_t rank);

/* For a node of this machine. */
void cards_take(const struct card_answer *a);

/* When cards_move is to be called; 0: never. */
double cards_due(void);
/* What could not be read or stored, as a rank had the heap's lock. */
void cards_move(void);

#endif
