/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp_link.c: how a connection comes and goes (tcp.h has the states and what must hold). */
#include "tcp.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "util/clock.h"

enum { ACCEPTS = 8 /* a call */, MAX_PAUSE_MS = 128, ADDRESS_MS = 10, DEAF_MS = 20 };
#define STEADY_NS (1000 * TCP_MS) /* who is turned away after that long was not turned away at once */
#define GUEST_NS (5000 * TCP_MS)

/* ---- ends ------------------------------------------------------------------------------------ */

void dev_tcp_forget_fd(struct dev *d, int fd)
{
    epoll_ctl(d->epoll, EPOLL_CTL_DEL, fd,
              NULL); /* closing is not enough where a child has the descriptor, too */
    close(fd);
}

/* Locked. */
void dev_tcp_hang_up(struct dev_peer *p)
{
    if (p->fd >= 0)
        dev_tcp_forget_fd(p->dev, p->fd);
    p->fd = -1;
    dev_tcp_watched(p, false);
    if (p->blind)
        atomic_fetch_sub(&p->dev->nblind, 1);
    p->blind = p->cut = false;
}

int dev_tcp_gone(struct dev_peer *p, enum tcp_state state, const char *why)
{
    const struct dev_services *up = &p->dev->up;
    bool owned;
    char text[400];
    if (p->state == TCP_OPEN)
        dev_tcp_closed(p->grank);
    ku_lock(&p->lock);
    dev_tcp_hang_up(p);
    p->state = (uint8_t)state;
    dev_tcp_drop_out(p);
    owned = p->keeps && !p->room;
    if (p->room)
        dev_tcp_release(p->dev, p->room);
    p->room = NULL;
    p->keeps = false;
    ku_unlock(&p->lock);
    dev_tcp_unread(p);
    dev_tcp_cool(p);
    if (owned)
        up->sent(up->core, p->cookie, DEV_PEER_GONE);
    if (state == TCP_GONE) {
        snprintf(text, sizeof text, "tcp: rank %" PRId32 " %s", p->grank, why);
        up->error(up->core, text);
        up->peer_gone(up->core, p->grank);
    }
    return 1;
}

/* ---- attempts -------------------------------------------------------------------------------- */

void dev_tcp_want(struct dev_peer *p)
{
    struct dev *d = p->dev;
    p->state = TCP_WANTED;
    p->next_wanted = atomic_load(&d->wanted);
    while (!atomic_compare_exchange_weak(&d->wanted, &p->next_wanted, p))
        ;
    dev_tcp_ring(d);
}

static void try_later(struct dev_peer *p, uint64_t at)
{
    p->next_try = at;
    if (!p->trying) {
        p->trying = true;
        p->next_trying = p->dev->trying;
        p->dev->trying = p;
    }
    dev_tcp_alarm(p->dev, at);
}

/* At each of a process's addresses somebody has said that it is not there: of another job, which may have ended as
 * it should. */
static bool is_denied(const struct dev_peer *p)
{
    bool all = p->grank >= p->dev->world.size;
    for (int i = 0; i < p->nplaces; i++)
        all = all && (p->failed[i] == ECONNREFUSED || p->failed[i] == TCP_TURNED_AWAY);
    return all;
}

/* A process listens as long as it may be called: where nobody does, it is no more. */
static bool is_ended(const struct dev_peer *p)
{
    enum { TIMES_MS = 8 /* pauses up to then */ };
    bool all = is_denied(p) && p->pause > TIMES_MS * TCP_MS;
    for (int i = 0; i < p->nplaces; i++)
        all = all && p->failed[i] == ECONNREFUSED;
    return all;
}

/* All addresses were tried, again and again. */
static int give_up(struct dev_peer *p)
{
    char all[400], why[440];
    const char *failures = dev_tcp_failures(p, all, sizeof all);
    snprintf(why, sizeof why, "cannot be reached: %s", failures);
    if (!is_denied(p))
        fprintf(stderr, "keel: rank %" PRId32 ": tcp: rank %" PRId32 " %s\n", p->dev->world.rank, p->grank,
                why);
    return dev_tcp_gone(p, TCP_GONE, why);
}

/* Nothing was accepted.  What was written is written again on the next connection, at the next address, after a
 * pause when all have had their turn. */
static int attempt_failed(struct dev_peer *p, int reason)
{
    uint64_t now = ku_clock_ns();
    bool steady = p->state == TCP_GREETED && now - p->begun > STEADY_NS;
    ku_lock(&p->lock);
    dev_tcp_hang_up(p);
    p->sent = 0;
    p->got = 0;
    p->state = TCP_WANTED;
    ku_unlock(&p->lock);
    p->failed[p->turn] = (int16_t)reason;
    if (p->since == 0 || steady) {
        p->since = now;
        p->pause = 0;
    }
    if (now - p->since >= p->dev->patience)
        return give_up(p);
    if (p->turn + 1 == p->nplaces && is_ended(p))
        return give_up(p);
    if (++p->turn < p->nplaces) {
        try_later(p, now);
        return 0;
    }
    p->turn = 0;
    p->pause = p->pause == 0 ? TCP_MS : p->pause < MAX_PAUSE_MS * TCP_MS ? 2 * p->pause : p->pause;
    try_later(p, now + p->pause);
    return 0;
}

/* CONNECTING: write the hello as soon as that works. */
static int connected(struct dev_peer *p)
{
    int err = 0;
    ku_lock(&p->lock);
    dev_tcp_flush(p);
    if (p->cut) {
        err = p->error;
    } else if (p->sent > 0) {
        p->state = TCP_GREETED;
        p->begun = ku_clock_ns();
        p->refused = false;
        dev_tcp_flush(p);
    }
    ku_unlock(&p->lock);
    if (err)
        return attempt_failed(p, err);
    return p->state == TCP_GREETED;
}

/* Put the first words in `out`, before frames that are there already. */
static void greet(struct dev_peer *p, const struct tcp_hello *h)
{
    struct tcp_hello travels = tcp_hello_le(*h);
    if (!p->out)
        dev_tcp_open_out(p);
    memcpy(p->out, &travels, sizeof travels);
    if (p->end == 0)
        p->end = sizeof *h;
    p->sent = 0;
}

/* false and errno: there are no random bytes. */
static bool make_hello(struct dev_peer *p, struct tcp_hello *h)
{
    uint8_t mine[KU_AUTH_NONCE], its[KU_AUTH_NONCE];
    struct dev_identity id;
    if (!dev_tcp_nonce_of(p, its) || !dev_tcp_identity(p->dev, p->grank, &id) || !ku_auth_nonce(mine))
        return false;
    *h = tcp_hello_to(TCP_HELLO, &p->dev->world, &id, ++p->dev->serial, mine, its);
    return true;
}

static uint64_t hark_pause(const struct dev *d)
{
    return (uint64_t)d->silence * 1000 * TCP_MS / 4;
}

/* A connection of which it is to be noticed when the other side's host is lost. */
static void mind(struct dev *d, int fd)
{
    if (d->silence == 0)
        return;
    ku_sock_keep_alive(fd, d->silence);
    if (!d->hark) {
        d->hark = ku_clock_ns() + hark_pause(d);
        dev_tcp_alarm(d, d->hark);
    }
}

static int begin_attempt(struct dev_peer *p)
{
    struct dev *d = p->dev;
    struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT, .data.ptr = &p->source };
    struct tcp_hello hello;
    int fd = -1, err;
    p->begun = ku_clock_ns();
    if (make_hello(p, &hello))
        fd = ku_sock_connect(&p->where);
    err = errno;
    if (fd < 0)
        return attempt_failed(p, err);
    if (epoll_ctl(d->epoll, EPOLL_CTL_ADD, fd, &ev) != 0) {
        err = errno;
        close(fd);
        return attempt_failed(p, err);
    }
    ku_lock(&p->lock);
    p->fd = fd;
    dev_tcp_watched(p, true);
    p->state = TCP_CONNECTING;
    greet(p, &hello);
    ku_unlock(&p->lock);
    mind(d, fd);
    return connected(p);
}

/* WANTED, and the pause is over. */
static int attempt(struct dev_peer *p, uint64_t now)
{
    p->nplaces = dev_tcp_choose(p);
    if (p->nplaces < 0) /* not yet: asked again by every look */
        return 0;
    if (p->nplaces == 0)
        return dev_tcp_gone(p, TCP_GONE, "has no address");
    if (p->since == 0)
        p->since = now;
    return begin_attempt(p);
}

/* Is the answer the peer's, to this hello? */
static bool is_answer(struct dev_peer *p)
{
    const struct dev_world *w = &p->dev->world;
    const struct tcp_hello *a = &p->answer;
    struct tcp_hello hello;
    struct dev_identity id;
    uint8_t its[KU_AUTH_NONCE];
    memcpy(&hello, p->out, sizeof hello);
    hello = tcp_hello_le(hello);
    return tcp_hello_check(a, TCP_ANSWER, w) && dev_tcp_identity(p->dev, p->grank, &id) &&
           a->job_id == id.job && a->from == id.rank && a->to == w->rank && a->epoch == id.epoch &&
           a->serial == hello.serial && memcmp(a->nonce, hello.nonce, sizeof a->nonce) == 0 &&
           dev_tcp_nonce_of(p, its) && tcp_hello_proven(a, id.key, its);
}

/* GREETED: the answer. */
static int answered(struct dev_peer *p)
{
    ssize_t n = recv(p->fd, (char *)&p->answer + p->got, sizeof p->answer - p->got, MSG_DONTWAIT);
    if (n < 0 && ku_sock_not_now(errno))
        return 0;
    if (n <= 0)
        return attempt_failed(p, n < 0 ? errno : TCP_TURNED_AWAY);
    p->got += (size_t)n;
    if (p->got < sizeof p->answer)
        return 0;
    p->answer = tcp_hello_le(p->answer);
    if (!is_answer(p))
        return attempt_failed(p, TCP_NOT_OURS);
    ku_lock(&p->lock);
    p->state = TCP_OPEN;
    p->since = p->pause = 0;
    ku_unlock(&p->lock);
    dev_tcp_opened(p->grank);
    return 1 + dev_tcp_write(p);
}

/* ---- guests ---------------------------------------------------------------------------------- */

void dev_tcp_dismiss(struct dev *d, struct guest *g)
{
    if (g->fd < 0)
        return;
    dev_tcp_forget_fd(d, g->fd);
    g->fd = -1;
    d->nguests--;
}

/* What somebody did who is not taken for a process of the job. */
static void tell_of_stranger(struct dev *d, const struct guest *g, const char *what)
{
    char where[KU_SOCK_TEXT];
    if (d->warned)
        return;
    d->warned = true;
    fprintf(stderr,
            "keel: rank %" PRId32 ": tcp: closed a connection from %s that %s (more of them are not told)\n",
            d->world.rank, ku_sock_text(&g->from, where), what);
}

/* Of two processes; of different jobs the job decides. */
static bool is_higher_than(const struct dev *d, int32_t grank)
{
    struct dev_identity id;
    if (grank < d->world.size || !dev_tcp_identity(d, grank, &id))
        return d->world.rank > grank;
    return d->world.self.job > id.job;
}

/* Invariant 1. */
static bool takes(const struct dev_peer *p)
{
    switch ((enum tcp_state)p->state) {
    case TCP_IDLE:
    case TCP_WANTED:
        return true;
    case TCP_CONNECTING:
    case TCP_GREETED:
        return is_higher_than(p->dev, p->grank);
    default:
        return false;
    }
}

/* The guest is the peer p: true if its connection is now p's. */
static bool accept_peer(struct dev *d, struct guest *g, struct dev_peer *p)
{
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &p->source };
    struct tcp_hello answer;
    struct dev_identity id;
    bool yes;
    if (!dev_tcp_identity(d, p->grank, &id))
        return false;
    answer = tcp_hello_to(TCP_ANSWER, &d->world, &id, g->hello.serial, g->hello.nonce, d->address.nonce);
    ku_lock(&p->lock);
    yes = takes(p) && epoll_ctl(d->epoll, EPOLL_CTL_MOD, g->fd, &ev) == 0;
    if (yes) {
        dev_tcp_hang_up(p);
        p->fd = g->fd;
        p->state = TCP_OPEN;
        greet(p, &answer);
    }
    ku_unlock(&p->lock);
    if (yes) {
        dev_tcp_opened(p->grank);
        mind(d, p->fd);
    }
    return yes;
}

/* The number of the process that a hello names; -1: it is none, or of a job that this process has not met (so far). */
static int32_t tcp_link_number_of(const struct dev *d, const struct tcp_hello *h)
{
    if (h->job_id != h->to_job)
        return d->up.peer_of ? d->up.peer_of(d->up.core, h->job_id, h->from) : -1;
    return h->from >= 0 && h->from < d->world.size && h->from != d->world.rank ? h->from : -1;
}

/* The process that has sent this hello just now; NULL: nobody, or it may try again. */
static struct dev_peer *who_is(struct dev *d, const struct guest *g)
{
    const struct tcp_hello *h = &g->hello;
    struct dev_peer *p = NULL;
    struct dev_identity id;
    int32_t number;
    if (!tcp_hello_check(h, TCP_HELLO, &d->world)) {
        tell_of_stranger(d, g, "is not one of this job");
        return NULL;
    }
    if (h->epoch != d->world.epoch ||
        h->to != d->world.rank) /* meant for another process, at the same address */
        return NULL;
    number = tcp_link_number_of(d, h);
    if (number < 0 && h->job_id != h->to_job)
        return NULL;
    if (number < 0 || !dev_tcp_identity(d, number, &id) || !tcp_hello_proven(h, id.key, d->address.nonce)) {
        tell_of_stranger(d, g, "does not know the job's secret");
        return NULL;
    }
    p = dev_tcp_peer(d, number);
    if (p && h->serial <= p->heard) {
        tell_of_stranger(d, g, "repeats what a process of the job has sent before");
        return NULL;
    }
    if (p)
        p->heard = h->serial;
    return p;
}

/* Gone, or silent for too long, with a part of a hello said. */
static void dismiss_early(struct dev *d, struct guest *g)
{
    if (g->got > 0)
        tell_of_stranger(d, g, "did not say to the end who it is");
    dev_tcp_dismiss(d, g);
}

static int judge(struct dev *d, struct guest *g)
{
    struct dev_peer *p = who_is(d, g);
    if (!p || !accept_peer(d, g, p)) {
        dev_tcp_dismiss(d, g);
        return 0;
    }
    g->fd = -1;
    d->nguests--;
    return 1 + dev_tcp_write(p) + dev_tcp_read(p);
}

static int guest_ready(struct dev *d, struct source *s, uint32_t events)
{
    struct guest *g = (struct guest *)s;
    ssize_t n;
    (void)events;
    if (g->fd < 0)
        return 0;
    n = recv(g->fd, (char *)&g->hello + g->got, sizeof g->hello - g->got, MSG_DONTWAIT);
    if (n < 0 && ku_sock_not_now(errno))
        return 0;
    if (n <= 0) {
        dismiss_early(d, g);
        return 0;
    }
    g->got += (size_t)n;
    if (g->got < sizeof g->hello)
        return 0;
    g->hello = tcp_hello_le(g->hello);
    return judge(d, g);
}

/* A process of the job says hello at once, so who has been silent for longest is none. */
static struct guest *oldest_guest(struct dev *d)
{
    struct guest *oldest = NULL;
    for (int i = 0; i < TCP_GUESTS; i++) {
        struct guest *g = &d->guests[i];
        if (g->fd >= 0 && (!oldest || g->since < oldest->since))
            oldest = g;
    }
    return oldest;
}

static struct guest *guest_place(struct dev *d)
{
    struct guest *oldest;
    for (int i = 0; i < TCP_GUESTS; i++)
        if (d->guests[i].fd < 0)
            return &d->guests[i];
    oldest = oldest_guest(d);
    dev_tcp_dismiss(d, oldest);
    return oldest;
}

/* No descriptor or memory for another connection.  The guest that has been silent for longest makes place; without
 * guests, the queue of the kernel keeps them for a while. */
static void deafen(struct dev *d)
{
    struct epoll_event none = { .events = 0, .data.ptr = &d->listener };
    if (d->nguests > 0) {
        dev_tcp_dismiss(d, oldest_guest(d));
        return;
    }
    epoll_ctl(d->epoll, EPOLL_CTL_MOD, d->listen_fd, &none);
    d->deaf = ku_clock_ns() + DEAF_MS * TCP_MS;
    dev_tcp_alarm(d, d->deaf);
}

static void tcp_link_hear(struct dev *d)
{
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &d->listener };
    bool hears = d->listen_fd < 0 || epoll_ctl(d->epoll, EPOLL_CTL_MOD, d->listen_fd, &ev) == 0;
    d->deaf = hears ? 0 : ku_clock_ns() + DEAF_MS * TCP_MS;
}

int dev_tcp_accept(struct dev *d, struct source *s, uint32_t events)
{
    int n = 0;
    (void)s, (void)events;
    for (int i = 0; i < ACCEPTS && d->listen_fd >= 0; i++) {
        struct ku_sock_addr from;
        struct guest *g;
        int fd = ku_sock_accept(d->listen_fd, &from);
        if (fd < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
            deafen(d);
            break;
        }
        if (fd < 0)
            continue; /* that one was gone before it was taken */
        g = guest_place(d);
        *g = (struct guest){ .source = { guest_ready }, .fd = fd, .since = ku_clock_ns(), .from = from };
        struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &g->source };
        d->nguests++;
        if (epoll_ctl(d->epoll, EPOLL_CTL_ADD, fd, &ev) != 0)
            dev_tcp_dismiss(d, g);
        else
            n += guest_ready(d, &g->source, 0);
    }
    return n;
}

/* ---- time, and the peers' turn ----------------------------------------------------------------- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a == 0 || b < a ? b : a;
}

/* How long one address may take: of several, each has its turn twice. */
static uint64_t connect_time(const struct dev_peer *p)
{
    return p->nplaces > 1 ? p->dev->patience / (2 * (uint64_t)p->nplaces) : p->dev->patience;
}

/* The launcher says that it is no more. */
static bool is_dead(const struct dev_peer *p)
{
    return p->dev->up.is_failed(p->dev->up.core, p->grank);
}

/* Returns when to come again; 0: no more. */
static uint64_t try_peer(struct dev_peer *p, uint64_t now, int *events)
{
    if ((p->state == TCP_WANTED || p->state == TCP_CONNECTING) && is_dead(p))
        *events += dev_tcp_gone(p, TCP_GONE, "has failed");
    else if (p->state == TCP_WANTED && now >= p->next_try)
        *events += attempt(p, now);
    else if (p->state == TCP_CONNECTING && now - p->begun >= connect_time(p))
        *events += attempt_failed(p, ETIMEDOUT);
    if (p->state == TCP_WANTED)
        return p->next_try > now ? p->next_try : now + ADDRESS_MS * TCP_MS;
    return p->state == TCP_CONNECTING ? p->begun + connect_time(p) : 0;
}

/* Peers whose hosts are silent are cut off; what has come from them is read, then they are gone. */
static void hark(struct dev *d, uint64_t now)
{
    for (struct dev_peer *p = d->known; p; p = p->next_known) {
        if ((p->state != TCP_OPEN && p->state != TCP_GREETED) || p->cut || !ku_sock_silent(p->fd, d->silence))
            continue;
        ku_lock(&p->lock);
        dev_tcp_cut(p, ETIMEDOUT);
        ku_unlock(&p->lock);
    }
    d->hark = now + hark_pause(d);
}

/* Ranks of which the launcher says that they are gone.  Where a whole host is, or the way to it, nothing ends their
 * connections, and what was to be sent would stay here. */
void dev_tcp_look_at_deaths(struct dev *d)
{
    for (int32_t grank; (grank = d->up.next_failed(d->up.core, &d->failed_seen)) >= 0;) {
        struct dev_peer *p = grank < d->npeers ? d->peers[grank] : NULL;
        if (!p || (p->state != TCP_OPEN && p->state != TCP_GREETED) || p->cut)
            continue;
        ku_lock(&p->lock);
        dev_tcp_cut(p, ECONNRESET);
        ku_unlock(&p->lock);
    }
}

/* Peers of which the epoll set would not tell when they can be written. */
static int write_blind(struct dev *d)
{
    int events = 0;
    for (struct dev_peer *p = d->known; p; p = p->next_known)
        if (p->blind)
            events += dev_tcp_write(p);
    return events;
}

/* What comes at its time whatever the peers do.  Returns when to come again, if that is before `next`. */
static uint64_t keep_up(struct dev *d, uint64_t now, uint64_t next, int *events)
{
    if (atomic_load(&d->nblind) > 0)
        *events += write_blind(d);
    if (atomic_load(&d->nblind) > 0)
        next = earlier(next, now + TCP_MS);
    if (d->hark && now >= d->hark)
        hark(d, now);
    if (d->hark)
        next = earlier(next, d->hark);
    if (d->deaf && now >= d->deaf)
        tcp_link_hear(d);
    if (d->deaf)
        next = earlier(next, d->deaf);
    return next;
}

int dev_tcp_due(struct dev *d)
{
    struct dev_peer *fresh = atomic_exchange(&d->wanted, NULL), *list = d->trying;
    uint64_t now = ku_clock_ns(), next = 0;
    int events = 0;
    d->trying = NULL;
    for (struct dev_peer *p = fresh, *after; p; p = after) {
        after = p->next_wanted;
        p->trying = true;
        p->next_trying = list;
        list = p;
    }
    while (list) {
        struct dev_peer *p = list;
        uint64_t again = try_peer(p, now, &events);
        list = p->next_trying;
        p->trying = again != 0;
        if (!again)
            continue;
        p->next_trying = d->trying;
        d->trying = p;
        next = earlier(next, again);
    }
    for (int i = 0; d->nguests > 0 && i < TCP_GUESTS; i++) {
        struct guest *g = &d->guests[i];
        if (g->fd >= 0 && now - g->since >= GUEST_NS)
            dismiss_early(d, g);
        else if (g->fd >= 0)
            next = earlier(next, g->since + GUEST_NS);
    }
    next = keep_up(d, now, next, &events);
    if (next)
        dev_tcp_alarm(d, next);
    return events;
}

int dev_tcp_ready(struct dev *d, struct source *s, uint32_t events)
{
    struct dev_peer *p = (struct dev_peer *)s;
    int n = 0;
    (void)d;
    if (p->fd < 0)
        return 0;
    if (p->state == TCP_CONNECTING)
        return connected(p);
    if (events & EPOLLOUT)
        n += dev_tcp_write(p);
    if (events & ~(uint32_t)EPOLLOUT) {
        if (p->state == TCP_GREETED)
            n += answered(p);
        else if (p->state == TCP_OPEN)
            n += dev_tcp_read(p);
    }
    return n;
}
