/* SPDX-License-Identifier: BSD-3-Clause */
/* pt2pt_send.c: sends in standard, synchronous and ready mode (3.4, 4.7.2), the last as standard ones; buffered
 * mode is in bsend.c. */
#include "config.h"
#include "bodies.h"
#include "pt2pt.h"

static int send_by(enum MPID_MODE mode, const void *buf, MPI_Count count, MPIR_Datatype *type, int dest,
                   int tag, MPIR_Comm *comm)
{
    int err;
    if (dest == MPI_PROC_NULL)
        return 0;
    if ((err = check_length(count, type, "count")))
        return err;
    struct MPID_Operation op = MPIR_P2p_to(buf, count, type, dest, tag, comm, MPID_CONTEXT_PT2PT);
    return MPID_Send(&op, mode);
}

static int isend_by(enum MPID_MODE mode, const void *buf, MPI_Count count, MPIR_Datatype *type, int dest,
                    int tag, MPIR_Comm *comm, MPIR_Request **request)
{
    int err;
    if (dest == MPI_PROC_NULL)
        return start_nothing(comm, MPIR_SEND, request);
    if ((err = check_length(count, type, "count")))
        return err;
    MPIR_Request *r = MPIR_Request_alloc_plain(comm);
    if (!r)
        return MPI_ERR_NO_MEM;
    struct MPID_Operation op = MPIR_P2p_to(buf, count, type, dest, tag, comm, MPID_CONTEXT_PT2PT);
    return started(r, MPID_Isend(&op, mode, r), request);
}

/* (What is contiguous goes a shorter way before it comes here: src/mpi/binding/front.h.) */
int MPIR_Send(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag, MPIR_Comm *comm)
{
    return send_by(MPID_STANDARD, buf, count, datatype, dest, tag, comm);
}

int MPIR_Ssend(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag, MPIR_Comm *comm)
{
    return send_by(MPID_SYNCHRONOUS, buf, count, datatype, dest, tag, comm);
}

int MPIR_Rsend(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag, MPIR_Comm *comm)
{
    return MPIR_Send(buf, count, datatype, dest, tag, comm);
}

int MPIR_Isend(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag, MPIR_Comm *comm,
               MPIR_Request **request)
{
    return isend_by(MPID_STANDARD, buf, count, datatype, dest, tag, comm, request);
}

int MPIR_Issend(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag, MPIR_Comm *comm,
                MPIR_Request **request)
{
    return isend_by(MPID_SYNCHRONOUS, buf, count, datatype, dest, tag, comm, request);
}

int MPIR_Irsend(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag, MPIR_Comm *comm,
                MPIR_Request **request)
{
    return MPIR_Isend(buf, count, datatype, dest, tag, comm, request);
}
