/* SPDX-License-Identifier: BSD-3-Clause */
/* mpid_job.h: beginning and end, the job and the machine, and reports (mpid.h). */
#ifndef KEEL_MPID_JOB_H
#define KEEL_MPID_JOB_H

#include "mpid_base.h"

/* ---- Environment (5.2, 5.4) ----------------------------------------------------------------- */

extern int MPID_MyWorldSize, MPID_MyWorldRank;

/* What the layer above may want of the ADI; passed as config_info, which may be NULL. */
struct MPID_Listen_host;
struct MPID_Config {
    void (*request_free)(MPID_Request);            /* a request given to MPID_Request_free is done with */
    void (*datatype_free)(struct MPIR_DATATYPE *); /* the ADI dropped the last reference */
    void (*request_done)(
        MPID_Request); /* a request given to MPID_Request_watch has completed; may not call the ADI */
    /* For the report on a job that hangs: what the user knows a communicator by (NULL: no name); may something
     * else than messages end a wait? */
    const char *(*comm_name)(const struct MPIR_COMMUNICATOR *);
    /* Of a request that stands for several messages: its name, and `add` is called for each that it cannot go on
     * without; NULL: it cannot tell. */
    const char *(*parts)(MPID_Request request, void (*add)(MPID_Request message, void *arg), void *arg);
    void (*revoked)(struct MPIR_COMMUNICATOR *comm); /* MPID_Revoke has been heard of another process */
    void (*lost)(void);      /* a process is lost, or has ended (MPID_Ended); may not call the ADI */
    int (*others_end)(void); /* KU_OTHERS_* (util/segment.h), or 0 */
    const struct MPID_Listen_host *listen_host; /* what listeners may ask about calls; NULL: there are none */
};

void MPID_Init(int *argc, char ***argv, void *config_info, int *error_code);
void MPID_End(void);
/* What was sent is on its way: nothing of it waits for this process any more.  Blocks until peers take it. */
void MPID_Flush(void);
/* Nobody uses the ADI for now: the process may end like this, with MPID_Leave or without.  And somebody uses it
 * again. */
void MPID_Rest(void);
void MPID_Resume(void);
/* MPID_End without waiting for the others: who still communicates with this process finds it gone. */
void MPID_Leave(void);
/* End the processes of comm, the job if it is NULL (or they cannot be ended alone): `string` (or a default text)
 * is shown once, `facility` (may be NULL) says who called. */
void MPID_Abort(struct MPIR_COMMUNICATOR *comm, int error_code, char *facility, char *string)
    __attribute__((noreturn));
/* A peer has let this process know that it failed, perhaps because of a process that is gone, which this one has
 * not found yet: should this one end, the launcher waits for a cause before it calls that the failure of the job. */
void MPID_Peer_failed(void);
/* The class of errors of a process that is lost: MPI_ERR_PROC_ABORTED; in a job that goes on without ranks that fail
 * (KEEL_SURVIVE) MPID_ERR_PROC_FAILED. */
enum { MPID_ERR_PROC_FAILED = 16301, MPID_ERR_PROC_FAILED_PENDING };
int MPID_Gone_class(void);
static inline bool MPID_Survives(void)
{
    return MPID_Gone_class() == MPID_ERR_PROC_FAILED;
}
/* The program knows that n members of comm are lost: receives from any source wait for the others, until there are
 * more.  (In a job
 * that does not go on without ranks such a receive fails when all are lost.) */
void MPID_Lost_acked(struct MPIR_COMMUNICATOR *comm, int32_t n);
/* In such a job: has the process, of this job, ended in order?  Nothing that names it fails for that, but nobody
 * needs to wait for it. */
bool MPID_Ended(int32_t grank);
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

/* The procedure that the program is in, where the stack does not tell (extension); set by the layer above, read
 * for the report on a job that hangs. */
extern _Thread_local const char *MPID_Call_name __attribute__((tls_model("initial-exec")));
/* For the same report: the requests that the caller of MPID_DeviceCheck(MPID_BLOCKING) waits for, all of them or
 * any; n is 0 where it does not say. */
struct MPID_Waited {
    struct MPIR_HANDLE *const *requests;
    int n;
    bool any;
};
extern _Thread_local struct MPID_Waited MPID_Waited __attribute__((tls_model("initial-exec")));

/* ---- Debugging (8) -------------------------------------------------------------------------- */

void MPID_SetPktSize(int bytes);     /* messages longer than this use the rendezvous protocol; 0: computed */
void MPID_SetDebugFile(char *name);  /* "-" is stderr */
void MPID_Set_tracefile(char *name); /* one line a packet sent or received */
void MPID_SetSpaceDebugFlag(int on); /* report memory still held at MPID_End */
void MPID_SetDebugFlag(int on);

/* ---- Surroundings (extension) ---------------------------------------------------------------- */

/* Words for the last error code of this thread: "is 7; expected 0 to 3"; "" if none. */
const char *MPID_Error_text(void);

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
/* Has the message of this receive, which is not complete, begun to come (by rendezvous)? */
bool MPID_Receive_begun(const struct MPIR_HANDLE *r);
/* The name of the device that serves a rank; NULL: nothing has gone to it yet. */
const char *MPID_Device_of(int32_t grank);
/* What messages cost as the device says that ranks of this node, or of other nodes, are reached by first; zeros:
 * there is none. */
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
/* Open each device that is built in or a plug-in, by itself, tell of it and close it again.  Not between MPID_Init
 * and MPID_End. */
void MPID_Devices(void (*tell)(const struct MPID_Device *d, void *arg), void *arg, int *error_code);

/* The ranks of a node of the job, ascending: returns how many, and writes as many to granks[], if that is not NULL. */
int32_t MPID_Node_ranks(int32_t node, int32_t *granks);
/* Show a report through the launcher, equal ones of several ranks once. */
void MPID_Message(const char *text);

/* The same for a report in which places of the program are written as MPID_PLACE: "file.c:12 (function)" where
 * that can be found. */
void MPID_Message_places(const char *text);
#define MPID_PLACE "\1%llx\2" /* an unsigned long long: an address, as MPID_Caller tells it */
/* A fault of the program (util/faults.h), shown in the same way; its number is this process's name for it.  Later:
 * how often it was met. */
struct ku_fault;
void MPID_Message_fault(const struct ku_fault *fault);
void MPID_Fault_times(uint32_t number, int64_t times);
/* Where the program has called this library: the address to which the procedure returns; 0: not known. */
uint64_t MPID_Caller(void);
/* The same where the library's procedure returns to `frame`; 0: that is the library, or a binding of it. */
uint64_t MPID_Caller_at(const void *frame);
/* And which procedure of MPI, if its symbol tells; else *procedure_name stays. */
uint64_t MPID_Find_caller(const char **procedure_name);

/* The program is about to end the job for an error: let the launcher look where the calling thread is, to tell it
 * with what MPID_Abort says next. */
void MPID_Trace_here(void);

/* Called after each look at the devices while it is not NULL: the layer above goes on with operations of several steps,
 * whatever this process waits for.  It may start operations of the ADI and must not wait; returns nonzero if it did
 * something. */
extern int (*MPID_Progress_also)(void);

#endif
