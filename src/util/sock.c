#define _GNU_SOURCE
#include "sock.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/sockios.h>

enum { BACKLOG = 4096 };

const char *ku_sock_text(const struct ku_sock_addr *a, char *buf)
{
    snprintf(buf, KU_SOCK_TEXT, "%u.%u.%u.%u:%u", a->ip[0], a->ip[1], a->ip[2], a->ip[3], a->port);
    return buf;
}

static int fail(int fd)
{
    int err = errno;
    if (fd >= 0)
        close(fd);
    errno = err;
    return -1;
}

static void told(struct ku_sock_addr *a, const struct sockaddr_in *s)
{
    memcpy(a->ip, &s->sin_addr, sizeof a->ip);
    a->port = ntohs(s->sin_port);
}

/* A failure costs speed, nothing else. */
static void do_not_gather(int fd)
{
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

int ku_sock_listen(const char *ip, struct ku_sock_addr *at)
{
    struct sockaddr_in s = { .sin_family = AF_INET };
    socklen_t len = sizeof s;
    int fd;
    if (inet_pton(AF_INET, ip, &s.sin_addr) != 1) {
        errno = EINVAL;
        return -1;
    }
    fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&s, sizeof s) != 0 || listen(fd, BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&s, &len) != 0)
        return fail(fd);
    told(at, &s);
    return fd;
}

int ku_sock_connect(const struct ku_sock_addr *to)
{
    struct sockaddr_in s = { .sin_family = AF_INET, .sin_port = htons(to->port) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    memcpy(&s.sin_addr, to->ip, sizeof to->ip);
    if (fd < 0)
        return -1;
    do_not_gather(fd);
    if (connect(fd, (struct sockaddr *)&s, sizeof s) != 0 && errno != EINPROGRESS && errno != EINTR)
        return fail(fd);
    return fd;
}

int ku_sock_accept(int fd, struct ku_sock_addr *from)
{
    struct sockaddr_in s = { 0 };
    socklen_t len = sizeof s;
    int got = accept4(fd, (struct sockaddr *)&s, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (got < 0)
        return -1;
    do_not_gather(got);
    if (from)
        told(from, &s);
    return got;
}

int ku_sock_error(int fd)
{
    int err = 0;
    socklen_t len = sizeof err;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) != 0 ? errno : err;
}

int ku_sock_unsent(int fd)
{
    int n;
    return ioctl(fd, SIOCOUTQ, &n) != 0 ? -1 : n;
}

bool ku_sock_not_now(int err)
{
    return err == EAGAIN || err == EWOULDBLOCK || err == EINTR || err == ENOBUFS || err == ENOMEM;
}

bool ku_sock_same(const void *a, const void *b, size_t len)
{
    const volatile uint8_t *x = a, *y = b;
    uint8_t differ = 0;
    for (size_t i = 0; i < len; i++)
        differ |= (uint8_t)(x[i] ^ y[i]);
    return differ == 0;
}
