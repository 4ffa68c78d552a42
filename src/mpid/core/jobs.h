/* SPDX-License-Identifier: BSD-3-Clause */
/* jobs.h: processes of other jobs, for the core's own files (what the layer above sees of it is in mpid.h).
 *
 * A job that this process has met has a block of peers' numbers behind those of its own job: number base + rank.
 * The processes of it that have been introduced have an entry with what a device asks for to reach them. */
#ifndef MPID_JOBS_H
#define MPID_JOBS_H

#include <stdbool.h>
#include <stdint.h>
#include "device.h"

/* dev_services.identity, .peer_of */
bool MPID_Jobs_identity(void *core, int32_t peer, struct dev_identity *id);
int32_t MPID_Jobs_peer_of(void *core, uint64_t job, int32_t rank);
void MPID_Jobs_left(void *core, int32_t peer); /* dev_services.peer_left */
/* The card of a process of another job; NULL: it has not been introduced.  It stays until the process is forgotten. */
const void *MPID_Jobs_card(int32_t peer, uint32_t *len);

bool MPID_Jobs_met(void); /* some */
/* Those that this process is connected to: how many, and the first `most` of their names. */
int32_t MPID_Jobs_connected(uint64_t *name, int32_t most);
bool MPID_Jobs_awaited(void); /* MPID_Others_awaited */
/* A wait has met nothing for long: have each job that is connected tell who of it is gone. */
void MPID_Jobs_watch(void);
void MPID_Jobs_watched_by(int32_t peer);         /* PKT_WATCH */
void MPID_Jobs_died(int32_t peer, int32_t rank); /* PKT_DIED */
/* The launcher has seen some of this job die: tell who watches it. */
void MPID_Jobs_tell(void);
struct peer;
bool MPID_Jobs_next_dead(const struct peer *p,
                         int32_t *rank); /* of whom it has not been told; false: there is none */
void MPID_Jobs_fini(void);

#endif
