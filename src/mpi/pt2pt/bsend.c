/* SPDX-License-Identifier: BSD-3-Clause */
/* bsend.c: sends in buffered mode: at once if the device takes the message, else through the attached buffer.
 */
#include "config.h"
#include "bodies.h"
#include <stdlib.h>
#include "buffer.h"
#include "pt2pt.h"

static int send_buffered(struct buffer *b, const void *buf, MPI_Count count, MPIR_Datatype *type, int dest,
                         int tag, MPIR_Comm *comm, struct place *place)
{
    int64_t size = count * type->adi.size, position = 0;
    int err = 0;
    void *data;
    *place = MPIR_Buffer_take(b, comm, size, &data);
    if (!place->message)
        return ku_err_last()->code;
    MPID_Pack(buf, count, &type->adi, data, size, &position, &comm->adi, dest, MPID_MSGFORM_NATIVE,
              MPID_MSG_OK, &err);
    if (!err)
        err = MPIR_P2p_isend(data, size, NULL, dest, tag, comm, MPID_CONTEXT_PT2PT,
                             MPIR_Buffer_request(place->message));
    if (err)
        MPIR_Buffer_give_back(b, place->message);
    return err;
}

/* place->message is NULL unless the message went into a buffer. */
static int bsend(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag,
                 MPIR_Comm *comm, struct place *place)
{
    int err;
    place->message = NULL;
    if (dest == MPI_PROC_NULL)
        return 0;
    if ((err = check_length(count, datatype, "count")))
        return err;
    err = MPIR_P2p_send_at_once(buf, count, datatype, dest, tag, comm, MPID_CONTEXT_PT2PT);
    if (err != MPIR_ERR_MAY_BLOCK)
        return err;
    struct buffer *b = MPIR_Buffer_of(comm);
    if (!b)
        return MPIR_Err(MPI_ERR_BUFFER, NULL,
                        "the message needs %lld + %d bytes (MPI_BSEND_OVERHEAD) of buffer, and "
                        "none is attached",
                        (long long)(count * datatype->adi.size), MPI_BSEND_OVERHEAD);
    return send_buffered(b, buf, count, datatype, dest, tag, comm, place);
}

int MPIR_Bsend(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag, MPIR_Comm *comm)
{
    struct place unused;
    return bsend(buf, count, datatype, dest, tag, comm, &unused);
}

/* ---- Requests.  The copy makes the operation complete; but until somebody has seen that, the message in the buffer
 * can be cancelled, and then the request waits for what becomes of it. ---- */

struct copied {
    struct MPIR_Closure closure;
    struct place place;
    bool cancelling;
    int dest; /* of a persistent one */
};

static void copied_poll(MPIR_Request *r)
{
    struct copied *c = r->aux;
    if (c->cancelling)
        MPIR_Buffer_cancelled(&c->place, r);
    else
        atomic_store_explicit(&r->is_complete, 1, memory_order_release);
}

static void copied_free(MPIR_Request *r)
{
    free(r->aux);
}

static int copied_cancel(MPIR_Request *r)
{
    struct copied *c = r->aux;
    if (!c->place.message || c->cancelling || atomic_load_explicit(&r->is_complete, memory_order_acquire))
        return 0;
    c->cancelling = true;
    return MPIR_Buffer_cancel(&c->place, r);
}

static int copied_start(MPIR_Request *r)
{
    struct copied *c = r->aux;
    MPIR_Datatype *type =
        r->datatype ? (MPIR_Datatype *)r->datatype : MPIR_Datatype_predefined(KEEL_MPI_BYTE);
    c->cancelling = false;
    return bsend(r->buf, r->len, type, c->dest, r->tag, (MPIR_Comm *)r->comm, &c->place);
}

static const struct MPIR_Request_ops copied_ops = {
    .poll = copied_poll, .free = copied_free, .cancel = copied_cancel, .start = copied_start
};

/* False without memory (recorded). */
static bool add_closure(MPIR_Request *r, int dest)
{
    struct copied *c = malloc(sizeof *c);
    if (!c) {
        MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for one more request");
        return false;
    }
    *c = (struct copied){ { &copied_ops }, .dest = dest };
    r->handle_type = MPIR_SCHED;
    r->aux = c;
    return true;
}

int MPIR_Ibsend(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag, MPIR_Comm *comm,
                MPIR_Request **request)
{
    struct place place;
    MPIR_Request *r = MPIR_Request_alloc_complete(comm, MPIR_SEND);
    if (!r)
        return MPI_ERR_NO_MEM;
    int err = bsend(buf, count, datatype, dest, tag, comm, &place);
    if (!err && place.message && add_closure(r, dest)) { /* else it cannot be cancelled */
        ((struct copied *)r->aux)->place = place;
        atomic_store_explicit(&r->is_complete, 0, memory_order_relaxed);
    }
    return started(r, err, request);
}

int MPIR_Bsend_init(const void *buf, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag,
                    MPIR_Comm *comm, MPIR_Request **request)
{
    MPIR_Request *r = MPIR_Persistent_alloc(buf, count, datatype, dest, tag, comm);
    if (!r)
        return ku_err_last()->code;
    return started(r, add_closure(r, dest) ? 0 : MPI_ERR_NO_MEM, request);
}
