/* SPDX-License-Identifier: BSD-3-Clause */
/* meeting.h: nonblocking collectives at a team (mpid_team.h), by a meeting, a stream, or steps: what a schedule
 * needs of them. */
#ifndef COLL_MEETING_H
#define COLL_MEETING_H

#include "coll.h"
#include "drive.h"
#include "mpid_team.h"

/* One call.  It is in its communicator's list until it has met, or the team is broken. */
struct coll_meeting {
    struct coll_meeting *next;
    struct coll *call;
    const struct coll_alg *row;
    struct MPIR_Driven *driven; /* which goes on with it */
    bool come;                  /* this process has begun with it: only of the first in the list */
    struct MPID_Stream stream;  /* of a broadcast, in place of a meeting: once `come` */
    int64_t there,
        at; /* bytes that the source shows, or why none; those that this process has given or taken */
};

/* The row of a nonblocking call that is done so in all processes; NULL: it is done by messages. */
const struct coll_alg *MPIR_Coll_meeting_row(struct coll *c, struct coll_size *s);
void MPIR_Coll_meeting_begin(struct coll_meeting *m, struct coll *c, const struct coll_alg *row,
                             struct MPIR_Driven *driven);
/* Go on.  COLL_MET: the call is over.  COLL_MET_NEVER: it is to be done by messages, nothing of the user's has
 * changed.  COLL_MET_LATER: `driven` is driven when it is its turn. */
enum coll_met MPIR_Coll_meeting_go(struct coll_meeting *m);
/* Of the first in the list, a broadcast (coll_team.c).  COLL_MET_NEVER: by messages, in all processes. */
enum coll_met MPIR_Coll_stream_go(struct coll_meeting *m);
/* This process does the call with that number (struct coll.when) by messages. */
void MPIR_Coll_meeting_absent(MPIR_Comm *comm, uint32_t when);
/* The communicator has agreed (comm->facts), and the calls that waited for it have begun. */
void MPIR_Coll_meetings_heard(MPIR_Comm *comm);

#endif
