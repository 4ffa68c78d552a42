/* bsend.c: sends in buffered mode: at once if the device takes the message, else through the attached buffer.
 */
#include "config.h"
#include "bodies.h"
#include "buffer.h"
#include "pt2pt.h"

/* True if the message is on its way (or cannot be: *err). */
static bool sent_at_once(const void *buf, MPI_Count count, MPIR_Datatype *type, int dest, int tag,
                         MPIR_Comm *comm, int *err)
{
    uint32_t context = MPIR_Comm_context(comm, MPID_CONTEXT_PT2PT);
    int32_t peer = MPIR_Comm_grank(comm, dest);
    *err = 0;
    if (type->adi.is_contig)
        MPID_BsendContig(&comm->adi, buf, count * type->adi.size, comm->adi.rank, tag, context, peer,
                         MPID_MSGFORM_NATIVE, err);
    else
        MPID_BsendDatatype(&comm->adi, buf, count, &type->adi, comm->adi.rank, tag, context, peer, err);
    return *err != MPIR_ERR_MAY_BLOCK;
}

static int send_buffered(struct buffer *b, const void *buf, MPI_Count count, MPIR_Datatype *type, int dest,
                         int tag, MPIR_Comm *comm)
{
    int64_t size = count * type->adi.size, position = 0;
    int err = 0;
    void *data;
    struct message *m = MPIR_Buffer_take(b, comm, size, &data);
    if (!m)
        return ku_err_last()->code;
    MPID_Pack(buf, count, &type->adi, data, size, &position, &comm->adi, dest, MPID_MSGFORM_NATIVE,
              MPID_MSG_OK, &err);
    if (!err)
        MPID_IsendContig(&comm->adi, data, size, comm->adi.rank, tag,
                         MPIR_Comm_context(comm, MPID_CONTEXT_PT2PT), MPIR_Comm_grank(comm, dest),
                         MPID_MSGFORM_NATIVE, MPIR_Buffer_request(m), &err);
    if (err)
        MPIR_Buffer_give_back(b, m);
    return err;
}

int MPIR_Bsend(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag, MPIR_Comm *comm)
{
    int err;
    if (dest == MPI_PROC_NULL)
        return 0;
    if ((err = check_length(count, datatype, "count")))
        return err;
    if (sent_at_once(buf, count, datatype, dest, tag, comm, &err))
        return err;
    struct buffer *b = MPIR_Buffer_of(comm);
    if (!b)
        return MPIR_Err(MPI_ERR_BUFFER, NULL,
                        "the message needs %lld + %d bytes (MPI_BSEND_OVERHEAD) of buffer, and "
                        "none is attached",
                        (long long)(count * datatype->adi.size), MPI_BSEND_OVERHEAD);
    return send_buffered(b, buf, count, datatype, dest, tag, comm);
}

/* The copy makes it complete: the request only says so. */
int MPIR_Ibsend(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag, MPIR_Comm *comm,
                MPIR_Request **request)
{
    MPIR_Request *r = MPIR_Request_alloc_complete(comm, MPIR_SEND);
    if (!r)
        return MPI_ERR_NO_MEM;
    return started(r, MPIR_Bsend(buf, count, datatype, dest, tag, comm), request);
}
