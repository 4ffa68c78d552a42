/* SPDX-License-Identifier: BSD-3-Clause */
/* serve.h: PMI-1, PMI-2 and PMIx for ranks that were linked with another MPI library, by a process beside the
 * daemon (servant.h).  The first rank that is served, or the first parcel from another host, starts it, after
 * crew_make. */
#ifndef SERVE_H
#define SERVE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What is to be this rank's PMI_FD: to be closed when the rank is started. */
int serve_rank(int rank);

/* What this rank is to have in its environment for PMIx: NAME=VALUE, NULL at the end; or NULL and why not.  To be
 * freed, each but the list itself with the first. */
char **serve_environment(int rank, char **why);

/* A child has ended: true if it was the servant.  told: it was to end, and nothing is said of that. */
bool serve_reaped(pid_t pid, int status, bool told);

/* This rank has ended: returns when all that it had said has reached the segment and the control pipe. */
void serve_settle(int rank);

/* The job is over: the servant takes back what it has shown to other jobs, and ends. */
void serve_end(void);

/* A parcel from the servant of another host (share.h).  Those of this host's go to crew.on_parcel. */
void serve_parcel(int from, const void *bytes, size_t len);

/* For poll: how many entries are filled in, one at most; and what has come is passed on. */
int serve_polls(struct pollfd *p);
void serve_move(void);

#endif
