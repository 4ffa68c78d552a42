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

/* Block until it is complete, take status (may be NULL) and error class, and release it. */
int MPIR_Request_wait(MPIR_Request *request, MPIR_Status *status);

/* The status of a null or inactive request (3.7.3 "empty status"). */
static inline void MPIR_Status_empty(MPIR_Status *s)
{
    *s = (MPIR_Status){ .MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG };
}

#endif
