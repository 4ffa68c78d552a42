/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp_faults.c: ch_tcp where the network and the neighbours are bad: system calls that do little or fail, a relay
 * that splits every write, strangers with and without the job's secret, floods of connections, peers that come
 * late, never, or die in the middle of a frame.
 *
 * The socket calls of the device are caught here (the program's own definitions come before libc's) and cut short. */
#define _GNU_SOURCE
#include <check.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "ranks.h"
#include "mpid/ch_tcp/frame.h"
#include "util/clock.h"

extern const struct dev_ops dev_tcp_ops;

/* ---- bad system calls -------------------------------------------------------------------------------------------- */

static struct moods {
    _Atomic uint32_t seed;
    bool mean;             /* short, refused and interrupted calls */
    _Atomic int no_accept; /* so many accepts fail, one way and another */
    _Atomic int no_connect;
    _Atomic int no_change; /* so many changes of the epoll set fail */
} moods;

static uint32_t dice(uint32_t sides)
{
    uint32_t x = atomic_fetch_add(&moods.seed, 0x9e3779b9u);
    x = (x ^ x >> 16) * 0x45d9f3bu;
    x = (x ^ x >> 16) * 0x45d9f3bu;
    return (x ^ x >> 16) % sides;
}

static bool spoiled(void)
{
    static const int errors[] = { EAGAIN, EINTR, ENOBUFS, ENOMEM, EAGAIN };
    if (!moods.mean || dice(3) != 0)
        return false;
    errno = errors[dice(5)];
    return true;
}

ssize_t recv(int fd, void *buf, size_t len, int flags)
{
    if (spoiled())
        return -1;
    if (moods.mean && len > 40 && dice(4) != 0)
        len = 1 + dice(40);
    return syscall(SYS_recvfrom, fd, buf, len, flags, NULL, NULL);
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
    struct msghdr few = *m;
    struct iovec part;
    if (spoiled())
        return -1;
    if (moods.mean && dice(4) != 0) {
        part = (struct iovec){ m->msg_iov[0].iov_base, 1 + dice((uint32_t)m->msg_iov[0].iov_len) };
        few.msg_iov = &part;
        few.msg_iovlen = 1;
    }
    return syscall(SYS_recvmsg, fd, &few, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    struct iovec v[16];
    struct msghdr few = { .msg_iov = v };
    size_t most = moods.mean && dice(4) != 0 ? 1 + dice(60) : (size_t)-1;
    if (spoiled())
        return -1;
    for (; few.msg_iovlen < m->msg_iovlen && most > 0; few.msg_iovlen++) {
        struct iovec *to = &v[few.msg_iovlen];
        *to = m->msg_iov[few.msg_iovlen];
        if (to->iov_len > most)
            to->iov_len = most;
        most -= to->iov_len;
    }
    return syscall(SYS_sendmsg, fd, &few, flags);
}

ssize_t send(int fd, const void *buf, size_t len, int flags)
{
    struct iovec v = { (void *)(uintptr_t)buf, len };
    return sendmsg(fd, &(struct msghdr){ .msg_iov = &v, .msg_iovlen = 1 }, flags);
}

int accept4(int fd, struct sockaddr *restrict a, socklen_t *restrict len, int flags)
{
    static const int errors[] = { ECONNABORTED, EMFILE, EINTR, ENFILE, ENOBUFS, EPROTO };
    int left = atomic_load(&moods.no_accept);
    if (left > 0) {
        atomic_store(&moods.no_accept, left - 1);
        errno = errors[left % 6];
        return -1;
    }
    return (int)syscall(SYS_accept4, fd, a, len, flags);
}

int connect(int fd, const struct sockaddr *a, socklen_t len)
{
    static const int errors[] = { ECONNREFUSED, EADDRNOTAVAIL, ENETUNREACH, EAGAIN };
    int left = atomic_load(&moods.no_connect);
    if (left > 0 && a->sa_family == AF_INET) {
        atomic_store(&moods.no_connect, left - 1);
        errno = errors[left % 4];
        return -1;
    }
    return (int)syscall(SYS_connect, fd, a, len);
}

int epoll_ctl(int set, int what, int fd, struct epoll_event *ev)
{
    if (what == EPOLL_CTL_MOD && atomic_load(&moods.no_change) > 0) {
        atomic_fetch_sub(&moods.no_change, 1);
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, set, what, fd, ev);
}

/* ---- what ranks do ----------------------------------------------------------------------------------------------- */

static const struct dev_ops *tcp_ops(void)
{
    return &dev_tcp_ops;
}

static const struct subject tcp = { "tcp", tcp_ops, 2, MAX_RANKS, .deaths = true, .connects = true };

static void one_reserved(struct rank *r, int to, size_t len)
{
    void *room;
    while (!(room = r->ops->reserve(r->peer[to], len)))
        rank_pump(r);
    while (rank_commit(r, to, room, len) == DEV_AGAIN)
        rank_pump(r);
}

static void one(struct rank *r, int to, uint32_t i)
{
    static const size_t sizes[] = { 0, 1, 30, 48, 49, 200, 30001, 12000 };
    if (i % 40 > 37) /* longer than a buffer; of two in a row the bed has a place for one */
        rank_send(r, to, 131000 + 997 * i, 1);
    else if (i % 3 == 0)
        rank_short(r, to, i % 49);
    else if (i % 3 == 1)
        rank_send(r, to, sizes[i % 8], 1 + (int)(i % 13));
    else
        one_reserved(r, to, sizes[i % 8]);
}

static void talk(struct rank *r, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (int to = 0; to < r->size; to++)
            if (r->peer[to])
                one(r, to, i);
    for (int from = 0; from < r->size; from++)
        if (r->peer[from])
            rank_pump_until(r, from, n);
    rank_meet_pumping(r);
    for (int p = 0; p < r->size; p++)
        NEED(r, r->gone_calls[p] == 0, "rank %d is said to be gone", p);
}

static void talks(struct rank *r)
{
    rank_open(r);
    talk(r, 120);
    rank_close(r);
}

START_TEST(calls_that_do_little)
{
    moods.mean = true;
    moods.seed = 17u + (uint32_t)_i;
    ck_assert_int_eq(ranks_run(&tcp, 3, _i & 1, talks), 0);
}
END_TEST

START_TEST(no_descriptors_for_a_while)
{
    moods.no_accept = 9;
    moods.no_connect = 7;
    ck_assert_int_eq(ranks_run(&tcp, 3, _i & 1, talks), 0);
}
END_TEST

/* Both send at once, on connections that have to be made, again and again: one connection stands, nothing is lost. */
static void connects_from_both_sides(struct rank *r)
{
    for (uint32_t round = 1; round <= 60; round++) {
        rank_open(r);
        rank_meet(r);
        for (int to = 0; to < r->size; to++)
            for (int i = 0; r->peer[to] && i < 3; i++)
                rank_short(r, to, 8);
        for (int from = 0; from < r->size; from++)
            if (r->peer[from])
                rank_pump_until(r, from, 3 * round);
        rank_meet_pumping(r);
        for (int p = 0; p < r->size; p++)
            NEED(r, r->gone_calls[p] == 0, "round %u: rank %d is said to be gone", round, p);
        rank_close(r);
    }
}

START_TEST(simultaneous)
{
    moods.mean = _i >= 2;
    moods.seed = 5;
    ck_assert_int_eq(ranks_run(&tcp, _i & 1 ? 4 : 2, _i & 4, connects_from_both_sides), 0);
}
END_TEST

/* Who has sent and then computes has sent: rank 1 drives nothing after its sends, to a rank that has not looked at
 * all. */
static void sends_and_computes(struct rank *r)
{
    rank_open(r);
    rank_meet(r);
    for (int i = 0; r->me == 1 && i < 20; i++)
        rank_short(r, 0, 40);
    rank_meet(r);
    if (r->me == 0)
        rank_pump_until(r, 1, 20);
    rank_meet(r);
    rank_meet_pumping(r);
    rank_close(r);
}

/* Rank 1 comes half a second late; rank 0 sends, asleep meanwhile. */
static void comes_late(struct rank *r)
{
    if (r->me == 1)
        usleep(500000);
    rank_open(r);
    while (r->me == 0 && rank_try_short(r, 1, 5) == DEV_AGAIN)
        NEED(r, !rank_sleep(r), "the address was not noticed");
    if (r->me == 1)
        rank_pump_until(r, 0, 1);
    rank_meet_pumping(r);
    rank_close(r);
}

START_TEST(weak_progress)
{
    ck_assert_int_eq(ranks_run(&tcp, 2, _i & 1, _i & 2 ? comes_late : sends_and_computes), 0);
}
END_TEST

/* Send to 0 until nothing more is taken: how many. */
static uint32_t fill_up(struct rank *r)
{
    for (uint64_t last = ku_clock_ns(); ku_clock_ns() - last < 200000000;) {
        if (rank_try_short(r, 0, 48) != DEV_AGAIN)
            last = ku_clock_ns();
        else
            rank_pump(r);
    }
    return r->next_out[0];
}

/* The epoll set refuses what rank 1 asks for when the socket is full.  It sleeps, and is woken when 0 has read. */
static void set_refuses(struct rank *r)
{
    rank_open(r);
    rank_meet(r);
    if (r->me == 1) {
        rank_short(r, 0, 8);
        atomic_store(&moods.no_change, 1 << 30);
        atomic_store(&r->board->word[1], fill_up(r));
        atomic_store(&moods.no_change, 5);
        atomic_store(&r->board->word[0], 1);
        while (rank_try_short(r, 0, 8) == DEV_AGAIN)
            NEED(r, !rank_sleep(r), "not told that it may write");
    } else {
        rank_pump_until(r, 1, 1);
        while (atomic_load(&r->board->word[0]) == 0)
            usleep(1000);
        rank_pump_until(r, 1, atomic_load(&r->board->word[1]) + 1);
    }
    rank_meet_pumping(r);
    rank_close(r);
}

START_TEST(epoll_set_refuses)
{
    ck_assert_int_eq(ranks_run(&tcp, 2, false, set_refuses), 0);
}
END_TEST

/* ---- a host that vanishes ---------------------------------------------------------------------------------------- */

static void loopback(bool up)
{
    struct ifreq lo = { .ifr_name = "lo" };
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool good = ioctl(fd, SIOCGIFFLAGS, &lo) == 0;
    lo.ifr_flags = (short)(up ? lo.ifr_flags | IFF_UP : lo.ifr_flags & ~IFF_UP);
    if (!good || ioctl(fd, SIOCSIFFLAGS, &lo) != 0)
        rank_fail();
    close(fd);
}

/* A network of this test's own.  false: it may not have one. */
static bool own_network(void)
{
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        return false;
    loopback(true);
    return true;
}

static bool is_sending;

/* The network between two ranks is cut, and no end of file comes.  Rank 1 waits for 0, which has something under
 * way or not. */
static void host_vanishes(struct rank *r)
{
    uint64_t start;
    rank_open(r);
    rank_short(r, !r->me, 8);
    rank_pump_until(r, !r->me, 1);
    rank_meet_pumping(r);
    rank_settle(r);
    rank_meet(r);
    if (r->me == 0)
        loopback(false);
    rank_meet(r);
    start = ku_clock_ns();
    if (r->me == 1 && is_sending)
        rank_short(r, 0, 8);
    while (r->me == 1 && r->gone_calls[0] == 0) {
        rank_sleep(r);
        NEED(r, ku_clock_ns() - start < 15000000000u, "the loss was not noticed");
    }
    NEED(r, r->me == 0 || ku_clock_ns() - start > 500000000, "lost at once");
    rank_meet(r);
    if (r->me == 0) /* close() would wait for its goodbye to arrive */
        loopback(true);
    rank_meet(r);
    rank_close(r);
}

START_TEST(lost_host)
{
    is_sending = _i;
    setenv("KEEL_TCP_LOST_S", "2", 1);
    if (!own_network()) {
        fprintf(stderr, "lost_host: not tried, as a network namespace is refused\n");
        return;
    }
    ck_assert_int_eq(ranks_run(&tcp, 2, false, host_vanishes), 0);
}
END_TEST

/* Rank 0 computes for three times as long as a host may be silent: its kernel answers, and it is not lost. */
static void computes(struct rank *r)
{
    rank_open(r);
    rank_meet(r);
    if (r->me == 1) {
        atomic_store(&r->board->word[1], fill_up(r));
        for (int i = 0; i < 600; i++) {
            rank_pump(r);
            usleep(10000);
        }
        atomic_store(&r->board->word[0], 1);
    } else {
        rank_pump_until(r, 1, 1);
        while (atomic_load(&r->board->word[0]) == 0)
            usleep(1000);
        rank_pump_until(r, 1, atomic_load(&r->board->word[1]));
    }
    NEED(r, r->gone_calls[!r->me] == 0, "the other is said to be gone");
    rank_meet_pumping(r);
    rank_close(r);
}

START_TEST(no_lost_host)
{
    setenv("KEEL_TCP_LOST_S", "2", 1);
    ck_assert_int_eq(ranks_run(&tcp, 2, false, computes), 0);
}
END_TEST

/* ---- a relay ----------------------------------------------------------------------------------------------------- */

static int relay_fd;
static struct ku_sock_addr relay_at;

static void to_relay(struct rank *r, int32_t grank, void *buf, size_t *len)
{
    struct tcp_address a = { 0 }, there;
    (void)r;
    memcpy(&a, buf, *len);
    ck_assert(grank == 0 && tcp_address_check(&a, *len));
    there = tcp_address_prepare(&relay_at, 1, 0, a.nonce);
    *len = tcp_address_bytes(&there);
    memcpy(buf, &there, *len);
}

static int dial(const struct ku_sock_addr *at)
{
    int fd = ku_sock_connect(at);
    struct pollfd p = { .fd = fd, .events = POLLOUT };
    if (fd < 0 || poll(&p, 1, 5000) != 1 || ku_sock_error(fd) != 0)
        rank_fail();
    return fd;
}

static struct tcp_address card_of(struct rank *r, int rank)
{
    struct card *c = &r->board->card[rank];
    struct tcp_address a = { 0 };
    while (atomic_load(&c->epoch) == 0)
        usleep(1000);
    memcpy(&a, c->bytes, c->len);
    NEED(r, tcp_address_check(&a, c->len) && a.n == 1, "address");
    return a;
}

static struct ku_sock_addr address_of(struct rank *r, int rank)
{
    struct tcp_address a = card_of(r, rank);
    return tcp_address_at(&a, 0);
}

/* Carry bytes from a to b, one by one for the first 3000; false at the end. */
static bool carry(int a, int b, size_t *done)
{
    char buf[1000];
    ssize_t n = recv(a, buf, *done < 3000 ? 1 : sizeof buf, MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN;
    if (n == 0) {
        shutdown(b, SHUT_WR);
        return false;
    }
    for (ssize_t at = 0; at < n;) {
        ssize_t k = send(b, buf + at, (size_t)(n - at), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (k < 0 && errno != EAGAIN)
            return false;
        if (k < 0) {
            struct pollfd p = { .fd = b, .events = POLLOUT };
            poll(&p, 1, 100);
        } else {
            at += k;
        }
    }
    *done += (size_t)n;
    return true;
}

/* Before it connects or accepts: buffers of a few KB, and segments of less than that; with those of loopback,
 * larger than the buffer, each window that was full would be told open by a timer of 0.2 s only. */
static void small_pieces(int fd)
{
    int small = 4096, segment = 512;
    ck_assert(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small) == 0);
    ck_assert(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small) == 0);
    ck_assert(setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment) == 0);
}

/* Rank 2 is the relay: rank 1 reaches rank 0 through it. */
static void relay(struct rank *r)
{
    struct ku_sock_addr at = address_of(r, 0);
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(at.port) };
    int there = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct pollfd p[2] = { { .fd = relay_fd, .events = POLLIN } };
    size_t done[2] = { 0 };
    bool open[2] = { true, true };
    memcpy(&to.sin_addr, at.ip, sizeof to.sin_addr);
    small_pieces(there);
    poll(p, 1, 10000);
    p[0] = (struct pollfd){ .fd = ku_sock_accept(relay_fd, NULL), .events = POLLIN };
    p[1] = (struct pollfd){ .fd = there, .events = POLLIN };
    NEED(r, p[0].fd >= 0 && connect(there, (struct sockaddr *)&to, sizeof to) == 0, "%s", strerror(errno));
    while (open[0] || open[1]) {
        poll(p, 2, 100);
        for (int i = 0; i < 2; i++) {
            open[i] = open[i] && carry(p[i].fd, p[!i].fd, &done[i]);
            p[i].events = open[i] ? POLLIN : 0;
        }
    }
    NEED(r, done[0] > 3000 && done[1] > 3000, "%zu and %zu bytes went through the relay", done[0], done[1]);
}

static void over_the_relay(struct rank *r)
{
    if (r->me == 2) {
        relay(r);
        return;
    }
    r->on_address = to_relay;
    rank_open(r);
    if (r->me == 0)
        rank_pump_until(r, 1, 1); /* 1 connects */
    for (uint32_t i = 0; i < 150; i++)
        one(r, !r->me, i);
    rank_send(r, !r->me, r->caps.max_send, 3);
    rank_pump_until(r, !r->me, 151);
    NEED(r, r->gone_calls[!r->me] == 0, "the other is said to be gone");
    rank_settle(r);
    rank_close(r);
}

START_TEST(split_writes)
{
    relay_fd = ku_sock_listen("127.0.0.1", &relay_at);
    ck_assert_int_ge(relay_fd, 0);
    small_pieces(relay_fd);
    ck_assert_int_eq(ranks_run(&tcp, 3, false, over_the_relay), 0);
    close(relay_fd);
}
END_TEST

/* ---- strangers --------------------------------------------------------------------------------------------------- */

/* Until the other side hangs up: the bytes that came. */
static size_t hear_out(struct rank *r, int fd, void *buf, size_t cap)
{
    size_t got = 0;
    for (;;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        char more[256];
        ssize_t n;
        NEED(r, poll(&p, 1, 9000) == 1, "the connection was not closed");
        n = recv(fd, more, sizeof more, MSG_DONTWAIT);
        if (n <= 0)
            break;
        if (got < cap)
            memcpy((char *)buf + got, more, (size_t)n < cap - got ? (size_t)n : cap - got);
        got += (size_t)n;
    }
    close(fd);
    return got;
}

/* What rank `from` would say to rank `to`, whose nonce is rank 0's. */
static struct tcp_hello hello_to(struct rank *r, int32_t from, int32_t to, uint64_t serial)
{
    struct tcp_address a = card_of(r, 0);
    uint8_t nonce[KU_AUTH_NONCE];
    r->epoch = 0;
    rank_prepare(r);
    r->world.rank = from;
    NEED(r, ku_auth_nonce(nonce) && !ku_auth_ready(), "%s", strerror(errno));
    return tcp_hello_prepare(TCP_HELLO, &r->world, to, serial, nonce, a.nonce);
}

static struct tcp_hello hello_from(struct rank *r, int32_t from)
{
    return hello_to(r, from, 0, 1);
}

enum { WRONG = 16 };

static struct tcp_hello wrong_hello(struct rank *r, int kind)
{
    struct tcp_hello h = hello_to(r, kind == 7 ? 0 : kind == 8 ? -1 : kind == 9 ? 3 : 1, kind == 6, 1);
    switch (kind) {
    case 0:
        h.proof[31] ^= 1;
        break;
    case 1:
        memset(&h, 'G', sizeof h);
        break;
    case 2:
        h.version++;
        break;
    case 3:
        h.kind = TCP_ANSWER;
        break;
    case 4:
        h.job_id++;
        break;
    case 5:
        h.epoch++;
        break;
    case 10:
        h.magic = __builtin_bswap64(h.magic);
        break;
    case 11:
        memset(h.proof, 0, sizeof h.proof);
        break;
    case 12:
        h.nonce[0] ^= 1;
        break;
    case 13:
        h.serial++;
        break;
    case 14:
        h.zero = 1;
        break;
    case 15:
        h.from = 2;
        break;
    }
    return h;
}

/* Rank 2 is a stranger while 0 and 1 talk. */
static void strangers(struct rank *r)
{
    if (r->me == 2) {
        struct ku_sock_addr at = address_of(r, 0);
        char answer[8];
        for (int i = 0; i < WRONG; i++) {
            struct tcp_hello h = wrong_hello(r, i);
            int fd = dial(&at);
            NEED(r, send(fd, &h, sizeof h, MSG_NOSIGNAL) == sizeof h, "send");
            NEED(r, hear_out(r, fd, answer, sizeof answer) == 0, "wrong hello %d was answered", i);
        }
        NEED(r, hear_out(r, dial(&at), answer, sizeof answer) == 0, "silence was answered");
        atomic_store(&r->board->word[0], 1);
        return;
    }
    rank_open(r);
    while (atomic_load(&r->board->word[0]) == 0 || r->next_in[!r->me] <= 10) {
        if (r->next_out[!r->me] < r->next_in[!r->me] + 10)
            rank_try_short(r, !r->me, 8);
        rank_pump(r);
    }
    atomic_fetch_add(&r->board->word[1], 1);
    while (atomic_load(&r->board->word[1]) < 2)
        rank_pump(r);
    NEED(r, r->gone_calls[0] + r->gone_calls[1] + r->gone_calls[2] == 0, "somebody is said to be gone");
    rank_settle(r);
    rank_close(r);
}

/* The lines on stderr that tell of strangers. */
static int lines_told(int fd)
{
    static char text[20000];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    int lines = 0;
    text[n > 0 ? n : 0] = 0;
    for (char *p = text; (p = strstr(p, "more of them are not told")); p++)
        lines++;
    return lines;
}

/* So many ranks do this, and so many lines tell of strangers. */
static void tells(int ranks, void (*body)(struct rank *), int lines)
{
    int log = memfd_create("stderr", MFD_CLOEXEC), was = dup(2), failed;
    dup2(log, 2);
    failed = ranks_run(&tcp, ranks, false, body);
    dup2(was, 2);
    if (failed) {
        char text[4000];
        ssize_t n = pread(log, text, sizeof text, 0);
        ck_assert(n < 0 || write(2, text, (size_t)n) == n);
    }
    ck_assert_int_eq(failed, 0);
    ck_assert_int_eq(lines_told(log), lines);
    close(log);
    close(was);
}

START_TEST(wrong_hellos)
{
    tells(3, strangers, 1);
}
END_TEST

/* Be there until word[0] is set. */
static void hold_out(struct rank *r)
{
    rank_open(r);
    while (atomic_load(&r->board->word[0]) == 0)
        rank_pump(r);
    rank_close(r);
}

/* Rank 1 connects and sends so many bytes of a good hello. */
static void breaks_off(struct rank *r, size_t bytes)
{
    if (r->me == 0) {
        hold_out(r);
        return;
    }
    struct ku_sock_addr at = address_of(r, 0);
    struct tcp_hello h = hello_from(r, 1);
    char answer[8];
    int fd = dial(&at);
    NEED(r, bytes == 0 || send(fd, &h, bytes, MSG_NOSIGNAL) == (ssize_t)bytes, "send");
    shutdown(fd, SHUT_WR);
    NEED(r, hear_out(r, fd, answer, sizeof answer) == 0, "%zu bytes were answered", bytes);
    atomic_store(&r->board->word[0], 1);
}
static void breaks_off_late(struct rank *r)
{
    breaks_off(r, sizeof(struct tcp_hello) - 1);
}
static void breaks_off_at_once(struct rank *r)
{
    breaks_off(r, 0);
}

START_TEST(truncated_hello)
{
    tells(2, breaks_off_late, 1);
    tells(2, breaks_off_at_once, 0);
}
END_TEST

/* Rank 1 says hello and goodbye; then somebody says the same again, word for word, and is not heard. */
static void said_again(struct rank *r)
{
    struct ku_sock_addr at;
    struct {
        struct tcp_hello hello;
        struct tcp_frame bye;
    } all;
    struct tcp_hello answer = { 0 };
    if (r->me == 0) {
        hold_out(r);
        return;
    }
    at = address_of(r, 0);
    all.hello = hello_from(r, 1);
    all.bye = tcp_frame_prepare(TCP_BYE, NULL, 0);
    for (int i = 0; i < 3; i++) {
        int fd = dial(&at);
        size_t got;
        NEED(r, send(fd, &all, sizeof all, MSG_NOSIGNAL) == sizeof all, "send");
        got = hear_out(r, fd, &answer, sizeof answer);
        NEED(r, got == (i == 0 ? sizeof answer : 0), "%zu bytes came to the %d. hello", got, i + 1);
    }
    NEED(r,
         answer.kind == TCP_ANSWER && answer.serial == 1 && memcmp(answer.nonce, all.hello.nonce, 32) == 0 &&
             memcmp(answer.proof, all.hello.proof, 32) != 0,
         "answer %u", answer.kind);
    atomic_store(&r->board->word[0], 1);
}

START_TEST(repeated_hello)
{
    tells(2, said_again, 1);
}
END_TEST

/* Rank 1 is a process of the job that sends one packet and then nonsense. */
enum {
    NONSENSE = 8
}; /* the last one is the beginning of a frame, after which it is gone, by an end of file or a reset */

static struct tcp_frame nonsense(int kind)
{
    struct dev_head head = { .kind = 2, .context = 1, .tag = 8, .source = 1 };
    struct tcp_frame f = tcp_frame_prepare(TCP_PACKET, &head, 8);
    switch (kind) {
    case 0:
        f.check++;
        break;
    case 1:
        f.kind = 77;
        break;
    case 2:
        f.len = TCP_MAX_LYING + 1;
        break;
    case 3:
        f.len = 0xffffffffu;
        break;
    case 4:
        f.head.len = 9;
        break;
    case 5:
        f.kind = TCP_BYE;
        break;
    case 6:
        memset(&f, 0xff, sizeof f);
        break;
    default:
        f.len = 5000; /* and then it dies */
    }
    return f;
}

static void talks_nonsense(struct rank *r, int kind, bool reset)
{
    struct ku_sock_addr at = address_of(r, 0);
    struct tcp_hello h = hello_from(r, 1), answer = { 0 };
    struct dev_head head = { .kind = 2, .context = 0, .tag = 8, .source = 1 };
    struct {
        struct tcp_hello hello;
        struct tcp_frame f;
        uint8_t body[8];
        struct tcp_frame bad;
    } all = { .hello = h, .f = tcp_frame_prepare(TCP_PACKET, &head, 8), .bad = nonsense(kind) };
    struct linger now = { .l_onoff = 1 };
    struct pollfd p = { .events = POLLIN };
    int fd = dial(&at);
    rank_fill(all.body, 1, 0, 8);
    NEED(r, send(fd, &all, sizeof all, MSG_NOSIGNAL) == sizeof all, "send");
    if (kind < NONSENSE - 1) {
        hear_out(r, fd, &answer, sizeof answer);
    } else {
        p.fd = fd;
        poll(&p, 1, 5000);
        NEED(r, recv(fd, &answer, sizeof answer, MSG_DONTWAIT) == sizeof answer, "no answer");
        if (reset)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        close(fd);
    }
    NEED(r, answer.kind == TCP_ANSWER && answer.from == 0 && answer.to == 1, "answer %u", answer.kind);
}

static int what_nonsense;

static void hears_nonsense(struct rank *r)
{
    if (r->me == 1) {
        talks_nonsense(r, what_nonsense < NONSENSE ? what_nonsense : NONSENSE - 1, what_nonsense == NONSENSE);
        return;
    }
    rank_open(r);
    while (r->gone_calls[1] == 0)
        NEED(r, !rank_sleep(r), "the end was not noticed");
    NEED(r, r->next_in[1] == 1, "%u packets", r->next_in[1]);
    NEED(r, r->gone_calls[1] == 1, "told %u times", r->gone_calls[1]);
    NEED(r, rank_try_short(r, 1, 8) == DEV_PEER_GONE, "a packet to who is gone");
    rank_settle(r);
    NEED(r, r->gone_calls[1] == 1, "told %u times", r->gone_calls[1]);
    rank_close(r);
}

START_TEST(wrong_frames)
{
    what_nonsense = _i;
    ck_assert_int_eq(ranks_run(&tcp, 2, false, hears_nonsense), 0);
}
END_TEST

/* Rank 3 opens thousands of connections to ranks that have few descriptors; the others talk, and 2 connects
 * meanwhile. */
static void flood(struct rank *r)
{
    enum { AT_ONCE = 400, ALL = 4000 };
    static const char lost[] =
        "GET / HTTP/1.1\r\nHost: a web browser that has come to the wrong door, as they do\r\n\r\n";
    struct ku_sock_addr at = address_of(r, 0);
    int fd[AT_ONCE];
    memset(fd, -1, sizeof fd);
    for (int i = 0; i < ALL; i++) {
        int *f = &fd[i % AT_ONCE];
        if (*f >= 0)
            close(*f);
        *f = ku_sock_connect(&at);
        if (*f >= 0 && i % 3 == 0)
            send(*f, lost, sizeof lost - 1, MSG_NOSIGNAL);
        if (i == ALL / 2)
            atomic_store(&r->board->word[0], 1);
        if (i % 50 == 0)
            usleep(2000);
    }
    atomic_store(&r->board->word[0], 2);
}

static void besieged(struct rank *r)
{
    struct rlimit few = { 48, 48 };
    if (r->me == 3) {
        flood(r);
        return;
    }
    setrlimit(RLIMIT_NOFILE, &few);
    rank_open(r);
    if (r->me == 2)
        while (atomic_load(&r->board->word[0]) == 0)
            rank_pump(r);
    for (uint32_t i = 0; i < 300 || atomic_load(&r->board->word[0]) < 2; i++) {
        if (r->me > 0 && r->next_out[0] < 300)
            rank_short(r, 0, 8);
        rank_pump(r);
    }
    for (int from = 1; r->me == 0 && from < 3; from++)
        rank_pump_until(r, from, 300);
    atomic_fetch_add(&r->board->word[1], 1);
    while (atomic_load(&r->board->word[1]) < 3)
        rank_pump(r);
    NEED(r, r->gone_calls[0] + r->gone_calls[1] + r->gone_calls[2] == 0, "somebody is said to be gone");
    rank_settle(r);
    rank_close(r);
}

START_TEST(floods)
{
    ck_assert_int_eq(ranks_run(&tcp, 4, false, besieged), 0);
}
END_TEST

/* ---- peers that are not there ------------------------------------------------------------------------------------ */

static void nowhere(struct rank *r, int32_t grank, void *buf, size_t *len)
{
    (void)r, (void)grank;
    if (relay_at.port == 0) {
        memset(buf, 0xff, *len);
        return;
    }
    to_relay(r, grank, buf, len);
}

/* Rank 1 sends to 0, whose address leads nowhere; there is an end to it. */
static void never_connects(struct rank *r)
{
    r->on_address = nowhere;
    rank_open(r);
    rank_meet(r);
    if (r->me == 1) {
        while (rank_try_short(r, 0, 8) == DEV_AGAIN)
            NEED(r, !rank_sleep(r), "no end");
        NEED(r, rank_try_short(r, 0, 8) == DEV_PEER_GONE && r->gone_calls[0] == 1, "told %u times",
             r->gone_calls[0]);
    }
    rank_meet(r);
    rank_close(r);
}

START_TEST(no_connection)
{
    setenv("KEEL_TCP_CONNECT_S", "1", 1);
    relay_fd = ku_sock_listen("127.0.0.1", &relay_at);
    ck_assert_int_ge(relay_fd, 0);
    close(relay_fd);
    if (_i == 1)
        relay_at.port = 0;
    ck_assert_int_eq(ranks_run(&tcp, 2, false, never_connects), 0);
}
END_TEST

/* An address where this process cannot listen is no device, and leaves nothing. */
static void cannot_listen(struct rank *r)
{
    int first = dup(0), after;
    close(first);
    rank_prepare(r);
    NEED(r, r->ops->open(&r->services, &r->world, &r->dev) == DEV_NO_SUPPORT, "opened");
    after = dup(0);
    close(after);
    NEED(r, first == after, "descriptor %d is left", first);
}

START_TEST(no_address)
{
    setenv("KEEL_TCP_HOST", _i ? "localhost, please" : "192.0.2.1", 1);
    ck_assert_int_eq(ranks_run(&tcp, 2, false, cannot_listen), 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("tcp_faults");
    TCase *c = tcase_create("faults");
    SRunner *runner = srunner_create(suite);
    int failed;
    (void)argc, (void)argv;
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, calls_that_do_little, 0, 6);
    tcase_add_loop_test(c, no_descriptors_for_a_while, 0, 2);
    tcase_add_loop_test(c, simultaneous, 0, 8);
    tcase_add_loop_test(c, weak_progress, 0, 4);
    tcase_add_test(c, epoll_set_refuses);
    tcase_add_loop_test(c, lost_host, 0, 2);
    tcase_add_test(c, no_lost_host);
    tcase_add_test(c, split_writes);
    tcase_add_test(c, wrong_hellos);
    tcase_add_test(c, truncated_hello);
    tcase_add_test(c, repeated_hello);
    tcase_add_loop_test(c, wrong_frames, 0, NONSENSE + 1);
    tcase_add_test(c, floods);
    tcase_add_loop_test(c, no_connection, 0, 2);
    tcase_add_loop_test(c, no_address, 0, 2);
    suite_add_tcase(suite, c);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
