/* SPDX-License-Identifier: BSD-3-Clause */
/* The sending end: two routines and their short ways, one way through.
 *
 *   up to 48 bytes        in the packet's head line: no request, one call of the device
 *   up to eager_max       one packet, if the receiver has not said stop
 *   else, or synchronous  rendezvous (rndv.c)
 *   to this process       copied straight into the receive, or kept as an unexpected message
 *
 * Order: messages to a peer begin in the order of the calls; one that cannot begin waits in the peer's msg queue, and
 * so do all after it (peer.fast is then false). */
#include "core.h"

static void send_init(struct MPIR_HANDLE *r, const struct MPID_Operation *op, uint32_t flags)
{
    r->handle_type = MPIR_SEND;
    atomic_store_explicit(&r->is_complete, 0, memory_order_relaxed);
    r->s = (MPIR_Status){ .MPI_SOURCE = op->rank, .MPI_TAG = op->tag };
    r->errval = 0;
    r->state = flags;
    r->next = NULL;
    r->buf = OP_FIELD(op, buf);
    r->len = OP_FIELD(op, len);
    r->datatype = OP_FIELD(op, datatype);
    r->comm = OP_FIELD(op, comm);
    r->context_id = OP_FIELD(op, context_id);
    r->tag = OP_FIELD(op, tag);
    r->rank = OP_FIELD(op, rank);
    r->peer = OP_FIELD(op, peer);
    r->moved = 0;
    r->aux = NULL;
    if (r->datatype != NULL)
        MPID_Req_typed(r);
}

/* ---- To another process ---- */

/* By itself, as it has just been stored: compilers load it together with the rank (wire.h, pkt_pair). */
static inline int tag_of(const struct MPIR_HANDLE *r)
{
    return *(const volatile int32_t *)&r->tag;
}

static dev_status send_short(struct peer *p, struct MPIR_HANDLE *r, int64_t bytes)
{
    struct dev_head h = pkt_short_prepare(r->context_id, tag_of(r), r->rank, (size_t)bytes);
    unsigned char packed[PKT_SHORT_MAX];
    const void *body = r->buf;
    dev_status s;
    if (r->datatype != NULL) {
        req_read(r, 0, packed, bytes);
        body = packed;
    }
    s = p->send_short(p->dp, &h, body);
    if (likely(s == DEV_OK)) {
        MPID_core.sent_bytes += (uint64_t)bytes;
        tell_packet('>', p->grank, &h, (size_t)bytes);
    }
    return s;
}

static dev_status send_eager(struct peer *p, struct MPIR_HANDLE *r, int64_t bytes)
{
    struct dev_head h = pkt_eager_prepare(r->context_id, tag_of(r), r->rank);
    struct dev_iov iov = { .base = r->buf, .len = (size_t)bytes };
    void *room;
    dev_status s;
    if (r->datatype == NULL)
        s = p->cd->ops.send(p->dp, &h, &iov, 1, r);
    else {
        room = p->cd->ops.reserve(p->dp, (size_t)bytes);
        if (room == NULL)
            return DEV_AGAIN;
        req_read(r, 0, room, bytes);
        s = p->cd->ops.commit(p->dp, &h, room, (size_t)bytes);
        if (s == DEV_AGAIN)
            p->cd->ops.drop(p->dp, room);
    }
    if (s == DEV_OK || s == DEV_QUEUED) {
        MPID_core.counts.eager++;
        MPID_core.sent_bytes += (uint64_t)bytes;
        tell_packet('>', p->grank, &h, (size_t)bytes);
    }
    return s;
}

static bool by_rndv(const struct peer *p, const struct MPIR_HANDLE *r, int64_t bytes)
{
    return r->aux != NULL || (r->state & REQ_SYNC) || bytes > p->eager_max || p->xoff ||
           (r->datatype != NULL && !p->cd->has_reserve && bytes > PKT_SHORT_MAX);
}

enum send_result MPID_Send_first(struct peer *p, struct MPIR_HANDLE *r)
{
    int64_t bytes = req_bytes(r);
    dev_status s;
    if (unlikely(r->state & REQ_NOTED) && MPID_Note_send(p, r) == DEV_AGAIN)
        return SEND_AGAIN;
    if (by_rndv(p, r, bytes)) {
        if (r->aux == NULL && MPID_Rndv_send(p, r) == NULL) {
            MPID_Req_fail(r, MPI_ERR_NO_MEM);
            return SEND_BEGUN;
        }
        s = MPID_Rndv_rts(p, r);
        if (s == DEV_OK)
            return SEND_BEGUN;
    } else
        s = bytes <= PKT_SHORT_MAX ? send_short(p, r, bytes) : send_eager(p, r, bytes);
    switch (s) {
    case DEV_OK:
        req_complete(r);
        return SEND_BEGUN;
    case DEV_QUEUED:
        req_state(r, REQ_DEVICE);
        return SEND_BEGUN;
    case DEV_AGAIN:
        return SEND_AGAIN;
    default:
        MPID_Peer_gone(p->grank);
        if (r->aux != NULL)
            MPID_Rndv_free(r->aux);
        MPID_Req_fail(r, MPID_Err_gone(p->grank));
        return SEND_BEGUN;
    }
}

static void send_queue(struct peer *p, struct MPIR_HANDLE *r)
{
    req_state(r, REQ_QUEUED);
    r->next = NULL;
    if (p->msg_tail != NULL)
        p->msg_tail->next = r;
    else
        p->msg_head = r;
    p->msg_tail = r;
    peer_set_fast(p, false);
    MPID_Peer_busy(p);
}

/* ---- To this process ---- */

/* Both ends are here: copy, and complete both. */
void MPID_Self_copy(struct MPIR_HANDLE *s, struct MPIR_HANDLE *r)
{
    int64_t total = req_bytes(s), capacity = MPID_Req_capacity(r), n = total < capacity ? total : capacity;
    if (n > 0) {
        if (s->datatype == NULL)
            req_write(r, 0, s->buf, n);
        else if (r->datatype == NULL)
            req_read(s, 0, r->buf, n);
        else
            MPID_Copy(s->buf, s->len, s->datatype, r->buf, r->len, r->datatype, n);
    }
    r->peer = MPID_core.rank;
    recv_finish(r, s->rank, s->tag, total, capacity);
    req_complete(s);
}

/* No receive is there yet.  Standard mode keeps a copy; what must not (synchronous), or is large and can wait
 * (nonblocking), stays where it is. */
static int self_keep(struct MPIR_HANDLE *s, struct context *c)
{
    enum { COPY_MAX = 64 << 10 };
    int64_t bytes = req_bytes(s);
    bool copy = !(s->state & REQ_SYNC) && (bytes <= COPY_MAX || (s->state & REQ_BLOCKING));
    struct umsg *m;
    if ((s->state & REQ_SYNC) && (s->state & REQ_BLOCKING) &&
        !needs_some(MPID_NEEDS_THREADS)) /* else another thread may receive it */
        return ku_err_set(
            MPI_ERR_OTHER, NULL,
            "a synchronous send of a process to itself, with no receive posted, would wait for ever");
    m = MPID_Umsg_make(copy && bytes > PKT_SHORT_MAX ? bytes : 0);
    if (m == NULL)
        return ku_err_set(MPI_ERR_NO_MEM, NULL,
                          "no memory to keep a message of %lld bytes to the process itself",
                          (long long)bytes);
    m->source = s->rank;
    m->tag = s->tag;
    m->len = bytes;
    m->grank = MPID_core.rank;
    if (copy) {
        req_read(s, 0, m->kind == UMSG_HEAP ? m->heap : m->body, bytes);
        req_complete(s);
    } else {
        m->kind = UMSG_SELF;
        m->self = s;
        req_state(s, REQ_SELF);
    }
    MPID_Unexp_add(&c->unexp, m);
    count_unexpected(m, c->id);
    return 0;
}

static int self_send(struct MPIR_HANDLE *s)
{
    struct context *c = context_of(s->comm, s->context_id);
    struct MPIR_HANDLE *r;
    if (c == NULL)
        return MPI_ERR_NO_MEM;
    if (unlikely(s->state & REQ_NOTED))
        MPID_Note_self(s);
    MPID_core.counts.self++;
    MPID_core.counts.self_bytes += (uint64_t)req_bytes(s);
    r = MPID_Posted_take(&c->posted, s->rank, s->tag);
    if (r == NULL)
        return self_keep(s, c);
    tell_matched(r, s->rank, s->tag, req_bytes(s), NULL);
    MPID_Self_copy(s, r);
    return 0;
}

/* ---- Both ---- */

static int check(const struct MPIR_HANDLE *r, int dest_grank)
{
    if (unlikely(!MPID_core.up))
        return ku_err_set(MPI_ERR_OTHER, NULL, "MPID_Init has not been called");
    if (unlikely(r->len < 0))
        return ku_err_set(MPI_ERR_COUNT, "count", "is %lld; expected 0 or more", (long long)r->len);
    if (unlikely(dest_grank < 0 || dest_grank >= MPID_core.peers.n))
        return ku_err_set(MPI_ERR_RANK, "dest_grank", "is %d; expected 0 to %d", dest_grank,
                          (int)MPID_core.peers.n - 1);
    return peer_gone(dest_grank) ? MPID_Err_gone(dest_grank) : 0;
}

static int begin(struct MPIR_HANDLE *r, bool may_queue)
{
    int err = check(r, r->peer);
    struct peer *p;
    if (err != 0)
        return err;
    if (r->peer == MPID_core.rank)
        return self_send(r);
    p = peer_get(r->peer, &err);
    if (p == NULL)
        return err;
    if (!may_queue && (p->msg_head != NULL || by_rndv(p, r, req_bytes(r))))
        return MPIR_ERR_MAY_BLOCK;
    if (p->msg_head == NULL && MPID_Send_first(p, r) == SEND_BEGUN)
        return r->errval;
    if (!may_queue)
        return MPIR_ERR_MAY_BLOCK;
    if (by_rndv(p, r, req_bytes(r)) && r->aux == NULL && MPID_Rndv_send(p, r) == NULL)
        return MPI_ERR_NO_MEM;
    send_queue(p, r);
    return 0;
}

static __attribute__((noinline, cold)) void send_poll_now(void)
{
    if (!MPID_core.up)
        return;
    MPID_Progress();
    if (unlikely(report_wanted()))
        MPID_Report(NULL, true);
}

static inline void send_poll(void)
{
    if (unlikely(++MPID_core.sends % POLL_EVERY == 0))
        send_poll_now();
}

/* A send of the program is to wait for its receive (MPID_NEEDS_STRICT), or somebody is told of it. */
static __attribute__((noinline, cold)) void begin_seen(struct MPIR_HANDLE *r)
{
    if (needs_some(MPID_NEEDS_STRICT) && r->comm != NULL &&
        r->context_id == r->comm->context_id + MPID_CONTEXT_PT2PT)
        r->state |= REQ_SYNC;
    tell_begun(r);
}

static int send_start(struct MPIR_HANDLE *r)
{
    if (needs_some(MPID_NEEDS_OBSERVERS | MPID_NEEDS_STRICT))
        begin_seen(r);
    int err = begin(r, true);
    send_poll();
    if (unlikely(err != 0 && r->errval == 0))
        MPID_Req_fail(r, err);
    return err;
}

static int send_blocking(const struct MPID_Operation *op, uint32_t flags)
{
    struct MPIR_HANDLE r;
    send_init(&r, op, flags | REQ_BLOCKING);
    int err = send_start(&r);
    if (!atomic_load_explicit(&r.is_complete, memory_order_relaxed))
        err = MPID_Wait(&r, NULL);
    return err;
}

static int send_at_once(const struct MPID_Operation *op)
{
    struct MPIR_HANDLE r;
    send_init(&r, op, REQ_BLOCKING);
    tell_begun(&r);
    int err = begin(&r, false);
    if (err == MPIR_ERR_MAY_BLOCK) {
        MPID_Progress();
        err = begin(&r, false);
    }
    if (err != 0 && (r.state & REQ_TOLD)) {
        r.s.cancelled = 1; /* the caller sends a copy */
        MPID_Tell_completed(&r);
    }
    MPID_core.sends++;
    if (err == 0 && !atomic_load_explicit(&r.is_complete, memory_order_relaxed))
        err = MPID_Wait(&r, NULL); /* the device copies it out: soon, whatever the receiver does */
    return err;
}

/* ---- A message that goes at once: no request.  What is usual calls nothing, so it saves no registers: a
 * processor's stores wait for the line that goes to the other core, and the fewer there are, the more messages go
 * on meanwhile. ---- */

/* A short one into the peer's lane; NULL: it has none, or not now. */
static inline __attribute__((always_inline)) struct peer *
send_now(const void *buf, int64_t len, int src_lrank, int tag, uint32_t context_id, int dest_grank)
{
    struct peer *p;
    struct dev_head h;
    struct ku_line_head head;
    if (unlikely((uint64_t)len > PKT_SHORT_MAX || (uint32_t)dest_grank >= (uint32_t)MPID_core.lanes))
        return NULL;
    p = MPID_core.peers.at[dest_grank];
    if (unlikely(p == NULL || !p->fast || p->lane.tx == NULL))
        return NULL;
    h = pkt_short_prepare(context_id, tag, src_lrank, (size_t)len);
    memcpy(&head, &h, sizeof head);
    if (unlikely(!ku_ring_put_alone(p->lane.tx, &head, buf, (size_t)len)))
        return NULL;
    MPID_core.sent_bytes += (uint64_t)len;
    return p;
}

static __attribute__((noinline)) int sent_wake(const struct peer *p)
{
    ku_wait_wake(p->lane.sleeping, atomic_load_explicit(p->lane.fence_all, memory_order_relaxed) != 0);
    if (MPID_core.sends % POLL_EVERY == 0)
        send_poll_now();
    return 0;
}

/* What is to be done last of all: wake the receiver, and look around from time to time. */
static inline __attribute__((always_inline)) int sent(const struct peer *p)
{
    bool poll = ++MPID_core.sends % POLL_EVERY == 0;
    atomic_signal_fence(memory_order_seq_cst); /* as in ku_wait_wake */
    if (unlikely(poll || atomic_load_explicit(p->lane.fence_all, memory_order_relaxed) != 0 ||
                 atomic_load_explicit(p->lane.sleeping, memory_order_relaxed) != 0))
        return sent_wake(p);
    return 0;
}

static inline struct peer *fast_peer(int64_t len, int dest_grank)
{
    struct peer *p;
    if (unlikely(len < 0 || (uint32_t)dest_grank >= (uint32_t)MPID_core.peers.n))
        return NULL;
    p = MPID_core.peers.at[dest_grank];
    return likely(p != NULL && p->fast) ? p : NULL;
}

/* Others that go in one packet, to a device that copies it at once: a short one, */
static __attribute__((noinline)) bool send_short_called(const void *buf, int64_t len, int src_lrank, int tag,
                                                        uint32_t context_id, int dest_grank)
{
    struct dev_head h = pkt_short_prepare(context_id, tag, src_lrank, (size_t)len);
    struct peer *p = fast_peer(len, dest_grank);
    if (unlikely(p == NULL || p->send_short(p->dp, &h, buf) != DEV_OK))
        return false;
    MPID_core.sent_bytes += (uint64_t)len;
    return true;
}

/* or any. */
static inline __attribute__((always_inline)) bool send_called(const void *buf, int64_t len, int src_lrank,
                                                              int tag, uint32_t context_id, int dest_grank)
{
    struct dev_head h = pkt_eager_prepare(context_id, tag, src_lrank);
    struct peer *p;
    if (unlikely(len <= PKT_SHORT_MAX))
        return send_short_called(buf, len, src_lrank, tag, context_id, dest_grank);
    p = fast_peer(len, dest_grank);
    if (unlikely(p == NULL || len > p->eager_max ||
                 p->cd->near.send_copy(p->dp, &h, buf, (size_t)len) != DEV_OK))
        return false;
    MPID_core.counts.eager++;
    MPID_core.sent_bytes += (uint64_t)len;
    return true;
}

/* The request of a message that has gone. */
static inline void sent_request(struct MPIR_HANDLE *r, int src_lrank, int tag)
{
    r->handle_type = MPIR_SEND;
    r->s = (MPIR_Status){ .MPI_SOURCE = src_lrank, .MPI_TAG = tag };
    r->errval = 0;
    r->state = REQ_DONE;
    atomic_store_explicit(&r->is_complete, req_stamp(), memory_order_relaxed);
}

static int32_t grank_in(const struct MPIR_COMMUNICATOR *comm, int lrank)
{
    return comm->lrank_to_grank != NULL ? comm->lrank_to_grank[lrank] : lrank;
}

/* The description of a message of bytes in comm's point-to-point context. */
static inline struct MPID_Operation bytes_to(const void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm,
                                             int dest, int tag)
{
    return (struct MPID_Operation){ .buf = (void *)(uintptr_t)buf,
                                    .len = len,
                                    .comm = comm,
                                    .context_id = comm->context_id + MPID_CONTEXT_PT2PT,
                                    .tag = tag,
                                    .rank = comm->rank,
                                    .peer = grank_in(comm, dest) };
}

static __attribute__((noinline)) int send_bytes_long(const void *buf, int64_t len,
                                                     struct MPIR_COMMUNICATOR *comm, int dest, int tag)
{
    struct MPID_Operation op = bytes_to(buf, len, comm, dest, tag);
    if (!send_called(buf, len, op.rank, tag, op.context_id, op.peer))
        return send_blocking(&op, 0);
    send_poll();
    return 0;
}

int MPID_Send_bytes(const void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int dest, int tag)
{
    struct peer *p =
        send_now(buf, len, comm->rank, tag, comm->context_id + MPID_CONTEXT_PT2PT, grank_in(comm, dest));
    return likely(p != NULL) ? sent(p) : send_bytes_long(buf, len, comm, dest, tag);
}

/* What the thread has sent so and not told yet. */
static _Thread_local struct {
    uint32_t sends;
    uint64_t bytes;
} beside __attribute__((tls_model("initial-exec")));

/* Every so often, if nobody else does it just now. */
static void beside_poll(void)
{
    if (!MPID_Thread_try_enter())
        return;
    MPID_core.sends += beside.sends;
    MPID_core.sent_bytes += beside.bytes;
    beside.sends = 0;
    beside.bytes = 0;
    send_poll_now();
    MPID_Thread_leave();
}

bool MPID_Send_beside(const void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int dest, int tag)
{
    int32_t to;
    struct dev_head h;
    struct peer *p;
    if (KU_BIAS_IN_FORCE) /* then the lock costs less, or has to be had */
        return false;
    to = grank_in(comm, dest);
    if (unlikely((uint64_t)len > PKT_SHORT_MAX || (uint32_t)to >= (uint32_t)MPID_core.peers.n))
        return false;
    p = __atomic_load_n(&MPID_core.peers.at[to], __ATOMIC_ACQUIRE);
    if (unlikely(p == NULL || !__atomic_load_n(&p->fast, __ATOMIC_ACQUIRE)))
        return false;
    h = pkt_short_prepare(comm->context_id + MPID_CONTEXT_PT2PT, tag, comm->rank, (size_t)len);
    if (unlikely(p->send_short(p->dp, &h, buf) != DEV_OK))
        return false;
    beside.bytes += (uint64_t)len;
    if (unlikely(++beside.sends % POLL_EVERY == 0))
        beside_poll();
    return true;
}

bool MPID_Isend_beside(const void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int dest, int tag,
                       MPID_Request r)
{
    if (!MPID_Send_beside(buf, len, comm, dest, tag))
        return false;
    r->handle_type = MPIR_SEND;
    r->s = (MPIR_Status){ .MPI_SOURCE = comm->rank, .MPI_TAG = tag };
    r->errval = 0;
    r->state = REQ_DONE;
    r->comm =
        comm->obj.flags & KEEL_OBJ_PREDEFINED ? comm : NULL; /* which a reference could not be taken of */
    atomic_store_explicit(&r->is_complete, 1, memory_order_relaxed);
    return true;
}

static __attribute__((noinline)) int send_again_long(MPID_Request r)
{
    if (!send_called(r->buf, r->len, r->rank, r->tag, r->context_id, r->peer))
        return MPID_Isend(&r->op, MPID_STANDARD, r);
    atomic_store_explicit(&r->is_complete, req_stamp(), memory_order_relaxed);
    send_poll();
    return 0;
}

/* A request at rest is complete, and has the empty status. */
int MPID_Send_again(MPID_Request r)
{
    struct peer *p = send_now(r->buf, r->len, r->rank, r->tag, r->context_id, r->peer);
    if (unlikely(p == NULL))
        return send_again_long(r);
    atomic_store_explicit(&r->is_complete, req_stamp(), memory_order_relaxed);
    return sent(p);
}

static __attribute__((noinline)) int isend_bytes_long(const void *buf, int64_t len,
                                                      struct MPIR_COMMUNICATOR *comm, int dest, int tag,
                                                      MPID_Request request)
{
    struct MPID_Operation op = bytes_to(buf, len, comm, dest, tag);
    return MPID_Isend(&op, MPID_STANDARD, request);
}

int MPID_Isend_bytes(const void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int dest, int tag,
                     MPID_Request request)
{
    struct peer *p =
        send_now(buf, len, comm->rank, tag, comm->context_id + MPID_CONTEXT_PT2PT, grank_in(comm, dest));
    if (unlikely(p == NULL))
        return isend_bytes_long(buf, len, comm, dest, tag, request);
    request->comm = comm;
    sent_request(request, comm->rank, tag);
    return sent(p);
}

/* ---- The routines ---- */

int MPID_Send(const struct MPID_Operation *op, enum MPID_MODE mode)
{
    int64_t len;
    struct peer *p;
    if (mode == MPID_AT_ONCE)
        return send_at_once(op);
    if (mode == MPID_SYNCHRONOUS || !op_as_bytes(op, &len))
        return send_blocking(op, mode == MPID_SYNCHRONOUS ? REQ_SYNC : 0);
    p = send_now(op->buf, len, op->rank, op->tag, op->context_id, op->peer);
    if (likely(p != NULL))
        return sent(p);
    if (!send_called(op->buf, len, op->rank, op->tag, op->context_id, op->peer))
        return send_blocking(op, 0);
    send_poll();
    return 0;
}

/* `op` may be that of the request. */
int MPID_Isend(const struct MPID_Operation *op, enum MPID_MODE mode, MPID_Request request)
{
    int64_t len;
    if (mode == MPID_STANDARD && op_as_bytes(op, &len) &&
        send_called(op->buf, len, op->rank, op->tag, op->context_id, op->peer)) {
        request->comm = op->comm;
        sent_request(request, op->rank, op->tag);
        send_poll();
        return 0;
    }
    send_init(request, op, mode == MPID_SYNCHRONOUS ? REQ_SYNC : 0);
    return send_start(request);
}
