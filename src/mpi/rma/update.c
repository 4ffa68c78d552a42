/* SPDX-License-Identifier: BSD-3-Clause */
/* update.c: accumulates, element by element, each as one step.
 *
 * One mechanism for an element of a window, which follows from its type and address alone, so that all who update
 * it agree, whether they load and store or are served: elements of 1, 2, 4 or 8 bytes that lie aligned are updated
 * by the processor, others under a lock that their address chooses (struct rma_slot).  A process that has its
 * target alone needs neither.
 *
 * Many elements at once are updated by a kernel, behind the gate of the part:
 *   1. Who updates a few says so in its own `busy` first, and then looks at the part's gate, with no fence in
 *      between; it goes on if the gate is open, else it takes that back and waits.
 *   2. Who updates many closes the gate, which is a lock, has all processes of the node make visible what they
 *      have stored (MPID_Show_stores), and waits until none is busy.  So whoever had found the gate open has ended.
 *   3. Nobody is busy while it waits for a gate, or has closed one.
 * A device that updates elements by itself knows nothing of gates: where there may be one (rma.elementwise), none
 * is ever closed. */
#include "config.h"
#include <string.h>
#include "basic.h"
#include "rma.h"

enum { WIDTH = RMA_WIDTH_MAX };

int MPIR_Rma_Update_of(struct rma_update *u, const MPIR_Op *op, uint32_t basic)
{
    if (op->user)
        return MPIR_Err(MPI_ERR_OP, "op", "is an operation of the program; expected a predefined one");
    if (!basic)
        return MPIR_Err(MPI_ERR_TYPE, "target_datatype",
                        "is made of different basic types; expected one basic type all through");
    *u = (struct rma_update){ .op = op,
                              .basic = MPIR_Datatype_predefined((int32_t)basic),
                              .code = op->obj.self };
    if (u->code == KEEL_MPI_REPLACE || u->code == KEEL_MPI_NO_OP)
        return 0;
    return MPIR_Op_check(op, u->basic);
}

static bool by_processor(const void *at, int64_t size)
{
    return (size == 1 || size == 2 || size == 4 || size == 8) && (uintptr_t)at % (uintptr_t)size == 0;
}

static _Atomic uint32_t *stripe_of(struct rma *r, struct rma_slot *s, const char *at)
{
    uint64_t offset = r->win->flavor == MPI_WIN_FLAVOR_CREATE || r->win->flavor == MPI_WIN_FLAVOR_DYNAMIC
                          ? (uint64_t)(uintptr_t)at
                          : (uint64_t)(at - r->mapped); /* the same in all processes */
    return &s->stripe[offset / 64 % RMA_STRIPES];
}

/* The new value of an element, from its old one in `with`. */
static void combine(const struct rma_update *u, const void *in, void *with, int64_t width)
{
    if (u->code == KEEL_MPI_REPLACE)
        memcpy(with, in, (size_t)width);
    else
        MPIR_Op_apply(u->op, in, with, 1, u->basic);
}

/* ---- By the processor ---------------------------------------------------------------------------------------- */

#define BY_PROCESSOR(T) \
    static void update_##T(const struct rma_update *u, T *at, const void *in, void *old) \
    { \
        T was = __atomic_load_n(at, __ATOMIC_RELAXED), next; \
        if (u->code != KEEL_MPI_NO_OP) \
            do { \
                next = was; \
                combine(u, in, &next, sizeof next); \
            } while ( \
                !__atomic_compare_exchange_n(at, &was, next, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)); \
        if (old) \
            memcpy(old, &was, sizeof was); \
    }
BY_PROCESSOR(uint8_t)
BY_PROCESSOR(uint16_t)
BY_PROCESSOR(uint32_t)
BY_PROCESSOR(uint64_t)

/* The commonest ones are an instruction each, or few; false: it is none of them. */
static bool update_at_once(const struct rma_update *u, void *at, int64_t size, const void *in, void *old)
{
    enum MPIR_NEAR_WAY way = MPIR_Near_can_update(at, size)
                                 ? MPIR_Near_way(u->op, MPID_Op_class_of(u->basic->adi.basic))
                                 : MPIR_NEAR_NONE;
    if (way == MPIR_NEAR_NONE)
        return false;
    MPIR_Near_update(way, at, size, in, old);
    return true;
}

static void update_one(const struct rma_update *u, void *at, int64_t size, const void *in, void *old)
{
    if (update_at_once(u, at, size, in, old))
        return;
    switch (size) {
    case 1:
        update_uint8_t(u, at, in, old);
        break;
    case 2:
        update_uint16_t(u, at, in, old);
        break;
    case 4:
        update_uint32_t(u, at, in, old);
        break;
    default:
        update_uint64_t(u, at, in, old);
    }
}

/* ---- Under a lock -------------------------------------------------------------------------------------------- */

/* `in` and `old` are as they lie in memory, extent bytes. */
static void update_locked(struct rma *r, struct rma_slot *s, const struct rma_update *u, char *at,
                          const void *in, void *old)
{
    _Atomic uint32_t *stripe = stripe_of(r, s, at);
    _Alignas(16) char with[WIDTH]; /* the element may lie anywhere */
    int64_t width = u->basic->adi.extent;
    MPIR_Rma_Stripe_lock(r, stripe);
    memcpy(with, at, (size_t)width);
    if (old)
        memcpy(old, with, (size_t)width);
    if (u->code != KEEL_MPI_NO_OP) {
        combine(u, in, with, width);
        memcpy(at, with, (size_t)width);
        r->win->stored = true;
    }
    MPIR_Rma_Stripe_unlock(stripe);
}

/* ---- Elements ------------------------------------------------------------------------------------------------ */

/* ---- The gate ------------------------------------------------------------------------------------------------- */

enum { MANY = 1 << 14, AT_ONCE = 1 << 20 }; /* bytes */

static void begin_few(struct rma *r, struct rma_slot *s)
{
    _Atomic uint32_t *busy = &r->own->slot->busy;
    while (!MPIR_Near_enter(busy, &s->gate))
        MPIR_Rma_Stripe_wait(r, &s->gate);
}

static void end_few(struct rma *r)
{
    MPIR_Near_leave(&r->own->slot->busy);
}

/* False: it cannot be closed. */
static bool close_gate(struct rma *r, struct rma_slot *s)
{
    MPIR_Rma_Stripe_lock(r, &s->gate);
    if (!MPID_Show_stores()) {
        MPIR_Rma_Stripe_unlock(&s->gate);
        return false;
    }
    for (int32_t i = 0; i < r->members; i++)
        if (&r->on_node[i] != r->own)
            MPIR_Rma_Stripe_wait(r, &r->on_node[i].slot->busy);
    return true;
}

/* ---- Elements ------------------------------------------------------------------------------------------------- */

struct walk {
    struct rma *r;
    struct rma_slot *s;
    const struct rma_update *u;
    char *target;
    const char *in; /* packed */
    char *old;
    int64_t size, extent, at; /* of a basic element: packed, in memory; packed bytes so far */
};

/* One element with gaps in it (MPI_SHORT_INT): from packed to memory and back. */
static void update_gapped(struct walk *w, char *at, const char *in, char *old)
{
    _Alignas(16) char value[WIDTH] = { 0 }, was[WIDTH] = { 0 };
    if (in)
        MPID_Layout_unpack(&w->u->basic->adi, value, 1, 0, in, w->size);
    update_locked(w->r, w->s, w->u, at, value, old ? was : NULL);
    if (old)
        MPID_Layout_pack(&w->u->basic->adi, was, 1, 0, old, w->size);
}

/* n elements in a row that this process alone can access, or whose kernel is all there is to them. */
static bool update_alone(struct walk *w, char *at, int64_t n, const char *in, char *old)
{
    const struct rma_update *u = w->u;
    bool aligned = (((uintptr_t)at | (uintptr_t)in) & (u->basic->adi.align - 1u)) == 0;
    if (!u->alone || !aligned)
        return false;
    if (old)
        memcpy(old, at, (size_t)(n * w->size));
    if (u->code == KEEL_MPI_REPLACE)
        memcpy(at, in, (size_t)(n * w->size));
    else if (u->code != KEEL_MPI_NO_OP)
        MPIR_Op_apply(u->op, in, at, n, u->basic);
    return true;
}

static void update_row(struct walk *w, char *at, int64_t n, const char *in, char *old)
{
    if (update_alone(w, at, n, in, old))
        return;
    for (int64_t i = 0; i < n; i++, at += w->size) {
        _Alignas(16) char value[WIDTH], was[WIDTH];
        if (in)
            memcpy(value, in + i * w->size, (size_t)w->size);
        if (by_processor(at, w->size))
            update_one(w->u, at, w->size, value, old ? was : NULL);
        else
            update_locked(w->r, w->s, w->u, at, value, old ? was : NULL);
        if (old)
            memcpy(old + i * w->size, was, (size_t)w->size);
    }
}

static bool update_run(void *arg, int64_t at, int64_t bytes)
{
    struct walk *w = arg;
    const char *in = w->in ? w->in + w->at : NULL;
    char *old = w->old ? w->old + w->at : NULL;
    if (w->size == w->extent)
        update_row(w, w->target + at, bytes / w->size, in, old);
    else if (w->at % w->size == 0) /* its first run; no run goes beyond an element with a gap */
        update_gapped(w, w->target + at, in, old);
    w->at += bytes;
    return true;
}

/* Packed bytes [w->at, w->at + n). */
static void update_part(struct walk *w, const struct MPIR_DATATYPE *layout, int64_t n)
{
    int64_t at = w->at;
    if (!layout->is_contig || w->size != w->extent) {
        MPID_Layout_runs(layout, at, n, update_run, w);
        return;
    }
    update_row(w, w->target + at, n / w->size, w->in ? w->in + at : NULL, w->old ? w->old + at : NULL);
    w->at += n;
}

static void update_many(struct walk *w, const struct MPIR_DATATYPE *layout, int64_t bytes)
{
    const struct rma_update *shared = w->u;
    struct rma_update alone = *shared;
    int64_t most = AT_ONCE / w->size * w->size;
    alone.alone = true;
    while (w->at < bytes) {
        int64_t n = bytes - w->at < most ? bytes - w->at : most;
        bool closed = close_gate(w->r, w->s);
        w->u = closed ? &alone : shared;
        update_part(w, layout, n);
        if (closed)
            MPIR_Rma_Stripe_unlock(&w->s->gate);
    }
}

void MPIR_Rma_Update(struct rma *r, struct rma_slot *s, const struct rma_update *u, char *target,
                     const struct MPIR_DATATYPE *layout, int64_t count, const void *in, void *old)
{
    struct walk w = {
        r, s, u, target, u->code == KEEL_MPI_NO_OP ? NULL : in, old, u->basic->adi.size, u->basic->adi.extent,
        0
    };
    int64_t bytes = count * layout->size;
    if (bytes == 0)
        return;
    if (!MPIR_UPDATE_IS_FENCE || u->alone || bytes >= MANY) /* not each by the processor, or under a lock */
        r->win->stored = true;
    if (u->alone) {
        update_part(&w, layout, bytes);
    } else if (bytes >= MANY && !r->elementwise) {
        update_many(&w, layout, bytes);
    } else {
        begin_few(r, s);
        update_part(&w, layout, bytes);
        end_few(r);
    }
}

/* ---- Compare and swap ---------------------------------------------------------------------------------------- */

int MPIR_Rma_Swap_check(const MPIR_Datatype *type)
{
    int classes = MPIR_CLASS_C_INTEGER | MPIR_CLASS_F_INTEGER | MPIR_CLASS_LOGICAL | MPIR_CLASS_MULTI |
                  MPIR_CLASS_BYTE | MPIR_CLASS_BOOL | MPIR_CLASS_CHARACTER;
    if (type->nelements == 1 && type->adi.basic &&
        type->adi.size == MPIR_Datatype_predefined((int32_t)type->adi.basic)->adi.size &&
        (MPID_Op_class_of(type->adi.basic) & classes))
        return 0;
    const char *name = MPIR_Datatype_name(type);
    return MPIR_Err(MPI_ERR_TYPE, "datatype",
                    "is %s; expected an integer or logical type, a character or MPI_BYTE",
                    name ? name : "a derived datatype");
}

void MPIR_Rma_Swap(struct rma *r, struct rma_slot *s, char *target, int64_t size, const void *operand,
                   const void *compare, void *old)
{
    begin_few(r, s);
    if (by_processor(target, size)) {
        MPIR_Near_swap(target, size, operand, compare, old);
        if (!MPIR_UPDATE_IS_FENCE)
            r->win->stored = true;
    } else {
        _Atomic uint32_t *stripe = stripe_of(r, s, target);
        MPIR_Rma_Stripe_lock(r, stripe);
        memcpy(old, target, (size_t)size);
        if (memcmp(old, compare, (size_t)size) == 0)
            memcpy(target, operand, (size_t)size);
        MPIR_Rma_Stripe_unlock(stripe);
        r->win->stored = true;
    }
    end_few(r);
}
