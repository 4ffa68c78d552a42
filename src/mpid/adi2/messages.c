/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.c: the paper's routines for messages, by the description that the core takes (mpid_p2p.h). */
#include "mpid.h"

static struct MPID_Operation to(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len,
                                struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                                int dest_grank)
{
    return (struct MPID_Operation){ .buf = (void *)(uintptr_t)buf,
                                    .len = len,
                                    .datatype = datatype,
                                    .comm = comm,
                                    .context_id = context_id,
                                    .tag = tag,
                                    .rank = src_lrank,
                                    .peer = dest_grank };
}

static struct MPID_Operation from(struct MPIR_COMMUNICATOR *comm, void *buf, int64_t len,
                                  struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id)
{
    return (struct MPID_Operation){ .buf = buf,
                                    .len = len,
                                    .datatype = datatype,
                                    .comm = comm,
                                    .context_id = context_id,
                                    .tag = tag,
                                    .rank = src_lrank,
                                    .peer = -1 };
}

/* A code is stored only when something went wrong (6.5). */
static void messages_tell(int err, int *error_code)
{
    if (err != 0)
        *error_code = err;
}

void MPID_SendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                     uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, int *error_code)
{
    struct MPID_Operation op = to(comm, buf, len, NULL, src_lrank, tag, context_id, dest_grank);
    (void)msgrep;
    messages_tell(MPID_Send(&op, MPID_STANDARD), error_code);
}

void MPID_SsendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                      uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, int *error_code)
{
    struct MPID_Operation op = to(comm, buf, len, NULL, src_lrank, tag, context_id, dest_grank);
    (void)msgrep;
    messages_tell(MPID_Send(&op, MPID_SYNCHRONOUS), error_code);
}

void MPID_RsendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                      uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, int *error_code)
{
    struct MPID_Operation op = to(comm, buf, len, NULL, src_lrank, tag, context_id, dest_grank);
    (void)msgrep;
    messages_tell(MPID_Send(&op, MPID_STANDARD), error_code);
}

void MPID_BsendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                      uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, int *error_code)
{
    struct MPID_Operation op = to(comm, buf, len, NULL, src_lrank, tag, context_id, dest_grank);
    (void)msgrep;
    messages_tell(MPID_Send(&op, MPID_AT_ONCE), error_code);
}

void MPID_IsendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                      uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, MPID_Request request,
                      int *error_code)
{
    struct MPID_Operation op = to(comm, buf, len, NULL, src_lrank, tag, context_id, dest_grank);
    (void)msgrep;
    messages_tell(MPID_Isend(&op, MPID_STANDARD, request), error_code);
}

void MPID_IssendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                       uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, MPID_Request request,
                       int *error_code)
{
    struct MPID_Operation op = to(comm, buf, len, NULL, src_lrank, tag, context_id, dest_grank);
    (void)msgrep;
    messages_tell(MPID_Isend(&op, MPID_SYNCHRONOUS, request), error_code);
}

void MPID_IrsendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                       uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, MPID_Request request,
                       int *error_code)
{
    struct MPID_Operation op = to(comm, buf, len, NULL, src_lrank, tag, context_id, dest_grank);
    (void)msgrep;
    messages_tell(MPID_Isend(&op, MPID_STANDARD, request), error_code);
}

void MPID_SendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                       struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                       int dest_grank, int *error_code)
{
    struct MPID_Operation op = to(comm, buf, count, datatype, src_lrank, tag, context_id, dest_grank);
    messages_tell(MPID_Send(&op, MPID_STANDARD), error_code);
}

void MPID_SsendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                        struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                        int dest_grank, int *error_code)
{
    struct MPID_Operation op = to(comm, buf, count, datatype, src_lrank, tag, context_id, dest_grank);
    messages_tell(MPID_Send(&op, MPID_SYNCHRONOUS), error_code);
}

void MPID_RsendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                        struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                        int dest_grank, int *error_code)
{
    struct MPID_Operation op = to(comm, buf, count, datatype, src_lrank, tag, context_id, dest_grank);
    messages_tell(MPID_Send(&op, MPID_STANDARD), error_code);
}

void MPID_BsendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                        struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                        int dest_grank, int *error_code)
{
    struct MPID_Operation op = to(comm, buf, count, datatype, src_lrank, tag, context_id, dest_grank);
    messages_tell(MPID_Send(&op, MPID_AT_ONCE), error_code);
}

void MPID_IsendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                        struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                        int dest_grank, MPID_Request request, int *error_code)
{
    struct MPID_Operation op = to(comm, buf, count, datatype, src_lrank, tag, context_id, dest_grank);
    messages_tell(MPID_Isend(&op, MPID_STANDARD, request), error_code);
}

void MPID_IssendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                         struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                         int dest_grank, MPID_Request request, int *error_code)
{
    struct MPID_Operation op = to(comm, buf, count, datatype, src_lrank, tag, context_id, dest_grank);
    messages_tell(MPID_Isend(&op, MPID_SYNCHRONOUS, request), error_code);
}

void MPID_IrsendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                         struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                         int dest_grank, MPID_Request request, int *error_code)
{
    struct MPID_Operation op = to(comm, buf, count, datatype, src_lrank, tag, context_id, dest_grank);
    messages_tell(MPID_Isend(&op, MPID_STANDARD, request), error_code);
}

void MPID_RecvContig(struct MPIR_COMMUNICATOR *comm, void *buf, int64_t maxlen, int src_lrank, int tag,
                     uint32_t context_id, MPIR_Status *status, int *error_code)
{
    struct MPID_Operation op = from(comm, buf, maxlen, NULL, src_lrank, tag, context_id);
    messages_tell(MPID_Recv(&op, status), error_code);
}

void MPID_IrecvContig(struct MPIR_COMMUNICATOR *comm, void *buf, int64_t maxlen, int src_lrank, int tag,
                      uint32_t context_id, MPID_Request request, int *error_code)
{
    struct MPID_Operation op = from(comm, buf, maxlen, NULL, src_lrank, tag, context_id);
    messages_tell(MPID_Irecv(&op, request), error_code);
}

void MPID_RecvDatatype(struct MPIR_COMMUNICATOR *comm, void *buf, int64_t count,
                       struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                       MPIR_Status *status, int *error_code)
{
    struct MPID_Operation op = from(comm, buf, count, datatype, src_lrank, tag, context_id);
    messages_tell(MPID_Recv(&op, status), error_code);
}

void MPID_IrecvDatatype(struct MPIR_COMMUNICATOR *comm, void *buf, int64_t count,
                        struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                        MPID_Request request, int *error_code)
{
    struct MPID_Operation op = from(comm, buf, count, datatype, src_lrank, tag, context_id);
    messages_tell(MPID_Irecv(&op, request), error_code);
}

void MPID_ImrecvContig(void *buf, int64_t maxlen, MPID_Request message, int *error_code)
{
    messages_tell(MPID_Imrecv(buf, maxlen, NULL, message), error_code);
}

void MPID_ImrecvDatatype(void *buf, int64_t count, struct MPIR_DATATYPE *datatype, MPID_Request message,
                         int *error_code)
{
    messages_tell(MPID_Imrecv(buf, count, datatype, message), error_code);
}
