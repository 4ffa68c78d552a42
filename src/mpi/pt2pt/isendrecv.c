/* SPDX-License-Identifier: BSD-3-Clause */
/* isendrecv.c: send and receive at once, nonblocking (MPI 4.0): one request that stands for two. */
#include "config.h"
#include "bodies.h"
#include <stdlib.h>
#include "pt2pt.h"

struct pair {
    struct MPIR_Closure closure;
    MPIR_Request *send, *recv;
    char copy[]; /* Isendrecv_replace: the message sent */
};

static void pair_poll(MPIR_Request *r)
{
    struct pair *p = r->aux;
    if (!MPIR_Request_is_complete(p->send) || !MPIR_Request_is_complete(p->recv))
        return;
    r->s = p->recv->s;
    r->errval = p->recv->errval ? p->recv->errval : p->send->errval;
    atomic_store_explicit(&r->is_complete, 1, memory_order_release);
}

static void pair_free(MPIR_Request *r)
{
    struct pair *p = r->aux;
    MPIR_Request_release(p->send);
    MPIR_Request_release(p->recv);
    free(p);
}

static void pair_explain(const MPIR_Request *r)
{
    const struct pair *p = r->aux;
    MPIR_Err_request(p->recv->errval ? p->recv : p->send);
}

static const struct MPIR_Request_ops pair_ops = { .poll = pair_poll,
                                                  .free = pair_free,
                                                  .explain = pair_explain };

/* A request with a pair behind it and room for `extra` bytes; nothing is started yet. */
static MPIR_Request *pair_alloc(MPIR_Comm *comm, int64_t extra)
{
    MPIR_Request *r = MPIR_Request_alloc(comm);
    struct pair *p = r ? malloc(sizeof *p + (size_t)extra) : NULL;
    if (!p) {
        MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a request and %lld bytes of message", (long long)extra);
        if (r)
            MPIR_Request_release(r);
        return NULL;
    }
    p->closure.ops = &pair_ops;
    p->send = p->recv = NULL;
    r->handle_type = MPIR_SCHED;
    r->aux = p;
    return r;
}

/* Start both halves.  If the second one fails the first is taken back. */
static int pair_start(MPIR_Request *r, const void *sendbuf, MPI_Count sendcount, MPIR_Datatype *sendtype,
                      int dest, int sendtag, void *recvbuf, MPI_Count recvcount, MPIR_Datatype *recvtype,
                      int source, int recvtag, MPIR_Comm *comm, MPIR_Request **request)
{
    struct pair *p = r->aux;
    int err = MPIR_Irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, &p->recv);
    if (!err) {
        err = MPIR_Isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, &p->send);
        if (!err) {
            *request = r;
            return 0;
        }
        MPID_Cancel(p->recv);
        MPIR_Request_detach(p->recv);
    }
    r->aux = NULL;
    free(p);
    MPIR_Request_release(r);
    return err;
}

/* The same with a copy of the message. */
static int pair_copied(const void *sendbuf, MPI_Count sendcount, MPIR_Datatype *sendtype, int dest,
                       int sendtag, void *recvbuf, MPI_Count recvcount, MPIR_Datatype *recvtype, int source,
                       int recvtag, MPIR_Comm *comm, MPIR_Request **request)
{
    int64_t size = sendcount * sendtype->adi.size;
    MPIR_Request *r = pair_alloc(comm, size);
    if (!r)
        return MPI_ERR_NO_MEM;
    struct pair *p = r->aux;
    int err = copy_message(p->copy, size, sendbuf, sendcount, sendtype, dest, comm);
    if (err) {
        r->aux = NULL;
        free(p);
        MPIR_Request_release(r);
        return err;
    }
    return pair_start(r, p->copy, size, MPIR_Datatype_predefined(KEEL_MPI_BYTE), dest, sendtag, recvbuf,
                      recvcount, recvtype, source, recvtag, comm, request);
}

int MPIR_Isendrecv(const void *sendbuf, MPI_Count sendcount, MPIR_Datatype *sendtype, int dest, int sendtag,
                   void *recvbuf, MPI_Count recvcount, MPIR_Datatype *recvtype, int source, int recvtag,
                   MPIR_Comm *comm, MPIR_Request **request)
{
    int err = check_length(sendcount, sendtype, "sendcount");
    if (!err)
        err = check_length(recvcount, recvtype, "recvcount");
    if (err)
        return err;
    if (one_buffer(sendbuf, sendcount, sendtype, dest, recvbuf, recvcount, recvtype, source))
        return pair_copied(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                           recvtag, comm, request);
    MPIR_Request *r = pair_alloc(comm, 0);
    if (!r)
        return MPI_ERR_NO_MEM;
    return pair_start(r, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                      recvtag, comm, request);
}

int MPIR_Isendrecv_replace(void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int sendtag,
                           int source, int recvtag, MPIR_Comm *comm, MPIR_Request **request)
{
    int err = check_length(count, datatype, "count");
    if (err)
        return err;
    return pair_copied(buf, count, datatype, dest, sendtag, buf, count, datatype, source, recvtag, comm,
                       request);
}
