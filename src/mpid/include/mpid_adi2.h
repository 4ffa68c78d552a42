/* SPDX-License-Identifier: BSD-3-Clause */
/* mpid_adi2.h: the paper's routines for messages and their completion, with its names and its order of arguments
 * (mpid.h).
 *
 * They are for programs of the ADI alone, and they are in libmpid only: the layers of MPI call those of mpid_p2p.h. */
#ifndef KEEL_MPID_ADI2_H
#define KEEL_MPID_ADI2_H

#include "mpid_p2p.h"

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

int MPID_SendIcomplete(MPID_Request request, int *error_code); /* calls the device; true if complete */
int MPID_RecvIcomplete(MPID_Request request, MPIR_Status *status, int *error_code);
void MPID_SendComplete(MPID_Request request, int *error_code); /* blocks */
void MPID_RecvComplete(MPID_Request request, MPIR_Status *status, int *error_code);
int MPID_WaitForCompleteSend(MPIR_SHANDLE *request); /* returns the error code */
int MPID_WaitForCompleteRecv(MPIR_RHANDLE *request);
void MPID_SendFree(MPID_Request request);
void MPID_RecvFree(MPID_Request request);
/* Try to cancel; the request completes either way, s.cancelled tells. */
void MPID_SendCancel(MPID_Request request, int *error_code);
void MPID_RecvCancel(MPID_Request request, int *error_code);

/* ---- Matched probes (extension) -------------------------------------------------------------- */

void MPID_ImrecvContig(void *buf, int64_t maxlen, MPID_Request message, int *error_code);
void MPID_ImrecvDatatype(void *buf, int64_t count, struct MPIR_DATATYPE *datatype, MPID_Request message,
                         int *error_code);

#endif
