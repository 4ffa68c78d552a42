/* p2p.h: messages between the members of a communicator, for the library's own use (collectives, communicator
 * creation): typed, with the collective context unless told otherwise; nothing here calls an error handler.
 */
#ifndef MPIR_P2P_H
#define MPIR_P2P_H

#include "comm.h"
#include "type.h"
#include "request.h"

/* Each returns an error class.  `which` is MPID_CONTEXT_*. */
static inline int MPIR_P2p_send(const void *buf, int64_t count, MPIR_Datatype *type, int dest, int tag,
                                MPIR_Comm *comm, int which)
{
    int err = 0;
    if (type->adi.as_bytes)
        MPID_SendContig(&comm->adi, buf, count * type->adi.size, comm->adi.rank, tag,
                        MPIR_Comm_context(comm, which), MPIR_Comm_grank(comm, dest), MPID_MSGFORM_NATIVE,
                        &err);
    else
        MPID_SendDatatype(&comm->adi, buf, count, &type->adi, comm->adi.rank, tag,
                          MPIR_Comm_context(comm, which), MPIR_Comm_grank(comm, dest), &err);
    return err;
}
static inline int MPIR_P2p_recv(void *buf, int64_t count, MPIR_Datatype *type, int source, int tag,
                                MPIR_Comm *comm, int which, MPIR_Status *status)
{
    int err = 0;
    if (type->adi.as_bytes)
        MPID_RecvContig(&comm->adi, buf, count * type->adi.size, source, tag, MPIR_Comm_context(comm, which),
                        status, &err);
    else
        MPID_RecvDatatype(&comm->adi, buf, count, &type->adi, source, tag, MPIR_Comm_context(comm, which),
                          status, &err);
    return err;
}
/* Nonblocking, into a request the caller provides (it may lie on the stack; complete it with MPID_xComplete).
 */
static inline int MPIR_P2p_isend(const void *buf, int64_t count, MPIR_Datatype *type, int dest, int tag,
                                 MPIR_Comm *comm, int which, MPIR_Request *request)
{
    int err = 0;
    if (type->adi.as_bytes)
        MPID_IsendContig(&comm->adi, buf, count * type->adi.size, comm->adi.rank, tag,
                         MPIR_Comm_context(comm, which), MPIR_Comm_grank(comm, dest), MPID_MSGFORM_NATIVE,
                         request, &err);
    else
        MPID_IsendDatatype(&comm->adi, buf, count, &type->adi, comm->adi.rank, tag,
                           MPIR_Comm_context(comm, which), MPIR_Comm_grank(comm, dest), request, &err);
    return err;
}
static inline int MPIR_P2p_irecv(void *buf, int64_t count, MPIR_Datatype *type, int source, int tag,
                                 MPIR_Comm *comm, int which, MPIR_Request *request)
{
    int err = 0;
    if (type->adi.as_bytes)
        MPID_IrecvContig(&comm->adi, buf, count * type->adi.size, source, tag, MPIR_Comm_context(comm, which),
                         request, &err);
    else
        MPID_IrecvDatatype(&comm->adi, buf, count, &type->adi, source, tag, MPIR_Comm_context(comm, which),
                           request, &err);
    return err;
}
/* Send and receive at once. */
int MPIR_P2p_sendrecv(const void *sbuf, int64_t scount, MPIR_Datatype *stype, int dest, int stag, void *rbuf,
                      int64_t rcount, MPIR_Datatype *rtype, int source, int rtag, MPIR_Comm *comm, int which,
                      MPIR_Status *status);

#endif
