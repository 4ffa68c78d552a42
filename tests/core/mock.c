/* SPDX-License-Identifier: BSD-3-Clause */
/* The mock device: a plug-in that carries packets through memory the test provides, in order for each pair of
 * ranks, but refusing, delaying, queueing and losing ranks as the test asks, and so reordering between peers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* process_vm_readv */
#endif
#include "mock.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LONG = 20 << 10 /* longer than a page, a pipe's record, a line */ };

struct address {
    int32_t grank;
    uint32_t epoch;
    uint8_t rest[LONG];
};

static uint8_t rest_of(int32_t grank, uint32_t i)
{
    return (uint8_t)((uint32_t)grank * 31 + i * 7 + i / 256);
}

struct dev_region {
    struct dev *dev;
    int i; /* of shared->region[rank] */
    uint32_t gen;
};

struct mock_key {
    uint32_t rank, i, gen, zero;
    uint64_t len;
};

struct dev_remote {
    struct dev_peer *peer;
    struct mock_key key;
};

/* An operation on memory, as it was asked for. */
struct call {
    enum { PUT, GET, ATOMIC, FLUSH } kind;
    struct dev_remote *remote;
    uint64_t offset;
    char *local; /* PUT: from; GET: to; ATOMIC: the result */
    size_t len;
    enum keel_atomic_op op;
    enum keel_atomic_type type;
    const void *operand, *compare;
};

struct pending { /* a send or an operation on memory that was DEV_QUEUED */
    struct pending *next;
    struct dev_peer *peer;
    bool is_call;
    struct call call;
    struct dev_head head;
    struct dev_iov iov[MOCK_IOV];
    int n;
    void *cookie;
    int rounds;
};

struct dev {
    const struct dev_services *services;
    const struct dev_world *world;
    struct mock_shared *shared;
    uint64_t random;
    struct pending *first, *last;
    struct mock_packet room; /* of reserve */
    int room_used;
    bool far_works;     /* the kernel lets this process reach a peer's memory */
    uint32_t told_gone; /* a bit for each rank */
    _Atomic int
        refused; /* a send was refused by whim: the next progress is an event, as the contract wants */
    atomic_flag sending;    /* any number of threads may send at once */
    struct dev_peer *peers; /* all of them */
};

struct dev_peer {
    bool known; /* far: its address has come */
    struct dev *dev;
    int32_t grank;
    int queued;
    _Atomic int full; /* a send found no slot */
    struct dev_peer *next;
};

static int percent(struct dev *d, uint32_t p)
{
    d->random = d->random * 6364136223846793005ull + 1442695040888963407ull;
    return (d->random >> 33) % 100 < p;
}

static dev_status mock_open(const struct dev_services *services, const struct dev_world *world,
                            struct dev **dev)
{
    const char *where = services->knob(services->core, "MOCK");
    struct dev *d;
    *dev = NULL;
    if (where == NULL || world->size > MOCK_RANKS) {
        services->error(services->core, "the mock device needs KEEL_MOCK and at most 5 ranks");
        return DEV_NO_SUPPORT;
    }
    d = calloc(1, sizeof *d);
    if (d == NULL) {
        services->error(services->core, "no memory");
        return DEV_ERROR;
    }
    d->services = services;
    d->world = world;
    d->shared = (struct mock_shared *)(uintptr_t)strtoull(where, NULL, 16);
    d->random = d->shared->how.seed * 1000003ull + (uint32_t)world->rank;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* peers read and write this memory */
    atomic_store(&d->shared->pid[world->rank], getpid());
    atomic_flag_clear(&d->sending);
    *dev = d;
    return DEV_OK;
}

static void mock_caps(const struct dev *d, struct dev_caps *caps)
{
    *caps = (struct dev_caps){ .max_short = 48,
                               .max_send = MOCK_BODY,
                               .latency_ns = d->shared->how.far ? 5000 : 50,
                               .bandwidth_mbs = 1000,
                               .reach = d->shared->how.far ? DEV_REACH_ANY : DEV_REACH_NODE,
                               .mem_kinds = 1,
                               .unaided = true };
}

static struct mock_packet *slot_to(struct dev_peer *p)
{
    struct mock_ring *r = &p->dev->shared->ring[p->grank][p->dev->world->rank];
    uint32_t put = atomic_load_explicit(&r->put, memory_order_relaxed);
    if (put - atomic_load_explicit(&r->got, memory_order_acquire) == MOCK_SLOTS)
        return NULL;
    return &r->slot[put % MOCK_SLOTS];
}

static int died(const struct dev *d, int32_t grank)
{
    return atomic_load(&ku_segment_gone(d->world->segment)[grank]) != 0;
}

static int lost(const struct dev *d, int32_t grank)
{
    return died(d, grank) || (atomic_load(&d->shared->is_lost) && d->shared->how.lost == grank);
}

static void ring(struct dev *d, int32_t grank)
{
    uint64_t one = 1;
    atomic_thread_fence(memory_order_seq_cst);
    if (!d->shared->how.far)
        d->services->wake(&ku_segment_rank(d->world->segment, (uint32_t)grank)->sleeping, true);
    else if (d->shared->how.arms && !atomic_exchange(&d->shared->armed[grank], 0))
        return; /* it does not sleep, or another has rung already */
    else if (write(d->shared->bell[grank], &one, sizeof one) < 0)
        abort();
}

static void publish(struct dev_peer *p)
{
    struct dev *d = p->dev;
    struct mock_shared *s = d->shared;
    struct mock_ring *r = &s->ring[p->grank][d->world->rank];
    uint32_t n = atomic_fetch_add(&s->sent[d->world->rank], 1) + 1;
    atomic_fetch_add_explicit(&r->put, 1, memory_order_release);
    if (s->how.lost_after != 0 && s->how.lost == d->world->rank && n >= s->how.lost_after)
        atomic_store(&s->is_lost, 1);
    ring(d, p->grank);
}

static dev_status put_iov(struct dev_peer *p, const struct dev_head *head, const struct dev_iov *iov, int n)
{
    struct mock_packet *k = slot_to(p);
    if (k == NULL) {
        p->full = 1;
        return DEV_AGAIN;
    }
    k->head = *head;
    k->len = 0;
    for (int i = 0; i < n; i++) {
        if (iov[i].len > 0)
            memcpy(k->body + k->len, iov[i].base, iov[i].len);
        k->len += (uint32_t)iov[i].len;
    }
    publish(p);
    return DEV_OK;
}

static dev_status put(struct dev_peer *p, const struct dev_head *head, const void *body, size_t len)
{
    return put_iov(p, head, &(struct dev_iov){ .base = body, .len = len }, 1);
}

static void lock(struct dev *d)
{
    while (atomic_flag_test_and_set(&d->sending))
        sched_yield();
}

static void unlock(struct dev *d)
{
    atomic_flag_clear(&d->sending);
}

/* Has the peer told where it is?  (It is where it always was; but nobody may send to it before.) */
static bool look_up(struct dev_peer *p)
{
    const struct dev_services *s = p->dev->services;
    struct address a = { 0 };
    size_t n = s->address(s->core, p->grank, &a, sizeof a);
    for (uint32_t i = 0; n == sizeof a && i < LONG; i++)
        if (a.rest[i] != rest_of(p->grank, i))
            abort();
    if (n == sizeof a && (a.grank != p->grank || a.epoch != p->dev->world->epoch))
        abort();
    return n == sizeof a;
}

static dev_status refuse(struct dev_peer *p)
{
    struct dev *d = p->dev;
    if (lost(d, p->grank) || lost(d, d->world->rank))
        return DEV_PEER_GONE;
    if (!p->known && (p->known = !d->shared->how.far || look_up(p)) == false) {
        p->full = 1;
        return DEV_AGAIN;
    }
    if (p->queued) /* sent tells that the next try is worth it */
        return DEV_AGAIN;
    if (!percent(d, d->shared->how.refuse))
        return DEV_OK;
    d->refused = 1;
    return DEV_AGAIN;
}

static dev_status mock_send_short(struct dev_peer *p, const struct dev_head *head, const void *body)
{
    dev_status s;
    lock(p->dev);
    s = refuse(p);
    s = s != DEV_OK ? s : put(p, head, body, head->len);
    unlock(p->dev);
    return s;
}

static void queue_pending(struct dev *d, const struct pending *what)
{
    struct pending *w = malloc(sizeof *w);
    if (w == NULL)
        abort();
    *w = *what;
    w->rounds = (int)(d->random >> 61);
    if (d->last != NULL)
        d->last->next = w;
    else
        d->first = w;
    d->last = w;
    w->peer->queued++;
}

static dev_status mock_send(struct dev_peer *p, const struct dev_head *head, const struct dev_iov *iov, int n,
                            void *cookie)
{
    struct dev *d = p->dev;
    dev_status s = refuse(p);
    struct pending w = { .peer = p, .head = *head, .n = n, .cookie = cookie };
    if (s != DEV_OK)
        return s;
    if (n > MOCK_IOV || !percent(d, d->shared->how.queue))
        return put_iov(p, head, iov, n);
    memcpy(w.iov, iov, (size_t)n * sizeof *iov);
    queue_pending(d, &w);
    return DEV_QUEUED;
}

static void *mock_reserve(struct dev_peer *p, size_t want)
{
    if (p->dev->room_used || want > MOCK_BODY || percent(p->dev, p->dev->shared->how.refuse)) {
        p->dev->refused = 1;
        return NULL;
    }
    p->dev->room_used = 1;
    return p->dev->room.body;
}

static void mock_drop(struct dev_peer *p, void *room)
{
    (void)room;
    p->dev->room_used = 0;
}

static dev_status mock_commit(struct dev_peer *p, const struct dev_head *head, void *room, size_t len)
{
    dev_status s = refuse(p);
    s = s != DEV_OK ? s : put(p, head, room, len);
    if (s != DEV_AGAIN)
        p->dev->room_used = 0;
    return s;
}

/* ---- Memory of peers: what of the heaps is registered ---- */

static dev_status mem_register(struct dev *d, void *base, size_t len, enum dev_mem mem,
                               struct dev_region **region)
{
    struct mock_shared *s = d->shared;
    uint64_t off = (uint64_t)((uintptr_t)base - (uintptr_t)s->heap[d->world->rank]);
    int i = 0;
    while (i < MOCK_REGIONS && (atomic_load(&s->region[d->world->rank][i].gen) & 1))
        i++;
    bool in_heap = off <= MOCK_HEAP && len <= MOCK_HEAP - off;
    if (mem != DEV_MEM_HOST || (!in_heap && s->how.mem < 2) || i == MOCK_REGIONS)
        return DEV_NO_SUPPORT;
    *region = malloc(sizeof **region);
    if (*region == NULL)
        return DEV_ERROR;
    s->region[d->world->rank][i].off = in_heap ? off : UINT64_MAX;
    s->region[d->world->rank][i].base = (uintptr_t)base;
    s->region[d->world->rank][i].len = len;
    **region = (struct dev_region){ d, i, atomic_fetch_add(&s->region[d->world->rank][i].gen, 1) + 1 };
    return DEV_OK;
}

static void mem_unregister(struct dev_region *r)
{
    atomic_fetch_add(&r->dev->shared->region[r->dev->world->rank][r->i].gen, 1);
    free(r);
}

static size_t mem_key(const struct dev_region *r, void *buf, size_t cap)
{
    uint32_t me = (uint32_t)r->dev->world->rank;
    struct mock_key k = { me, (uint32_t)r->i, r->gen, 0, r->dev->shared->region[me][r->i].len };
    if (cap > 0)
        memcpy(buf, &k, cap < sizeof k ? cap : sizeof k);
    return sizeof k;
}

static dev_status mem_open(struct dev_peer *p, const void *key, size_t len, struct dev_remote **remote)
{
    struct mock_key k;
    if (len != sizeof k)
        return DEV_ERROR;
    memcpy(&k, key, sizeof k);
    if (k.rank != (uint32_t)p->grank || k.i >= MOCK_REGIONS || k.zero != 0)
        return DEV_ERROR;
    *remote = malloc(sizeof **remote);
    if (*remote == NULL)
        return DEV_ERROR;
    **remote = (struct dev_remote){ p, k };
    return DEV_OK;
}

static void mem_close(struct dev_remote *r)
{
    free(r);
}

/* NULL: the region is gone, or the bytes are not in it. */
static struct mock_region *region_of(const struct dev_remote *r, uint64_t offset, size_t len)
{
    struct mock_region *g = &r->peer->dev->shared->region[r->key.rank][r->key.i];
    return atomic_load(&g->gen) == r->key.gen && offset <= g->len && len <= g->len - offset ? g : NULL;
}

/* In the peer's own memory.  The kernel may forbid that. */
static dev_status do_far(const struct call *c, uint64_t base)
{
    struct mock_shared *s = c->remote->peer->dev->shared;
    struct iovec here = { c->local, c->len }, there = { (void *)(uintptr_t)(base + c->offset), c->len };
    int pid = atomic_load(&s->pid[c->remote->key.rank]);
    ssize_t n;
    if (c->kind == ATOMIC)
        return DEV_NO_SUPPORT;
    n = c->kind == GET ? process_vm_readv(pid, &here, 1, &there, 1, 0)
                       : process_vm_writev(pid, &here, 1, &there, 1, 0);
    atomic_fetch_add(n < 0 ? &s->far_refused : &s->far_gets, c->kind == GET);
    if (n == (ssize_t)c->len)
        return DEV_OK;
    return c->remote->peer->dev->far_works ? DEV_ERROR : DEV_NO_SUPPORT;
}

static dev_status do_call(const struct call *c)
{
    struct mock_region *g = c->kind != FLUSH ? region_of(c->remote, c->offset, c->len) : NULL;
    unsigned char *at;
    if (c->kind == FLUSH)
        return DEV_OK;
    if (g == NULL)
        return DEV_ERROR;
    if (g->off == UINT64_MAX)
        return do_far(c, g->base);
    at = c->remote->peer->dev->shared->heap[c->remote->key.rank] + g->off + c->offset;
    if (c->kind == PUT)
        memcpy(at, c->local, c->len);
    else if (c->kind == GET)
        memcpy(c->local, at, c->len);
    else
        keel_atomic(at, c->op, c->type, c->operand, c->compare, c->local);
    return DEV_OK;
}

/* Operations on memory that wait here hold up those behind them, so flush is in its place. */
static dev_status mem_call(struct dev_peer *p, const struct call *c, void *cookie)
{
    struct dev *d = p->dev;
    struct mock_region *g;
    if (lost(d, p->grank) || lost(d, d->world->rank))
        return DEV_PEER_GONE;
    if (percent(d, d->shared->how.refuse)) {
        d->refused = 1;
        return DEV_AGAIN;
    }
    atomic_fetch_add(&d->shared->mem_calls, c->kind != FLUSH);
    g = c->kind != FLUSH ? region_of(c->remote, c->offset, c->len) : NULL;
    if (c->kind != FLUSH && g == NULL)
        return DEV_ERROR;
    if (g != NULL && g->off == UINT64_MAX && (c->kind == ATOMIC || !d->far_works)) {
        dev_status s = do_call(c);
        d->far_works |= s == DEV_OK;
        return s;
    }
    if (p->queued == 0 && !percent(d, d->shared->how.queue))
        return do_call(c);
    queue_pending(d, &(struct pending){ .peer = p, .is_call = true, .call = *c, .cookie = cookie });
    return DEV_QUEUED;
}

static dev_status mem_put(struct dev_remote *r, uint64_t offset, const void *from, size_t len,
                          struct dev_region *region, void *cookie)
{
    (void)region;
    return mem_call(r->peer, &(struct call){ PUT, r, offset, (char *)(uintptr_t)from, len, .operand = NULL },
                    cookie);
}

static dev_status mem_get(struct dev_remote *r, uint64_t offset, void *to, size_t len,
                          struct dev_region *region, void *cookie)
{
    (void)region;
    return mem_call(r->peer, &(struct call){ GET, r, offset, to, len, .operand = NULL }, cookie);
}

static dev_status mem_atomic(struct dev_remote *r, uint64_t offset, enum keel_atomic_op op,
                             enum keel_atomic_type type, const void *operand, const void *compare,
                             void *result, void *cookie)
{
    struct call c = { ATOMIC, r, offset, result, keel_atomic_bytes(type), op, type, operand, compare };
    if (op == KEEL_ATOMIC_PROD)
        return DEV_NO_SUPPORT; /* so that some go by packets */
    return mem_call(r->peer, &c, cookie);
}

static dev_status mem_flush(struct dev_peer *p, void *cookie)
{
    return mem_call(p, &(struct call){ .kind = FLUSH }, cookie);
}

static const struct dev_mem_ops mem_ops = { .size = sizeof mem_ops,
                                            .mem_register = mem_register,
                                            .mem_unregister = mem_unregister,
                                            .mem_key = mem_key,
                                            .mem_open = mem_open,
                                            .mem_close = mem_close,
                                            .put = mem_put,
                                            .get = mem_get,
                                            .atomic = mem_atomic,
                                            .flush = mem_flush };

static void find_last(struct dev *d)
{
    d->last = d->first;
    while (d->last != NULL && d->last->next != NULL)
        d->last = d->last->next;
}

/* The queued sends whose time has come, in order for each peer; one that must wait holds up its peer's alone. */
static int progress_pending(struct dev *d)
{
    uint32_t held = 0;
    int events = 0;
    for (struct pending **at = &d->first; *at != NULL;) {
        struct pending *w = *at;
        uint32_t bit = 1u << w->peer->grank;
        dev_status s = DEV_AGAIN;
        if (!(held & bit) && w->rounds-- <= 0)
            s = lost(d, w->peer->grank) ? DEV_PEER_GONE
                : w->is_call            ? do_call(&w->call)
                                        : put_iov(w->peer, &w->head, w->iov, w->n);
        else if (!(held & bit))
            events++;
        if (s == DEV_AGAIN) {
            held |= bit;
            at = &w->next;
            continue;
        }
        *at = w->next;
        find_last(d); /* sent may queue more */
        w->peer->queued--;
        d->services->sent(d->services->core, w->cookie, s);
        free(w);
        events++;
    }
    return events;
}

static int progress_from(struct dev *d, int32_t from)
{
    struct mock_ring *r = &d->shared->ring[d->world->rank][from];
    uint32_t got = atomic_load_explicit(&r->got, memory_order_relaxed);
    struct mock_packet *k = &r->slot[got % MOCK_SLOTS];
    if (got == atomic_load_explicit(&r->put, memory_order_acquire))
        return 0;
    if (!percent(d, d->shared->how.delay)) {
        d->services->deliver(d->services->core, from, &k->head, k->body, k->len);
        atomic_store_explicit(&r->got, got + 1, memory_order_release);
        ring(d, from);
    }
    return 1;
}

/* All the same if this rank is the one that the others have lost.  What a dead process has sent comes first. */
static bool gone_untold(const struct dev *d, int32_t grank)
{
    const struct mock_ring *r = &d->shared->ring[d->world->rank][grank];
    bool cut = atomic_load(&d->shared->is_lost) &&
               (d->shared->how.lost == grank || d->shared->how.lost == d->world->rank);
    return grank != d->world->rank && !(d->told_gone >> grank & 1) &&
           (cut || (died(d, grank) && atomic_load(&r->got) == atomic_load(&r->put)));
}

static int tell_gone(struct dev *d, int32_t grank)
{
    if (!gone_untold(d, grank))
        return 0;
    d->told_gone |= 1u << grank;
    d->services->peer_gone(d->services->core, grank);
    return 1;
}

static int progress(struct dev *d)
{
    int n = progress_pending(d) + atomic_exchange(&d->refused, 0),
        start = (int)(d->random >> 40) % d->world->size;
    for (struct dev_peer *p = d->peers; p != NULL; p = p->next)
        if (p->full && slot_to(p) != NULL && (p->known || !d->shared->how.far || look_up(p))) {
            p->full = 0;
            n++;
        }
    for (int i = 0; i < d->world->size; i++)
        n += progress_from(d, (start + i) % d->world->size);
    for (int i = 0; i < d->world->size; i++)
        n += tell_gone(d, i);
    return n;
}

static int mock_progress(struct dev *d)
{
    uint64_t rung;
    if (d->shared->how.far && read(d->shared->bell[d->world->rank], &rung, sizeof rung) < 0 &&
        errno != EAGAIN)
        abort();
    return progress(d);
}

static void mock_close(struct dev *d)
{
    while (d->first != NULL)
        mock_progress(d);
}

static void mock_fini(struct dev *d)
{
    free(d);
}

static dev_status mock_peer_init(struct dev *d, int32_t grank, struct dev_peer **peer)
{
    if (grank < 0 || grank >= d->world->size) {
        d->services->error(d->services->core, "no such rank");
        return DEV_NO_SUPPORT;
    }
    *peer = calloc(1, sizeof **peer);
    if (*peer == NULL)
        return DEV_ERROR;
    (*peer)->dev = d;
    (*peer)->grank = grank;
    (*peer)->next = d->peers;
    d->peers = *peer;
    return DEV_OK;
}

static void mock_peer_stop(struct dev_peer *p)
{
    while (p->queued > 0)
        mock_progress(p->dev);
}

static void mock_peer_fini(struct dev_peer *p)
{
    struct dev_peer **at;
    if (p == NULL)
        return;
    for (at = &p->dev->peers; *at != p; at = &(*at)->next)
        ;
    *at = p->next;
    free(p);
}

static int mock_wait_fd(struct dev *d)
{
    return d->shared->how.far ? d->shared->bell[d->world->rank] : -1;
}

/* Has something come, or become possible, that progress would find? */
static bool would_find(struct dev *d)
{
    bool some = d->first != NULL || d->refused;
    for (struct dev_peer *p = d->peers; p != NULL; p = p->next)
        some = some || (p->full && slot_to(p) != NULL && (p->known || look_up(p)));
    for (int i = 0; i < d->world->size; i++) {
        const struct mock_ring *r = &d->shared->ring[d->world->rank][i];
        some = some || gone_untold(d, i) || atomic_load(&r->got) != atomic_load(&r->put);
    }
    return some;
}

static bool mock_arm(struct dev *d)
{
    bool may;
    atomic_store(&d->shared->armed[d->world->rank], 1);
    may = !d->shared->how.arms || !would_find(d);
    atomic_fetch_add(&d->shared->arm_calls, 1);
    atomic_fetch_add(&d->shared->unarmed, !may);
    return may;
}

static size_t mock_address(const struct dev *d, void *buf, size_t cap)
{
    struct address a = { .grank = d->world->rank, .epoch = d->world->epoch };
    if (!d->shared->how.far)
        return 0;
    for (uint32_t i = 0; i < LONG; i++)
        a.rest[i] = rest_of(a.grank, i);
    memcpy(buf, &a, cap < sizeof a ? cap : sizeof a);
    return sizeof a;
}

static _Atomic uint32_t *mock_wait_word(struct dev *d)
{
    if (d->shared->how.far)
        return NULL;
    return &ku_segment_rank(d->world->segment, (uint32_t)d->world->local_rank)->sleeping;
}

const struct dev_ops *keel_device(void);
__attribute__((visibility("default"))) const struct dev_ops *keel_device(void)
{
    static const struct dev_knob knobs[] = {
        { .name = "MOCK",
          .type = DEV_KNOB_TEXT,
          .help = "where the test keeps what it shares with the device" },
    };
    static struct dev_ops ops = { .size = sizeof ops,
                                  .version = DEV_VERSION,
                                  .name = "mock",
                                  .open = mock_open,
                                  .caps = mock_caps,
                                  .close = mock_close,
                                  .fini = mock_fini,
                                  .peer_init = mock_peer_init,
                                  .peer_stop = mock_peer_stop,
                                  .peer_fini = mock_peer_fini,
                                  .send_short = mock_send_short,
                                  .send = mock_send,
                                  .progress = mock_progress,
                                  .address = mock_address,
                                  .wait_fd = mock_wait_fd,
                                  .arm = mock_arm,
                                  .wait_word = mock_wait_word,
                                  .knobs = knobs,
                                  .nknobs = 1,
                                  .knob_size = sizeof knobs[0] };
    const char *where = getenv("KEEL_MOCK");
    const struct mock_shared *s = where ? (struct mock_shared *)(uintptr_t)strtoull(where, NULL, 16) : NULL;
    if (s == NULL || !s->how.no_reserve) {
        ops.reserve = mock_reserve;
        ops.commit = mock_commit;
        ops.drop = mock_drop;
    }
    ops.mem = s != NULL && s->how.mem ? &mem_ops : NULL;
    return &ops;
}
