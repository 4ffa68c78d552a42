/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: completion, and the routines that ask for it. */
#include "core.h"

uint32_t MPID_Request_errors;

int64_t MPID_Req_capacity(const struct MPIR_HANDLE *r)
{
    int64_t n;
    if (r->datatype == NULL)
        return r->len;
    return __builtin_mul_overflow(r->len, r->datatype->size, &n) ? INT64_MAX : n;
}

void MPID_Req_typed(struct MPIR_HANDLE *r)
{
    if (r->datatype->is_contig && !needs_some(MPID_NEEDS_TYPES)) {
        r->len = MPID_Req_capacity(r);
        r->datatype = NULL;
    } else if (!(r->state & REQ_BLOCKING) && !(r->datatype->obj.flags & KEEL_OBJ_PREDEFINED)) {
        r->datatype->obj.refs++;
        r->state |= REQ_HOLDS;
    }
}

static void release_type(struct MPIR_HANDLE *r)
{
    struct MPIR_DATATYPE *t = r->datatype;
    if (--t->obj.refs == 0 && MPID_core.config.datatype_free != NULL)
        MPID_core.config.datatype_free(t);
}

void MPID_Req_complete_slow(struct MPIR_HANDLE *r)
{
    uint32_t flags = r->state;
    if (flags & REQ_TOLD)
        MPID_Tell_completed(r);
    if (flags & REQ_HOLDS)
        release_type(r);
    r->state = REQ_DONE;
    atomic_store_explicit(&r->is_complete, req_stamp(), memory_order_release);
    if ((flags & REQ_WATCHED) && MPID_core.config.request_done != NULL)
        MPID_core.config.request_done(r);
    if ((flags & REQ_FREED) && MPID_core.config.request_free != NULL)
        MPID_core.config.request_free(r);
}

void MPID_Req_fail(struct MPIR_HANDLE *r, int error)
{
    r->errval = r->s.MPI_ERROR = error;
    MPID_Request_errors++;
    req_complete(r);
}

int MPID_Gone_class(void)
{
    return MPID_core.gone_class;
}

int MPID_Err_gone(int32_t grank)
{
    return ku_err_set(MPID_Gone_class(), NULL, "rank %d has ended without finishing", (int)grank);
}

/* The words of a failed request, again: other errors may have come since. */
static void tell(const struct MPIR_HANDLE *r)
{
    if (r->errval == MPI_ERR_TRUNCATE)
        ku_err_set(MPI_ERR_TRUNCATE, NULL,
                   "a message of %lld bytes from rank %d with tag %d came for a receive of %lld bytes",
                   (long long)r->moved, (int)r->s.MPI_SOURCE, (int)r->s.MPI_TAG,
                   (long long)MPID_Req_capacity(r));
    else if (r->errval != 0 && ku_err_last()->code != r->errval)
        ku_err_set(r->errval, NULL, "the operation failed");
}

/* Of one that is complete. */
static int result(const struct MPIR_HANDLE *r, MPIR_Status *status)
{
    if (status != NULL)
        *status = r->s;
    if (unlikely(r->errval != 0))
        tell(r);
    return r->errval;
}

bool MPID_Request_watch(MPID_Request request)
{
    if (req_is_complete(request))
        return false;
    request->state |= REQ_WATCHED;
    return true;
}

bool MPID_Test(MPID_Request request, MPIR_Status *status, int *error_code)
{
    int err;
    if (!req_is_complete(request)) {
        MPID_DeviceCheck(MPID_NOTBLOCKING);
        if (!req_is_complete(request))
            return false;
    }
    err = result(request, status);
    if (err != 0)
        *error_code = err;
    return true;
}

int MPID_Wait(MPID_Request request, MPIR_Status *status)
{
    if (!req_is_complete(request))
        MPID_Wait_request(request);
    return result(request, status);
}

void MPID_Request_free(MPID_Request request)
{
    if (!req_is_complete(request))
        request->state |= REQ_FREED;
    else if (MPID_core.config.request_free != NULL)
        MPID_core.config.request_free(request);
}

static void recv_cancel(struct MPIR_HANDLE *r)
{
    if ((r->state & REQ_STATE) != REQ_POSTED)
        return;
    MPID_Posted_remove(&MPID_Context_find(r->context_id)->posted, r);
    r->s.cancelled = 1;
    r->s.count = 0;
    req_complete(r);
}

/* Take a message out of its peer's queue before anything of it has been sent. */
static void unqueue(struct MPIR_HANDLE *r)
{
    struct peer *p = MPID_core.peers.at[r->peer];
    struct MPIR_HANDLE **link = &p->msg_head, *before = NULL;
    for (; *link != r; link = &before->next)
        before = *link;
    *link = r->next;
    if (p->msg_tail == r)
        p->msg_tail = before;
    if (r->aux != NULL)
        MPID_Rndv_free(r->aux);
}

static bool unself(struct MPIR_HANDLE *r)
{
    struct context *c = MPID_Context_find(r->context_id);
    struct umsg *m = c->unexp.tail;
    while (m != NULL && !(m->kind == UMSG_SELF && m->self == r))
        m = m->prev;
    if (m == NULL)
        return false; /* taken by a matched probe */
    MPID_Unexp_remove(&c->unexp, m);
    MPID_Umsg_free(m);
    return true;
}

static void send_cancel(struct MPIR_HANDLE *r)
{
    bool out = false;
    switch (r->state & REQ_STATE) {
    case REQ_QUEUED:
        unqueue(r);
        out = true;
        break;
    case REQ_SELF:
        out = unself(r);
        break;
    case REQ_RNDV:
        MPID_Rndv_cancel(r);
        break;
    default: /* sent: too late, which is no error */
        break;
    }
    if (out) {
        r->s.cancelled = 1;
        req_complete(r);
    }
}

void MPID_Cancel(MPID_Request request)
{
    if (request->handle_type == MPIR_RECV)
        recv_cancel(request);
    else
        send_cancel(request);
}
