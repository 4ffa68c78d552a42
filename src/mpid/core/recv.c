/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiving end: receives, probes, matched probes. */
#include "core.h"

/* A request that stands for a receive: field by field, as it is done for each that is only put into the queue. */
static inline __attribute__((always_inline)) void
recv_fill(struct MPIR_HANDLE *r, struct MPIR_COMMUNICATOR *comm, void *buf, int64_t len,
          struct MPIR_DATATYPE *datatype, int source, int tag, uint32_t context_id, uint32_t flags)
{
    r->handle_type = MPIR_RECV;
    atomic_store_explicit(&r->is_complete, 0, memory_order_relaxed);
    r->s.MPI_ERROR = 0;
    r->s.cancelled = 0;
    r->errval = 0;
    r->state = flags;
    r->buf = buf;
    r->len = len;
    r->datatype = datatype;
    r->comm = comm;
    r->context_id = context_id;
    r->tag = tag;
    r->rank = source;
    r->peer = -1;
}

static void recv_init(struct MPIR_HANDLE *r, const struct MPID_Operation *op, uint32_t flags)
{
    recv_fill(r, OP_FIELD(op, comm), OP_FIELD(op, buf), OP_FIELD(op, len), OP_FIELD(op, datatype),
              OP_FIELD(op, rank), OP_FIELD(op, tag), OP_FIELD(op, context_id), flags);
    if (r->datatype != NULL)
        MPID_Req_typed(r);
}

/* The description of a receive of bytes. */
static inline struct MPID_Operation bytes_from(void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm,
                                               int source, int tag, uint32_t context_id)
{
    return (struct MPID_Operation){
        .buf = buf, .len = len, .comm = comm, .context_id = context_id, .tag = tag, .rank = source, .peer = -1
    };
}

void MPID_Recv_prepare(struct MPIR_HANDLE *r, struct MPIR_COMMUNICATOR *comm, void *buf, int64_t len,
                       int source, int tag, uint32_t context_id)
{
    recv_fill(r, comm, buf, len, NULL, source, tag, context_id, 0);
}

void MPID_Recv_umsg(struct MPIR_HANDLE *r, struct umsg *m)
{
    int64_t capacity = MPID_Req_capacity(r), n = m->len < capacity ? m->len : capacity;
    struct rts_in in;
    tell_matched(r, m->source, m->tag, m->len, m);
    switch (m->kind) {
    case UMSG_SHORT:
    case UMSG_HEAP:
        if (n > 0)
            req_write(r, 0, m->kind == UMSG_HEAP ? m->heap : m->body, n);
        recv_finish(r, m->source, m->tag, m->len, capacity);
        break;
    case UMSG_RTS:
        in = (struct rts_in){ .rts = { .total = (uint64_t)m->len, .sender = m->rts.sender },
                              .payload = m->rts.payload,
                              .key = m->rts.key,
                              .key_bytes = m->rts.key_bytes };
        MPID_Rndv_recv(r, m->grank, m->source, m->tag, &in, false);
        break;
    case UMSG_SELF:
        MPID_Self_copy(m->self, r);
        break;
    default:
        r->s.MPI_SOURCE = m->source;
        r->s.MPI_TAG = m->tag;
        ku_err_set(MPI_ERR_NO_MEM, NULL,
                   "a message of %lld bytes came before its receive, and there was no memory for it",
                   (long long)m->len);
        MPID_Req_fail(r, MPI_ERR_NO_MEM);
    }
    MPID_Umsg_free(m);
}

static bool in_vain(struct context *c, const struct MPIR_HANDLE *r, int *err)
{
    const struct MPID_Refusal *refusal = refused_in(c, r->tag);
    if (refusal == NULL)
        return MPID_Recv_fails(r, err);
    *err = MPID_Err_refused(refusal);
    return true;
}

static int recv_begin(struct MPIR_HANDLE *r)
{
    struct context *c;
    struct umsg *m;
    int err = 0;
    if (unlikely(!MPID_core.up))
        return ku_err_set(MPI_ERR_OTHER, NULL, "MPID_Init has not been called");
    if (unlikely(r->len < 0))
        return ku_err_set(MPI_ERR_COUNT, "count", "is %lld; expected 0 or more", (long long)r->len);
    c = context_of(r->comm, r->context_id);
    if (unlikely(c == NULL))
        return MPI_ERR_NO_MEM;
    if (c->unexp.n != 0 && (m = MPID_Unexp_find(&c->unexp, r->rank, r->tag)) != NULL) {
        MPID_Unexp_remove(&c->unexp, m);
        MPID_Recv_umsg(r, m);
        return 0;
    }
    if (unlikely(MPID_core.peers.nlost != 0 || MPID_core.doubts != 0) && in_vain(c, r, &err))
        return err;
    MPID_Posted_add(&c->posted, r);
    req_state(r, REQ_POSTED);
    return 0;
}

int MPID_Recv_start(struct MPIR_HANDLE *r)
{
    tell_begun(r);
    int err = recv_begin(r);
    if (unlikely(err != 0)) {
        r->moved = 0;
        r->s = (MPIR_Status){ .MPI_SOURCE = r->rank, .MPI_TAG = r->tag };
        MPID_Req_fail(r, err);
    }
    return err;
}

static int recv_blocking(const struct MPID_Operation *op, MPIR_Status *status)
{
    struct MPIR_HANDLE r;
    recv_init(&r, op, REQ_BLOCKING);
    MPID_Recv_start(&r); /* an error stays in the request */
    if (!atomic_load_explicit(&r.is_complete, memory_order_relaxed))
        MPID_Wait_request(&r);
    if (unlikely(r.errval != 0))
        return MPID_Wait(&r, status);
    if (status != NULL)
        *status = r.s;
    return 0;
}

/* ---- A message that is there already, or comes next: no queue, and no request for a blocking call ---- */

/* Every so often, what else a look at the devices is for. */
static __attribute__((noinline, cold)) void take_poll(void)
{
    if (MPID_core.busy != NULL || MPID_core.gone_pending || MPID_Progress_also != NULL || MPID_core.npoll > 1)
        MPID_Progress();
    if (report_wanted())
        MPID_Report(NULL, true);
}

/* For the last words of heads: what a receive asks for. */
static inline uint64_t take_mask(int source, int tag)
{
    struct {
        uint32_t tag, source;
    } bits = { tag == MPI_ANY_TAG ? 0 : UINT32_MAX, source == MPI_ANY_SOURCE ? 0 : UINT32_MAX };
    uint64_t mask;
    memcpy(&mask, &bits, sizeof mask);
    return mask;
}

/* The message, if it is the next packet and lies where that was to be expected; dev_taken.len tells what else
 * there is.  In a context without posted receives and unexpected messages, where it can have no other receive, and
 * the receive no other message. */
static inline __attribute__((always_inline)) struct dev_taken take_here(uint32_t context_id, void *buf,
                                                                        int64_t len, int source, int tag)
{
    static const struct dev_head key = { .kind = UINT8_MAX, .context = UINT32_MAX };
    struct dev_next *next = MPID_core.next;
    const struct ku_line *line = next->line;
    struct dev_head want = pkt_short_prepare(context_id, tag, source, 0);
    struct ku_line_words w, m = { .second = take_mask(source, tag) };
    struct dev_taken t = { 0 }; /* or a build with sanitizers takes it for unset */
    memcpy(&w, &want, sizeof w);
    memcpy(&m.first, &key, 8);
    t.len = ku_line_look(line, next->lap, w, m, len < PKT_SHORT_MAX ? (uint64_t)len : PKT_SHORT_MAX);
    if (t.len >= 0) {
        memcpy(&t.tag, &line->second, 8);
        ku_line_copy(buf, line->body, (size_t)t.len);
        next->line = line + 1;
        if (unlikely(--next->left == 0))
            MPID_core.took(MPID_core.take_from);
    }
    return t;
}

static inline bool has_come(void)
{
    return ku_line_is_full(MPID_core.next->line, MPID_core.next->lap);
}

/* The same, wherever it lies. */
static struct dev_taken take(uint32_t context_id, void *buf, int64_t len, int source, int tag)
{
    struct dev_head want = pkt_short_prepare(context_id, tag, source, 0);
    return MPID_core.take(MPID_core.take_from, want, take_mask(source, tag), buf,
                          len < PKT_SHORT_MAX ? (size_t)len : PKT_SHORT_MAX);
}

/* Is there nothing else to be done while one waits? */
static inline bool may_spin(void)
{
    return likely(ku_wait_policy.spin_ns != 0 && ku_wait_alone() && MPID_core.npoll == 1 &&
                  MPID_core.busy == NULL && MPID_core.pulls == NULL && MPID_Progress_also == NULL);
}

/* When nothing has come: look again for as long as a message takes to come from another core, if nothing else is
 * to be done; and take a longer one out of where it lies, too.  `urgent` times the device has its turn at once, as
 * there may be something that it does meanwhile; then the line is looked at, not so often that its writer is
 * disturbed: of many in a row more come then. Not true: whatever there is now is for the long way. */
enum { URGENT = 16 };
static __attribute__((noinline)) struct dev_taken take_soon(uint32_t context_id, void *buf, int64_t len,
                                                            int source, int tag, int urgent)
{
    enum { LOOKS = 80, LOOKS_HERE = 4 };
    const struct dev_next *next = MPID_core.next;
    struct dev_taken t;
    struct dev_head want;
    for (int i = 0;; i++) {
        t = has_come() ? take_here(context_id, buf, len, source, tag)
                       : take(context_id, buf, len, source, tag);
        if (t.len != DEV_TAKE_NONE || i == LOOKS || (i == 0 && !may_spin()))
            break;
        for (int k = 0; i >= urgent && k < LOOKS_HERE && !ku_line_is_full(next->line, next->lap); k++)
            ku_wait_pause();
    }
    if (t.len != DEV_TAKE_OTHER || len <= PKT_SHORT_MAX)
        return t;
    want = pkt_eager_prepare(context_id, tag, source);
    return MPID_core.take_long(MPID_core.take_from, want, take_mask(source, tag), buf, (size_t)len);
}

static inline void taken(const struct dev_taken *t)
{
    MPID_core.received_bytes += (uint64_t)t->len;
    if (unlikely(++MPID_core.received % POLL_EVERY == 0))
        take_poll();
}

/* The first receive that waits, if it stands in a list and its bytes lie together: it may take its message itself. */
static inline struct MPIR_HANDLE *first_posted(const struct context *c)
{
    struct MPIR_HANDLE *r = c->posted.head;
    return r != NULL && r->datatype == NULL ? r : NULL;
}

static inline void give_posted(struct context *c, struct MPIR_HANDLE *r, const struct dev_taken *t)
{
    MPID_Posted_pop(&c->posted);
    recv_finish(r, (int32_t)t->source, (int32_t)t->tag, t->len, r->len);
    taken(t);
}

/* Receives wait already, and something has come: what is for them goes first. */
static __attribute__((noinline)) void catch_up(struct context *c)
{
    enum { AT_ONCE = 8 };
    for (int i = 0; i < AT_ONCE && c->posted.n != 0; i++) {
        struct MPIR_HANDLE *r = first_posted(c);
        struct dev_taken t = { .len = DEV_TAKE_OTHER };
        if (r != NULL)
            t = take_here(c->id, r->buf, r->len, r->rank, r->tag);
        if (t.len >= 0)
            give_posted(c, r, &t);
        else if (t.len == DEV_TAKE_NONE || MPID_Progress() <= 0)
            break;
    }
}

static inline bool may_take(const struct context *c, int64_t len)
{
    return likely(MPID_core.take_from != NULL && c != NULL && len >= 0) && (c->unexp.n | c->posted.n) == 0;
}

/* A blocking receive, unless it takes the long way. */
static inline __attribute__((always_inline)) bool recv_now(const struct context *c, void *buf, int64_t len,
                                                           int source, int tag, MPIR_Status *status)
{
    struct dev_taken t;
    if (!may_take(c, len))
        return false;
    t = take_here(c->id, buf, len, source, tag);
    if (t.len < 0)
        t = take_soon(c->id, buf, len, source, tag, URGENT);
    if (unlikely(t.len < 0))
        return false;
    if (status != NULL)
        *status = (MPIR_Status){ .MPI_SOURCE = (int32_t)t.source, .MPI_TAG = (int32_t)t.tag, .count = t.len };
    taken(&t);
    return true;
}

/* A nonblocking one, when something has come. */
static inline __attribute__((always_inline)) bool irecv_now(struct context *c, void *buf, int64_t len,
                                                            int source, int tag, struct MPIR_HANDLE *r)
{
    struct dev_taken t;
    if (unlikely(c->posted.n != 0))
        catch_up(c);
    if (!may_take(c, len))
        return false;
    t = take_here(c->id, buf, len, source, tag);
    if (t.len < 0)
        return false;
    r->handle_type = MPIR_RECV;
    r->s = (MPIR_Status){ .MPI_SOURCE = (int32_t)t.source, .MPI_TAG = (int32_t)t.tag, .count = t.len };
    r->errval = 0;
    r->state = REQ_DONE;
    atomic_store_explicit(&r->is_complete, req_stamp(), memory_order_relaxed);
    taken(&t);
    return true;
}

static __attribute__((noinline, cold)) int recv_bytes_long(void *buf, int64_t len,
                                                           struct MPIR_COMMUNICATOR *comm, int source,
                                                           int tag, MPIR_Status *status)
{
    struct MPID_Operation op = bytes_from(buf, len, comm, source, tag, comm->context_id + MPID_CONTEXT_PT2PT);
    return recv_blocking(&op, status);
}

int MPID_Recv_bytes(void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int source, int tag,
                    MPIR_Status *status)
{
    if (likely(recv_now(context_known(comm, comm->context_id + MPID_CONTEXT_PT2PT), buf, len, source, tag,
                        status)))
        return 0;
    return recv_bytes_long(buf, len, comm, source, tag, status);
}

/* Is there something to be taken before a receive is put into the queue?  Behind others it is not looked at each
 * call: messages in a row come at less cost each. */
static inline bool must_look(const struct context *c)
{
    enum { CALLS = 16 };
    return c->posted.n % CALLS == 0 && has_come();
}

/* May a receive just be put into the queue? */
static inline bool may_post(const struct context *c, int64_t len)
{
    return likely(c->unexp.n == 0 && len >= 0 && MPID_core.up && MPID_core.peers.nlost == 0 &&
                  MPID_core.doubts == 0);
}

/* If nothing is to be looked at for it: into the queue. */
static inline __attribute__((always_inline)) bool post_now(struct context *c, void *buf, int64_t len,
                                                           struct MPIR_COMMUNICATOR *comm, int source,
                                                           int tag, uint32_t id, MPID_Request request)
{
    if (c == NULL || unlikely(!may_post(c, len)))
        return false;
    recv_fill(request, comm, buf, len, NULL, source, tag, id, REQ_POSTED);
    MPID_Posted_add(&c->posted, request);
    return true;
}

static __attribute__((noinline)) int irecv_bytes_come(void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm,
                                                      int source, int tag, MPID_Request request)
{
    uint32_t id = comm->context_id + MPID_CONTEXT_PT2PT;
    struct context *c = context_known(comm, id);
    struct MPID_Operation op = bytes_from(buf, len, comm, source, tag, id);
    if (likely(c != NULL) && irecv_now(c, buf, len, source, tag, request))
        return 0;
    recv_init(request, &op, 0);
    return MPID_Recv_start(request);
}

int MPID_Irecv_bytes(void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int source, int tag,
                     MPID_Request request)
{
    uint32_t id = comm->context_id + MPID_CONTEXT_PT2PT;
    struct context *c = context_known(comm, id);
    if (c == NULL || must_look(c) || !post_now(c, buf, len, comm, source, tag, id, request))
        return irecv_bytes_come(buf, len, comm, source, tag, request);
    return 0;
}

/* A request at rest has its arguments still, and the empty status. */
static __attribute__((noinline)) int recv_again_come(MPID_Request r)
{
    struct context *c = context_known(r->comm, r->context_id);
    if (likely(c != NULL) && irecv_now(c, r->buf, r->len, r->rank, r->tag, r))
        return 0;
    return MPID_Irecv(&r->op, r);
}

int MPID_Recv_again(MPID_Request r)
{
    struct context *c = context_known(r->comm, r->context_id);
    if (c == NULL || must_look(c) || unlikely(!may_post(c, r->len)))
        return recv_again_come(r);
    atomic_store_explicit(&r->is_complete, 0, memory_order_relaxed);
    r->peer = -1;
    MPID_Posted_add(&c->posted, r);
    r->state = REQ_POSTED;
    return 0;
}

bool MPID_Recv_soon(MPID_Request request, int more)
{
    enum { MANY = 8 };
    struct context *c = context_known(request->comm, request->context_id);
    struct MPIR_HANDLE *r;
    if ((request->state & REQ_STATE) != REQ_POSTED || MPID_core.take_from == NULL || c == NULL)
        return false;
    while ((r = first_posted(c)) != NULL) {
        struct dev_taken t = take_here(c->id, r->buf, r->len, r->rank, r->tag);
        if (t.len < 0) {
            if (req_is_complete(request))
                break;
            t = take_soon(c->id, r->buf, r->len, r->rank, r->tag, more < MANY ? URGENT : 0);
            if (t.len < 0)
                break;
        }
        give_posted(c, r, &t);
        if (req_is_complete(request) && more-- <= 0)
            return true;
    }
    return req_is_complete(request);
}

int MPID_Recv(const struct MPID_Operation *op, MPIR_Status *status)
{
    int64_t len;
    if (op_as_bytes(op, &len) &&
        recv_now(context_known(op->comm, op->context_id), op->buf, len, op->rank, op->tag, status))
        return 0;
    return recv_blocking(op, status);
}

/* `op` may be that of the request. */
int MPID_Irecv(const struct MPID_Operation *op, MPID_Request request)
{
    int64_t len;
    if (op_as_bytes(op, &len) && post_now(context_known(op->comm, op->context_id), op->buf, len, op->comm,
                                          op->rank, op->tag, op->context_id, request))
        return 0;
    recv_init(request, op, 0);
    return MPID_Recv_start(request);
}

/* ---- Probes ---- */

/* The message a receive would get now, after one look at the devices if there is none; *err if there never can be. */
static struct umsg *look(struct MPIR_COMMUNICATOR *comm, int tag, uint32_t context_id, int src_lrank,
                         struct context **in, int *err)
{
    struct umsg *m = NULL;
    struct context *c;
    if (!MPID_core.up) {
        *err = ku_err_set(MPI_ERR_OTHER, NULL, "MPID_Init has not been called");
        return NULL;
    }
    c = *in = context_of(comm, context_id);
    if (c == NULL) {
        *err = MPI_ERR_NO_MEM;
        return NULL;
    }
    m = MPID_Unexp_find(&c->unexp, src_lrank, tag);
    if (m == NULL) {
        MPID_DeviceCheck(MPID_NOTBLOCKING);
        m = MPID_Unexp_find(&c->unexp, src_lrank, tag);
    }
    const struct MPID_Refusal *refusal = m == NULL ? refused_in(c, tag) : NULL;
    if (refusal != NULL)
        *err = MPID_Err_refused(refusal);
    else if (m == NULL && (MPID_core.peers.nlost != 0 || MPID_core.doubts != 0))
        MPID_Recv_hopeless(comm, src_lrank, err);
    return m;
}

static void tell(const struct umsg *m, MPIR_Status *status)
{
    if (status != NULL)
        *status = (MPIR_Status){ .MPI_SOURCE = m->source, .MPI_TAG = m->tag, .count = m->len };
}

void MPID_Iprobe(struct MPIR_COMMUNICATOR *comm, int tag, uint32_t context_id, int src_lrank, int *flag,
                 int *error_code, MPIR_Status *status)
{
    struct context *c;
    int err = 0;
    struct umsg *m = look(comm, tag, context_id, src_lrank, &c, &err);
    *flag = m != NULL;
    if (m != NULL)
        tell(m, status);
    else if (err != 0)
        *error_code = err;
}

/* Nothing yet, for a probe that waits. */
static void wait_for_message(struct MPIR_COMMUNICATOR *comm, int tag, uint32_t context_id, int src_lrank)
{
    MPID_Probing = (struct core_probe){ comm, context_id, src_lrank, tag, true };
    MPID_DeviceCheck(MPID_BLOCKING);
    MPID_Probing.on = false;
}

void MPID_Probe(struct MPIR_COMMUNICATOR *comm, int tag, uint32_t context_id, int src_lrank, int *error_code,
                MPIR_Status *status)
{
    int flag = 0, err = 0;
    for (;;) {
        MPID_Iprobe(comm, tag, context_id, src_lrank, &flag, &err, status);
        if (flag || err != 0)
            break;
        wait_for_message(comm, tag, context_id, src_lrank);
    }
    if (err != 0)
        *error_code = err;
}

void MPID_Improbe(struct MPIR_COMMUNICATOR *comm, int tag, uint32_t context_id, int src_lrank, int *flag,
                  MPID_Request message, int *error_code, MPIR_Status *status)
{
    struct context *c;
    int err = 0;
    struct umsg *m = look(comm, tag, context_id, src_lrank, &c, &err);
    *flag = m != NULL;
    if (m == NULL) {
        if (err != 0)
            *error_code = err;
        return;
    }
    MPID_Unexp_remove(&c->unexp, m);
    struct MPID_Operation op = bytes_from(NULL, 0, comm, src_lrank, tag, context_id);
    recv_init(message, &op, REQ_MATCHED);
    message->handle_type = MPIR_MESSAGE;
    message->aux = m;
    tell(m, &message->s);
    if (status != NULL)
        *status = message->s;
}

void MPID_Mprobe(struct MPIR_COMMUNICATOR *comm, int tag, uint32_t context_id, int src_lrank,
                 MPID_Request message, int *error_code, MPIR_Status *status)
{
    int flag = 0, err = 0;
    for (;;) {
        MPID_Improbe(comm, tag, context_id, src_lrank, &flag, message, &err, status);
        if (flag || err != 0)
            break;
        wait_for_message(comm, tag, context_id, src_lrank);
    }
    if (err != 0)
        *error_code = err;
}

int MPID_Imrecv(void *buf, int64_t len, struct MPIR_DATATYPE *datatype, MPID_Request message)
{
    struct umsg *m = message->aux;
    struct MPID_Operation op = message->op;
    if ((message->state & REQ_STATE) != REQ_MATCHED)
        return ku_err_set(MPI_ERR_REQUEST, "message", "is not a matched message");
    op.buf = buf;
    op.len = len;
    op.datatype = datatype;
    recv_init(message, &op, 0);
    tell_begun(message);
    MPID_Recv_umsg(message, m);
    return 0;
}
