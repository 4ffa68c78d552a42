/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of other processes: regions, keys, remotes, and the operations on them: by a device that has slots for
 * that, else by packets (mempkt.c).
 *
 *   an operation   made --> LISTED in its peer's mem list --(last packet or the device's call)--> WAITS --> finished
 *                  WAITS: for sent() of a device that owns the bytes, or for the peer's answer (GET, ATOMIC, FLUSH
 *                  by packets)
 *
 * Invariants
 *   1. Operations to one peer are begun in their order; so FLUSH goes behind the PUTs that it is for.
 *   2. An operation that a device owns something of (inflight) is not finished, also if its peer is lost.
 *   3. A region is named by index and generation, and each access is checked against what it is now, in the
 *      process that has it. */
#include "mem.h"
#include <stdlib.h>

enum { DRIVE_MAX = 8 /* packets or calls to one peer in a turn */ };

void MPID_Mem_init(void)
{
    ku_slab_init(&MPID_core.regions, (sizeof(struct MPID_MEMORY) + 63) & ~(size_t)63, 0);
    ku_slab_init(&MPID_core.memops, (sizeof(struct memop) + 63) & ~(size_t)63, 0);
}

static void close_region(void *memory, void *arg)
{
    struct MPID_MEMORY *m = memory;
    (void)arg;
    for (int i = 0; i < MPID_core.ndevs; i++)
        if (m->at[i] != NULL)
            MPID_core.devs[i].mem.mem_unregister(m->at[i]);
}

void MPID_Mem_close_all(void)
{
    ku_slab_each(&MPID_core.regions, close_region, NULL);
}

void MPID_Mem_fini(void)
{
    ku_slab_fini(&MPID_core.regions);
    ku_slab_fini(&MPID_core.memops);
}

/* ---- Memory of this process ---- */

struct MPID_MEMORY *MPID_Mem_find(struct pkt_op region, uint64_t offset, uint64_t len)
{
    struct MPID_MEMORY *m = ku_slab_at(&MPID_core.regions, region.index);
    bool alive = m != NULL && m->obj.gen == region.gen && (region.gen & 1);
    return alive && offset <= m->len && len <= m->len - offset ? m : NULL;
}

MPID_Memory MPID_Mem_register(void *base, int64_t len, int *error_code)
{
    struct MPID_MEMORY *m;
    if (!MPID_core.up || len <= 0 || base == NULL) {
        *error_code = !MPID_core.up ? ku_err_set(MPI_ERR_OTHER, NULL, "MPID_Init has not been called")
                      : len <= 0
                          ? ku_err_set(MPI_ERR_SIZE, "len", "is %lld; expected at least 1", (long long)len)
                          : ku_err_set(MPI_ERR_BASE, "base", "is NULL");
        return NULL;
    }
    m = ku_slab_alloc(&MPID_core.regions);
    if (m == NULL) {
        *error_code = ku_err_set(MPI_ERR_NO_MEM, NULL, "no memory to register memory");
        return NULL;
    }
    m->base = base;
    m->len = (uint64_t)len;
    for (int i = 0; i < MPID_core.ndevs; i++) {
        const struct core_dev *d = &MPID_core.devs[i];
        if (d->mem.put == NULL ||
            d->mem.mem_register(d->dev, base, (size_t)len, DEV_MEM_HOST, &m->at[i]) != DEV_OK)
            m->at[i] = NULL; /* by packets */
    }
    return m;
}

void MPID_Mem_unregister(MPID_Memory m)
{
    struct ku_wait w = { 0 };
    while (m->lent > 0)
        if (MPID_Progress() > 0)
            ku_wait_reset(&w);
        else
            MPID_Wait_step(&w, NULL);
    for (int i = 0; i < MPID_core.ndevs; i++)
        if (m->at[i] != NULL)
            MPID_core.devs[i].mem.mem_unregister(m->at[i]);
    ku_slab_free(&MPID_core.regions, m);
}

/* The device's entry behind a key; the bytes it takes. */
static int64_t key_entry(const struct core_dev *d, const struct dev_region *region, unsigned char *to,
                         int64_t room)
{
    unsigned char entry[1 + 255 + 2 + DEV_KEY_MAX];
    size_t name = strlen(d->ops.name), n;
    if (name > 255)
        return 0;
    entry[0] = (unsigned char)name;
    memcpy(entry + 1, d->ops.name, name);
    n = d->mem.mem_key(region, entry + 1 + name + 2, DEV_KEY_MAX);
    if (n > DEV_KEY_MAX)
        return 0;
    entry[1 + name] = (unsigned char)(n & 255);
    entry[2 + name] = (unsigned char)(n >> 8);
    n += 3 + name;
    if ((int64_t)n <= room)
        memcpy(to, entry, n);
    return (int64_t)n;
}

int64_t MPID_Mem_key(MPID_Memory m, void *key, int64_t cap)
{
    struct mem_key k = { .magic = MEM_KEY_MAGIC,
                         .rank = (uint32_t)MPID_core.rank,
                         .region = { .index = m->obj.index, .gen = m->obj.gen },
                         .address = (uint64_t)(uintptr_t)m->base,
                         .len = m->len };
    int64_t at = sizeof k;
    k = mem_key_le(&k);
    if (cap >= at)
        memcpy(key, &k, sizeof k);
    for (int i = 0; i < MPID_core.ndevs; i++)
        if (m->at[i] != NULL)
            at += key_entry(&MPID_core.devs[i], m->at[i], (unsigned char *)key + at, cap - at);
    return at;
}

/* ---- Memory of others ---- */

/* Where the device's own key lies in a key; NULL: the memory is not registered with it. */
static const unsigned char *find_entry(const unsigned char *key, int64_t len, const char *device, size_t *n)
{
    for (int64_t at = sizeof(struct mem_key); at < len;) {
        int64_t name = key[at], lens = at + 1 + name;
        if (lens + 2 > len)
            break;
        *n = key[lens] | (size_t)key[lens + 1] << 8;
        if ((int64_t)*n > len - lens - 2)
            break;
        if ((size_t)name == strlen(device) && memcmp(key + at + 1, device, (size_t)name) == 0)
            return key + lens + 2;
        at = lens + 2 + (int64_t)*n;
    }
    return NULL;
}

static bool read_key(struct mem_key *k, int32_t grank, const void *key, int64_t len, int *error_code)
{
    struct MPID_Process owner = { 0 };
    if (len >= (int64_t)sizeof *k) {
        memcpy(k, key, sizeof *k);
        *k = mem_key_le(k);
    }
    if (len >= (int64_t)sizeof *k && k->magic == MEM_KEY_MAGIC && k->len > 0 && k->len <= INT64_MAX &&
        grank >= 0 && grank < MPID_core.peers.n) {
        MPID_Process_of(grank, &owner);
        if (owner.rank == (int32_t)k->rank)
            return true;
    }
    *error_code =
        ku_err_set(MPI_ERR_ARG, "key", "of %lld bytes is none that MPID_Mem_key has made in rank %d",
                   (long long)len, (int)grank);
    return false;
}

static void open_at_device(struct MPID_REMOTE *r, const void *key, int64_t len)
{
    const struct core_dev *d = r->peer->cd;
    size_t n = 0;
    const unsigned char *its = d->mem.put != NULL ? find_entry(key, len, d->ops.name, &n) : NULL;
    if (its == NULL || n > DEV_KEY_MAX || d->mem.mem_open(r->peer->dp, its, n, &r->dr) != DEV_OK)
        r->dr = NULL;
}

/* It has made a key, so its card comes without a call of it. */
static void await_device(struct peer *p)
{
    struct ku_wait w = { 0 };
    while (p->undecided && !MPID_Peer_decide(p)) {
        MPID_Peer_busy(p);
        if (MPID_Progress() > 0)
            ku_wait_reset(&w);
        else
            MPID_Wait_step(&w, NULL);
    }
}

MPID_Remote MPID_Mem_open(int32_t grank, const void *key, int64_t len, int *error_code)
{
    struct mem_key k;
    struct MPID_REMOTE *r;
    struct peer *p = NULL;
    if (!read_key(&k, grank, key, len, error_code))
        return NULL;
    if (grank != MPID_core.rank && (p = peer_get(grank, error_code)) == NULL)
        return NULL;
    if (p != NULL)
        await_device(p);
    r = calloc(1, sizeof *r);
    if (r == NULL) {
        *error_code = ku_err_set(MPI_ERR_NO_MEM, NULL, "no memory for the memory of rank %d", (int)grank);
        return NULL;
    }
    r->grank = grank;
    r->region = k.region;
    r->address = k.address;
    r->len = k.len;
    r->peer = p;
    if (p != NULL && !p->gone)
        open_at_device(r, key, len);
    return r;
}

void MPID_Mem_close(MPID_Remote r)
{
    if (r->dr != NULL)
        r->peer->cd->mem.mem_close(r->dr);
    free(r);
}

static int way_of(const struct core_dev *d)
{
    if (d->mem.put == NULL)
        return 0;
    return MPID_MEM_DEVICE | (d->caps.unaided ? MPID_MEM_UNAIDED : 0) |
           (d->mem.atomic != NULL ? MPID_MEM_ATOMIC : 0);
}

int MPID_Mem_way(MPID_Remote r)
{
    return r->dr != NULL && !r->no_put && !r->no_get ? way_of(r->peer->cd) : 0;
}

int MPID_Mem_way_to(int rank)
{
    int way = 0, err = 0;
    const struct peer *p = rank >= 0 && rank != MPID_core.rank ? peer_get(rank, &err) : NULL;
    if (rank >= 0)
        return p != NULL && !p->gone ? way_of(p->cd) : 0;
    for (int i = 0; i < MPID_core.ndevs; i++)
        if (MPID_core.devs[i].caps.reach == DEV_REACH_ANY)
            way |= way_of(&MPID_core.devs[i]);
    return way;
}

void *MPID_Mem_share(MPID_Remote r)
{
    void *base = NULL;
    const struct MPID_MEMORY *own = r->peer == NULL ? MPID_Mem_find(r->region, 0, r->len) : NULL;
    if (own != NULL)
        return own->base;
    if (r->dr == NULL || r->peer->cd->mem.share == NULL || r->peer->cd->mem.share(r->dr, &base) != DEV_OK)
        return NULL;
    return base;
}

/* ---- Operations ---- */

struct memop *MPID_Memop_make(struct peer *p, enum memop_kind kind)
{
    struct memop *v = ku_slab_alloc(&MPID_core.memops);
    if (v != NULL) {
        v->peer = p;
        v->kind = (uint8_t)kind;
    }
    return v;
}

struct memop *MPID_Memop_find(struct pkt_op op)
{
    struct memop *v = ku_slab_at(&MPID_core.memops, op.index);
    return v != NULL && v->obj.gen == op.gen && (op.gen & 1) ? v : NULL;
}

static void complete(struct MPID_COMPLETION *c, int32_t grank, int error)
{
    if (error != 0 && c->error == 0) {
        c->error = error;
        c->rank = grank;
    }
    if (--c->pending == 0 && c->done != NULL)
        c->done(c);
}

void MPID_Memop_finish(struct memop *v, int error)
{
    struct MPID_COMPLETION *c = v->completion;
    int32_t grank = v->peer->grank;
    ku_slab_free(&MPID_core.memops, v);
    if (c != NULL)
        complete(c, grank, error);
}

static void *cookie_of(struct memop *v)
{
    return (char *)v + 2; /* the low bits tell it from a request and from a message's operation */
}

/* The device's own call for it. */
static dev_status call_device(struct memop *v)
{
    const struct dev_mem_ops *m = &v->peer->cd->mem;
    switch (v->kind) {
    case MEMOP_PUT:
        v->peer->mem_by_device = true;
        return m->put(v->remote->dr, v->offset, v->local, v->len, NULL, cookie_of(v));
    case MEMOP_GET:
        return m->get(v->remote->dr, v->offset, v->local, v->len, NULL, cookie_of(v));
    case MEMOP_ATOMIC:
        v->peer->mem_by_device = true;
        return m->atomic(v->remote->dr, v->offset, v->op, v->type, &v->operand, &v->compare, v->local,
                         cookie_of(v));
    default:
        v->peer->mem_by_device = false;
        return m->flush(v->peer->dp, cookie_of(v));
    }
}

/* The device cannot: by packets, from now on. */
static void by_packets(struct memop *v)
{
    v->by_device = false;
    if (v->kind == MEMOP_PUT)
        v->remote->no_put = true;
    else if (v->kind == MEMOP_GET)
        v->remote->no_get = true;
    else
        v->remote->no_atomic[v->op][v->type] = true;
}

/* Begin it, or send one packet more.  *all: nothing of it has still to be sent. */
static dev_status step(struct memop *v, bool *all)
{
    dev_status s;
    *all = true;
    if (v->by_device) {
        s = call_device(v);
        if (s == DEV_ERROR) {
            v->error = MPI_ERR_RMA_RANGE;
            s = DEV_OK;
        }
        v->inflight += s == DEV_QUEUED;
        if ((s == DEV_OK || s == DEV_QUEUED) && v->kind != MEMOP_FLUSH)
            MPID_core.counts.by_device[v->kind]++;
        if (s != DEV_NO_SUPPORT)
            return s;
        by_packets(v);
    }
    return MPID_Memop_send(v, all);
}

/* All of it has been sent, or the device has been called: does it wait for something? */
static bool waits(const struct memop *v)
{
    bool asks = v->kind == MEMOP_GET || v->kind == MEMOP_ATOMIC || v->kind == MEMOP_FLUSH;
    return v->inflight > 0 || (asks && !v->by_device);
}

static void pop(struct peer *p)
{
    p->mem_head = p->mem_head->next;
    if (p->mem_head == NULL)
        p->mem_tail = NULL;
}

int MPID_Mem_drive(struct peer *p, dev_status *s)
{
    int n = 0;
    while (p->mem_head != NULL && n < DRIVE_MAX) {
        struct memop *v = p->mem_head;
        bool all;
        *s = step(v, &all);
        if (*s != DEV_OK && *s != DEV_QUEUED)
            break;
        n++;
        if (!all)
            continue;
        pop(p);
        v->listed = false;
        if (!waits(v))
            MPID_Memop_finish(v, v->error);
    }
    return n;
}

void MPID_Memop_push(struct memop *v)
{
    struct peer *p = v->peer;
    dev_status s = DEV_OK;
    bool first = p->mem_head == NULL;
    v->listed = true;
    if (first)
        p->mem_head = v;
    else
        p->mem_tail->next = v;
    p->mem_tail = v;
    if (first && p->stream_head == NULL)
        MPID_Mem_drive(p, &s);
    if (s == DEV_PEER_GONE)
        MPID_Peer_gone(p->grank);
    if (p->mem_head != NULL)
        MPID_Peer_busy(p);
}

void MPID_Mem_sent(struct memop *v, dev_status status)
{
    struct MPID_MEMORY *m = v->kind == MEMOP_GIVE ? MPID_Mem_find(v->region, 0, 0) : NULL;
    int32_t grank = v->peer->grank;
    v->inflight--;
    if (m != NULL)
        m->lent--;
    if (status == DEV_PEER_GONE)
        MPID_Peer_gone(grank);
    if (status == DEV_ERROR)
        v->error = MPI_ERR_RMA_RANGE;
    if (v->inflight > 0 || v->listed)
        return;
    if (status == DEV_PEER_GONE ||
        (!v->by_device && v->done != v->len)) /* the peer is lost, and with it the rest */
        MPID_Memop_finish(v, MPID_Err_gone(grank));
    else
        MPID_Memop_finish(v, v->error);
}

static void lose(void *obj, void *arg)
{
    struct memop *v = obj;
    if (v->peer->grank != *(int32_t *)arg)
        return;
    v->listed = false;
    if (v->inflight == 0)
        MPID_Memop_finish(v, MPID_Err_gone(v->peer->grank));
}

void MPID_Mem_peer_lost(int32_t grank)
{
    struct peer *p = MPID_core.peers.at[grank];
    if (p == NULL)
        return;
    p->mem_head = p->mem_tail = NULL;
    ku_slab_each(&MPID_core.memops, lose, &grank);
}

/* ---- The calls ---- */

static int check_range(const struct MPID_REMOTE *r, int64_t offset, int64_t len)
{
    if (offset >= 0 && len >= 0 && (uint64_t)offset <= r->len && (uint64_t)len <= r->len - (uint64_t)offset)
        return peer_gone(r->grank) ? MPID_Err_gone(r->grank) : 0;
    return ku_err_set(
        MPI_ERR_RMA_RANGE, "offset",
        "is %lld with %lld bytes; expected a part of the %llu bytes that rank %d has registered",
        (long long)offset, (long long)len, (unsigned long long)r->len, (int)r->grank);
}

static int refused_here(const struct MPID_REMOTE *r)
{
    return ku_err_set(MPI_ERR_RMA_RANGE, NULL, "rank %d has not registered this memory (any more)",
                      (int)r->grank);
}

static struct memop *make(struct MPID_REMOTE *r, enum memop_kind kind, int64_t offset, int64_t len,
                          struct MPID_COMPLETION *c, int *error_code)
{
    struct memop *v = MPID_Memop_make(r->peer, kind);
    if (v == NULL) {
        *error_code = ku_err_set(MPI_ERR_NO_MEM, NULL, "no memory for an operation on the memory of rank %d",
                                 (int)r->grank);
        return NULL;
    }
    v->remote = r;
    v->region = r->region;
    v->offset = (uint64_t)offset;
    v->len = (uint64_t)len;
    v->completion = c;
    c->pending++;
    return v;
}

/* In this process's own memory: `to` or `from` is NULL, and is in the region. */
static int copy_here(const struct MPID_REMOTE *r, int64_t offset, const void *from, void *to, int64_t len)
{
    struct MPID_MEMORY *m = MPID_Mem_find(r->region, (uint64_t)offset, (uint64_t)len);
    if (m == NULL)
        return refused_here(r);
    memmove(to != NULL ? to : m->base + offset, from != NULL ? from : m->base + offset, (size_t)len);
    return 0;
}

/* put or get, where there is nothing to do for a device or a packet: true. */
static bool move_here(MPID_Remote r, int64_t offset, const void *from, void *to, int64_t len,
                      struct MPID_COMPLETION *c, int *error_code)
{
    int err = check_range(r, offset, len);
    if (err == 0 && r->peer != NULL && len > 0)
        return false;
    if (err == 0 && len > 0)
        err = copy_here(r, offset, from, to, len);
    if (err != 0) {
        *error_code = err;
        return true;
    }
    c->pending++;
    complete(c, r->grank, 0);
    return true;
}

void MPID_Put(MPID_Remote r, int64_t offset, const void *from, int64_t len, struct MPID_COMPLETION *c,
              int *error_code)
{
    struct memop *v;
    if (move_here(r, offset, from, NULL, len, c, error_code) ||
        (v = make(r, MEMOP_PUT, offset, len, c, error_code)) == NULL)
        return;
    v->local = (char *)(uintptr_t)from;
    v->by_device = r->dr != NULL && !r->no_put;
    MPID_Memop_push(v);
}

void MPID_Get(MPID_Remote r, int64_t offset, void *to, int64_t len, struct MPID_COMPLETION *c,
              int *error_code)
{
    struct memop *v;
    if (move_here(r, offset, NULL, to, len, c, error_code) ||
        (v = make(r, MEMOP_GET, offset, len, c, error_code)) == NULL)
        return;
    v->local = to;
    v->by_device = r->dr != NULL && !r->no_get;
    MPID_Memop_push(v);
}

static int check_atomic(const struct MPID_REMOTE *r, int64_t offset, enum keel_atomic_op op,
                        enum keel_atomic_type type)
{
    int64_t n;
    if (!keel_atomic_has(op, type))
        return ku_err_set(MPI_ERR_OP, "op", "is %d on type %d; expected an update that there is", (int)op,
                          (int)type);
    n = (int64_t)keel_atomic_bytes(type);
    if ((r->address + (uint64_t)offset) % (uint64_t)n != 0)
        return ku_err_set(MPI_ERR_DISP, "offset",
                          "%lld is address %#llx of rank %d; expected a multiple of %lld", (long long)offset,
                          (unsigned long long)r->address + (unsigned long long)offset, (int)r->grank,
                          (long long)n);
    return check_range(r, offset, n);
}

static int atomic_here(MPID_Remote r, int64_t offset, enum keel_atomic_op op, enum keel_atomic_type type,
                       const void *operand, const void *compare, void *result, struct MPID_COMPLETION *c)
{
    struct MPID_MEMORY *m = MPID_Mem_find(r->region, (uint64_t)offset, keel_atomic_bytes(type));
    if (m == NULL)
        return refused_here(r);
    keel_atomic(m->base + offset, op, type, operand, compare, result);
    c->pending++;
    complete(c, r->grank, 0);
    return 0;
}

void MPID_Atomic(MPID_Remote r, int64_t offset, enum keel_atomic_op op, enum keel_atomic_type type,
                 const void *operand, const void *compare, void *result, struct MPID_COMPLETION *c,
                 int *error_code)
{
    struct memop *v;
    int err = check_atomic(r, offset, op, type);
    if (err == 0 && r->peer == NULL)
        err = atomic_here(r, offset, op, type, operand, compare, result, c);
    if (err != 0)
        *error_code = err;
    if (err != 0 || r->peer == NULL)
        return;
    v = make(r, MEMOP_ATOMIC, offset, (int64_t)keel_atomic_bytes(type), c, error_code);
    if (v == NULL)
        return;
    v->op = (uint8_t)op;
    v->type = (uint8_t)type;
    if (op != KEEL_ATOMIC_FETCH)
        memcpy(&v->operand, operand, v->len);
    if (op == KEEL_ATOMIC_COMPARE_SWAP)
        memcpy(&v->compare, compare, v->len);
    v->local = result;
    v->by_device = r->dr != NULL && r->peer->cd->mem.atomic != NULL && !r->no_atomic[op][type];
    MPID_Memop_push(v);
}

static void flush_part(MPID_Remote r, bool by_device, struct MPID_COMPLETION *c, int *error_code)
{
    struct memop *v = make(r, MEMOP_FLUSH, 0, 0, c, error_code);
    if (v == NULL)
        return;
    v->by_device = by_device;
    MPID_Memop_push(v);
}

void MPID_Mem_flush(MPID_Remote r, struct MPID_COMPLETION *c, int *error_code)
{
    struct peer *p = r->peer;
    bool later, by_packets; /* later: what is to be flushed may not have been begun */
    int err = check_range(r, 0, 0);
    if (err != 0) {
        *error_code = err;
        return;
    }
    c->pending++; /* for this call, so that the parts do not end it before both are begun */
    later = p != NULL && p->mem_head != NULL;
    by_packets = p != NULL && (p->mem_put || later);
    if (p != NULL && p->cd->mem.put != NULL && (p->mem_by_device || later))
        flush_part(r, true, c, error_code);
    if (by_packets)
        flush_part(r, false, c, error_code);
    complete(c, r->grank, 0);
}

void MPID_Mem_wait(struct MPID_COMPLETION *c, int *error_code)
{
    struct ku_wait w = { 0 };
    while (c->pending > 0)
        if (MPID_Progress() > 0)
            ku_wait_reset(&w);
        else
            MPID_Wait_step(&w, NULL);
    if (c->error == MPID_Gone_class())
        *error_code = MPID_Err_gone(c->rank);
    else if (c->error != 0)
        *error_code =
            ku_err_set(c->error, NULL, "an access to the memory of rank %d was refused there", (int)c->rank);
}
