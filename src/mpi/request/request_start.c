/* SPDX-License-Identifier: BSD-3-Clause */
/* request_start.c: persistent requests, started (4.9); they are made where their operation is at home. */
#include "config.h"
#include "bodies.h"
#include <stdio.h>
#include "mpi_err.h"
#include "request.h"

static __attribute__((cold, noinline)) int refuse(const MPIR_Request *r, int place)
{
    char arg[48] = "request";
    if (place >= 0)
        snprintf(arg, sizeof arg, "array_of_requests[%d]", place);
    return MPIR_Err(MPI_ERR_REQUEST, arg, "is %s; expected an inactive persistent request",
                    !r ? "MPI_REQUEST_NULL"
                    : r->obj.flags & MPIR_REQUEST_PERSISTENT
                        ? "active: it has been started and not completed since"
                        : "of an operation that is under way already and not persistent");
}

/* May it be started?  place: -1, or its place in an array. */
static inline int request_start_check(const MPIR_Request *r, int place)
{
    return __builtin_expect(r && !MPIR_Request_is_active(r), 1) ? 0 : refuse(r, place);
}

static inline int request_start_start(MPIR_Request *r)
{
    int err;
    r->obj.flags &= (uint8_t)~MPIR_REQUEST_INACTIVE;
    if (__builtin_expect(!MPIR_Request_has_closure(r), 1))
        err = MPIR_P2p_restart(r);
    else {
        atomic_store_explicit(&r->is_complete, 0, memory_order_relaxed);
        err = MPIR_Request_ops_of(r)->start(r);
    }
    if (__builtin_expect(err != 0, 0))
        MPIR_Request_rest(r);
    return err;
}

int MPIR_Start(MPIR_Request **request)
{
    int err = request_start_check(*request, -1);
    return err ? err : request_start_start(*request);
}

/* All are looked at first: a request that cannot be started keeps the others from it. */
int MPIR_Startall(int count, MPIR_Request **array_of_requests)
{
    for (int i = 0; i < count; i++) {
        int err = request_start_check(array_of_requests[i], i);
        if (err)
            return err;
    }
    for (int i = 0; i < count; i++) {
        int err = request_start_check(array_of_requests[i], i); /* it may stand there twice */
        if (!err)
            err = request_start_start(array_of_requests[i]);
        if (err)
            return err;
    }
    return 0;
}
