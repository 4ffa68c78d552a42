/* SPDX-License-Identifier: BSD-3-Clause */
/* self.c: the device of a process to itself.
 *
 * Invariants
 *   1. A packet waits in a private ring of lines until progress delivers it: a send never calls back, so the
 * core may send while it is being delivered to.
 *   2. A body of more than a line is either the caller's own memory (DEV_QUEUED, one piece, aligned as
 * deliver wants it) and is delivered from there without a copy, or a block of malloc that progress frees.
 *   3. Where malloc fails there is one spare room, so that a send is refused only while another is on its way.
 *   4. The words of the segment are not used for data: nobody else can send here. */
#include <stdlib.h>
#include <string.h>
#include "device.h"
#include "util/segment.h"
#include "util/err.h"
#include "util/linering.h"
#include "util/wait.h"

enum { BUDGET = 32, MAX_SEND = 64 << 10, INLINE = 0x80, BLOCK = 0xfe, BORROWED = 0xff };

extern const struct dev_ops dev_self_ops;

struct dev {
    struct dev_services up;
    const struct dev_world *world;
    struct ku_ring *ring;
    struct ku_ring_tx tx;
    struct ku_ring_rx rx;
    _Atomic uint32_t claims;
    void *own_spare, *spare; /* MAX_SEND bytes, allocated at open; spare: NULL while in use */
};

struct dev_peer {
    struct dev *dev;
};

/* The body of a line that stands for a block or for borrowed memory. */
struct ref {
    void *base;
    uint64_t len;
    void *cookie;
};

static void self_fini(struct dev *d)
{
    if (!d)
        return;
    free(d->ring);
    free(d->own_spare);
    free(d);
}

static dev_status self_open(const struct dev_services *services, const struct dev_world *world,
                            struct dev **dev)
{
    struct dev *d = calloc(1, sizeof *d);
    if (d) {
        d->ring = aligned_alloc(64, sizeof *d->ring);
        d->own_spare = d->spare = malloc(MAX_SEND);
    }
    if (!d || !d->ring || !d->spare) {
        self_fini(d);
        ku_err_set(1, NULL, "out of memory opening the device for messages to oneself");
        return DEV_ERROR;
    }
    memset(d->ring, 0, sizeof *d->ring);
    d->up = *services;
    d->world = world;
    ku_ring_tx_init(&d->tx, d->ring, &d->claims);
    ku_ring_rx_init(&d->rx, d->ring, NULL);
    *dev = d;
    return DEV_OK;
}

static void self_caps(const struct dev *d, struct dev_caps *caps)
{
    (void)d;
    *caps = (struct dev_caps){ .max_short = KU_LINE_BODY,
                               .max_send = MAX_SEND,
                               .latency_ns = 20,
                               .bandwidth_mbs = 50000,
                               .reach = DEV_REACH_SELF,
                               .has_get = true,
                               .mem_kinds = 1u << DEV_MEM_HOST,
                               .priority = 20,
                               .unaided = true };
}

static int self_progress(struct dev *d);

static void self_close(struct dev *d)
{
    while (self_progress(d) > 0)
        ;
}

static dev_status self_peer_init(struct dev *d, int32_t grank, struct dev_peer **peer)
{
    if (grank != d->world->rank) {
        ku_err_set(1, "rank", "is %d; expected %d, the rank of this process", grank, d->world->rank);
        return DEV_NO_SUPPORT;
    }
    *peer = malloc(sizeof **peer);
    if (!*peer) {
        ku_err_set(1, NULL, "out of memory");
        return DEV_ERROR;
    }
    (*peer)->dev = d;
    return DEV_OK;
}

static void self_peer_stop(struct dev_peer *p)
{
    (void)p;
}

static void self_peer_fini(struct dev_peer *p)
{
    free(p);
}

static dev_status put_line(struct dev *d, const struct dev_head *head, uint8_t len, const void *body,
                           size_t bytes)
{
    struct ku_line_head h;
    memcpy(&h, head, sizeof h);
    h.len = len;
    if (!ku_ring_put(&d->tx, &h, body, bytes))
        return DEV_AGAIN;
    ku_wait_wake(d->world->sleeping,
                 atomic_load_explicit(&d->world->segment->head->fence_all, memory_order_relaxed) != 0);
    return DEV_OK;
}

static dev_status self_send_short(struct dev_peer *p, const struct dev_head *head, const void *body)
{
    return put_line(p->dev, head, head->len, body, head->len);
}

static dev_status put_ref(struct dev *d, const struct dev_head *head, uint8_t how, void *base, size_t len,
                          void *cookie)
{
    struct ref r = { base, len, cookie };
    return put_line(d, head, how, &r, sizeof r);
}

static void *room_take(struct dev *d, size_t want)
{
    void *room = malloc(want ? want : 1);
    if (!room) {
        room = d->spare;
        d->spare = NULL;
    }
    return room;
}

static void room_give(struct dev *d, void *room)
{
    if (room == d->own_spare)
        d->spare = room;
    else
        free(room);
}

static void *self_reserve(struct dev_peer *p, size_t want)
{
    return ku_ring_full(&p->dev->tx) ? NULL : room_take(p->dev, want);
}

static dev_status self_commit(struct dev_peer *p, const struct dev_head *head, void *room, size_t len)
{
    return put_ref(p->dev, head, BLOCK, room, len, NULL);
}

static void self_drop(struct dev_peer *p, void *room)
{
    room_give(p->dev, room);
}

static size_t gather(char *to, size_t cap, const struct dev_iov *iov, int n)
{
    size_t sum = 0;
    for (int i = 0; i < n; i++) {
        if (iov[i].len && sum + iov[i].len <= cap)
            memcpy(to + sum, iov[i].base, iov[i].len);
        sum += iov[i].len;
    }
    return sum;
}

static dev_status send_copy(struct dev *d, const struct dev_head *head, const struct dev_iov *iov, int n,
                            size_t len)
{
    char *room = room_take(d, len);
    dev_status st;
    if (!room)
        return DEV_AGAIN;
    gather(room, len, iov, n);
    st = put_ref(d, head, BLOCK, room, len, NULL);
    if (st != DEV_OK)
        room_give(d, room);
    return st;
}

static dev_status self_send(struct dev_peer *p, const struct dev_head *head, const struct dev_iov *iov, int n,
                            void *cookie)
{
    char small[KU_LINE_BODY];
    size_t len = gather(small, sizeof small, iov, n);
    if (len <= sizeof small)
        return put_line(p->dev, head, (uint8_t)(INLINE | len), small, len);
    if (ku_ring_full(&p->dev->tx))
        return DEV_AGAIN;
    if (n == 1 && (uintptr_t)iov->base % 8 == 0) {
        dev_status st = put_ref(p->dev, head, BORROWED, (void *)(uintptr_t)iov->base, len, cookie);
        return st == DEV_OK ? DEV_QUEUED : st;
    }
    return send_copy(p->dev, head, iov, n, len);
}

static void deliver_ref(struct dev *d, struct dev_head *head, const struct ku_line *line)
{
    bool borrowed = head->len == BORROWED;
    struct ref r;
    memcpy(&r, line->body, sizeof r);
    head->len = 0;
    d->up.deliver(d->up.core, d->world->rank, head, r.base, r.len);
    if (borrowed)
        d->up.sent(d->up.core, r.cookie, DEV_OK);
    else
        room_give(d, r.base);
}

static int self_progress(struct dev *d)
{
    int events = 0;
    const struct ku_line *line;
    struct dev_head head;
    while (events < BUDGET && (line = ku_ring_peek(&d->rx, (struct ku_line_head *)&head)) != NULL) {
        if (head.len >= BLOCK) {
            deliver_ref(d, &head, line);
        } else {
            size_t len = head.len & ~INLINE;
            if (head.len & INLINE)
                head.len = 0;
            d->up.deliver(d->up.core, d->world->rank, &head, line->body, len);
        }
        ku_ring_pop(&d->rx);
        events++;
    }
    return events;
}

static _Atomic uint32_t *self_wait_word(struct dev *d)
{
    return d->world->sleeping;
}

static int self_wait_fd(struct dev *d)
{
    (void)d;
    return -1;
}

static dev_status self_copy_from_peer(struct dev_peer *p, void *local, uint64_t remote, size_t len)
{
    (void)p;
    memcpy(local, (const void *)(uintptr_t)remote, len);
    return DEV_OK;
}

static const struct dev_near self_near = { .size = sizeof self_near, .copy_from_peer = self_copy_from_peer };

/* ---- Memory: its own ---- */

struct dev_region {
    char *base;
    size_t len;
};
struct dev_remote {
    struct dev_region there;
};

static dev_status self_mem_register(struct dev *d, void *base, size_t len, enum dev_mem mem,
                                    struct dev_region **region)
{
    (void)d;
    if (mem != DEV_MEM_HOST)
        return DEV_NO_SUPPORT;
    *region = malloc(sizeof **region);
    if (!*region) {
        ku_err_set(1, NULL, "out of memory");
        return DEV_ERROR;
    }
    **region = (struct dev_region){ base, len };
    return DEV_OK;
}

static void self_mem_unregister(struct dev_region *region)
{
    free(region);
}

static size_t self_mem_key(const struct dev_region *region, void *buf, size_t cap)
{
    if (cap > 0)
        memcpy(buf, region, cap < sizeof *region ? cap : sizeof *region);
    return sizeof *region;
}

static dev_status self_mem_open(struct dev_peer *p, const void *key, size_t len, struct dev_remote **remote)
{
    (void)p;
    if (len != sizeof(struct dev_region)) {
        ku_err_set(1, "key", "has %zu bytes; expected %zu", len, sizeof(struct dev_region));
        return DEV_ERROR;
    }
    *remote = malloc(sizeof **remote);
    if (!*remote) {
        ku_err_set(1, NULL, "out of memory");
        return DEV_ERROR;
    }
    memcpy(&(*remote)->there, key, len);
    return DEV_OK;
}

static void self_mem_close(struct dev_remote *remote)
{
    free(remote);
}

static bool inside(const struct dev_remote *r, uint64_t offset, size_t len)
{
    if (offset <= r->there.len && len <= r->there.len - offset)
        return true;
    ku_err_set(1, "offset", "is %llu with %zu bytes; expected a part of %zu bytes",
               (unsigned long long)offset, len, r->there.len);
    return false;
}

static dev_status self_put(struct dev_remote *r, uint64_t offset, const void *from, size_t len,
                           struct dev_region *region, void *cookie)
{
    (void)region, (void)cookie;
    if (!inside(r, offset, len))
        return DEV_ERROR;
    memmove(r->there.base + offset, from, len);
    return DEV_OK;
}

static dev_status self_get(struct dev_remote *r, uint64_t offset, void *to, size_t len,
                           struct dev_region *region, void *cookie)
{
    (void)region, (void)cookie;
    if (!inside(r, offset, len))
        return DEV_ERROR;
    memmove(to, r->there.base + offset, len);
    return DEV_OK;
}

static dev_status self_atomic(struct dev_remote *r, uint64_t offset, enum keel_atomic_op op,
                              enum keel_atomic_type type, const void *operand, const void *compare,
                              void *result, void *cookie)
{
    (void)cookie;
    if (!inside(r, offset, keel_atomic_bytes(type)))
        return DEV_ERROR;
    keel_atomic(r->there.base + offset, op, type, operand, compare, result);
    return DEV_OK;
}

static dev_status self_flush(struct dev_peer *p, void *cookie)
{
    (void)p, (void)cookie;
    return DEV_OK;
}

static dev_status self_share(struct dev_remote *r, void **base)
{
    *base = r->there.base;
    return DEV_OK;
}

static const struct dev_mem_ops self_mem = {
    .size = sizeof self_mem,
    .mem_register = self_mem_register,
    .mem_unregister = self_mem_unregister,
    .mem_key = self_mem_key,
    .mem_open = self_mem_open,
    .mem_close = self_mem_close,
    .put = self_put,
    .get = self_get,
    .atomic = self_atomic,
    .flush = self_flush,
    .share = self_share,
};

const struct dev_ops dev_self_ops = {
    .size = sizeof dev_self_ops,
    .version = DEV_VERSION,
    .name = "self",
    .reach = DEV_REACH_SELF,
    .open = self_open,
    .caps = self_caps,
    .close = self_close,
    .fini = self_fini,
    .peer_init = self_peer_init,
    .peer_stop = self_peer_stop,
    .peer_fini = self_peer_fini,
    .send_short = self_send_short,
    .send = self_send,
    .reserve = self_reserve,
    .commit = self_commit,
    .drop = self_drop,
    .progress = self_progress,
    .wait_word = self_wait_word,
    .wait_fd = self_wait_fd,
    .mem = &self_mem,
    .near = &self_near,
};
