/* SPDX-License-Identifier: BSD-3-Clause */
/* p2p.h: messages between the members of a communicator, for the library's own use (collectives, communicator
 * creation): typed, with the collective context unless told otherwise; nothing here calls an error handler.
 */
#ifndef MPIR_P2P_H
#define MPIR_P2P_H

#include "comm.h"
#include "type.h"
#include "request.h"

/* The description of a message to, or from, a member; `which` is MPID_CONTEXT_*.  type NULL: `count` bytes. */
static inline struct MPID_Operation MPIR_P2p_to(const void *buf, int64_t count, MPIR_Datatype *type, int dest,
                                                int tag, MPIR_Comm *comm, int which)
{
    return (struct MPID_Operation){ .buf = (void *)(uintptr_t)buf,
                                    .len = count,
                                    .datatype = type ? &type->adi : NULL,
                                    .comm = &comm->adi,
                                    .context_id = MPIR_Comm_context(comm, which),
                                    .tag = tag,
                                    .rank = comm->adi.rank,
                                    .peer = MPIR_Comm_grank(comm, dest) };
}
static inline struct MPID_Operation MPIR_P2p_from(void *buf, int64_t count, MPIR_Datatype *type, int source,
                                                  int tag, MPIR_Comm *comm, int which)
{
    return (struct MPID_Operation){ .buf = buf,
                                    .len = count,
                                    .datatype = type ? &type->adi : NULL,
                                    .comm = &comm->adi,
                                    .context_id = MPIR_Comm_context(comm, which),
                                    .tag = tag,
                                    .rank = source,
                                    .peer = -1 };
}

/* Each returns an error class. */
static inline int MPIR_P2p_send(const void *buf, int64_t count, MPIR_Datatype *type, int dest, int tag,
                                MPIR_Comm *comm, int which)
{
    struct MPID_Operation op = MPIR_P2p_to(buf, count, type, dest, tag, comm, which);
    return MPID_Send(&op, MPID_STANDARD);
}
/* MPIR_ERR_MAY_BLOCK: it cannot go at once. */
static inline int MPIR_P2p_send_at_once(const void *buf, int64_t count, MPIR_Datatype *type, int dest,
                                        int tag, MPIR_Comm *comm, int which)
{
    struct MPID_Operation op = MPIR_P2p_to(buf, count, type, dest, tag, comm, which);
    return MPID_Send(&op, MPID_AT_ONCE);
}
static inline int MPIR_P2p_recv(void *buf, int64_t count, MPIR_Datatype *type, int source, int tag,
                                MPIR_Comm *comm, int which, MPIR_Status *status)
{
    struct MPID_Operation op = MPIR_P2p_from(buf, count, type, source, tag, comm, which);
    return MPID_Recv(&op, status);
}
/* Nonblocking, into a request the caller provides (it may lie on the stack; complete it with MPID_Wait). */
static inline int MPIR_P2p_isend(const void *buf, int64_t count, MPIR_Datatype *type, int dest, int tag,
                                 MPIR_Comm *comm, int which, MPIR_Request *request)
{
    struct MPID_Operation op = MPIR_P2p_to(buf, count, type, dest, tag, comm, which);
    return MPID_Isend(&op, MPID_STANDARD, request);
}
static inline int MPIR_P2p_irecv(void *buf, int64_t count, MPIR_Datatype *type, int source, int tag,
                                 MPIR_Comm *comm, int which, MPIR_Request *request)
{
    struct MPID_Operation op = MPIR_P2p_from(buf, count, type, source, tag, comm, which);
    return MPID_Irecv(&op, request);
}
/* Send and receive at once. */
int MPIR_P2p_sendrecv(const void *sbuf, int64_t scount, MPIR_Datatype *stype, int dest, int stag, void *rbuf,
                      int64_t rcount, MPIR_Datatype *rtype, int source, int rtag, MPIR_Comm *comm, int which,
                      MPIR_Status *status);

#endif
