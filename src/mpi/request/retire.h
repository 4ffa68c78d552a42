/* retire.h: what all wait and test forms do with a complete request. */
#ifndef MPIR_RETIRE_H
#define MPIR_RETIRE_H

#include "err.h"
#include "request.h"

/* The status of a complete request; the error field belongs to the forms that return MPI_ERR_IN_STATUS
 * (4.2.5). */
static inline void take_status(const MPIR_Request *r, MPIR_Status *s)
{
    if (!s)
        return;
    int32_t kept = s->MPI_ERROR;
    *s = r->s;
    s->MPI_ERROR = kept;
}

static inline void empty_status(MPIR_Status *s)
{
    if (!s)
        return;
    int32_t kept = s->MPI_ERROR;
    MPIR_Status_empty(s);
    s->MPI_ERROR = kept;
}

/* The user is done with a complete request: its handle becomes the null handle. */
static inline void retire(MPIR_Request **slot)
{
    MPIR_Request_release(*slot);
    *slot = NULL;
}

/* For the forms that complete one request: status, error (recorded), and away. */
static inline int finish(MPIR_Request **slot, MPIR_Status *status)
{
    int err = __builtin_expect((*slot)->errval != 0, 0) ? MPIR_Err_request(*slot) : 0;
    take_status(*slot, status);
    retire(slot);
    return err;
}

#endif
