/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp.c: the device for ranks that reach each other by TCP: opening, progress, closing.  See tcp.h. */
#include "tcp.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "util/clock.h"
#include "util/err.h"
#include "util/knob.h"
#include "util/sparse.h"
#include "util/wait.h"

extern const struct dev_ops dev_tcp_ops;

enum {
    EPOLL = 16,        /* looks of which one is at all connections, while some are hot, */
    EPOLL_WRITING = 2, /* and while something waits until it can be written */
    EVENTS = 16,       /* of the epoll set a look */
    RUN = 16,          /* packets delivered from buffers between two looks */
    PATIENCE = 64,     /* looks in vain after which they become rarer: */
    RARER_NS = 20,     /* so much later for each look in vain, */
    RAREST_NS = 5000,  /* and so much at most */
    CALLS = 8,         /* calls for which the clock is read once */
    CLOSE_MS = 5000    /* most that close() waits for peers that do not take what was sent */
};

static struct ku_knob rows[] = {
    { .name = "TCP_HOST",
      .type = KU_KNOB_STR,
      .def = "",
      .unit = "",
      .help = "the one address (IPv4 or IPv6) at which ch_tcp of this process listens and which it tells its "
              "peers; "
              "empty: all of this host's, but loopback alone in a job of one node" },
    { .name = "TCP_NETS",
      .type = KU_KNOB_STR,
      .def = "",
      .unit = "",
      .help = "networks whose addresses ch_tcp may use, as 10.1.0.0/16,fd00::/8; those after a ! it may not; "
              "empty: all" },
    { .name = "TCP_CONNECT_S",
      .type = KU_KNOB_INT,
      .def = "10",
      .unit = "s",
      .min = 1,
      .max = 3600,
      .audience = KU_FOR_TUNERS,
      .help = "how long ch_tcp tries to connect to a peer that does not take the connection, before it "
              "counts as lost" },
    { .name = "TCP_LOST_S",
      .type = KU_KNOB_INT,
      .def = "60",
      .unit = "s",
      .min = 0,
      .max = 86400,
      .audience = KU_FOR_TUNERS,
      .help =
          "how long the host of a peer may be silent, though it is asked, before ch_tcp counts the peer as "
          "lost; 0: as long as the system likes" },
};
static struct ku_knob_table knobs = { .rows = rows, .n = sizeof rows / sizeof *rows, .area = "mpid.tcp" };

__attribute__((constructor)) static void add_knobs(void)
{
    ku_knob_add(&knobs);
}

/* ---- buffers --------------------------------------------------------------------------------- */

uint8_t *dev_tcp_buffer(struct dev *d)
{
    uint8_t *b;
    ku_lock(&d->pool_lock);
    b = d->pool;
    if (b)
        memcpy(&d->pool, b, sizeof d->pool);
    ku_unlock(&d->pool_lock);
    return b ? b : malloc(TCP_BUFFER);
}

void dev_tcp_release(struct dev *d, uint8_t *b)
{
    ku_lock(&d->pool_lock);
    memcpy(b, &d->pool, sizeof d->pool);
    d->pool = b;
    ku_unlock(&d->pool_lock);
}

/* ---- the timer ------------------------------------------------------------------------------- */

static void set_timer(struct dev *d, uint64_t at)
{
    struct itimerspec t = { .it_value = { .tv_sec = (time_t)(at / 1000000000u),
                                          .tv_nsec = (long)(at % 1000000000u) } };
    timerfd_settime(d->timer_fd, TFD_TIMER_ABSTIME, &t, NULL);
}

/* Some thread wants a connection: let the device's thread look, also if it sleeps. */
void dev_tcp_ring(struct dev *d)
{
    set_timer(d, 1);
}

void dev_tcp_alarm(struct dev *d, uint64_t at)
{
    if (d->alarm && d->alarm <= at)
        return;
    d->alarm = at;
    set_timer(d, at);
    if (atomic_load(&d->wanted) || (atomic_load(&d->nblind) > 0 && at > ku_clock_ns() + 2 * TCP_MS))
        dev_tcp_ring(d); /* perhaps rung between the last look and this setting, which undid it */
}

static int timer_ready(struct dev *d, struct source *s, uint32_t events)
{
    uint64_t times;
    (void)s, (void)events;
    if (read(d->timer_fd, &times, sizeof times) < 0 && errno == EAGAIN)
        return 0;
    d->alarm = 0;
    return dev_tcp_due(d);
}

/* ---- open ------------------------------------------------------------------------------------ */

static void free_first(struct dev *d)
{
    struct dev_peer *p = d->known;
    d->known = p->next_known;
    if (p->state == TCP_OPEN)
        dev_tcp_closed(p->grank);
    dev_tcp_hang_up(p);
    dev_tcp_drop_out(p);
    dev_tcp_unread(p);
    if (p->room)
        dev_tcp_release(d, p->room);
    ku_lock_fini(&p->lock);
    free(p);
}

static void tcp_fini(struct dev *d)
{
    if (!d)
        return;
    while (d->known)
        free_first(d);
    for (int i = 0; i < TCP_GUESTS; i++)
        dev_tcp_dismiss(d, &d->guests[i]);
    if (d->listen_fd >= 0)
        close(d->listen_fd);
    if (d->timer_fd >= 0)
        close(d->timer_fd);
    if (d->epoll >= 0)
        close(d->epoll);
    free(d->spare);
    while (d->pool) {
        uint8_t *b = d->pool;
        memcpy(&d->pool, b, sizeof d->pool);
        free(b);
    }
    ku_lock_fini(&d->pool_lock);
    ku_sparse_free((void **)d->peers, (size_t)d->npeers);
    free(d);
}

static bool tcp_watch(struct dev *d, int fd, struct source *s)
{
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = s };
    return epoll_ctl(d->epoll, EPOLL_CTL_ADD, fd, &ev) == 0;
}

static bool set_up(struct dev *d)
{
    const char *why = ku_auth_ready();
    d->listener.ready = dev_tcp_accept;
    d->timer.ready = timer_ready;
    if (why) {
        ku_err_set(1, NULL, "%s", why);
        return false;
    }
    if (!dev_tcp_places(d))
        return false;
    d->epoll = epoll_create1(EPOLL_CLOEXEC);
    d->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (d->epoll >= 0 && d->timer_fd >= 0 && tcp_watch(d, d->listen_fd, &d->listener) &&
        tcp_watch(d, d->timer_fd, &d->timer))
        return true;
    ku_err_set(errno, NULL, "the system refused a descriptor: %s", strerror(errno));
    return false;
}

static dev_status tcp_open(const struct dev_services *services, const struct dev_world *world,
                           struct dev **dev)
{
    struct dev *d;
    if (world->size < 2 && !world->others) {
        ku_err_set(1, NULL, "there is nobody to talk to");
        return DEV_NO_SUPPORT;
    }
    d = calloc(1, sizeof *d);
    if (d)
        d->peers = (struct dev_peer **)ku_sparse_new((size_t)world->size);
    if (!d || !d->peers) {
        free(d);
        ku_err_set(1, NULL, "out of memory opening the device for %d ranks", world->size);
        return DEV_ERROR;
    }
    ku_knob_register(&knobs);
    d->patience = (uint64_t)ku_knob_int("TCP_CONNECT_S") * 1000 * TCP_MS;
    d->silence = (int)ku_knob_int("TCP_LOST_S");
    d->up = *services;
    d->world = *world;
    d->npeers = world->size;
    d->sleeping = world->sleeping;
    d->epoll = d->listen_fd = d->timer_fd = -1;
    for (int i = 0; i < TCP_GUESTS; i++)
        d->guests[i].fd = -1;
    ku_lock_init(&d->pool_lock, KU_LOCK_POOL);
    if (!set_up(d)) {
        tcp_fini(d);
        return DEV_NO_SUPPORT;
    }
    *dev = d;
    return DEV_OK;
}

static void tcp_caps(const struct dev *d, struct dev_caps *caps)
{
    (void)d;
    *caps = (struct dev_caps){ .max_short = TCP_MAX_SHORT,
                               .max_send = TCP_MAX_SEND,
                               .max_lying = TCP_MAX_LYING,
                               .latency_ns = 4500,
                               .bandwidth_mbs = 4500,
                               .reach = DEV_REACH_ANY,
                               .has_get = false,
                               .mem_kinds = 1u << DEV_MEM_HOST,
                               .priority = 0,
                               .stream = true };
}

static size_t tcp_address(const struct dev *d, void *buf, size_t cap)
{
    size_t n = tcp_address_bytes(&d->address);
    memcpy(buf, &d->address, cap < n ? cap : n);
    return n;
}

bool dev_tcp_identity(const struct dev *d, int32_t grank, struct dev_identity *id)
{
    if (grank >= 0 && grank < d->world.size) {
        *id = tcp_of_job(&d->world, grank);
        return true;
    }
    return d->up.identity && d->up.identity(d->up.core, grank, id);
}

static bool room_for(struct dev *d, int32_t grank)
{
    if (grank < d->npeers)
        return true;
    int32_t more = grank < INT32_MAX / 2 ? 2 * grank + 1 : INT32_MAX;
    struct dev_peer **at =
        (struct dev_peer **)ku_sparse_grow((void **)d->peers, (size_t)d->npeers, (size_t)more);
    if (!at)
        return false;
    d->peers = at;
    d->npeers = more;
    return true;
}

struct dev_peer *dev_tcp_peer(struct dev *d, int32_t grank)
{
    struct dev_peer *p = room_for(d, grank) ? d->peers[grank] : NULL;
    if (p || grank >= d->npeers)
        return p;
    p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->source.ready = dev_tcp_ready;
    p->dev = d;
    p->grank = grank;
    p->fd = -1;
    ku_lock_init(&p->lock, KU_LOCK_SEND);
    p->next_known = d->known;
    d->known = p;
    return d->peers[grank] = p;
}

static dev_status tcp_peer_init(struct dev *d, int32_t grank, struct dev_peer **peer)
{
    struct dev_identity id;
    if (grank == d->world.rank || !dev_tcp_identity(d, grank, &id)) {
        ku_err_set(1, "rank", "%d is not another rank of the job", grank);
        return DEV_NO_SUPPORT;
    }
    *peer = dev_tcp_peer(d, grank);
    if (*peer)
        return DEV_OK;
    ku_err_set(1, NULL, "out of memory for rank %d", grank);
    return DEV_ERROR;
}

static void tcp_peer_stop(struct dev_peer *p)
{
    (void)p; /* close() does it for all at once */
}

static void tcp_peer_fini(struct dev_peer *p)
{
    (void)p; /* it goes with the device: the peer may have a connection that no send asked for */
}

/* ---- progress -------------------------------------------------------------------------------- */

/* Those that brought something last, in turn. */
static int read_hot(struct dev *d)
{
    struct dev_peer *p = d->hot[d->turn % TCP_HOT];
    return dev_tcp_read(p ? p : d->hot[0]);
}

static int tcp_look(struct dev *d)
{
    struct epoll_event ev[EVENTS];
    uint32_t every;
    int events = 0, n;
    if (d->trying || d->nguests || d->deaf || atomic_load_explicit(&d->wanted, memory_order_relaxed))
        events += dev_tcp_due(d);
    every = atomic_load_explicit(&d->nwatched, memory_order_relaxed) > 0 ? EPOLL_WRITING : EPOLL;
    if (d->hot[0] && d->idle < PATIENCE && d->turn++ % every != 0) { /* as long as more may come soon */
        events += read_hot(d);
        if (events > 0 || !d->hot[1] || ku_wait_policy.spin_ns > 0)
            return events;
        /* Who shares its core steps aside next: what the other connections have brought would wait for its next
         * turn. */
    }
    n = epoll_wait(d->epoll, ev, EVENTS, 0);
    if (n == 0)
        dev_tcp_look_at_deaths(d);
    for (int i = 0; i < n; i++) {
        struct source *s = ev[i].data.ptr;
        events += s->ready(d, s, ev[i].events);
    }
    return events;
}

/* One packet a call is handed up: who waits for one returns when it is there, and gets the next ones where he
 * wants them. */
static int deliver_or_look(struct dev *d)
{
    int n = 0;
    bool delivered = d->pending != NULL;
    if (delivered) {
        n = dev_tcp_deliver(d);
        if (++d->turn % RUN != 0)
            return n;
    }
    n += tcp_look(d);
    if (!delivered && d->pending)
        n += dev_tcp_deliver(d);
    d->idle = n > 0 ? 0 : d->idle + 1;
    return n;
}

/* A look is a system call, and others than this device are polled in the same loops.  So as long as the looks find
 * nothing, they become rarer: a wait for something to come here is longer by a twentieth, and by 5 us at most.
 * Where the calls are that far apart, each is a look. */
static bool too_early(struct dev *d)
{
    uint64_t now, pause = (uint64_t)d->idle * RARER_NS;
    bool early;
    if (d->idle < PATIENCE)
        return false;
    now = ku_clock_ns();
    if (pause > RAREST_NS)
        pause = RAREST_NS;
    early = now - d->looked < pause;
    d->skip = early || now - d->asked < pause ? CALLS - 1 : 0;
    d->asked = now;
    if (!early)
        d->looked = now;
    return early;
}

/* Who sleeps looks before and after, and is woken by the descriptor in any case. */
static int tcp_progress(struct dev *d)
{
    if (d->pending == NULL && atomic_load_explicit(d->sleeping, memory_order_relaxed) == 0 &&
        atomic_load_explicit(&d->wanted, memory_order_relaxed) == NULL) {
        if (d->skip > 0) {
            d->skip--;
            return 0;
        }
        if (too_early(d))
            return 0;
    } else {
        d->skip = 0;
    }
    return deliver_or_look(d);
}

static _Atomic uint32_t *tcp_wait_word(struct dev *d)
{
    (void)d;
    return NULL;
}

static int tcp_wait_fd(struct dev *d)
{
    return d->epoll;
}

/* What is kept for a peer besides the hello of a connection that is being made. */
static bool tcp_unsent(const struct dev *d)
{
    for (const struct dev_peer *p = d->known; p; p = p->next_known)
        if (p->state <= TCP_OPEN &&
            (p->keeps || (p->out && (p->state == TCP_OPEN || p->end != sizeof(struct tcp_hello)))))
            return true;
    return false;
}

/* What a connection that stands has sent, the peer's kernel has acknowledged, or it is under way. */
static bool is_under_way(const struct dev *d, const struct dev_peer *p)
{
    if (p->state == TCP_OPEN)
        return p->out || p->keeps || p->in || ku_sock_unsent(p->fd) != 0 ||
               d->up.is_failed(d->up.core, p->grank);
    bool unknown = p->state == TCP_WANTED &&
                   p->nplaces < 0; /* nothing was sent: whether its address is on its way, the core knows */
    return p->state > TCP_IDLE && p->state < TCP_OPEN && !unknown;
}

static bool tcp_under_way(struct dev *d)
{
    struct pollfd more = { .fd = d->epoll, .events = POLLIN };
    if (d->pending || d->nguests || d->deaf || poll(&more, 1, 0) != 0)
        return true;
    for (const struct dev_peer *p = d->known; p; p = p->next_known)
        if (is_under_way(d, p))
            return true;
    return false;
}

/* ---- close ----------------------------------------------------------------------------------- */

/* Nothing more can be done for the peer.  What it sends from here on is for nobody. */
static bool has_left(struct dev_peer *p)
{
    char unread[4096];
    ssize_t n;
    if (p->state != TCP_OPEN)
        return p->state != TCP_GREETED || p->end == sizeof(struct tcp_hello); /* no packet was taken */
    ku_lock(&p->lock);
    if (!p->said_bye && dev_tcp_bye(p) == DEV_OK)
        p->said_bye = true;
    ku_unlock(&p->lock);
    dev_tcp_write(p);
    while ((n = recv(p->fd, unread, sizeof unread, MSG_DONTWAIT)) > 0)
        ;
    if (n == 0 || p->cut || !ku_sock_not_now(errno))
        return true;
    if (!p->said_bye || p->out || p->keeps)
        return false;
    if (!p->shut)
        shutdown(p->fd, SHUT_WR);
    p->shut = true;
    return ku_sock_unsent(p->fd) == 0;
}

/* Everything for a process of another job has arrived, a goodbye last.  What it may have sent is for nobody. */
static bool is_settled(struct dev_peer *p)
{
    if (p->state == TCP_OPEN)
        return !p->pending && !p->in && has_left(p);
    return !p->keeps && (!p->out || p->end == sizeof(struct tcp_hello)); /* an attempt without a packet */
}

static dev_status tcp_part(struct dev *d, int32_t grank)
{
    struct dev_peer *p = grank < d->npeers ? d->peers[grank] : NULL, **at;
    if (p == NULL)
        return DEV_OK;
    if (!is_settled(p) || (p->state == TCP_WANTED && !p->trying)) /* on `wanted` */
        return DEV_AGAIN;
    dev_tcp_gone(p, TCP_LEFT, NULL);
    for (at = &d->trying; p->trying && *at != p;)
        at = &(*at)->next_trying;
    if (p->trying)
        *at = p->next_trying;
    for (at = &d->known; *at != p;)
        at = &(*at)->next_known;
    *at = p->next_known;
    d->peers[grank] = NULL;
    ku_lock_fini(&p->lock);
    free(p);
    return DEV_OK;
}

static int still_there(struct dev *d)
{
    int n = 0;
    for (struct dev_peer *p = d->known; p; p = p->next_known) {
        if (p->fd < 0)
            continue;
        if (p->state == TCP_GREETED)
            dev_tcp_ready(d, &p->source, EPOLLIN);
        if (has_left(p))
            dev_tcp_gone(p, TCP_LEFT, NULL);
        else
            n++;
    }
    return n;
}

static void tcp_close(struct dev *d)
{
    uint64_t end = ku_clock_ns() + CLOSE_MS * TCP_MS;
    dev_tcp_forget_fd(d, d->listen_fd);
    d->listen_fd = -1;
    d->pending = NULL;
    memset(d->hot, 0, sizeof d->hot);
    while (still_there(d) && ku_clock_ns() < end)
        ku_wait_nap(1);
    for (struct dev_peer *p = d->known; p; p = p->next_known)
        if (p->fd >= 0)
            dev_tcp_gone(p, TCP_LEFT, NULL);
}

const struct dev_ops dev_tcp_ops = {
    .size = sizeof dev_tcp_ops,
    .version = DEV_VERSION,
    .name = "tcp",
    .reach = DEV_REACH_ANY,
    .open = tcp_open,
    .caps = tcp_caps,
    .close = tcp_close,
    .fini = tcp_fini,
    .address = tcp_address,
    .peer_init = tcp_peer_init,
    .peer_stop = tcp_peer_stop,
    .peer_fini = tcp_peer_fini,
    .send_short = dev_tcp_send_short,
    .send = dev_tcp_send,
    .reserve = dev_tcp_reserve,
    .commit = dev_tcp_commit,
    .drop = dev_tcp_drop,
    .progress = tcp_progress,
    .wait_word = tcp_wait_word,
    .wait_fd = tcp_wait_fd,
    .unsent = tcp_unsent,
    .under_way = tcp_under_way,
    .part = tcp_part,
};
