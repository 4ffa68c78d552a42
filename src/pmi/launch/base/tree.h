/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.h: every descendant of this process. */
#ifndef LAUNCH_TREE_H
#define LAUNCH_TREE_H

#include <stdbool.h>
#include <sys/types.h>

/* Send `sig` to each, except those in process group `but` (0: no exception).  How many; -1 if /proc cannot be
 * read. */
int tree_signal(int sig, pid_t but);
/* Kill and reap until none is left, and remove the folder for their files; false if some would not go within 10 s
 * (reported by the caller). */
bool tree_end(void);
/* Whoever is in this process group is no process of the job: tree_signal leaves it alone (tree_end does not). */
void tree_spare(pid_t group);
/* Nor is this process, nor those that it has started, until tree_end or pid 0. */
void tree_release(pid_t pid);

#endif
