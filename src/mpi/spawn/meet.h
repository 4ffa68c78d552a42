/* SPDX-License-Identifier: BSD-3-Clause */
/* meet.h: two groups that do not know each other become the groups of an intercommunicator. */
#ifndef SPAWN_MEET_H
#define SPAWN_MEET_H

#include "comm.h"
#include "spawn_link.h"

struct meeting {
    /* At the root: find the other group's root.  An error class, recorded. */
    int (*reach)(struct meeting *m, struct link *l);
    void *arg;
    int32_t word; /* of the root, told to all: also where it fails */
};

/* Collective over comm, an intracommunicator.  err: what this process has met so far (recorded); then all fail. */
int MPIR_Meet(MPIR_Comm *comm, int root, int err, struct meeting *m, MPIR_Comm **newcomm);

#endif
