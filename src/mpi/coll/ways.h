/* SPDX-License-Identifier: BSD-3-Clause */
/* ways.h: the two ways of much data within a team, and which one is faster.
 *
 * Shown: at the benches, copied twice or more by two processes at once (pieces.c, slices.c).  Read: straight out
 * of the other's memory (MPID_Reach_*), copied once by one.  Which is faster depends on where the cores lie, on
 * whether ranks share them, and on the size, and the first two change while a job runs.  So it is measured, for
 * each communicator, collective and class of sizes.
 *
 * The members must take the same way.  Each shows at the meeting with which a call begins when it began and ended
 * the call before; so all know how long that took from the first to the last of them, and draw the same
 * conclusion.  Calls that do not wait have figures of their own, which tell what the program does meanwhile, too. */
#ifndef COLL_WAYS_H
#define COLL_WAYS_H

#include "coll.h"
#include "mpid_team.h"

/* All meet to work on so many bytes, the same in all, each with what others may read: an address, COLL_NOTHING if
 * it has nothing for others, 0 if what it has cannot be read so; `result`: of what it will have for others.  After
 * it c->way is COLL_SHOWN or COLL_READ. */
#define COLL_NOTHING ((const void *)1)
enum coll_met MPIR_Ways_meet(struct coll *c, int64_t bytes, const void *at, const void *result);
/* The same where what a call is for shows at its meeting only: they know who can read whom; before the meeting,
 * the beginning of a room of so many bytes, the same in all (NULL: by messages); after it. */
enum { COLL_SAID = 40 /* bytes of each room */ };
enum coll_met MPIR_Ways_ready(struct coll *c);
void *MPIR_Ways_say(struct coll *c, int64_t room, const void *at, const void *result);
void MPIR_Ways_hear(struct coll *c, int64_t bytes);
/* COLL_READ: where `rank` has what it said, or its result; n bytes at an address of `rank`. */
uint64_t MPIR_Ways_at(const struct coll *c, int32_t rank);
uint64_t MPIR_Ways_result(const struct coll *c, int32_t rank);
void MPIR_Ways_read(struct coll *c, int32_t rank, uint64_t at, void *to, int64_t n);
/* COLL_READ: all meet again: turn 1, 2, ...  COLL_MET_NEVER: somebody could not read, or is lost: nobody has the
 * result. */
enum coll_met MPIR_Ways_next(struct coll *c, int turn);
/* The call is over here. */
void MPIR_Ways_end(struct coll *c);

/* In a broadcast the root decides alone, by how long it took until all had the data.  Is it to be lent
 * (MPID_Stream_lend)? */
bool MPIR_Ways_lends(struct coll *c, int64_t bytes);
/* After what it said: is the root to wait for the others, and then to say so? */
bool MPIR_Ways_times(const struct coll *c);
void MPIR_Ways_timed(struct coll *c);
/* Somebody could not read what was lent. */
void MPIR_Ways_no_lending(struct coll *c);

#endif
