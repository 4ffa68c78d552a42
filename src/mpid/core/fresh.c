/* SPDX-License-Identifier: BSD-3-Clause */
/* fresh.c: receives that a thread begins beside who has the device lock.
 *
 * Such a receive waits in its context's list of fresh ones, under the lock of that context.  Whoever takes the
 * device lock next takes them out first, and begins them as any other.  So whoever looks at a context's queues
 * finds all that was begun before it took the lock:
 * a thread's receives stand in the order of its calls, and who waits for one begins it.  A message that comes
 * while its receive is fresh is an unexpected one.
 *
 *   a context   without fresh ones --(a receive is begun)--> listed, in MPID_Fresh --(the device lock is taken)-->
 *               without
 *
 * While the device lock is biased nobody begins a receive so; the bias comes into force when no context has any
 * (MPID_Fresh_end).  Under the context's lock it is looked at whether it is (tests/model/fresh.pml). */
#include "core.h"
#include "util/seat.h"

_Alignas(64) _Atomic(struct context *) MPID_Fresh;

void MPID_Fresh_init(struct context *c)
{
    ku_lock_init(&c->fresh_lock, KU_LOCK_CONTEXT);
    c->fresh_last = &c->fresh;
}

void MPID_Fresh_fini(struct context *c)
{
    ku_lock_fini(&c->fresh_lock);
}

/* With the context's lock. */
static void list(struct context *c)
{
    struct context *first = atomic_load_explicit(&MPID_Fresh, memory_order_relaxed);
    c->fresh_listed = true;
    do
        c->fresh_next = first;
    while (!atomic_compare_exchange_weak_explicit(&MPID_Fresh, &first, c, memory_order_release,
                                                  memory_order_relaxed));
}

bool MPID_Irecv_beside(void *buf, int64_t len, struct MPIR_COMMUNICATOR *comm, int source, int tag,
                       MPID_Request r)
{
    struct context *c = context_known(comm, comm->context_id + MPID_CONTEXT_PT2PT);
    if (unlikely(c == NULL || len < 0))
        return false;
    ku_lock(&c->fresh_lock);
    bool may = !KU_BIAS_IN_FORCE;
    if (likely(may)) {
        MPID_Recv_prepare(r, comm, buf, len, source, tag, c->id);
        r->next = NULL;
        *c->fresh_last = r;
        c->fresh_last = &r->next;
        if (!c->fresh_listed)
            list(c);
    }
    ku_unlock(&c->fresh_lock);
    return may;
}

static struct MPIR_HANDLE *take(struct context *c, struct context **next)
{
    ku_lock(&c->fresh_lock);
    struct MPIR_HANDLE *first = c->fresh;
    c->fresh = NULL;
    c->fresh_last = &c->fresh;
    c->fresh_listed = false;
    *next = c->fresh_next;
    ku_unlock(&c->fresh_lock);
    return first;
}

void MPID_Fresh_take(void)
{
    struct context *c = atomic_exchange_explicit(&MPID_Fresh, NULL, memory_order_acquire), *next;
    for (; c != NULL; c = next)
        for (struct MPIR_HANDLE *r = take(c, &next), *after; r != NULL; r = after) {
            after = r->next;
            if (!(r->comm->obj.flags & KEEL_OBJ_PREDEFINED))
                r->comm->obj.refs++; /* the request's */
            MPID_Recv_start(r);
        }
}

static void meet(struct context *c, void *arg)
{
    (void)arg;
    ku_lock(&c->fresh_lock);
    ku_unlock(&c->fresh_lock);
}

bool MPID_Fresh_end(void)
{
    MPID_Contexts_each(meet, NULL);
    return atomic_load_explicit(&MPID_Fresh, memory_order_acquire) == NULL;
}
