/* The mock device: a plug-in that carries packets through memory the test provides, in order for each pair of ranks, but
 * refusing, delaying, queueing and losing ranks as the test asks, and so reordering between peers. */
#include "mock.h"
#include <stdlib.h>
#include <string.h>

struct pending { /* a send that was DEV_QUEUED */
    struct pending *next;
    struct dev_peer *peer;
    struct dev_head head;
    const void *base;
    size_t len;
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
    int room_used, told_gone;
};

struct dev_peer {
    struct dev *dev;
    int32_t grank;
    int queued;
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
    *dev = d;
    return DEV_OK;
}

static void mock_caps(const struct dev *d, struct dev_caps *caps)
{
    (void)d;
    *caps = (struct dev_caps){ .max_short = 48,
                               .max_send = MOCK_BODY,
                               .latency_ns = 50,
                               .bandwidth_mbs = 1000,
                               .reach = DEV_REACH_NODE,
                               .ordered = true,
                               .mem_kinds = 1 };
}

static struct mock_packet *slot_to(struct dev_peer *p)
{
    struct mock_ring *r = &p->dev->shared->ring[p->grank][p->dev->world->rank];
    uint32_t put = atomic_load_explicit(&r->put, memory_order_relaxed);
    if (put - atomic_load_explicit(&r->got, memory_order_acquire) == MOCK_SLOTS)
        return NULL;
    return &r->slot[put % MOCK_SLOTS];
}

static int lost(struct dev *d, int32_t grank)
{
    return atomic_load(&d->shared->is_lost) && d->shared->how.lost == grank;
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
    atomic_thread_fence(memory_order_seq_cst);
    d->services->wake(&ku_segment_rank(d->world->segment, (uint32_t)p->grank)->sleeping, true);
}

static dev_status put(struct dev_peer *p, const struct dev_head *head, const void *body, size_t len)
{
    struct mock_packet *k = slot_to(p);
    if (k == NULL)
        return DEV_AGAIN;
    k->head = *head;
    k->len = (uint32_t)len;
    if (len > 0)
        memcpy(k->body, body, len);
    publish(p);
    return DEV_OK;
}

static dev_status refuse(struct dev_peer *p)
{
    struct dev *d = p->dev;
    if (lost(d, p->grank) || lost(d, d->world->rank))
        return DEV_PEER_GONE;
    return p->queued || percent(d, d->shared->how.refuse) ? DEV_AGAIN : DEV_OK;
}

static dev_status mock_send_short(struct dev_peer *p, const struct dev_head *head, const void *body)
{
    dev_status s = refuse(p);
    return s != DEV_OK ? s : put(p, head, body, head->len);
}

static dev_status mock_send(struct dev_peer *p, const struct dev_head *head, const struct dev_iov *iov, int n,
                            void *cookie)
{
    struct dev *d = p->dev;
    dev_status s = refuse(p);
    struct pending *w;
    if (s != DEV_OK || n != 1)
        return s != DEV_OK ? s : DEV_ERROR;
    if (!percent(d, d->shared->how.queue) || (w = malloc(sizeof *w)) == NULL)
        return put(p, head, iov->base, iov->len);
    *w = (struct pending){ .peer = p,
                           .head = *head,
                           .base = iov->base,
                           .len = iov->len,
                           .cookie = cookie,
                           .rounds = (int)(d->random >> 61) };
    if (d->last != NULL)
        d->last->next = w;
    else
        d->first = w;
    d->last = w;
    p->queued++;
    return DEV_QUEUED;
}

static void *mock_reserve(struct dev_peer *p, size_t want)
{
    if (p->dev->room_used || want > MOCK_BODY || percent(p->dev, p->dev->shared->how.refuse))
        return NULL;
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

/* The first queued send, if its time has come. */
static int progress_pending(struct dev *d)
{
    struct pending *w = d->first;
    dev_status s;
    if (w == NULL)
        return 0;
    if (w->rounds-- > 0)
        return 1;
    s = lost(d, w->peer->grank) ? DEV_PEER_GONE : put(w->peer, &w->head, w->base, w->len);
    if (s == DEV_AGAIN)
        return 0;
    d->first = w->next;
    if (d->first == NULL)
        d->last = NULL;
    w->peer->queued--;
    d->services->sent(d->services->core, w->cookie, s);
    free(w);
    return 1;
}

static int progress_from(struct dev *d, int32_t from)
{
    struct mock_ring *r = &d->shared->ring[d->world->rank][from];
    uint32_t got = atomic_load_explicit(&r->got, memory_order_relaxed);
    struct mock_packet *k = &r->slot[got % MOCK_SLOTS];
    if (got == atomic_load_explicit(&r->put, memory_order_acquire))
        return 0;
    if (!percent(d, d->shared->how.delay)) {
        d->services->deliver(d->services->core, &k->head, k->body, k->len);
        atomic_store_explicit(&r->got, got + 1, memory_order_release);
        atomic_thread_fence(memory_order_seq_cst);
        d->services->wake(&ku_segment_rank(d->world->segment, (uint32_t)from)->sleeping, true);
    }
    return 1;
}

static int mock_progress(struct dev *d)
{
    int n = progress_pending(d), start = (int)(d->random >> 40) % d->world->size;
    for (int i = 0; i < d->world->size; i++)
        n += progress_from(d, (start + i) % d->world->size);
    if (atomic_load(&d->shared->is_lost) && !d->told_gone) {
        d->told_gone = 1;
        for (int i = 0; i < d->world->size; i++)
            if (i != d->world->rank && (i == d->shared->how.lost || d->shared->how.lost == d->world->rank))
                d->services->peer_gone(d->services->core, i);
        n++;
    }
    return n;
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

static dev_status mock_peer_init(struct dev *d, int32_t grank, const void *addr, size_t len,
                                 struct dev_peer **peer)
{
    (void)addr, (void)len;
    *peer = calloc(1, sizeof **peer);
    if (*peer == NULL)
        return DEV_ERROR;
    (*peer)->dev = d;
    (*peer)->grank = grank;
    return DEV_OK;
}

static void mock_peer_stop(struct dev_peer *p)
{
    while (p->queued > 0)
        mock_progress(p->dev);
}

static void mock_peer_fini(struct dev_peer *p)
{
    free(p);
}

static _Atomic uint32_t *mock_wait_word(struct dev *d)
{
    return &ku_segment_rank(d->world->segment, (uint32_t)d->world->local_rank)->sleeping;
}

const struct dev_ops *keel_device(void);
__attribute__((visibility("default"))) const struct dev_ops *keel_device(void)
{
    static struct dev_ops ops = { .version = DEV_VERSION,
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
                                  .wait_word = mock_wait_word };
    const char *where = getenv("KEEL_MOCK");
    const struct mock_shared *s = where ? (struct mock_shared *)(uintptr_t)strtoull(where, NULL, 16) : NULL;
    if (s == NULL || !s->how.no_reserve) {
        ops.reserve = mock_reserve;
        ops.commit = mock_commit;
        ops.drop = mock_drop;
    }
    return &ops;
}
