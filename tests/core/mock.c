/* The mock device: a plug-in that carries packets through memory the test provides, in order for each pair of ranks, but
 * refusing, delaying, queueing and losing ranks as the test asks, and so reordering between peers. */
#include "mock.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct address {
    int32_t grank;
    uint32_t epoch;
};

struct pending { /* a send that was DEV_QUEUED */
    struct pending *next;
    struct dev_peer *peer;
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
    int room_used, told_gone;
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

static void ring(struct dev *d, int32_t grank)
{
    uint64_t one = 1;
    atomic_thread_fence(memory_order_seq_cst);
    if (!d->shared->how.far)
        d->services->wake(&ku_segment_rank(d->world->segment, (uint32_t)grank)->sleeping, true);
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
    if (!p->queued && !percent(d, d->shared->how.refuse))
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

static dev_status mock_send(struct dev_peer *p, const struct dev_head *head, const struct dev_iov *iov, int n,
                            void *cookie)
{
    struct dev *d = p->dev;
    dev_status s = refuse(p);
    struct pending *w;
    if (s != DEV_OK)
        return s;
    if (n > MOCK_IOV || !percent(d, d->shared->how.queue) || (w = malloc(sizeof *w)) == NULL)
        return put_iov(p, head, iov, n);
    *w = (struct pending){
        .peer = p, .head = *head, .n = n, .cookie = cookie, .rounds = (int)(d->random >> 61)
    };
    memcpy(w->iov, iov, (size_t)n * sizeof *iov);
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
            s = lost(d, w->peer->grank) ? DEV_PEER_GONE : put_iov(w->peer, &w->head, w->iov, w->n);
        else if (!(held & bit))
            events++;
        if (s == DEV_AGAIN) {
            held |= bit;
            at = &w->next;
            continue;
        }
        *at = w->next;
        w->peer->queued--;
        d->services->sent(d->services->core, w->cookie, s);
        free(w);
        events++;
    }
    d->last = d->first;
    while (d->last != NULL && d->last->next != NULL)
        d->last = d->last->next;
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
        d->services->deliver(d->services->core, &k->head, k->body, k->len);
        atomic_store_explicit(&r->got, got + 1, memory_order_release);
        ring(d, from);
    }
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
    if (atomic_load(&d->shared->is_lost) && !d->told_gone) {
        d->told_gone = 1;
        for (int i = 0; i < d->world->size; i++)
            if (i != d->world->rank && (i == d->shared->how.lost || d->shared->how.lost == d->world->rank))
                d->services->peer_gone(d->services->core, i);
        n++;
    }
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

static size_t mock_address(const struct dev *d, void *buf, size_t cap)
{
    struct address a = { .grank = d->world->rank, .epoch = d->world->epoch };
    if (!d->shared->how.far)
        return 0;
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
                                  .address = mock_address,
                                  .wait_fd = mock_wait_fd,
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
