/* SPDX-License-Identifier: BSD-3-Clause */
/* mpid_others.h: processes of other jobs (mpid.h). */
#ifndef KEEL_MPID_OTHERS_H
#define KEEL_MPID_OTHERS_H

#include "mpid_base.h"

/* ---- Processes of other jobs (extension) ----------------------------------------------------- */

/* Processes of other jobs.  A process that has been introduced has a global rank in this process alone, not below
 * the job's size: two processes speak of a third one by its name (struct MPID_Process), which is the same in all.
 * Two can communicate as soon as each has been introduced to the other; what one sends before the other knows it
 * waits. */
struct MPID_Process {
    uint64_t job;
    int32_t rank; /* in its job */
};
enum { MPID_JOB_KEY = 32 };
struct MPID_Introduction {
    struct MPID_Process who;
    int32_t job_size;
    uint32_t epoch;
    uint8_t key[MPID_JOB_KEY]; /* of its job: who knows it can talk to the job's processes */
    const void *card;          /* its addresses */
    uint32_t card_len;
};
/* Open what reaches other jobs' processes; an error class. */
int MPID_Others_begin(void);
/* This process's addresses, after that: writes at most cap bytes, returns how many there are; 0: no memory. */
size_t MPID_Others_card(void *buf, size_t cap);
/* What others are to be told of this process, with that card. */
void MPID_Introduction_own(struct MPID_Introduction *i, const void *card, size_t len);
/* The global rank of the process from now on (of one of this job, the one it has); -1: *error_code says why.  It
 * is connected until it has been disconnected as often as it was introduced and connected. */
int32_t MPID_Introduce(const struct MPID_Introduction *i, int *error_code);
void MPID_Other_connect(int32_t grank); /* these four do nothing for a process of this job */
void MPID_Other_disconnect(int32_t grank);
/* Somebody holds its global rank: until it is released as often no other process gets it. */
void MPID_Other_keep(int32_t grank);
void MPID_Other_release(int32_t grank);
/* Memory shared with processes of other jobs on this node (core/joint.c).  Of two groups that meet one process
 * makes a joint segment with a place for each process of both; those that are where it is open it; then all keep
 * it if nobody has failed and somebody wants it. */
struct MPID_JOINT;
struct MPID_Joint_name {
    uint64_t id, where; /* where: node and user; id 0: there is no segment */
    int32_t pid, fd;    /* of who has made it */
};
enum MPID_JOINT_VOTE {
    MPID_JOINT_USELESS,
    MPID_JOINT_WANTED,
    MPID_JOINT_FAILED
};                                  /* the largest of all counts */
uint64_t MPID_Joint_where(void);    /* where this process is; 0: it can have no part in one */
bool MPID_Joint_has(int32_t grank); /* that process, by a segment that is kept */
/* NULL, and no name: it cannot be made. */
struct MPID_JOINT *MPID_Joint_make(int32_t places, struct MPID_Joint_name *name);
/* Take the place `me`.  others[n]: the numbers here of those of the other group, whose places begin at `first`;
 * -1: of one elsewhere. `made`: by this process, and it is gone if NULL is returned; else NULL. */
struct MPID_JOINT *MPID_Joint_open(struct MPID_JOINT *made, const struct MPID_Joint_name *name,
                                   int32_t places, int32_t me, int32_t first, const int32_t *others,
                                   int32_t n, enum MPID_JOINT_VOTE *vote);
/* The one that serves all those of these processes that are of other jobs, and its id; NULL: there is none, or no
 * such process. */
struct MPID_JOINT *MPID_Joint_of(const int32_t *granks, int32_t n, uint64_t *id);
/* Before anything is sent to the others.  NULL is legal. */
void MPID_Joint_settle(struct MPID_JOINT *joint, bool keep);
/* Part with processes that are no more connected, as far as all that was sent to them has arrived: they may be
 * introduced again. */
void MPID_Others_part(void);
void MPID_Process_of(int32_t grank, struct MPID_Process *p);
/* Its global rank here; -1: it has not been introduced. */
int32_t MPID_Process_find(const struct MPID_Process *p);
/* This process waits for another job to come, which no rank of its own job need bring about. */
void MPID_Others_awaited(bool on);
bool MPID_Others_may_come(void); /* it does, or has met some */

#endif
