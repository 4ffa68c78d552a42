/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts_floor: what bare sockets between the hosts of hosts.py do with data that must go from host to host, with
 * no library at all.
 *
 *   hosts_floor SPACE,... CORES -n RANKS PROGRAM [-t SECONDS] [-s BYTES,...] [OPTION...] TEST    prints rows of CSV as
 *                                                                                                mpi_bench does
 * SPACE: network namespaces, host i at 10.77.0.i; the ranks are put on them in blocks, and host i runs on core i
 * modulo CORES. TEST: alltoall, alltoallv, alltoallw, gather, gatherv, scatter, scatterv; of any other nothing is
 * printed, nor of blocks below LEAST, of which fewer messages, composed over the hosts, are faster than one each.
 *
 * Two ranks of different hosts have a socket, over which the block of each goes, if the test has one that way.  A
 * rank sends what a socket takes and receives what is there.  A block that stays on its host is copied once,
 * within the memory of the rank that it is for.  There are no headers.  Four ways are tried, and the best one
 * counts: all peers at once or one after the other, and asleep in poll or yielding while there is nothing to do.
 * Ranks begin at one time; a call takes from then until the last one is done; the median of CALLS or more.  AHEAD
 * is about as long as the ranks of mpi_bench talk between two calls: where a rate is limited, what did not pass by
 * then is late for the next one. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "raw.h"

enum {
    MOST = 64,
    PORT = 7100,
    CALLS = 7,
    MOST_CALLS = 1000,
    LEAST = 64 << 10,
    AHEAD = 100 /* us */,
    AWAKE = 60
};
static struct shared {
    _Atomic int round, arrived;
    double start, took[MOST];
} * S;
struct peer {
    int fd; /* 0: a rank of this host */
    char *out, *in;
    size_t to_send, to_receive; /* what is left of a call */
};
static struct peer peers[MOST]; /* by rank */
static int me, ranks, hosts, one_by_one, awake;
static char *out, *in; /* a block for each rank */

static int host_of(int rank)
{
    return rank * hosts / ranks;
}

/* All ranks are here; the last one names a time. */
static double together(void)
{
    int round = atomic_load(&S->round);
    if (atomic_fetch_add(&S->arrived, 1) == ranks - 1) {
        atomic_store(&S->arrived, 0);
        S->start = now() + AHEAD * 1e-6;
        atomic_fetch_add(&S->round, 1);
        syscall(SYS_futex, &S->round, FUTEX_WAKE, MOST, NULL, NULL, 0);
    }
    while (atomic_load(&S->round) == round)
        syscall(SYS_futex, &S->round, FUTEX_WAIT, round, NULL, NULL, 0);
    return S->start;
}

static void wait_until(double start)
{
    double sleep_to = start - AWAKE * 1e-6;
    struct timespec t = { .tv_sec = (time_t)sleep_to };
    t.tv_nsec = (long)((sleep_to - (double)t.tv_sec) * 1e9);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    while (now() < start)
        sched_yield();
}

/* Does rank `from` send a block to rank `to`? */
static int goes(const char *test, int from, int to)
{
    return strncmp(test, "alltoall", 8) == 0 || (strncmp(test, "gather", 6) == 0 && to == 0) ||
           (strncmp(test, "scatter", 7) == 0 && from == 0);
}

/* What the socket takes and has, by its end of the block; did anything move? */
static int give(struct peer *p)
{
    if (p->to_send == 0)
        return 0;
    ssize_t n = send(p->fd, p->out, p->to_send, MSG_DONTWAIT | MSG_NOSIGNAL);
    need(n > 0 || errno == EAGAIN, "send");
    p->out += n > 0 ? n : 0;
    p->to_send -= n > 0 ? (size_t)n : 0;
    return n > 0;
}
static int take(struct peer *p)
{
    if (p->to_receive == 0)
        return 0;
    ssize_t n = recv(p->fd, p->in, p->to_receive, MSG_DONTWAIT);
    need(n > 0 || (n < 0 && errno == EAGAIN), "recv");
    p->in += n > 0 ? n : 0;
    p->to_receive -= n > 0 ? (size_t)n : 0;
    return n > 0;
}

/* Steps first to last: in step k this rank sends to the one k further on, and receives from the one k before. */
static void exchange(int first, int last)
{
    for (;;) {
        struct pollfd wait[2 * MOST];
        int moved = 0;
        nfds_t n = 0;
        for (int k = first; k <= last; k++) {
            struct peer *to = &peers[(me + k) % ranks], *from = &peers[(me + ranks - k) % ranks];
            moved |= give(to) | take(from);
            if (to->to_send)
                wait[n++] = (struct pollfd){ .fd = to->fd, .events = POLLOUT };
            if (from->to_receive)
                wait[n++] = (struct pollfd){ .fd = from->fd, .events = POLLIN };
        }
        if (n == 0)
            return;
        if (!moved && awake)
            sched_yield();
        else if (!moved)
            poll(wait, n, -1);
    }
}

static void call(const char *test, size_t bytes)
{
    for (int i = 0; i < ranks; i++) {
        struct peer *p = &peers[i];
        if (p->fd == 0) {
            if (goes(test, i, me))
                memcpy(in + bytes * (size_t)i, out + bytes * (size_t)i, bytes);
            continue;
        }
        p->to_send = goes(test, me, i) ? bytes : 0;
        p->to_receive = goes(test, i, me) ? bytes : 0;
        p->out = out + bytes * (size_t)i;
        p->in = in + bytes * (size_t)i;
    }
    for (int k = 1; k < ranks; k = one_by_one ? k + 1 : ranks)
        exchange(k, one_by_one ? k : ranks - 1);
}

/* The median of calls, of all of which rank 0 knows the time. */
static double timed(const char *test, size_t bytes, double seconds)
{
    static double took[MOST_CALLS];
    double all = 0;
    int n = 0;
    call(test, bytes); /* the windows of the connections grow */
    call(test, bytes);
    for (; n < MOST_CALLS && (n < CALLS || all < seconds); n++) {
        double start = together();
        wait_until(start);
        call(test, bytes);
        S->took[me] = now() - start;
        together();
        took[n] = 0;
        for (int i = 0; i < ranks; i++)
            took[n] = S->took[i] > took[n] ? S->took[i] : took[n];
        all += took[n]; /* the same everywhere */
    }
    qsort(took, (size_t)n, sizeof *took, by_value);
    return took[n / 2];
}

static void measure(const char *test, size_t bytes, double seconds)
{
    double best = 0;
    out = malloc(bytes * (size_t)ranks);
    in = malloc(bytes * (size_t)ranks);
    need(out && in, "malloc");
    memset(out, 1, bytes * (size_t)ranks);
    memset(in, 1, bytes * (size_t)ranks);
    for (int way = 0; way < 4; way++) {
        one_by_one = way & 1;
        awake = way & 2;
        double t = timed(test, bytes, seconds);
        best = best == 0 || t < best ? t : best;
    }
    free(out);
    free(in);
    if (me == 0)
        printf("%s,collective,%d,bytes,%zu,%.9g,us,less,%.9g,%.9g,1\n", test, ranks, bytes, best * 1e6,
               best * 1e6, best * 1e6);
}

/* The lower rank of a pair on two hosts listens. */
static void connect_all(int listener)
{
    int one = 1, from;
    for (int i = 0; i < me; i++) {
        if (host_of(i) == host_of(me))
            continue;
        struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)(PORT + i)) };
        at.sin_addr.s_addr = htonl(0x0a4d0001u + (unsigned)host_of(i));
        peers[i].fd = socket(AF_INET, SOCK_STREAM, 0);
        need(connect(peers[i].fd, (struct sockaddr *)&at, sizeof at) == 0, "connect");
        need(write(peers[i].fd, &me, sizeof me) == sizeof me, "write");
        setsockopt(peers[i].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    for (int i = me + 1; i < ranks; i++) {
        if (host_of(i) == host_of(me))
            continue;
        int fd = accept(listener, NULL, NULL);
        need(fd >= 0 && read(fd, &from, sizeof from) == sizeof from && from > me && from < ranks, "accept");
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        peers[from].fd = fd;
    }
}

static void enter(char *spaces, int cores)
{
    char path[300], *space = strtok(spaces, ",");
    cpu_set_t cpu, may;
    int n = 0;
    for (int i = 0; i < host_of(me); i++)
        space = strtok(NULL, ",");
    snprintf(path, sizeof path, "/run/netns/%s", space);
    int fd = open(path, O_RDONLY);
    need(fd >= 0 && setns(fd, CLONE_NEWNET) == 0, path);
    CPU_ZERO(&cpu);
    sched_getaffinity(0, sizeof may, &may);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &may) && n++ == host_of(me) % cores)
            CPU_SET(i, &cpu);
    sched_setaffinity(0, sizeof cpu, &cpu);
}

static int rank_main(char *spaces, int cores, const char *test, char *sizes, double seconds)
{
    int listener, one = 1;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    enter(spaces, cores);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)(PORT + me)) };
    listener = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    need(bind(listener, (struct sockaddr *)&at, sizeof at) == 0 && listen(listener, MOST) == 0, "listen");
    together();
    connect_all(listener);
    if (me == 0)
        printf("test,group,ranks,by,n,value,unit,better,least,most,blocks\n");
    for (char *s = strtok(sizes, ","); s; s = strtok(NULL, ",")) {
        char *end;
        size_t bytes = strtoul(s, &end, 10) << (*end == 'K' ? 10 : *end == 'M' ? 20 : 0);
        if (bytes >= LEAST)
            measure(test, bytes, seconds);
    }
    return 0;
}

int main(int argc, char **argv)
{
    char *sizes = "8", *test = argv[argc - 1];
    double seconds = 0.03;
    int bad = 0, status;
    need(argc > 5, "usage");
    for (int i = 3; i < argc - 1; i++) {
        if (strcmp(argv[i], "-n") == 0)
            ranks = atoi(argv[i + 1]);
        if (strcmp(argv[i], "-t") == 0)
            seconds = atof(argv[i + 1]);
        if (strcmp(argv[i], "-s") == 0)
            sizes = argv[i + 1];
    }
    for (char *s = argv[1]; s; s = strchr(s + 1, ','))
        hosts++;
    if (!goes(test, 0, 0))
        return 0;
    need(ranks > 0 && ranks <= MOST && hosts <= ranks, "RANKS");
    S = mmap(NULL, sizeof *S, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(S != MAP_FAILED, "mmap");
    for (me = 0; me < ranks; me++)
        if (fork() == 0)
            return rank_main(argv[1], atoi(argv[2]), test, sizes, seconds);
    while (wait(&status) > 0)
        bad |= status;
    return bad != 0;
}
