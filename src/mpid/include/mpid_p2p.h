/* mpid_p2p.h: messages, and their completion (mpid.h). */
#ifndef KEEL_MPID_P2P_H
#define KEEL_MPID_P2P_H

#include "mpid_base.h"

/* ---- Contiguous messages (3) ---------------------------------------------------------------- */

void MPID_SendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                     uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, int *error_code);
void MPID_SsendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                      uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, int *error_code);
void MPID_RsendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                      uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, int *error_code);
/* Never blocks: sets MPIR_ERR_MAY_BLOCK if the message could not go at once. */
void MPID_BsendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                      uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, int *error_code);
/* src_lrank may be MPI_ANY_SOURCE, tag MPI_ANY_TAG; status may be NULL.  Too long a message:
 * MPI_ERR_TRUNCATE, the buffer filled up to maxlen, status->count the bytes stored. */
void MPID_RecvContig(struct MPIR_COMMUNICATOR *comm, void *buf, int64_t maxlen, int src_lrank, int tag,
                     uint32_t context_id, MPIR_Status *status, int *error_code);
void MPID_IsendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                      uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, MPID_Request request,
                      int *error_code);
void MPID_IssendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                       uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, MPID_Request request,
                       int *error_code);
void MPID_IrsendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                       uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, MPID_Request request,
                       int *error_code);
void MPID_IrecvContig(struct MPIR_COMMUNICATOR *comm, void *buf, int64_t maxlen, int src_lrank, int tag,
                      uint32_t context_id, MPID_Request request, int *error_code);

/* ---- Messages of any datatype (4) ----------------------------------------------------------- */

void MPID_SendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                       struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                       int dest_grank, int *error_code);
void MPID_SsendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                        struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                        int dest_grank, int *error_code);
void MPID_RsendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                        struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                        int dest_grank, int *error_code);
void MPID_BsendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                        struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                        int dest_grank, int *error_code);
void MPID_RecvDatatype(struct MPIR_COMMUNICATOR *comm, void *buf, int64_t count,
                       struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                       MPIR_Status *status, int *error_code);
void MPID_IsendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                        struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                        int dest_grank, MPID_Request request, int *error_code);
void MPID_IssendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                         struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                         int dest_grank, MPID_Request request, int *error_code);
void MPID_IrsendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                         struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                         int dest_grank, MPID_Request request, int *error_code);
void MPID_IrecvDatatype(struct MPIR_COMMUNICATOR *comm, void *buf, int64_t count,
                        struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                        MPID_Request request, int *error_code);

/* ---- Completion (3.5, 3.6, 6.2, 6.4) -------------------------------------------------------- */

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
int MPID_SendIcomplete(MPID_Request request, int *error_code); /* calls the device; true if complete */
int MPID_RecvIcomplete(MPID_Request request, MPIR_Status *status, int *error_code);
void MPID_SendComplete(MPID_Request request, int *error_code); /* blocks */
void MPID_RecvComplete(MPID_Request request, MPIR_Status *status, int *error_code);
int MPID_WaitForCompleteSend(MPIR_SHANDLE *request); /* returns the error code */
int MPID_WaitForCompleteRecv(MPIR_RHANDLE *request);
/* The caller is done with the request: config->request_free is called now if it is complete, else when it is.
 */
void MPID_SendFree(MPID_Request request);
void MPID_RecvFree(MPID_Request request);
void MPID_Request_free(MPID_Request request);
/* Try to cancel; the request completes either way, s.cancelled tells. */
void MPID_SendCancel(MPID_Request request, int *error_code);
void MPID_RecvCancel(MPID_Request request, int *error_code);

void MPID_Probe(struct MPIR_COMMUNICATOR *comm, int tag, uint32_t context_id, int src_lrank, int *error_code,
                MPIR_Status *status);
void MPID_Iprobe(struct MPIR_COMMUNICATOR *comm, int tag, uint32_t context_id, int src_lrank, int *flag,
                 int *error_code, MPIR_Status *status);

/* ---- Matched probes (extension) -------------------------------------------------------------- */

/* Matched probe (MPI-3).  On *flag the message is taken out of the queue into `message` (an unused request),
 * which becomes handle_type MPIR_MESSAGE; MPID_ImrecvX turns it into the receive.  MPID_Mprobe blocks. */
void MPID_Mprobe(struct MPIR_COMMUNICATOR *comm, int tag, uint32_t context_id, int src_lrank,
                 MPID_Request message, int *error_code, MPIR_Status *status);
void MPID_Improbe(struct MPIR_COMMUNICATOR *comm, int tag, uint32_t context_id, int src_lrank, int *flag,
                  MPID_Request message, int *error_code, MPIR_Status *status);
void MPID_ImrecvContig(void *buf, int64_t maxlen, MPID_Request message, int *error_code);
void MPID_ImrecvDatatype(void *buf, int64_t count, struct MPIR_DATATYPE *datatype, MPID_Request message,
                         int *error_code);

/* ---- Short ways (extension) ------------------------------------------------------------------ */

/* The short way of the calls that a program makes most: contiguous bytes in comm's point-to-point context, with a rank of comm (a
 * source or tag may be a wildcard); all arguments go in registers.  They return the error code.  Of a request that is
 * complete on return only what is shared (struct MPIR_HANDLE) and comm are filled in.  The last two begin a send or receive of
 * contiguous bytes again whose arguments stand in the request. */
int MPID_Send_bytes(const void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int dest, int tag);
/* Of MPID_NEEDS_THREADS: MPID_Send_bytes beside other threads, without the lock; false: nothing was sent. */
bool MPID_Send_beside(const void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int dest, int tag);
/* The same of a send whose request is complete then (its comm is NULL, unless that is predefined), and of a receive: false: nothing was
 * begun.  A receive that cannot be begun tells so by its request.  It takes its reference to comm itself. */
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
/* For who waits for a request: messages that have come, or come soon, for the receives that stand first in its context go straight
 * to these; when it is complete up to `more` that are there already.  True: it is complete; else go on with MPID_DeviceCheck. */
bool MPID_Recv_soon(MPID_Request request, int more);

#endif
