/* SPDX-License-Identifier: BSD-3-Clause */
/* mpid_team.h: collective work of processes of one node through their shared memory: an extension of the ADI
 * beside mpid.h.
 *
 * MPID_Team_*: they wait for each other, and show each other a few bytes.  MPID_Stream_*: one shows the others bytes.
 * MPID_Steps_*: they work together on much data, a bit at a time.  MPID_Reach_*: they copy out of each other's
 * memory. src/mpid/team/README.md explains how. */
#ifndef KEEL_MPID_TEAM_H
#define KEEL_MPID_TEAM_H

#include "mpid.h"

/* Teams: processes of one node that wait for each other, and show each other a few bytes, through memory.  A
 * communicator has at most one.  One of its processes allots it, tells the others its number, and all join; it
 * ends with the communicator.
 *
 * An operation has these steps.  Each process may write at most MPID_World()->team_room bytes to its own room.  All
 * arrive, with the same `what`.  The last to arrive (MPID_TEAM_LAST) may read and write all rooms and
 * then calls MPID_Team_release; the others (MPID_TEAM_WAIT) call MPID_Team_wait, which drives the devices and
 * sleeps as any blocking call does.  After both have returned true all rooms may be read until the process arrives
 * at the next operation, for which MPID_Team_own is other memory already.
 *
 * In an even team, whose members have a core each, nobody is told MPID_TEAM_LAST, and nobody writes to others'
 * rooms: what the last would do each does for itself when it has waited.
 *
 * A team that is broken stays so: its operations end with MPID_TEAM_BROKEN or false, in all processes for which
 * the operation had not ended well, and in no other.  It breaks when a process calls MPID_Team_break, is lost,
 * arrives with another `what`, or says by MPID_Team_absent that it takes no part.  The caller then does by
 * messages what the operation was for. */
enum { MPID_TEAM_SHORT = 48 /* bytes that an even team shows for nothing */ };
enum MPID_TEAM_TURN { MPID_TEAM_BROKEN = 0, MPID_TEAM_WAIT, MPID_TEAM_LAST, MPID_TEAM_MET };
/* A number for a team of comm's processes; 0: they lie on several nodes, or there is no memory. */
uint32_t MPID_Team_allot(const struct MPIR_COMMUNICATOR *comm);
/* The number of the team that is there from the start for one communicator of all processes of a job on one node,
 * in the order of their ranks: the same in all of them, so nobody need tell it.  0: `comm` is not such a one, or
 * MPI was begun before. */
uint32_t MPID_Team_given(const struct MPIR_COMMUNICATOR *comm);
void MPID_Team_join(struct MPIR_COMMUNICATOR *comm, uint32_t number);
/* For operation `when` of the program (it counts up, the same in all) this process uses messages. */
void MPID_Team_absent(struct MPIR_COMMUNICATOR *comm, uint32_t when);
/* What the next operation is, in the caller's own words, for members that find that theirs is another: kept until
 * the process comes to the one after it. */
void MPID_Team_tell(const struct MPIR_COMMUNICATOR *comm, uint64_t words);
/* The words of a member that has come to operation `when`, not by messages; false: it has not, or has gone on. */
bool MPID_Team_told(const struct MPIR_COMMUNICATOR *comm, int32_t rank, uint32_t when, uint64_t *words);
enum MPID_TEAM_TURN MPID_Team_arrive(struct MPIR_COMMUNICATOR *comm, uint32_t when, uint32_t what);
/* Before MPID_Team_arrive: to write; bytes: the most that any member shows, the same in all.  NULL, in all
 * members: there is no memory for so much (never for MPID_TEAM_SHORT bytes or less); then they do not arrive, and
 * use messages. */
void *MPID_Team_own(struct MPIR_COMMUNICATOR *comm, int64_t bytes);
void *MPID_Team_room(const struct MPIR_COMMUNICATOR *comm, int32_t rank); /* after it: to read */
bool MPID_Team_even(const struct MPIR_COMMUNICATOR *comm);
bool MPID_Team_meet(struct MPIR_COMMUNICATOR *comm, uint32_t when,
                    uint32_t what); /* an even one: arrive and wait */
/* In two steps: arrive, as MPID_Team_arrive does (MPID_TEAM_LAST: then MPID_Team_release); then look, now and
 * then, until that is no longer MPID_TEAM_WAIT but MPID_TEAM_MET, or broken.  Before that the team is used for
 * nothing else; other calls may wait, for anything. */
enum MPID_TEAM_TURN MPID_Team_begin(struct MPIR_COMMUNICATOR *comm, uint32_t when, uint32_t what);
enum MPID_TEAM_TURN MPID_Team_look(struct MPIR_COMMUNICATOR *comm);
bool MPID_Team_release(struct MPIR_COMMUNICATOR *comm);
bool MPID_Team_wait(struct MPIR_COMMUNICATOR *comm);
void MPID_Team_break(struct MPIR_COMMUNICATOR *comm);

/* Streams: one member of a team shows the others bytes, and goes on when they are written, not read.  `when` is as
 * for MPID_Team_absent; all members take part, with the same `source`.  A meeting is no stream and the other way
 * round, but both may be used by turns.
 *
 * The source: MPID_Stream_show (bytes may be less than 0: it has a message for the readers, but no data); then,
 * until all bytes are given, MPID_Stream_place and MPID_Stream_give; then MPID_Stream_shown.  A reader:
 * MPID_Stream_see, which tells the number of bytes or MPID_STREAM_LOST (the source is gone, or has refused the
 * call whose messages have the tag); MPID_Stream_next and MPID_Stream_took, until all is taken (also if it is not
 * wanted); then MPID_Stream_end.  Next is NULL if the source is lost.  Whether the team is broken does not matter.
 *
 * Or the source lends what lies at `at` in its own memory, which it has offered (MPID_Reach_offer):
 * MPID_Stream_lend, then MPID_Stream_rest, which waits until all have ended the stream (after MPID_Stream_shown,
 * too); those for which MPID_Stream_refused could not read it.  A reader finds `lent` set after MPID_Stream_see
 * and takes it by MPID_Stream_borrow (false: it cannot be read) instead of Next and Took. */
enum {
    MPID_STREAM_SHORT = 1000 /* bytes that cost the least */,
    MPID_STREAM_LOST = -2,
    MPID_STREAM_MESSAGES = -3
};
struct MPID_Stream {
    struct MPIR_COMMUNICATOR *comm;
    uint64_t operation, last, first, piece;
    int64_t bytes, at;
    uint64_t lent; /* a reader: the address in the source; 0: it is shown */
    int32_t source;
};
/* For a stream that goes on in later calls: would MPID_Stream_show, _place, _see or _next (so called) not wait
 * now?  After false this process, should it sleep for whatever reason, is woken when that has changed; it asks
 * again before it uses the team for anything else. */
bool MPID_Stream_may_show(struct MPIR_COMMUNICATOR *comm, uint32_t when);
bool MPID_Stream_may_place(const struct MPID_Stream *s);
bool MPID_Stream_may_see(struct MPIR_COMMUNICATOR *comm, uint32_t when, int32_t source, int tag);
bool MPID_Stream_may_next(const struct MPID_Stream *s);
/* Before a team's first stream; false, in all members: there is no memory for streams. */
bool MPID_Stream_ready(struct MPIR_COMMUNICATOR *comm);
/* False: there is no memory to show so much; the stream has ended, and the readers see MPID_STREAM_MESSAGES. */
bool MPID_Stream_show(struct MPID_Stream *s, struct MPIR_COMMUNICATOR *comm, uint32_t when, int64_t bytes);
void *MPID_Stream_place(struct MPID_Stream *s, int64_t *bytes); /* where the next so many bytes go */
void MPID_Stream_give(struct MPID_Stream *s, int64_t bytes);
void MPID_Stream_shown(struct MPID_Stream *s);
int64_t MPID_Stream_see(struct MPID_Stream *s, struct MPIR_COMMUNICATOR *comm, uint32_t when, int32_t source,
                        int tag);
const void *MPID_Stream_next(struct MPID_Stream *s, int64_t *bytes);
void MPID_Stream_took(struct MPID_Stream *s, int64_t bytes);
void MPID_Stream_end(struct MPID_Stream *s);
void MPID_Stream_lend(struct MPID_Stream *s, struct MPIR_COMMUNICATOR *comm, uint32_t when, int64_t bytes,
                      const void *at);
void MPID_Stream_rest(const struct MPID_Stream *s);
bool MPID_Stream_refused(const struct MPID_Stream *s, int32_t rank);
bool MPID_Stream_borrow(struct MPID_Stream *s, void *to, int64_t n);
/* This process takes no part in stream `when`, if it is one. */
void MPID_Stream_skip(struct MPIR_COMMUNICATOR *comm, uint32_t when);

/* Steps: the members of a team work together on much data, a bit at a time.  Each has a bench of
 * MPID_World()->team_bench bytes that all may read, and which it alone writes, and counts its steps; what they
 * mean is agreed between the callers.  All members begin an operation of the same number of steps, and bytes on
 * each bench, right after a meeting that tells them that all do; the result is the bytes of those before. */
/* Before that meeting; false, in all members: there is no memory for the benches. */
bool MPID_Steps_ready(struct MPIR_COMMUNICATOR *comm);
uint64_t MPID_Steps_begin(struct MPIR_COMMUNICATOR *comm, uint64_t steps, uint64_t bytes);
void *MPID_Steps_bench(const struct MPIR_COMMUNICATOR *comm, int32_t rank);
/* This process has done step `step` (counted from 1) and those before; at the end of the operation, all. */
void MPID_Steps_done(struct MPIR_COMMUNICATOR *comm, uint64_t step);
/* Until `rank` has done that step.  False: it, or another member, is lost before its last step, so some members
 * cannot go on: then the operation has failed, and the team is not used again. */
bool MPID_Steps_wait(struct MPIR_COMMUNICATOR *comm, int32_t rank, uint64_t step);
/* For an operation that goes on in later calls: would that not wait now?  False as for MPID_Stream_may_show. */
bool MPID_Steps_may_go(struct MPIR_COMMUNICATOR *comm, int32_t rank, uint64_t step);
/* A rank that is lost before its last step, -1: none. */
int32_t MPID_Steps_lost(const struct MPIR_COMMUNICATOR *comm);
/* Are so many bytes, all that the members read and write, best written past the caches (KEEL_PAST_CACHE)? */
bool MPID_Steps_past(int64_t bytes);

/* Reach: members of a team that copy straight out of each other's memory, where the system lets them. */
/* The members may read this process's memory from now on; false: they cannot. */
bool MPID_Reach_offer(const struct MPIR_COMMUNICATOR *comm);
/* When all have offered: can this process read the memory of all others? */
bool MPID_Reach_all(const struct MPIR_COMMUNICATOR *comm);
/* n bytes at address `from` of `rank`; false: they cannot be had (any more).  Does not wait for it. */
bool MPID_Reach_copy(const struct MPIR_COMMUNICATOR *comm, int32_t rank, void *to, uint64_t from, int64_t n);

#endif
