/* SPDX-License-Identifier: BSD-3-Clause */
/* crew.h: the ranks of this machine: their nodes' segments, their processes, and what these say to the daemon.
 *
 * The daemon that judges (node.c) has one for its own machine, the daemons of other hosts (host.c) have one each.  A
 * node is here if its segment is mapped; of a job that is on several hosts at most one is. */
#ifndef CREW_H
#define CREW_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/resource.h>
#include "pmi/launch/job/ranks.h"
#include "start.h"

/* Begin: those signals that are blocked come through crew.signals from here on.  The limits of descriptors, as the
 * ranks shall have them. */
struct rlimit crew_begin(struct launch *l);

/* A new job's id and secret; for the one who judges. */
void crew_new_job(void);

/* Make the segments of the nodes that are here, and plan where ranks run. */
void crew_make(void);

/* Start the ranks that are here; false with a message said and an exit code. */
bool crew_start(const struct start *st, int *code);

/* Children that have ended; before that is judged, what they have said is heard. */
void crew_reap(void);
/* What ranks say. */
void crew_hear(void);

/* Why a rank here ended so, if mpiexec knows better than its status tells; NULL.  To be freed. */
char *crew_why(int rank, int status);

/* To every process of the job here, or if these cannot be seen to each rank; but not to those in process group
 * `but` (0: no exception). */
void crew_signal(int sig, pid_t but);
void crew_signal_ranks(int sig, pid_t but);
/* The user's stop: until every rank stands still, or some time has passed. */
void crew_stop(pid_t but);

/* How many ranks here the terminal has stopped (SIGTTIN, SIGTTOU), as they are not in its foreground; `first` is
 * told of each once. */
int crew_stopped_by_terminal(void (*first)(int rank, int sig));

/* SIGKILL to a rank here; `in_mpi`: if it has begun with MPI and has not ended that. */
void crew_kill(int rank, bool in_mpi);

/* Do the ranks wait in MPI_Init? */
void crew_hold(bool hold);
/* That rank has died: those who stay are to know. */
void crew_gone(int rank, enum ku_gone how);

#endif
