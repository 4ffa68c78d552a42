/* ch_dgram.c: a device of one's own, built against an installed Keel: packets over UNIX datagram sockets, between the ranks of a node.
 *
 *   cc -O2 -fPIC -fvisibility=hidden -DKEEL_PLUGIN $(pkg-config --cflags keel-device) -shared -Wl,-z,defs -o ch_dgram.so ch_dgram.c
 *   KEEL_PLUGINS=$PWD/ch_dgram.so KEEL_DEVICES=self,dgram mpiexec -n 4 ./heat2d
 *
 * Each process receives with one socket, and has one to send with for each peer, so that the kernel can tell when that peer has room
 * again.  The kernel keeps datagrams in order and loses none.  An address is the receiving socket's name and a random number, which
 * each packet repeats: what is sent by a stranger, or to an earlier MPI_Init, does not have it.
 *
 * `lock` guards what threads that send share with the thread in progress; no call of the core is made with it held. */
#include <errno.h>
#include <keel/device.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { SHORT = 128, BATCH = 16 /* packets a call of progress */, RECEIVER = -1 /* in epoll_event.data */ };

struct packet {
    uint64_t nonce; /* the receiver's */
    int32_t source;
    uint32_t len;
    struct dev_head head;
    unsigned char body[]; /* aligned to 8, as the core wants it */
};

struct address {
    uint64_t nonce;
    socklen_t len;
    struct sockaddr_un name;
};

struct dev_peer {
    struct dev *dev;
    int32_t grank;
    int fd; /* connected to the peer; -1: not yet */
    uint64_t nonce;
    _Atomic bool refused; /* the core waits until there is room */
    _Atomic bool gone;
    bool told;
};

struct dev {
    struct dev_services up;
    struct dev_world world;
    pthread_mutex_t lock;
    struct address own;
    int receiver, epoll;
    uint32_t max_send, failed_seen;
    _Atomic int refused, lost; /* peers; lost: found gone, and the core is to be told */
    bool warned;
    struct packet *in;      /* room for one */
    struct dev_peer *peers; /* [size] */
};

static const struct dev_knob knobs[] = {
    { .name = "DGRAM_BYTES",
      .type = DEV_KNOB_SIZE,
      .def = "32K",
      .unit = "bytes",
      .min = 4096,
      .max = 128 << 10,
      .help = "longest body of a datagram of the device dgram" },
};

/* ---- sending ---- */

/* With the lock. */
static dev_status refuse(struct dev_peer *p)
{
    struct epoll_event ev = { .events = EPOLLOUT | EPOLLONESHOT, .data.fd = p->grank };
    p->dev->refused += !p->refused;
    p->refused = true;
    if (p->fd >= 0)
        epoll_ctl(p->dev->epoll, EPOLL_CTL_MOD, p->fd, &ev); /* tell when there is room */
    return DEV_AGAIN;
}

static dev_status send_locked(struct dev_peer *p, struct msghdr *msg)
{
    if (p->gone)
        return DEV_PEER_GONE;
    if (p->fd < 0) /* progress connects */
        return refuse(p);
    if (sendmsg(p->fd, msg, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
        return DEV_OK;
    if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR)
        return refuse(p);
    p->gone = true; /* its socket is closed: progress tells the core */
    p->dev->lost++;
    return DEV_PEER_GONE;
}

static dev_status dgram_send(struct dev_peer *p, const struct dev_head *head, const struct dev_iov *iov,
                             int n, void *cookie)
{
    struct packet h = { .nonce = p->nonce, .source = p->dev->world.rank, .head = *head };
    struct iovec all[1 + 8] = { { &h, sizeof h } };
    struct msghdr msg = { .msg_iov = all, .msg_iovlen = (size_t)n + 1 };
    dev_status st;
    (void)cookie; /* what is sent is copied: DEV_QUEUED is never answered */
    if (n > 8)
        return DEV_NO_SUPPORT;
    for (int i = 0; i < n; i++) {
        all[i + 1] = (struct iovec){ (void *)(uintptr_t)iov[i].base, iov[i].len };
        h.len += (uint32_t)iov[i].len;
    }
    pthread_mutex_lock(&p->dev->lock);
    h.nonce = p->nonce;
    st = send_locked(p, &msg);
    pthread_mutex_unlock(&p->dev->lock);
    return st;
}

static dev_status dgram_send_short(struct dev_peer *p, const struct dev_head *head, const void *body)
{
    struct dev_iov iov = { body, head->len, DEV_MEM_HOST };
    return dgram_send(p, head, &iov, 1, NULL);
}

/* ---- receiving ---- */

static bool is_ours(const struct dev *d, ssize_t n)
{
    const struct packet *in = d->in;
    return n >= (ssize_t)sizeof *in && in->nonce == d->own.nonce && in->len == (size_t)n - sizeof *in &&
           in->source >= 0 && in->source < d->world.size && in->source != d->world.rank &&
           in->head.len <= in->len;
}

/* 1: a packet was handed up. */
static int receive(struct dev *d)
{
    ssize_t n = recv(d->receiver, d->in, sizeof *d->in + d->max_send, MSG_DONTWAIT | MSG_TRUNC);
    if (n < 0)
        return 0;
    if (n <= (ssize_t)(sizeof *d->in + d->max_send) && is_ours(d, n)) {
        d->up.deliver(d->up.core, d->in->source, &d->in->head, d->in->body, d->in->len);
        return 1;
    }
    if (!d->warned)
        fprintf(stderr, "keel: rank %d, device dgram: dropped what came from a stranger\n",
                (int)d->world.rank);
    d->warned = true;
    return 1;
}

/* ---- progress ---- */

/* 1: it is connected, or will never be. */
static int connect_to(struct dev *d, struct dev_peer *p)
{
    struct address a = { 0 };
    size_t n = d->up.address(d->up.core, p->grank, &a, sizeof a);
    struct epoll_event ev = { .events = 0, .data.fd = p->grank };
    int fd;
    if (n == 0) /* not known yet */
        return 0;
    fd = n == sizeof a ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    pthread_mutex_lock(&d->lock);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&a.name, a.len) == 0 &&
        epoll_ctl(d->epoll, EPOLL_CTL_ADD, fd, &ev) == 0) {
        p->nonce = a.nonce;
        p->fd = fd;
    } else {
        p->gone = true;
        d->lost++;
        if (fd >= 0)
            close(fd);
    }
    d->refused -= p->refused;
    p->refused = false;
    pthread_mutex_unlock(&d->lock);
    return 1;
}

/* Peers that were refused may try again: the events. */
static int look_at_refused(struct dev *d)
{
    struct epoll_event ev[BATCH];
    int n, events = 0;
    for (int i = 0; i < d->world.size; i++)
        if (d->peers[i].refused && d->peers[i].fd < 0 && !d->peers[i].gone)
            events += connect_to(d, &d->peers[i]);
    n = epoll_wait(d->epoll, ev, BATCH, 0);
    pthread_mutex_lock(&d->lock);
    for (int i = 0; i < n; i++) {
        struct dev_peer *p = ev[i].data.fd != RECEIVER ? &d->peers[ev[i].data.fd] : NULL;
        if (p != NULL && p->refused) {
            p->refused = false;
            d->refused--;
            events++;
        }
    }
    pthread_mutex_unlock(&d->lock);
    return events;
}

static int tell_gone(struct dev *d, struct dev_peer *p)
{
    if (p->told)
        return 0;
    pthread_mutex_lock(&d->lock);
    d->lost -= p->gone;
    p->gone = p->told = true;
    pthread_mutex_unlock(&d->lock);
    d->up.peer_gone(d->up.core, p->grank);
    return 1;
}

/* What the dead have sent is handed up first. */
static int look_at_deaths(struct dev *d)
{
    uint32_t failed = atomic_load(&d->world.segment->head->failed);
    while (receive(d))
        ;
    for (; d->failed_seen != failed; d->failed_seen++) {
        int32_t grank = ku_segment_dead(d->world.segment, d->failed_seen);
        if (grank != d->world.rank)
            tell_gone(d, &d->peers[grank]);
    }
    return 1;
}

static int dgram_progress(struct dev *d)
{
    int events = 0;
    while (events < BATCH && receive(d))
        events++;
    if (d->refused > 0)
        events += look_at_refused(d);
    for (int i = 0; events == 0 && d->lost > 0 && i < d->world.size; i++)
        if (d->peers[i].gone)
            events += tell_gone(d, &d->peers[i]);
    if (atomic_load_explicit(&d->world.segment->head->failed, memory_order_relaxed) != d->failed_seen)
        events += look_at_deaths(d);
    return events;
}

static int dgram_wait_fd(struct dev *d)
{
    return d->epoll; /* readable: a packet has come, or a peer that was refused has room */
}

/* ---- peers, opening, closing ---- */

static dev_status dgram_peer_init(struct dev *d, int32_t grank, struct dev_peer **peer)
{
    if (grank >= d->world.size || grank == d->world.rank || dev_local_of(&d->world, grank) < 0)
        return DEV_NO_SUPPORT;
    *peer = &d->peers[grank];
    return DEV_OK;
}

static void dgram_peer_stop(struct dev_peer *p)
{
    (void)p; /* what was sent lies in the kernel, also when this socket is closed */
}

static void dgram_fini(struct dev *d)
{
    if (d == NULL)
        return;
    for (int i = 0; d->peers != NULL && i < d->world.size; i++)
        if (d->peers[i].fd >= 0)
            close(d->peers[i].fd);
    if (d->receiver >= 0)
        close(d->receiver);
    if (d->epoll >= 0)
        close(d->epoll);
    pthread_mutex_destroy(&d->lock);
    free(d->peers);
    free(d->in);
    free(d);
}

static void dgram_close(struct dev *d)
{
    (void)d;
}

static bool open_sockets(struct dev *d)
{
    struct sockaddr_un any = { .sun_family = AF_UNIX };
    struct epoll_event ev = { .events = EPOLLIN, .data.fd = RECEIVER };
    d->receiver = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    d->epoll = epoll_create1(EPOLL_CLOEXEC);
    d->own.len = sizeof d->own.name;
    return d->receiver >= 0 && d->epoll >= 0 &&
           getrandom(&d->own.nonce, sizeof d->own.nonce, 0) == sizeof d->own.nonce &&
           bind(d->receiver, (struct sockaddr *)&any, sizeof any.sun_family) ==
               0 /* a name of the kernel's choice */
           && getsockname(d->receiver, (struct sockaddr *)&d->own.name, &d->own.len) == 0 &&
           epoll_ctl(d->epoll, EPOLL_CTL_ADD, d->receiver, &ev) == 0;
}

static dev_status dgram_open(const struct dev_services *services, const struct dev_world *world,
                             struct dev **dev)
{
    struct dev *d = calloc(1, sizeof *d);
    if (d == NULL)
        return DEV_ERROR;
    d->up = *services;
    d->world = *world;
    d->receiver = d->epoll = -1;
    pthread_mutex_init(&d->lock, NULL);
    d->max_send = (uint32_t)services->knob_number(services->core, "DGRAM_BYTES");
    d->in = malloc(sizeof *d->in + d->max_send);
    d->peers = calloc((size_t)world->size, sizeof *d->peers);
    for (int i = 0; d->peers != NULL && i < world->size; i++)
        d->peers[i] = (struct dev_peer){ .dev = d, .grank = i, .fd = -1 };
    if (d->in == NULL || d->peers == NULL || !open_sockets(d)) {
        char text[100];
        snprintf(text, sizeof text, "dgram: no sockets: %s", strerror(errno));
        services->error(services->core, text);
        dgram_fini(d);
        return DEV_NO_SUPPORT;
    }
    *dev = d;
    return DEV_OK;
}

static void dgram_caps(const struct dev *d, struct dev_caps *caps)
{
    *caps = (struct dev_caps){ .max_short = SHORT,
                               .max_send = d->max_send,
                               .latency_ns = 2700,
                               .bandwidth_mbs = 3500,
                               .reach = DEV_REACH_NODE,
                               .mem_kinds = 1u << DEV_MEM_HOST };
}

static size_t dgram_address(const struct dev *d, void *buf, size_t cap)
{
    memcpy(buf, &d->own, cap < sizeof d->own ? cap : sizeof d->own);
    return sizeof d->own;
}

static const struct dev_ops ops = {
    .size = sizeof ops,
    .version = DEV_VERSION,
    .name = "dgram",
    .reach = DEV_REACH_NODE,
    .open = dgram_open,
    .caps = dgram_caps,
    .close = dgram_close,
    .fini = dgram_fini,
    .address = dgram_address,
    .peer_init = dgram_peer_init,
    .peer_stop = dgram_peer_stop,
    .peer_fini = dgram_peer_stop,
    .send_short = dgram_send_short,
    .send = dgram_send,
    .progress = dgram_progress,
    .wait_fd = dgram_wait_fd,
    .knobs = knobs,
    .nknobs = sizeof knobs / sizeof *knobs,
    .knob_size = sizeof knobs[0],
};

__attribute__((visibility("default"))) const struct dev_ops *keel_device(void);
const struct dev_ops *keel_device(void)
{
    return &ops;
}
