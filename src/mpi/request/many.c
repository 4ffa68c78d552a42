/* many.c: completion of all, or of some, of many requests.
 *
 * A pass over n requests is O(n), and so is a whole Waitall: it waits for one after the other, and each
 * waiting step looks at the one request it waits for.  MPID_Request_errors tells when some request has
 * failed: only then, all are looked at, so that a failed one is reported though another will never complete.
 */
#include "config.h"
#include "bodies.h"
#include "retire.h"

/* Every status but the failed ones' tells what became of its request (4.7.5); the first failure is recorded.
 */
static int report_in_status(int count, MPIR_Request **requests, MPIR_Status *statuses)
{
    MPIR_Request *first = NULL;
    for (int i = 0; i < count && !first; i++)
        if (requests[i] && MPIR_Request_is_complete(requests[i]) && requests[i]->errval)
            first = requests[i];
    MPIR_Err_request(first);
    for (int i = 0; i < count; i++) {
        bool complete = requests[i] && MPIR_Request_is_complete(requests[i]);
        if (statuses) {
            if (complete)
                take_status(requests[i], &statuses[i]);
            else
                empty_status(&statuses[i]);
            statuses[i].MPI_ERROR = complete      ? requests[i]->errval
                                    : requests[i] ? MPI_ERR_PENDING
                                                  : MPI_SUCCESS;
        }
        if (complete)
            retire(&requests[i]);
    }
    return MPI_ERR_IN_STATUS;
}

static bool any_failed(int count, MPIR_Request **requests)
{
    for (int i = 0; i < count; i++)
        if (requests[i] && MPIR_Request_is_complete(requests[i]) && requests[i]->errval)
            return true;
    return false;
}

/* Retire requests that are all complete and without error. */
static void finish_all(int count, MPIR_Request **requests, MPIR_Status *statuses)
{
    for (int i = 0; i < count; i++) {
        MPIR_Status *s = statuses ? &statuses[i] : NULL;
        if (!requests[i]) {
            empty_status(s);
            continue;
        }
        take_status(requests[i], s);
        retire(&requests[i]);
    }
}

/* Drive the devices as long as something happens, at most once for every few requests asked for: a test of many should
 * not need one call for each handful of packets. */
static void progress(int count)
{
    for (int i = 0; i <= count / 16 && MPID_DeviceCheck(MPID_NOTBLOCKING); i++)
        ;
}

int MPIR_Waitall(int count, MPIR_Request **array_of_requests, MPIR_Status *array_of_statuses)
{
    uint32_t errors = 0; /* as many had failed when all were looked at last */
    bool failed = false;
    for (int i = 0; i < count; i++) {
        MPIR_Request *r = array_of_requests[i];
        if (!r)
            continue;
        while (!MPIR_Request_is_complete(r)) {
            if (__builtin_expect(MPID_Request_errors != errors, 0)) {
                errors = MPID_Request_errors;
                if (any_failed(count, array_of_requests))
                    return report_in_status(count, array_of_requests, array_of_statuses);
            }
            MPID_DeviceCheck(MPID_BLOCKING);
        }
        failed |= r->errval != 0;
    }
    if (failed)
        return report_in_status(count, array_of_requests, array_of_statuses);
    finish_all(count, array_of_requests, array_of_statuses);
    return 0;
}

static bool all_complete(int count, MPIR_Request **requests)
{
    for (int i = 0; i < count; i++)
        if (requests[i] && !MPIR_Request_is_complete(requests[i]))
            return false;
    return true;
}

int MPIR_Testall(int count, MPIR_Request **array_of_requests, int *flag, MPIR_Status *array_of_statuses)
{
    progress(count);
    *flag = all_complete(count, array_of_requests);
    if (MPID_Request_errors && any_failed(count, array_of_requests))
        return report_in_status(count, array_of_requests, array_of_statuses);
    if (*flag)
        finish_all(count, array_of_requests, array_of_statuses);
    return 0;
}

/* Number of active requests that are complete, or MPI_UNDEFINED if none is active. */
static int count_complete(int count, MPIR_Request *const *requests)
{
    int active = 0, complete = 0;
    for (int i = 0; i < count; i++)
        if (requests[i]) {
            active++;
            complete += MPIR_Request_is_complete(requests[i]);
        }
    return active ? complete : MPI_UNDEFINED;
}

/* Hand out the requests that are complete. */
static int finish_some(int count, MPIR_Request **requests, int *outcount, int *indices, MPIR_Status *statuses)
{
    int n = 0, err = 0;
    for (int i = 0; i < count; i++) {
        MPIR_Request *r = requests[i];
        if (!r || !MPIR_Request_is_complete(r))
            continue;
        if (r->errval && !err)
            err = MPIR_Err_request(r) ? MPI_ERR_IN_STATUS : 0;
        indices[n++] = i;
    }
    for (int k = 0; k < n; k++) {
        MPIR_Status *s = statuses ? &statuses[k] : NULL;
        MPIR_Request *r = requests[indices[k]];
        take_status(r, s);
        if (s && err)
            s->MPI_ERROR = r->errval;
        retire(&requests[indices[k]]);
    }
    *outcount = n;
    return err;
}

int MPIR_Waitsome(int incount, MPIR_Request **array_of_requests, int *outcount, int *array_of_indices,
                  MPIR_Status *array_of_statuses)
{
    int n;
    while (!(n = count_complete(incount, array_of_requests)))
        MPID_DeviceCheck(MPID_BLOCKING);
    *outcount = MPI_UNDEFINED;
    if (n == MPI_UNDEFINED)
        return 0;
    return finish_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
}

int MPIR_Testsome(int incount, MPIR_Request **array_of_requests, int *outcount, int *array_of_indices,
                  MPIR_Status *array_of_statuses)
{
    progress(incount);
    *outcount = count_complete(incount, array_of_requests);
    if (*outcount == MPI_UNDEFINED || *outcount == 0)
        return 0;
    return finish_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
}
