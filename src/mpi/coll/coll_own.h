/* SPDX-License-Identifier: BSD-3-Clause */
/* coll_own.h: persistent collectives that meet at a team of their own. */
#ifndef COLL_OWN_H
#define COLL_OWN_H

#include "meeting.h"

struct coll_own;

/* Collective over the call's communicator, an intracommunicator whose facts are known.  c lasts as long as it
 * does, or this process is not able to have it.  NULL: the call goes by messages, in all processes.  *err: an
 * error class. */
struct coll_own *MPIR_Coll_own_make(const struct coll *c, const struct coll_size *s, bool able, int tag,
                                    int *err);
void MPIR_Coll_own_free(struct coll_own *o);
/* Begin the meeting of a start; false: the team is broken, and it goes by messages. */
bool MPIR_Coll_own_start(struct coll_own *o, struct coll_meeting *m, struct MPIR_Driven *driven);
/* It is over (COLL_MET): what went wrong is c's. */
void MPIR_Coll_own_end(struct coll_own *o, struct coll *c);

#endif
