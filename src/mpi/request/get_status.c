/* get_status.c: looking at requests without completing them (4.7.6).  An error of the operation is reported
 * by the call that completes it; here it shows in the status of the forms that look at many. */
#include "config.h"
#include "bodies.h"
#include "retire.h"

static bool look(MPIR_Request *r)
{
    return !r || MPIR_Request_is_complete(r);
}

static void show(const MPIR_Request *r, MPIR_Status *s)
{
    if (r)
        take_status(r, s);
    else
        empty_status(s);
}

int MPIR_Request_get_status(MPIR_Request *request, int *flag, MPIR_Status *status)
{
    if (!look(request))
        MPID_DeviceCheck(MPID_NOTBLOCKING);
    *flag = look(request);
    if (*flag)
        show(request, status);
    return 0;
}

int MPIR_Request_get_status_any(int count, MPIR_Request *const *array_of_requests, int *indx, int *flag,
                                MPIR_Status *status)
{
    bool active = false;
    MPID_DeviceCheck(MPID_NOTBLOCKING);
    for (int i = 0; i < count; i++) {
        if (!array_of_requests[i])
            continue;
        active = true;
        if (MPIR_Request_is_complete(array_of_requests[i])) {
            *indx = i;
            *flag = 1;
            take_status(array_of_requests[i], status);
            return 0;
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
    MPID_DeviceCheck(MPID_NOTBLOCKING);
    *flag = 1;
    for (int i = 0; i < count && *flag; i++)
        *flag = look(array_of_requests[i]);
    for (int i = 0; *flag && array_of_statuses && i < count; i++)
        show(array_of_requests[i], &array_of_statuses[i]);
    return 0;
}

int MPIR_Request_get_status_some(int incount, MPIR_Request *const *array_of_requests, int *outcount,
                                 int *array_of_indices, MPIR_Status *array_of_statuses)
{
    int n = 0;
    bool active = false;
    MPID_DeviceCheck(MPID_NOTBLOCKING);
    for (int i = 0; i < incount; i++) {
        MPIR_Request *r = array_of_requests[i];
        active |= r != NULL;
        if (!r || !MPIR_Request_is_complete(r))
            continue;
        show(r, array_of_statuses ? &array_of_statuses[n] : NULL);
        array_of_indices[n++] = i;
    }
    *outcount = active ? n : MPI_UNDEFINED;
    return 0;
}
