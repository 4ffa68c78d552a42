/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c: accesses to memory that is not mapped here by the device's own put, get and update: to a target of
 * this node by its key in the control block, to one of another node by a key that it is asked for.
 *
 * A target elsewhere is asked with the first access that the device could do.  Until its answer is there accesses
 * go by message; so nobody waits for a key.
 *
 *   a device that needs nothing of the target (MPID_MEM_UNAIDED)   all puts and gets of contiguous memory of the
 *                                                                  target; updates, too
 *   one that does                                                  gets, and puts of RMA_AIDED_FROM bytes or more:
 *                                                                  shorter ones share messages, and a flush of the
 *                                                                  device is one more round trip
 *
 * Updates of one origin are done in their order, as messages are: what the device does waits until the one before
 * it is done, and goes by message while such are under way.  A window whose targets are updated so has no gate
 * (update.c): MPIR_Rma_Device_updates. */
#include "config.h"
#include <stdlib.h>
#include "basic.h"
#include "rma.h"

enum { RMA_AIDED_FROM = 32 << 10 /* bytes */ };

/* The key of a target elsewhere, on its way. */
struct rma_asked {
    MPIR_Request request;
    struct rma_key says;
};

/* An access that needs more than the target's count of those under way: its end is noted here. */
struct move {
    struct MPID_COMPLETION ended;
    struct rma_target *target;
    void *room;           /* the packed form of what is not contiguous here */
    struct rma_side into; /* get: where that goes */
    struct rma_user *user;
    bool held;    /* by the call that begins it */
    bool updates; /* it is an update */
};

static int device_no_memory(int64_t bytes)
{
    return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for %lld bytes of an access", (long long)bytes);
}

/* ---- Keys ------------------------------------------------------------------------------------------------------ */

static void open_key(const MPIR_Win *win, struct rma_target *t, const void *key, int64_t len)
{
    int err = 0;
    t->key = RMA_KEY_KNOWN;
    t->remote = len > 0 ? MPID_Mem_open(MPIR_Comm_grank(win->comm, t->rank), key, len, &err) : NULL;
}

/* The answer, if it is there. */
static void take_key(const MPIR_Win *win, struct rma_target *t)
{
    struct rma_asked *a = t->asked_key;
    if (!a || !atomic_load_explicit(&a->request.is_complete, memory_order_acquire))
        return;
    int err = MPID_Wait(&a->request, NULL);
    t->asked_key = NULL;
    open_key(win, t, a->says.bytes, err ? 0 : a->says.len);
    t->sized = !err;
    if (!err) {
        t->size = a->says.size;
        t->unit = a->says.unit;
        t->base_low = a->says.base_low;
    }
    free(a);
}

static int ask_key(MPIR_Win *win, struct rma_target *t)
{
    struct rma_asked *a = calloc(1, sizeof *a);
    int tag = RMA_next_tag(win->rma);
    if (!a)
        return device_no_memory(sizeof *a);
    int err = MPIR_P2p_irecv(&a->says, sizeof a->says, NULL, t->rank, tag, win->comm, MPID_CONTEXT_RMA,
                             &a->request);
    if (err) {
        free(a);
        return err;
    }
    t->asked_key = a;
    t->key = RMA_KEY_ASKED;
    MPIR_Rma_Remote_ask_key(win, t, tag); /* a failure is the target's loss, which ends the receive, too */
    return 0;
}

/* Several threads may. */
static void await_key(const MPIR_Win *win, struct rma_target *t)
{
    for (take_key(win, t); t->asked_key; take_key(win, t))
        MPID_DeviceCheck(MPID_BLOCKING);
}

int MPIR_Rma_Device_meet(MPIR_Win *win, struct rma_target *t)
{
    int err = t->asked_key ? 0 : ask_key(win, t);
    if (err)
        return err;
    await_key(win, t);
    return t->sized ? 0 : MPIR_Err(MPID_Gone_class(), NULL, "rank %d of the window has ended", t->rank);
}

/* Is the device's way the cheaper one? */
static bool is_worth(int way, int64_t bytes, bool put)
{
    return way && ((way & MPID_MEM_UNAIDED) || !put || bytes >= RMA_AIDED_FROM);
}

/* The memory of a target that the device may access; NULL: it cannot, or not yet. */
static MPID_Remote remote_of(MPIR_Win *win, struct rma_target *t, int64_t bytes, bool put)
{
    if (t->dynamic || win->rma->checks)
        return NULL;
    if (t->key == RMA_KEY_UNKNOWN && t->slot)
        open_key(win, t, t->slot->key, t->slot->key_len);
    else if (t->key == RMA_KEY_UNKNOWN &&
             is_worth(MPID_Mem_way_to(MPIR_Comm_grank(win->comm, t->rank)), bytes, put) && ask_key(win, t))
        t->key = RMA_KEY_KNOWN; /* that there is none */
    take_key(win, t);
    return t->remote && is_worth(MPID_Mem_way(t->remote), bytes, put) ? t->remote : NULL;
}

bool MPIR_Rma_Device(MPIR_Win *win, struct rma_target *t, const struct rma_side *there, bool put)
{
    int64_t bytes;
    return there->type->adi.is_contig &&
           !__builtin_mul_overflow(there->count, there->type->adi.size, &bytes) &&
           remote_of(win, t, bytes, put);
}

int64_t MPIR_Rma_Device_key(const struct rma *r, struct rma_key *says)
{
    says->size = r->own->size;
    says->unit = r->own->unit;
    says->base_low = (uintptr_t)r->own->base % sizeof(int64_t);
    says->len = r->exposed ? MPID_Mem_key(r->exposed, says->bytes, sizeof says->bytes) : 0;
    return (int64_t)offsetof(struct rma_key, bytes) + says->len;
}

/* ---- What is under way ------------------------------------------------------------------------------------------ */

static void count_down(struct rma_target *t, int error, int rank)
{
    if (error && !t->moves.error) {
        t->moves.error = error;
        t->moves.rank = rank;
    }
    t->moves.pending--;
}

static void move_free(struct move *m)
{
    if (m->into.type)
        MPIR_Datatype_release(m->into.type);
    free(m->room);
    free(m);
}

static void device_ended(struct MPID_COMPLETION *c)
{
    struct move *m = c->own;
    if (m->into.type && !c->error)
        MPID_Layout_unpack(&m->into.type->adi, m->into.at, m->into.count, 0, m->room,
                           m->into.count * m->into.type->adi.size);
    count_down(m->target, c->error, c->rank);
    MPIR_Rma_User_over(m->user, c->error);
    m->target->updates.pending -= m->updates;
    if (!m->held)
        move_free(m);
}

/* Until what this process has begun at the target needs no buffer here any more. */
int MPIR_Rma_Device_wait(struct rma_target *t)
{
    int err = 0;
    if (t->moves.pending > 0 || t->moves.error)
        MPID_Mem_wait(&t->moves, &err);
    t->moves.error = 0;
    return err;
}

int MPIR_Rma_Device_updated(struct rma_target *t)
{
    int err = 0;
    if (t->updates.pending > 0)
        MPID_Mem_wait(&t->updates, &err); /* an error is in t->moves */
    return err;
}

int MPIR_Rma_Device_flush(struct rma_target *t)
{
    int err = 0;
    if (!t->moved)
        return 0;
    t->moved = false;
    MPID_Mem_flush(t->remote, &t->moves, &err);
    return err;
}

void MPIR_Rma_Device_close(const MPIR_Win *win, struct rma_target *t)
{
    await_key(win, t);
    if (t->remote)
        MPID_Mem_close(t->remote);
    t->remote = NULL;
}

/* ---- Accesses --------------------------------------------------------------------------------------------------- */

static struct move *move_new(struct rma_target *t, const struct rma_side *here, int64_t bytes)
{
    bool packs = here && !here->type->adi.is_contig;
    struct move *m = calloc(1, sizeof *m);
    void *room = m && packs ? malloc((size_t)bytes) : NULL;
    if (!m || (packs && !room)) {
        free(m);
        device_no_memory(bytes);
        return NULL;
    }
    m->ended = (struct MPID_COMPLETION){ .done = device_ended, .own = m };
    m->target = t;
    m->room = room;
    m->held = true;
    t->moves.pending++;
    return m;
}

/* It has begun, unless there was an error. */
static int device_let_go(MPIR_Win *win, struct move *m, int err, MPIR_Request **user)
{
    m->held = false;
    if (err) {
        m->target->moves.pending--;
        m->target->updates.pending -= m->updates;
    } else if (user) {
        err = MPIR_Rma_User_make(win, NULL, m->ended.pending ? &m->user : NULL, m->ended.error, user);
    }
    if (m->ended.pending == 0)
        move_free(m);
    return err;
}

int MPIR_Rma_Device_move(MPIR_Win *win, struct rma_target *t, MPI_Aint disp, const struct rma_side *here,
                         const struct rma_side *there, bool put, MPIR_Request **user)
{
    int64_t bytes = here->count * here->type->adi.size, at = disp * t->unit + there->type->adi.true_lb;
    bool packs = !here->type->adi.is_contig;
    struct move *m = user || packs ? move_new(t, here, bytes) : NULL;
    if ((user || packs) && !m)
        return MPI_ERR_NO_MEM;
    if (packs && put)
        MPID_Layout_pack(&here->type->adi, here->at, here->count, 0, m->room, bytes);
    if (packs && !put) {
        m->into = *here;
        MPIR_Object_ref(here->type);
    }
    char *local = packs ? m->room : (char *)here->at + here->type->adi.true_lb;
    int err = 0;
    MPIR_Rma_Touch(win, t);
    t->moved |= put;
    if (put)
        MPID_Put(t->remote, at, local, bytes, m ? &m->ended : &t->moves, &err);
    else
        MPID_Get(t->remote, at, local, bytes, m ? &m->ended : &t->moves, &err);
    return m ? device_let_go(win, m, err, user) : err;
}

/* ---- Updates ---------------------------------------------------------------------------------------------------- */

int MPIR_Rma_Device_atomic(int32_t code)
{
    switch (code) {
    case KEEL_MPI_SUM:
        return KEEL_ATOMIC_SUM;
    case KEEL_MPI_BAND:
        return KEEL_ATOMIC_AND;
    case KEEL_MPI_BOR:
        return KEEL_ATOMIC_OR;
    case KEEL_MPI_BXOR:
        return KEEL_ATOMIC_XOR;
    case KEEL_MPI_REPLACE:
        return KEEL_ATOMIC_REPLACE;
    case KEEL_MPI_NO_OP:
        return KEEL_ATOMIC_FETCH;
    default:
        return -1;
    }
}

bool MPIR_Rma_Device_updates(MPIR_Win *win, struct rma_target *t, int64_t disp, const struct rma_side *there)
{
    int integers = MPIR_CLASS_C_INTEGER | MPIR_CLASS_F_INTEGER | MPIR_CLASS_MULTI;
    int64_t size = there->type->adi.size;
    int way = MPID_MEM_UNAIDED | MPID_MEM_ATOMIC;
    return win->rma->elementwise && !t->slot && there->count == 1 && (size == 4 || size == 8) &&
           there->type->adi.is_contig && there->type->adi.basic && there->type->adi.true_lb == 0 &&
           MPIR_Datatype_predefined((int32_t)there->type->adi.basic)->adi.size == size &&
           (MPID_Op_class_of(there->type->adi.basic) & integers) && remote_of(win, t, size, true) &&
           (MPID_Mem_way(t->remote) & way) == way && !t->updated &&
           (t->base_low + disp * t->unit) % size == 0;
}

int MPIR_Rma_Device_update(MPIR_Win *win, struct rma_target *t, int64_t disp, enum keel_atomic_op op,
                           int64_t size, const void *in, const void *compare, void *old, MPIR_Request **user)
{
    int err = MPIR_Rma_Device_updated(t);
    struct move *m = err ? NULL : move_new(t, NULL, 0);
    if (!m)
        return err ? err : MPI_ERR_NO_MEM;
    MPIR_Rma_Touch(win, t);
    m->updates = true;
    t->updates.pending++;
    MPID_Atomic(t->remote, disp * t->unit, op, size == 8 ? KEEL_INT64 : KEEL_INT32, in, compare, old,
                &m->ended, &err);
    return device_let_go(win, m, err, user);
}
