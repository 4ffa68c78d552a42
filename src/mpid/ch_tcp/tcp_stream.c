/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "tcp.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum {
    STAGE = (16 << 10) +
            64,       /* bytes fetched at once, of what is not known yet: a packet of 16 KB is one of them */
    BEHIND = 1 << 10, /* and behind a long body: enough for the head of the next one */
    PLACE_MIN = 4 << 10, /* bytes to come that are worth a call of their own to go where they belong */
    JOIN_MAX = 512,      /* a body that is copied behind its head */
    COPY_MAX = 2048 /* a body that is copied behind what waits, instead of being left where it is */,
    LENT_MAX = 16
};

/* ---- sending: what waits --------------------------------------------------------------------- */

bool dev_tcp_open_out(struct dev_peer *p)
{
    p->out = dev_tcp_buffer(p->dev);
    p->cap = p->out ? TCP_BUFFER : TCP_SPILL;
    p->sent = p->end = 0;
    if (p->out)
        return true;
    p->out = p->spill;
    return false;
}

void dev_tcp_drop_out(struct dev_peer *p)
{
    if (p->out && p->out != p->spill)
        dev_tcp_release(p->dev, p->out);
    p->out = NULL;
    p->sent = p->end = p->cap = 0;
}

static void tcp_stream_append(struct dev_peer *p, const struct iovec *v, int n)
{
    for (int i = 0; i < n; i++) {
        if (v[i].iov_len)
            memcpy(p->out + p->end, v[i].iov_base, v[i].iov_len);
        p->end += (uint32_t)v[i].iov_len;
    }
}

/* The first `bytes` bytes are done with. */
static int tcp_stream_advance(struct iovec *v, int n, size_t bytes)
{
    int i = 0;
    while (i < n && bytes >= v[i].iov_len)
        bytes -= v[i++].iov_len;
    memmove(v, v + i, (size_t)(n - i) * sizeof *v);
    if (i < n) {
        v[0].iov_base = (char *)v[0].iov_base + bytes;
        v[0].iov_len -= bytes;
    }
    return n - i;
}

void dev_tcp_watched(struct dev_peer *p, bool writable)
{
    if (p->watched != writable)
        atomic_fetch_add_explicit(&p->dev->nwatched, writable ? 1 : -1, memory_order_relaxed);
    p->watched = writable;
}

static void be_blind(struct dev_peer *p, bool blind)
{
    if (p->blind != blind)
        atomic_fetch_add(&p->dev->nblind, blind ? 1 : -1);
    p->blind = blind;
    if (blind)
        dev_tcp_ring(p->dev);
}

/* What the epoll set refuses (it may have no memory) is asked for again by dev_tcp_due; who tells too much, by the
 * next flush. */
static void tcp_stream_watch(struct dev_peer *p, bool writable)
{
    struct epoll_event ev = { .events = EPOLLIN | (writable ? EPOLLOUT : 0), .data.ptr = &p->source };
    bool told = p->watched == writable || p->fd < 0;
    if (!told && epoll_ctl(p->dev->epoll, EPOLL_CTL_MOD, p->fd, &ev) == 0) {
        dev_tcp_watched(p, writable);
        told = true;
    }
    if (p->blind || !told)
        be_blind(p, writable && !told);
}

void dev_tcp_cut(struct dev_peer *p, int error)
{
    p->cut = true;
    p->error = error;
    if (p->state != TCP_CONNECTING)
        shutdown(p->fd, SHUT_RDWR);
}

/* The bytes that the socket took; 0 also when it is broken.  send, where it will do, has less to copy from the
 * caller.  What the peer had sent before can still be read, after which the reader finds the end. */
static size_t write_some(struct dev_peer *p, struct iovec *v, int n)
{
    struct msghdr m = { .msg_iov = v, .msg_iovlen = (size_t)n };
    ssize_t sent;
    if (p->cut)
        return 0;
    do
        sent = n == 1 ? send(p->fd, v[0].iov_base, v[0].iov_len, MSG_DONTWAIT | MSG_NOSIGNAL)
                      : sendmsg(p->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0)
        return (size_t)sent;
    if (!ku_sock_not_now(errno))
        dev_tcp_cut(p, errno);
    return 0;
}

static void write_out(struct dev_peer *p)
{
    struct iovec v[TCP_PIECES + 3];
    int n = 0, before;
    size_t done;
    v[0] = (struct iovec){ p->out + p->sent, p->end - p->sent };
    before = v[0].iov_len > 0;
    n = before;
    for (int i = 0; p->keeps && i < p->nrest; i++)
        v[n++] = p->rest[i];
    done = write_some(p, v, n);
    if (before && done >= v[0].iov_len) {
        done -= v[0].iov_len;
        p->sent = p->end;
    } else if (before) {
        p->sent += (uint32_t)done;
        return;
    }
    if (p->keeps)
        p->nrest = tcp_stream_advance(p->rest, p->nrest, done);
}

void dev_tcp_flush(struct dev_peer *p)
{
    bool more;
    if (p->sent < p->end || (p->keeps && p->nrest > 0))
        write_out(p);
    more = p->sent < p->end || (p->keeps && p->nrest > 0);
    if (!more && p->state == TCP_OPEN)
        dev_tcp_drop_out(p);
    tcp_stream_watch(p, (more && !p->cut) || p->state == TCP_CONNECTING);
}

int dev_tcp_write(struct dev_peer *p)
{
    void *cookie;
    bool done;
    int events;
    ku_lock(&p->lock);
    dev_tcp_flush(p);
    done = p->keeps && p->nrest == 0;
    cookie = p->cookie;
    if (done) {
        p->keeps = false;
        if (p->room)
            dev_tcp_release(p->dev, p->room);
        done = p->room == NULL;
        p->room = NULL;
    }
    events = p->refused && p->out == NULL && !p->keeps;
    if (events)
        p->refused = false;
    ku_unlock(&p->lock);
    if (done)
        p->dev->up.sent(p->dev->up.core, cookie, DEV_OK);
    return events + done;
}

/* ---- sending: packets ------------------------------------------------------------------------ */

static dev_status tcp_stream_refuse(struct dev_peer *p)
{
    p->refused = true;
    return DEV_AGAIN;
}

/* May bytes be handed in?  DEV_OK: yes. */
static dev_status may_send(struct dev_peer *p)
{
    switch ((enum tcp_state)p->state) {
    case TCP_GREETED:
    case TCP_OPEN:
        return p->cut ? tcp_stream_refuse(p)
                      : DEV_OK; /* cut: gone, or begun again, as soon as what came is read */
    case TCP_LEFT:
    case TCP_GONE:
        return DEV_PEER_GONE;
    case TCP_IDLE:
        dev_tcp_want(p);
        return tcp_stream_refuse(p);
    default:
        return tcp_stream_refuse(p);
    }
}

/* Put a whole frame of `len` bytes.  DEV_QUEUED (only if `borrow`): what is left is in `rest`. */
static dev_status tcp_stream_put(struct dev_peer *p, struct iovec *v, int n, size_t len, bool borrow)
{
    size_t done;
    if (p->state == TCP_OPEN && p->out == NULL && !p->keeps) {
        done = write_some(p, v, n);
        if (done == len)
            return DEV_OK;
        if (done == 0 && p->cut)
            return tcp_stream_refuse(p);
        n = tcp_stream_advance(v, n, done);
        if (!borrow) {
            dev_tcp_open_out(p);
            tcp_stream_append(p, v, n);
        }
    } else if (!p->keeps && (!borrow || p->state != TCP_OPEN || len <= COPY_MAX) && p->cap - p->end >= len) {
        bool idle = p->sent == p->end;
        tcp_stream_append(p, v, n);
        if (idle)
            dev_tcp_flush(p);
        return DEV_OK;
    } else if (p->keeps || !borrow || p->state != TCP_OPEN) {
        return tcp_stream_refuse(p);
    }
    if (borrow) {
        memmove(p->rest, v, (size_t)n * sizeof *v);
        p->nrest = n;
        p->keeps = true;
    }
    tcp_stream_watch(p, true);
    return borrow ? DEV_QUEUED : DEV_OK;
}

/* Pieces that are copied into one frame: of one buffer the system has less to do than of several. */
static inline dev_status send_joined(struct dev_peer *p, const struct dev_head *head,
                                     const struct dev_iov *iov, int n, size_t len)
{
    struct {
        struct tcp_frame f;
        uint8_t body[JOIN_MAX];
    } frame;
    struct iovec v = { &frame, tcp_frame_bytes((uint32_t)len) };
    dev_status st;
    size_t at = 0;
    frame.f = tcp_frame_prepare(TCP_PACKET, head, len);
    for (int i = 0; i < n; at += iov[i++].len)
        if (iov[i].len)
            memcpy(frame.body + at, iov[i].base, iov[i].len);
    memset(frame.body + at, 0, v.iov_len - sizeof frame.f - at);
    ku_lock(&p->lock);
    st = may_send(p);
    if (st == DEV_OK)
        st = tcp_stream_put(p, &v, 1, v.iov_len, false);
    ku_unlock(&p->lock);
    return st;
}

dev_status dev_tcp_send_short(struct dev_peer *p, const struct dev_head *head, const void *body)
{
    struct dev_iov all = { .base = body, .len = head->len };
    return send_joined(p, head, &all, 1, head->len);
}

dev_status dev_tcp_bye(struct dev_peer *p)
{
    struct tcp_frame f = tcp_frame_prepare(TCP_BYE, NULL, 0);
    struct iovec v = { &f, sizeof f };
    return tcp_stream_put(p, &v, 1, sizeof f, false);
}

static const uint64_t zeros;

static dev_status send_pieces(struct dev_peer *p, const struct dev_head *head, const struct dev_iov *iov,
                              int n, size_t len, void *cookie)
{
    struct iovec v[TCP_PIECES + 2];
    int k = 1;
    dev_status st;
    ku_lock(&p->lock);
    st = may_send(p);
    if (st == DEV_OK && p->keeps)
        st = tcp_stream_refuse(p);
    if (st == DEV_OK) {
        p->head = tcp_frame_prepare(TCP_PACKET, head, len);
        v[0] = (struct iovec){ &p->head, sizeof p->head };
        for (int i = 0; i < n; i++)
            v[k++] = (struct iovec){ (void *)(uintptr_t)iov[i].base, iov[i].len };
        v[k++] = (struct iovec){ (void *)(uintptr_t)&zeros, -len & 7 };
        st = tcp_stream_put(p, v, k, tcp_frame_bytes((uint32_t)len), true);
        if (st == DEV_QUEUED)
            p->cookie = cookie;
    }
    ku_unlock(&p->lock);
    return st;
}

dev_status dev_tcp_send(struct dev_peer *p, const struct dev_head *head, const struct dev_iov *iov, int n,
                        void *cookie)
{
    size_t len = 0;
    uint8_t *room;
    dev_status st;
    for (int i = 0; i < n; i++)
        len += iov[i].len;
    if (len <= JOIN_MAX)
        return send_joined(p, head, iov, n, len);
    if (n <= TCP_PIECES)
        return send_pieces(p, head, iov, n, len, cookie);
    room = dev_tcp_reserve(p, len);
    if (!room)
        return p->state >= TCP_LEFT ? DEV_PEER_GONE : DEV_AGAIN;
    for (int i = 0, at = 0; i < n; at += (int)iov[i++].len)
        if (iov[i].len)
            memcpy(room + at, iov[i].base, iov[i].len);
    st = dev_tcp_commit(p, head, room, len);
    if (st == DEV_AGAIN)
        dev_tcp_drop(p, room);
    return st;
}

/* ---- rooms: a buffer that begins with a frame's head ------------------------------------------- */

static uint8_t *buffer_of(void *room)
{
    return (uint8_t *)room - sizeof(struct tcp_frame);
}

void *dev_tcp_reserve(struct dev_peer *p, size_t want)
{
    uint8_t *b = NULL;
    dev_status st;
    (void)want;
    ku_lock(&p->lock);
    st = may_send(p);
    if (st == DEV_OK && (p->keeps || p->dev->lent >= LENT_MAX))
        tcp_stream_refuse(p);
    else if (st == DEV_OK)
        b = dev_tcp_buffer(p->dev);
    ku_unlock(&p->lock);
    if (!b)
        return NULL;
    p->dev->lent++;
    return b + sizeof(struct tcp_frame);
}

void dev_tcp_drop(struct dev_peer *p, void *room)
{
    p->dev->lent--;
    dev_tcp_release(p->dev, buffer_of(room));
}

dev_status dev_tcp_commit(struct dev_peer *p, const struct dev_head *head, void *room, size_t len)
{
    struct tcp_frame f = tcp_frame_prepare(TCP_PACKET, head, len);
    struct iovec v = { buffer_of(room), tcp_frame_bytes((uint32_t)len) };
    dev_status st;
    memcpy(v.iov_base, &f, sizeof f);
    memset((uint8_t *)room + len, 0, -len & 7);
    ku_lock(&p->lock);
    st = may_send(p);
    if (st == DEV_OK)
        st = p->keeps ? tcp_stream_refuse(p) : tcp_stream_put(p, &v, 1, v.iov_len, true);
    if (st == DEV_QUEUED)
        p->room = buffer_of(room);
    ku_unlock(&p->lock);
    if (st == DEV_QUEUED) {
        p->dev->lent--;
        return DEV_OK;
    }
    if (st != DEV_AGAIN)
        dev_tcp_drop(p, room);
    return st;
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* The frame at the front: its bytes; 0: not all there; -1: nonsense. */
static int32_t frame_at(const struct dev_peer *p, struct tcp_frame *f)
{
    uint32_t n = p->have - p->at;
    if (n < sizeof *f)
        return 0;
    memcpy(f, p->in + p->at, sizeof *f);
    *f = tcp_frame_le(*f);
    if (!tcp_frame_check(f))
        return -1;
    return n < tcp_frame_bytes(f->len) ? 0 : (int32_t)tcp_frame_bytes(f->len);
}

void dev_tcp_unread(struct dev_peer *p)
{
    if (p->in && p->room_in > TCP_BUF)
        free(p->in);
    else if (p->in && p->dev->spare)
        dev_tcp_release(p->dev, p->in);
    else if (p->in)
        p->dev->spare = p->in;
    p->in = NULL;
    p->at = p->have = 0;
    p->ticket = 0;
}

/* To the front of those that are looked at first. */
static void warm(struct dev_peer *p)
{
    struct dev_peer **hot = p->dev->hot, *here = p;
    for (int i = 0; i < TCP_HOT && here; i++) {
        struct dev_peer *was = hot[i];
        hot[i] = here;
        here = was == p ? NULL : was;
    }
}

void dev_tcp_cool(struct dev_peer *p)
{
    struct dev_peer **hot = p->dev->hot;
    int n = 0;
    for (int i = 0; i < TCP_HOT; i++)
        if (hot[i] != p)
            hot[n++] = hot[i];
    for (; n < TCP_HOT; n++)
        hot[n] = NULL;
}

static void to_pending(struct dev *d, struct dev_peer *p)
{
    p->next_pending = NULL;
    p->pending = true;
    if (d->pending)
        d->pending_last->next_pending = p;
    else
        d->pending = p;
    d->pending_last = p;
}

static bool make_in(struct dev_peer *p)
{
    p->in = p->dev->spare ? p->dev->spare : dev_tcp_buffer(p->dev);
    p->dev->spare = NULL;
    p->room_in = TCP_BUF;
    return p->in != NULL;
}

/* Room for all of the frame at the front, which is longer than a buffer.  false: no memory, for now. */
static bool widen_in(struct dev_peer *p)
{
    struct tcp_frame f;
    uint32_t all, have = p->have;
    uint8_t *wide;
    memcpy(&f, p->in, sizeof f);
    all = tcp_frame_bytes(ku_le32(f.len));
    wide = all > p->room_in ? malloc(all) : NULL;
    if (!wide)
        return false;
    memcpy(wide, p->in, have);
    dev_tcp_unread(p);
    p->in = wide;
    p->room_in = all;
    p->have = have;
    return true;
}

/* A long packet of which not all is there: its body may go where it belongs. */
static void tcp_stream_place(struct dev_peer *p, const struct tcp_frame *f)
{
    const struct dev_services *up = &p->dev->up;
    uint32_t there = p->have - p->at - (uint32_t)sizeof *f;
    void *base;
    if (!up->place || f->kind != TCP_PACKET || f->len < there + PLACE_MIN)
        return;
    p->ticket = up->place(up->core, p->grank, &f->head, f->len);
    if (!p->ticket)
        return;
    base = up->place_at(up->core, p->ticket);
    if (base)
        memcpy(base, p->in + p->at + sizeof *f, there);
    p->placed = there;
    p->body = f->len;
    p->at = p->have = 0;
}

/* What lies at the front decides what is next: a packet to deliver, more to read, or the end. */
static int look_at_front(struct dev_peer *p)
{
    struct tcp_frame f;
    int32_t n = p->in ? frame_at(p, &f) : 0;
    if (n > 0) {
        to_pending(p->dev, p);
    } else if (n < 0) {
        return dev_tcp_gone(p, TCP_GONE, "sent something that is not a frame");
    } else if (p->at == p->have) {
        dev_tcp_unread(p);
    } else if (p->have - p->at >= sizeof f) {
        tcp_stream_place(p, &f);
    }
    return 0;
}

static int tcp_stream_ended(struct dev_peer *p, ssize_t n)
{
    char why[128];
    if (n < 0 && ku_sock_not_now(errno)) {
        if (p->have == 0 && !p->ticket)
            dev_tcp_unread(p);
        return 0;
    }
    snprintf(why, sizeof why, "ended the connection without a goodbye: %s",
             n        ? strerror(errno)
             : p->cut ? strerror(p->error)
                      : "end of file");
    return dev_tcp_gone(p, TCP_GONE, why);
}

/* The body that goes straight to its place is all there. */
static int finish_body(struct dev_peer *p, uint32_t behind)
{
    uint64_t ticket = p->ticket;
    p->ticket = 0;
    p->at = 0;
    p->have = behind;
    p->dev->up.placed(p->dev->up.core, ticket);
    return 1 + look_at_front(p);
}

/* Where the next bytes go: the rest of the body, the zeros behind it, and what comes then. */
static int body_parts(struct dev_peer *p, struct iovec v[3], uint8_t zeros_in[8])
{
    uint32_t all = p->body + (-p->body & 7u);
    int n = 0;
    if (p->placed < p->body) {
        char *base = p->dev->up.place_at(p->dev->up.core, p->ticket);
        uint32_t left = p->body - p->placed;
        if (!base) { /* nobody wants it any more */
            v[0] = (struct iovec){ p->in, left < STAGE ? left : STAGE };
            return 1;
        }
        v[n++] = (struct iovec){ base + p->placed, left };
    }
    if (p->body % 8)
        v[n++] = (struct iovec){ zeros_in, all - (p->placed > p->body ? p->placed : p->body) };
    v[n++] = (struct iovec){ p->in, BEHIND };
    return n;
}

/* More of a body that goes straight to its place. */
static int read_body(struct dev_peer *p)
{
    uint32_t left = p->body + (-p->body & 7u) - p->placed;
    struct iovec v[3];
    uint8_t zeros_in[8];
    struct msghdr m = { .msg_iov = v, .msg_iovlen = (size_t)body_parts(p, v, zeros_in) };
    ssize_t n;
    do
        n = recvmsg(p->fd, &m, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return tcp_stream_ended(p, n);
    warm(p);
    if ((size_t)n >= left)
        return finish_body(p, (uint32_t)((size_t)n - left));
    p->placed += (uint32_t)n;
    return 1;
}

int dev_tcp_read(struct dev_peer *p)
{
    ssize_t n;
    uint32_t room;
    if (p->pending || (!p->in && !make_in(p)))
        return 0; /* without memory: later, as the descriptor stays readable */
    if (p->ticket)
        return read_body(p);
    if (p->at > 0) {
        memmove(p->in, p->in + p->at, p->have - p->at);
        p->have -= p->at;
        p->at = 0;
    }
    if (p->have == p->room_in && !widen_in(p))
        return 0;
    room = (p->have < STAGE ? STAGE : p->room_in) - p->have;
    do
        n = recv(p->fd, p->in + p->have, room, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return tcp_stream_ended(p, n);
    p->have += (uint32_t)n;
    warm(p);
    return 1 + look_at_front(p);
}

int dev_tcp_deliver(struct dev *d)
{
    struct dev_peer *p = d->pending;
    struct tcp_frame f;
    int32_t n = frame_at(p, &f);
    d->pending = p->next_pending;
    p->pending = false;
    if (n <= 0) /* a peer is among those that wait as long as there is a whole frame */
        return 0;
    if (f.kind == TCP_BYE) {
        if (p->grank >= d->world.size && d->up.peer_left)
            d->up.peer_left(d->up.core, p->grank);
        return dev_tcp_gone(p, TCP_LEFT, NULL);
    }
    d->up.deliver(d->up.core, p->grank, &f.head, p->in + p->at + sizeof f, f.len);
    p->at += (uint32_t)n;
    return 1 + look_at_front(p);
}
