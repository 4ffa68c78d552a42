/* SPDX-License-Identifier: BSD-3-Clause */
/* sched.h: schedules: what an algorithm would do, noted down as steps that are done later (sched.c).
 *
 * The helpers of coll.h call these while a call is being noted. */
#ifndef COLL_SCHED_H
#define COLL_SCHED_H

#include "coll.h"

static inline bool coll_noting(const struct coll *c)
{
    return __builtin_expect(c->st->sched != NULL, 0);
}

/* Each returns the number of its step.  at_once: nothing later begins before it is over; else MPIR_Sched_wait says
 * when. */
uint32_t MPIR_Sched_send(struct coll *c, const void *buf, int64_t count, MPIR_Datatype *type, int dest,
                         bool at_once);
uint32_t MPIR_Sched_recv(struct coll *c, void *buf, int64_t count, MPIR_Datatype *type, int source,
                         bool at_once);
/* These are not at_once, but for the first. */
void MPIR_Sched_recv_heap(struct coll *c, struct coll_heap *h, int source);
uint32_t MPIR_Sched_send_heap(struct coll *c, const struct coll_heap *h, int dest);
uint32_t MPIR_Sched_recv_if(struct coll *c, const bool *wanted, void *buf, int64_t count, MPIR_Datatype *type,
                            int source);
/* Nothing later begins before that step is over, or, a receive, is given up, as it is unless *wanted by then
 * (NULL: it is).  Once for each step that is not at_once. */
void MPIR_Sched_wait(struct coll *c, uint32_t step, const bool *wanted);
void MPIR_Sched_copy(struct coll *c, const void *src, int64_t scount, MPIR_Datatype *stype, void *dst,
                     int64_t dcount, MPIR_Datatype *dtype);
void MPIR_Sched_combine(struct coll *c, const void *in, void *inout, int64_t count);
void MPIR_Sched_call(struct coll *c, coll_call *fn, void *arg);
/* Functions noted so will look at the arrays of datatypes of the whole call. */
void MPIR_Sched_keep_types(struct coll *c);
/* Of a call that waits for what its communicator agrees on (MPIR_Coll_facts_await): that is there now, or will
 * never be. */
void MPIR_Sched_heard(struct MPIR_Driven *d);

#endif
