/* SPDX-License-Identifier: BSD-3-Clause */
/* oom.h: was it the kernel that killed a rank, because there was no memory? */
#ifndef OOM_H
#define OOM_H

/* Note what the kernel's counters say before the job begins.  `where`: what is said of this machine: "this machine". */
void oom_init(const char *where);

/* A process of the job here has ended so: what to say of it if that was the kernel, for lack of memory, or may
 * have been; else NULL. To be freed.  It was if the control group in which mpiexec and its ranks are counts one
 * more process killed for that than this function has told of; it may have been if the machine does, in whichever
 * group. */
char *oom_words(int status);

#endif
