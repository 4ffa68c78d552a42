/* request.h: requests above the ADI. */
#ifndef MPIR_REQUEST_H
#define MPIR_REQUEST_H

#include "mpid.h"
#include "object.h"
#include "comm.h"

typedef struct MPIR_HANDLE MPIR_Request;

/* A new request that holds a reference to comm (NULL allowed).  NULL without memory (recorded). */
MPIR_Request *MPIR_Request_alloc(MPIR_Comm *comm);
/* Drop it now (it is complete, or the ADI was never given it). */
void MPIR_Request_release(MPIR_Request *request);

/* What MPI_MESSAGE_NO_PROC names: a predefined object (obj.self is KEEL_MPI_MESSAGE_NO_PROC, handle_type MPIR_MESSAGE). */
extern MPIR_Request MPIR_Message_no_proc;

/* Block until it is complete, take status (may be NULL) and error class, and release it. */
int MPIR_Request_wait(MPIR_Request *request, MPIR_Status *status);

/* What stands behind a request that is not one operation of the ADI (two of them, a buffer's flush, later:
 * schedules, generalized requests): handle_type is MPIR_USER to MPIR_IO and `aux` points to a struct that
 * begins with: */
struct MPIR_Request_ops {
    /* Look whether it is complete; if so fill in s and errval and store is_complete.  Never blocks. */
    void (*poll)(MPIR_Request *request);
    /* The request, complete, goes: free the closure. */
    void (*free)(MPIR_Request *request);
    void (*cancel)(MPIR_Request *request);        /* NULL: cannot be cancelled */
    void (*explain)(const MPIR_Request *request); /* record the words of its error; NULL: there are none */
};
struct MPIR_Closure {
    const struct MPIR_Request_ops *ops;
};

static inline bool MPIR_Request_has_closure(const MPIR_Request *r)
{
    return r->handle_type >= MPIR_USER && r->handle_type <= MPIR_IO;
}
static inline bool MPIR_Request_is_complete(MPIR_Request *r)
{
    if (!atomic_load_explicit(&r->is_complete, memory_order_acquire) && MPIR_Request_has_closure(r))
        ((struct MPIR_Closure *)r->aux)->ops->poll(r);
    return atomic_load_explicit(&r->is_complete, memory_order_acquire);
}

/* A request of this kind that is complete already, with the status of MPI_PROC_NULL.  NULL without memory
 * (recorded). */
MPIR_Request *MPIR_Request_alloc_complete(MPIR_Comm *comm, MPIR_OPTYPE kind);

/* The user's MPI_Request_free: the operation goes on and the request is released when it is complete. */
void MPIR_Request_detach(MPIR_Request *request);
/* Wait for all detached requests with a closure (MPI_Finalize; those of the ADI are waited for by MPID_End).
 */
void MPIR_Request_drain(void);

/* MPI_MESSAGE_NO_PROC. */
extern MPIR_Request MPIR_Message_no_proc;

/* The status of a receive from MPI_PROC_NULL; MPI_ERROR is left alone.  NULL allowed. */
static inline void MPIR_Status_proc_null(MPIR_Status *s)
{
    if (s)
        *s = (MPIR_Status){ .MPI_SOURCE = MPI_PROC_NULL, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = s->MPI_ERROR };
}

/* The status of a null or inactive request (3.7.3 "empty status"). */
static inline void MPIR_Status_empty(MPIR_Status *s)
{
    *s = (MPIR_Status){ .MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG };
}

#endif
