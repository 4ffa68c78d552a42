/* mpid.h: the second-generation abstract device interface (ADI-2) of Gropp and Lusk, as Keel implements it.
 *
 * The names, the argument order and the meaning are the paper's ("The Second-Generation ADI for the MPICH
 * Implementation of MPI"; section numbers below are its).  What differs: lengths, counts and positions are 64
 * bits wide; what goes beyond the paper is under "Extensions".  A program may use this interface with no MPI
 * above it (link with -lmpid); a null communicator then stands for all processes of the job, with local rank
 * = global rank.
 *
 * Error codes: an MPI error class, stored through int *error_code only when something went wrong (6.5).  The
 * words are in MPID_Error_text(). */
#ifndef KEEL_MPID_H
#define KEEL_MPID_H

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

/* A request: 128 bytes, the first line hot.  The layer above allocates it (slab, or stack for the paper's
 * programs); the ADI fills in everything but `obj`.  Only obj, handle_type, is_complete, s and errval are
 * shared; the rest belongs to the ADI while the operation is active.  Then comm, context_id, tag, rank, a send's peer,
 * buf, len and datatype are as the call gave them (contiguous types as bytes): enough to begin it again. */
typedef struct MPIR_HANDLE {
    struct keel_object obj;
    int32_t handle_type;         /* MPIR_OPTYPE */
    _Atomic int32_t is_complete; /* 0, or a number that grows from one completion to the next (modulo 2^32) */
    MPIR_Status s;               /* receive: filled when complete */
    int32_t errval;              /* error class; 0 */
    uint32_t state;              /* the ADI's */
    struct MPIR_HANDLE *next;    /* the ADI's queues */
    /* second line */
    void *buf;
    int64_t len;                    /* contiguous: bytes; with a datatype: count of elements */
    struct MPIR_DATATYPE *datatype; /* NULL: contiguous bytes */
    struct MPIR_COMMUNICATOR *comm;
    uint32_t context_id;
    int32_t tag, rank; /* rank: local rank of the source wanted, or of the sender */
    int32_t peer;      /* global rank of the other side once known */
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
    bool
        as_bytes; /* the layer above may send and receive them as bytes: they are contiguous, and nobody needs their types */
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

/* ---- Environment (5.2, 5.4) ----------------------------------------------------------------- */

extern int MPID_MyWorldSize, MPID_MyWorldRank;

/* What the layer above may want of the ADI; passed as config_info, which may be NULL. */
struct MPID_Listen_host;
struct MPID_Config {
    void (*request_free)(MPID_Request);            /* a request given to MPID_Request_free is done with */
    void (*datatype_free)(struct MPIR_DATATYPE *); /* the ADI dropped the last reference */
    void (*request_done)(
        MPID_Request); /* a request given to MPID_Request_watch has completed; may not call the ADI */
    /* For the report on a job that hangs: what the user knows a communicator by (NULL: no name); may something else than
     * messages end a wait? */
    const char *(*comm_name)(const struct MPIR_COMMUNICATOR *);
    /* Of a request that stands for several messages: its name, and `add` is called for each that it cannot go on without; NULL: it
     * cannot tell. */
    const char *(*parts)(MPID_Request request, void (*add)(MPID_Request message, void *arg), void *arg);
    int (*others_end)(void);                    /* KU_OTHERS_* (util/segment.h), or 0 */
    const struct MPID_Listen_host *listen_host; /* what listeners may ask about calls; NULL: there are none */
};

void MPID_Init(int *argc, char ***argv, void *config_info, int *error_code);
void MPID_End(void);
/* What was sent is on its way: nothing of it waits for this process any more.  Blocks until peers take it. */
void MPID_Flush(void);
/* Nobody uses the ADI for now: the process may end like this, with MPID_Leave or without.  And somebody uses it again. */
void MPID_Rest(void);
void MPID_Resume(void);
/* MPID_End without waiting for the others: who still communicates with this process finds it gone. */
void MPID_Leave(void);
/* End the processes of comm, the job if it is NULL (or they cannot be ended alone): `string` (or a default text) is shown once,
 * `facility` (may be NULL) says who called. */
void MPID_Abort(struct MPIR_COMMUNICATOR *comm, int error_code, char *facility, char *string)
    __attribute__((noreturn));
/* A peer has let this process know that it failed, perhaps because of a process that is gone, which this one has not found yet: should
 * this one end, the launcher waits for a cause before it calls that the failure of the job. */
void MPID_Peer_failed(void);
void MPID_Node_name(char *name, int len);
void MPID_Version_name(char *name); /* at least 64 bytes */
void MPID_Wtime(double *time);      /* seconds since some fixed time in the past */
void MPID_Wtick(double *tick);
#define MPID_TAG_UB 0x7fffffff
#define MPID_STDOUT MPI_ANY_SOURCE /* every process may write */
#define MPID_STDIN 0
#define MPID_WTIME_IS_GLOBAL 0
#define MPID_HOST MPI_PROC_NULL
#define MPID_MAX_CONTEXT_ID UINT32_MAX

/* The procedure that the program is in, where the stack does not tell (extension); set by the layer above, read for the report on
 * a job that hangs. */
extern _Thread_local const char *MPID_Call_name __attribute__((tls_model("initial-exec")));
/* For the same report: the requests that the caller of MPID_DeviceCheck(MPID_BLOCKING) waits for, all of them or any; n is 0
 * where it does not say. */
struct MPID_Waited {
    struct MPIR_HANDLE *const *requests;
    int n;
    bool any;
};
extern _Thread_local struct MPID_Waited MPID_Waited __attribute__((tls_model("initial-exec")));

/* How messages are carried (extension): what some part of the process needs beyond the messages themselves.  With no bit set, which is
 * how a process begins, messages go the shortest ways there are; with any of them none is lost or changed, but some of these ways are closed.
 * Set by one thread while no other calls the ADI. */
enum MPID_NEEDS {
    MPID_NEEDS_THREADS = 1, /* several threads may call at once */
    MPID_NEEDS_TYPES = 2,   /* requests keep the datatypes of contiguous messages, too */
    MPID_NEEDS_OBSERVERS =
        4, /* somebody is told of each packet, and of each message that meets its receive */
    MPID_NEEDS_DEVICE_MEMORY = 8, /* buffers may lie where only the datatype engine's copies reach them */
    MPID_NEEDS_CALLS =
        16, /* somebody looks at each call of the layer above, which goes no shorter way then */
    MPID_NEEDS_LISTENED = 32 /* listeners are told of calls, or of waits */
};
void MPID_Need(uint32_t bits, bool on);
uint32_t MPID_Needs(void);
/* What tests want to be taken for needed (KEEL_NEEDS).  It is part of MPID_Needs, but for MPID_NEEDS_THREADS, which is up to the layer above,
 * as that has to take the lock. */
uint32_t MPID_Needs_tested(void);

/* Listeners (extension; mpid_listen.h says what they are told).  Added and removed by one thread while no other calls the ADI; nonzero:
 * an error class.  Who adds one that hears of calls is the layer above, or looks at MPID_Needs again (MPID_NEEDS_LISTENED). */
enum { MPID_LISTENERS_MAX = 16 };
enum MPID_HEARD {
    MPID_HEARD_CALLS = 1,
    MPID_HEARD_OBJECTS = 2,
    MPID_HEARD_TRANSFERS = 4,
    MPID_HEARD_PACKETS = 8,
    MPID_HEARD_WAITS = 16
};
struct MPID_Listener;
extern struct MPID_Listeners {
    int n;
    uint32_t heard; /* enum MPID_HEARD, by some of them */
    const struct MPID_Listener *at[MPID_LISTENERS_MAX];
} MPID_Listeners;
int MPID_Listener_add(const struct MPID_Listener *listener);
void MPID_Listener_remove(const struct MPID_Listener *listener);
void MPID_Listeners_tune(void); /* what `hears` says of events has changed */
void MPID_Listeners_left(void); /* a call is left, and so is the wait in it */

/* ---- Contiguous messages (3) ---------------------------------------------------------------- */

void MPID_SendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                     uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, int *error_code);
void MPID_SsendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                      uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, int *error_code);
void MPID_RsendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                      uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, int *error_code);
/* Never blocks: sets MPIR_ERR_MAY_BLOCK if the message could not go at once. */
void MPID_BsendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                      uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, int *error_code);
/* src_lrank may be MPI_ANY_SOURCE, tag MPI_ANY_TAG; status may be NULL.  Too long a message:
 * MPI_ERR_TRUNCATE, the buffer filled up to maxlen, status->count the bytes stored. */
void MPID_RecvContig(struct MPIR_COMMUNICATOR *comm, void *buf, int64_t maxlen, int src_lrank, int tag,
                     uint32_t context_id, MPIR_Status *status, int *error_code);
void MPID_IsendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                      uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, MPID_Request request,
                      int *error_code);
void MPID_IssendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                       uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, MPID_Request request,
                       int *error_code);
void MPID_IrsendContig(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t len, int src_lrank, int tag,
                       uint32_t context_id, int dest_grank, MPID_Msgrep_t msgrep, MPID_Request request,
                       int *error_code);
void MPID_IrecvContig(struct MPIR_COMMUNICATOR *comm, void *buf, int64_t maxlen, int src_lrank, int tag,
                      uint32_t context_id, MPID_Request request, int *error_code);

/* ---- Messages of any datatype (4) ----------------------------------------------------------- */

void MPID_SendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                       struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                       int dest_grank, int *error_code);
void MPID_SsendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                        struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                        int dest_grank, int *error_code);
void MPID_RsendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                        struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                        int dest_grank, int *error_code);
void MPID_BsendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                        struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                        int dest_grank, int *error_code);
void MPID_RecvDatatype(struct MPIR_COMMUNICATOR *comm, void *buf, int64_t count,
                       struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                       MPIR_Status *status, int *error_code);
void MPID_IsendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                        struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                        int dest_grank, MPID_Request request, int *error_code);
void MPID_IssendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                         struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                         int dest_grank, MPID_Request request, int *error_code);
void MPID_IrsendDatatype(struct MPIR_COMMUNICATOR *comm, const void *buf, int64_t count,
                         struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                         int dest_grank, MPID_Request request, int *error_code);
void MPID_IrecvDatatype(struct MPIR_COMMUNICATOR *comm, void *buf, int64_t count,
                        struct MPIR_DATATYPE *datatype, int src_lrank, int tag, uint32_t context_id,
                        MPID_Request request, int *error_code);

/* Pack and unpack (4.1), natively or in external32, as msgrep says; msgact is what MPID_Msg_act says of it.  Positions are
 * in bytes; too small a destination: MPI_ERR_TRUNCATE.  A number without room in external32: MPI_ERR_VALUE_TOO_LARGE.
 * MPID_Pack_size is exact; INT64_MAX: 63 bits do not hold it; -1: the datatype cannot be converted. */
void MPID_Msg_rep(struct MPIR_COMMUNICATOR *comm, int partner, struct MPIR_DATATYPE *datatype,
                  MPID_Msgrep_t *msgrep, MPID_Msg_pack_t *msgact);
void MPID_Msg_act(struct MPIR_COMMUNICATOR *comm, int partner, struct MPIR_DATATYPE *datatype,
                  MPID_Msgrep_t msgrep, MPID_Msg_pack_t *msgact);
void MPID_Pack_size(int64_t count, struct MPIR_DATATYPE *datatype, MPID_Msg_pack_t msgact, int64_t *size);
void MPID_Pack(const void *src, int64_t count, struct MPIR_DATATYPE *datatype, void *dest, int64_t maxcount,
               int64_t *position, struct MPIR_COMMUNICATOR *comm, int partner, MPID_Msgrep_t msgrep,
               MPID_Msg_pack_t msgact, int *error_code);
void MPID_Unpack(const void *src, int64_t maxcount, MPID_Msgrep_t msgrep, int64_t *in_position, void *dest,
                 int64_t count, struct MPIR_DATATYPE *datatype, int64_t *out_position,
                 struct MPIR_COMMUNICATOR *comm, int partner, int *error_code);

/* ---- Completion (3.5, 3.6, 6.2, 6.4) -------------------------------------------------------- */

/* Drive the devices.  MPID_BLOCKING: returns when something may have changed, stepping aside and then
 * sleeping while nothing does; it returns at once if progress was made, and may return at any time.  Nonzero:
 * something happened. */
int MPID_DeviceCheck(MPID_BLOCKING_TYPE blocking);
/* Another thread has done what the caller of a blocking call may wait for (extension): MPID_DeviceCheck(MPID_BLOCKING)
 * returns soon, in every thread.  May be called by any thread at any time between MPID_Init and MPID_End. */
void MPID_Wake(void);
/* Have config->request_done called, once, when the request completes; false: it has completed already (extension). */
bool MPID_Request_watch(MPID_Request request);
/* How many requests of this process have completed with an error so far (extension): tells a wait for many requests
 * that it should look at all of them. */
extern uint32_t MPID_Request_errors;
int MPID_SendIcomplete(MPID_Request request, int *error_code); /* calls the device; true if complete */
int MPID_RecvIcomplete(MPID_Request request, MPIR_Status *status, int *error_code);
void MPID_SendComplete(MPID_Request request, int *error_code); /* blocks */
void MPID_RecvComplete(MPID_Request request, MPIR_Status *status, int *error_code);
int MPID_WaitForCompleteSend(MPIR_SHANDLE *request); /* returns the error code */
int MPID_WaitForCompleteRecv(MPIR_RHANDLE *request);
/* The caller is done with the request: config->request_free is called now if it is complete, else when it is.
 */
void MPID_SendFree(MPID_Request request);
void MPID_RecvFree(MPID_Request request);
void MPID_Request_free(MPID_Request request);
/* Try to cancel; the request completes either way, s.cancelled tells. */
void MPID_SendCancel(MPID_Request request, int *error_code);
void MPID_RecvCancel(MPID_Request request, int *error_code);

void MPID_Probe(struct MPIR_COMMUNICATOR *comm, int tag, uint32_t context_id, int src_lrank, int *error_code,
                MPIR_Status *status);
void MPID_Iprobe(struct MPIR_COMMUNICATOR *comm, int tag, uint32_t context_id, int src_lrank, int *flag,
                 int *error_code, MPIR_Status *status);

/* ---- Contexts (5.3) ------------------------------------------------------------------------- */

/* Messages for a context id that no CommInit has announced are kept until it is.  Nonzero: an error code. */
int MPID_CommInit(struct MPIR_COMMUNICATOR *oldcomm, struct MPIR_COMMUNICATOR *newcomm);
int MPID_CommFree(struct MPIR_COMMUNICATOR *comm);
/* Does a communicator of this process have the context id (extension)? */
bool MPID_Context_in_use(uint32_t context_id);
enum {
    MPID_CONTEXT_PT2PT = 0,
    MPID_CONTEXT_COLL = 1,
    MPID_CONTEXT_RMA = 2,   /* of a window, which has a communicator of its own */
    MPID_CONTEXT_PART = 2,  /* partitioned messages */
    MPID_CONTEXT_COMM = 3,  /* making communicators */
    MPID_CONTEXT_WHOLE = 4, /* partitioned messages that come as one */
    MPID_CONTEXT_IDS = 5    /* ids a comm takes */
};

/* ---- Refusals (extension)
 *
 * A process that takes no part in what the members of a communicator do by messages of one context with one tag says so to all of them.  From
 * then on, at each that has heard it: its receives with that tag in that context end with the error, posted or not; messages with it
 * are dropped, and the senders of those that wait for their receiver get the error.  Tags count up in their lower 30 bits:
 * a refusal may be forgotten when receives ask for tags that are MPID_REFUSAL_TAGS further on, or some time after the communicator is freed. */
enum { MPID_REFUSAL_WORDS = 36, MPID_REFUSAL_TAGS = 1 << 16 };
struct MPID_Refusal {
    int error; /* a class */
    int32_t rank;
    bool inter, remote; /* the rank is one of one of two groups; not of that of the process that reads this */
    char words[MPID_REFUSAL_WORDS + 1]; /* the caller's */
};
/* Tell all that `to` sends to; `r` as they are to read it. */
void MPID_Refuse(const struct MPIR_COMMUNICATOR *to, uint32_t context_id, int tag,
                 const struct MPID_Refusal *r);
/* What has been refused there (MPI_ANY_TAG: something that is), as far as it is known here; NULL: nothing.  Until the next call of the ADI. */
const struct MPID_Refusal *MPID_Refused(uint32_t context_id, int tag);
/* Messages of context id `part`, which is `comm`'s, are on behalf of calls in context id `of`: what is refused there is refused here. */
void MPID_Refused_with(struct MPIR_COMMUNICATOR *comm, uint32_t part, uint32_t of);

/* ---- Threads (6.3) --------------------------------------------------------------------------
 *
 * In MPID_NEEDS_THREADS a thread that calls the ADI holds the device lock, which it may take again; a call that waits gives it
 * away meanwhile, so what is shared may have changed when it returns.  Without the lock: MPID_Send_beside, and what says so.  In other
 * modes nobody takes it. */

void MPID_Thread_enter(void);
/* Of a procedure that has begun this mode: as if it had been in force when it began.  It is inside until it returns. */
void MPID_Thread_come_in(void);
bool MPID_Thread_try_enter(void); /* false: another thread is inside */
void MPID_Thread_leave(void);     /* nothing happens if the caller is not inside */
/* Around something that may take long or wait for another thread: gives the lock away, however often it was taken; 0: it was not. */
uint32_t MPID_Thread_suspend(void);
void MPID_Thread_resume(uint32_t depth);

/* The caller has the lock.  When it leaves, the lock is biased to it (core/thread.c). */
void MPID_Thread_alone(void);
/* Of who has not: does another thread of the program have it just now?  False if that has left it before this call began. */
bool MPID_Thread_busy(void);
/* Around taking and leaving it by who may do so beside a thread of the program that is told to be alone: that is not busy. */
void MPID_Thread_quiet(bool begins);

/* Threads besides the caller that wait in a call; *call is the procedure of MPI that one of them is in, NULL: not known. */
int MPID_Thread_waiting(const char **call);

/* A thread of the ADI that looks at the devices while the program is in no call (extension): so what others ask of this process does
 * not wait for its next call.  Only in MPID_NEEDS_THREADS; it sleeps while nothing comes, and keeps out of the way of the program's
 * threads.  MPID_Helping: the caller of MPID_Progress_also is that thread, which must call nothing of the program's. */
void MPID_Helper(bool on);
void MPID_Helper_end(void); /* the thread ends, if there is one */
extern bool MPID_Helping;

#define MPID_THREAD_DS_LOCK_DECLARE
#define MPID_THREAD_DS_LOCK_INIT(p)
#define MPID_THREAD_DS_LOCK(p) MPID_Thread_enter()
#define MPID_THREAD_DS_UNLOCK(p) MPID_Thread_leave()
#define MPID_THREAD_DS_LOCK_FREE(p)

/* ---- Debugging (8) -------------------------------------------------------------------------- */

void MPID_SetPktSize(int bytes);     /* messages longer than this use the rendezvous protocol; 0: computed */
void MPID_SetDebugFile(char *name);  /* "-" is stderr */
void MPID_Set_tracefile(char *name); /* one line a packet sent or received */
void MPID_SetSpaceDebugFlag(int on); /* report memory still held at MPID_End */
void MPID_SetDebugFlag(int on);

/* ---- Extensions (documented in doc/adi2.md) ------------------------------------------------- */

/* Words for the last error code of this thread: "is 7; expected 0 to 3"; "" if none. */
const char *MPID_Error_text(void);

/* The short way of the calls that a program makes most: contiguous bytes in comm's point-to-point context, with a rank of comm (a
 * source or tag may be a wildcard); all arguments go in registers.  They return the error code.  Of a request that is
 * complete on return only what is shared (struct MPIR_HANDLE) and comm are filled in.  The last two begin a send or receive of
 * contiguous bytes again whose arguments stand in the request. */
int MPID_Send_bytes(const void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int dest, int tag);
/* Of MPID_NEEDS_THREADS: MPID_Send_bytes beside other threads, without the lock; false: nothing was sent. */
bool MPID_Send_beside(const void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int dest, int tag);
/* The same of a send whose request is complete then (its comm is NULL, unless that is predefined), and of a receive: false: nothing was
 * begun.  A receive that cannot be begun tells so by its request.  It takes its reference to comm itself. */
bool MPID_Isend_beside(const void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int dest, int tag,
                       MPID_Request request);
bool MPID_Irecv_beside(void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int source, int tag,
                       MPID_Request request);
int MPID_Isend_bytes(const void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int dest, int tag,
                     MPID_Request request);
int MPID_Recv_bytes(void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int source, int tag,
                    MPIR_Status *status);
int MPID_Irecv_bytes(void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int source, int tag,
                     MPID_Request request);
int MPID_Send_again(MPID_Request request);
int MPID_Recv_again(MPID_Request request);
/* For who waits for a request: messages that have come, or come soon, for the receives that stand first in its context go straight
 * to these; when it is complete up to `more` that are there already.  True: it is complete; else go on with MPID_DeviceCheck. */
bool MPID_Recv_soon(MPID_Request request, int more);

/* Matched probe (MPI-3).  On *flag the message is taken out of the queue into `message` (an unused request),
 * which becomes handle_type MPIR_MESSAGE; MPID_ImrecvX turns it into the receive.  MPID_Mprobe blocks. */
void MPID_Mprobe(struct MPIR_COMMUNICATOR *comm, int tag, uint32_t context_id, int src_lrank,
                 MPID_Request message, int *error_code, MPIR_Status *status);
void MPID_Improbe(struct MPIR_COMMUNICATOR *comm, int tag, uint32_t context_id, int src_lrank, int *flag,
                  MPID_Request message, int *error_code, MPIR_Status *status);
void MPID_ImrecvContig(void *buf, int64_t maxlen, MPID_Request message, int *error_code);
void MPID_ImrecvDatatype(void *buf, int64_t count, struct MPIR_DATATYPE *datatype, MPID_Request message,
                         int *error_code);

/* What the job looks like (valid between MPID_Init and MPID_End). */
struct MPID_World {
    int32_t local_rank, local_size, appnum, universe_size;
    int32_t team_room;       /* bytes of a room of a team; the same for all processes of a node */
    int32_t team_bench;      /* bytes of a bench of a team; likewise */
    int32_t node, nodes;     /* this process's node, and how many the job has */
    const int32_t *grank_of; /* [local_size] the ranks of this node, ascending */
    /* What the launcher knows of the machine and of where this process may run (util/segment.h). */
    const struct ku_seg_machine *machine;
    const struct ku_seg_place *place;
};
const struct MPID_World *MPID_World(void);
int32_t MPID_Node_of(int32_t grank); /* of a rank of the job */
/* What messages cost as the device says that ranks of this node, or of other nodes, are reached by first; zeros: there is none. */
struct MPID_Cost {
    uint32_t latency_ns, bandwidth_mbs;
};
struct MPID_Cost MPID_Cost_of(bool here);

/* A device as it is on this machine. */
struct MPID_Device {
    const char *name;    /* "": the plug-in cannot be used */
    const char *from;    /* "built in", or the path of a plug-in */
    const char *why_not; /* NULL: it opens; else its words, and nothing below is known */
    bool left_out;       /* KEEL_DEVICES does not name it */
    const char *reach;   /* "self", "node", "any" */
    uint32_t latency_ns, bandwidth_mbs;
    uint32_t max_short, max_send, max_lying; /* bytes, as in device.h */
    bool has_put, has_atomic;                /* memory of peers: put and get; updates */
    bool unaided;                            /* in these the peer's processor has no part */
    char through[160]; /* what it goes through, in the device's words; "": it does not say */
};
/* Open each device that is built in or a plug-in, by itself, tell of it and close it again.  Not between MPID_Init and MPID_End. */
void MPID_Devices(void (*tell)(const struct MPID_Device *d, void *arg), void *arg, int *error_code);

/* Processes of other jobs.  A process that has been introduced has a global rank in this process alone, not below the job's size: two
 * processes speak of a third one by its name (struct MPID_Process), which is the same in all.  Two can communicate as soon as each has been
 * introduced to the other; what one sends before the other knows it waits. */
struct MPID_Process {
    uint64_t job;
    int32_t rank; /* in its job */
};
enum { MPID_JOB_KEY = 32 };
struct MPID_Introduction {
    struct MPID_Process who;
    int32_t job_size;
    uint32_t epoch;
    uint8_t key[MPID_JOB_KEY]; /* of its job: who knows it can talk to the job's processes */
    const void *card;          /* its addresses */
    uint32_t card_len;
};
/* Open what reaches other jobs' processes; an error class. */
int MPID_Others_begin(void);
/* This process's addresses, after that: writes at most cap bytes, returns how many there are; 0: no memory. */
size_t MPID_Others_card(void *buf, size_t cap);
/* What others are to be told of this process, with that card. */
void MPID_Introduction_own(struct MPID_Introduction *i, const void *card, size_t len);
/* The global rank of the process from now on (of one of this job, the one it has); -1: *error_code says why.  It is connected
 * until it has been disconnected as often as it was introduced and connected. */
int32_t MPID_Introduce(const struct MPID_Introduction *i, int *error_code);
void MPID_Other_connect(int32_t grank); /* these four do nothing for a process of this job */
void MPID_Other_disconnect(int32_t grank);
/* Somebody holds its global rank: until it is released as often no other process gets it. */
void MPID_Other_keep(int32_t grank);
void MPID_Other_release(int32_t grank);
/* Memory shared with processes of other jobs on this node (core/joint.c).  Of two groups that meet one process makes a joint segment with a
 * place for each process of both; those that are where it is open it; then all keep it if nobody has failed and somebody wants it. */
struct MPID_JOINT;
struct MPID_Joint_name {
    uint64_t id, where; /* where: node and user; id 0: there is no segment */
    int32_t pid, fd;    /* of who has made it */
};
enum MPID_JOINT_VOTE {
    MPID_JOINT_USELESS,
    MPID_JOINT_WANTED,
    MPID_JOINT_FAILED
};                                  /* the largest of all counts */
uint64_t MPID_Joint_where(void);    /* where this process is; 0: it can have no part in one */
bool MPID_Joint_has(int32_t grank); /* that process, by a segment that is kept */
/* NULL, and no name: it cannot be made. */
struct MPID_JOINT *MPID_Joint_make(int32_t places, struct MPID_Joint_name *name);
/* Take the place `me`.  others[n]: the numbers here of those of the other group, whose places begin at `first`; -1: of one elsewhere.
 * `made`: by this process, and it is gone if NULL is returned; else NULL. */
struct MPID_JOINT *MPID_Joint_open(struct MPID_JOINT *made, const struct MPID_Joint_name *name,
                                   int32_t places, int32_t me, int32_t first, const int32_t *others,
                                   int32_t n, enum MPID_JOINT_VOTE *vote);
/* The one that serves all those of these processes that are of other jobs, and its id; NULL: there is none, or no such process. */
struct MPID_JOINT *MPID_Joint_of(const int32_t *granks, int32_t n, uint64_t *id);
/* Before anything is sent to the others.  NULL is legal. */
void MPID_Joint_settle(struct MPID_JOINT *joint, bool keep);
/* Part with processes that are no more connected, as far as all that was sent to them has arrived: they may be introduced again. */
void MPID_Others_part(void);
void MPID_Process_of(int32_t grank, struct MPID_Process *p);
/* Its global rank here; -1: it has not been introduced. */
int32_t MPID_Process_find(const struct MPID_Process *p);
/* This process waits for another job to come, which no rank of its own job need bring about. */
void MPID_Others_awaited(bool on);
bool MPID_Others_may_come(void); /* it does, or has met some */
/* The ranks of a node of the job, ascending: returns how many, and writes as many to granks[], if that is not NULL. */
int32_t MPID_Node_ranks(int32_t node, int32_t *granks);
/* Show a report through the launcher, equal ones of several ranks once. */
void MPID_Message(const char *text);

/* The same for a report in which places of the program are written as MPID_PLACE: "file.c:12 (function)" where that can be found. */
void MPID_Message_places(const char *text);
#define MPID_PLACE "\1%llx\2" /* an unsigned long long: an address, as MPID_Caller tells it */
/* Where the program has called this library: the address to which the procedure returns; 0: not known. */
uint64_t MPID_Caller(void);
/* And which procedure of MPI, if its symbol tells; else *procedure_name stays. */
uint64_t MPID_Find_caller(const char **procedure_name);

/* Call fn for each message of the program that has come and that no receive has asked for; comm: NULL if it is not known here. */
void MPID_Unreceived(void (*fn)(const struct MPIR_COMMUNICATOR *comm, int32_t source, int32_t tag,
                                int64_t bytes, void *arg),
                     void *arg);

/* The program is about to end the job for an error: let the launcher look where the calling thread is, to tell it with what
 * MPID_Abort says next. */
void MPID_Trace_here(void);

/* Called after each look at the devices while it is not NULL: the layer above goes on with operations of several steps,
 * whatever this process waits for.  It may start operations of the ADI and must not wait; returns nonzero if it did
 * something. */
extern int (*MPID_Progress_also)(void);

/* Memory of other processes.  A process registers memory and gives its key to others by whatever message; they open the key and then
 * put, get and update.  Where the device can, it does so without a call in the process that owns the memory; else that executes
 * packets, whenever it is in a call of this interface.
 *
 * Operations are asynchronous, of any length, and any number of them may be under way.  None is ordered with another, nor with messages.  Each
 * counts in a completion: put is complete when the memory at `from` may be written again, get and atomic when the data are
 * there.  MPID_Mem_flush is complete when all puts to that process that were begun before are done in its memory.  (An atomic that is
 * complete is.)
 * What the process refuses that executes packets (the memory is not registered any more, or the key was made up) fails with
 * MPI_ERR_RMA_RANGE: get and atomic themselves, put by the next flush. Operations with a process that
 * is lost fail with MPI_ERR_PROC_ABORTED. */
typedef struct MPID_MEMORY *MPID_Memory; /* of this process */
typedef struct MPID_REMOTE *MPID_Remote; /* of a process, by its key */
enum { MPID_KEY_MAX = 2400 };
struct MPID_COMPLETION {
    int64_t pending; /* operations that are not complete */
    int32_t error;   /* class of the first that failed since the caller has set it to 0 */
    int32_t rank;    /* in the job: whose memory that was */
    /* Called when pending falls to 0, within whatever call; may begin operations, and not wait.  NULL: nobody is. */
    void (*done)(struct MPID_COMPLETION *completion);
    void *own; /* the caller's */
};
/* Register len > 0 bytes.  NULL: *error_code says why. */
MPID_Memory MPID_Mem_register(void *base, int64_t len, int *error_code);
/* Operations of others on it must have ended: it waits only until nothing reads it any more. */
void MPID_Mem_unregister(MPID_Memory memory);
/* The key: writes at most cap bytes, returns how many there are, at most MPID_KEY_MAX. */
int64_t MPID_Mem_key(MPID_Memory memory, void *key, int64_t cap);
/* grank: whose memory it is, by this process's numbers: a key that another job's process has made tells its rank there. */
MPID_Remote MPID_Mem_open(int32_t grank, const void *key, int64_t len, int *error_code);
void MPID_Mem_close(MPID_Remote remote); /* operations on it have ended */
/* What the device does itself of operations on that memory, as far as it has not refused one: bits; 0: all goes by packets. */
enum MPID_MEM_WAY {
    MPID_MEM_DEVICE = 1,  /* put and get, */
    MPID_MEM_UNAIDED = 2, /* while the target is in no call */
    MPID_MEM_ATOMIC = 4   /* some atomics, too */
};
int MPID_Mem_way(MPID_Remote remote);
/* The same of whatever memory of a rank in the job (0 also if it cannot be reached), and, -1, of any rank on another node. */
int MPID_Mem_way_to(int rank);
/* Where this process may load and store by itself, until the remote is closed; NULL: it cannot. */
void *MPID_Mem_share(MPID_Remote remote);
void MPID_Put(MPID_Remote remote, int64_t offset, const void *from, int64_t len,
              struct MPID_COMPLETION *completion, int *error_code);
void MPID_Get(MPID_Remote remote, int64_t offset, void *to, int64_t len, struct MPID_COMPLETION *completion,
              int *error_code);
/* Update the element at `offset`, aligned to its size in the memory there, as one step in the sight of all such updates of it by whatever
 * process, and of keel_atomic.  The operand and what is compared with are read in the call; `result` (may be NULL) gets the old
 * value. */
void MPID_Atomic(MPID_Remote remote, int64_t offset, enum keel_atomic_op op, enum keel_atomic_type type,
                 const void *operand, const void *compare, void *result, struct MPID_COMPLETION *completion,
                 int *error_code);
void MPID_Mem_flush(MPID_Remote remote, struct MPID_COMPLETION *completion, int *error_code);
/* Until nothing is pending; the error is that of the completion. */
void MPID_Mem_wait(struct MPID_COMPLETION *completion, int *error_code);

/* Memory that the processes of a node share: zeroed blocks whose names (0: none) mean the same in all of them.  Who was told a name
 * maps the block, and unmaps it when it is done; then one of them frees it.  `in`: the joint segment in which the block is (MPID_Joint_of);
 * NULL: it is of this job. */
uint64_t MPID_Shared_alloc(struct MPID_JOINT *in, int64_t bytes, int *error_code);
void *MPID_Shared_map(struct MPID_JOINT *in, uint64_t block,
                      int *error_code); /* NULL: *error_code says why */
void MPID_Shared_unmap(struct MPID_JOINT *in, uint64_t block);
void MPID_Shared_free(struct MPID_JOINT *in, uint64_t block);
/* Block until *word, in such a block, is no longer `is`; drives the devices meanwhile.  Whoever changes the word wakes with
 * MPID_Word_wake, unless it knows that nobody waits.  False: something else has happened, perhaps a process is lost. */
bool MPID_Word_wait(_Atomic uint32_t *word, uint32_t is);
void MPID_Word_wake(_Atomic uint32_t *word);
/* A process of this node that sleeps in a blocking call looks again. */
void MPID_Node_wake(int32_t grank);
/* A fence in all processes of the node at once: each has made visible what it stored before, and loads nothing from before.  False: the
 * system cannot do that, and nothing was done. */
bool MPID_Show_stores(void);
/* Is the process lost?  Then *error_code says so. */
bool MPID_Lost(int32_t grank, int *error_code);

/* Datatypes.  Each call fills in *newtype, which the caller provides (obj is left alone), from old types that
 * it does not keep.  Displacements, strides and extents are bytes.  0, or MPI_ERR_NO_MEM, or MPI_ERR_TYPE
 * when a size or extent leaves 63 bits. */
int MPID_Type_basic(struct MPIR_DATATYPE *newtype, int64_t size, int align, uint32_t basic);
int MPID_Type_dup(struct MPIR_DATATYPE *newtype, const struct MPIR_DATATYPE *old);
int MPID_Type_hvector(struct MPIR_DATATYPE *newtype, int64_t count, int64_t blocklength, int64_t stride,
                      const struct MPIR_DATATYPE *old);
/* Block i: blocklengths[i] (or `blocklength` where blocklengths.p is NULL) elements at displacements[i] *
 * unit. */
int MPID_Type_hindexed(struct MPIR_DATATYPE *newtype, int64_t count, MPIR_Counts blocklengths,
                       int64_t blocklength, MPIR_Counts displacements, int64_t unit,
                       const struct MPIR_DATATYPE *old);
int MPID_Type_struct(struct MPIR_DATATYPE *newtype, int64_t count, MPIR_Counts blocklengths,
                     MPIR_Counts displacements, struct MPIR_DATATYPE *const *types);
int MPID_Type_resized(struct MPIR_DATATYPE *newtype, int64_t lb, int64_t extent,
                      const struct MPIR_DATATYPE *old);
int MPID_Type_commit(struct MPIR_DATATYPE *type);
/* Free what the type holds (its layout); not the struct. */
void MPID_Type_fini(struct MPIR_DATATYPE *type);
/* The layouts of the C structs {double; int} and so on, for static types of such pairs; where the struct has no
 * gap and no padding the type is contiguous and has none. */
extern struct MPID_LAYOUT MPID_Layout_float_int, MPID_Layout_double_int, MPID_Layout_long_int,
    MPID_Layout_2int, MPID_Layout_short_int, MPID_Layout_long_double_int;

/* Copy the first `len` packed bytes of one typed buffer into another of this process; they do not overlap, and both
 * have so many. */
void MPID_Copy(const void *src, int64_t scount, const struct MPIR_DATATYPE *stype, void *dest, int64_t dcount,
               const struct MPIR_DATATYPE *dtype, int64_t len);
/* Bytes [offset, offset + len) of the packed form, to dst or from src.  The range must lie within the packed form. */
void MPID_Layout_pack(const struct MPIR_DATATYPE *t, const void *buf, int64_t count, int64_t offset,
                      void *dst, int64_t len);
void MPID_Layout_unpack(const struct MPIR_DATATYPE *t, void *buf, int64_t count, int64_t offset,
                        const void *src, int64_t len);

/* The memory of bytes [offset, offset + len) of the packed form of any number of elements, as runs of contiguous bytes in
 * the order of the packed form; runs that touch are one.  `at` is a run's distance in bytes from the address of the first
 * element.  fn returns false to stop; that run then counts as not taken.  Returns the packed bytes of the runs that were
 * taken: `len`, or less where fn stopped.  A walk may begin anywhere: the place is found in O(depth of the type), with
 * O(log n) for lists of n entries.  A size of 0 has no runs. */
int64_t MPID_Layout_runs(const struct MPIR_DATATYPE *t, int64_t offset, int64_t len,
                         bool (*fn)(void *arg, int64_t at, int64_t bytes), void *arg);

/* A datatype as bytes that mean the same in every process, whatever its byte order: its layout, bounds and signature, not
 * how it was made.  Parts that the type shares are written once.  MPID_Type_encode allocates *bytes, which the caller gives
 * to free().  MPI_ERR_TYPE: they would be more than MPID_TYPE_ENCODED_MAX; MPI_ERR_NO_MEM. */
#define MPID_TYPE_ENCODED_MAX ((int64_t)1 << 28)
int MPID_Type_encode(const struct MPIR_DATATYPE *type, void **bytes, int64_t *len);
/* The type of all the bytes, committed.  They are not trusted: what is no datatype is MPI_ERR_TYPE with a text that says
 * why and where; *newtype then holds nothing.  A decoded type touches no memory outside its true bounds.  Decoding
 * takes at most MPID_TYPE_DECODED_RATIO bytes of memory for each of them, and time linear in their number.  Or
 * MPI_ERR_NO_MEM. */
#define MPID_TYPE_DECODED_RATIO 64
int MPID_Type_decode(struct MPIR_DATATYPE *newtype, const void *bytes, int64_t len);

#endif
