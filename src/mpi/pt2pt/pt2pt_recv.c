/* SPDX-License-Identifier: BSD-3-Clause */
/* pt2pt_recv.c: receives and probes, by envelope and by matched message (4.2, 4.7.2, 4.8). */
#include "config.h"
#include "bodies.h"
#include "pt2pt.h"

int MPIR_Recv(void *buf, MPI_Count count, MPIR_Datatype *datatype, int source, int tag, MPIR_Comm *comm,
              MPIR_Status *status)
{
    int err = check_length(count, datatype, "count");
    if (err)
        return err;
    if (source == MPI_PROC_NULL) {
        MPIR_Status_proc_null(status);
        return 0;
    }
    if (__builtin_expect(datatype->adi.as_bytes, 1))
        return MPID_Recv_bytes(buf, count * datatype->adi.size, &comm->adi, source, tag, status);
    return MPIR_P2p_recv(buf, count, datatype, source, tag, comm, MPID_CONTEXT_PT2PT, status);
}

int MPIR_Irecv(void *buf, MPI_Count count, MPIR_Datatype *datatype, int source, int tag, MPIR_Comm *comm,
               MPIR_Request **request)
{
    int err = check_length(count, datatype, "count");
    if (err)
        return err;
    if (source == MPI_PROC_NULL)
        return start_nothing(comm, MPIR_RECV, request);
    MPIR_Request *r = MPIR_Request_alloc_plain(comm);
    if (!r)
        return MPI_ERR_NO_MEM;
    err = __builtin_expect(datatype->adi.as_bytes, 1)
              ? MPID_Irecv_bytes(buf, count * datatype->adi.size, &comm->adi, source, tag, r)
              : MPIR_P2p_irecv(buf, count, datatype, source, tag, comm, MPID_CONTEXT_PT2PT, r);
    return started(r, err, request);
}

int MPIR_Probe(int source, int tag, MPIR_Comm *comm, MPIR_Status *status)
{
    int err = 0;
    MPIR_Status unwanted;
    if (source == MPI_PROC_NULL) {
        MPIR_Status_proc_null(status);
        return 0;
    }
    MPID_Probe(&comm->adi, tag, MPIR_Comm_context(comm, MPID_CONTEXT_PT2PT), source, &err,
               status ? status : &unwanted);
    return err;
}

int MPIR_Iprobe(int source, int tag, MPIR_Comm *comm, int *flag, MPIR_Status *status)
{
    int err = 0;
    MPIR_Status unwanted;
    *flag = 1;
    if (source == MPI_PROC_NULL) {
        MPIR_Status_proc_null(status);
        return 0;
    }
    MPID_Iprobe(&comm->adi, tag, MPIR_Comm_context(comm, MPID_CONTEXT_PT2PT), source, flag, &err,
                status ? status : &unwanted);
    return err;
}

/* A matched message is a request that the ADI turns into the receive. */
static int mprobe(int source, int tag, MPIR_Comm *comm, int *flag, bool block, MPIR_Request **message,
                  MPIR_Status *status)
{
    int err = 0;
    MPIR_Status unwanted;
    MPIR_Status *s = status ? status : &unwanted;
    uint32_t context = MPIR_Comm_context(comm, MPID_CONTEXT_PT2PT);
    *flag = 1;
    *message = NULL;
    if (source == MPI_PROC_NULL) {
        MPIR_Status_proc_null(status);
        *message = &MPIR_Message_no_proc;
        return 0;
    }
    MPIR_Request *m = MPIR_Request_alloc(comm);
    if (!m)
        return MPI_ERR_NO_MEM;
    if (block)
        MPID_Mprobe(&comm->adi, tag, context, source, m, &err, s);
    else
        MPID_Improbe(&comm->adi, tag, context, source, flag, m, &err, s);
    if (!err && *flag)
        *message = m;
    else
        MPIR_Request_release(m);
    return err;
}

int MPIR_Mprobe(int source, int tag, MPIR_Comm *comm, MPIR_Request **message, MPIR_Status *status)
{
    int flag;
    return mprobe(source, tag, comm, &flag, true, message, status);
}

int MPIR_Improbe(int source, int tag, MPIR_Comm *comm, int *flag, MPIR_Request **message, MPIR_Status *status)
{
    return mprobe(source, tag, comm, flag, false, message, status);
}

int MPIR_Imrecv(void *buf, MPI_Count count, MPIR_Datatype *datatype, MPIR_Request **message,
                MPIR_Request **request)
{
    MPIR_Request *m = *message;
    int err = check_length(count, datatype, "count");
    if (err)
        return err;
    if (m == &MPIR_Message_no_proc) {
        err = start_nothing(NULL, MPIR_RECV, request);
        if (!err)
            *message = NULL;
        return err;
    }
    err = MPID_Imrecv(buf, count, &datatype->adi, m);
    if (err)
        return err;
    *message = NULL;
    *request = m;
    return 0;
}

int MPIR_Mrecv(void *buf, MPI_Count count, MPIR_Datatype *datatype, MPIR_Request **message,
               MPIR_Status *status)
{
    MPIR_Request *request = NULL;
    int err = MPIR_Imrecv(buf, count, datatype, message, &request);
    return err ? err : MPIR_Request_wait(request, status);
}
