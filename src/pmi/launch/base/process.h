/* SPDX-License-Identifier: BSD-3-Clause */
/* process.h: what the system says of a process. */
#ifndef LAUNCH_PROCESS_H
#define LAUNCH_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* "computing", "in a system call (hrtimer_nanosleep)", ... */
void process_words(pid_t pid, char *text, size_t size);

/* Does it run, or want to?  Then also for how many seconds it has run so far (0: unknown). */
bool process_runs(pid_t pid, double *seconds);

/* Can anything but the call that this process waits in go on, or go on for it: a thread (any, if those may call
 * MPI; else one that computes or sleeps for a time), a handler of a signal?  Also if that cannot be told. */
bool process_has_others(pid_t pid, bool threads_may_call);

#endif
