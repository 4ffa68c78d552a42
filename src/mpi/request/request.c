/* SPDX-License-Identifier: BSD-3-Clause */
/* request.c: requests as objects: made, at rest, released, detached, cancelled. */
#include "config.h"
#include "bodies.h"
#include "any.h"
#include "mpi_err.h"
#include "request.h"
#include "stage.h"
#include "type.h"

MPIR_Request MPIR_Message_no_proc = {
    .obj = { .index = KEEL_NO_INDEX,
             .gen = 1,
             .kind = MPIR_KIND_REQUEST,
             .flags = KEEL_OBJ_PREDEFINED,
             .refs = 1,
             .self = KEEL_MPI_MESSAGE_NO_PROC },
    .handle_type = MPIR_MESSAGE,
    .is_complete = 1,
    .s = { .MPI_SOURCE = MPI_PROC_NULL, .MPI_TAG = MPI_ANY_TAG },
};

/* Detached requests with a closure, linked by `next`: nobody else asks them how they are. */
static MPIR_Request *detached;

MPIR_Request *MPIR_Request_alloc(MPIR_Comm *comm)
{
    MPIR_Request *r = MPIR_Object_alloc(MPIR_KIND_REQUEST);
    if (!r) {
        MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for one more request");
        return NULL;
    }
    if (comm) {
        MPIR_Object_ref(comm);
        r->comm = &comm->adi;
    }
    return r;
}

MPIR_Request *MPIR_Request_alloc_complete(MPIR_Comm *comm, MPIR_OPTYPE kind)
{
    MPIR_Request *r = MPIR_Request_alloc(comm);
    if (!r)
        return NULL;
    r->handle_type = kind;
    MPIR_Status_proc_null(&r->s);
    atomic_store_explicit(&r->is_complete, 1, memory_order_release);
    return r;
}

/* What a persistent request holds beside what every request does. */
static void release_arguments(MPIR_Request *r)
{
    if (r->datatype)
        MPIR_Datatype_release((MPIR_Datatype *)r->datatype);
}

static inline void request_release(MPIR_Request *request)
{
    MPIR_Comm *comm = (MPIR_Comm *)request->comm;
    if (MPIR_Request_has_closure(request) && request->aux)
        MPIR_Request_ops_of(request)->free(request);
    ku_slab_free(&MPIR_slab[MPIR_KIND_REQUEST], request);
    if (comm && !(comm->adi.obj.flags & KEEL_OBJ_PREDEFINED))
        MPIR_Comm_release(comm);
}

void MPIR_Request_release(MPIR_Request *request)
{
    if (__builtin_expect(request->obj.flags & MPIR_REQUEST_PERSISTENT, 0))
        release_arguments(request);
    request_release(request);
}

void MPIR_Request_rest(MPIR_Request *request)
{
    request->obj.flags |= MPIR_REQUEST_INACTIVE;
    request->errval = 0;
    MPIR_Status_empty(&request->s);
    atomic_store_explicit(&request->is_complete, 1, memory_order_release);
}

void MPIR_Request_retire(MPIR_Request **slot)
{
    MPIR_Request *r = *slot;
    if (__builtin_expect(r->obj.flags & MPIR_REQUEST_PERSISTENT, 0)) {
        MPIR_Request_rest(r);
        return;
    }
    *slot = NULL;
    request_release(r);
}

bool MPIR_Failures;

int MPIR_Request_pending(MPIR_Request *request)
{
    int err = 0;
    if (request->handle_type != MPIR_RECV || MPIR_Request_is_complete(request))
        return 0;
    MPID_DeviceCheck(MPID_NOTBLOCKING); /* what has come by now counts */
    return !MPIR_Request_is_complete(request) && MPID_Recv_pending(request, &err) ? err : 0;
}

int MPIR_Request_wait(MPIR_Request *request, MPIR_Status *status)
{
    while (!MPIR_Request_is_complete(request))
        MPID_DeviceCheck(MPID_BLOCKING);
    int err = request->errval ? MPIR_Err_request(request) : 0;
    if (status) {
        int32_t kept = status->MPI_ERROR;
        *status = request->s;
        status->MPI_ERROR = kept;
    }
    MPIR_Request_release(request);
    return err;
}

/* Release the detached requests that are complete by now. */
static void sweep(void)
{
    for (MPIR_Request **link = &detached; *link;) {
        MPIR_Request *r = *link;
        if (MPIR_Request_is_complete(r)) {
            *link = r->next;
            MPIR_Request_release(r);
        } else {
            link = &r->next;
        }
    }
}

static struct MPIR_Session *session_of(const MPIR_Request *r)
{
    return r->comm ? ((const MPIR_Comm *)r->comm)->session : NULL;
}

void MPIR_Request_detached_end(MPIR_Request *request)
{
    if (request->comm)
        ((MPIR_Comm *)request->comm)->detached--;
    MPIR_Request_release(request);
}

void MPIR_Request_detach(MPIR_Request *request)
{
    if (!MPIR_Request_has_closure(request)) {
        if (request->comm)
            ((MPIR_Comm *)request->comm)->detached++;
        MPID_Request_free(request);
        return;
    }
    request->next = detached;
    detached = request;
    sweep();
}

struct count {
    const struct MPIR_Session *session;
    int64_t n;
};

static void count_detached(void *comm, void *arg)
{
    const MPIR_Comm *c = comm;
    struct count *of = arg;
    of->n += c->session == of->session ? c->detached : 0;
}

/* Those with a closure; and, of a session, those of the ADI.  (The world's leave at the barrier of MPI_Finalize.) */
static int64_t still_detached(const struct MPIR_Session *s)
{
    struct count of = { .session = s };
    sweep();
    for (const MPIR_Request *r = detached; r; r = r->next)
        of.n += session_of(r) == s;
    if (s)
        ku_slab_each(&MPIR_slab[MPIR_KIND_COMM], count_detached, &of);
    return of.n;
}

static bool has_detached(const MPIR_Comm *comm)
{
    sweep();
    const MPIR_Request *r = detached;
    while (r && r->comm != &comm->adi)
        r = r->next;
    return r || comm->detached > 0;
}

void MPIR_Request_drain_comm(const MPIR_Comm *comm)
{
    while (has_detached(comm))
        MPID_DeviceCheck(MPID_BLOCKING);
}

void MPIR_Request_drain(const struct MPIR_Session *s)
{
    MPIR_Any_forget();
    while (still_detached(s) > 0)
        MPID_DeviceCheck(MPID_BLOCKING);
}

int MPIR_Request_of_collective_may_go(const MPIR_Request *r)
{
    if (!MPIR_Request_is_active(r))
        return 0;
    return MPIR_Err(
        MPI_ERR_REQUEST, "request",
        "is of a collective operation that has been started; expected one that is completed first");
}

int MPIR_Request_free(MPIR_Request **request)
{
    MPIR_Request *r = *request;
    if (!r)
        return MPIR_Err(MPI_ERR_REQUEST, "request", "is MPI_REQUEST_NULL; expected a request");
    const struct MPIR_Request_ops *ops = MPIR_Request_has_closure(r) ? MPIR_Request_ops_of(r) : NULL;
    int err = ops && ops->may_go ? ops->may_go(r) : 0;
    if (err)
        return err;
    *request = NULL;
    if (MPIR_Stage_keeps(r))
        return 0;
    if (ops && ops->let_go)
        return ops->let_go(r);
    if (atomic_load_explicit(&r->is_complete, memory_order_acquire))
        MPIR_Request_release(r);
    else
        MPIR_Request_detach(r);
    return 0;
}

int MPIR_Cancel(MPIR_Request **request)
{
    MPIR_Request *r = *request;
    if (!r)
        return MPIR_Err(MPI_ERR_REQUEST, "request", "is MPI_REQUEST_NULL; expected an active request");
    if (!MPIR_Request_is_active(r))
        return MPIR_Err(MPI_ERR_REQUEST, "request", "is inactive; expected an active request");
    if (MPIR_Request_has_closure(r)) {
        if (!MPIR_Request_ops_of(r)->cancel)
            return MPIR_Err(MPI_ERR_REQUEST, "request", "is of an operation that cannot be cancelled");
        return MPIR_Request_ops_of(r)->cancel(r);
    }
    if (atomic_load_explicit(&r->is_complete, memory_order_acquire))
        return 0;
    MPID_Cancel(r);
    return 0;
}
