/* SPDX-License-Identifier: BSD-3-Clause */
/* retire.h: what all wait and test forms do with a complete request. */
#ifndef MPIR_RETIRE_H
#define MPIR_RETIRE_H

#include "mpi_err.h"
#include "request.h"

/* The status of a complete request.  The error field belongs to the forms that return MPI_ERR_IN_STATUS ("Return
 * Status"), but the empty status has MPI_SUCCESS there. */
static inline void take_status(const MPIR_Request *r, MPIR_Status *s)
{
    if (!s)
        return;
    int32_t kept = s->MPI_ERROR;
    *s = r->s;
    if (__builtin_expect(MPIR_Request_is_active(r), 1))
        s->MPI_ERROR = kept;
}

static inline void empty_status(MPIR_Status *s)
{
    if (s)
        MPIR_Status_empty(s);
}

/* The error of a complete request that is about to be retired; its status is settled from here on. */
static inline int settle(MPIR_Request *r)
{
    if (__builtin_expect(r->errval == MPIR_REQUEST_UNSETTLED, 0))
        MPIR_Request_ops_of(r)->settle(r);
    return r->errval;
}

/* Has a complete request failed, as far as one can tell without settling it? */
static inline bool has_failed(const MPIR_Request *r)
{
    return r->errval && r->errval != MPIR_REQUEST_UNSETTLED;
}

/* Drive the devices as long as something happens, at most once for every few requests asked for: a look at many should
 * not be needed for each handful of packets.  True if something happened. */
static inline bool drive_for_many(int count)
{
    int i;
    for (i = 0; i <= count / 16 && MPID_DeviceCheck(MPID_NOTBLOCKING); i++)
        ;
    return i > 0;
}

/* Wait until something has happened that may complete one of these requests; all are wanted, or any. */
static inline void wait_for(int count, MPIR_Request *const *requests, bool any)
{
    MPID_Waited = (struct MPID_Waited){ requests, count, any };
    MPID_DeviceCheck(MPID_BLOCKING);
    MPID_Waited.n = 0;
}

/* The same for a request that is not complete, which may be one of `count`, all wanted. */
static inline void wait_for_this(int count, MPIR_Request *const *requests)
{
    bool soon = false;
    MPIR_Request *r = *requests;
    if (r->handle_type == MPIR_RECV)
        soon = MPID_Recv_soon(r, count - 1);
    else if ((r->handle_type == MPIR_PART || r->handle_type == MPIR_SCHED) && count == 1 &&
             MPIR_Request_ops_of(r)->wait_soon)
        soon = MPIR_Request_ops_of(r)->wait_soon(r);
    if (!soon)
        wait_for(count, requests, false);
}

/* The same for any of perhaps many. */
static inline void wait_for_many(int count, MPIR_Request *const *requests)
{
    enum { MANY = 64 };
    wait_for(count, requests, true);
    if (count >= MANY)
        drive_for_many(count);
}

/* Of one that was not complete at the last look: an error (recorded) that it goes on after, as a process has failed
 * from which it might receive; or 0, and perhaps it is complete now. */
static inline int pending(MPIR_Request *r)
{
    return __builtin_expect(MPIR_Failures, 0) ? MPIR_Request_pending(r) : 0;
}

/* After that: is it complete now, so that there is nothing to wait for? */
static inline bool came_meanwhile(MPIR_Request *r)
{
    return __builtin_expect(MPIR_Failures, 0) && MPIR_Request_is_complete(r);
}

/* For the forms that complete one request: status, error (recorded), and away. */
static inline int finish(MPIR_Request **slot, MPIR_Status *status)
{
    int err = __builtin_expect((*slot)->errval != 0, 0) && settle(*slot) ? MPIR_Err_request(*slot) : 0;
    take_status(*slot, status);
    MPIR_Request_retire_here(slot);
    return err;
}

#endif
