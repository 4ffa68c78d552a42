/* SPDX-License-Identifier: BSD-3-Clause */
/* rdm_memory.c: memory of peers, over a library that puts and gets: what ch_ofi and ch_ucx have in common.
 *
 * A key is the length and the address of the region (little-endian), then the library's own key.
 *
 * Invariants
 *   1. Operations on a peer's memory stand in its list in the order in which they were begun, until the library
 *      has done with them.
 *   2. A flush that the library does not do (lib.flush NULL: a put ends when it is done at the peer) stands there,
 *      too, and ends when it is the oldest.
 *   3. An operation on a peer that dies ends at the latest when the peer is buried; what the library then reports
 *      of it is dropped. */
#include <stdlib.h>
#include <string.h>
#include "rdm.h"

struct dev_region {
    struct dev *dev;
    void *its; /* the library's */
    size_t len;
    size_t key_bytes;
    unsigned char key[DEV_KEY_MAX];
};

struct place {
    uint64_t len, base; /* little-endian */
};

dev_status rdm_mem_register(struct dev *d, void *base, size_t len, enum dev_mem mem,
                            struct dev_region **region)
{
    struct place place = { ku_le64(len), ku_le64((uintptr_t)base) };
    struct dev_region *r;
    if (!d->has_memory || mem != DEV_MEM_HOST)
        return DEV_NO_SUPPORT;
    r = calloc(1, sizeof *r);
    if (r == NULL)
        return DEV_ERROR;
    *r = (struct dev_region){ .dev = d, .len = len, .key_bytes = sizeof r->key - sizeof place };
    memcpy(r->key, &place, sizeof place);
    ku_lock(&d->lock);
    r->its = d->lib->expose(d, base, len, r->key + sizeof place, &r->key_bytes);
    ku_unlock(&d->lock);
    if (r->its == NULL) {
        free(r);
        return DEV_NO_SUPPORT;
    }
    r->key_bytes += sizeof place;
    *region = r;
    return DEV_OK;
}

void rdm_mem_unregister(struct dev_region *r)
{
    ku_lock(&r->dev->lock);
    r->dev->lib->unexpose(r->dev, r->its);
    ku_unlock(&r->dev->lock);
    free(r);
}

size_t rdm_mem_key(const struct dev_region *r, void *buf, size_t cap)
{
    if (cap > 0)
        memcpy(buf, r->key, r->key_bytes < cap ? r->key_bytes : cap);
    return r->key_bytes;
}

dev_status rdm_mem_open(struct dev_peer *p, const void *key, size_t len, struct dev_remote **remote)
{
    struct dev *d = p->dev;
    struct place place;
    struct dev_remote *r;
    if (!d->has_memory)
        return DEV_NO_SUPPORT;
    if (len < sizeof place || len > DEV_KEY_MAX)
        return DEV_ERROR;
    memcpy(&place, key, sizeof place);
    r = calloc(1, sizeof *r);
    if (r == NULL)
        return DEV_ERROR;
    *r = (struct dev_remote){
        .peer = p, .len = ku_le64(place.len), .base = ku_le64(place.base), .key_bytes = len - sizeof place
    };
    memcpy(r->key, (const char *)key + sizeof place, r->key_bytes);
    if (r->len == 0 || r->len > UINT64_MAX - r->base || !d->lib->is_key(r)) {
        free(r);
        return DEV_ERROR;
    }
    *remote = r;
    return DEV_OK;
}

void rdm_mem_close(struct dev_remote *r)
{
    struct dev *d = r->peer->dev;
    ku_lock(&d->lock);
    if (r->its != NULL)
        d->lib->forget(r);
    ku_unlock(&d->lock);
    free(r);
}

/* ---- operations ---- */

static void rdm_memory_list(struct rdm_op *op)
{
    struct dev_peer *p = op->link;
    op->older = p->mem_newest;
    op->newer = NULL;
    *(p->mem_newest != NULL ? &p->mem_newest->newer : &p->mem_oldest) = op;
    p->mem_newest = op;
}

void rdm_mem_begun(struct rdm_op *op)
{
    rdm_memory_list(op);
    op->link->mem_in_flight++;
    rdm_outstanding(op->link->dev, 1);
}

static void unlist(struct rdm_op *op)
{
    struct dev_peer *p = op->link;
    *(op->older != NULL ? &op->older->newer : &p->mem_oldest) = op->newer;
    *(op->newer != NULL ? &op->newer->older : &p->mem_newest) = op->older;
}

/* Flushes that were waiting for what is gone now. */
static void end_flushes(struct dev_peer *p)
{
    struct rdm_op *op;
    while ((op = p->mem_oldest) != NULL && op->what == RDM_OP_FLUSH && p->dev->lib->flush == NULL) {
        unlist(op);
        rdm_queue_done(op, DEV_OK);
    }
}

static struct rdm_amo *amo_of(struct rdm_op *op)
{
    return (struct rdm_amo *)(void *)op->body;
}

/* An update is done. */
static void take_result(struct rdm_op *op)
{
    if (op->result != NULL)
        memcpy(op->result, &amo_of(op)->old, op->result_bytes);
    op->result = NULL;
}

void rdm_mem_done(struct rdm_op *op)
{
    struct dev_peer *p = op->link;
    if (op->how == DEV_OK)
        take_result(op);
    p->mem_in_flight--;
    unlist(op);
    end_flushes(p);
}

/* May something be begun?  *op: to begin it with. */
static dev_status rdm_memory_begin(struct dev_peer *p, enum rdm_what what, void *cookie, struct rdm_op **op)
{
    struct dev *d = p->dev;
    dev_status st = rdm_link_ready(p);
    if (st != DEV_OK)
        return st;
    if (p->mem_in_flight >= RDM_WINDOW ||
        atomic_load_explicit(&d->outstanding, memory_order_relaxed) >= d->most_outstanding)
        return rdm_refuse(d);
    *op = rdm_op_get(d, false);
    if (*op == NULL)
        return rdm_refuse(d);
    (*op)->link = p;
    (*op)->what = what;
    (*op)->told = true;
    (*op)->cookie = cookie;
    (*op)->result = NULL;
    return DEV_OK;
}

/* What the library has answered. */
static dev_status begun(struct rdm_op *op, dev_status st)
{
    struct dev_peer *p = op->link;
    if (st == DEV_QUEUED) {
        rdm_mem_begun(op);
        return st;
    }
    if (st == DEV_OK)
        take_result(op);
    rdm_op_put(p->dev, op);
    return st == DEV_AGAIN || st == DEV_PEER_GONE ? rdm_refuse(p->dev)
                                                  : st; /* gone: until it is told why (bury) */
}

static bool is_inside(const struct dev_remote *r, uint64_t offset, size_t len)
{
    return offset <= r->len && len <= r->len - offset;
}

static dev_status rdm_memory_move(struct dev_remote *r, uint64_t offset, void *local, size_t len, bool put,
                                  void *cookie)
{
    struct dev *d = r->peer->dev;
    struct rdm_op *op;
    dev_status st;
    if (!is_inside(r, offset, len))
        return DEV_ERROR;
    if (len > d->max_moved)
        return DEV_NO_SUPPORT;
    ku_lock(&d->lock);
    st = rdm_memory_begin(r->peer, RDM_OP_MEMORY, cookie, &op);
    if (st == DEV_OK)
        st = begun(op, d->lib->move(r, op, offset, local, len, put));
    ku_unlock(&d->lock);
    return st;
}

dev_status rdm_put(struct dev_remote *r, uint64_t offset, const void *from, size_t len,
                   struct dev_region *region, void *cookie)
{
    (void)region;
    return rdm_memory_move(r, offset, (void *)(uintptr_t)from, len, true, cookie);
}

dev_status rdm_get(struct dev_remote *r, uint64_t offset, void *to, size_t len, struct dev_region *region,
                   void *cookie)
{
    (void)region;
    return rdm_memory_move(r, offset, to, len, false, cookie);
}

dev_status rdm_atomic(struct dev_remote *r, uint64_t offset, enum keel_atomic_op what,
                      enum keel_atomic_type type, const void *operand, const void *compare, void *result,
                      void *cookie)
{
    struct dev *d = r->peer->dev;
    struct rdm_op *op;
    size_t n = keel_atomic_bytes(type);
    dev_status st;
    if (!is_inside(r, offset, n))
        return DEV_ERROR;
    if (d->lib->update == NULL)
        return DEV_NO_SUPPORT;
    ku_lock(&d->lock);
    st = rdm_memory_begin(r->peer, RDM_OP_MEMORY, cookie, &op);
    if (st == DEV_OK) {
        *amo_of(op) = (struct rdm_amo){ 0 };
        if (what != KEEL_ATOMIC_FETCH)
            memcpy(&amo_of(op)->operand, operand, n);
        if (what == KEEL_ATOMIC_COMPARE_SWAP)
            memcpy(&amo_of(op)->compare, compare, n);
        op->result = result;
        op->result_bytes = n;
        st = begun(op, d->lib->update(r, op, offset, what, type));
    }
    ku_unlock(&d->lock);
    return st;
}

dev_status rdm_flush(struct dev_peer *p, void *cookie)
{
    struct dev *d = p->dev;
    struct rdm_op *op;
    dev_status st;
    ku_lock(&d->lock);
    if (p->mem_oldest == NULL && (p->state < RDM_READY || (p->state == RDM_READY && d->lib->flush == NULL))) {
        ku_unlock(&d->lock);
        return DEV_OK; /* there is nothing to wait for */
    }
    st = rdm_memory_begin(p, RDM_OP_FLUSH, cookie, &op);
    if (st == DEV_OK && d->lib->flush != NULL) {
        st = begun(op, d->lib->flush(p, op));
    } else if (st == DEV_OK) {
        rdm_memory_list(op);
        st = DEV_QUEUED;
    }
    ku_unlock(&d->lock);
    return st;
}
