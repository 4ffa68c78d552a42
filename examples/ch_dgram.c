/* SPDX-License-Identifier: BSD-3-Clause */
/* ch_dgram.c: a device of one's own, built against an installed Keel: packets over UNIX datagram sockets, between
 * the ranks of a node.
 *
 *   cc -O2 -fPIC -fvisibility=hidden -DKEEL_PLUGIN $(pkg-config --cflags keel-device) -shared -Wl,-z,defs -o
 *   ch_dgram.so ch_dgram.c KEEL_PLUGINS=$PWD/ch_dgram.so KEEL_DEVICES=self,dgram mpiexec -n 4 ./heat2d
 *
 * One socket of each process receives and sends.  The kernel keeps datagrams in order and loses none.  An address
 * is the socket's name and a random number, which each packet repeats: what is sent by a stranger, or to an
 * earlier MPI_Init, does not have it.  A peer whose queue is full refuses a datagram; then a timer says when to
 * try again. */
#include <errno.h>
#include <keel/device.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

enum { SHORT = 128, LONG = 32 << 10, BATCH = 16 /* packets a call of progress */, AGAIN_NS = 50000 };

struct address {
    uint64_t nonce;
    socklen_t len;
    struct sockaddr_un name;
};

/* Begins each datagram; the body follows. */
struct packet {
    uint64_t nonce; /* the receiver's */
    int32_t source;
    struct dev_head head;
};

struct dev_peer {
    struct dev *dev;
    int32_t grank;
};

struct dev {
    struct dev_services up;
    struct dev_world world;
    struct address own;
    int socket, timer, epoll;
    uint32_t failed_seen;
    _Atomic bool refused; /* somebody was, and the timer is set */
    bool warned;
    struct {
        struct packet packet;
        unsigned char body[LONG]; /* aligned to 8, as the core wants it */
    } in;
    struct dev_peer peers[]; /* [world.size] */
};

/* Any number of threads may send at once: they change `refused` alone. */
static dev_status dgram_send(struct dev_peer *p, const struct dev_head *head, const struct dev_iov *iov,
                             int n, void *cookie)
{
    struct dev *d = p->dev;
    struct address to = { 0 };
    size_t known = d->up.address(d->up.core, p->grank, &to, sizeof to);
    struct packet begin = { .nonce = to.nonce, .source = d->world.rank, .head = *head };
    struct iovec all[1 + n];
    struct msghdr m = { .msg_name = &to.name, .msg_namelen = to.len, .msg_iov = all, .msg_iovlen = n + 1u };
    (void)cookie; /* what is sent is copied: DEV_QUEUED is never answered */
    all[0] = (struct iovec){ &begin, sizeof begin };
    for (int i = 0; i < n; i++)
        all[1 + i] = (struct iovec){ (void *)(uintptr_t)iov[i].base, iov[i].len };
    if (known == sizeof to && sendmsg(d->socket, &m, MSG_DONTWAIT) >= 0)
        return DEV_OK;
    if (known != 0 && (known != sizeof to || (errno != EAGAIN && errno != ENOBUFS)))
        return DEV_PEER_GONE; /* it has died, or its socket is closed */
    if (!atomic_exchange(&d->refused, true))
        timerfd_settime(d->timer, 0, &(struct itimerspec){ .it_value.tv_nsec = AGAIN_NS }, NULL);
    return DEV_AGAIN; /* its queue is full, or it has not opened yet */
}

static dev_status dgram_send_short(struct dev_peer *p, const struct dev_head *head, const void *body)
{
    return dgram_send(p, head, &(struct dev_iov){ body, head->len, DEV_MEM_HOST }, 1, NULL);
}

/* False: nothing has come. */
static bool receive(struct dev *d)
{
    const struct packet *p = &d->in.packet;
    ssize_t n = recv(d->socket, &d->in, sizeof d->in, MSG_DONTWAIT | MSG_TRUNC);
    ssize_t len = n - (ssize_t)sizeof *p;
    if (len >= p->head.len && len <= LONG && p->nonce == d->own.nonce && p->source != d->world.rank &&
        dev_local_of(&d->world, p->source) >= 0) {
        d->up.deliver(d->up.core, p->source, &p->head, d->in.body, (size_t)len);
    } else if (n >= 0 && !d->warned) {
        fprintf(stderr, "keel: rank %d, device dgram: dropped what came from a stranger\n", d->world.rank);
        d->warned = true;
    }
    return n >= 0;
}

static int dgram_progress(struct dev *d)
{
    int32_t failed;
    uint64_t times;
    int events = 0;
    while (events < BATCH && receive(d))
        events++;
    if (events == 0) /* all that the dead had sent has been delivered */
        for (; (failed = d->up.next_failed(d->up.core, &d->failed_seen)) >= 0; events++)
            d->up.peer_gone(d->up.core, failed);
    if (d->refused && read(d->timer, &times, sizeof times) > 0) {
        d->refused = false;
        events++; /* the core tries again */
    }
    return events;
}

static int dgram_wait_fd(struct dev *d)
{
    return d->epoll; /* readable: a packet has come, or it is time to try again */
}

static dev_status dgram_peer_init(struct dev *d, int32_t grank, struct dev_peer **peer)
{
    if (grank >= d->world.size || grank == d->world.rank || dev_local_of(&d->world, grank) < 0)
        return DEV_NO_SUPPORT;
    d->peers[grank] = (struct dev_peer){ d, grank };
    *peer = &d->peers[grank];
    return DEV_OK;
}

static void dgram_peer_stop(struct dev_peer *p)
{
    (void)p; /* what was sent lies in the kernel, also when this socket is closed */
}

static void dgram_close(struct dev *d)
{
    close(d->socket);
    close(d->timer);
    close(d->epoll);
}

static void dgram_fini(struct dev *d)
{
    free(d);
}

static dev_status dgram_open(const struct dev_services *services, const struct dev_world *world,
                             struct dev **dev)
{
    struct epoll_event ev = { .events = EPOLLIN };
    struct dev *d = calloc(1, sizeof *d + (size_t)world->size * sizeof d->peers[0]);
    if (d == NULL)
        return DEV_ERROR;
    d->up = *services;
    d->world = *world;
    d->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    d->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    d->epoll = epoll_create1(EPOLL_CLOEXEC);
    d->own = (struct address){ .len = sizeof d->own.name, .name.sun_family = AF_UNIX };
    if (d->socket < 0 || d->timer < 0 || d->epoll < 0 ||
        getrandom(&d->own.nonce, sizeof d->own.nonce, 0) != sizeof d->own.nonce ||
        bind(d->socket, (struct sockaddr *)&d->own.name, sizeof d->own.name.sun_family) != 0 ||
        getsockname(d->socket, (struct sockaddr *)&d->own.name, &d->own.len) != 0 ||
        epoll_ctl(d->epoll, EPOLL_CTL_ADD, d->socket, &ev) != 0 ||
        epoll_ctl(d->epoll, EPOLL_CTL_ADD, d->timer, &ev) != 0) {
        services->error(services->core, strerror(errno));
        dgram_close(d);
        dgram_fini(d);
        return DEV_NO_SUPPORT;
    }
    *dev = d;
    return DEV_OK;
}

static void dgram_caps(const struct dev *d, struct dev_caps *caps)
{
    (void)d;
    *caps = (struct dev_caps){ .max_short = SHORT,
                               .max_send = LONG,
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
};

__attribute__((visibility("default"))) const struct dev_ops *keel_device(void)
{
    return &ops;
}
