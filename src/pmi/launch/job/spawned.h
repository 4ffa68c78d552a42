/* SPDX-License-Identifier: BSD-3-Clause */
/* spawned.h: the jobs that ranks here have spawned (MPI_Comm_spawn), each by its mpiexec, which is this process's
 * child. */
#ifndef LAUNCH_SPAWNED_H
#define LAUNCH_SPAWNED_H

#include <stdbool.h>
#include <sys/types.h>

/* A rank tells that it has started one; that its processes are there; that no rank is connected to it any more. */
void spawned_add(pid_t pid);
void spawned_born(pid_t pid);
void spawned_free(pid_t pid);

/* This child has ended.  False: it is no job's mpiexec. */
bool spawned_ended(pid_t pid, int status);

/* Those that ranks here are connected to: their mpiexecs; at most `most`, returns how many there are. */
int spawned_pids(pid_t *pid, int most);

#endif
