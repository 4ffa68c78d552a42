/* SPDX-License-Identifier: BSD-3-Clause */
/* packets.c: see packets.h. */
#define _GNU_SOURCE
#include "packets.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "pmi/launch/base/util.h"

union with {
    struct cmsghdr head;
    char space[CMSG_SPACE(sizeof(int))];
};

void packets_open(struct packets *p, int fd)
{
    *p = (struct packets){ .fd = fd };
    p->end = &p->first;
}

void packet_free(struct packet *k)
{
    if (k->fd >= 0)
        close(k->fd);
    free(k);
}

static void drop_first(struct packets *p)
{
    struct packet *k = p->first;
    p->first = k->next;
    if (!p->first)
        p->end = &p->first;
    packet_free(k);
}

void packets_close(struct packets *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
    while (p->first)
        drop_first(p);
}

static ssize_t write_packet(int fd, const struct packet *k)
{
    union with with = {
        .head = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS }
    };
    int32_t head[2] = { k->what, k->value };
    struct iovec v[2] = { { head, sizeof head }, { (void *)(uintptr_t)k->bytes, k->len } };
    struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };
    if (k->fd >= 0) {
        memcpy(CMSG_DATA(&with.head), &k->fd, sizeof k->fd);
        m.msg_control = &with;
        m.msg_controllen = sizeof with;
    }
    return sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void packets_flush(struct packets *p)
{
    while (p->first && p->fd >= 0) {
        ssize_t n = write_packet(p->fd, p->first);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == ENOBUFS))
            return;
        if (n < 0) {
            packets_close(p);
            return;
        }
        drop_first(p);
    }
}

void packets_send(struct packets *p, enum packet_what what, int value, const void *bytes, size_t len,
                  int with)
{
    struct packet *k = p->fd >= 0 ? xalloc(1, sizeof *k + len) : NULL;
    if (!k) {
        if (with >= 0)
            close(with);
        return;
    }
    *k = (struct packet){ .what = what, .value = value, .fd = with, .len = len };
    if (len > 0)
        memcpy(k->bytes, bytes, len);
    *p->end = k;
    p->end = &k->next;
    packets_flush(p);
}

/* A packet has one descriptor at most; there is room for another one, which nobody wants. */
static int descriptor_of(struct msghdr *m)
{
    int fd = -1, more;
    struct cmsghdr *c = CMSG_FIRSTHDR(m);
    if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len < CMSG_LEN(sizeof fd))
        return fd;
    memcpy(&fd, CMSG_DATA(c), sizeof fd);
    if (c->cmsg_len >= CMSG_LEN(2 * sizeof fd)) {
        memcpy(&more, CMSG_DATA(c) + sizeof fd, sizeof more);
        close(more);
    }
    return fd;
}

struct packet *packets_next(struct packets *p)
{
    static char bytes[PACKET_MOST];
    union with with;
    int32_t head[2];
    struct iovec v[2] = { { head, sizeof head }, { bytes, sizeof bytes } };
    struct msghdr m = { .msg_iov = v, .msg_iovlen = 2, .msg_control = &with, .msg_controllen = sizeof with };
    ssize_t n = -1;
    do
        n = p->fd >= 0 ? recvmsg(p->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) : -1;
    while (n < 0 && p->fd >= 0 && errno == EINTR);
    if (n < 0 && (p->fd < 0 || errno == EAGAIN))
        return NULL;
    int with_it = n >= 0 ? descriptor_of(&m) : -1;
    if (n < (ssize_t)sizeof head) {
        if (with_it >= 0)
            close(with_it);
        packets_close(p);
        return NULL;
    }
    size_t len = (size_t)n - sizeof head;
    struct packet *k = xalloc(1, sizeof *k + len + 1);
    *k = (struct packet){ .what = head[0], .value = head[1], .fd = with_it, .len = len };
    memcpy(k->bytes, bytes, len);
    return k;
}
