/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_remote.c: the origin's half of operations on memory that is not mapped here.
 *
 * An operation is a message to the target (struct rma_msg) in the window's context.  Up to RMA_INLINE bytes of
 * data travel in it, more in a message of their own, straight from the user's buffer.  What comes back is received
 * straight into the user's buffer; the receive is posted first, with a tag that no other operation under way has.
 * The messages of a process are executed in the order in which it sent them, as far as order matters
 * (rma_serve.c); so the answer to a flush tells that all before it is done.
 *
 * Short messages that nothing comes back for wait for others, at most RMA_BATCH bytes for a target, and go
 * together.  Every epoch ends with a message that is answered, and so does every flush; so none is left.
 *
 * A datatype that has gaps is told to a target once, by number; the origin forgets the oldest of RMA_KNOWN_TYPES. */
#include "config.h"
#include <stdlib.h>
#include <string.h>
#include "rma.h"

enum { RMA_KNOWN_TYPES = 256, REAP_ABOVE = 64 };

struct rma_types {
    struct {
        const MPIR_Datatype *type;
        uint64_t handle; /* with its generation, so that another type in its place is another */
    } known[RMA_KNOWN_TYPES];
    uint32_t n;
};

/* Short messages to a target, until one that is answered, or a flush, or no room. */
struct rma_batch {
    int64_t len;
    _Alignas(16) char bytes[RMA_BATCH];
};

struct rma_ack {
    MPIR_Request request;
    struct rma_ack *next;
    struct rma_target *target;
    struct rma_answer says;
};

static int rma_remote_no_memory(void)
{
    return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for one more operation on a window");
}

/* ---- What is under way ----------------------------------------------------------------------------------------- */

static struct rma_out *out_new(MPIR_Win *win, struct rma_target *t, bool is_recv, void *memory)
{
    struct rma_out *out = calloc(1, sizeof *out);
    if (!out) {
        free(memory);
        rma_remote_no_memory();
        return NULL;
    }
    *out = (struct rma_out){
        .target = t, .rank = t->rank, .is_recv = is_recv, .memory = memory, .next = win->rma->out
    };
    win->rma->out = out;
    win->rma->nout++;
    return out;
}

static void out_free(struct rma_out *out, int err)
{
    MPIR_Rma_User_over(out->user, err);
    free(out->memory);
    free(out);
}

static bool is_over(const struct rma_out *out)
{
    return atomic_load_explicit(&out->request.is_complete, memory_order_acquire) != 0;
}

/* The first error of those of a rank, or of all (-1), that are over; they are forgotten but for those that a
 * thread waits for. */
static int rma_remote_collect(MPIR_Win *win, int32_t rank)
{
    struct rma *r = win->rma;
    int first = 0;
    for (struct rma_out **at = &r->out, *out; (out = *at);) {
        if ((rank >= 0 && out->rank != rank) || !is_over(out)) {
            at = &out->next;
            continue;
        }
        int err = MPID_Wait(&out->request, NULL);
        if (!out->told && !first)
            first = err;
        if (!out->told && !err && out->is_recv && out->request.s.count < out->expects)
            out->target->refused = true;
        out->told = true;
        if (out->users) {
            at = &out->next;
            continue;
        }
        *at = out->next;
        r->nout--;
        out_free(out, err);
    }
    return first;
}

static struct rma_out *under_way(const struct rma *r, int32_t rank)
{
    struct rma_out *out = r->out;
    while (out && ((rank >= 0 && out->rank != rank) || is_over(out)))
        out = out->next;
    return out;
}

int MPIR_Rma_Out_wait(MPIR_Win *win, int32_t rank)
{
    struct rma *r = win->rma;
    for (struct rma_out *out; (out = under_way(r, rank));) {
        out->users++;
        MPID_Wait(&out->request, NULL);
        out->users--;
    }
    int err = rma_remote_collect(win, rank);
    if (!err && r->late) {
        err = MPIR_Err(r->late, NULL, "an earlier operation on the window failed");
        r->late = 0;
    }
    return err;
}

static void reap(MPIR_Win *win)
{
    if (win->rma->nout > REAP_ABOVE) {
        int err = rma_remote_collect(win, -1);
        win->rma->late = win->rma->late ? win->rma->late : err;
    }
}

/* ---- Requests of the user's ------------------------------------------------------------------------------------- */

static void user_poll(MPIR_Request *request)
{
    struct rma_user *u = request->aux;
    if (u->owner && !(u->message && atomic_load_explicit(&u->message->is_complete, memory_order_acquire)))
        return;
    request->errval = u->owner ? u->message->errval : u->err;
    atomic_store_explicit(&request->is_complete, 1, memory_order_release);
}

static void user_free(MPIR_Request *request)
{
    struct rma_user *u = request->aux;
    if (u->owner)
        *u->owner = NULL;
    free(u);
}

static void user_explain(const MPIR_Request *request)
{
    MPIR_Err(request->errval, NULL, "an operation on a window failed");
}

static const char *user_parts(MPIR_Request *request, void (*add)(MPIR_Request *message, void *arg), void *arg)
{
    struct rma_user *u = request->aux;
    if (u->owner && u->message)
        add(u->message, arg);
    return "one-sided";
}

static const struct MPIR_Request_ops user_ops = {
    .poll = user_poll, .free = user_free, .explain = user_explain, .parts = user_parts
};

int MPIR_Rma_User_make(MPIR_Win *win, MPIR_Request *message, struct rma_user **owner, int err,
                       MPIR_Request **request)
{
    struct rma_user *u = calloc(1, sizeof *u);
    MPIR_Request *r = u ? MPIR_Request_alloc(win->comm) : NULL;
    if (!r) {
        free(u);
        return rma_remote_no_memory();
    }
    *u = (struct rma_user){ { &user_ops }, message, owner, err };
    if (owner)
        *owner = u;
    r->handle_type = MPIR_RMA;
    MPIR_Status_empty(&r->s);
    r->aux = u;
    *request = r;
    return 0;
}

void MPIR_Rma_User_over(struct rma_user *user, int err)
{
    if (!user)
        return;
    user->owner = NULL;
    user->err = err;
}

/* out: NULL: nothing is left to wait for. */
static int make_user(MPIR_Win *win, struct rma_out *out, MPIR_Request **request)
{
    if (!request)
        return 0;
    if (out)
        return MPIR_Rma_User_make(win, &out->request, &out->user, 0, request);
    *request = MPIR_Request_alloc_complete(win->comm, MPIR_SEND);
    return *request ? 0 : MPI_ERR_NO_MEM;
}

/* ---- Messages --------------------------------------------------------------------------------------------------- */

void MPIR_Rma_Touch(MPIR_Win *win, struct rma_target *t)
{
    if (t->listed)
        return;
    t->listed = true;
    t->touched = win->rma->touched;
    win->rma->touched = t;
}

/* That tells by itself that it is done: what is refused is answered with less than was wanted.  A conflict is not
 * refused (check.c). */
static bool is_answered(const struct rma *r, const struct rma_msg *m)
{
    return !r->checks && (m->kind == RMA_GET || m->kind == RMA_GET_ACCUMULATE || m->kind == RMA_COMPARE_SWAP);
}

static void touch(MPIR_Win *win, struct rma_target *t, bool answered)
{
    MPIR_Rma_Touch(win, t);
    t->dirty |= !answered;
}

/* Messages with their data, which are `len` bytes: at once where that can be. */
static int send_now(MPIR_Win *win, struct rma_target *t, const void *message, int64_t len)
{
    int err = MPIR_P2p_send_at_once(message, len, NULL, t->rank, RMA_TAG_AM, win->comm, MPID_CONTEXT_RMA);
    if (err != MPIR_ERR_MAY_BLOCK)
        return err;
    reap(win);
    void *copy = malloc((size_t)len);
    struct rma_out *out = copy ? out_new(win, t, false, copy) : NULL;
    if (!out)
        return rma_remote_no_memory();
    memcpy(copy, message, (size_t)len);
    return MPIR_P2p_isend(copy, len, NULL, t->rank, RMA_TAG_AM, win->comm, MPID_CONTEXT_RMA, &out->request);
}

static struct rma_batch *batch_new(struct rma *r)
{
    struct rma_batch *b = r->spare ? r->spare : malloc(sizeof *b);
    r->spare = NULL;
    if (b)
        b->len = 0;
    return b;
}

static int send_batch(MPIR_Win *win, struct rma_target *t)
{
    struct rma_batch *b = t->batch;
    t->batch = NULL;
    int err = b ? send_now(win, t, b->bytes, b->len) : 0;
    if (win->rma->spare)
        free(b);
    else
        win->rma->spare = b;
    return err;
}

/* Nothing comes back for it, so it may wait for others. */
static bool may_wait(const struct rma_msg *m)
{
    return !m->apart && (m->kind == RMA_PUT || m->kind == RMA_ACCUMULATE || m->kind == RMA_TYPE);
}

/* A message with its data, behind those that wait; all go unless it may wait, too. */
static int send_message(MPIR_Win *win, struct rma_target *t, const struct rma_msg *m, const void *message)
{
    int64_t len = RMA_length(m);
    int err = 0;
    touch(win, t, is_answered(win->rma, m));
    if (t->batch && t->batch->len + len > RMA_BATCH)
        err = send_batch(win, t);
    if (!err && !t->batch && may_wait(m))
        t->batch = batch_new(win->rma);
    if (err || !t->batch)
        return err ? err : send_now(win, t, message, len);
    memcpy(t->batch->bytes + t->batch->len, message, (size_t)len);
    t->batch->len += len;
    return may_wait(m) ? 0 : send_batch(win, t);
}

/* Data that lie anywhere: in the message, or behind it.  *out: what uses the buffer after the call. */
static int send_data(MPIR_Win *win, struct rma_target *t, struct rma_msg *m, const struct rma_side *from,
                     struct rma_out **out)
{
    _Alignas(16) char room[sizeof *m + RMA_INLINE];
    m->fences = win->rma->fences;
    m->bytes = from ? from->count * from->type->adi.size : 0;
    m->apart = m->bytes > RMA_INLINE;
    *out = NULL;
    if (m->bytes && !m->apart) {
        MPID_Layout_pack(&from->type->adi, from->at, from->count, 0, room + sizeof *m, m->bytes);
        memset(room + sizeof *m + m->bytes, 0, (size_t)RMA_length(m) - sizeof *m - (size_t)m->bytes);
    }
    memcpy(room, m, sizeof *m);
    int err = send_message(win, t, m, room);
    if (err || !m->apart)
        return err;
    *out = out_new(win, t, false, NULL);
    if (!*out)
        MPID_Abort(NULL, MPI_ERR_NO_MEM, NULL, (char *)"no memory for data that have been announced");
    return MPIR_P2p_isend(from->at, from->count, from->type, t->rank, (int)m->tag | RMA_TAG_DATA, win->comm,
                          MPID_CONTEXT_RMA, &(*out)->request);
}

/* ---- Datatypes of targets ---------------------------------------------------------------------------------------- */

static int tell_type(MPIR_Win *win, struct rma_target *t, const MPIR_Datatype *type, int number)
{
    void *bytes;
    int64_t len;
    struct rma_out *out;
    int err = MPID_Type_encode(&type->adi, &bytes, &len);
    if (err)
        return err;
    struct rma_msg m = { .kind = RMA_TYPE, .type = number, .tag = (uint32_t)RMA_next_tag(win->rma) };
    struct rma_side from = { bytes, len, MPIR_Datatype_predefined(KEEL_MPI_BYTE) };
    err = send_data(win, t, &m, &from, &out);
    if (out)
        out->memory = bytes;
    else
        free(bytes);
    return err;
}

static int rma_remote_number_of(MPIR_Win *win, struct rma_target *t, MPIR_Datatype *type, int32_t *number)
{
    uint64_t handle = MPIR_Object_handle(type);
    if (!t->types && !(t->types = calloc(1, sizeof *t->types)))
        return rma_remote_no_memory();
    uint32_t n = t->types->n < RMA_KNOWN_TYPES ? t->types->n : RMA_KNOWN_TYPES;
    for (uint32_t i = 0; i < n; i++)
        if (t->types->known[i].type == type && t->types->known[i].handle == handle) {
            *number = (int32_t)i;
            return 0;
        }
    uint32_t i = t->types->n % RMA_KNOWN_TYPES;
    int err = tell_type(win, t, type, (int)i);
    if (err)
        return err;
    t->types->n++;
    t->types->known[i].type = type;
    t->types->known[i].handle = handle;
    *number = (int32_t)i;
    return 0;
}

void MPIR_Rma_Remote_free(const MPIR_Win *win, struct rma_target *t)
{
    MPIR_Rma_Device_close(win, t);
    free(t->types);
    free(t->batch);
    t->types = NULL;
    t->batch = NULL;
}

/* What the target needs to know of its own side. */
static int rma_remote_describe(MPIR_Win *win, struct rma_target *t, struct rma_msg *m,
                               const struct rma_side *to)
{
    int64_t bytes = to->count * to->type->adi.size;
    m->basic = to->type->adi.basic;
    m->type = -1;
    m->count = to->count;
    if (!to->type->adi.is_contig)
        return rma_remote_number_of(win, t, to->type, &m->type);
    if (!m->basic)
        m->basic = KEEL_MPI_BYTE;
    m->count = bytes / MPIR_Datatype_predefined((int32_t)m->basic)->adi.size;
    return 0;
}

/* ---- Operations ---------------------------------------------------------------------------------------------- */

int MPIR_Rma_Remote_put(MPIR_Win *win, struct rma_target *t, int64_t disp, const struct rma_side *from,
                        const struct rma_side *to, MPIR_Request **user)
{
    struct rma_msg m = { .kind = RMA_PUT, .tag = (uint32_t)RMA_next_tag(win->rma), .disp = disp };
    struct rma_out *out;
    int err = rma_remote_describe(win, t, &m, to);
    if (!err)
        err = send_data(win, t, &m, from, &out);
    return err ? err : make_user(win, out, user);
}

/* What comes back goes there. */
static struct rma_out *expect(MPIR_Win *win, struct rma_target *t, const struct rma_msg *m,
                              const struct rma_side *into, int *err)
{
    reap(win);
    struct rma_out *out = out_new(win, t, true, NULL);
    if (out)
        out->expects = into->count * into->type->adi.size;
    *err = out ? MPIR_P2p_irecv(into->at, into->count, into->type, t->rank, (int)m->tag, win->comm,
                                MPID_CONTEXT_RMA, &out->request)
               : MPI_ERR_NO_MEM;
    return out;
}

int MPIR_Rma_Remote_get(MPIR_Win *win, struct rma_target *t, int64_t disp, const struct rma_side *into,
                        const struct rma_side *from, MPIR_Request **user)
{
    struct rma_msg m = { .kind = RMA_GET, .tag = (uint32_t)RMA_next_tag(win->rma), .disp = disp };
    struct rma_out *none, *out = NULL;
    int err = rma_remote_describe(win, t, &m, from);
    if (!err && into->count * into->type->adi.size > 0)
        out = expect(win, t, &m, into, &err);
    if (!err && out)
        err = send_data(win, t, &m, NULL, &none);
    return err ? err : make_user(win, out, user);
}

int MPIR_Rma_Remote_update(MPIR_Win *win, struct rma_target *t, int64_t disp, const struct rma_side *from,
                           const struct rma_side *old, const struct rma_side *to, const struct rma_update *u,
                           MPIR_Request **user)
{
    struct rma_msg m = { .kind = old ? RMA_GET_ACCUMULATE : RMA_ACCUMULATE,
                         .op = u->code,
                         .alone = (t->access & (RMA_ALONE | RMA_UNCHECKED)) == RMA_ALONE,
                         .disp = disp };
    struct rma_out *data = NULL, *result = NULL;
    int err = 0;
    if (to->count * to->type->adi.size == 0)
        return make_user(win, NULL, user);
    m.tag = (uint32_t)RMA_next_tag(win->rma);
    err = MPIR_Rma_Device_updated(t);
    if (!err)
        err = rma_remote_describe(win, t, &m, to);
    t->updated = true;
    m.basic = to->type->adi.basic;
    if (!err && old)
        result = expect(win, t, &m, old, &err);
    if (!err)
        err = send_data(win, t, &m, u->code == KEEL_MPI_NO_OP ? NULL : from, &data);
    return err ? err : make_user(win, result ? result : data, user);
}

int MPIR_Rma_Remote_swap(MPIR_Win *win, struct rma_target *t, int64_t disp, const void *operand,
                         const void *compare, void *old, MPIR_Datatype *type)
{
    char both[2 * RMA_WIDTH_MAX];
    struct rma_msg m = { .kind = RMA_COMPARE_SWAP,
                         .tag = (uint32_t)RMA_next_tag(win->rma),
                         .basic = type->adi.basic,
                         .type = -1,
                         .count = 1,
                         .disp = disp };
    struct rma_side into = { old, 1, type };
    struct rma_side from = { both, 2 * type->adi.size, MPIR_Datatype_predefined(KEEL_MPI_BYTE) };
    struct rma_out *none;
    int err = MPIR_Rma_Device_updated(t);
    if (err)
        return err;
    t->updated = true;
    memcpy(both, operand, (size_t)type->adi.size);
    memcpy(both + type->adi.size, compare, (size_t)type->adi.size);
    if (!expect(win, t, &m, &into, &err) || err)
        return err;
    return send_data(win, t, &m, &from, &none);
}

/* ---- Synchronization ----------------------------------------------------------------------------------------- */

static int rma_remote_ask(MPIR_Win *win, struct rma_target *t, struct rma_msg *m, struct rma_ack **acks)
{
    struct rma_ack *ack = calloc(1, sizeof *ack);
    struct rma_out *none;
    if (!ack)
        return rma_remote_no_memory();
    m->tag = (uint32_t)RMA_next_tag(win->rma);
    int err = MPIR_P2p_irecv(&ack->says, sizeof ack->says, NULL, t->rank, (int)m->tag, win->comm,
                             MPID_CONTEXT_RMA, &ack->request);
    ack->target = t;
    ack->next = *acks;
    *acks = ack;
    t->asked++;
    if (!err)
        err = send_data(win, t, m, NULL, &none);
    t->dirty = t->refused = false; /* what another thread sends from here on is not answered by this */
    return err;
}

int MPIR_Rma_Remote_ask(MPIR_Win *win, struct rma_target *t, bool unlock, struct rma_ack **acks)
{
    enum rma_epoch epoch = win->rma->epoch;
    struct rma_msg m = { .kind = RMA_FLUSH_MSG,
                         .unlock = unlock,
                         .alone = (t->access & RMA_ALONE) != 0,
                         .op = epoch == RMA_LOCK || epoch == RMA_LOCK_ALL };
    return rma_remote_ask(win, t, &m, acks);
}

const char *const MPIR_Rma_call[] = { [RMA_PUT] = "MPI_Put",
                                      [RMA_GET] = "MPI_Get",
                                      [RMA_ACCUMULATE] = "MPI_Accumulate",
                                      [RMA_GET_ACCUMULATE] = "MPI_Get_accumulate",
                                      [RMA_COMPARE_SWAP] = "MPI_Compare_and_swap",
                                      [RMA_LOCK_MSG] = "MPI_Win_lock",
                                      [RMA_FLUSH_MSG] = "MPI_Win_flush",
                                      [RMA_TYPE] = "a datatype",
                                      [RMA_KEY_MSG] = "a key" };

/* What the target has refused. */
static int refusal(const struct rma_answer *says, const struct rma_target *t)
{
    if (says->error == MPI_ERR_RMA_CONFLICT)
        return MPIR_Rma_Check_tell(says, MPIR_Rma_call[says->kind], MPIR_Rma_call[says->other_kind], t->rank);
    if (t->dynamic)
        return MPIR_Err(says->error, "target_disp",
                        "%#llx of an earlier %s was refused by rank %d: not all attached there",
                        (unsigned long long)says->disp, MPIR_Rma_call[says->kind], t->rank);
    return MPIR_Err(says->error, "target_disp",
                    "%lld (times %lld bytes) of an earlier %s was refused by rank %d, whose part of the "
                    "window has %lld bytes",
                    (long long)says->disp, (long long)says->unit, MPIR_Rma_call[says->kind], t->rank,
                    (long long)says->size);
}

int MPIR_Rma_Remote_answers(struct rma_ack **acks)
{
    int first = 0;
    for (struct rma_ack *ack = *acks, *next; ack; ack = next) {
        int err = MPID_Wait(&ack->request, NULL);
        next = ack->next;
        if (!err && ack->says.error)
            err = refusal(&ack->says, ack->target);
        first = first ? first : err;
        ack->target->asked--;
        free(ack);
    }
    *acks = NULL;
    return first;
}

void MPIR_Rma_Remote_ask_key(MPIR_Win *win, struct rma_target *t, int tag)
{
    struct rma_msg m = { .kind = RMA_KEY_MSG, .tag = (uint32_t)tag };
    struct rma_out *none;
    send_data(win, t, &m, NULL, &none);
}

int MPIR_Rma_Remote_lock(MPIR_Win *win, struct rma_target *t, uint32_t access)
{
    struct rma_msg m = { .kind = RMA_LOCK_MSG, .alone = (access & RMA_ALONE) != 0 };
    int err = 0;
    MPIR_Rma_Touch(win, t);
    if (!(access & RMA_UNCHECKED)) {
        struct rma_ack *acks = NULL;
        err = rma_remote_ask(win, t, &m, &acks);
        int failed = MPIR_Rma_Remote_answers(&acks);
        err = err ? err : failed;
    }
    if (!err)
        t->access = access;
    return err;
}
