/* SPDX-License-Identifier: BSD-3-Clause */
/* learn.h: which of two ways is faster, by the times that calls took; for one communicator, collective and class
 * of sizes.
 *
 * What is faster changes while a job runs: the cores it has may be moved apart, or together again.  So figures are
 * never taken for granted:
 * a way that has become dearer than it was, twice running, is believed to be, and the other one is tried at once;
 * and now and then it is tried anyhow, as nothing else would tell that it has become cheaper.  Who is told the
 * same times draws the same conclusions. */
#ifndef COLL_LEARN_H
#define COLL_LEARN_H

#include <stdbool.h>
#include <stdint.h>

enum { LEARN_WAYS = 2 };

/* All zero: nothing is known. */
struct learnt {
    uint64_t ns[LEARN_WAYS]; /* what a call takes */
    uint64_t slow_ns;        /* the least of the slow calls in a row */
    uint8_t seen[LEARN_WAYS];
    uint8_t slow;             /* how many of them, up to as many as are believed */
    uint8_t way;              /* the one in use */
    uint8_t trial;            /* enum trial: what the other way is being tried for */
    uint8_t last;             /* 1 + the way of the call before; 0: there was none */
    bool cold;                /* that one touched what was in nobody's cache; it does not count */
    uint16_t since, patience; /* calls since the last trial; before which slow calls do not lead to one */
};

/* The way that the next call is to take: 0 or 1. */
int MPIR_Learn_next(struct learnt *l);
/* That call is about to touch new memory: it does not count. */
void MPIR_Learn_cold(struct learnt *l);
/* It took so long. */
void MPIR_Learn_took(struct learnt *l, int way, uint64_t ns);
/* Is the time of the next call wanted, where finding it out costs something? */
bool MPIR_Learn_asks(const struct learnt *l, int way);

#endif
