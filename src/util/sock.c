/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "sock.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/sockios.h>

enum { BACKLOG = 4096 };

union any {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* ---- addresses ------------------------------------------------------------------------------- */

static uint8_t ip_bytes(const struct ku_sock_addr *a)
{
    return a->family == 6 ? 16 : 4;
}

const char *ku_sock_text(const struct ku_sock_addr *a, char *buf)
{
    char ip[INET6_ADDRSTRLEN] = "?";
    inet_ntop(a->family == 6 ? AF_INET6 : AF_INET, a->ip, ip, sizeof ip);
    snprintf(buf, KU_SOCK_TEXT, a->family == 6 ? "[%s]:%u" : "%s:%u", ip, a->port);
    return buf;
}

bool ku_sock_parse(const char *text, size_t len, struct ku_sock_addr *a)
{
    char ip[INET6_ADDRSTRLEN + 4];
    char *slash, *end;
    long bits = -1;
    *a = (struct ku_sock_addr){ 0 };
    if (len >= sizeof ip)
        return false;
    memcpy(ip, text, len);
    ip[len] = '\0';
    slash = strchr(ip, '/');
    if (slash) {
        *slash = '\0';
        bits = strtol(slash + 1, &end, 10);
        if (slash[1] < '0' || slash[1] > '9' || *end)
            return false;
    }
    if (inet_pton(AF_INET, ip, a->ip) == 1)
        a->family = 4;
    else if (inet_pton(AF_INET6, ip, a->ip) == 1)
        a->family = 6;
    else
        return false;
    a->prefix = (uint8_t)(8 * ip_bytes(a));
    if (slash && (bits < 0 || bits > a->prefix))
        return false;
    if (slash)
        a->prefix = (uint8_t)bits;
    return true;
}

bool ku_sock_within(const struct ku_sock_addr *a, const struct ku_sock_addr *net)
{
    int whole = net->prefix / 8, rest = net->prefix % 8;
    if (a->family != net->family || net->prefix > 8 * ip_bytes(a) ||
        memcmp(a->ip, net->ip, (size_t)whole) != 0)
        return false;
    return rest == 0 || (uint8_t)(a->ip[whole] ^ net->ip[whole]) >> (8 - rest) == 0;
}

bool ku_sock_same_ip(const struct ku_sock_addr *a, const struct ku_sock_addr *b)
{
    return a->family == b->family && memcmp(a->ip, b->ip, sizeof a->ip) == 0;
}

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff }; /* IPv4 as IPv6 says it */

static void sock_told(struct ku_sock_addr *a, const union any *s)
{
    const uint8_t *six = s->v6.sin6_addr.s6_addr;
    *a = (struct ku_sock_addr){ .family = s->any.sa_family == AF_INET6 ? 6 : 4 };
    a->port = ntohs(a->family == 6 ? s->v6.sin6_port : s->v4.sin_port);
    if (a->family == 4)
        memcpy(a->ip, &s->v4.sin_addr, 4);
    else if (memcmp(six, mapped, sizeof mapped) == 0) {
        a->family = 4;
        memcpy(a->ip, six + sizeof mapped, 4);
    } else
        memcpy(a->ip, six, 16);
    a->prefix = (uint8_t)(8 * ip_bytes(a));
}

static socklen_t told_by(union any *s, const struct ku_sock_addr *a)
{
    *s = (union any){ .v6 = { .sin6_family = AF_INET6 } };
    if (a->family == 6) {
        s->v6.sin6_port = htons(a->port);
        memcpy(&s->v6.sin6_addr, a->ip, 16);
        return sizeof s->v6;
    }
    s->v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(a->port) };
    memcpy(&s->v4.sin_addr, a->ip, 4);
    return sizeof s->v4;
}

/* ---- this host ------------------------------------------------------------------------------- */

static uint8_t prefix_of(const struct sockaddr *mask)
{
    union any m;
    struct ku_sock_addr a;
    uint8_t n = 0;
    memcpy(&m, mask, mask->sa_family == AF_INET6 ? sizeof m.v6 : sizeof m.v4);
    a.family = mask->sa_family == AF_INET6 ? 6 : 4;
    memcpy(a.ip, a.family == 6 ? (void *)&m.v6.sin6_addr : (void *)&m.v4.sin_addr, ip_bytes(&a));
    for (int i = 0; i < ip_bytes(&a); i++)
        n = (uint8_t)(n + __builtin_popcount(a.ip[i]));
    return n;
}

static bool useful(const struct ifaddrs *i)
{
    int family = i->ifa_addr ? i->ifa_addr->sa_family : 0;
    union any s;
    if (!(i->ifa_flags & IFF_UP) || i->ifa_flags & IFF_LOOPBACK || (family != AF_INET && family != AF_INET6))
        return false;
    memcpy(&s, i->ifa_addr, family == AF_INET6 ? sizeof s.v6 : sizeof s.v4);
    return family == AF_INET
               ? (ntohl(s.v4.sin_addr.s_addr) >> 16) != 0xa9fe /* 169.254 */
               : !IN6_IS_ADDR_LINKLOCAL(&s.v6.sin6_addr) && !IN6_IS_ADDR_LOOPBACK(&s.v6.sin6_addr);
}

int ku_sock_own(struct ku_sock_addr *list, int most)
{
    struct ifaddrs *all = NULL;
    int n = 0;
    if (getifaddrs(&all) != 0)
        return 0;
    for (const struct ifaddrs *i = all; i && n < most; i = i->ifa_next) {
        union any s;
        if (!useful(i))
            continue;
        memcpy(&s, i->ifa_addr, i->ifa_addr->sa_family == AF_INET6 ? sizeof s.v6 : sizeof s.v4);
        sock_told(&list[n], &s);
        if (i->ifa_netmask)
            list[n].prefix = prefix_of(i->ifa_netmask);
        n++;
    }
    freeifaddrs(all);
    return n;
}

uint64_t ku_sock_host(void)
{
    uint64_t hash = 0xcbf29ce484222325u;
    char boot[64];
    struct stat net;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, boot, sizeof boot);
    if (fd >= 0)
        close(fd);
    if (n <= 0 || stat("/proc/self/ns/net", &net) != 0)
        return 0;
    for (ssize_t i = 0; i < n; i++)
        hash = (hash ^ (uint8_t)boot[i]) * 0x100000001b3u;
    hash = (hash ^ net.st_ino) * 0x100000001b3u;
    return hash ? hash : 1;
}

/* ---- sockets --------------------------------------------------------------------------------- */

static int sock_fail(int fd)
{
    int err = errno;
    if (fd >= 0)
        close(fd);
    errno = err;
    return -1;
}

/* A failure costs speed, nothing else. */
static void do_not_gather(int fd)
{
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static int listen_at(const struct ku_sock_addr *want, struct ku_sock_addr *at)
{
    union any s;
    socklen_t len = told_by(&s, want);
    int fd = socket(s.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), off = 0;
    if (fd >= 0 && want->family == 6) /* IPv4 too, where the address is all of them */
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (fd < 0 || bind(fd, &s.any, len) != 0 || listen(fd, BACKLOG) != 0 ||
        getsockname(fd, &s.any, &len) != 0)
        return sock_fail(fd);
    sock_told(at, &s);
    return fd;
}

int ku_sock_listen(const char *ip, struct ku_sock_addr *at)
{
    struct ku_sock_addr want = { .family = 6 };
    int fd;
    if (!ip) {
        fd = listen_at(&want, at);
        want.family = 4;
        return fd < 0 ? listen_at(&want, at) : fd;
    }
    if (!ku_sock_parse(ip, strlen(ip), &want) || strchr(ip, '/')) {
        errno = EINVAL;
        return -1;
    }
    return listen_at(&want, at);
}

int ku_sock_connect(const struct ku_sock_addr *to)
{
    union any s;
    socklen_t len = told_by(&s, to);
    int fd = socket(s.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    do_not_gather(fd);
    if (connect(fd, &s.any, len) != 0 && errno != EINPROGRESS && errno != EINTR)
        return sock_fail(fd);
    return fd;
}

int ku_sock_accept(int fd, struct ku_sock_addr *from)
{
    union any s = { 0 };
    socklen_t len = sizeof s;
    int got = accept4(fd, &s.any, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (got < 0)
        return -1;
    do_not_gather(got);
    if (from)
        sock_told(from, &s);
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

static void set_tcp(int fd, int option, int value)
{
    setsockopt(fd, IPPROTO_TCP, option, &value, sizeof value);
}

void ku_sock_keep_alive(int fd, int seconds)
{
    int on = 1, idle = seconds > 1 ? seconds / 2 : 1, pause = (seconds - idle) / 4;
    pause = pause > 0 ? pause : 1;
    set_tcp(fd, TCP_KEEPIDLE, idle);
    set_tcp(fd, TCP_KEEPINTVL, pause);
    set_tcp(fd, TCP_KEEPCNT, seconds > idle ? (seconds - idle) / pause : 1);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

/* TCP_USER_TIMEOUT would also end a connection whose other side takes nothing for long, as a process that computes. */
bool ku_sock_silent(int fd, int seconds)
{
    struct tcp_info i = { 0 };
    socklen_t len = sizeof i;
    uint32_t ms = (uint32_t)seconds * 1000;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &len) != 0)
        return false;
    return (i.tcpi_unacked > 0 ? i.tcpi_retransmits : i.tcpi_probes) > 1 && i.tcpi_last_ack_recv >= ms &&
           i.tcpi_last_data_recv >= ms;
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
