/* SPDX-License-Identifier: BSD-3-Clause */
/* many.c: completion of all, or of some, of many requests.
 *
 * A pass over n requests is O(n), and so is a whole Waitall: it waits for one after the other, and each
 * waiting step looks at the one request it waits for.  MPID_Request_errors tells when some request has
 * failed: only then, all are looked at, so that a failed one is reported though another will never complete.
 *
 * A request whose result is still to be settled (generalized requests) has errval set, so it leaves the fast way like a
 * failed one; it is settled when it is certain that this call completes it, and before any is retired. */
#include "config.h"
#include "bodies.h"
#include "retire.h"

/* A program that has the same active request in an array twice would have it freed twice. */
static int check_different(int count, MPIR_Request **requests)
{
    int seen = 0, twice;
    while (seen < count && !(requests[seen] && requests[seen]->obj.flags & MPIR_REQUEST_SEEN)) {
        if (MPIR_Request_is_active(requests[seen]))
            requests[seen]->obj.flags |= MPIR_REQUEST_SEEN;
        seen++;
    }
    twice = seen;
    while (--seen >= 0)
        if (MPIR_Request_is_active(requests[seen]))
            requests[seen]->obj.flags &= (uint8_t)~MPIR_REQUEST_SEEN;
    if (twice == count)
        return 0;
    return MPIR_Err(MPI_ERR_REQUEST, "array_of_requests",
                    "[%d] is a request that is in the array before; expected each once", twice);
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
        MPIR_Request_retire_here(&requests[i]);
    }
}

/* Settle the complete ones; the first that has failed. */
static MPIR_Request *settle_all(int count, MPIR_Request **requests)
{
    MPIR_Request *first = NULL;
    for (int i = 0; i < count; i++)
        if (requests[i] && MPIR_Request_is_complete(requests[i]) && settle(requests[i]) && !first)
            first = requests[i];
    return first;
}

/* The status of one that is not complete, where some have failed. */
static int why_not(MPIR_Request *r)
{
    struct ku_err words = *ku_err_last();
    int err = pending(r);
    *ku_err_last() = words;
    return err ? err : MPI_ERR_PENDING;
}

/* Does one of those that are not complete wait for somebody who may have failed?  Recorded. */
static bool any_pending(int count, MPIR_Request **requests)
{
    for (int i = 0; __builtin_expect(MPIR_Failures, 0) && i < count; i++)
        if (requests[i] && MPIR_Request_pending(requests[i]))
            return true;
    return false;
}

/* Retire the complete ones, of which some have failed, or others wait for somebody who may have, unless all are
 * complete.  Every status tells what became of its request (4.7.5); the first failure is recorded. */
static int report_in_status(int count, MPIR_Request **requests, MPIR_Status *statuses)
{
    MPIR_Request *first = settle_all(count, requests);
    if (!first && !any_pending(count, requests)) {
        finish_all(count, requests, statuses);
        return 0;
    }
    if (first)
        MPIR_Err_request(first);
    for (int i = 0; i < count; i++) {
        bool complete = requests[i] &&
                        atomic_load_explicit(&requests[i]->is_complete, memory_order_acquire) &&
                        requests[i]->errval != MPIR_REQUEST_UNSETTLED;
        if (statuses) {
            if (complete)
                take_status(requests[i], &statuses[i]);
            else
                empty_status(&statuses[i]);
            statuses[i].MPI_ERROR = complete      ? requests[i]->errval
                                    : requests[i] ? why_not(requests[i])
                                                  : MPI_SUCCESS;
        }
        if (complete)
            MPIR_Request_retire(&requests[i]);
    }
    return MPI_ERR_IN_STATUS;
}

static bool any_failed(int count, MPIR_Request **requests)
{
    for (int i = 0; i < count; i++)
        if (requests[i] && MPIR_Request_is_complete(requests[i]) && has_failed(requests[i]))
            return true;
    return false;
}

bool MPIR_Requests_wait(int count, MPIR_Request **requests)
{
    uint32_t errors = 0; /* as many had failed when all were looked at last */
    bool odd = false;    /* some failed, or to be settled */
    for (int i = 0; i < count; i++) {
        MPIR_Request *r = requests[i];
        if (!r)
            continue;
        while (__builtin_expect(!MPIR_Request_is_complete(r), 0)) {
            if (__builtin_expect(MPID_Request_errors != errors, 0)) {
                errors = MPID_Request_errors;
                if (any_failed(count, requests))
                    return false;
            }
            if (any_pending(count, requests))
                return false;
            if (!came_meanwhile(r))
                wait_for_this(count - i, requests + i);
        }
        odd |= r->errval != 0;
    }
    return !odd;
}

int MPIR_Waitall(int count, MPIR_Request **array_of_requests, MPIR_Status *array_of_statuses)
{
    int err = check_different(count, array_of_requests);
    if (err)
        return err;
    if (!MPIR_Requests_wait(count, array_of_requests))
        return report_in_status(count, array_of_requests, array_of_statuses);
    finish_all(count, array_of_requests, array_of_statuses);
    return 0;
}

/* Are all complete?  *odd: and some of them failed, or to be settled. */
static bool all_complete(int count, MPIR_Request **requests, bool *odd)
{
    *odd = false;
    for (int i = 0; i < count; i++) {
        if (!requests[i])
            continue;
        if (!MPIR_Request_is_complete(requests[i]))
            return false;
        *odd |= requests[i]->errval != 0;
    }
    return true;
}

int MPIR_Testall(int count, MPIR_Request **array_of_requests, int *flag, MPIR_Status *array_of_statuses)
{
    bool odd;
    int err;
    drive_for_many(count);
    *flag = all_complete(count, array_of_requests, &odd);
    if (*flag && (err = check_different(count, array_of_requests)) != 0)
        return err;
    if ((*flag && odd) || (MPID_Request_errors && any_failed(count, array_of_requests)) ||
        (!*flag && any_pending(count, array_of_requests)))
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
        if (MPIR_Request_is_active(requests[i])) {
            active++;
            complete += MPIR_Request_is_complete(requests[i]);
        }
    return active ? complete : MPI_UNDEFINED;
}

/* Hand out the requests that are complete. */
static int finish_some(int count, MPIR_Request **requests, int *outcount, int *indices, MPIR_Status *statuses)
{
    int n = 0;
    MPIR_Request *failed = NULL;
    for (int i = 0; i < count; i++) {
        MPIR_Request *r = requests[i];
        if (!MPIR_Request_is_active(r) || !MPIR_Request_is_complete(r))
            continue;
        if (r->errval && settle(r) && !failed)
            failed = r;
        indices[n++] = i;
    }
    if (failed)
        MPIR_Err_request(failed);
    for (int k = 0; k < n; k++) {
        MPIR_Status *s = statuses ? &statuses[k] : NULL;
        MPIR_Request *r = requests[indices[k]];
        take_status(r, s);
        if (s && failed)
            s->MPI_ERROR = r->errval;
        MPIR_Request_retire(&requests[indices[k]]);
    }
    *outcount = n;
    return failed ? MPI_ERR_IN_STATUS : 0;
}

/* None is complete: those that wait for somebody who may have failed, which stay; 0: none does. */
static int report_some(int count, MPIR_Request **requests, int *outcount, int *indices, MPIR_Status *statuses)
{
    int n = 0;
    for (int i = 0; __builtin_expect(MPIR_Failures, 0) && i < count; i++) {
        int err = MPIR_Request_is_active(requests[i]) ? MPIR_Request_pending(requests[i]) : 0;
        if (!err)
            continue;
        if (statuses) {
            empty_status(&statuses[n]);
            statuses[n].MPI_ERROR = err;
        }
        indices[n++] = i;
    }
    *outcount = n;
    return n > 0 ? MPI_ERR_IN_STATUS : 0;
}

int MPIR_Waitsome(int incount, MPIR_Request **array_of_requests, int *outcount, int *array_of_indices,
                  MPIR_Status *array_of_statuses)
{
    int n, err = check_different(incount, array_of_requests);
    if (err)
        return err;
    while (!(n = count_complete(incount, array_of_requests))) {
        err = report_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
        if (err)
            return err;
        if (!__builtin_expect(MPIR_Failures, 0) || !count_complete(incount, array_of_requests))
            wait_for_many(incount, array_of_requests);
    }
    *outcount = MPI_UNDEFINED;
    if (n == MPI_UNDEFINED)
        return 0;
    return finish_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
}

int MPIR_Testsome(int incount, MPIR_Request **array_of_requests, int *outcount, int *array_of_indices,
                  MPIR_Status *array_of_statuses)
{
    int err;
    drive_for_many(incount);
    *outcount = count_complete(incount, array_of_requests);
    if (*outcount == MPI_UNDEFINED)
        return 0;
    if (*outcount == 0)
        return report_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
    if ((err = check_different(incount, array_of_requests)) != 0)
        return err;
    return finish_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
}
