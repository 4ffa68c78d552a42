/* SPDX-License-Identifier: BSD-3-Clause */
/* get_status.c: looking at requests without completing them (4.7.6).  An error of the operation is reported by the call
 * that completes it; here only that a generalized request's query function failed. */
#include "config.h"
#include "bodies.h"
#include "retire.h"

static bool get_status_look(MPIR_Request *r)
{
    return !r || MPIR_Request_is_complete(r);
}

/* Returns an error code, recorded. */
static int get_status_show(MPIR_Request *r, MPIR_Status *s)
{
    int err = 0;
    if (!r) {
        empty_status(s);
        return 0;
    }
    if (__builtin_expect(r->errval == MPIR_REQUEST_UNSETTLED, 0))
        err = MPIR_Request_ops_of(r)->query(r);
    take_status(r, s);
    return err;
}

/* The same for the k-th status of many, NULL for none: from the first error on all statuses tell (4.7.5). */
static int show_one_of(MPIR_Request *r, MPIR_Status *statuses, int k, int before)
{
    int err = get_status_show(r, statuses ? &statuses[k] : NULL);
    for (int i = 0; statuses && err && !before && i < k; i++)
        statuses[i].MPI_ERROR = 0;
    if (statuses && (err || before))
        statuses[k].MPI_ERROR = err;
    return err || before ? MPI_ERR_IN_STATUS : 0;
}

int MPIR_Request_get_status(MPIR_Request *request, int *flag, MPIR_Status *status)
{
    if (!get_status_look(request))
        MPID_DeviceCheck(MPID_NOTBLOCKING);
    *flag = get_status_look(request);
    return *flag ? get_status_show(request, status) : pending(request);
}

int MPIR_Request_get_status_any(int count, MPIR_Request *const *array_of_requests, int *indx, int *flag,
                                MPIR_Status *status)
{
    bool active = false;
    MPID_DeviceCheck(MPID_NOTBLOCKING);
    for (int i = 0; i < count; i++) {
        if (!MPIR_Request_is_active(array_of_requests[i]))
            continue;
        active = true;
        if (MPIR_Request_is_complete(array_of_requests[i])) {
            *indx = i;
            *flag = 1;
            return get_status_show(array_of_requests[i], status);
        }
    }
    *indx = MPI_UNDEFINED;
    *flag = !active;
    if (!active)
        empty_status(status);
    return 0;
}

int MPIR_Request_get_status_all(int count, MPIR_Request *const *array_of_requests, int *flag,
                                MPIR_Status *array_of_statuses)
{
    int err = 0;
    MPID_DeviceCheck(MPID_NOTBLOCKING);
    *flag = 1;
    for (int i = 0; i < count && *flag; i++)
        *flag = get_status_look(array_of_requests[i]);
    for (int i = 0; *flag && i < count; i++)
        err = show_one_of(array_of_requests[i], array_of_statuses, i, err);
    return err;
}

int MPIR_Request_get_status_some(int incount, MPIR_Request *const *array_of_requests, int *outcount,
                                 int *array_of_indices, MPIR_Status *array_of_statuses)
{
    int n = 0, err = 0;
    bool active = false;
    MPID_DeviceCheck(MPID_NOTBLOCKING);
    for (int i = 0; i < incount; i++) {
        MPIR_Request *r = array_of_requests[i];
        if (!MPIR_Request_is_active(r))
            continue;
        active = true;
        if (!MPIR_Request_is_complete(r))
            continue;
        err = show_one_of(r, array_of_statuses, n, err);
        array_of_indices[n++] = i;
    }
    *outcount = active ? n : MPI_UNDEFINED;
    return err;
}
