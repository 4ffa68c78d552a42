/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp_raw.c: what two bare sockets on loopback do in loops of their own: two processes, a core each, that spin in
 * recv.
 *
 *   tcp_raw [SIZE...]    prints "latency SIZE us" (half a round trip) and "bandwidth SIZE MB/s" (windows of 64,
 *                        then a word back) */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "raw.h"

enum { WINDOW = 64, BLOCKS = 5 };
static char *buffer;
static int fd;

static void take(size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t got = recv(fd, buffer + at, n - at, MSG_DONTWAIT);
        need(got > 0 || (got < 0 && errno == EAGAIN), "recv");
        at += got > 0 ? (size_t)got : 0;
    }
}

static void give(size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t put = send(fd, buffer + at, n - at, MSG_DONTWAIT | MSG_NOSIGNAL);
        need(put >= 0 || errno == EAGAIN, "send");
        at += put > 0 ? (size_t)put : 0;
    }
}

static void ping_pong(int me, size_t n, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        if (me == 0)
            give(n);
        take(n);
        if (me == 1)
            give(n);
    }
}

static void windows(int me, size_t n, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < WINDOW; k++)
            me == 0 ? give(n) : take(n);
        me == 0 ? take(4) : give(4);
    }
}

/* The median of some blocks, seconds for one round. */
static double timed(void (*what)(int me, size_t n, int rounds), int me, size_t n, int rounds)
{
    double took[BLOCKS];
    what(me, n, rounds / 10 + 1);
    for (int b = 0; b < BLOCKS; b++) {
        double start = now();
        what(me, n, rounds);
        took[b] = (now() - start) / rounds;
    }
    qsort(took, BLOCKS, sizeof *took, by_value);
    return took[BLOCKS / 2];
}

static void measure(int me, size_t n)
{
    size_t budget = 64 << 20; /* bytes a block */
    int rounds = budget / n > 4000 ? 4000 : (int)(budget / n);
    double t = timed(ping_pong, me, n, rounds) / 2;
    if (me == 0)
        printf("latency %zu %.3f\n", n, 1e6 * t);
    rounds = (int)(2 * budget / (n * WINDOW));
    rounds = rounds > 500 ? 500 : rounds < 2 ? 2 : rounds;
    t = timed(windows, me, n, rounds);
    if (me == 0)
        printf("bandwidth %zu %.1f\n", n, (double)n * WINDOW / t / 1e6);
}

static void connect_both(int me, int listener, struct sockaddr_in *at)
{
    int one = 1;
    fd = me == 0 ? accept(listener, NULL, NULL) : socket(AF_INET, SOCK_STREAM, 0);
    need(fd >= 0, "socket");
    need(me == 0 || connect(fd, (struct sockaddr *)at, sizeof *at) == 0, "connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

int main(int argc, char **argv)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t len = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0), me;
    cpu_set_t cpu;
    need(bind(listener, (struct sockaddr *)&at, len) == 0 && listen(listener, 1) == 0 &&
             getsockname(listener, (struct sockaddr *)&at, &len) == 0,
         "listen");
    buffer = malloc(16 << 20);
    need(buffer != NULL, "malloc");
    memset(buffer, 1, 16 << 20);
    me = fork() == 0;
    CPU_ZERO(&cpu);
    CPU_SET(me, &cpu);
    sched_setaffinity(0, sizeof cpu, &cpu);
    connect_both(me, listener, &at);
    for (int i = 1; i < argc; i++)
        measure(me, (size_t)strtoul(argv[i], NULL, 10));
    if (me == 0)
        wait(NULL);
    return 0;
}
