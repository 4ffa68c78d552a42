/* SPDX-License-Identifier: BSD-3-Clause */
/* stub.c: the device to copy when you write one (doc/porting-a-device.md).
 *
 * It is whole and right, and slow: each rank has one mailbox in the segment that holds one packet.
 *
 * States of a mailbox, in `state`; each arrow with who takes it:
 *   FREE --(sender, by compare-and-swap)--> WRITING | sender --(sender)--> FULL | sender --(owner, in
 * progress)--> FREE WRITING | sender --(owner, when the launcher says that the sender is dead)--> FREE
 *
 * Invariants
 *   1. Only the process named in `state` writes the mailbox while WRITING; only the owner reads it while
 * FULL.
 *   2. A sender that found the mailbox taken is `waiting`; the owner wakes all ranks that wait when it frees it.
 *
 * Built in as dev_stub_ops, and as a plug-in with -DKEEL_PLUGIN, where keel_device() is all that is exported
 * and nothing of Keel is linked: what it needs comes through struct dev_services. */
#include <stdlib.h>
#include <string.h>
#include "device.h"
#include "util/segment.h"
#include "mailbox.h"

struct dev {
    struct dev_services up;
    struct dev_world world;
    struct stub_box *box; /* ours */
    uint32_t failed_seen;
    uint8_t *gone;           /* [local_size] reported */
    _Atomic uint8_t *wanted; /* [local_size] a send there was told AGAIN */
    _Atomic bool starved;    /* some of them is set */
};

struct dev_peer {
    struct dev *dev;
    struct stub_box *box;
    uint32_t lrank;
};

static struct stub_box *box_of(const struct dev *d, uint32_t lrank)
{
    return (struct stub_box *)((char *)ku_segment_dev(d->world.segment, lrank) + d->world.area_off);
}

static struct ku_seg_rank *stub_rank_of(const struct dev *d, uint32_t lrank)
{
    return ku_segment_rank(d->world.segment, lrank);
}

static void wake(const struct dev *d, uint32_t lrank)
{
    d->up.wake(&stub_rank_of(d, lrank)->sleeping, atomic_load(&d->world.segment->head->fence_all));
}

static void stub_fini(struct dev *d)
{
    if (!d)
        return;
    free(d->gone);
    free(d->wanted);
    free(d);
}

static dev_status stub_open(const struct dev_services *services, const struct dev_world *world,
                            struct dev **dev)
{
    struct dev *d;
    if (world->area_off + sizeof(struct stub_box) > world->segment->head->dev_bytes) {
        services->error(services->core, "stub: the segment gives a rank too little room for a mailbox");
        return DEV_NO_SUPPORT;
    }
    d = calloc(1, sizeof *d);
    if (d) {
        d->gone = calloc((size_t)world->local_size, 1);
        d->wanted = calloc((size_t)world->local_size, sizeof *d->wanted);
    }
    if (!d || !d->gone || !d->wanted) {
        stub_fini(d);
        services->error(services->core, "stub: out of memory");
        return DEV_ERROR;
    }
    d->up = *services;
    d->world = *world;
    d->box = box_of(d, (uint32_t)world->local_rank);
    *dev = d;
    return DEV_OK;
}

static void stub_caps(const struct dev *d, struct dev_caps *caps)
{
    (void)d;
    *caps = (struct dev_caps){ .max_short = 48,
                               .max_send = STUB_BODY,
                               .latency_ns = 2000,
                               .bandwidth_mbs = 500,
                               .reach = DEV_REACH_NODE,
                               .has_get = false,
                               .mem_kinds = 1u << DEV_MEM_HOST,
                               .priority = 0 };
}

static void stub_close(struct dev *d)
{
    (void)d; /* a packet is in its mailbox when send returns: nothing is on its way */
}

static int32_t grank_of(const struct dev *d, int32_t lrank)
{
    return d->world.grank_of ? d->world.grank_of[lrank] : lrank;
}

static dev_status stub_peer_init(struct dev *d, int32_t grank, struct dev_peer **peer)
{
    int32_t lrank = dev_local_of(&d->world, grank);
    if (lrank < 0)
        return DEV_NO_SUPPORT;
    *peer = malloc(sizeof **peer);
    if (!*peer) {
        d->up.error(d->up.core, "stub: out of memory");
        return DEV_ERROR;
    }
    **peer = (struct dev_peer){ d, box_of(d, (uint32_t)lrank), (uint32_t)lrank };
    return DEV_OK;
}

static void stub_peer_stop(struct dev_peer *p)
{
    (void)p;
}

static void stub_peer_fini(struct dev_peer *p)
{
    free(p);
}

/* Invariant 2.  The mailbox may have been freed before we counted as waiting: progress looks at it again. */
static dev_status busy(struct dev_peer *p)
{
    atomic_store(&p->box->waiting, 1);
    atomic_store(&p->dev->wanted[p->lrank], 1);
    atomic_store(&p->dev->starved, true);
    return DEV_AGAIN;
}

/* Events for the mailboxes that we found taken and that are free now. */
static int check_wanted(struct dev *d)
{
    int events = 0;
    bool more = false;
    atomic_store(&d->starved, false);
    for (int32_t r = 0; r < d->world.local_size; r++) {
        if (!atomic_load(&d->wanted[r]))
            continue;
        if (d->gone[r] || atomic_load(&box_of(d, (uint32_t)r)->state) == STUB_FREE) {
            atomic_store(&d->wanted[r], 0);
            events++;
        } else {
            more = true;
        }
    }
    if (more)
        atomic_store(&d->starved, true);
    return events;
}

static dev_status stub_send(struct dev_peer *p, const struct dev_head *head, const struct dev_iov *iov, int n,
                            void *cookie)
{
    uint32_t expected = STUB_FREE, me = (uint32_t)p->dev->world.local_rank;
    size_t len = 0;
    (void)cookie;
    if (p->dev->gone[p->lrank])
        return DEV_PEER_GONE;
    if (!atomic_compare_exchange_strong(&p->box->state, &expected, STUB_WRITING | me))
        return busy(p);
    for (int i = 0; i < n; i++) {
        if (iov[i].len)
            memcpy(p->box->body + len, iov[i].base, iov[i].len);
        len += iov[i].len;
    }
    p->box->head = *head;
    p->box->len = (uint32_t)len;
    atomic_store_explicit(&p->box->state, STUB_FULL | me, memory_order_release);
    wake(p->dev, p->lrank);
    return DEV_OK;
}

static dev_status stub_send_short(struct dev_peer *p, const struct dev_head *head, const void *body)
{
    struct dev_iov iov = { body, head->len, DEV_MEM_HOST };
    return stub_send(p, head, &iov, 1, NULL);
}

static void set_free(struct dev *d)
{
    atomic_store(&d->box->state, STUB_FREE);
    if (!atomic_exchange(&d->box->waiting, 0))
        return;
    for (int32_t r = 0; r < d->world.local_size; r++)
        if (r != d->world.local_rank)
            wake(d, (uint32_t)r);
}

static bool is_dead(const struct dev *d, uint32_t lrank)
{
    return atomic_load(&stub_rank_of(d, lrank)->state) == KU_RANK_DEAD;
}

/* Report the ranks that died since we last looked; what they had sent has been delivered. */
static int look_at_deaths(struct dev *d)
{
    uint32_t failed = atomic_load(&d->world.segment->head->failed), state = atomic_load(&d->box->state);
    int events = 0;
    if (failed && (state & STUB_WRITING) && is_dead(d, state & STUB_RANK))
        set_free(d);
    if (failed == d->failed_seen || (atomic_load(&d->box->state) & STUB_FULL))
        return 0;
    for (; d->failed_seen != failed; d->failed_seen++) {
        int32_t grank = ku_segment_dead(d->world.segment, d->failed_seen), r = dev_local_of(&d->world, grank);
        if (r < 0)
            continue;
        d->gone[r] = 1;
        d->up.peer_gone(d->up.core, grank);
        events++;
    }
    return events;
}

static int stub_progress(struct dev *d)
{
    int events = 0;
    if (atomic_load_explicit(&d->box->state, memory_order_acquire) & STUB_FULL) {
        uint32_t sender = atomic_load_explicit(&d->box->state, memory_order_relaxed) & STUB_RANK;
        d->up.deliver(d->up.core, grank_of(d, (int32_t)sender), &d->box->head, d->box->body, d->box->len);
        set_free(d);
        events++;
    }
    if (d->starved)
        events += check_wanted(d);
    return events + look_at_deaths(d);
}

static _Atomic uint32_t *stub_wait_word(struct dev *d)
{
    return &stub_rank_of(d, (uint32_t)d->world.local_rank)->sleeping;
}

static int stub_wait_fd(struct dev *d)
{
    (void)d;
    return -1;
}

#ifdef KEEL_PLUGIN
static
#else
extern const struct dev_ops dev_stub_ops;
#endif
    const struct dev_ops dev_stub_ops = {
        .size = sizeof dev_stub_ops,
        .version = DEV_VERSION,
        .name = "stub",
        .area_bytes = sizeof(struct stub_box),
        .reach = DEV_REACH_NODE,
        .open = stub_open,
        .caps = stub_caps,
        .close = stub_close,
        .fini = stub_fini,
        .peer_init = stub_peer_init,
        .peer_stop = stub_peer_stop,
        .peer_fini = stub_peer_fini,
        .send_short = stub_send_short,
        .send = stub_send,
        .progress = stub_progress,
        .wait_word = stub_wait_word,
        .wait_fd = stub_wait_fd,
        /* reserve, commit, drop: a device without room to lend leaves them out; copy_from_peer: it cannot. */
    };

#ifdef KEEL_PLUGIN
__attribute__((visibility("default"))) const struct dev_ops *keel_device(void);

const struct dev_ops *keel_device(void)
{
    return &dev_stub_ops;
}
#endif
