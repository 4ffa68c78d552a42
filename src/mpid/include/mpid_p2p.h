/* SPDX-License-Identifier: BSD-3-Clause */
/* mpid_p2p.h: messages, and their completion (mpid.h). */
#ifndef KEEL_MPID_P2P_H
#define KEEL_MPID_P2P_H

#include "mpid_base.h"

/* ---- Messages ---------------------------------------------------------------------------------
 *
 * Each is told by one description (struct MPID_Operation, mpid_base.h).  They return an error class, 0 if nothing
 * went wrong.  The paper's routines, which name buffers and modes each in their own way, are in mpid_adi2.h. */

enum MPID_MODE {
    MPID_STANDARD,    /* also ready mode: that allows nothing more */
    MPID_SYNCHRONOUS, /* complete when the receive has begun */
    MPID_AT_ONCE /* never blocks: MPIR_ERR_MAY_BLOCK if the message could not go at once (3.1.1); of MPID_Send alone */
};
int MPID_Send(const struct MPID_Operation *op, enum MPID_MODE mode);
int MPID_Isend(const struct MPID_Operation *op, enum MPID_MODE mode, MPID_Request request);
/* op->rank may be MPI_ANY_SOURCE, op->tag MPI_ANY_TAG; status may be NULL.  Too long a message: MPI_ERR_TRUNCATE,
 * the buffer filled, status->count the bytes stored. */
int MPID_Recv(const struct MPID_Operation *op, MPIR_Status *status);
int MPID_Irecv(const struct MPID_Operation *op, MPID_Request request);
/* Of a receive that has begun, is from MPI_ANY_SOURCE and not complete, in a job that goes on without ranks that fail
 * (extension): may it wait in vain, as a process of its communicator is lost that the program has not acknowledged
 * (MPID_Lost_acked)?  Then *error_code says so, and it goes on.  One without a place in a slab (obj.index is
 * KEEL_NO_INDEX) fails instead. */
bool MPID_Recv_pending(MPID_Request request, int *error_code);

/* ---- Completion ------------------------------------------------------------------------------- */

int MPID_Wait(MPID_Request request, MPIR_Status *status); /* its error class */
/* True: it is complete, and *error_code is set if it has failed.  It drives the devices once if it is not. */
bool MPID_Test(MPID_Request request, MPIR_Status *status, int *error_code);
/* Try to; it completes either way, s.cancelled tells. */
void MPID_Cancel(MPID_Request request);
/* The caller is done with the request: config->request_free is called now if it is complete, else when it is. */
void MPID_Request_free(MPID_Request request);
/* Drive the devices.  MPID_BLOCKING: returns when something may have changed, stepping aside and then
 * sleeping while nothing does; it returns at once if progress was made, and may return at any time.  Nonzero:
 * something happened. */
int MPID_DeviceCheck(MPID_BLOCKING_TYPE blocking);
/* Another thread has done what the caller of a blocking call may wait for (extension): MPID_DeviceCheck(MPID_BLOCKING)
 * returns soon, in every thread.  May be called by any thread at any time between MPID_Init and MPID_End. */
void MPID_Wake(void);
/* Have config->request_done called, once, when the request completes; false: it has completed already (extension). */
bool MPID_Request_watch(MPID_Request request);
/* How many requests of this process have completed with an error so far (extension): tells a wait for many requests
 * that it should look at all of them. */
extern uint32_t MPID_Request_errors;

/* ---- Probes (3.4) ---------------------------------------------------------------------------- */

void MPID_Probe(struct MPIR_COMMUNICATOR *comm, int tag, uint32_t context_id, int src_lrank, int *error_code,
                MPIR_Status *status);
void MPID_Iprobe(struct MPIR_COMMUNICATOR *comm, int tag, uint32_t context_id, int src_lrank, int *flag,
                 int *error_code, MPIR_Status *status);

/* ---- Matched probes (extension) -------------------------------------------------------------- */

/* Matched probe (MPI-3).  On *flag the message is taken out of the queue into `message` (an unused request), which
 * becomes handle_type MPIR_MESSAGE; MPID_Imrecv turns it into the receive (of `len` elements, or bytes).
 * MPID_Mprobe blocks. */
void MPID_Mprobe(struct MPIR_COMMUNICATOR *comm, int tag, uint32_t context_id, int src_lrank,
                 MPID_Request message, int *error_code, MPIR_Status *status);
void MPID_Improbe(struct MPIR_COMMUNICATOR *comm, int tag, uint32_t context_id, int src_lrank, int *flag,
                  MPID_Request message, int *error_code, MPIR_Status *status);
int MPID_Imrecv(void *buf, int64_t len, struct MPIR_DATATYPE *datatype, MPID_Request message);

/* ---- Short ways (extension) ------------------------------------------------------------------ */

/* The short way of the calls that a program makes most: contiguous bytes in comm's point-to-point context, with a
 * rank of comm (a source or tag may be a wildcard); all arguments go in registers.  They return the error code.  Of
 * a request that is complete on return only what is shared (struct MPIR_HANDLE) and comm are filled in.  The last
 * two begin a send or receive of contiguous bytes again whose arguments stand in the request. */
int MPID_Send_bytes(const void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int dest, int tag);
/* Of MPID_NEEDS_THREADS: MPID_Send_bytes beside other threads, without the lock; false: nothing was sent. */
bool MPID_Send_beside(const void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int dest, int tag);
/* The same of a send whose request is complete then (its comm is NULL, unless that is predefined), and of a
 * receive: false: nothing was begun.  A receive that cannot be begun tells so by its request.  It takes its
 * reference to comm itself. */
bool MPID_Isend_beside(const void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int dest, int tag,
                       MPID_Request request);
bool MPID_Irecv_beside(void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int source, int tag,
                       MPID_Request request);
int MPID_Isend_bytes(const void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int dest, int tag,
                     MPID_Request request);
int MPID_Recv_bytes(void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int source, int tag,
                    MPIR_Status *status);
int MPID_Irecv_bytes(void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int source, int tag,
                     MPID_Request request);
int MPID_Send_again(MPID_Request request);
int MPID_Recv_again(MPID_Request request);
/* For who waits for a request: messages that have come, or come soon, for the receives that stand first in its
 * context go straight to these; when it is complete up to `more` that are there already.  True: it is complete;
 * else go on with MPID_DeviceCheck. */
bool MPID_Recv_soon(MPID_Request request, int more);

#endif
