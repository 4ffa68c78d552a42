/* SPDX-License-Identifier: BSD-3-Clause */
/* persist.c: persistent requests for sends and receives (4.9); buffered mode is in bsend.c.
 *
 * The request keeps the arguments in the very fields in which the ADI wants them (mpid.h: an operation leaves them as
 * they were given), so a start is the nonblocking call without making a request, and takes no memory. */
#include "config.h"
#include "bodies.h"
#include "pt2pt.h"

enum mode {
    STANDARD = 0 * MPIR_REQUEST_MODE,
    SYNCHRONOUS = 1 * MPIR_REQUEST_MODE,
    READY = 2 * MPIR_REQUEST_MODE,
    RECEIVE = 3 * MPIR_REQUEST_MODE,
    NOTHING = 4 * MPIR_REQUEST_MODE, /* with MPI_PROC_NULL */
    MODES = 7 * MPIR_REQUEST_MODE
};

MPIR_Request *MPIR_Persistent_alloc(const void *buf, MPI_Count count, MPIR_Datatype *type, int peer, int tag,
                                    MPIR_Comm *comm)
{
    MPIR_Request *r = check_length(count, type, "count") ? NULL : MPIR_Request_alloc(comm);
    if (!r)
        return NULL;
    r->buf = (void *)(uintptr_t)buf;
    if (type->adi.as_bytes)
        r->len = count * type->adi.size;
    else {
        r->len = count;
        r->datatype = &type->adi;
        MPIR_Object_ref(type);
    }
    r->context_id = MPIR_Comm_context(comm, MPID_CONTEXT_PT2PT);
    r->tag = tag;
    r->rank = comm->adi.rank;
    r->peer = peer >= 0 ? MPIR_Comm_grank(comm, peer) : peer;
    r->obj.flags |= MPIR_REQUEST_PERSISTENT;
    MPIR_Request_rest(r);
    return r;
}

static int persist_init(enum mode mode, const void *buf, MPI_Count count, MPIR_Datatype *type, int peer,
                        int tag, MPIR_Comm *comm, MPIR_Request **request)
{
    MPIR_Request *r = MPIR_Persistent_alloc(buf, count, type, peer, tag, comm);
    if (!r)
        return ku_err_last()->code;
    r->handle_type = mode == RECEIVE ? MPIR_RECV : MPIR_SEND;
    if (mode == RECEIVE)
        r->rank = peer;
    r->obj.flags |= (uint8_t)(peer == MPI_PROC_NULL ? NOTHING : mode);
    *request = r;
    return 0;
}

int MPIR_Send_init(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag,
                   MPIR_Comm *comm, MPIR_Request **request)
{
    return persist_init(STANDARD, buf, count, datatype, dest, tag, comm, request);
}

int MPIR_Ssend_init(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag,
                    MPIR_Comm *comm, MPIR_Request **request)
{
    return persist_init(SYNCHRONOUS, buf, count, datatype, dest, tag, comm, request);
}

int MPIR_Rsend_init(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag,
                    MPIR_Comm *comm, MPIR_Request **request)
{
    return persist_init(READY, buf, count, datatype, dest, tag, comm, request);
}

int MPIR_Recv_init(void *buf, MPI_Count count, MPIR_Datatype *datatype, int source, int tag, MPIR_Comm *comm,
                   MPIR_Request **request)
{
    return persist_init(RECEIVE, buf, count, datatype, source, tag, comm, request);
}

int MPIR_P2p_restart(MPIR_Request *r)
{
    switch (r->obj.flags & MODES) {
    case STANDARD:
    case READY:
        return __builtin_expect(!r->datatype, 1) ? MPID_Send_again(r) : MPID_Isend(&r->op, MPID_STANDARD, r);
    case SYNCHRONOUS:
        return MPID_Isend(&r->op, MPID_SYNCHRONOUS, r);
    case RECEIVE:
        return __builtin_expect(!r->datatype, 1) ? MPID_Recv_again(r) : MPID_Irecv(&r->op, r);
    default: /* NOTHING: it is complete already */
        MPIR_Status_proc_null(&r->s);
        return 0;
    }
}
