/* SPDX-License-Identifier: BSD-3-Clause */
/* region.c: memory of peers.
 *
 * Memory within the job's segment every process of the node has mapped: its key is where it begins there, and a
 * peer loads, stores and updates by itself.  Other memory is read and written by process_vm_readv and
 * process_vm_writev (cma.h), where the system lets them, and updated by the core's packets; its key is its
 * address. */
#include "region.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "util/err.h"

struct shm_key {
    uint64_t at, len; /* at: offset in the segment, or address in the process */
    uint64_t job;
    uint64_t in_segment; /* 1 or 0 */
};

struct dev_region {
    struct shm_key key;
};

struct dev_remote {
    struct dev_peer *peer;
    struct shm_key key;
    char *base; /* here; NULL: not in the segment */
};

static dev_status region_no_memory(void)
{
    ku_err_set(1, NULL, "out of memory");
    return DEV_ERROR;
}

static bool within(uint64_t offset, uint64_t len, uint64_t all)
{
    return offset <= all && len <= all - offset;
}

static dev_status mem_register(struct dev *d, void *base, size_t len, enum dev_mem mem,
                               struct dev_region **region)
{
    const struct ku_segment *s = dev_shmem_segment(d);
    uint64_t off = (uint64_t)(uintptr_t)base - (uint64_t)(uintptr_t)s->head;
    bool here = within(off, len, s->bytes);
    if (mem != DEV_MEM_HOST || (!here && !dev_shmem_offer(d)))
        return DEV_NO_SUPPORT;
    *region = malloc(sizeof **region);
    if (!*region)
        return region_no_memory();
    (*region)->key = (struct shm_key){ here ? off : (uint64_t)(uintptr_t)base, len, s->head->job_id, here };
    return DEV_OK;
}

static void mem_unregister(struct dev_region *region)
{
    free(region);
}

static size_t mem_key(const struct dev_region *region, void *buf, size_t cap)
{
    if (cap > 0)
        memcpy(buf, &region->key, cap < sizeof region->key ? cap : sizeof region->key);
    return sizeof region->key;
}

static bool is_sound(const struct shm_key *k, const struct ku_segment *s)
{
    return k->job == s->head->job_id && k->len > 0 && k->in_segment <= 1 &&
           within(k->at, k->len, k->in_segment ? s->bytes : UINT64_MAX);
}

static dev_status mem_open(struct dev_peer *p, const void *key, size_t len, struct dev_remote **remote)
{
    const struct ku_segment *s = dev_shmem_segment(dev_shmem_of(p));
    struct shm_key k;
    char first;
    if (len == sizeof k)
        memcpy(&k, key, sizeof k);
    if (len != sizeof k || !is_sound(&k, s)) {
        ku_err_set(1, "key", "of %zu bytes is none that this job's shared memory has made", len);
        return DEV_ERROR;
    }
    if (!k.in_segment && dev_shmem_copy_from(p, &first, k.at, 1) != DEV_OK)
        return DEV_NO_SUPPORT;
    *remote = malloc(sizeof **remote);
    if (!*remote)
        return region_no_memory();
    **remote = (struct dev_remote){ p, k, k.in_segment ? (char *)s->head + k.at : NULL };
    return DEV_OK;
}

static void mem_close(struct dev_remote *remote)
{
    free(remote);
}

static dev_status region_check(const struct dev_remote *r, uint64_t offset, size_t len)
{
    if (!within(offset, len, r->key.len)) {
        ku_err_set(1, "offset", "is %llu with %zu bytes; expected a part of %llu bytes",
                   (unsigned long long)offset, len, (unsigned long long)r->key.len);
        return DEV_ERROR;
    }
    return dev_shmem_gone(r->peer) ? DEV_PEER_GONE : DEV_OK;
}

static dev_status region_put(struct dev_remote *r, uint64_t offset, const void *from, size_t len,
                             struct dev_region *region, void *cookie)
{
    dev_status st = region_check(r, offset, len);
    (void)region, (void)cookie;
    if (st != DEV_OK || !r->base)
        return st != DEV_OK ? st : dev_shmem_copy_to(r->peer, r->key.at + offset, from, len);
    memcpy(r->base + offset, from, len);
    return DEV_OK;
}

static dev_status region_get(struct dev_remote *r, uint64_t offset, void *to, size_t len,
                             struct dev_region *region, void *cookie)
{
    dev_status st = region_check(r, offset, len);
    (void)region, (void)cookie;
    if (st != DEV_OK || !r->base)
        return st != DEV_OK ? st : dev_shmem_copy_from(r->peer, to, r->key.at + offset, len);
    memcpy(to, r->base + offset, len);
    return DEV_OK;
}

static dev_status atomic(struct dev_remote *r, uint64_t offset, enum keel_atomic_op op,
                         enum keel_atomic_type type, const void *operand, const void *compare, void *result,
                         void *cookie)
{
    dev_status st = region_check(r, offset, keel_atomic_bytes(type));
    (void)cookie;
    if (st != DEV_OK || !r->base)
        return st != DEV_OK ? st : DEV_NO_SUPPORT;
    keel_atomic(r->base + offset, op, type, operand, compare, result);
    return DEV_OK;
}

/* Stores become visible in their order, and system calls have ended. */
static dev_status region_flush(struct dev_peer *p, void *cookie)
{
    (void)cookie;
    atomic_thread_fence(memory_order_seq_cst);
    return dev_shmem_gone(p) ? DEV_PEER_GONE : DEV_OK;
}

static dev_status region_share(struct dev_remote *r, void **base)
{
    *base = r->base;
    return r->base ? DEV_OK : DEV_NO_SUPPORT;
}

const struct dev_mem_ops dev_shmem_mem = {
    .size = sizeof dev_shmem_mem,
    .mem_register = mem_register,
    .mem_unregister = mem_unregister,
    .mem_key = mem_key,
    .mem_open = mem_open,
    .mem_close = mem_close,
    .put = region_put,
    .get = region_get,
    .atomic = atomic,
    .flush = region_flush,
    .share = region_share,
};
