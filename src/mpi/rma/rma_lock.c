/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_lock.c: locks of the parts of a node, which are words in its control block.  The target takes no part.
 *
 *   the word of a part   how many have it shared, or ALONE; WAITED: somebody sleeps on it
 *   the node's word      how many have all parts (MPI_Win_lock_all), and how many have, or wait for, one part
 *                        alone; never both
 *
 * Invariants
 *   1. Who wants a part alone is counted in the node's word first.  So MPI_Win_lock_all looks at one word, however
 *      many parts there are, and the parts' words only tell those apart that name a part.
 *   2. Who goes sets no WAITED and, if it leaves the word free, wakes all that sleep there; each of them looks again.
 *   3. A process of another node is represented by the target itself (rma_serve.c), which tries now and then;
 *      `wants` tells who frees the word that the target is to be woken.
 *   4. Nobody waits for ever for a lost process: the wait ends with an error once a member of this node is gone. */
#include "config.h"
#include <sched.h>
#include "rma.h"
#include "util/wait.h"

#define ALONE 0x80000000u
#define WAITED 0x40000000u
#define COUNT (WAITED - 1)
enum { ALL_ONE = 1, ALONE_ONE = 1 << 15, ALL_MASK = ALONE_ONE - 1, ALONE_MASK = (ALONE_ONE - 1) << 15 };

/* ---- Waiting ------------------------------------------------------------------------------------------------- */

static bool lost_member(const struct rma *r, int *err)
{
    for (int32_t i = 0; i < r->members; i++)
        if (MPID_Lost(MPIR_Comm_grank(r->win->comm, r->on_node[i].rank), err))
            return true;
    return false;
}

int MPIR_Rma_Wait_for(struct rma *r, _Atomic uint32_t *word, uint32_t is)
{
    int err = 0;
    while (atomic_load_explicit(word, memory_order_acquire) == is && !lost_member(r, &err)) {
        if (MPID_Revoked(&r->win->comm->adi))
            return MPIR_Err(MPID_ERR_REVOKED, "win", "has been revoked");
        MPID_Word_wait(word, is);
    }
    return err;
}

/* Announce that somebody waits for a change of what the word was. */
static bool announce(_Atomic uint32_t *word, uint32_t is)
{
    return (is & WAITED) || atomic_compare_exchange_strong(word, &is, is | WAITED);
}

static int wait_on(struct rma *r, _Atomic uint32_t *word, uint32_t is)
{
    return announce(word, is) ? MPIR_Rma_Wait_for(r, word, is | WAITED) : 0;
}

static void wake_target(const struct rma *r, const struct rma_slot *s)
{
    if (atomic_load(&s->wants))
        MPID_Node_wake(MPIR_Comm_grank(r->win->comm, s->rank));
}

/* ---- The node's word ----------------------------------------------------------------------------------------- */

/* Count this process in, unless some bits of `against` are there. */
static bool enter_node(struct rma *r, uint32_t one, uint32_t against, uint32_t *was)
{
    *was = atomic_load_explicit(&r->node->all, memory_order_relaxed);
    while (!(*was & against))
        if (atomic_compare_exchange_weak(&r->node->all, was, *was + one))
            return true;
    return false;
}

static void leave_node(struct rma *r, uint32_t one)
{
    uint32_t was = atomic_load_explicit(&r->node->all, memory_order_relaxed), next;
    do {
        next = was - one;
        if (!(next & (one == ALL_ONE ? ALL_MASK : ALONE_MASK)))
            next &= ~WAITED;
    } while (!atomic_compare_exchange_weak(&r->node->all, &was, next));
    if (!(was & WAITED) || (next & WAITED))
        return;
    MPID_Word_wake(&r->node->all);
    for (int32_t i = 0; i < r->members; i++)
        wake_target(r, &r->node->slot[i]);
}

static int enter_node_waiting(struct rma *r, uint32_t one, uint32_t against)
{
    uint32_t was;
    while (!enter_node(r, one, against, &was)) {
        int err = wait_on(r, &r->node->all, was);
        if (err)
            return err;
    }
    return 0;
}

int MPIR_Rma_Lock_all_words(struct rma *r)
{
    return enter_node_waiting(r, ALL_ONE, ALONE_MASK);
}

void MPIR_Rma_Unlock_all_words(struct rma *r)
{
    leave_node(r, ALL_ONE);
}

/* ---- A part's word ------------------------------------------------------------------------------------------- */

static bool enter(struct rma_slot *s, bool alone, uint32_t *was)
{
    *was = atomic_load_explicit(&s->lock, memory_order_relaxed);
    while (alone ? !(*was & ~WAITED) : !(*was & ALONE))
        if (atomic_compare_exchange_weak(&s->lock, was, alone ? *was | ALONE : *was + 1))
            return true;
    return false;
}

int MPIR_Rma_Lock_one(struct rma *r, struct rma_slot *s, bool alone)
{
    uint32_t was;
    int err = alone ? enter_node_waiting(r, ALONE_ONE, ALL_MASK) : 0;
    while (!err && !enter(s, alone, &was))
        if ((err = wait_on(r, &s->lock, was)) && alone)
            leave_node(r, ALONE_ONE);
    return err;
}

bool MPIR_Rma_Lock_try(struct rma *r, struct rma_slot *s, bool alone)
{
    uint32_t was;
    bool in;
    atomic_store(&s->wants, 1);
    while (alone && !enter_node(r, ALONE_ONE, ALL_MASK, &was))
        if (announce(&r->node->all, was))
            return false;
    while (!(in = enter(s, alone, &was)) && !announce(&s->lock, was))
        ;
    if (!in && alone)
        leave_node(r, ALONE_ONE);
    return in;
}

void MPIR_Rma_Unlock_one(struct rma *r, struct rma_slot *s, bool alone)
{
    uint32_t was = atomic_load_explicit(&s->lock, memory_order_relaxed), next;
    do {
        next = alone ? was & ~ALONE : was - 1;
        if (!(next & (COUNT | ALONE)))
            next &= ~WAITED;
    } while (!atomic_compare_exchange_weak(&s->lock, &was, next));
    if ((was & WAITED) && !(next & WAITED)) {
        MPID_Word_wake(&s->lock);
        wake_target(r, s);
    }
    if (alone)
        leave_node(r, ALONE_ONE);
}

/* ---- Stripes: held for a few elements, without looking at anything else ---------------------------------------- */

/* Between two looks.  False: somebody is lost, who may have had it; what he did is lost with it. */
static bool look_again(const struct rma *r, uint32_t looks)
{
    enum { SPINS = 100, LOOK_EVERY = 4096 };
    int err;
    if (looks < SPINS)
        ku_wait_pause();
    else
        sched_yield();
    return looks % LOOK_EVERY != 0 || !lost_member(r, &err);
}

void MPIR_Rma_Stripe_lock(struct rma *r, _Atomic uint32_t *stripe)
{
    for (uint32_t n = 1;; n++) {
        uint32_t nobody = 0;
        if (atomic_compare_exchange_weak_explicit(stripe, &nobody, 1, memory_order_acquire,
                                                  memory_order_relaxed) ||
            !look_again(r, n))
            return;
    }
}

void MPIR_Rma_Stripe_wait(struct rma *r, _Atomic uint32_t *word)
{
    for (uint32_t n = 1; atomic_load_explicit(word, memory_order_acquire) && look_again(r, n); n++)
        ;
}

void MPIR_Rma_Stripe_unlock(_Atomic uint32_t *stripe)
{
    atomic_store_explicit(stripe, 0, memory_order_release);
}
