/* SPDX-License-Identifier: BSD-3-Clause */
/* accord.h: agreement among members of a communicator that may fail meanwhile, step by step. */
#ifndef COMM_ACCORD_H
#define COMM_ACCORD_H

#include <stdbool.h>
#include "comm.h"

/* The bitwise or of some words, or the maximum, over the members of a communicator that live, and a bit of each that
 * does not. */
struct accord;

/* Who takes part: of an intercommunicator both groups, the left one first, as numbers from 0 on. */
int32_t MPIR_Accord_members(const MPIR_Comm *comm);
/* Of the local group, or of the remote one. */
int32_t MPIR_Accord_first(const MPIR_Comm *comm, bool local);
int32_t MPIR_Accord_grank(const MPIR_Comm *comm, int32_t member);
/* Words that have a bit of each. */
static inline int MPIR_Accord_bits(const MPIR_Comm *comm)
{
    return (MPIR_Accord_members(comm) + 63) / 64;
}

/* The first of n numbers for agreements of this communicator: each member counts the same. */
uint32_t MPIR_Accord_numbers(MPIR_Comm *comm, uint32_t n);
/* Messages of MPID_CONTEXT_FAIL with this tag are those of the number; another kind of agreement may have it
 * instead. */
int MPIR_Accord_tag(uint32_t number);
/* Begin the one with that number; `mine` is copied; of the first `maxima` words the maximum counts.  Collective over
 * the members of comm that live.  base: a bit of each member that all others know to be lost, as an earlier
 * agreement has said that was over at all of them before they began this one; NULL: none.  Without memory the job
 * ends, as the others would wait. */
struct accord *MPIR_Accord_begin(MPIR_Comm *comm, uint32_t number, const uint64_t *base, const uint64_t *mine,
                                 int words, int maxima);
/* That end. */
void MPIR_Accord_no_memory(void) __attribute__((noreturn));
/* Go on as far as possible; never blocks.  True: it is over, with the same words in all members, now or ever. */
bool MPIR_Accord_step(struct accord *a);
/* Of one that is over: [words] and [MPIR_Accord_bits words] of the members that it has found to be lost. */
const uint64_t *MPIR_Accord_words(const struct accord *a);
const uint64_t *MPIR_Accord_lost(const struct accord *a);
/* The caller has what it wants of one that is over.  It is kept as long as others may need to hear its words. */
void MPIR_Accord_done(struct accord *a);

#endif
