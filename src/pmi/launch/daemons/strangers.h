/* SPDX-License-Identifier: BSD-3-Clause */
/* strangers.h: ranks that have loaded another MPI's library, which knows nothing of this job: each would be rank 0
 * of 1, without a word.
 *
 * Such a rank says nothing to mpiexec, as a program without MPI does.  So while a rank here has not initialised
 * our library, its processes' maps are looked at now and then: soon after the start, then after twice the time
 * each time.  Nothing is done before the ranks have been started, nothing for one that has initialised, and
 * nothing in a job of one. */
#ifndef STRANGERS_H
#define STRANGERS_H

/* The ranks here have been started. */
void strangers_begin(void);
/* When to call strangers_look; 0: never. */
double strangers_due(void);
/* If it is time: what is found is said as ranks' messages are (crew.on_record), once a rank. */
void strangers_look(void);

#endif
