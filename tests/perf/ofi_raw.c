/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_raw.c: what two processes do over libfabric in loops of their own, a core each, with messages, puts and gets
 * of one endpoint (FI_EP_RDM, FI_MSG, FI_RMA).
 *
 *   ofi_raw PROVIDER [SIZE...]    prints, as mpi_bench and rma.c measure them: "latency SIZE us" (half a round
 *                                 trip), "bandwidth SIZE MB/s" (windows of 64, then a word back), "put SIZE us"
 *                                 and "get SIZE us" (until it is done at the peer, which looks at its queue
 *                                 meanwhile)
 *   cc -O2 -o ofi_raw ofi_raw.c -lfabric */
#define _GNU_SOURCE
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WINDOW = 64, BLOCKS = 5, MOST = 4 << 20, API = FI_VERSION(1, 9) };

struct there {
    char address[256];
    size_t bytes;
    uint64_t key, base;
};

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_ep *ep;
static struct fid_cq *out_cq, *in_cq;
static struct fid_av *av;
static struct fid_mr *mr;
static fi_addr_t to;
static char *buffer, *exposed;
static struct there other;
static int me, pipe_fd;

static void need(long err, const char *what)
{
    if (err == 0)
        return;
    fprintf(stderr, "%s: %s\n", what, fi_strerror((int)-err));
    exit(1);
}

/* Both queues are looked at, as the provider may need that. */
static void reap(struct fid_cq *cq, int n)
{
    struct fi_cq_entry e[16];
    while (n > 0) {
        ssize_t got = fi_cq_read(cq, e, n < 16 ? (size_t)n : 16);
        if (got > 0)
            n -= (int)got;
        else if (got != -FI_EAGAIN)
            need(got, "fi_cq_read");
        else
            fi_cq_read(cq == in_cq ? out_cq : in_cq, NULL, 0);
    }
}

static void send_one(size_t n, struct fi_context2 *c)
{
    ssize_t err;
    while ((err = fi_send(ep, buffer, n, NULL, to, c)) == -FI_EAGAIN)
        fi_cq_read(out_cq, NULL, 0);
    need(err, "fi_send");
}

static struct fi_context2 out_context[WINDOW], in_context[WINDOW];

static void post(size_t n, int i)
{
    ssize_t err;
    while ((err = fi_recv(ep, buffer, n, NULL, FI_ADDR_UNSPEC, &in_context[i])) == -FI_EAGAIN)
        fi_cq_read(in_cq, NULL, 0);
    need(err, "fi_recv");
}

static void give(size_t n)
{
    send_one(n, &out_context[0]);
    reap(out_cq, 1);
}

static void ping_pong(size_t n, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        post(n, 0);
        if (me == 0)
            give(n);
        reap(in_cq, 1);
        if (me == 1)
            give(n);
    }
}

static void word(int sends)
{
    if (sends) {
        give(4);
        return;
    }
    post(4, 0);
    reap(in_cq, 1);
}

/* The receives of a window are posted when the sender is told to begin. */
static void windows(size_t n, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; me == 1 && k < WINDOW; k++)
            post(n, k);
        word(me == 1);
        for (int k = 0; me == 0 && k < WINDOW; k++)
            send_one(n, &out_context[k]);
        reap(me == 0 ? out_cq : in_cq, WINDOW);
    }
    word(me == 1);
}

/* Rank 0 puts or gets; the other looks at its queues until it is told that all is over. */
static void one_sided(size_t n, int rounds, int put)
{
    struct iovec iov = { buffer, n };
    struct fi_rma_iov there = { .addr = other.base, .len = n, .key = other.key };
    struct fi_msg_rma msg = { .msg_iov = &iov,
                              .iov_count = 1,
                              .addr = to,
                              .rma_iov = &there,
                              .rma_iov_count = 1,
                              .context = &out_context[0] };
    for (int i = 0; me == 0 && i < rounds; i++) {
        ssize_t err;
        while ((err = put ? fi_writemsg(ep, &msg, FI_DELIVERY_COMPLETE) : fi_readmsg(ep, &msg, 0)) ==
               -FI_EAGAIN)
            fi_cq_read(out_cq, NULL, 0);
        need(err, "fi_writemsg, fi_readmsg");
        reap(out_cq, 1);
    }
    word(me == 0);
}

static void puts_of(size_t n, int rounds)
{
    one_sided(n, rounds, 1);
}

static void gets_of(size_t n, int rounds)
{
    one_sided(n, rounds, 0);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of some blocks, seconds for one round. */
static double timed(void (*what)(size_t n, int rounds), size_t n, int rounds)
{
    double took[BLOCKS];
    what(n, rounds / 10 + 1);
    for (int b = 0; b < BLOCKS; b++) {
        double start = now();
        what(n, rounds);
        took[b] = (now() - start) / rounds;
    }
    qsort(took, BLOCKS, sizeof *took, by_value);
    return took[BLOCKS / 2];
}

static void tell(const char *what, size_t n, double value)
{
    if (me == 0)
        printf("%s %zu %.3f\n", what, n, value);
    fflush(stdout);
}

static void measure(size_t n)
{
    size_t budget = 64 << 20; /* bytes a block */
    int rounds = budget / n > 2000 ? 2000 : (int)(budget / n), few = (int)(2 * budget / (n * WINDOW));
    tell("latency", n, 1e6 * timed(ping_pong, n, rounds) / 2);
    few = few > 200 ? 200 : few < 2 ? 2 : few;
    tell("bandwidth", n, (double)n * WINDOW / timed(windows, n, few) / 1e6);
    if (other.key == FI_KEY_NOTAVAIL)
        return;
    tell("put", n, 1e6 * timed(puts_of, n, rounds));
    tell("get", n, 1e6 * timed(gets_of, n, rounds));
}

static void open_all(const char *provider)
{
    struct fi_info *hints = fi_allocinfo();
    struct fi_cq_attr queue = { .size = 1024, .format = FI_CQ_FORMAT_CONTEXT };
    struct fi_av_attr table = { .type = FI_AV_TABLE };
    hints->caps = FI_MSG | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->fabric_attr->prov_name = strdup(provider);
    need(fi_getinfo(API, NULL, NULL, 0, hints, &info), "fi_getinfo");
    need(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
    need(fi_domain(fabric, info, &domain, NULL), "fi_domain");
    need(fi_endpoint(domain, info, &ep, NULL), "fi_endpoint");
    need(fi_cq_open(domain, &queue, &out_cq, NULL), "fi_cq_open");
    need(fi_cq_open(domain, &queue, &in_cq, NULL), "fi_cq_open");
    need(fi_av_open(domain, &table, &av, NULL), "fi_av_open");
    need(fi_ep_bind(ep, &av->fid, 0), "fi_ep_bind");
    need(fi_ep_bind(ep, &out_cq->fid, FI_TRANSMIT), "fi_ep_bind");
    need(fi_ep_bind(ep, &in_cq->fid, FI_RECV), "fi_ep_bind");
    need(fi_enable(ep), "fi_enable");
    need(fi_mr_reg(domain, exposed, MOST, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0, &mr, NULL), "fi_mr_reg");
}

static void exchange(void)
{
    struct there mine = { .bytes = sizeof mine.address, .key = fi_mr_key(mr) };
    mine.base = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)exposed : 0;
    need(fi_getname(&ep->fid, mine.address, &mine.bytes), "fi_getname");
    if (write(pipe_fd, &mine, sizeof mine) != sizeof mine ||
        read(pipe_fd, &other, sizeof other) != sizeof other)
        exit(1);
    if (fi_av_insert(av, other.address, 1, &to, 0, NULL) != 1) {
        fprintf(stderr, "the peer's address is refused\n");
        exit(1);
    }
}

int main(int argc, char **argv)
{
    int pair[2], status = 0;
    cpu_set_t cpu;
    if (argc < 2 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0) {
        fprintf(stderr, "usage: ofi_raw PROVIDER [SIZE...]\n");
        return 2;
    }
    me = fork() == 0;
    pipe_fd = pair[me];
    close(pair[!me]);
    CPU_ZERO(&cpu);
    CPU_SET(me, &cpu);
    sched_setaffinity(0, sizeof cpu, &cpu);
    buffer = aligned_alloc(4096, MOST);
    exposed = aligned_alloc(4096, MOST);
    memset(buffer, 1, MOST);
    memset(exposed, 1, MOST);
    open_all(argv[1]);
    exchange();
    for (int i = 2; i < argc; i++)
        measure((size_t)strtoul(argv[i], NULL, 10));
    if (me == 0)
        wait(&status);
    return status != 0;
}
