/* SPDX-License-Identifier: BSD-3-Clause */
/* request_wait.c: completion of one request, or of one of many. */
#include "config.h"
#include "bodies.h"
#include "any.h"
#include "retire.h"

int MPIR_Wait(MPIR_Request **request, MPIR_Status *status)
{
    if (!*request) {
        empty_status(status);
        return 0;
    }
    while (!MPIR_Request_is_complete(*request)) {
        int err = pending(*request);
        if (__builtin_expect(err, 0))
            return err;
        if (!came_meanwhile(*request))
            wait_for_this(1, request);
    }
    return finish(request, status);
}

int MPIR_Test(MPIR_Request **request, int *flag, MPIR_Status *status)
{
    *flag = 1;
    if (!*request) {
        empty_status(status);
        return 0;
    }
    if (!MPIR_Request_is_complete(*request))
        MPID_DeviceCheck(MPID_NOTBLOCKING);
    if (MPIR_Request_is_complete(*request))
        return finish(request, status);
    *flag = 0;
    return pending(*request);
}

/* The index of the request that completed first; -1: there are active ones, none complete; MPI_UNDEFINED: no active
 * one.  In order of completion, because programs that keep several receives posted from one source take the messages
 * to come in the order they were sent. */
static int find_complete(int count, MPIR_Request **requests)
{
    int found = MPI_UNDEFINED, complete = 0;
    uint32_t oldest = 0;
    for (int i = 0; i < count; i++) {
        if (!MPIR_Request_is_active(requests[i]))
            continue;
        if (MPIR_Request_is_complete(requests[i])) {
            uint32_t stamp = (uint32_t)atomic_load_explicit(&requests[i]->is_complete, memory_order_relaxed);
            if (found < 0 || (int32_t)(stamp - oldest) < 0) {
                found = i;
                oldest = stamp;
            }
            complete++;
        } else if (found == MPI_UNDEFINED) {
            found = -1;
        }
    }
    if (count >= MPIR_ANY_MANY && complete > 1)
        MPIR_Any_note(count, requests, found, oldest);
    return found;
}

/* What Waitany and Testany do with what was found. */
static int finish_any(int found, MPIR_Request **requests, int *indx, MPIR_Status *status)
{
    *indx = found;
    if (found >= 0)
        return finish(&requests[found], status);
    empty_status(status);
    return 0;
}

/* The same of one of many, none of which is complete: its index, or -1. */
static int find_pending(int count, MPIR_Request **requests, int *err)
{
    for (int i = 0; __builtin_expect(MPIR_Failures, 0) && i < count; i++)
        if (MPIR_Request_is_active(requests[i]) && (*err = MPIR_Request_pending(requests[i])))
            return i;
    return -1;
}

int MPIR_Waitany(int count, MPIR_Request **array_of_requests, int *indx, MPIR_Status *status)
{
    int found, err = 0;
    while ((found = find_complete(count, array_of_requests)) == -1) {
        if ((*indx = find_pending(count, array_of_requests, &err)) >= 0)
            return err;
        if (!__builtin_expect(MPIR_Failures, 0) || find_complete(count, array_of_requests) == -1)
            wait_for_many(count, array_of_requests);
    }
    return finish_any(found, array_of_requests, indx, status);
}

int MPIR_Testany(int count, MPIR_Request **array_of_requests, int *indx, int *flag, MPIR_Status *status)
{
    int found = find_complete(count, array_of_requests);
    if (found == -1 && drive_for_many(count))
        found = find_complete(count, array_of_requests);
    *flag = found != -1;
    *indx = MPI_UNDEFINED;
    if (*flag)
        return finish_any(found, array_of_requests, indx, status);
    int err = 0, i = find_pending(count, array_of_requests, &err);
    if (i >= 0)
        *indx = i;
    return err;
}
