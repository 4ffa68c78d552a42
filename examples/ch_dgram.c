/* ch_dgram.c: a device of one's own, built against an installed Keel: packets over UNIX datagram sockets, between the ranks of a node.
 *
 *   cc -O2 -fPIC -fvisibility=hidden -DKEEL_PLUGIN $(pkg-config --cflags keel-device) -shared -Wl,-z,defs -o ch_dgram.so ch_dgram.c
 *   KEEL_PLUGINS=$PWD/ch_dgram.so KEEL_DEVICES=self,dgram mpiexec -n 4 ./heat2d
 *
 * One socket of each process receives and sends.  The kernel keeps datagrams in order and loses none.  An address is the socket's name and a
 * random number, which each packet repeats: what is sent by a stranger, or to an earlier MPI_Init, does not have it.  A peer whose queue is
 * full refuses a datagram; then a timer says when to try again.
 *
 * `lock` guards what threads that send share; of the core only `address` is called with it held. */
#include <errno.h>
#include <keel/device.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    SHORT = 128,
    PIECES = 8,
    BATCH = 16 /* packets a call of progress */,
    AGAIN_NS = 50000,
    WAIT_NS = 1000000 /* for an address */
};

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
    struct address at;       /* len 0: not known yet */
    _Atomic bool lost, told; /* its socket is closed, or it has died; and the core knows */
};

struct dev {
    struct dev_services up;
    struct dev_world world;
    pthread_mutex_t lock;
    struct address own;
    int socket, timer, epoll;
    uint32_t max_send, failed_seen;
    _Atomic bool refused; /* some sender waits for the timer */
    _Atomic bool lost;    /* some peer is, and the core is to be told */
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

static void lose(struct dev_peer *p)
{
    p->lost = true;
    p->dev->lost = true;
}

/* With the lock. */
static dev_status send_locked(struct dev_peer *p, struct packet *h, struct msghdr *msg)
{
    struct dev *d = p->dev;
    size_t n = p->at.len == 0 ? d->up.address(d->up.core, p->grank, &p->at, sizeof p->at) : sizeof p->at;
    h->nonce = p->at.nonce;
    msg->msg_namelen = p->at.len;
    if (!p->lost && n == sizeof p->at && sendmsg(d->socket, msg, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
        return DEV_OK;
    if (n != 0 && (n != sizeof p->at || (errno != EAGAIN && errno != ENOBUFS && errno != EINTR)))
        lose(p);
    if (p->lost)
        return DEV_PEER_GONE;
    if (!d->refused)
        timerfd_settime(d->timer, 0, &(struct itimerspec){ .it_value.tv_nsec = n == 0 ? WAIT_NS : AGAIN_NS },
                        NULL);
    d->refused = true;
    return DEV_AGAIN;
}

static dev_status dgram_send(struct dev_peer *p, const struct dev_head *head, const struct dev_iov *iov,
                             int n, void *cookie)
{
    struct packet h = { .source = p->dev->world.rank, .head = *head };
    struct iovec all[1 + PIECES] = { { &h, sizeof h } };
    struct msghdr msg = { .msg_name = &p->at.name, .msg_iov = all, .msg_iovlen = (size_t)n + 1 };
    dev_status st;
    (void)cookie; /* what is sent is copied: DEV_QUEUED is never answered */
    if (n > PIECES)
        return DEV_NO_SUPPORT;
    for (int i = 0; i < n; i++) {
        all[i + 1] = (struct iovec){ (void *)(uintptr_t)iov[i].base, iov[i].len };
        h.len += (uint32_t)iov[i].len;
    }
    pthread_mutex_lock(&p->dev->lock);
    st = send_locked(p, &h, &msg);
    pthread_mutex_unlock(&p->dev->lock);
    return st;
}

static dev_status dgram_send_short(struct dev_peer *p, const struct dev_head *head, const void *body)
{
    return dgram_send(p, head, &(struct dev_iov){ body, head->len, DEV_MEM_HOST }, 1, NULL);
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
    ssize_t n = recv(d->socket, d->in, sizeof *d->in + d->max_send, MSG_DONTWAIT | MSG_TRUNC);
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

/* What the dead have sent is handed up first. */
static void look_at_deaths(struct dev *d, uint32_t failed)
{
    while (receive(d))
        ;
    for (; d->failed_seen != failed; d->failed_seen++)
        lose(&d->peers[ku_segment_dead(d->world.segment, d->failed_seen)]);
}

static int tell_of_the_lost(struct dev *d)
{
    int events = 0;
    d->lost = false;
    for (int i = 0; i < d->world.size; i++)
        if (d->peers[i].lost && !d->peers[i].told && i != d->world.rank) {
            d->peers[i].told = true;
            d->up.peer_gone(d->up.core, i);
            events++;
        }
    return events;
}

static int dgram_progress(struct dev *d)
{
    uint32_t failed = atomic_load_explicit(&d->world.segment->head->failed, memory_order_acquire);
    uint64_t times;
    int events = 0;
    while (events < BATCH && receive(d))
        events++;
    if (d->refused && read(d->timer, &times, sizeof times) > 0) {
        d->refused = false; /* who was refused may try again: an event says so */
        events++;
    }
    if (failed != d->failed_seen)
        look_at_deaths(d, failed);
    return events == 0 && d->lost ? tell_of_the_lost(d) : events;
}

static int dgram_wait_fd(struct dev *d)
{
    return d->epoll; /* readable: a packet has come, or the timer has */
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
    close(d->socket);
    close(d->timer);
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

static bool open_socket(struct dev *d)
{
    struct sockaddr_un any = { .sun_family = AF_UNIX };
    struct epoll_event ev = { .events = EPOLLIN };
    d->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    d->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    d->epoll = epoll_create1(EPOLL_CLOEXEC);
    d->own.len = sizeof d->own.name;
    return d->socket >= 0 && d->timer >= 0 && d->epoll >= 0 &&
           getrandom(&d->own.nonce, sizeof d->own.nonce, 0) == sizeof d->own.nonce &&
           bind(d->socket, (struct sockaddr *)&any, sizeof any.sun_family) ==
               0 && /* the kernel chooses a name */
           getsockname(d->socket, (struct sockaddr *)&d->own.name, &d->own.len) == 0 &&
           epoll_ctl(d->epoll, EPOLL_CTL_ADD, d->socket, &ev) == 0 &&
           epoll_ctl(d->epoll, EPOLL_CTL_ADD, d->timer, &ev) == 0;
}

static dev_status dgram_open(const struct dev_services *services, const struct dev_world *world,
                             struct dev **dev)
{
    struct dev *d = calloc(1, sizeof *d);
    if (d == NULL)
        return DEV_ERROR;
    d->up = *services;
    d->world = *world;
    d->socket = d->timer = d->epoll = -1;
    pthread_mutex_init(&d->lock, NULL);
    d->max_send = (uint32_t)services->knob_number(services->core, "DGRAM_BYTES");
    d->in = malloc(sizeof *d->in + d->max_send);
    d->peers = calloc((size_t)world->size, sizeof *d->peers);
    for (int i = 0; d->peers != NULL && i < world->size; i++)
        d->peers[i] = (struct dev_peer){ .dev = d, .grank = i };
    if (d->in == NULL || d->peers == NULL || !open_socket(d)) {
        char text[100];
        snprintf(text, sizeof text, "dgram: no socket: %s", strerror(errno));
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
