/* send.c: sends in standard, synchronous and ready mode (3.4, 4.7.2), the last as standard ones; buffered mode is in bsend.c. */
#include "config.h"
#include "bodies.h"
#include "pt2pt.h"

/* A mode is the ADI's four calls for it. */
struct mode {
    __typeof__(MPID_SendContig) *contig;
    __typeof__(MPID_SendDatatype) *datatype;
    __typeof__(MPID_IsendContig) *icontig;
    __typeof__(MPID_IsendDatatype) *idatatype;
};
static const struct mode standard = { MPID_SendContig, MPID_SendDatatype, MPID_IsendContig,
                                      MPID_IsendDatatype };
static const struct mode synchronous = { MPID_SsendContig, MPID_SsendDatatype, MPID_IssendContig,
                                         MPID_IssendDatatype };

static inline __attribute__((always_inline)) int send_by(const struct mode *mode, const void *buf,
                                                         MPI_Count count, MPIR_Datatype *type, int dest,
                                                         int tag, MPIR_Comm *comm)
{
    int err = 0;
    if (dest == MPI_PROC_NULL)
        return 0;
    if ((err = check_length(count, type, "count")))
        return err;
    uint32_t context = MPIR_Comm_context(comm, MPID_CONTEXT_PT2PT);
    int32_t peer = MPIR_Comm_grank(comm, dest);
    if (type->adi.as_bytes)
        mode->contig(&comm->adi, buf, count * type->adi.size, comm->adi.rank, tag, context, peer,
                     MPID_MSGFORM_NATIVE, &err);
    else
        mode->datatype(&comm->adi, buf, count, &type->adi, comm->adi.rank, tag, context, peer, &err);
    return err;
}

static inline __attribute__((always_inline)) int isend_by(const struct mode *mode, const void *buf,
                                                          MPI_Count count, MPIR_Datatype *type, int dest,
                                                          int tag, MPIR_Comm *comm, MPIR_Request **request)
{
    int err = 0;
    if (dest == MPI_PROC_NULL)
        return start_nothing(comm, MPIR_SEND, request);
    if ((err = check_length(count, type, "count")))
        return err;
    MPIR_Request *r = MPIR_Request_alloc_plain(comm);
    if (!r)
        return MPI_ERR_NO_MEM;
    uint32_t context = MPIR_Comm_context(comm, MPID_CONTEXT_PT2PT);
    int32_t peer = MPIR_Comm_grank(comm, dest);
    if (type->adi.as_bytes)
        mode->icontig(&comm->adi, buf, count * type->adi.size, comm->adi.rank, tag, context, peer,
                      MPID_MSGFORM_NATIVE, r, &err);
    else
        mode->idatatype(&comm->adi, buf, count, &type->adi, comm->adi.rank, tag, context, peer, r, &err);
    return started(r, err, request);
}

/* (What is contiguous goes a shorter way before it comes here: src/mpi/binding/front.h.) */
int MPIR_Send(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag, MPIR_Comm *comm)
{
    return send_by(&standard, buf, count, datatype, dest, tag, comm);
}

int MPIR_Ssend(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag, MPIR_Comm *comm)
{
    return send_by(&synchronous, buf, count, datatype, dest, tag, comm);
}

int MPIR_Rsend(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag, MPIR_Comm *comm)
{
    return MPIR_Send(buf, count, datatype, dest, tag, comm);
}

int MPIR_Isend(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag, MPIR_Comm *comm,
               MPIR_Request **request)
{
    return isend_by(&standard, buf, count, datatype, dest, tag, comm, request);
}

int MPIR_Issend(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag, MPIR_Comm *comm,
                MPIR_Request **request)
{
    return isend_by(&synchronous, buf, count, datatype, dest, tag, comm, request);
}

int MPIR_Irsend(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag, MPIR_Comm *comm,
                MPIR_Request **request)
{
    return MPIR_Isend(buf, count, datatype, dest, tag, comm, request);
}
