/* SPDX-License-Identifier: BSD-3-Clause */
/* pt2pt.h: what the bodies of this chapter share. */
#ifndef MPIR_PT2PT_H
#define MPIR_PT2PT_H

#include "comm.h"
#include "mpi_err.h"
#include "p2p.h"
#include "request.h"
#include "type.h"

/* count elements of the type in 63 bits of bytes? */
static inline int check_length(MPI_Count count, const MPIR_Datatype *datatype, const char *arg)
{
    int64_t bytes;
    if (__builtin_expect(!__builtin_mul_overflow(count, datatype->adi.size, &bytes), 1))
        return 0;
    return MPIR_Err(MPI_ERR_COUNT, arg,
                    "is %lld; elements of %lld bytes make a message of more than 2^63 - 1 bytes",
                    (long long)count, (long long)datatype->adi.size);
}

/* Are both buffers of a send and receive at once the same memory?  Then the message may arrive where it has not
 * left yet, and a copy is sent.  (Buffers of different types with gaps that begin at one address are disjoint in
 * most programs: halos.) */
static inline bool one_buffer(const void *sendbuf, MPI_Count sendcount, const MPIR_Datatype *sendtype,
                              int dest, const void *recvbuf, MPI_Count recvcount,
                              const MPIR_Datatype *recvtype, int source)
{
    return __builtin_expect(sendbuf == recvbuf, 0) && sendcount > 0 && recvcount > 0 &&
           dest != MPI_PROC_NULL && source != MPI_PROC_NULL &&
           (sendtype == recvtype || (sendtype->adi.is_contig && recvtype->adi.is_contig));
}

/* The bytes of a message to dest, `size` of them. */
static inline int copy_message(void *copy, int64_t size, const void *buf, MPI_Count count,
                               MPIR_Datatype *datatype, int dest, MPIR_Comm *comm)
{
    int64_t position = 0;
    int err = 0;
    MPID_Pack((void *)(uintptr_t)buf, count, &datatype->adi, copy, size, &position, &comm->adi, dest,
              MPID_MSGFORM_NATIVE, MPID_MSG_OK, &err);
    return err;
}

/* Give an operation that the ADI has taken (or refused, with `err`) its place in the user's hands. */
static inline int started(MPIR_Request *r, int err, MPIR_Request **request)
{
    if (__builtin_expect(err != 0, 0)) {
        MPIR_Request_release(r);
        return err;
    }
    *request = r;
    return 0;
}

/* An inactive persistent request that keeps these arguments (contiguous data as bytes, datatype NULL) and references to
 * the datatype and to comm; handle_type, and whatever else it needs to be started, is the caller's.  NULL: recorded. */
MPIR_Request *MPIR_Persistent_alloc(const void *buf, MPI_Count count, MPIR_Datatype *type, int peer, int tag,
                                    MPIR_Comm *comm);

/* A request for an operation with MPI_PROC_NULL. */
static inline int start_nothing(MPIR_Comm *comm, MPIR_OPTYPE kind, MPIR_Request **request)
{
    *request = MPIR_Request_alloc_complete(comm, kind);
    return *request ? 0 : MPI_ERR_NO_MEM;
}

#endif
