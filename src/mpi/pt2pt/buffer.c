/* SPDX-License-Identifier: BSD-3-Clause */
/* buffer.c: the buffers of buffered sends: attached, flushed, detached.  Invariants are in buffer.h. */
#include "config.h"
#include "bodies.h"
#include <stdlib.h>
#include "bsend.h"
#include "buffer.h"
#include "pt2pt.h"
#include "session.h"

enum { ALIGN = 16 };

struct message {
    MPIR_Request request; /* in no slab */
    struct message *next;
    struct buffer *buffer;
    MPIR_Comm *comm;
    MPIR_Request *waits; /* for whether it is cancelled; NULL */
    int64_t counted;
    int64_t offset, size; /* in the ring; offset -1: in memory of its own */
    _Alignas(ALIGN) char data[];
};
_Static_assert(sizeof(struct message) + 2 * ALIGN <= MPI_BSEND_OVERHEAD,
               "what is counted covers what is used");

static struct buffer process_buffer;
static struct buffer *all = &process_buffer;

MPIR_Request *MPIR_Buffer_request(struct message *m)
{
    return &m->request;
}

struct buffer *MPIR_Buffer_of(MPIR_Comm *comm)
{
    struct buffer *own = comm->bsend, *shared = comm->session ? comm->session->bsend : NULL;
    if (own && own->attached)
        return own;
    if (shared && shared->attached)
        return shared;
    return process_buffer.attached ? &process_buffer : NULL;
}

static void ring_pop(struct buffer *b, const struct message *gone)
{
    if (gone->offset < 0)
        return;
    if (--b->inside == 0) {
        b->start = b->stop = 0;
        return;
    }
    const struct message *oldest = gone->next;
    while (oldest->offset < 0)
        oldest = oldest->next;
    b->start = oldest->offset;
}

/* Offset of `size` bytes behind the youngest message, or at the ring's begin; -1: not in one piece. */
static int64_t ring_place(const struct buffer *b, int64_t size)
{
    bool wrapped = b->inside && b->stop <= b->start;
    if (wrapped)
        return b->start - b->stop >= size ? b->stop : -1;
    if (b->room - b->stop >= size)
        return b->stop;
    return b->start >= size ? 0 : -1;
}

/* Tell the request that waits for what becomes of a complete message; what a cancelled one counted is free. */
static void buffer_tell(struct message *m)
{
    MPIR_Request *r = m->waits;
    m->waits = NULL;
    if (!r)
        return;
    r->s.cancelled = m->request.s.cancelled;
    atomic_store_explicit(&r->is_complete, 1, memory_order_release);
    m->buffer->counted -= m->counted;
    m->counted = 0;
}

static void buffer_forget(struct message *m)
{
    MPIR_Comm *comm = m->comm;
    buffer_tell(m);
    m->buffer->counted -= m->counted;
    m->buffer->done++;
    if (m->offset < 0)
        free(m);
    MPIR_Comm_release(comm);
}

/* Take the complete messages off the queue's head. */
static void reap(struct buffer *b)
{
    while (b->first && MPIR_Request_is_complete(&b->first->request)) {
        struct message *m = b->first;
        if (m->request.errval)
            b->failed = m->request.errval;
        ring_pop(b, m);
        b->first = m->next;
        if (!b->first)
            b->last = NULL;
        buffer_forget(m);
    }
}

int MPIR_Buffer_cancel(const struct place *place, MPIR_Request *request)
{
    if (place->number >= place->buffer->done && !MPIR_Request_is_complete(&place->message->request)) {
        place->message->waits = request;
        MPID_Cancel(&place->message->request);
    }
    MPIR_Buffer_cancelled(place, request);
    return 0;
}

void MPIR_Buffer_cancelled(const struct place *place, MPIR_Request *request)
{
    struct message *m = place->message;
    bool inside = place->number >= place->buffer->done;
    if (inside && !MPIR_Request_is_complete(&m->request))
        return;
    if (inside)
        buffer_tell(m); /* it stays in the queue while older ones are in front of it */
    atomic_store_explicit(&request->is_complete, 1, memory_order_release);
}

/* What a message counts besides its size: the program knows it as MPI_BSEND_OVERHEAD. */
static int overhead(void)
{
    return &MPIR_Differs ? MPIR_Differs.bsend_overhead : MPI_BSEND_OVERHEAD;
}

static struct place no_room(const struct buffer *b, int64_t size)
{
    MPIR_Err(
        MPI_ERR_BUFFER, NULL,
        "the message needs %lld + %d bytes (MPI_BSEND_OVERHEAD), the attached buffer has %lld, of which %lld "
        "are in use by messages not sent yet",
        (long long)size, overhead(), (long long)b->user_size, (long long)b->counted);
    return (struct place){ NULL, NULL, 0 };
}

struct place MPIR_Buffer_take(struct buffer *b, MPIR_Comm *comm, int64_t size, void **data)
{
    int64_t counted = size + overhead();
    int64_t bytes = ((int64_t)sizeof(struct message) + size + ALIGN - 1) / ALIGN * ALIGN;
    reap(b);
    if (!b->automatic && counted > b->user_size - b->counted) {
        MPID_DeviceCheck(MPID_NOTBLOCKING);
        reap(b);
    }
    if (!b->automatic && counted > b->user_size - b->counted)
        return no_room(b, size);
    int64_t offset = b->automatic ? -1 : ring_place(b, bytes);
    struct message *m = offset < 0 ? aligned_alloc(ALIGN, (size_t)bytes) : (void *)(b->base + offset);
    if (!m) {
        MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a copy of the message of %lld bytes", (long long)size);
        return (struct place){ NULL, NULL, 0 };
    }
    *m = (struct message){ .request = { .obj = { .index = KEEL_NO_INDEX, .gen = 1, .refs = 1 } },
                           .buffer = b,
                           .comm = comm,
                           .counted = counted,
                           .offset = offset,
                           .size = bytes };
    MPIR_Object_ref(comm);
    b->counted += counted;
    uint64_t number = b->sent++;
    if (offset >= 0) {
        b->start = b->inside ? b->start : offset;
        b->stop = offset + bytes;
        b->inside++;
    }
    *(b->last ? &b->last->next : &b->first) = m;
    b->last = m;
    *data = m->data;
    return (struct place){ b, m, number };
}

void MPIR_Buffer_give_back(struct buffer *b, struct message *m)
{
    (void)b;
    atomic_store_explicit(&m->request.is_complete, 1,
                          memory_order_relaxed); /* an empty place until it is reaped */
}

/* ---- attach, flush, detach ------------------------------------------------------------------ */

static int attach(struct buffer *b, void *buffer, MPI_Count size, const char *whose)
{
    bool automatic = buffer == MPI_BUFFER_AUTOMATIC;
    if (b->attached)
        return MPIR_Err(MPI_ERR_BUFFER, "buffer",
                        "is attached although %s has a buffer of %lld bytes already; expected it "
                        "to be detached first",
                        whose, (long long)b->user_size);
    if (!automatic && !buffer && size)
        return MPIR_Err(MPI_ERR_BUFFER, "buffer", "is NULL; expected the address of %lld bytes",
                        (long long)size);
    uintptr_t aligned = ((uintptr_t)buffer + ALIGN - 1) / ALIGN * ALIGN;
    int64_t lost = (int64_t)(aligned - (uintptr_t)buffer);
    b->attached = true;
    b->automatic = automatic;
    b->user = buffer;
    b->user_size = automatic ? 0 : size;
    b->base = (char *)aligned;
    b->room = automatic || size < lost ? 0 : size - lost;
    b->start = b->stop = 0;
    return 0;
}

static int not_attached(const char *whose)
{
    return MPIR_Err(MPI_ERR_BUFFER, NULL, "%s has no buffer attached", whose);
}

/* Until `upto` messages have left.  A failure among them is returned once. */
static int buffer_flush(struct buffer *b, uint64_t upto)
{
    for (reap(b); b->done < upto; reap(b))
        MPID_DeviceCheck(MPID_BLOCKING);
    int failed = b->failed;
    b->failed = 0;
    return failed ? MPIR_Err(failed, NULL, "a buffered message could not be sent") : 0;
}

static int detach(struct buffer *b, void *buffer_addr, MPI_Count *size, const char *whose)
{
    if (!b || !b->attached)
        return not_attached(whose);
    int err = buffer_flush(b, b->sent);
    *(void **)buffer_addr = b->user;
    *size = b->user_size;
    b->attached = false;
    return err;
}

/* A request that is complete when the first `upto` messages have left. */
struct flush_closure {
    struct MPIR_Closure closure;
    struct buffer *buffer;
    uint64_t upto;
};

static void flush_poll(MPIR_Request *r)
{
    struct flush_closure *f = r->aux;
    reap(f->buffer);
    if (f->buffer->done < f->upto)
        return;
    r->errval = f->buffer->failed;
    f->buffer->failed = 0;
    atomic_store_explicit(&r->is_complete, 1, memory_order_release);
}

static void flush_free(MPIR_Request *r)
{
    struct buffer *b = ((struct flush_closure *)r->aux)->buffer;
    if (--b->flushes == 0 && b->orphan)
        free(b);
    free(r->aux);
}

static const struct MPIR_Request_ops flush_ops = { .poll = flush_poll, .free = flush_free };

static int iflush(struct buffer *b, MPIR_Comm *comm, MPIR_Request **request, const char *whose)
{
    if (!b || !b->attached)
        return not_attached(whose);
    struct flush_closure *f = malloc(sizeof *f);
    MPIR_Request *r = f ? MPIR_Request_alloc(comm) : NULL;
    if (!r) {
        free(f);
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for one more request");
    }
    *f = (struct flush_closure){ { &flush_ops }, b, b->sent };
    b->flushes++;
    r->handle_type = MPIR_SCHED;
    r->aux = f;
    *request = r;
    return 0;
}

static const char the_process[] = "the process", the_comm[] = "the communicator",
                  the_session[] = "the session";

int MPIR_Buffer_attach(void *buffer, MPI_Count size)
{
    return attach(&process_buffer, buffer, size, the_process);
}

int MPIR_Buffer_detach(void *buffer_addr, MPI_Count *size)
{
    return detach(&process_buffer, buffer_addr, size, the_process);
}

int MPIR_Buffer_flush(void)
{
    return process_buffer.attached ? buffer_flush(&process_buffer, process_buffer.sent)
                                   : not_attached(the_process);
}

int MPIR_Buffer_iflush(MPIR_Request **request)
{
    return iflush(&process_buffer, NULL, request, the_process);
}

/* Attach to what has no buffer yet, or one that was detached. */
static int attach_to(void **owner, void *buffer, MPI_Count size, const char *whose)
{
    struct buffer *b = *owner;
    if (!b) {
        b = calloc(1, sizeof *b);
        if (!b)
            return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for one more buffer");
        b->next = all;
        all = *owner = b;
    }
    return attach(b, buffer, size, whose);
}

int MPIR_Comm_attach_buffer(MPIR_Comm *comm, void *buffer, MPI_Count size)
{
    return attach_to(&comm->bsend, buffer, size, the_comm);
}

int MPIR_Comm_detach_buffer(MPIR_Comm *comm, void *buffer_addr, MPI_Count *size)
{
    return detach(comm->bsend, buffer_addr, size, the_comm);
}

int MPIR_Comm_flush_buffer(MPIR_Comm *comm)
{
    struct buffer *b = comm->bsend;
    return b && b->attached ? buffer_flush(b, b->sent) : not_attached(the_comm);
}

int MPIR_Comm_iflush_buffer(MPIR_Comm *comm, MPIR_Request **request)
{
    return iflush(comm->bsend, comm, request, the_comm);
}

int MPIR_Session_attach_buffer(MPIR_Session *session, void *buffer, MPI_Count size)
{
    return attach_to(&session->bsend, buffer, size, the_session);
}

int MPIR_Session_detach_buffer(MPIR_Session *session, void *buffer_addr, MPI_Count *size)
{
    return detach(session->bsend, buffer_addr, size, the_session);
}

int MPIR_Session_flush_buffer(MPIR_Session *session)
{
    struct buffer *b = session->bsend;
    return b && b->attached ? buffer_flush(b, b->sent) : not_attached(the_session);
}

int MPIR_Session_iflush_buffer(MPIR_Session *session, MPIR_Request **request)
{
    return iflush(session->bsend, NULL, request, the_session);
}

/* ---- The end ---- */

/* Reap them all.  With a message its communicator may go, and a buffer that hangs on that. */
static void reap_all(void)
{
    for (struct buffer *b = all; b;) {
        if (!b->first || !MPIR_Request_is_complete(&b->first->request)) {
            b = b->next;
            continue;
        }
        MPIR_Comm *comm = b->first->comm;
        MPIR_Object_ref(comm);
        reap(b);
        MPIR_Comm_release(comm);
        b = all;
    }
}

/* Is a message still on its way on this communicator; or (comm NULL) on one of the session's (NULL: of none)? */
static bool holds(const MPIR_Comm *comm, const MPIR_Session *s)
{
    reap_all();
    for (const struct buffer *b = all; b; b = b->next)
        for (struct message *m = b->first; m; m = m->next)
            if ((comm ? m->comm == comm : m->comm->session == s) && !MPIR_Request_is_complete(&m->request))
                return true;
    return false;
}

void MPIR_Bsend_drain_comm(const MPIR_Comm *comm)
{
    while (holds(comm, NULL))
        MPID_DeviceCheck(MPID_BLOCKING);
}

int MPIR_Bsend_drain(const MPIR_Session *s)
{
    int failed = 0;
    while (holds(NULL, s))
        MPID_DeviceCheck(MPID_BLOCKING);
    for (struct buffer *b = all; b; b = b->next)
        if (b->failed && !b->first) {
            failed = b->failed;
            b->failed = 0;
        }
    return failed ? MPIR_Err(failed, NULL, "a buffered message could not be sent") : 0;
}

/* Its owner goes. */
static void buffer_let_go(void **owner)
{
    struct buffer *b = *owner, **link = &all;
    *owner = NULL;
    if (!b)
        return;
    while (*link && *link != b)
        link = &(*link)->next;
    if (*link)
        *link = b->next;
    b->orphan = true;
    if (b->flushes == 0)
        free(b);
}

void MPIR_Bsend_comm_free(MPIR_Comm *comm)
{
    buffer_let_go(&comm->bsend);
}

void MPIR_Bsend_session_free(MPIR_Session *session)
{
    buffer_let_go(&session->bsend);
}
