/* SPDX-License-Identifier: BSD-3-Clause */
/* hang_text.h: the words of the roll-call, for hang_text.c and hang_graph.c. */
#ifndef HANG_TEXT_H
#define HANG_TEXT_H

#include "hang.h"

/* The operation that a rank waits for, the first of several; NULL: none, or it did not answer. */
const struct ku_seg_op *hang_first_op(const struct hang_rank *r);
/* Of two ranks that have such an operation. */
bool hang_same_comm(const struct hang_rank *a, const struct hang_rank *b);
/* In a call of all members of a communicator: it waits for the library's own messages. */
bool hang_is_collective(const struct hang_rank *r);
const char *hang_collective(const struct hang_rank *r);
bool hang_same_collective(const struct hang_rank *a, const struct hang_rank *b);
/* Is rank i in the communicator of that rank's first operation?  False if it cannot be told. */
bool hang_is_member(const struct hang_rank *of, int i);
/* Seconds without an event; 0: it is awake. */
double hang_waited(const struct hang_rank *r);

void hang_put_comm(FILE *out, const struct ku_seg_op *op); /* " on MPI_COMM_WORLD" */
void hang_put_ranks(FILE *out, const unsigned char *mark); /* "rank 3", "ranks 0-2, 5": those with the mark */
void hang_put_state(FILE *out, const struct hang_rank *r); /* of a rank that did not answer */
/* The call, and of what it waits for this one only. */
void hang_put_link(FILE *out, const struct hang_rank *r, const struct ku_seg_op *op);

/* hang_graph.c: who waits for whom. */
void hang_graph(FILE *out, struct hang_rank *ranks, int n, bool family);

#endif
