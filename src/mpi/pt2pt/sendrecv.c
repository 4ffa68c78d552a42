/* SPDX-License-Identifier: BSD-3-Clause */
/* sendrecv.c: send and receive at once, blocking (4.11), and the library's own form of it (p2p.h). */
#include "config.h"
#include "bodies.h"
#include <stdlib.h>
#include "pt2pt.h"

enum { ON_STACK = 2048 };

/* The receive cannot be left behind on a stack that goes. */
static void abandon(MPIR_Request *recv)
{
    MPID_Cancel(recv);
    MPID_Wait(recv, NULL);
}

/* Half of it has failed, as a peer is lost.  In a collective the other peer waits for the other half all the same. */
static void send_though(const void *buf, int64_t count, MPIR_Datatype *type, int dest, int tag,
                        MPIR_Comm *comm, int which)
{
    struct ku_err words = *ku_err_last();
    if (which != MPID_CONTEXT_PT2PT)
        (void)MPIR_P2p_send(buf, count, type, dest, tag, comm, which);
    *ku_err_last() = words;
}

static void receive_though(MPIR_Request *recv, int which, MPIR_Status *status)
{
    struct ku_err words = *ku_err_last();
    if (which != MPID_CONTEXT_PT2PT)
        (void)MPID_Wait(recv, status);
    else
        abandon(recv);
    *ku_err_last() = words;
}

int MPIR_P2p_sendrecv(const void *sbuf, int64_t scount, MPIR_Datatype *stype, int dest, int stag, void *rbuf,
                      int64_t rcount, MPIR_Datatype *rtype, int source, int rtag, MPIR_Comm *comm, int which,
                      MPIR_Status *status)
{
    MPIR_Request recv = { .obj = { .index = KEEL_NO_INDEX, .gen = 1, .refs = 1 } };
    int err = MPIR_P2p_irecv(rbuf, rcount, rtype, source, rtag, comm, which, &recv);
    if (err) {
        send_though(sbuf, scount, stype, dest, stag, comm, which);
        return err;
    }
    err = MPIR_P2p_send(sbuf, scount, stype, dest, stag, comm, which);
    if (err) {
        receive_though(&recv, which, status);
        return err;
    }
    return MPID_Wait(&recv, status);
}

/* Of arguments whose lengths have been looked at. */
static int both(const void *sendbuf, MPI_Count sendcount, MPIR_Datatype *sendtype, int dest, int sendtag,
                void *recvbuf, MPI_Count recvcount, MPIR_Datatype *recvtype, int source, int recvtag,
                MPIR_Comm *comm, MPIR_Status *status)
{
    if (source == MPI_PROC_NULL) {
        MPIR_Status_proc_null(status);
        return dest == MPI_PROC_NULL
                   ? 0
                   : MPIR_P2p_send(sendbuf, sendcount, sendtype, dest, sendtag, comm, MPID_CONTEXT_PT2PT);
    }
    if (dest == MPI_PROC_NULL)
        return MPIR_P2p_recv(recvbuf, recvcount, recvtype, source, recvtag, comm, MPID_CONTEXT_PT2PT, status);
    return MPIR_P2p_sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                             source, recvtag, comm, MPID_CONTEXT_PT2PT, status);
}

/* The same, where the message is to be copied before it is overwritten. */
static int both_copied(const void *sendbuf, MPI_Count sendcount, MPIR_Datatype *sendtype, int dest,
                       int sendtag, void *recvbuf, MPI_Count recvcount, MPIR_Datatype *recvtype, int source,
                       int recvtag, MPIR_Comm *comm, MPIR_Status *status)
{
    char on_stack[ON_STACK];
    int64_t size = sendcount * sendtype->adi.size;
    void *copy = size <= ON_STACK ? on_stack : malloc((size_t)size);
    if (!copy)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a copy of the message of %lld bytes",
                        (long long)size);
    int err = copy_message(copy, size, sendbuf, sendcount, sendtype, dest, comm);
    if (!err)
        err = both(copy, size, MPIR_Datatype_predefined(KEEL_MPI_BYTE), dest, sendtag, recvbuf, recvcount,
                   recvtype, source, recvtag, comm, status);
    if (copy != on_stack)
        free(copy);
    return err;
}

int MPIR_Sendrecv(const void *sendbuf, MPI_Count sendcount, MPIR_Datatype *sendtype, int dest, int sendtag,
                  void *recvbuf, MPI_Count recvcount, MPIR_Datatype *recvtype, int source, int recvtag,
                  MPIR_Comm *comm, MPIR_Status *status)
{
    int err = check_length(sendcount, sendtype, "sendcount");
    if (!err)
        err = check_length(recvcount, recvtype, "recvcount");
    if (err)
        return err;
    if (one_buffer(sendbuf, sendcount, sendtype, dest, recvbuf, recvcount, recvtype, source))
        return both_copied(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                           recvtag, comm, status);
    return both(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
                comm, status);
}

int MPIR_Sendrecv_replace(void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int sendtag,
                          int source, int recvtag, MPIR_Comm *comm, MPIR_Status *status)
{
    int err = check_length(count, datatype, "count");
    if (err)
        return err;
    if (dest == MPI_PROC_NULL)
        return MPIR_Recv(buf, count, datatype, source, recvtag, comm, status);
    return both_copied(buf, count, datatype, dest, sendtag, buf, count, datatype, source, recvtag, comm,
                       status);
}
