/* SPDX-License-Identifier: BSD-3-Clause */
/* accord.h: agreement among members of a communicator that may fail meanwhile, step by step. */
#ifndef COMM_ACCORD_H
#define COMM_ACCORD_H

#include <stdbool.h>
#include "comm.h"

/* The bitwise or of some words over all members that live, and who does not, for MPI_COMM_WORLD's group of some
 * communicator.  Words 0 .. words - 1 are the caller's; behind them follow the bits of members that are known to be
 * lost, of the sum. */
struct accord;

/* A number of this communicator's next agreement: each member counts the same. */
int MPIR_Accord_tag(MPIR_Comm *comm);
/* Begin one, with the tag; `mine` is copied.  Collective over the members of comm that live.  NULL: no memory (nothing
 * has been said to others, who will wait: the caller ends the job). */
struct accord *MPIR_Accord_begin(MPIR_Comm *comm, int tag, const uint64_t *mine, int words);
/* Go on as far as possible; never blocks.  True: it is over, with the same words in all members, now or ever. */
bool MPIR_Accord_step(struct accord *a);
/* Of one that is over: [words] and [MPIR_Accord_bits words] of the members that it has found to be lost. */
const uint64_t *MPIR_Accord_words(const struct accord *a);
const uint64_t *MPIR_Accord_lost(const struct accord *a);
static inline int MPIR_Accord_bits(const MPIR_Comm *comm)
{
    return (comm->adi.size + 63) / 64;
}
/* The caller has what it wants of one that is over.  It is kept as long as others may need to hear its words. */
void MPIR_Accord_done(struct accord *a);

#endif
