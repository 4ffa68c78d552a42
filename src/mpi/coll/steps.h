/* SPDX-License-Identifier: BSD-3-Clause */
/* steps.h: collectives on much data at a team, a bit at a time (MPID_Steps_* in mpid_team.h).
 *
 * The data is worked on in rounds.  On each bench there is room for a few rounds, used in turn, of some chunks
 * each; what is in a chunk is packed.  So processes may describe their data by different types.
 *
 * A row prepares a call and then says what is to go on with it (MPIR_Steps_run).  That goes on from where the call
 * is: until it is over, and waits where it has to; or, in a call that does not wait, as far as the others let it,
 * and is called again when the process looks at its devices (meeting.c).  Which of the two it is shows in what the
 * functions below answer alone: what has to wait says so only in the latter. */
#ifndef COLL_STEPS_H
#define COLL_STEPS_H

#include "coll.h"
#include "mpid_team.h"

struct coll_steps {
    struct coll *c;
    enum coll_met (*go_on)(struct coll_steps *x); /* COLL_MET_NEVER: team_broke is set */
    int64_t chunk;                                /* bytes of one */
    int64_t rounds;                               /* of the call */
    int64_t depth;                                /* rounds for which there is room */
    int64_t first;                                /* where the first one has its room */
    int32_t chunks;                               /* of a round on a bench */
    bool past;                                    /* what is taken is written past the caches */
    bool lost;      /* somebody is: an error has been noted, and nothing is waited for any more */
    int64_t steps;  /* of the call */
    int64_t unit;   /* of its work: the next one, */
    int32_t others; /* which has been done with so many of the others */
};

/* All zero but for the call: in `here`, or, if the call does not wait, in memory that is there until it ends. */
void *MPIR_Steps_keep(struct coll *c, void *here, size_t bytes);
/* The row has prepared it; team_broke says what has become of it. */
void MPIR_Steps_run(struct coll_steps *x, enum coll_met (*go_on)(struct coll_steps *x));
/* Its work, `units` of it one after the other, and then what MPIR_Steps_begin was told.  `work` does one; false:
 * it has to wait, and does what is left of that one when it is called again. */
enum coll_met MPIR_Steps_work(struct coll_steps *x, int64_t units,
                              bool (*work)(struct coll_steps *x, int64_t unit));

/* Room for `chunks` chunks a round; no chunk need be longer than `most` bytes.  All members together take `taken`
 * bytes. */
void MPIR_Steps_divide(struct coll_steps *x, struct coll *c, int32_t chunks, int64_t most, int64_t taken);
/* The call takes so many steps of each: all have met. */
void MPIR_Steps_begin(struct coll_steps *x, int64_t steps);
void *MPIR_Steps_chunk(const struct coll_steps *x, int32_t rank, int64_t round, int32_t chunk);
/* Until `rank` has done `step`, if that is one; false: not yet, or lost. */
bool MPIR_Steps_wait(struct coll_steps *x, int32_t rank, int64_t step);
/* Until all but this process have. */
bool MPIR_Steps_wait_all(struct coll_steps *x, int64_t step);
void MPIR_Steps_done(struct coll_steps *x, int64_t step);

/* Bytes at .. at + n - 1 of count elements of a type, packed: to a chunk of this process's bench; from a chunk of
 * another's, which is not read again (x: NULL: of a room). */
void MPIR_Steps_put(void *chunk, const struct coll_block *from, int64_t at, int64_t n);
void MPIR_Steps_take(const struct coll_steps *x, const void *chunk, const struct coll_block *to, int64_t at,
                     int64_t n);

#endif
