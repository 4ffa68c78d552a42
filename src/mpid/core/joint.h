/* SPDX-License-Identifier: BSD-3-Clause */
/* joint.h: joint segments, for the core's own files (what the layer above sees of them is in mpid.h). */
#ifndef MPID_JOINT_H
#define MPID_JOINT_H

#include <stdbool.h>
#include <stdint.h>
#include "util/segment.h"

enum { CORE_JOINTS = 32 /* more groups on this node are met over the network's devices */ };

struct core_dev;
struct ku_heap;
struct MPID_JOINT;
/* The device that serves the process of another job; NULL: no joint segment has it. */
struct core_dev *MPID_Joint_serves(int32_t peer);
/* Nothing more is wanted of it, and its struct dev_peer, if it is of that device, is no more.  false: ask again
 * after progress. */
bool MPID_Joint_part(int32_t peer);

/* Blocks of memory in it; NULL: there is no memory for that. */
struct ku_heap *MPID_Joint_heap(struct MPID_JOINT *j);
/* The process, which a joint segment may serve, looks again if it sleeps. */
void MPID_Joint_wake(int32_t peer);

/* Readable when a process that a joint segment serves has ended; -1: there is none. */
int MPID_Joints_fd(void);
void MPID_Joints_look(void); /* has one? */
/* This process, `me` in its job's segment, sleeps in poll, or no longer: who sends through joint segments sees
 * it.  Stores only. */
void MPID_Joints_prepare(struct ku_seg_rank *me);
void MPID_Joints_cancel(void);
/* What disconnecting has left mapped, if it has (invariant 4 of joint.c): for who has time. */
void MPID_Joints_unmap(void);
void MPID_Joints_close(void);
void MPID_Joints_fini(void);

#endif
