/* SPDX-License-Identifier: BSD-3-Clause */
/* doubts.h: ranks that cannot reach each other, though their daemons say that they live (mpiexec -with-ft).
 *
 * A rank whose connection to another one has ended, or is silent, takes that one for lost; the other one, or a third,
 * may see it otherwise.  All are to see the same, so whoever judges ends ranks until no two of those that live are
 * such a pair: the one first that is in the most of them, of equals the highest.  Most words are of ranks that are
 * dying: their ends come to be known soon, so a moment is waited for them. */
#ifndef DOUBTS_H
#define DOUBTS_H

/* `by` has told that it cannot reach `rank`; both are ranks of the job. */
void doubts_add(int by, int rank);
/* When doubts_settle is to be called; 0: never. */
double doubts_due(void);
/* `end` is told whom to end, and a rank that could not reach it, or that it could not reach. */
void doubts_settle(void (*end)(int rank, int other));

#endif
