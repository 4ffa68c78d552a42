/* SPDX-License-Identifier: BSD-3-Clause */
/* elder.h: PMIx for the ranks of a job that ranks which are served PMIx have spawned (PMIx_Spawn).
 *
 * Processes that meet must be known to one server of libpmix on their host.  So the servant of the spawning job,
 * the elder, serves those of the spawned job, too, and tells the servant of that job, the younger, what its daemon
 * is to know.  This is the younger's side; serve_pmix_spawn.c has the other.  What they say is in packets.h. */
#ifndef ELDER_H
#define ELDER_H

#include <stdbool.h>
#include "pmi/launch/frames/packets.h"

/* The descriptor that leads to the elder; -1: there is none. */
int elder_fd(void);

/* Ask for a rank's environment: PACKET_SET or PACKET_REFUSED goes to the daemon some time. */
void elder_environment(struct packets *daemon, int rank);

/* This rank has ended.  True: PACKET_SETTLED goes to the daemon when the elder has said all that it knows of it. */
bool elder_settle(int rank);

/* Something has come. */
void elder_hear(struct packets *daemon);

#endif
