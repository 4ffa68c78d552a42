/* SPDX-License-Identifier: BSD-3-Clause */
/* relay: a slow, lossy, breakable network between network namespaces.
 *
 *   relay [-delay MS] [-loss PERCENT] [-reorder PERCENT] [-rate MBIT] [-seed N] NAMESPACE...
 *
 * In each namespace it makes a TUN device, relay0; whoever started it gives that addresses and routes once "ready"
 * stands on stdout. A packet that comes out of one device goes into that of the namespace from which its
 * destination last sent, or into all others as long as that is not known.  It is late by the delay, and by its
 * share of the rate; some are lost; some are late by up to twice the delay (1 ms at least) more, so that later
 * ones pass them.  Lines on stdin: "delay MS", "loss PERCENT", "reorder PERCENT", "rate MBIT", "cut NAMESPACE"
 * (nothing comes from there or goes there), "join NAMESPACE"; each is answered by "ok".  At the end of stdin it
 * ends, and the devices with it; the last line is "relayed N lost N late N cut N". Needs CAP_SYS_ADMIN and
 * CAP_NET_ADMIN, and /dev/net/tun. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
    HOSTS = 16,
    PACKET = 65536,
    ADDRESSES = 256,
    WAITING = 64 << 20 /* bytes, more is lost as in any full queue */
};

static struct host {
    const char *name;
    int fd;
    bool cut;
    uint64_t free_at; /* ns: when all that goes there has been sent */
} hosts[HOSTS];
static int nhosts;

static double delay_ms, loss, reorder, rate;
static struct {
    unsigned long relayed, lost, late, cut;
} told;

/* Who last sent from an address. */
static struct {
    uint8_t bytes[16];
    size_t n; /* of them */
    int host;
} seen[ADDRESSES];
static int nseen;

/* Packets under way: a heap, the earliest first. */
struct packet {
    uint64_t due, number;
    int to;
    uint32_t len;
    uint8_t bytes[];
};
static struct packet **heap;
static size_t nheap, room, waiting;
static uint64_t numbers;

static void die(const char *what, const char *which)
{
    fprintf(stderr, "relay: %s %s: %s\n", what, which, strerror(errno));
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool by_chance(double percent)
{
    return drand48() * 100 < percent;
}

static void open_device(struct host *h)
{
    char path[256];
    struct ifreq r = { .ifr_flags = IFF_TUN | IFF_NO_PI };
    snprintf(path, sizeof path, "/var/run/netns/%s", h->name);
    int ns = open(path, O_RDONLY | O_CLOEXEC);
    if (ns < 0 || setns(ns, CLONE_NEWNET) != 0)
        die("namespace", h->name);
    close(ns);
    h->fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    strcpy(r.ifr_name, "relay0");
    if (h->fd < 0 || ioctl(h->fd, TUNSETIFF, &r) != 0)
        die("a TUN device in", h->name);
}

static bool before(const struct packet *a, const struct packet *b)
{
    return a->due != b->due ? a->due < b->due : a->number < b->number;
}

static void put(struct packet *p)
{
    size_t i = nheap++;
    if (nheap > room) {
        room = room ? 2 * room : 1024;
        heap = realloc(heap, room * sizeof *heap);
        if (heap == NULL)
            die("no memory", "for packets");
    }
    for (; i > 0 && before(p, heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = p;
    waiting += p->len;
}

static struct packet *take(void)
{
    struct packet *first = heap[0], *last = heap[--nheap];
    size_t i = 0;
    for (size_t kid; (kid = 2 * i + 1) < nheap; i = kid) {
        if (kid + 1 < nheap && before(heap[kid + 1], heap[kid]))
            kid++;
        if (!before(heap[kid], last))
            break;
        heap[i] = heap[kid];
    }
    heap[i] = last;
    waiting -= first->len;
    return first;
}

/* Where a packet's source and destination stand, and how long an address is; 0: it is no IP packet. */
static size_t addresses(const uint8_t *p, size_t len, const uint8_t **source, const uint8_t **destination)
{
    size_t n = len >= 20 && p[0] >> 4 == 4 ? 4 : len >= 40 && p[0] >> 4 == 6 ? 16 : 0;
    *source = p + (n == 4 ? 12 : 8);
    *destination = *source + n;
    return n;
}

static int who_has(const uint8_t *address, size_t n)
{
    for (int i = 0; i < nseen; i++)
        if (seen[i].n == n && memcmp(seen[i].bytes, address, n) == 0)
            return i;
    return -1;
}

static void learn(const uint8_t *address, size_t n, int host)
{
    int i = who_has(address, n);
    if (i < 0 && nseen < ADDRESSES) {
        i = nseen++;
        memcpy(seen[i].bytes, address, n);
        seen[i].n = n;
    }
    if (i >= 0)
        seen[i].host = host;
}

static void send_to(int to, int from, const uint8_t *bytes, size_t len)
{
    struct host *h = &hosts[to];
    struct packet *p;
    uint64_t now = now_ns();
    if (h->cut || hosts[from].cut) {
        told.cut++;
        return;
    }
    if (by_chance(loss) || waiting > WAITING || (p = malloc(sizeof *p + len)) == NULL) {
        told.lost++;
        return;
    }
    if (h->free_at < now)
        h->free_at = now;
    if (rate > 0)
        h->free_at += (uint64_t)((double)len * 8000 / rate);
    *p = (struct packet){
        .due = h->free_at + (uint64_t)(delay_ms * 1e6), .number = numbers++, .to = to, .len = (uint32_t)len
    };
    if (by_chance(reorder)) {
        p->due += (uint64_t)(drand48() * 2e6 * (delay_ms > 0.5 ? delay_ms : 0.5));
        told.late++;
    }
    memcpy(p->bytes, bytes, len);
    put(p);
}

static void receive(int from)
{
    static uint8_t bytes[PACKET];
    const uint8_t *source, *destination;
    ssize_t len;
    for (int most = 64; most > 0 && (len = read(hosts[from].fd, bytes, sizeof bytes)) > 0; most--) {
        size_t n = addresses(bytes, (size_t)len, &source, &destination);
        if (n == 0)
            continue;
        learn(source, n, from);
        int i = who_has(destination, n);
        if (i >= 0 && seen[i].host != from)
            send_to(seen[i].host, from, bytes, (size_t)len);
        for (int to = 0; i < 0 && to < nhosts; to++)
            if (to != from)
                send_to(to, from, bytes, (size_t)len);
    }
}

/* Packets whose time has come, on their way even if the link was cut since: they were on the wire. */
static void deliver(void)
{
    while (nheap > 0 && heap[0]->due <= now_ns()) {
        struct packet *p = take();
        if (write(hosts[p->to].fd, p->bytes, p->len) == (ssize_t)p->len)
            told.relayed++;
        else
            told.lost++;
        free(p);
    }
}

static void obey(char *line)
{
    char word[16] = "", what[128] = "";
    bool known = sscanf(line, "%15s %127s", word, what) == 2;
    double *number = strcmp(word, "delay") == 0     ? &delay_ms
                     : strcmp(word, "loss") == 0    ? &loss
                     : strcmp(word, "reorder") == 0 ? &reorder
                     : strcmp(word, "rate") == 0    ? &rate
                                                    : NULL;
    int i = 0;
    if (known && number != NULL) {
        *number = atof(what);
        i = -1;
    }
    for (; i >= 0 && i < nhosts; i++)
        if (strcmp(hosts[i].name, what) == 0 && (strcmp(word, "cut") == 0 || strcmp(word, "join") == 0)) {
            hosts[i].cut = word[0] == 'c';
            i = -2;
        }
    printf(i < 0 ? "ok\n" : "what is \"%s\"?\n", line);
    fflush(stdout);
}

/* False: stdin is at its end. */
static bool commands(void)
{
    static char text[512];
    static size_t have;
    char *end;
    ssize_t n = read(0, text + have, sizeof text - 1 - have);
    if (n <= 0)
        return false;
    have += (size_t)n;
    text[have] = 0;
    while ((end = strchr(text, '\n')) != NULL) {
        *end = 0;
        obey(text);
        have -= (size_t)(end + 1 - text);
        memmove(text, end + 1, have + 1);
    }
    return have < sizeof text - 1;
}

static void run(void)
{
    struct pollfd fds[HOSTS + 1];
    for (int i = 0; i < nhosts; i++)
        fds[i] = (struct pollfd){ .fd = hosts[i].fd, .events = POLLIN };
    fds[nhosts] = (struct pollfd){ .fd = 0, .events = POLLIN };
    for (;;) {
        uint64_t now = now_ns(), wait = nheap == 0            ? 1000000000u
                                        : heap[0]->due <= now ? 0
                                                              : heap[0]->due - now;
        struct timespec t = { .tv_sec = (time_t)(wait / 1000000000u), .tv_nsec = (long)(wait % 1000000000u) };
        ppoll(fds, (nfds_t)nhosts + 1, &t, NULL);
        deliver();
        for (int i = 0; i < nhosts; i++)
            if (fds[i].revents)
                receive(i);
        if (fds[nhosts].revents && !commands())
            return;
    }
}

int main(int argc, char **argv)
{
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        double v = atof(argv[i + 1]);
        if (strcmp(argv[i], "-delay") == 0)
            delay_ms = v;
        else if (strcmp(argv[i], "-loss") == 0)
            loss = v;
        else if (strcmp(argv[i], "-reorder") == 0)
            reorder = v;
        else if (strcmp(argv[i], "-rate") == 0)
            rate = v;
        else if (strcmp(argv[i], "-seed") == 0)
            srand48((long)v);
        else
            break;
    }
    for (; i < argc && nhosts < HOSTS && argv[i][0] != '-'; i++, nhosts++) {
        hosts[nhosts].name = argv[i];
        open_device(&hosts[nhosts]);
    }
    if (i < argc || nhosts < 2) {
        fprintf(stderr, "relay: %s: expected options and 2 to %d namespaces\n",
                i < argc ? argv[i] : "namespaces", HOSTS);
        return 2;
    }
    printf("ready\n");
    fflush(stdout);
    run();
    printf("relayed %lu lost %lu late %lu cut %lu\n", told.relayed, told.lost, told.late, told.cut);
    return 0;
}
