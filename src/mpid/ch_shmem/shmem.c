/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem.c: the device for ranks of one node: rings of lines a receiver, cells for larger bodies.
 *
 * Invariants (those of the ring and of the cells are in util/linering.h and cells.h)
 *   1. A packet is in a ring of the receiver's when a send operation says DEV_OK; packets of one sender keep their
 *      order, since they all go through the same ring: a lane of its own, or the one that all share.
 *   2. A sender that is told DEV_AGAIN is on its list `stalled` and has said so in the word `stalled` of its area;
 *      progress takes it off, and counts an event, when there is room.  Who frees a cell wakes the cell's owner if
 *      that sleeps and is stalled; who makes room in a ring that was full wakes all such ranks.  The sleeper's
 *      membarrier (util/wait.h) makes this as safe as the wake of a receiver: progress looks at the room itself,
 *      after it.
 *   3. A peer is reported gone after everything it had published before its death was seen has been delivered.
 *   4. A receiver writes to each line of a cell it has read before it gives the cell back: of small ones when it
 *      waits anyway or has the next one.  A line that one core has written goes to the other at once (1 ns a line
 *      where they share a cache, several on their way together); one that both hold, as one has written and the other
 *      read it, has first to be taken away, 7 ns each. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "cells.h"
#include "cma.h"
#include "device.h"
#include "util/segment.h"
#include "region.h"
#include "util/copy.h"
#include "util/err.h"
#include "util/knob.h"
#include "util/lock.h"
#include "util/wait.h"

extern const struct dev_ops dev_shmem_ops;

/* A cell that was read and not given back. */
struct back {
    struct shm_desc desc;
    char *body; /* NULL: none */
    uint32_t owned;
};

struct dev {
    struct dev_services up;
    const struct ku_segment *seg;
    struct shm_area *area;
    struct ku_ring_rx rx[1 + SHM_LANES]; /* what all share, and the lanes */
    struct ku_ring_rx *cur;              /* the one to look at first */
    uint32_t turns;                      /* packets that may still come from it in a row */
    uint32_t known;                      /* `senders` as of the last look around */
    bool single;                         /* there was no other ring than cur */
    struct dev_next next;                /* the line at the head of cur */
    _Atomic uint32_t *fence_all, *failed;
    _Atomic(struct dev_peer *) stalled; /* invariant 2 */
    uint32_t lrank, nlocal;
    uint64_t area_off;
    uint32_t failed_seen; /* deaths reported */
    uint64_t failed_tail; /* invariant 3: report when the ring's head is here */
    bool failing, use_cma, offered;
    uint64_t cookie;
    const struct dev_world *world;
    const int32_t *grank_of;
    _Atomic uint8_t *gone; /* [nlocal] reported; senders look without the device lock */
    uint16_t *held;        /* [SHM_CLASSES][nlocal] */
    uint64_t *seen;        /* for the ring */
    struct cell_pool pool[SHM_CLASSES];
    struct back back;    /* invariant 4 */
    bool waits_usefully; /* there may be something to do in idle() */
};

enum { TURNS = 16 }; /* packets often come in a row; other rings must not wait for ever */

struct dev_peer {
    struct ku_ring_tx tx;
    _Atomic uint32_t *sleeping, *fence_all;
    const _Atomic uint8_t *gone;
    bool alone;           /* the ring is this process's lane */
    _Atomic bool in_lane; /* one of several threads is in it */
    struct dev *dev;
    struct shm_area *area;
    uint32_t lrank;
    int8_t waits_for; /* class of the cell it lacks, -1: a slot */
    bool no_cma, cma_proven;
    _Atomic bool is_stalled;
    struct dev_peer *next; /* on `stalled` */
};

static struct ku_knob rows[] = {
    { .name = "SHMEM_CMA",
      .type = KU_KNOB_BOOL,
      .def = "1",
      .unit = "",
      .audience = KU_FOR_TUNERS,
      .help = "read large messages straight out of the sender's memory (process_vm_readv) where the kernel "
              "allows that and it is found to be faster; 0: never" },
};
static struct ku_knob_table knobs = { .rows = rows, .n = 1, .area = "mpid.shmem" };

__attribute__((constructor)) static void add_knobs(void)
{
    ku_knob_add(&knobs);
}

static struct shm_area *area_of(const struct dev *d, uint32_t lrank)
{
    return (struct shm_area *)((char *)ku_segment_dev(d->seg, lrank) + d->area_off);
}

static inline int32_t grank_of(const struct dev *d, uint32_t lrank)
{
    return d->grank_of ? d->grank_of[lrank] : (int32_t)lrank;
}

static uint32_t shmem_state_of(const struct dev *d, uint32_t lrank)
{
    return atomic_load_explicit(&ku_segment_rank(d->seg, lrank)->state, memory_order_acquire);
}

static bool fence_all(const struct dev *d)
{
    return atomic_load_explicit(d->fence_all, memory_order_relaxed) != 0;
}

static uint32_t senders(const struct dev *d)
{
    return atomic_load_explicit(&d->area->senders, memory_order_acquire);
}

static uint32_t lanes(const struct dev *d)
{
    return senders(d) & SHM_LANES_GIVEN;
}

/* ---- open and close ------------------------------------------------------------------------- */

static dev_status shmem_refuse(const struct dev_world *world)
{
    uint64_t have = world->segment->head->dev_bytes;
    if (world->area_off + SHM_AREA_BYTES > have) {
        ku_err_set(1, "segment", "gives a rank %llu bytes; expected at least %llu", (unsigned long long)have,
                   (unsigned long long)world->area_off + SHM_AREA_BYTES);
        return DEV_NO_SUPPORT;
    }
    if (world->local_size > SHM_MAX_LOCAL) {
        ku_err_set(1, "ranks", "are %d on this node; ch_shmem takes at most %d", world->local_size,
                   SHM_MAX_LOCAL);
        return DEV_NO_SUPPORT;
    }
    return DEV_OK;
}

static void shm_fini(struct dev *d)
{
    if (!d)
        return;
    free(d->gone);
    free(d->held);
    free(d->seen);
    free(d);
}

static bool allocate(struct dev *d, uint32_t nlocal)
{
    d->gone = calloc(nlocal, sizeof *d->gone);
    d->held = calloc((size_t)nlocal * SHM_CLASSES, sizeof *d->held);
    d->seen = calloc(ku_ring_seen_words(nlocal), sizeof *d->seen);
    return d->gone && d->held && d->seen;
}

/* Where to look next, and for how many packets without a call of this device. */
static inline void aim(struct dev *d)
{
    uint64_t left = KU_RING_PUBLISH - d->cur->head % KU_RING_PUBLISH;
    d->next.line = ku_ring_at(d->cur);
    d->next.lap = ku_ring_lap(d->cur);
    d->next.left = (uint16_t)(left < d->turns ? left : d->turns);
}

static void attach(struct dev *d)
{
    bool again;
    d->area = area_of(d, d->lrank);
    again = atomic_fetch_add(&d->area->opened, 1) > 0;
    d->cur = &d->rx[1];
    d->turns = TURNS;
    d->known = UINT32_MAX;
    ku_ring_rx_init(&d->rx[0], &d->area->ring, d->seen);
    for (uint32_t i = 0; i < SHM_LANES; i++)
        if (i < lanes(d))
            ku_ring_rx_init(&d->rx[1 + i], &d->area->lane[i], NULL);
        else
            d->rx[1 + i] = (struct ku_ring_rx){ .ring = &d->area->lane[i] }; /* as yet no memory */
    aim(d);
    for (int c = 0; c < SHM_CLASSES; c++)
        dev_shmem_cells_init(&d->pool[c], d->area, c, d->held + (size_t)c * d->nlocal, d->nlocal, again);
}

static dev_status shm_open(const struct dev_services *services, const struct dev_world *world,
                           struct dev **dev)
{
    dev_status st = shmem_refuse(world);
    struct dev *d;
    if (st != DEV_OK)
        return st;
    d = calloc(1, sizeof *d);
    if (!d || !allocate(d, (uint32_t)world->local_size)) {
        shm_fini(d);
        ku_err_set(1, NULL, "out of memory opening the device for %d ranks", world->local_size);
        return DEV_ERROR;
    }
    ku_knob_register(&knobs);
    d->up = *services;
    d->seg = world->segment;
    d->world = world;
    d->grank_of = world->grank_of;
    d->area_off = world->area_off;
    d->lrank = (uint32_t)world->local_rank;
    d->nlocal = (uint32_t)world->local_size;
    d->fence_all = &d->seg->head->fence_all;
    d->failed = &d->seg->head->failed;
    d->use_cma = ku_knob_int("SHMEM_CMA");
    attach(d);
    *dev = d;
    return DEV_OK;
}

static void shm_caps(const struct dev *d, struct dev_caps *caps)
{
    *caps = (struct dev_caps){ .max_short = KU_LINE_BODY,
                               .max_send = d->nlocal == 2 ? SHM_MAX_SEND : SHM_MAX_SEND / 2,
                               .latency_ns = 100,
                               .bandwidth_mbs = 30000,
                               .reach = DEV_REACH_NODE,
                               .has_get = d->use_cma,
                               .mem_kinds = 1u << DEV_MEM_HOST,
                               .priority = 10,
                               .unaided = true };
}

static void own(struct dev *d, uint32_t most);

static inline void catch_up(struct dev *d);

static void shm_close(struct dev *d)
{
    catch_up(d);
    if (d->back.body)
        own(d, UINT32_MAX);
    for (uint32_t i = 0; i <= lanes(d); i++)
        ku_ring_rx_stop(&d->rx[i]);
}

static struct dev_lane shm_lane(struct dev_peer *p)
{
    return (struct dev_lane){ p->alone ? &p->tx : NULL, p->sleeping, p->fence_all, &p->in_lane };
}

/* The ring to send to a peer through: a lane, while there are any, or the one that all share.  The same at each
 * call. */
static struct ku_ring *ring_to(const struct dev *d, struct shm_area *theirs, bool *alone)
{
    uint32_t now = atomic_load(&theirs->senders);
    *alone = true;
    for (uint32_t i = 0; i < (now & SHM_LANES_GIVEN); i++)
        if (atomic_load(&theirs->lane_of[i]) == d->lrank + 1)
            return &theirs->lane[i];
    while ((now & SHM_LANES_GIVEN) < SHM_LANES)
        if (atomic_compare_exchange_weak(&theirs->senders, &now, now + 1)) {
            atomic_store(&theirs->lane_of[now & SHM_LANES_GIVEN], d->lrank + 1);
            return &theirs->lane[now & SHM_LANES_GIVEN];
        }
    *alone = false;
    atomic_fetch_or(&theirs->senders, SHM_INBOX);
    return &theirs->ring;
}

static dev_status shm_peer_init(struct dev *d, int32_t grank, struct dev_peer **peer)
{
    int32_t lrank = dev_local_of(d->world, grank);
    struct dev_peer *p;
    if (lrank < 0) {
        ku_err_set(1, "rank", "%d is not on this node", grank);
        return DEV_NO_SUPPORT;
    }
    p = calloc(1, sizeof *p);
    if (!p) {
        ku_err_set(1, NULL, "out of memory connecting to rank %d", grank);
        return DEV_ERROR;
    }
    p->dev = d;
    p->lrank = (uint32_t)lrank;
    p->gone = &d->gone[lrank];
    p->fence_all = d->fence_all;
    p->area = area_of(d, p->lrank);
    p->sleeping = &ku_segment_rank(d->seg, p->lrank)->sleeping;
    ku_ring_tx_init(&p->tx, ring_to(d, p->area, &p->alone), &d->area->claims);
    p->tx.from = d->lrank;
    *peer = p;
    return DEV_OK;
}

static void shm_peer_stop(struct dev_peer *p)
{
    (void)p; /* what was sent is in its ring */
}

/* Take p off the list of the stalled. */
static void forget_stalled(struct dev *d, struct dev_peer *p)
{
    struct dev_peer *list = atomic_exchange(&d->stalled, NULL);
    while (list) {
        struct dev_peer *next = list->next;
        if (list != p) {
            list->next = atomic_load(&d->stalled);
            while (!atomic_compare_exchange_weak(&d->stalled, &list->next, list))
                ;
        }
        list = next;
    }
}

static void shm_peer_fini(struct dev_peer *p)
{
    if (!p)
        return;
    if (p->is_stalled)
        forget_stalled(p->dev, p);
    free(p);
}

/* ---- sending -------------------------------------------------------------------------------- */

static bool is_gone(const struct dev_peer *p)
{
    return __builtin_expect(atomic_load_explicit(p->gone, memory_order_relaxed), 0);
}

/* Invariant 2.  `class`: of the cell that is lacking, -1: a slot. */
static dev_status stall(struct dev_peer *p, int class)
{
    struct dev *d = p->dev;
    atomic_store_explicit(&d->area->stalled, 1, memory_order_relaxed);
    if (!atomic_exchange(&p->is_stalled, true)) {
        p->waits_for = (int8_t) class;
        p->next = atomic_load(&d->stalled);
        while (!atomic_compare_exchange_weak(&d->stalled, &p->next, p))
            ;
    }
    return DEV_AGAIN;
}

/* A lane takes one thread at a time.  One to which the device lock is biased does not say that it is in: others
 * see that the bias is in force, and it has waited for those that came in before it was. */
static __attribute__((noinline)) bool put_threaded(struct dev_peer *p, const struct ku_line_head *h,
                                                   const void *body, size_t bytes)
{
    bool ok = false;
    if (KU_BIASED)
        return ku_ring_put_alone(&p->tx, h, body, bytes);
    ku_lock_takes(KU_LOCK_SEND);
    while (atomic_exchange_explicit(&p->in_lane, true, memory_order_seq_cst))
        sched_yield();
    if (!KU_BIAS_IN_FORCE)
        ok = ku_ring_put_alone(&p->tx, h, body, bytes);
    atomic_store_explicit(&p->in_lane, false, memory_order_release);
    ku_lock_left(KU_LOCK_SEND);
    return ok;
}

static __attribute__((noinline)) bool put_shared(struct dev_peer *p, const struct ku_line_head *h,
                                                 const void *body, size_t bytes)
{
    return ku_ring_put(&p->tx, h, body, bytes);
}

static inline __attribute__((always_inline)) dev_status put(struct dev_peer *p, const struct ku_line_head *h,
                                                            const void *body, size_t bytes)
{
    bool ok = !p->alone             ? put_shared(p, h, body, bytes)
              : !KU_SINGLE_THREADED ? put_threaded(p, h, body, bytes)
                                    : ku_ring_put_alone(&p->tx, h, body, bytes);
    if (__builtin_expect(!ok, 0))
        return DEV_AGAIN;
    ku_wait_wake(p->sleeping, atomic_load_explicit(p->fence_all, memory_order_relaxed) != 0);
    return DEV_OK;
}

/* Put a line that is complete but for the lap. */
static inline __attribute__((always_inline)) dev_status
put_line(struct dev_peer *p, const struct dev_head *head, uint8_t len, const void *body, size_t bytes)
{
    struct ku_line_head h;
    uint64_t word[2];
    memcpy(&word[0], head, 8);
    memcpy(&word[1], (const char *)head + 8, 8);
    word[0] = ku_line_with_len(word[0], len);
    __asm__("" : "+r"(word[0]), "+r"(word[1])); /* words, from here to the line: see shm_desc */
    memcpy(&h, word, sizeof h);
    return put(p, &h, body, bytes);
}

static dev_status shm_send_short(struct dev_peer *p, const struct dev_head *head, const void *body)
{
    dev_status st;
    if (is_gone(p))
        return DEV_PEER_GONE;
    st = put(p, (const struct ku_line_head *)head, body, head->len);
    return __builtin_expect(st == DEV_AGAIN, 0) ? stall(p, -1) : st;
}

/* The last class, of which two cells are taken, if one of it has not the room. */
static int class_for(size_t bytes)
{
    int c = 0;
    while (c < SHM_CLASSES - 1 && bytes > shm_class[c].room)
        c++;
    return c;
}

static void *shm_reserve(struct dev_peer *p, size_t want)
{
    int c = class_for(want), cell;
    if (ku_ring_full(&p->tx)) {
        stall(p, -1);
        return NULL;
    }
    cell = dev_shmem_cells_take(&p->dev->pool[c], p->lrank, want);
    if (cell >= 0)
        return dev_shmem_cells_room(&p->dev->pool[c], cell);
    stall(p, c);
    return NULL;
}

static int cell_of(const struct dev *d, const void *room, int *class)
{
    size_t off = (size_t)((const char *)room - (const char *)d->area);
    int c = SHM_CLASSES - 1;
    while (off < shm_class[c].off)
        c--;
    *class = c;
    return (int)((off - shm_class[c].off) / shm_class[c].stride);
}

/* Announce a cell that is filled. */
static inline __attribute__((always_inline)) dev_status
announce(struct dev_peer *p, const struct dev_head *head, int class, int cell, size_t len)
{
    struct dev *d = p->dev;
    struct cell_pool *pool = &d->pool[class];
    struct shm_desc desc = shm_desc(d->lrank, class, cell, dev_shmem_cells_use(pool, cell), (uint32_t)len);
    dev_status st = put_line(p, head, SHM_CELL, &desc, sizeof desc);
    if (__builtin_expect(st == DEV_OK, 1))
        dev_shmem_cells_sent(pool, cell, p->lrank, (uint32_t)len);
    d->waits_usefully = true;
    return st;
}

static __attribute__((noinline)) dev_status commit(struct dev_peer *p, const struct dev_head *head,
                                                   void *room, size_t len)
{
    int c, cell = cell_of(p->dev, room, &c);
    return announce(p, head, c, cell, len);
}

static void shm_drop(struct dev_peer *p, void *room)
{
    int c, cell = cell_of(p->dev, room, &c);
    dev_shmem_cells_drop(&p->dev->pool[c], cell);
}

static dev_status shm_commit(struct dev_peer *p, const struct dev_head *head, void *room, size_t len)
{
    dev_status st;
    if (is_gone(p)) {
        shm_drop(p, room);
        return DEV_PEER_GONE;
    }
    st = commit(p, head, room, len);
    return st == DEV_AGAIN ? stall(p, -1) : st;
}

static size_t total(const struct dev_iov *iov, int n)
{
    size_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += iov[i].len;
    return sum;
}

static void gather(char *to, const struct dev_iov *iov, int n)
{
    for (int i = 0; i < n; i++) {
        if (iov[i].len)
            ku_copy_out(to, iov[i].base, iov[i].len);
        to += iov[i].len;
    }
}

static dev_status shm_send(struct dev_peer *p, const struct dev_head *head, const struct dev_iov *iov, int n,
                           void *cookie)
{
    size_t len = total(iov, n);
    char small[DEV_SHORT_TELLS], *room;
    dev_status st;
    (void)cookie;
    if (is_gone(p))
        return DEV_PEER_GONE;
    if (len <= DEV_SHORT_TELLS) {
        gather(small, iov, n);
        st = put_line(p, head, (uint8_t)(SHM_INLINE | len), small, len);
        return st == DEV_AGAIN ? stall(p, -1) : st;
    }
    room = shm_reserve(p, len);
    if (!room)
        return DEV_AGAIN;
    gather(room, iov, n);
    st = commit(p, head, room, len);
    if (st == DEV_OK)
        return st;
    shm_drop(p, room);
    return stall(p, -1);
}

static dev_status shm_send_copy(struct dev_peer *p, const struct dev_head *head, const void *body, size_t len)
{
    struct cell_pool *pool;
    const char *next;
    int c = class_for(len), cell;
    if (is_gone(p))
        return DEV_PEER_GONE;
    pool = &p->dev->pool[c];
    cell = dev_shmem_cells_take(pool, p->lrank, len);
    if (__builtin_expect(cell < 0, 0))
        return stall(p, c);
    next = dev_shmem_cells_next(pool, len);
    if (next)
        ku_copy_out_ahead(dev_shmem_cells_room(pool, cell), body, len, next);
    else
        ku_copy_out(dev_shmem_cells_room(pool, cell), body, len);
    if (__builtin_expect(announce(p, head, c, cell, len) == DEV_OK, 1))
        return DEV_OK;
    dev_shmem_cells_drop(pool, cell);
    return stall(p, -1);
}

/* ---- receiving ------------------------------------------------------------------------------ */

/* Something that rank `lrank` may be asleep for has become free. */
static inline void wake_stalled(struct dev *d, uint32_t lrank)
{
    _Atomic uint32_t *sleeping = &ku_segment_rank(d->seg, lrank)->sleeping;
    if (__builtin_expect(fence_all(d), 0))
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst); /* as in ku_wait_wake */
    if (__builtin_expect(atomic_load_explicit(sleeping, memory_order_relaxed) != 0, 0) &&
        atomic_load_explicit(&area_of(d, lrank)->stalled, memory_order_relaxed))
        ku_wait_wake_slow(sleeping);
}

/* Producers see room now: wake those who may sleep for it, if the ring was full. */
static __attribute__((noinline)) void show_room(struct dev *d, const struct ku_ring_rx *rx)
{
    if (fence_all(d))
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&rx->ring->tail, memory_order_relaxed) + KU_RING_PUBLISH <
        rx->head + KU_RING_SLOTS)
        return;
    for (uint32_t r = 0; r < d->nlocal; r++)
        wake_stalled(d, r);
}

/* The n lines at head are done with. */
static inline void pass(struct dev *d, struct ku_ring_rx *rx, uint32_t n)
{
    rx->head += n;
    if (__builtin_expect(rx->head % KU_RING_PUBLISH == 0, 0)) {
        if (ku_wait_policy.spin_ns != 0) /* as in done_with */
            ku_ring_own(rx);
        ku_ring_show(rx);
        show_room(d, rx);
    }
}

/* Another ring in use where something has come, which is the first to look at from now on; NULL: there is none. */
static __attribute__((noinline)) struct ku_ring_rx *look_around(struct dev *d)
{
    uint32_t who = senders(d), first = !(who & SHM_INBOX), n = (who & SHM_LANES_GIVEN) + 1 - first;
    uint32_t at = (uint32_t)(d->cur - d->rx);
    struct ku_line_head h;
    d->known = who;
    d->single = n == 1 && at == first;
    d->turns = TURNS;
    for (uint32_t i = 1; i <= n; i++) {
        struct ku_ring_rx *rx = &d->rx[first + (at + i - first) % n];
        if (rx != d->cur && ku_ring_peek(rx, &h)) {
            d->cur = rx;
            aim(d);
            return rx;
        }
    }
    aim(d);
    return NULL;
}

/* Nothing has come in the first ring: in another one? */
static inline struct ku_ring_rx *elsewhere(struct dev *d)
{
    return d->single && senders(d) == d->known ? NULL : look_around(d);
}

/* n packets have been taken from cur. */
static inline void took(struct dev *d, uint32_t n)
{
    pass(d, d->cur, n);
    d->turns -= n;
    if (__builtin_expect(d->turns == 0, 0))
        look_around(d);
    else
        aim(d);
}

/* Those that the core has taken by itself. */
static inline void catch_up(struct dev *d)
{
    uint32_t n = (uint32_t)(d->next.line - ku_ring_at(d->cur));
    if (n != 0)
        took(d, n);
}

static void shmem_give_back(struct dev *d, struct shm_desc desc)
{
    uint32_t owner = shm_desc_owner(desc);
    atomic_store_explicit(&area_of(d, owner)->done[shm_desc_class(desc)][shm_desc_cell(desc)],
                          shm_desc_use(desc), memory_order_release);
    wake_stalled(d, owner);
}

/* Invariant 4: `most` bytes more of the cell that was read last, which is given back after all of them. */
static void own(struct dev *d, uint32_t most)
{
    struct back *b = &d->back;
    uint32_t bytes = shm_desc_bytes(b->desc), end = bytes - b->owned < most ? bytes : b->owned + most;
    ku_copy_own(b->body + b->owned, end - b->owned);
    b->owned = end;
    if (b->owned < bytes)
        return;
    b->body = NULL;
    shmem_give_back(d, b->desc);
}

/* Nothing has come: what may as well be done now. */
static __attribute__((noinline)) void idle(struct dev *d)
{
    enum { SOME = 512 };
    bool more = false;
    if (d->back.body) {
        own(d, SOME);
        return;
    }
    for (int c = 0; c < SHM_CLASSES; c++) {
        struct cell_pool *p = &d->pool[c];
        if (atomic_load_explicit(&d->stalled, memory_order_relaxed) == NULL) /* else it would send */
            dev_shmem_cells_idle(p);
        if (p->flight.n) {
            dev_shmem_cells_look(p);
            more = true;
        }
        if (p->to_fetch && ku_wait_policy.spin_ns != 0)
            more |= dev_shmem_cells_fetch(p);
    }
    d->waits_usefully = more;
}

static inline bool is_sound(const struct dev *d, struct shm_desc desc)
{
    uint16_t class = shm_desc_class(desc), cell = shm_desc_cell(desc);
    const struct shm_class *k = &shm_class[class < SHM_CLASSES ? class : 0];
    return shm_desc_owner(desc) < d->nlocal && class < SHM_CLASSES && cell < k->cells &&
           shm_desc_bytes(desc) <= k->room << (k->paired & ~cell);
}

static inline char *body_of(const struct dev *d, struct shm_desc desc)
{
    return (char *)area_of(d, shm_desc_owner(desc)) +
           shm_cell_at(&shm_class[shm_desc_class(desc)], shm_desc_cell(desc));
}

/* Give the cell back after the one before. */
static void give_back_after(struct dev *d, struct shm_desc desc)
{
    if (d->back.body)
        own(d, UINT32_MAX);
    shmem_give_back(d, desc);
}

/* The same when there is time to make its lines one's own. */
static inline void own_later(struct dev *d, struct shm_desc desc, char *body)
{
    if (d->back.body)
        own(d, UINT32_MAX);
    d->back = (struct back){ .desc = desc, .body = body };
    d->waits_usefully = true;
}

/* Are the lines of a body that has been read to be made one's own, and not by the core?  Where ranks share cores
 * there is nothing to gain by that: the other one runs when this one has left. */
static inline bool is_owned_later(size_t bytes)
{
    return bytes <= SHM_LATER && ku_wait_policy.spin_ns != 0;
}

static inline struct shm_desc desc_in(const struct ku_line *line)
{
    struct shm_desc desc;
    memcpy(&desc.where, line->body, 8);
    memcpy(&desc.what, line->body + 8, 8);
    return desc;
}

/* Hand up the body of a cell. */
static void deliver_cell(struct dev *d, struct dev_head *head, const struct ku_line *line)
{
    struct shm_desc desc = desc_in(line);
    char *body;
    if (!is_sound(d, desc)) {
        d->up.error(d->up.core, "shared memory: a packet with an impossible address was dropped");
        return;
    }
    body = body_of(d, desc);
    head->len = 0;
    if (shm_desc_bytes(desc) > SHM_LATER)
        __builtin_prefetch(line + 1); /* of a stream the next packet is here as soon as this one is copied */
    d->up.deliver(d->up.core, grank_of(d, shm_desc_owner(desc)), head, body, shm_desc_bytes(desc));
    if (is_owned_later(shm_desc_bytes(desc)))
        own_later(d, desc, body);
    else
        give_back_after(d, desc);
}

/* The sender of a line at the head of cur with so many bytes of body. */
static inline int32_t sender_of(const struct dev *d, const struct ku_line *line, size_t len)
{
    uint32_t from;
    if (__builtin_expect(d->cur != d->rx, 1))
        from = atomic_load_explicit(&d->area->lane_of[d->cur - d->rx - 1], memory_order_relaxed) - 1;
    else if (len <= KU_LINE_TELLS)
        from = ku_line_from(line);
    else
        return DEV_PEER_UNKNOWN;
    return __builtin_expect(from < d->nlocal, 1) ? grank_of(d, from) : DEV_PEER_UNKNOWN;
}

static inline void deliver(struct dev *d, struct dev_head *head, const struct ku_line *line)
{
    if (__builtin_expect(head->len <= KU_LINE_BODY, 1)) {
        d->up.deliver(d->up.core, sender_of(d, line, head->len), head, line->body, head->len);
    } else if (head->len == SHM_CELL) {
        deliver_cell(d, head, line);
    } else {
        size_t len = (head->len & ~SHM_INLINE) % (DEV_SHORT_TELLS + 1);
        head->len = 0;
        d->up.deliver(d->up.core, sender_of(d, line, len), head, line->body, len);
    }
}

static inline bool receive_one(struct dev *d)
{
    struct dev_head head;
    const struct ku_line *line;
    catch_up(d);
    line = ku_ring_peek(d->cur, (struct ku_line_head *)&head);
    if (!line) {
        if (!elsewhere(d)) {
            if (d->waits_usefully)
                idle(d);
            return false;
        }
        line = ku_ring_peek(d->cur, (struct ku_line_head *)&head);
    }
    deliver(d, &head, line);
    took(d, 1);
    return true;
}

/* Is the next packet what is asked for (ku_line_look)? */
static inline __attribute__((always_inline)) int64_t look(const struct dev *d, struct dev_head want,
                                                          uint64_t mask, uint64_t cap)
{
    static const struct dev_head key = { .kind = UINT8_MAX, .context = UINT32_MAX };
    struct ku_line_words w, m = { .second = mask };
    memcpy(&w, &want, sizeof w);
    memcpy(&m.first, &key, 8);
    return ku_line_look(d->next.line, d->next.lap, w, m, cap);
}

static struct dev_taken shm_take(struct dev *d, struct dev_head want, uint64_t mask, void *buf, size_t cap)
{
    struct dev_taken t;
    catch_up(d);
    t.len = look(d, want, mask, cap);
    if (t.len == KU_NONE) {
        if (elsewhere(d))
            t.len = look(d, want, mask, cap);
        else if (d->waits_usefully)
            idle(d);
    }
    if (t.len >= 0) {
        memcpy(&t.tag, &d->next.line->second, 8);
        ku_line_copy(buf, d->next.line->body, (size_t)t.len);
        took(d, 1);
    }
    return t;
}

static struct dev_next *shm_next(struct dev *d)
{
    return &d->next;
}

/* Have the first lines here: they come together while the packet is booked. */
static inline void fetch(const char *body, size_t bytes)
{
    enum { MOST = 1024 };
    const char *end = body + (bytes < MOST ? bytes : MOST);
    for (; body < end; body += 64)
        __builtin_prefetch(body);
}

static struct dev_taken shm_take_long(struct dev *d, struct dev_head want, uint64_t mask, void *buf,
                                      size_t cap)
{
    struct dev_taken t = { .len = DEV_TAKE_OTHER };
    struct shm_desc desc;
    size_t bytes;
    char *body;
    catch_up(d);
    if (look(d, want, mask, UINT8_MAX) != SHM_CELL)
        return t;
    desc = desc_in(d->next.line);
    bytes = shm_desc_bytes(desc);
    if (!is_sound(d, desc) || bytes > cap)
        return t;
    body = body_of(d, desc);
    fetch(body, bytes);
    memcpy(&t.tag, &d->next.line->second, 8);
    t.len = (int64_t)bytes;
    took(d, 1);
    if (__builtin_expect(is_owned_later(bytes), 1)) {
        own_later(d, desc, body);
        ku_copy_in(buf, body, bytes);
        return t;
    }
    if (bytes > SHM_LATER)
        ku_copy_in_own(buf, body, bytes);
    else
        ku_copy_in(buf, body, bytes);
    give_back_after(d, desc);
    return t;
}

/* Can a stalled peer be sent to, which waits for a cell of this class, or a slot? */
static bool shmem_has_room(struct dev_peer *p, int class)
{
    struct cell_pool *pool;
    int cell;
    if (ku_ring_full(&p->tx))
        return false;
    if (class < 0)
        return true;
    pool = &p->dev->pool[class];
    cell = dev_shmem_cells_take(pool, p->lrank, pool->class->room);
    if (cell >= 0)
        dev_shmem_cells_drop(pool, cell);
    return cell >= 0;
}

/* Invariant 2: events for the stalled peers that have room again (or are gone); the others go back to the list. */
static int check_stalled(struct dev *d)
{
    struct dev_peer *list = atomic_exchange(&d->stalled, NULL);
    int events = 0;
    while (list) {
        struct dev_peer *p = list;
        int class = p->waits_for; /* another thread may stall it again from here on */
        list = p->next;
        atomic_store(&p->is_stalled, false);
        if (is_gone(p) || shmem_has_room(p, class))
            events++;
        else
            stall(p, class);
    }
    if (atomic_load(&d->stalled) == NULL)
        atomic_store_explicit(&d->area->stalled, 0, memory_order_relaxed);
    return events;
}

/* ---- deaths --------------------------------------------------------------------------------- */

static _Atomic uint32_t *claims_of(void *arg, uint32_t lrank)
{
    struct dev *d = arg;
    return shmem_state_of(d, lrank) == KU_RANK_DEAD ? NULL : &area_of(d, lrank)->claims;
}

/* Up to the death `failed`, of those that lie between. */
static int report_deaths(struct dev *d, uint32_t failed)
{
    int events = 0;
    for (; d->failed_seen != failed; d->failed_seen++) {
        int32_t r = ku_segment_local_of(d->seg, ku_segment_dead(d->seg, d->failed_seen));
        if (r < 0)
            continue;
        atomic_store_explicit(&d->gone[r], 1, memory_order_relaxed);
        for (int c = 0; c < SHM_CLASSES; c++)
            dev_shmem_cells_reclaim(&d->pool[c], d->area, (uint32_t)r);
        d->up.peer_gone(d->up.core, grank_of(d, (uint32_t)r));
        events++;
    }
    return events;
}

/* Is there something in a lane of one that is dead? */
static bool dead_lane_left(const struct dev *d)
{
    for (uint32_t i = 0; i < lanes(d); i++) {
        uint32_t owner = atomic_load(&d->area->lane_of[i]);
        struct ku_line_head h;
        if (owner != 0 && shmem_state_of(d, owner - 1) == KU_RANK_DEAD && ku_ring_peek(&d->rx[1 + i], &h))
            return true;
    }
    return false;
}

/* Some rank here has died: skip the slots it left half done, and report it when its last packet is delivered.
 */
static int look_at_deaths(struct dev *d, uint32_t failed)
{
    int events = 0;
    if (ku_ring_claimed(&d->rx[0]) && ku_ring_orphan(&d->rx[0], d->nlocal, claims_of, d)) {
        pass(d, &d->rx[0], 1);
        aim(d);
        events++;
    }
    if (failed == d->failed_seen)
        return events;
    if (!d->failing) {
        d->failing = true;
        d->failed_tail = atomic_load_explicit(&d->area->ring.tail, memory_order_acquire);
    }
    if (d->rx[0].head < d->failed_tail || dead_lane_left(d))
        return events;
    d->failing = false;
    return events + report_deaths(d, failed);
}

/* One packet a call: who waits for one message returns when it is there, and gets the next ones where he wants them
 * instead of as unexpected messages, which costs a copy. */
static int shm_progress(struct dev *d)
{
    int events = receive_one(d);
    uint32_t failed;
    if (__builtin_expect(atomic_load_explicit(&d->stalled, memory_order_relaxed) != NULL, 0))
        events += check_stalled(d);
    failed = atomic_load_explicit(d->failed, memory_order_acquire);
    if (__builtin_expect(failed, 0))
        events += look_at_deaths(d, failed);
    return events;
}

static _Atomic uint32_t *shm_wait_word(struct dev *d)
{
    return &ku_segment_rank(d->seg, d->lrank)->sleeping;
}

static int shm_wait_fd(struct dev *d)
{
    (void)d;
    return -1;
}

bool dev_shmem_offer(struct dev *d)
{
    if (d->use_cma && !d->offered)
        dev_shmem_cma_offer(&d->area->cookie, &d->cookie,
                            d->seg->head->job_id ^ ((uint64_t)d->lrank + 1) * 0x9e3779b97f4a7c15u);
    d->offered = d->use_cma;
    return d->use_cma;
}

static uint64_t shm_offer(struct dev_peer *p, const void *buf, size_t len)
{
    (void)len;
    return dev_shmem_offer(p->dev) ? (uint64_t)(uintptr_t)buf : 0;
}

const struct ku_segment *dev_shmem_segment(const struct dev *d)
{
    return d->seg;
}

const struct dev *dev_shmem_of(const struct dev_peer *p)
{
    return p->dev;
}

bool dev_shmem_gone(const struct dev_peer *p)
{
    return is_gone(p);
}

static int32_t pid_of(const struct dev_peer *p)
{
    return atomic_load(&ku_segment_rank(p->dev->seg, p->lrank)->pid);
}

/* May this process read and write that one's memory, and is it the right one? */
static dev_status reach(struct dev_peer *p)
{
    if (!p->dev->use_cma || p->no_cma)
        return DEV_NO_SUPPORT;
    if (is_gone(p))
        return DEV_PEER_GONE;
    if (!p->cma_proven && !(p->cma_proven = dev_shmem_cma_proven(&p->area->cookie, pid_of(p)))) {
        p->no_cma = true;
        return DEV_NO_SUPPORT;
    }
    return DEV_OK;
}

dev_status dev_shmem_copy_from(struct dev_peer *p, void *local, uint64_t remote, size_t len)
{
    dev_status st = reach(p);
    if (st == DEV_OK && (st = dev_shmem_cma_read(pid_of(p), local, remote, len)) == DEV_NO_SUPPORT)
        p->no_cma = true;
    return st;
}

dev_status dev_shmem_copy_to(struct dev_peer *p, uint64_t remote, const void *local, size_t len)
{
    dev_status st = reach(p);
    return st == DEV_OK ? dev_shmem_cma_write(pid_of(p), remote, local, len) : st;
}

static _Atomic uint64_t *shm_word(struct dev_peer *p, bool theirs, uint32_t i)
{
    return &(theirs ? p->area : p->dev->area)->word[i].v;
}

static const struct dev_near shm_near = {
    .size = sizeof shm_near,
    .take = shm_take,
    .take_long = shm_take_long,
    .next = shm_next,
    .took = catch_up,
    .send_copy = shm_send_copy,
    .lane = shm_lane,
    .offer = shm_offer,
    .copy_from_peer = dev_shmem_copy_from,
    .copy_to_peer = dev_shmem_copy_to,
    .word = shm_word,
};

const struct dev_ops dev_shmem_ops = {
    .size = sizeof dev_shmem_ops,
    .version = DEV_VERSION,
    .name = "shmem",
    .area_bytes = SHM_AREA_BYTES,
    .reach = DEV_REACH_NODE,
    .open = shm_open,
    .caps = shm_caps,
    .close = shm_close,
    .fini = shm_fini,
    .peer_init = shm_peer_init,
    .peer_stop = shm_peer_stop,
    .peer_fini = shm_peer_fini,
    .send_short = shm_send_short,
    .send = shm_send,
    .reserve = shm_reserve,
    .commit = shm_commit,
    .drop = shm_drop,
    .progress = shm_progress,
    .wait_word = shm_wait_word,
    .wait_fd = shm_wait_fd,
    .mem = &dev_shmem_mem,
    .near = &shm_near,
};
