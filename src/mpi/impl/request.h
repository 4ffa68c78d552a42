/* SPDX-License-Identifier: BSD-3-Clause */
/* request.h: requests above the ADI. */
#ifndef MPIR_REQUEST_H
#define MPIR_REQUEST_H

#include "mpid.h"
#include "object.h"
#include "comm.h"
#include "copies.h"

typedef struct MPIR_HANDLE MPIR_Request;

/* ---- obj.flags of a request, beside KEEL_OBJ_PREDEFINED ----
 * A persistent request is inactive, active (started, perhaps complete), and inactive again when its completion has been
 * taken.  While inactive it is complete, without error and with the empty status: so whoever only asks whether a
 * request is complete need not know; who counts active ones asks MPIR_Request_is_active. */
enum {
    MPIR_REQUEST_SEEN = 1, /* only while an array is looked at for requests that are in it twice */
    MPIR_REQUEST_PERSISTENT = 2,
    MPIR_REQUEST_INACTIVE = 4,
    MPIR_REQUEST_MODE = 8 /* and the bits above it: how MPIR_P2p_restart begins it (src/mpi/pt2pt) */
};
static inline bool MPIR_Request_is_active(const MPIR_Request *r)
{
    return r && !(r->obj.flags & MPIR_REQUEST_INACTIVE);
}

/* A new request that holds a reference to comm (NULL allowed).  NULL without memory (recorded). */
MPIR_Request *MPIR_Request_alloc(MPIR_Comm *comm);
/* The same for a request that the ADI fills in next, all but its header, where one that was given back can be had
 * at once; else NULL. */
static inline MPIR_Request *MPIR_Request_reuse(MPIR_Comm *comm)
{
    MPIR_Request *r = ku_slab_reuse(&MPIR_slab[MPIR_KIND_REQUEST]);
    if (__builtin_expect(!r, 0))
        return NULL;
    MPIR_Object_ref(comm);
    r->comm = &comm->adi;
    return r;
}
static inline MPIR_Request *MPIR_Request_alloc_plain(MPIR_Comm *comm)
{
    MPIR_Request *r = MPIR_Request_reuse(comm);
    return __builtin_expect(r != NULL, 1) ? r : MPIR_Request_alloc(comm);
}
/* Drop it now (it is complete, or the ADI was never given it). */
void MPIR_Request_release(MPIR_Request *request);

/* Block until it is complete, take status (may be NULL) and error class, and release it. */
int MPIR_Request_wait(MPIR_Request *request, MPIR_Status *status);
/* A process has failed in a job that goes on.  Then, of an active request that is not complete: the error (recorded) of
 * a receive from any source that might be from one that has failed, which the program has not acknowledged; it stays
 * active.  0: none, and perhaps it is complete now. */
extern bool MPIR_Failures;
int MPIR_Request_pending(MPIR_Request *request);

/* What stands behind a request that is not one operation of the ADI (two of them, a buffer's flush, a generalized
 * request, a collective): handle_type is MPIR_USER to MPIR_IO and `aux` points to a struct that begins with a
 * struct MPIR_Closure.  Slots may be NULL but for poll and free. */
struct MPIR_Request_ops {
    /* Look whether it is complete; if so fill in s and errval and store is_complete.  Never blocks. */
    void (*poll)(MPIR_Request *request);
    /* Somebody waits for it alone: take what it needs from the device, if that comes next and soon.  True: it is
     * complete. NULL: no. */
    bool (*wait_soon)(MPIR_Request *request);
    /* The request, complete or inactive, goes: free the closure. */
    void (*free)(MPIR_Request *request);
    /* Ask for its end; also when it is complete already.  NULL: cannot be cancelled.  Returns an error class. */
    int (*cancel)(MPIR_Request *request);
    void (*explain)(const MPIR_Request *request); /* record the words of its error; NULL: there are none */
    /* Persistent: begin again; is_complete is 0, s empty.  After an error (returned, recorded) it stays inactive. */
    int (*start)(MPIR_Request *request);
    /* For results that are known only when somebody wants them: poll stores MPIR_REQUEST_UNSETTLED as errval.
     * query fills in s (a call that does not complete asks; may be called again) and returns an error code;
     * settle fills in s and errval once, for the call that completes it. */
    int (*query)(MPIR_Request *request);
    void (*settle)(MPIR_Request *request);
    /* The user's MPI_Request_free, instead of what is done otherwise.  Returns an error code. */
    int (*let_go)(MPIR_Request *request);
    /* For the report on a job that hangs: its name, with `add` called for each message that it cannot go on without. */
    const char *(*parts)(MPIR_Request *request, void (*add)(MPIR_Request *message, void *arg), void *arg);
    /* May the user free it now?  NULL: yes.  Returns an error class, and then nothing has been done. */
    int (*may_go)(const MPIR_Request *request);
    /* Where it keeps the copies of buffers made for it (copies.h), which it moves from now on.  NULL: it takes none. */
    struct MPIR_Copies **(*copies)(MPIR_Request *request);
};
struct MPIR_Closure {
    const struct MPIR_Request_ops *ops;
};
#define MPIR_REQUEST_UNSETTLED INT32_MIN

static inline bool MPIR_Request_has_closure(const MPIR_Request *r)
{
    return r->handle_type >= MPIR_USER && r->handle_type <= MPIR_IO;
}
static inline const struct MPIR_Request_ops *MPIR_Request_ops_of(const MPIR_Request *r)
{
    return ((const struct MPIR_Closure *)r->aux)->ops;
}
static inline bool MPIR_Request_is_complete(MPIR_Request *r)
{
    if (atomic_load_explicit(&r->is_complete, memory_order_acquire))
        return true;
    if (!MPIR_Request_has_closure(r))
        return false;
    MPIR_Request_ops_of(r)->poll(r);
    return atomic_load_explicit(&r->is_complete, memory_order_acquire);
}

/* A request of this kind that is complete already, with the status of MPI_PROC_NULL.  NULL without memory
 * (recorded). */
MPIR_Request *MPIR_Request_alloc_complete(MPIR_Comm *comm, MPIR_OPTYPE kind);

/* The user is done with a complete request: a persistent one becomes inactive, any other is released and its handle
 * becomes the null handle. */
void MPIR_Request_retire(MPIR_Request **slot);
/* The same, with what is usual in place. */
static inline void MPIR_Request_retire_here(MPIR_Request **slot)
{
    MPIR_Request *r = *slot;
    const struct MPIR_COMMUNICATOR *comm = r->comm;
    if (__builtin_expect((r->obj.flags & MPIR_REQUEST_PERSISTENT) || MPIR_Request_has_closure(r) || !comm ||
                             !(comm->obj.flags & KEEL_OBJ_PREDEFINED),
                         0)) {
        MPIR_Request_retire(slot);
        return;
    }
    *slot = NULL;
    ku_slab_free(&MPIR_slab[MPIR_KIND_REQUEST], r);
}
/* Wait until all are complete (NULL: nothing to wait for).  False: some have failed or are to be settled, and
 * perhaps not all are complete. */
bool MPIR_Requests_wait(int count, MPIR_Request **requests);
/* Make a persistent request inactive: how it begins, and where retire leaves it. */
void MPIR_Request_rest(MPIR_Request *request);
/* Start a persistent request that is one operation of the ADI (src/mpi/pt2pt).  Returns an error class. */
int MPIR_P2p_restart(MPIR_Request *request);

/* The user's MPI_Request_free: the operation goes on and the request is released when it is complete. */
void MPIR_Request_detach(MPIR_Request *request);
/* A may_go of collective operations, which may not be freed while they are active. */
int MPIR_Request_of_collective_may_go(const MPIR_Request *request);
/* One that the ADI still had is done with: release it. */
void MPIR_Request_detached_end(MPIR_Request *request);
/* Wait for the detached requests of a session's communicators; NULL: of all that are of none. */
void MPIR_Request_drain(const struct MPIR_Session *s);
/* The same of one communicator (MPI_Comm_disconnect). */
void MPIR_Request_drain_comm(const MPIR_Comm *comm);

/* Generalized requests that the program has not completed yet. */
extern _Atomic int MPIR_Greq_under_way;

/* What MPI_MESSAGE_NO_PROC names: a predefined object (obj.self is KEEL_MPI_MESSAGE_NO_PROC, handle_type
 * MPIR_MESSAGE). */
extern MPIR_Request MPIR_Message_no_proc;

/* The status of a receive from MPI_PROC_NULL; MPI_ERROR is left alone.  NULL allowed. */
static inline void MPIR_Status_proc_null(MPIR_Status *s)
{
    if (s)
        *s = (MPIR_Status){ .MPI_SOURCE = MPI_PROC_NULL, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = s->MPI_ERROR };
}

/* The status of a null or inactive request (3.7.3 "empty status"). */
static inline void MPIR_Status_empty(MPIR_Status *s)
{
    *s = (MPIR_Status){ .MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG };
}

#endif
