/* SPDX-License-Identifier: BSD-3-Clause */
/* scratch.h: the folder for files of a job that somebody else's library makes (serve_pmix.c).
 *
 * Its name is settled before mpiexec forks for the first time, so that each process that may outlive the others
 * removes it: whoever ends what is left of a job (tree_end), and the process that needed it.  Daemons of other
 * hosts that run on this machine (-launcher fork) are told it, and make theirs in it: they may be killed with all
 * that is left of the job. */
#ifndef SCRATCH_H
#define SCRATCH_H

void scratch_init(void);

/* The environment with the word for such daemons; made once. */
char **scratch_environment(void);

/* Make it, if it is not there yet, in memory if there is a file system for that: its path, or NULL with errno.  It is
 * held; those that nobody holds any more are removed: all processes of their jobs have been killed at once. */
const char *scratch_make(void);

/* So long as this process lives, the folder is no stale one. */
void scratch_hold(void);

/* With all that is in it, if it is there. */
void scratch_remove(void);

#endif
