/* SPDX-License-Identifier: BSD-3-Clause */
/* hook.c: one table of functions around another.
 *
 * Invariants
 *   1. What comes from the inner device goes through one list (`come`) as long as something is in it, so its order
 *      stays; the death of a peer, too, which is told after what it had sent.
 *   2. While something waits here, progress counts an event: nobody sleeps on the inner device's word then.
 *   3. The inner device's cookie of a send is a struct owed, which knows the core's. */
#include "hook.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "util/clock.h"
#include "util/err.h"

enum { LATE_LOOKS = 3, CLASSES = 3 /* of peers: itself, this node, others */ };

/* What came: a packet, or word that a peer is gone. */
struct come {
    struct come *next;
    uint64_t due; /* clock; late: the look from which on it may be delivered */
    int32_t peer;
    bool gone;
    struct dev_head head;
    size_t len;
    _Alignas(8) unsigned char body[];
};

/* A send that the inner device may queue, or that is said to be queued. */
struct owed {
    struct owed *next;
    struct dev_peer *peer;
    void *cookie;
    uint64_t since;
};

struct counts {
    uint64_t sent, sent_bytes, came, came_bytes, refused, queued, queued_ns;
};

struct dev {
    struct dev_ops inner;
    struct dev *dev;
    struct dev_services up, services; /* services: what the inner device sees */
    struct dev_world world;
    struct dev_hook_how how;
    struct come *first, *last;
    struct owed *owed, *owed_last;
    uint64_t looks;
    _Atomic uint64_t random;
    _Atomic bool refused; /* a send was, by whim: the next progress is an event */
    _Atomic bool lost;    /* a peer was declared gone and that has to be told */
    struct dev_peer *peers;
    struct counts counts[CLASSES];
};

struct dev_peer {
    struct dev *dev;
    struct dev_peer *inner, *next;
    int32_t grank;
    _Atomic uint64_t packets; /* sent to it */
    _Atomic bool gone;
    bool told; /* by this hook: gone_after */
};

/* ---- What is asked for ---- */

static bool hook_number(const char *s, const char *end, uint32_t most, uint32_t *n)
{
    uint64_t v = 0;
    for (const char *at = s; at < end; at++) {
        if (*at < '0' || *at > '9' || (v = v * 10 + (uint64_t)(*at - '0')) > most)
            return false;
    }
    *n = (uint32_t)v;
    return end > s;
}

static bool parse_one(const char *s, const char *end, struct dev_hook_how *how)
{
    const struct {
        const char *text;
        uint32_t most, *n;
    } rows[] = { { "delay:us=", 10000000, &how->delay_us },
                 { "refuse:percent=", 99, &how->refuse },
                 { "queue:percent=", 100, &how->queue },
                 { "late:percent=", 100, &how->late },
                 { "gone:after=", UINT32_MAX, &how->gone_after } };
    size_t n = (size_t)(end - s);
    if (n == 5 && memcmp(s, "stats", 5) == 0)
        return how->stats = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (n > strlen(rows[i].text) && memcmp(s, rows[i].text, strlen(rows[i].text)) == 0)
            return hook_number(s + strlen(rows[i].text), end, rows[i].most, rows[i].n);
    return false;
}

bool dev_hook_parse(const char *text, struct dev_hook_how *how)
{
    for (const char *s = text, *end; *s; s = *end ? end + 1 : end) {
        end = s + strcspn(s, ",");
        if (!parse_one(s, end, how)) {
            ku_err_set(
                1, NULL,
                "KEEL_HOOKS has \"%.*s\"; expected some of delay:us=N, refuse:percent=N, queue:percent=N, "
                "late:percent=N, gone:after=N, stats",
                (int)(end - s), s);
            return false;
        }
    }
    return true;
}

static bool percent(struct dev *d, uint32_t p)
{
    uint64_t x = p == 0 ? 0 : atomic_fetch_add(&d->random, 0x9e3779b97f4a7c15u);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) % 100 < p;
}

static struct counts *counts_of(struct dev *d, int32_t grank)
{
    bool here = dev_local_of(&d->world, grank) >= 0;
    return &d->counts[grank == d->world.rank ? 0 : here ? 1 : 2];
}

/* ---- What comes ---- */

static void hand_up(struct dev *d, int32_t peer, const struct dev_head *head, const void *body, size_t len)
{
    struct counts *c = counts_of(d, peer);
    c->came++;
    c->came_bytes += len;
    d->up.deliver(d->up.core, peer, head, body, len);
}

static void hook_keep(struct dev *d, int32_t peer, bool gone, const struct dev_head *head, const void *body,
                      size_t len, uint64_t due)
{
    struct come *c = malloc(sizeof *c + len + 1);
    if (c == NULL)
        abort(); /* a tool for tests: without memory it cannot go on */
    *c = (struct come){ .due = due, .peer = peer, .gone = gone, .len = len };
    if (head != NULL)
        c->head = *head;
    if (len > 0)
        memcpy(c->body, body, len);
    if (d->last != NULL)
        d->last->next = c;
    else
        d->first = c;
    d->last = c;
}

static void deliver(void *core, int32_t peer, const struct dev_head *head, const void *body, size_t len)
{
    struct dev *d = core;
    if (d->how.delay_us > 0)
        hook_keep(d, peer, false, head, body, len, ku_clock_ns() + d->how.delay_us * 1000ull);
    else if (d->first != NULL || percent(d, d->how.late))
        hook_keep(d, peer, false, head, body, len, d->looks + LATE_LOOKS);
    else
        hand_up(d, peer, head, body, len);
}

static void say_gone(struct dev *d, int32_t grank)
{
    for (struct dev_peer *p = d->peers; p != NULL; p = p->next)
        if (p->grank == grank)
            atomic_store(&p->gone, true); /* from now on each send is told, whatever the whims */
    d->up.peer_gone(d->up.core, grank);
}

static void peer_gone(void *core, int32_t grank)
{
    struct dev *d = core;
    if (d->first != NULL)
        hook_keep(d, grank, true, NULL, NULL, 0, d->last->due);
    else
        say_gone(d, grank);
}

static int deliver_due(struct dev *d)
{
    uint64_t now = d->how.delay_us > 0 ? ku_clock_ns() : ++d->looks;
    while (d->first != NULL && d->first->due <= now) {
        struct come *c = d->first;
        d->first = c->next;
        if (d->first == NULL)
            d->last = NULL;
        if (c->gone)
            say_gone(d, c->peer);
        else
            hand_up(d, c->peer, &c->head, c->body, c->len);
        free(c);
    }
    return d->first != NULL;
}

/* ---- What was sent ---- */

static void hook_settle(struct owed *o, dev_status status)
{
    struct dev *d = o->peer->dev;
    counts_of(d, o->peer->grank)->queued_ns += ku_clock_ns() - o->since;
    d->up.sent(d->up.core, o->cookie, status);
    free(o);
}

static void sent(void *core, void *cookie, dev_status status)
{
    (void)core;
    hook_settle(cookie, status);
}

static int settle_owed(struct dev *d)
{
    int n = 0;
    struct owed *list = d->owed;
    d->owed = d->owed_last = NULL;
    for (struct owed *next; list != NULL; list = next, n++) {
        next = list->next;
        hook_settle(list, DEV_OK);
    }
    return n;
}

/* ---- Other services ---- */

static void error(void *core, const char *text)
{
    struct dev *d = core;
    d->up.error(d->up.core, text);
}
static const char *knob(void *core, const char *name)
{
    struct dev *d = core;
    return d->up.knob(d->up.core, name);
}
static int64_t knob_number(void *core, const char *name)
{
    struct dev *d = core;
    return d->up.knob_number(d->up.core, name);
}
static size_t address(void *core, int32_t grank, void *buf, size_t cap)
{
    struct dev *d = core;
    return d->up.address(d->up.core, grank, buf, cap);
}

static bool is_failed(void *core, int32_t grank)
{
    const struct dev *d = core;
    return d->up.is_failed(d->up.core, grank);
}

static int32_t next_failed(void *core, uint32_t *seen)
{
    const struct dev *d = core;
    return d->up.next_failed(d->up.core, seen);
}

/* ---- The table ---- */

dev_status dev_hook_open(const struct dev_ops *inner, const struct dev_hook_how *how,
                         const struct dev_services *services, const struct dev_world *world, struct dev **dev)
{
    struct dev *d = calloc(1, sizeof *d);
    dev_status st;
    if (d == NULL) {
        ku_err_set(1, NULL, "out of memory");
        return DEV_ERROR;
    }
    d->inner = *inner;
    d->how = *how;
    d->up = *services;
    d->world = *world;
    d->random = (uint64_t)world->rank << 32;
    d->services = (struct dev_services){ .size = sizeof d->services,
                                         .version = services->version,
                                         .core = d,
                                         .deliver = deliver,
                                         .sent = sent,
                                         .peer_gone = peer_gone,
                                         .error = error,
                                         .knob = knob,
                                         .wake = services->wake,
                                         .address = address,
                                         .knob_number = services->knob_number ? knob_number : NULL,
                                         .is_failed = is_failed,
                                         .next_failed = next_failed };
    st = inner->open(&d->services, &d->world, &d->dev);
    if (st == DEV_OK)
        *dev = d;
    else
        free(d);
    return st;
}

static void hook_caps(const struct dev *d, struct dev_caps *caps)
{
    d->inner.caps(d->dev, caps);
    caps->has_get = false;
}

static void show_stats(const struct dev *d)
{
    static const char *const class[CLASSES] = { "itself", "this node", "other nodes" };
    char text[300];
    for (int i = 0; i < CLASSES && d->how.show != NULL; i++) {
        const struct counts *c = &d->counts[i];
        if (c->sent + c->came + c->refused == 0)
            continue;
        snprintf(text, sizeof text,
                 "hook: rank %d, device %.40s, %s: sent %llu packets, %llu bytes; received %llu packets, "
                 "%llu bytes; "
                 "refused %llu; queued %llu for %llu us",
                 (int)d->world.rank, d->inner.name, class[i], (unsigned long long)c -> sent,
                 (unsigned long long)c -> sent_bytes, (unsigned long long)c -> came,
                 (unsigned long long)c -> came_bytes, (unsigned long long)c -> refused,
                 (unsigned long long)c -> queued, (unsigned long long)c -> queued_ns / 1000);
        d->how.show(text);
    }
}

static void hook_close(struct dev *d)
{
    settle_owed(d);
    d->inner.close(d->dev);
    settle_owed(d);
    if (d->how.stats)
        show_stats(d);
}

static void hook_fini(struct dev *d)
{
    if (d == NULL)
        return;
    d->inner.fini(d->dev);
    while (d->first != NULL) {
        struct come *c = d->first;
        d->first = c->next;
        free(c);
    }
    free(d);
}

static size_t hook_address(const struct dev *d, void *buf, size_t cap)
{
    return d->inner.address(d->dev, buf, cap);
}

static dev_status hook_peer_init(struct dev *d, int32_t grank, struct dev_peer **peer)
{
    struct dev_peer *p = calloc(1, sizeof *p);
    dev_status st;
    if (p == NULL) {
        ku_err_set(1, NULL, "out of memory");
        return DEV_ERROR;
    }
    p->dev = d;
    p->grank = grank;
    st = d->inner.peer_init(d->dev, grank, &p->inner);
    if (st != DEV_OK) {
        free(p);
        return st;
    }
    p->next = d->peers;
    d->peers = p;
    *peer = p;
    return DEV_OK;
}

static void hook_peer_stop(struct dev_peer *p)
{
    settle_owed(p->dev);
    p->dev->inner.peer_stop(p->inner);
}

static void hook_peer_fini(struct dev_peer *p)
{
    struct dev_peer **at;
    if (p == NULL)
        return;
    for (at = &p->dev->peers; *at != p; at = &(*at)->next)
        ;
    *at = p->next;
    p->dev->inner.peer_fini(p->inner);
    free(p);
}

static dev_status hook_part(struct dev *d, int32_t grank)
{
    struct dev_peer **at = &d->peers, *p;
    dev_status st;
    settle_owed(d);
    st = d->inner.part(d->dev, grank);
    while (*at != NULL && (*at)->grank != grank)
        at = &(*at)->next;
    p = *at;
    if (st == DEV_OK && p != NULL) {
        *at = p->next;
        free(p);
    }
    return st;
}

/* Before a send: DEV_OK: go on. */
static dev_status may_send(struct dev_peer *p)
{
    struct dev *d = p->dev;
    if (p->gone)
        return DEV_PEER_GONE;
    if (!percent(d, d->how.refuse))
        return DEV_OK;
    atomic_store(&d->refused, true);
    return DEV_AGAIN;
}

static dev_status hook_count(struct dev_peer *p, dev_status st, size_t len)
{
    struct dev *d = p->dev;
    struct counts *c = counts_of(d, p->grank);
    if (st == DEV_AGAIN)
        __atomic_fetch_add(&c->refused, 1, __ATOMIC_RELAXED);
    if (st != DEV_OK && st != DEV_QUEUED)
        return st;
    __atomic_fetch_add(&c->sent, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&c->sent_bytes, len, __ATOMIC_RELAXED);
    c->queued += st == DEV_QUEUED;
    if (atomic_fetch_add(&p->packets, 1) + 1 == d->how.gone_after && p->grank != d->world.rank) {
        atomic_store(&p->gone, true);
        atomic_store(&d->lost, true);
    }
    return st;
}

static dev_status hook_send_short(struct dev_peer *p, const struct dev_head *head, const void *body)
{
    dev_status st = may_send(p);
    return hook_count(p, st == DEV_OK ? p->dev->inner.send_short(p->inner, head, body) : st, head->len);
}

static void owe(struct dev *d, struct owed *o)
{
    if (d->owed_last != NULL)
        d->owed_last->next = o;
    else
        d->owed = o;
    d->owed_last = o;
}

static dev_status hook_send(struct dev_peer *p, const struct dev_head *head, const struct dev_iov *iov, int n,
                            void *cookie)
{
    struct dev *d = p->dev;
    dev_status st = may_send(p);
    size_t len = 0;
    struct owed *o;
    if (st != DEV_OK)
        return hook_count(p, st, 0);
    if ((o = malloc(sizeof *o)) == NULL) {
        atomic_store(&d->refused, true);
        return hook_count(p, DEV_AGAIN, 0);
    }
    for (int i = 0; i < n; i++)
        len += iov[i].len;
    *o = (struct owed){ .peer = p, .cookie = cookie, .since = ku_clock_ns() };
    st = d->inner.send(p->inner, head, iov, n, o);
    if (st == DEV_OK && percent(d, d->how.queue)) {
        owe(d, o);
        return hook_count(p, DEV_QUEUED, len);
    }
    if (st != DEV_QUEUED)
        free(o);
    return hook_count(p, st, len);
}

static void *hook_reserve(struct dev_peer *p, size_t want)
{
    void *room = may_send(p) == DEV_OK ? p->dev->inner.reserve(p->inner, want) : NULL;
    if (room == NULL)
        hook_count(p, DEV_AGAIN, 0);
    return room;
}

static void hook_drop(struct dev_peer *p, void *room)
{
    p->dev->inner.drop(p->inner, room);
}

static dev_status hook_commit(struct dev_peer *p, const struct dev_head *head, void *room, size_t len)
{
    dev_status st = may_send(p);
    if (st == DEV_PEER_GONE)
        hook_drop(p, room);
    return hook_count(p, st == DEV_OK ? p->dev->inner.commit(p->inner, head, room, len) : st, len);
}

static int tell_lost(struct dev *d)
{
    int n = 0;
    for (struct dev_peer *p = d->peers; p != NULL; p = p->next)
        if (p->gone && !p->told) {
            p->told = true;
            peer_gone(d, p->grank);
            n++;
        }
    return n;
}

static int hook_progress(struct dev *d)
{
    int n = d->owed != NULL ? settle_owed(d) : 0;
    n += d->inner.progress(d->dev);
    n += d->first != NULL ? deliver_due(d) + 1 : 0;
    n += atomic_exchange(&d->refused, false);
    if (atomic_exchange(&d->lost, false))
        n += tell_lost(d);
    return n;
}

static _Atomic uint32_t *hook_wait_word(struct dev *d)
{
    return d->inner.wait_word(d->dev);
}
static int hook_wait_fd(struct dev *d)
{
    return d->inner.wait_fd(d->dev);
}
static bool hook_unsent(const struct dev *d)
{
    return d->owed != NULL || (d->inner.unsent != NULL && d->inner.unsent(d->dev));
}
static bool hook_under_way(struct dev *d)
{
    return d->first != NULL || d->inner.under_way(d->dev);
}
static bool hook_arm(struct dev *d)
{
    return d->first == NULL && d->owed == NULL && (d->inner.arm == NULL || d->inner.arm(d->dev));
}

static int hook_about(const struct dev *d, char *text, size_t cap)
{
    return d->inner.about(d->dev, text, cap);
}

void dev_hook_table(const struct dev_ops *inner, struct dev_ops *outer)
{
    *outer = (struct dev_ops){ .size = sizeof *outer,
                               .version = inner->version,
                               .name = inner->name,
                               .area_bytes = inner->area_bytes,
                               .reach = inner->reach,
                               .caps = hook_caps,
                               .close = hook_close,
                               .fini = hook_fini,
                               .address = inner->address ? hook_address : NULL,
                               .peer_init = hook_peer_init,
                               .peer_stop = hook_peer_stop,
                               .peer_fini = hook_peer_fini,
                               .send_short = hook_send_short,
                               .send = hook_send,
                               .progress = hook_progress,
                               .wait_word = inner->wait_word ? hook_wait_word : NULL,
                               .wait_fd = inner->wait_fd ? hook_wait_fd : NULL,
                               .unsent = hook_unsent,
                               .under_way = inner->under_way ? hook_under_way : NULL,
                               .arm = hook_arm,
                               .part = inner->part ? hook_part : NULL,
                               .about = inner->about ? hook_about : NULL };
    if (inner->reserve && inner->commit && inner->drop) {
        outer->reserve = hook_reserve;
        outer->commit = hook_commit;
        outer->drop = hook_drop;
    }
}
