/* link.c: how a connection comes and goes (tcp.h has the states and what must hold). */
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
    p->watched = p->cut = false;
}

int dev_tcp_gone(struct dev_peer *p, enum tcp_state state)
{
    const struct dev_services *up = &p->dev->up;
    bool owned;
    char text[160];
    if (p->state == TCP_OPEN)
        dev_tcp_closed(p->grank);
    pthread_mutex_lock(&p->lock);
    dev_tcp_hang_up(p);
    p->state = (uint8_t)state;
    dev_tcp_drop_out(p);
    owned = p->keeps && !p->room;
    if (p->room)
        dev_tcp_release(p->dev, p->room);
    p->room = NULL;
    p->keeps = false;
    pthread_mutex_unlock(&p->lock);
    dev_tcp_unread(p);
    if (p->dev->hot == p)
        p->dev->hot = NULL;
    if (owned)
        up->sent(up->core, p->cookie, DEV_PEER_GONE);
    if (state == TCP_GONE) {
        snprintf(text, sizeof text, "tcp: rank %" PRId32 " %s", p->grank, p->why);
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

/* Nothing was accepted.  What was written is written again on the next connection. */
static int attempt_failed(struct dev_peer *p, const char *what, int err)
{
    uint64_t now = ku_clock_ns();
    bool steady = p->state == TCP_GREETED && now - p->next_try > STEADY_NS;
    char text[KU_SOCK_TEXT];
    pthread_mutex_lock(&p->lock);
    dev_tcp_hang_up(p);
    p->sent = 0;
    p->got = 0;
    p->state = TCP_WANTED;
    pthread_mutex_unlock(&p->lock);
    if (p->since == 0 || steady) {
        p->since = now;
        p->pause = 0;
    }
    if (now - p->since >= p->dev->patience) {
        snprintf(p->why, sizeof p->why, "at %s %s%s", ku_sock_text(&p->where, text), what,
                 err ? strerror(err) : "");
        return dev_tcp_gone(p, TCP_GONE);
    }
    p->pause = p->pause == 0 ? TCP_MS : p->pause < MAX_PAUSE_MS * TCP_MS ? 2 * p->pause : p->pause;
    try_later(p, now + p->pause);
    return 0;
}

static int refused(struct dev_peer *p, int err)
{
    return attempt_failed(p, "does not take a connection: ", err);
}

/* CONNECTING: write the hello as soon as that works. */
static int connected(struct dev_peer *p)
{
    int err = 0;
    pthread_mutex_lock(&p->lock);
    dev_tcp_flush(p);
    if (p->cut) {
        err = p->error;
    } else if (p->sent > 0) {
        p->state = TCP_GREETED;
        p->next_try = ku_clock_ns();
        p->refused = false;
        dev_tcp_flush(p);
    }
    pthread_mutex_unlock(&p->lock);
    if (err)
        return refused(p, err);
    return p->state == TCP_GREETED;
}

/* Put the first words in `out`, before frames that are there already. */
static void greet(struct dev_peer *p, uint32_t kind)
{
    struct tcp_hello h = tcp_hello_prepare(kind, &p->dev->world, p->grank);
    if (!p->out)
        dev_tcp_open_out(p);
    memcpy(p->out, &h, sizeof h);
    if (p->end == 0)
        p->end = sizeof h;
    p->sent = 0;
}

static int begin_attempt(struct dev_peer *p)
{
    struct dev *d = p->dev;
    struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT, .data.ptr = &p->source };
    int fd = ku_sock_connect(&p->where), err = errno;
    if (fd < 0)
        return refused(p, err);
    if (epoll_ctl(d->epoll, EPOLL_CTL_ADD, fd, &ev) != 0) {
        err = errno;
        close(fd);
        return refused(p, err);
    }
    pthread_mutex_lock(&p->lock);
    p->fd = fd;
    p->watched = true;
    p->state = TCP_CONNECTING;
    greet(p, TCP_HELLO);
    pthread_mutex_unlock(&p->lock);
    return connected(p);
}

/* WANTED, and the pause is over. */
static int attempt(struct dev_peer *p, uint64_t now)
{
    struct dev *d = p->dev;
    uint8_t buf[DEV_ADDRESS_MAX] = { 0 };
    struct tcp_address a;
    size_t n = d->up.address ? d->up.address(d->up.core, p->grank, buf, sizeof buf) : DEV_ADDRESS_NEVER;
    if (n == 0) /* not yet: asked again by every look */
        return 0;
    memcpy(&a, buf, sizeof a);
    if (n == DEV_ADDRESS_NEVER || !tcp_address_check(&a, n, &p->where)) {
        snprintf(p->why, sizeof p->why, "has no address");
        return dev_tcp_gone(p, TCP_GONE);
    }
    if (p->since == 0)
        p->since = now;
    return begin_attempt(p);
}

/* GREETED: the answer. */
static int answered(struct dev_peer *p)
{
    const struct dev_world *w = &p->dev->world;
    const struct tcp_hello *a = &p->answer;
    ssize_t n = recv(p->fd, (char *)&p->answer + p->got, sizeof p->answer - p->got, MSG_DONTWAIT);
    if (n < 0 && ku_sock_not_now(errno))
        return 0;
    if (n <= 0)
        return attempt_failed(p, "turns connections away", 0);
    p->got += (size_t)n;
    if (p->got < sizeof p->answer)
        return 0;
    if (!tcp_hello_ours(a, TCP_ANSWER, w) || a->from != p->grank || a->to != w->rank || a->epoch != w->epoch)
        return attempt_failed(p, "is not of this job", 0);
    pthread_mutex_lock(&p->lock);
    p->state = TCP_OPEN;
    p->since = p->pause = 0;
    pthread_mutex_unlock(&p->lock);
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

static void tell_of_stranger(struct dev *d, const struct guest *g)
{
    char where[KU_SOCK_TEXT];
    if (d->warned)
        return;
    d->warned = true;
    fprintf(stderr,
            "keel: rank %" PRId32
            ": tcp: closed a connection from %s that does not know the job's secret (more of "
            "them are not told)\n",
            d->world.rank, ku_sock_text(&g->from, where));
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
        return p->dev->world.rank > p->grank;
    default:
        return false;
    }
}

/* The guest is the peer p: true if its connection is now p's. */
static bool accept_peer(struct dev *d, struct guest *g, struct dev_peer *p)
{
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &p->source };
    bool yes;
    pthread_mutex_lock(&p->lock);
    yes = takes(p) && epoll_ctl(d->epoll, EPOLL_CTL_MOD, g->fd, &ev) == 0;
    if (yes) {
        dev_tcp_hang_up(p);
        p->fd = g->fd;
        p->state = TCP_OPEN;
        greet(p, TCP_ANSWER);
    }
    pthread_mutex_unlock(&p->lock);
    if (yes)
        dev_tcp_opened(p->grank);
    return yes;
}

static int judge(struct dev *d, struct guest *g)
{
    const struct tcp_hello *h = &g->hello;
    struct dev_peer *p = NULL;
    if (!tcp_hello_ours(h, TCP_HELLO, &d->world))
        tell_of_stranger(d, g);
    else if (h->to == d->world.rank && h->from >= 0 && h->from < d->world.size && h->from != h->to &&
             h->epoch == d->world.epoch)
        p = dev_tcp_peer(d, h->from);
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
        dev_tcp_dismiss(d, g);
        return 0;
    }
    g->got += (size_t)n;
    return g->got == sizeof g->hello ? judge(d, g) : 0;
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

/* No descriptor or memory for another connection.  The guest that has been silent for longest makes place; without guests,
 * the queue of the kernel keeps them for a while. */
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

static void hear(struct dev *d)
{
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &d->listener };
    epoll_ctl(d->epoll, EPOLL_CTL_MOD, d->listen_fd, &ev);
    d->deaf = 0;
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

/* Returns when to come again; 0: no more. */
static uint64_t try_peer(struct dev_peer *p, uint64_t now, int *events)
{
    if (p->state == TCP_WANTED && now >= p->next_try)
        *events += attempt(p, now);
    else if (p->state == TCP_CONNECTING && now - p->since >= p->dev->patience)
        *events += refused(p, ETIMEDOUT);
    if (p->state == TCP_WANTED)
        return p->next_try > now ? p->next_try : now + ADDRESS_MS * TCP_MS;
    return p->state == TCP_CONNECTING ? p->since + p->dev->patience : 0;
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
            dev_tcp_dismiss(d, g);
        else if (g->fd >= 0)
            next = earlier(next, g->since + GUEST_NS);
    }
    if (d->deaf && now >= d->deaf)
        hear(d);
    else if (d->deaf)
        next = earlier(next, d->deaf);
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
