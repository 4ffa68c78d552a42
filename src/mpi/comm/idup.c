/* SPDX-License-Identifier: BSD-3-Clause */
/* idup.c: MPI_Comm_idup: as dup, but the agreement on the context goes on by itself (drive.h).
 *
 * The new communicator is there at once, complete but for its context: error handler, attributes and hints are
 * those of the moment of the call.  What is local may be done with it (api.txt: early).  For all else its handle
 * is not valid until the operation is over: the object keeps another generation than the handle, so that a program
 * that uses it too early is told. */
#include "make.h"
#include "bodies.h"
#include "drive.h"
#include "mpi_err.h"
#include "type.h"
#include <stdlib.h>

struct idup {
    struct MPIR_Closure closure;
    struct MPIR_Driven driven;
    struct context_vote vote;
    MPIR_Comm *parent;     /* a reference */
    MPIR_Comm *newcomm;    /* until it is the program's; NULL if it could not be made here */
    MPIR_Request *request; /* NULL: the call has reported an error, and only plays its part to the end */
    struct ku_err words;
};

static void free_idup(struct idup *d)
{
    if (d->newcomm) { /* failed: only now, as delete callbacks may run */
        MPIR_Comm_reveal(d->newcomm);
        MPIR_Comm_discard(d->newcomm);
    }
    MPIR_Comm_release(d->parent);
    free(d);
}

static void poll_nothing(MPIR_Request *r)
{
    (void)r; /* whoever polls has looked at the devices before, which advances it */
}

static void free_closure(MPIR_Request *r)
{
    free_idup(r->aux);
}

static void explain(const MPIR_Request *r)
{
    *ku_err_last() = ((const struct idup *)r->aux)->words;
}

static const struct MPIR_Request_ops idup_ops = { .poll = poll_nothing,
                                                  .free = free_closure,
                                                  .explain = explain,
                                                  .may_go = MPIR_Request_of_collective_may_go };

static void idup_complete(struct idup *d, int err)
{
    MPIR_Request *r = d->request;
    if (d->newcomm && !err)
        err = MPIR_Comm_start(d->parent, d->newcomm, d->vote.context);
    if (d->newcomm && !err) {
        MPIR_Comm_reveal(d->newcomm);
        d->newcomm = NULL; /* the program's */
    }
    if (!r) {
        free_idup(d);
        return;
    }
    if (err) {
        d->words = *ku_err_last();
        MPID_Request_errors++;
    }
    MPIR_Status_empty(&r->s);
    r->errval = err;
    atomic_store_explicit(&r->is_complete, 1, memory_order_release);
}

static enum MPIR_DRIVE idup_advance(struct MPIR_Driven *driven)
{
    struct idup *d = (struct idup *)((char *)driven - offsetof(struct idup, driven));
    int stage = d->vote.agree.stage, round = d->vote.round;
    if (MPIR_Context_step(&d->vote)) {
        idup_complete(d, d->vote.err);
        return MPIR_DRIVE_DONE;
    }
    return d->vote.agree.stage != stage || d->vote.round != round ? MPIR_DRIVE_MOVED : MPIR_DRIVE_WAITS;
}

/* There is no memory to wait for the others later: tell them now, which blocks until they have come. */
static int idup_refuse(const struct party *p)
{
    struct context_vote v;
    struct context_ask ask = { .err = MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a request"), .ids = 1 };
    return MPIR_Context_agree(&v, p, &ask);
}

static struct idup *alloc(MPIR_Comm *comm)
{
    struct idup *d = calloc(1, sizeof *d);
    MPIR_Request *r = d ? MPIR_Request_alloc(comm) : NULL;
    if (!r) {
        free(d);
        return NULL;
    }
    d->closure.ops = &idup_ops;
    d->driven.advance = idup_advance;
    d->parent = comm;
    MPIR_Object_ref(comm);
    d->request = r;
    r->handle_type = MPIR_SCHED;
    r->aux = d;
    return d;
}

/* The call itself fails: it has no request, but the others must hear of it. */
static void drop_request(struct idup *d)
{
    d->request->aux = NULL;
    MPIR_Request_release(d->request);
    d->request = NULL;
}

int MPIR_Comm_idup_with_info(MPIR_Comm *comm, MPIR_Info *info, MPIR_Comm **newcomm, MPIR_Request **request)
{
    struct party p = MPIR_Comm_party(comm);
    struct idup *d = alloc(comm);
    if (!d)
        return idup_refuse(&p);
    int err = MPIR_Comm_copy(comm, info, &d->newcomm);
    struct ku_err words = *ku_err_last();
    if (err) {
        drop_request(d);
    } else {
        MPIR_Comm_hide(d->newcomm);
        *newcomm = d->newcomm;
        *request = d->request;
    }
    struct context_ask ask = { .err = err, .ids = comm->local ? 2 : 1 };
    MPIR_Context_begin(&d->vote, &p, &ask);
    if (idup_advance(&d->driven) != MPIR_DRIVE_DONE)
        MPIR_Drive(&d->driven);
    if (err)
        *ku_err_last() = words;
    return err;
}

int MPIR_Comm_idup(MPIR_Comm *comm, MPIR_Comm **newcomm, MPIR_Request **request)
{
    return MPIR_Comm_idup_with_info(comm, NULL, newcomm, request);
}
