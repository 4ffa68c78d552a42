/* SPDX-License-Identifier: BSD-3-Clause */
/* body.h: the bodies of frames between hosts that hold more than a number or a text (doc/wire.md, "Between mpiexec
 * and its daemons").
 *
 * Each put_ has its get_.  Whatever the bytes are, what get_ gives can be used: texts end, and a body that is not
 * whole is `wrong`. */
#ifndef BODY_H
#define BODY_H

#include "pmi/launch/frames/frame_pack.h"

struct pmi_record;
struct hang_state;
struct card_answer;

struct frame_hello {
    uint32_t link_version, segment_version, word_bytes, cpus;
};

/* A text follows: what the host knows of the reason (crew_why); none: nothing. */
struct frame_ended {
    int32_t pid, status;
    uint32_t state; /* enum ku_rank_state, as it was at last; so the next two */
    int32_t abort_code;
    uint32_t found_gone;
};

void put_hello(struct pack *p, const struct frame_hello *h);
void get_hello(struct unpack *u, struct frame_hello *h);
void put_ended(struct pack *p, const struct frame_ended *e);
void get_ended(struct unpack *u, struct frame_ended *e);
/* With what follows the record: r->len bytes, valid until u's are gone, or until the next record. */
void put_record(struct pack *p, const struct pmi_record *r, const char *bytes);
const char *get_record(struct unpack *u, struct pmi_record *r);
/* What is wanted of a card, and the card: `rank` is not in the body, and a->bytes are the unpack's. */
void put_want(struct pack *p, uint32_t epoch, int node);
void get_want(struct unpack *u, uint32_t *epoch, int *node);
void put_card(struct pack *p, const struct card_answer *a);
void get_card(struct unpack *u, struct card_answer *a);
void put_state(struct pack *p, const struct hang_state *s);
void get_state(struct unpack *u, struct hang_state *s);

#endif
