/* SPDX-License-Identifier: BSD-3-Clause */
/* greq.c: generalized requests (14.2): the operation is the program's, which says when it is complete, perhaps from
 * another thread while this one sleeps in MPI_Wait.
 *
 *   UNDER_WAY --(MPI_Grequest_complete)--> COMPLETE --(completing call, MPI_Request_free)--> gone
 *   UNDER_WAY --(MPI_Request_free)--> FREED --(MPI_Grequest_complete)--> gone
 *
 * Whoever takes the last step calls free_fn.  The request's own is_complete is written by the thread that looks at
 * it. */
#include "config.h"
#include "bodies.h"
#include <stdlib.h>
#include "abi.h"
#include "callback.h"
#include "mpi_err.h"
#include "request.h"

enum { UNDER_WAY, COMPLETE, FREED };

struct greq {
    struct MPIR_Closure closure;
    _Atomic int state;
    MPIR_Callback query_fn, free_fn, cancel_fn;
    const char *failed; /* the function whose code is the request's */
};

_Atomic int MPIR_Greq_under_way;

/* The words for a code that a user's function returned; a code of no class at all is taken for an error of the
 * program's. */
static int greq_failed(const char *function, int code)
{
    return MPIR_Err(code == MPIR_REQUEST_UNSETTLED ? MPI_ERR_OTHER : code, function,
                    "of the generalized request returned %d", code);
}

static void greq_poll(MPIR_Request *r)
{
    struct greq *g = r->aux;
    if (atomic_load_explicit(&g->state, memory_order_acquire) != COMPLETE)
        return;
    r->errval = MPIR_REQUEST_UNSETTLED;
    atomic_store_explicit(&r->is_complete, 1, memory_order_release);
}

static int greq_ask(MPIR_Request *r)
{
    struct greq *g = r->aux;
    MPIR_Status_empty(&r->s);
    bool claimed = MPIR_Callback_begin();
    int code = g->query_fn.abi->call_grequest_query(&g->query_fn, &r->s);
    MPIR_Callback_end(claimed);
    return code;
}

static int greq_query(MPIR_Request *r)
{
    int code = greq_ask(r);
    return code ? greq_failed("query_fn", code) : 0;
}

static int call_free(struct greq *g)
{
    bool claimed = MPIR_Callback_begin();
    int code = g->free_fn.abi->call_grequest_free(&g->free_fn);
    MPIR_Callback_end(claimed);
    return code ? greq_failed("free_fn", code) : 0;
}

/* Of the two functions' errors the last one counts. */
static void greq_settle(MPIR_Request *r)
{
    struct greq *g = r->aux;
    int queried = greq_query(r), freed = call_free(g);
    g->failed = freed ? "free_fn" : "query_fn";
    r->errval = freed ? freed : queried;
}

static void greq_explain(const MPIR_Request *r)
{
    greq_failed(((const struct greq *)r->aux)->failed, r->errval);
}

static int greq_cancel(MPIR_Request *r)
{
    struct greq *g = r->aux;
    bool complete = atomic_load_explicit(&g->state, memory_order_acquire) == COMPLETE;
    bool claimed = MPIR_Callback_begin();
    int code = g->cancel_fn.abi->call_grequest_cancel(&g->cancel_fn, complete);
    MPIR_Callback_end(claimed);
    return code ? greq_failed("cancel_fn", code) : 0;
}

static void greq_free(MPIR_Request *r)
{
    free(r->aux);
}

/* The last step without a completing call. */
static int greq_finish(MPIR_Request *r)
{
    int err = call_free(r->aux);
    MPIR_Request_release(r);
    return err;
}

static int greq_may_go(const MPIR_Request *r)
{
    const struct greq *g = r->aux;
    if (atomic_load_explicit(&g->state, memory_order_acquire) != FREED)
        return 0;
    return MPIR_Err(MPI_ERR_REQUEST, "request",
                    "was freed before; expected nothing but MPI_Grequest_complete after that");
}

static int greq_let_go(MPIR_Request *r)
{
    struct greq *g = r->aux;
    int state = UNDER_WAY;
    if (atomic_compare_exchange_strong(&g->state, &state, FREED))
        return 0;
    return greq_finish(r);
}

static const struct MPIR_Request_ops greq_ops = { .poll = greq_poll,
                                                  .free = greq_free,
                                                  .cancel = greq_cancel,
                                                  .explain = greq_explain,
                                                  .query = greq_query,
                                                  .settle = greq_settle,
                                                  .let_go = greq_let_go,
                                                  .may_go = greq_may_go };

int MPIR_Grequest_start(MPIR_Callback query_fn, MPIR_Callback free_fn, MPIR_Callback cancel_fn,
                        void *extra_state, MPIR_Request **request)
{
    struct greq *g = malloc(sizeof *g);
    MPIR_Request *r = g ? MPIR_Request_alloc(NULL) : NULL;
    (void)extra_state; /* it is in the callbacks */
    if (!r) {
        free(g);
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for one more request");
    }
    *g = (struct greq){ { &greq_ops }, UNDER_WAY, query_fn, free_fn, cancel_fn, NULL };
    r->handle_type = MPIR_USER;
    r->aux = g;
    atomic_fetch_add(&MPIR_Greq_under_way, 1);
    *request = r;
    return 0;
}

int MPIR_Grequest_complete(MPIR_Request *request)
{
    int state = UNDER_WAY;
    if (request->handle_type != MPIR_USER)
        return MPIR_Err(MPI_ERR_REQUEST, "request",
                        "is of an operation of MPI; expected a generalized request");
    struct greq *g = request->aux;
    if (atomic_compare_exchange_strong(&g->state, &state, COMPLETE)) {
        atomic_fetch_sub(&MPIR_Greq_under_way, 1);
        MPID_Wake();
        return 0;
    }
    if (state == FREED) {
        atomic_fetch_sub(&MPIR_Greq_under_way, 1);
        return greq_finish(request);
    }
    return MPIR_Err(MPI_ERR_REQUEST, "request",
                    "has been completed before; expected one call for each request");
}
