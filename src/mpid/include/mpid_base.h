/* SPDX-License-Identifier: BSD-3-Clause */
/* mpid_base.h: what the ADI shares with the layer above: statuses, requests, communicators, datatypes (mpid.h). */
#ifndef KEEL_MPID_BASE_H
#define KEEL_MPID_BASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "keel_atomic.h"
#include "keel_object.h"
#ifndef MPI_VERSION
#include "mpi_const.h" /* generated: the integer constants of MPI, MPI_Aint, MPI_Count, MPI_Offset */
#endif

/* ---- Data shared with the layer above (3.7, 6.1) -------------------------------------------- */

/* What is known of a completed receive; also MPI's internal status. */
typedef struct MPIR_STATUS {
    int32_t MPI_SOURCE, MPI_TAG, MPI_ERROR;
    int32_t cancelled; /* 1: cancelled */
    int64_t count;     /* bytes received (packed size, not extent) */
} MPIR_Status;

typedef enum MPIR_OPTYPE {
    MPIR_SEND = 1,
    MPIR_RECV,
    MPIR_PERSISTENT_SEND,
    MPIR_PERSISTENT_RECV,
    MPIR_USER,  /* generalized request */
    MPIR_SCHED, /* collective schedule */
    MPIR_PART,  /* partitioned */
    MPIR_RMA,
    MPIR_IO,
    MPIR_MESSAGE /* a matched message (MPI_Mprobe) waiting for its receive */
} MPIR_OPTYPE;

struct MPIR_DATATYPE;
struct MPIR_COMMUNICATOR;
struct ku_seg_machine;
struct ku_seg_place;

/* The description of a message to send or to receive: what buffer it is in, and its envelope.  As macro, since a
 * request holds it. */
#define MPID_OPERATION \
    void *buf; \
    int64_t len;                    /* elements of datatype; without one bytes */ \
    struct MPIR_DATATYPE *datatype; /* NULL: contiguous bytes */ \
    struct MPIR_COMMUNICATOR *comm; \
    uint32_t context_id; \
    int32_t tag; \
    int32_t rank; /* local rank: of this process, that sends; or of the source wanted (or any) */ \
    int32_t peer  /* global rank of the destination; of a receive nothing */
struct MPID_Operation {
    MPID_OPERATION;
};

/* A request: 128 bytes, the first line hot.  The layer above allocates it (slab, or stack for the paper's
 * programs); the ADI fills in everything but `obj`.  Only obj, handle_type, is_complete, s and errval are shared;
 * the rest belongs to the ADI while the operation is active.  Then `op` is as the call gave it (contiguous types as
 * bytes; of a receive, peer is the sender once that is known): enough to begin it again. */
typedef struct MPIR_HANDLE {
    struct keel_object obj;
    int32_t handle_type;         /* MPIR_OPTYPE */
    _Atomic int32_t is_complete; /* 0, or a number that grows from one completion to the next (modulo 2^32) */
    MPIR_Status s;               /* receive: filled when complete */
    int32_t errval;              /* error class; 0 */
    uint32_t state;              /* the ADI's */
    struct MPIR_HANDLE *next;    /* the ADI's queues */
    /* second line */
    union {
        struct MPID_Operation op;
        struct {
            MPID_OPERATION;
        };
    };
    union {
        struct {
            int64_t moved; /* bytes sent or received so far */
            void *aux;     /* the ADI's: rendezvous state, unexpected message, upper layer's closure */
        };
        int64_t own[2];
    };
} MPIR_SHANDLE, MPIR_RHANDLE, MPIR_PSHANDLE, MPIR_PRHANDLE;
typedef struct MPIR_HANDLE *MPID_Request;
_Static_assert(sizeof(struct MPIR_HANDLE) == 128, "a request is two cache lines");

#ifndef MPI_VERSION /* without mpi.h: the paper's names for the two types its programs use */
typedef MPIR_Status MPI_Status;
typedef MPID_Request MPI_Request;
#endif

/* A communicator, as far as the ADI sees one.  The MPI layer's object begins with it. */
struct MPIR_COMMUNICATOR {
    struct keel_object obj;
    int32_t rank, size;            /* local rank of this process; processes of the (local) group */
    uint32_t context_id;           /* base; the ADI matches whatever context id a call passes */
    int32_t remote_size;           /* intercommunicators: size of the group that ranks address; else = size */
    const int32_t *lrank_to_grank; /* [remote_size] global rank of a local rank; NULL: identity */
    void *adi;                     /* the ADI's, set by MPID_CommInit */
    void *errhandler;              /* the upper layer's */
};

/* A datatype, as far as the ADI sees one; made by the MPID_Type_* calls below.  n elements at buf occupy the
 * bytes that `layout` tells; when is_contig they are the n * size bytes at buf. */
struct MPIR_DATATYPE {
    struct keel_object obj;
    int64_t size;       /* bytes of data in one element */
    int64_t extent, lb; /* from element to element; lower bound */
    int64_t true_extent, true_lb;
    bool is_contig; /* n elements at buf are the n * size bytes there, for every n (also if size is 0) */
    /* Set by the layer above: they are contiguous, and nobody needs their types, so they are sent and received as
     * bytes (of which there are so many as 63 bits hold). */
    bool as_bytes;
    bool is_committed;
    uint8_t align; /* of the strictest basic type in it, for the extent of structs; at least 1 */
    bool has_lb,
        has_ub; /* lb, and the upper bound, were set by markers in it (MPID_Type_resized sets both): no padding */
    uint32_t basic; /* predefined: the Standard ABI's handle value; else the one basic type all of it is
                                  made of, or 0 if it is mixed */
    struct MPID_LAYOUT *layout; /* where the bytes lie; NULL for contiguous types */
    struct MPID_SIGN *sign;     /* which basic types it is made of, where they are several */
};

/* An array of counts or displacements as the caller has it: int or 64-bit elements. */
typedef struct MPIR_Counts {
    const void *p;
    int32_t is_large; /* 1: int64_t elements (MPI_Count, MPI_Aint); 0: int */
} MPIR_Counts;
static inline int64_t MPIR_counts_get(MPIR_Counts c, int64_t i)
{
    return c.is_large ? ((const int64_t *)c.p)[i] : ((const int32_t *)c.p)[i];
}

typedef int
    MPID_Msgrep_t; /* how the data of a message is represented; 0: the native layout of equal machines */
typedef int MPID_Msg_pack_t;
enum { MPID_MSGFORM_NATIVE = 0, MPID_MSGFORM_EXTERNAL32 = 1 /* MPI 5.0, 15.5.2 */ };
enum { MPID_MSG_OK = 0 /* just copy */, MPID_MSG_CONVERT = 1 /* to or from external32 */ };

typedef enum MPID_BLOCKING_TYPE { MPID_NOTBLOCKING = 0, MPID_BLOCKING } MPID_BLOCKING_TYPE;

/* MPID_BsendContig: the message cannot go without blocking (3.1.1); not an MPI class. */
#define MPIR_ERR_MAY_BLOCK (-2)

#endif
