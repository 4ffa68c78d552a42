/* SPDX-License-Identifier: BSD-3-Clause */
/* accord.h: agreement among members of a communicator that may fail meanwhile, step by step. */
#ifndef COMM_ACCORD_H
#define COMM_ACCORD_H

#include <stdbool.h>
#include "comm.h"

/* The bitwise or of some words over the members of an intracommunicator that live, and a bit of each that does not. */
struct accord;

/* A number of this communicator's next agreement: each member counts the same. */
int MPIR_Accord_tag(MPIR_Comm *comm);
/* Begin one, with the tag; `mine` is copied.  Collective over the members of comm that live.  Without
 * memory the job ends, as the others would wait. */
struct accord *MPIR_Accord_begin(MPIR_Comm *comm, int tag, const uint64_t *mine, int words);
/* That end. */
void MPIR_Accord_no_memory(void) __attribute__((noreturn));
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
