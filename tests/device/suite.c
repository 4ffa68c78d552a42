/* SPDX-License-Identifier: BSD-3-Clause */
/* suite.c: the contract of device.h, checked on every device, with ranks as processes and as threads.
 *
 * A device is a row of `subjects`.  A test that a device cannot take is left out with a reason, which is printed. */
#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "memory.h"
#include "ranks.h"
#include "../core/mock.h"
#include "mpid/ch_shmem/shmem_layout.h"
#include "mpid/ch_stub/mailbox.h"
#include "mpid/hook/hook.h"
#include "util/clock.h"
#include "util/wait.h"

/* ---- the devices --------------------------------------------------------------------------------------------- */

extern const struct dev_ops dev_self_ops, dev_shmem_ops, dev_stub_ops, dev_tcp_ops;

static const struct dev_ops *self_ops(void)
{
    return &dev_self_ops;
}

static const struct dev_ops *shmem_ops(void)
{
    return &dev_shmem_ops;
}

static const struct dev_ops *stub_ops(void)
{
    return &dev_stub_ops;
}

static const struct dev_ops *tcp_ops(void)
{
    return &dev_tcp_ops;
}

static const struct dev_ops *load(const char *path)
{
    keel_device_entry entry;
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *(void **)&entry = lib ? dlsym(lib, KEEL_DEVICE_SYMBOL) : NULL;
    if (!entry) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return entry();
}

static const struct dev_ops *plugin_ops(void)
{
    static const struct dev_ops *ops;
    return ops ? ops : (ops = load(STUB_PLUGIN));
}

/* Plug-ins over libraries of networks, where those are; NULL: it was not built. */
static const struct dev_ops *optional(const char *path)
{
    return access(path, R_OK) == 0 ? load(path) : NULL;
}

#ifndef UCX_PLUGIN /* a build of the suite without the plug-ins */
#define UCX_PLUGIN ""
#define OFI_PLUGIN ""
#endif

static const struct dev_ops *ucx_ops(void)
{
    static const struct dev_ops *ops;
    return ops ? ops : (ops = optional(UCX_PLUGIN));
}

static const struct dev_ops *ofi_ops(void)
{
    static const struct dev_ops *ops;
    return ops ? ops : (ops = optional(OFI_PLUGIN));
}

/* A device that is built elsewhere: SUITE_PLUGIN=PATH suite plug-in. */
static const struct dev_ops *elsewhere_ops(void)
{
    static const struct dev_ops *ops;
    const char *path = getenv("SUITE_PLUGIN");
    return ops ? ops : (ops = path ? load(path) : NULL);
}

/* The core's mock device (tests/core/mock.h), well behaved and not. */
static void mock_behaves(struct mock_how how)
{
    static struct mock_shared *shared;
    char where[32];
    if (!shared)
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        fprintf(stderr, "no memory for the mock device\n");
        exit(1);
    }
    memset(shared, 0, sizeof *shared);
    shared->how = how;
    snprintf(where, sizeof where, "%llx", (unsigned long long)(uintptr_t)shared);
    setenv("KEEL_MOCK", where, 1);
}

static void mock_plain(void)
{
    mock_behaves((struct mock_how){ .seed = 1, .mem = 1 });
}

static void mock_moody(void)
{
    mock_behaves((struct mock_how){ .seed = 7, .refuse = 30, .delay = 30, .queue = 50, .mem = 1 });
}

static const struct dev_ops *mock_ops(void)
{
    static const struct dev_ops *ops;
    if (!ops)
        mock_plain(); /* which slots it has it is told */
    return ops ? ops : (ops = load(MOCK_PLUGIN));
}

static void *mock_memory(struct rank *r)
{
    struct mock_shared *s = (struct mock_shared *)(uintptr_t)strtoull(getenv("KEEL_MOCK"), NULL, 16);
    return s->heap[r->me];
}

/* Behind what the device has laid out there. */
static void *shmem_memory(struct rank *r)
{
    return (char *)ku_segment_dev(&r->seg, (uint32_t)r->me) + r->world.area_off +
           (SHM_AREA_BYTES + 4095) / 4096 * 4096;
}

static void *area(const struct ku_segment *seg, uint64_t off, uint32_t rank)
{
    return (char *)ku_segment_dev(seg, rank) + off;
}

static void shmem_half_send(const struct ku_segment *seg, uint64_t off, uint32_t me, uint32_t to)
{
    struct shm_area *mine = area(seg, off, me), *theirs = area(seg, off, to);
    struct ku_ring_tx tx;
    uint64_t ticket;
    ku_ring_tx_init(&tx, &theirs->ring, &mine->claims);
    ku_ring_enter(tx.claims);
    while (!ku_ring_claim(&tx, &ticket))
        sched_yield();
}

static void stub_half_send(const struct ku_segment *seg, uint64_t off, uint32_t me, uint32_t to)
{
    struct stub_box *box = area(seg, off, to);
    uint32_t expected = STUB_FREE;
    while (!atomic_compare_exchange_weak(&box->state, &expected, STUB_WRITING | me)) {
        expected = STUB_FREE;
        sched_yield();
    }
}

/* A device with a hook around it; one at a time. */
static struct dev_ops hooked;
static const struct dev_ops *hooked_inner;
static struct dev_hook_how hooked_how;

static dev_status hooked_open(const struct dev_services *services, const struct dev_world *world,
                              struct dev **dev)
{
    return dev_hook_open(hooked_inner, &hooked_how, services, world, dev);
}

static const struct dev_ops *hook(const struct dev_ops *inner, struct dev_hook_how how)
{
    hooked_inner = inner;
    hooked_how = how;
    dev_hook_table(inner, &hooked);
    hooked.open = hooked_open;
    return &hooked;
}

static const struct dev_ops *shmem_counted_ops(void)
{
    return hook(&dev_shmem_ops, (struct dev_hook_how){ .stats = true });
}

static const struct dev_ops *shmem_delayed_ops(void)
{
    return hook(&dev_shmem_ops, (struct dev_hook_how){ .delay_us = 30 });
}

static const struct dev_ops *stub_faulty_ops(void)
{
    return hook(&dev_stub_ops, (struct dev_hook_how){ .refuse = 20, .queue = 40, .late = 10 });
}

static const struct dev_ops *tcp_faulty_ops(void)
{
    return hook(&dev_tcp_ops, (struct dev_hook_how){ .refuse = 20, .queue = 40, .late = 10 });
}

/* Datagrams over TCP without ofi_rxm: a provider of its own up to libfabric 1, a kind of endpoint of tcp from 2 on. */
#if __has_include(<rdma/fabric.h>)
#include <rdma/fabric.h>
#endif
#if defined FI_MAJOR_VERSION && FI_MAJOR_VERSION >= 2
#define OFI_NET "tcp"
#else
#define OFI_NET "net"
#endif

static const struct subject subjects[] = {
    { "self", self_ops, 1, 1, .deaths = false },
    { "shmem", shmem_ops, 1, MAX_RANKS, .deaths = true, .half_send = shmem_half_send,
      .memory = shmem_memory },
    { "shmem with KEEL_SHMEM_CMA=0", shmem_ops, 1, MAX_RANKS, .env = "KEEL_SHMEM_CMA=0" },
    { "stub", stub_ops, 1, MAX_RANKS, .deaths = true, .half_send = stub_half_send },
    { "stub as a plug-in", plugin_ops, 1, MAX_RANKS, .deaths = true, .half_send = stub_half_send },
    { "mock", mock_ops, 1, MOCK_RANKS, .prepare = mock_plain, .memory = mock_memory },
    { "mock that refuses, delays and queues", mock_ops, 1, MOCK_RANKS, .prepare = mock_moody,
      .memory = mock_memory },
    { "tcp", tcp_ops, 2, MAX_RANKS, .deaths = true, .connects = true },
    { "shmem, memory outside the segment", shmem_ops, 1, MAX_RANKS, .deaths = true, .memory_alone = true },
    { "shmem in a hook that counts", shmem_counted_ops, 1, MAX_RANKS, .deaths = true,
      .half_send = shmem_half_send, .hooked = true },
    { "shmem in a hook that delays", shmem_delayed_ops, 1, MAX_RANKS, .deaths = true,
      .half_send = shmem_half_send, .hooked = true },
    { "stub in a hook that refuses, queues and delays", stub_faulty_ops, 1, MAX_RANKS, .deaths = true,
      .hooked = true },
    { "tcp in a hook that refuses, queues and delays", tcp_faulty_ops, 2, MAX_RANKS, .deaths = true,
      .connects = true, .hooked = true },
    { "ofi over tcp;ofi_rxm", ofi_ops, 2, MAX_RANKS, .deaths = true, .connects = true, .apart = true,
      .env = "KEEL_OFI_PROVIDER=tcp;ofi_rxm", .bound = 200, .whole = true },
    { "ofi over tcp;ofi_rxm, its updates", ofi_ops, 2, MAX_RANKS, .deaths = true, .connects = true,
      .apart = true, .env = "KEEL_OFI_PROVIDER=tcp;ofi_rxm", .more_env = "KEEL_OFI_ATOMICS=1",
      .memory_alone = true },
    { "ofi over net", ofi_ops, 2, MAX_RANKS, .deaths = true, .connects = true, .apart = true,
      .env = "KEEL_OFI_PROVIDER=" OFI_NET, .bound = 200, .whole = true },
    { "ofi over shm", ofi_ops, 2, MAX_RANKS, .connects = true, .apart = true, .by_process = true,
      .env = "KEEL_OFI_PROVIDER=shm", .bound = 200, .whole = true },
    { "ucx over tcp", ucx_ops, 2, MAX_RANKS, .lends = true, .deaths = true, .connects = true,
      .env = "UCX_TLS=tcp", .bound = 200, .whole = true },
    { "ucx over tcp, not told of deaths", ucx_ops, 2, MAX_RANKS, .lends = true, .connects = true,
      .apart = true, .env = "UCX_TLS=tcp", .more_env = "KEEL_UCX_DEATHS=no", .bound = 200, .whole = true },
    { "ucx over shared memory", ucx_ops, 2, MAX_RANKS, .lends = true, .connects = true, .apart = true,
      .env = "UCX_TLS=posix,sysv,cma,self", .bound = 200, .whole = true },
    { "ucx over shared memory, its updates", ucx_ops, 2, MAX_RANKS, .lends = true, .connects = true,
      .apart = true, .env = "UCX_TLS=posix,sysv,cma,self", .more_env = "KEEL_CARD_NS=1700",
      .memory_alone = true },
    { "plug-in", elsewhere_ops, 2, MAX_RANKS, .deaths = true, .connects = true, .apart = true },
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

/* ---- what a rank does ---------------------------------------------------------------------------------------- */

static void open_and_close(struct rank *r)
{
    for (int i = 0; i < 3; i++) {
        rank_open(r);
        NEED(r, r->caps.max_short >= 48, "max_short %u", r->caps.max_short);
        NEED(r, r->caps.max_send >= 4096, "max_send %u", r->caps.max_send);
        NEED(r, r->caps.latency_ns && r->caps.bandwidth_mbs, "costs 0");
        NEED(r, r->caps.mem_kinds & 1u << DEV_MEM_HOST, "does not take host memory");
        NEED(r, (r->ops->wait_word && r->ops->wait_word(r->dev)) || r->ops->wait_fd(r->dev) >= 0,
             "no way to sleep");
        rank_meet(r);
        NEED(r, r->ops->progress(r->dev) == 0, "events where nobody sends");
        rank_meet(r);
        rank_close(r);
        rank_meet(r);
    }
    r->ops->fini(NULL);
    r->ops->peer_fini(NULL);
}

static void refuses_peers_out_of_reach(struct rank *r)
{
    struct dev_peer *p = NULL;
    rank_open(r);
    NEED(r, r->ops->peer_init(r->dev, r->size, &p) == DEV_NO_SUPPORT, "took rank %d", r->size);
    NEED(r, r->ops->peer_init(r->dev, -1, &p) == DEV_NO_SUPPORT, "took rank -1");
    rank_close(r);
}

/* All to all; the body of deliver checks content and order. */
static void everybody(struct rank *r, uint32_t n, void (*send)(struct rank *r, int to, uint32_t i))
{
    rank_open(r);
    rank_meet(r);
    for (uint32_t i = 0; i < n; i++)
        for (int to = 0; to < r->size; to++)
            if (r->peer[to])
                send(r, to, i);
    for (int from = 0; from < r->size; from++)
        if (r->peer[from])
            rank_pump_until(r, from, n);
    rank_meet_pumping(r);
    NEED(r, r->packets == (uint64_t)n * (uint64_t)(r->size - r->subject->connects), "%llu packets",
         (unsigned long long)r->packets);
    rank_close(r);
}

static void one_short(struct rank *r, int to, uint32_t i)
{
    rank_short(r, to, i % 49);
}

static void short_packets(struct rank *r)
{
    everybody(r, 3000, one_short);
}

static size_t some_size(const struct rank *r, uint32_t i)
{
    static const size_t sizes[] = { 0,   1,   8,    47,   48,   49,   64,    500,  559,
                                    560, 561, 1000, 4095, 4096, 4097, 10000, 32768 };
    size_t s = sizes[i % (sizeof sizes / sizeof *sizes)];
    return i % 23 == 22 || s > r->caps.max_send ? r->caps.max_send : s;
}

static void one_send(struct rank *r, int to, uint32_t i)
{
    enum { LYING_MOST = 3 << 20 };
    size_t lying = r->caps.max_lying < LYING_MOST ? r->caps.max_lying : LYING_MOST;
    if (i % 29 == 28 && lying > r->caps.max_send)
        rank_send(r, to, (i % 2 ? lying : r->caps.max_send + 100) - i % 3, 1);
    else
        rank_send(r, to, some_size(r, i), 1 + (int)(i % 4));
}

static void large_packets(struct rank *r)
{
    everybody(r, 200, one_send);
    NEED(r, !r->subject->lends || (r->lends > 0 && r->unlent > 0), "room was lent %u times, and not %u times",
         r->lends, r->unlent);
}

static void one_reserved(struct rank *r, int to, uint32_t i)
{
    size_t len = some_size(r, i);
    void *room;
    dev_status st;
    if (!r->ops->reserve) { /* optional */
        one_send(r, to, i);
        return;
    }
    while (!(room = r->ops->reserve(r->peer[to], i % 5 ? len : r->caps.max_send)))
        rank_pump(r);
    while ((st = rank_commit(r, to, room, len)) == DEV_AGAIN)
        rank_pump(r);
    NEED(r, st == DEV_OK, "commit answered %d", st);
}

static void reserved_packets(struct rank *r)
{
    everybody(r, 200, one_reserved);
}

static void one_of_any_kind(struct rank *r, int to, uint32_t i)
{
    if (i % 7 < 3)
        one_short(r, to, i);
    else if (i % 7 < 5)
        one_send(r, to, i);
    else
        one_reserved(r, to, i);
}

static void kinds_do_not_overtake(struct rank *r)
{
    everybody(r, 500, one_of_any_kind);
}

static void one_copied(struct rank *r, int to, uint32_t i)
{
    size_t len = some_size(r, i);
    if (r->near->send_copy && len > 48)
        rank_copy(r, to, len);
    else
        one_of_any_kind(r, to, i);
}

static void copied_packets(struct rank *r)
{
    everybody(r, 500, one_copied);
}

/* The next packet of rank 0, in place if it can be: not into less room than it needs. */
static bool take_or_pump(struct rank *r)
{
    size_t len = some_size(r, r->next_in[0]);
    bool tight = r->next_in[0] % 3 == 0 && len > 0;
    int64_t got = rank_take(r, 0, tight ? len - 1 : r->caps.max_send);
    NEED(r, got < 0 || !tight || (size_t)got < len, "%lld bytes into %zu", (long long)got, len - 1);
    if (got == DEV_TAKE_OTHER)
        rank_pump(r);
    else if (got == DEV_TAKE_NONE)
        sched_yield();
    return got >= 0;
}

static void takes_packets_in_place(struct rank *r)
{
    enum { N = 1000 };
    uint32_t taken = 0;
    rank_open(r);
    rank_meet(r);
    for (uint32_t i = 0; r->me == 0 && i < N; i++)
        if (some_size(r, i) <= 48)
            rank_short(r, 1, some_size(r, i));
        else
            one_copied(r, 1, i);
    while (r->me == 1 && r->next_in[0] < N)
        taken += take_or_pump(r);
    NEED(r, r->me == 0 || taken >= N / 2, "only %u of %d were taken in place", taken, N);
    rank_meet_pumping(r);
    rank_close(r);
}

/* Rooms that are dropped are room again. */
static void dropped_rooms(struct rank *r)
{
    enum { MAX = 300 };
    void *room[MAX];
    int to = (r->me + 1) % r->size;
    uint64_t before;
    rank_open(r);
    rank_connect(r);
    before = r->packets;
    for (int round = 0; round < 20; round++) {
        size_t want = some_size(r, (uint32_t)round);
        int n = 0;
        while (n < MAX && (room[n] = r->ops->reserve(r->peer[to], want)) != NULL)
            memset(room[n++], round, want);
        NEED(r, n > 0, "no room in round %d", round);
        while (n > 0)
            r->ops->drop(r->peer[to], room[--n]);
    }
    rank_meet(r);
    NEED(r, r->packets == before, "a dropped room was sent");
    one_reserved(r, to, 5);
    rank_pump_until(r, (r->me + r->size - 1) % r->size, 2);
    rank_meet_pumping(r);
    rank_close(r);
}

/* The last rank sends (to rank 0, or itself) until refused, while nobody receives. */
static void fill_up(struct rank *r, size_t len)
{
    enum { MANY = 1000000 };
    uint32_t n = 0;
    rank_open(r);
    rank_connect(r);
    if (r->me == r->size - 1) {
        for (;; n++) {
            void *buf = malloc(len + 1);
            dev_status st = len <= 48 ? rank_try_short(r, 0, len) : rank_try_send(r, 0, len, 1, buf);
            if (st != DEV_QUEUED)
                free(buf);
            if (st == DEV_AGAIN)
                break;
            NEED(r, n < MANY, "%d packets were taken and nobody received", MANY);
        }
        NEED(r, n > 0, "not one packet was taken");
        atomic_store(&r->board->word[0], n + 1); /* and that of rank_connect */
    }
    rank_meet(r);
    if (r->me == 0)
        rank_pump_until(r, r->size - 1, atomic_load(&r->board->word[0]));
    rank_meet_pumping(r);
    if (r->me == r->size - 1)
        rank_send(r, 0, 20, 1);
    if (r->me == 0)
        rank_pump_until(r, r->size - 1, atomic_load(&r->board->word[0]) + 1);
    rank_meet_pumping(r);
    rank_close(r);
}

/* Rank 1 sends to 0, which does not look, as long as anything is taken. */
static void what_nobody_receives_is_bounded(struct rank *r)
{
    enum { QUIET_MS = 100 };
    uint32_t n = 1; /* and that of rank_connect */
    rank_open(r);
    rank_connect(r);
    if (r->me == 1) {
        for (uint64_t last = ku_clock_ns(); ku_clock_ns() - last < QUIET_MS * 1000000ull;) {
            bool taken = rank_try_short(r, 0, n % 40) == DEV_OK;
            n += taken;
            if (taken)
                last = ku_clock_ns();
            r->ops->progress(r->dev);
            NEED(r, n <= r->subject->bound, "%u packets were taken and nobody received; expected at most %u",
                 n, r->subject->bound);
        }
        atomic_store(&r->board->word[0], n);
    }
    rank_meet(r);
    if (r->me == 0)
        rank_pump_until(r, 1, atomic_load(&r->board->word[0]));
    rank_meet_pumping(r);
    if (r->me == 1)
        for (int i = 0; i < 1000; i++)
            rank_short(r, 0, 8);
    else
        rank_pump_until(r, 1, atomic_load(&r->board->word[0]) + 1000); /* all in one direction */
    rank_meet_pumping(r);
    rank_close(r);
}

/* Rank 2 knows where 0 is, and all that the addresses tell, but not the job's secret. */
static void strangers_are_not_heard(struct rank *r)
{
    enum { PACKETS = 20 };
    rank_prepare(r);
    if (r->me == 2)
        r->world.self.key[DEV_KEY_BYTES - 1] ^= 1;
    rank_open_prepared(r);
    rank_meet(r);
    if (r->me != 0) {
        for (int i = 0; i < PACKETS; i++)
            rank_short(r, 0, 8);
        while (r->ops->unsent(r->dev))
            rank_pump(r);
        atomic_fetch_add(&r->board->word[0], 1);
    }
    while (r->me == 0 && (atomic_load(&r->board->word[0]) < 2 || r->next_in[1] < PACKETS))
        rank_pump(r);
    if (r->me == 0)
        rank_settle(r);
    NEED(r, r->me != 0 || r->next_in[2] == 0, "%u packets of a stranger were delivered", r->next_in[2]);
    rank_meet_pumping(r);
    rank_close(r);
}

static void refuses_short_packets_when_full(struct rank *r)
{
    fill_up(r, 17);
}

static void refuses_large_packets_when_full(struct rank *r)
{
    fill_up(r, 4096);
}

/* A rank that does not receive leaves room for others: 1 sends to 0, which does not look, until refused, then to 2. */
static void a_deaf_peer_blocks_no_other(struct rank *r)
{
    rank_open(r);
    rank_connect(r);
    if (r->me == 1) {
        for (dev_status st = DEV_OK; st != DEV_AGAIN;) {
            void *buf = malloc(4096);
            st = rank_try_send(r, 0, 4096, 1, buf);
            if (st != DEV_QUEUED)
                free(buf);
        }
        for (int i = 0; i < 50; i++)
            rank_send(r, 2, 4096, 1);
    }
    if (r->me == 2)
        rank_pump_until(r, 1, 51);
    if (r->me == 0)
        rank_meet(r);
    else
        rank_meet_pumping(r);
    if (r->me == 0)
        while (r->ops->progress(r->dev) > 0)
            ;
    rank_meet_pumping(r);
    rank_close(r);
}

enum { ECHOES = 200 };

/* deliver may send; what is refused there is owed. */
static void echo(struct rank *r, const struct dev_head *head)
{
    if (r->next_in[head->source] < ECHOES && rank_try_short(r, (int)head->source, 8) == DEV_AGAIN)
        r->owed++;
}

static void pump_and_pay(struct rank *r, int to)
{
    rank_pump(r);
    while (r->owed && rank_try_short(r, to, 8) == DEV_OK)
        r->owed--;
}

static void sends_from_deliver(struct rank *r)
{
    int last = r->size - 1, other = last - r->me;
    rank_open(r);
    rank_meet(r);
    r->on_packet = echo;
    if (r->me == 0)
        rank_short(r, last, 8);
    while (r->next_in[other] < ECHOES - 1 + (uint32_t)(r->me == last))
        pump_and_pay(r, other);
    while (r->owed)
        pump_and_pay(r, other);
    rank_meet_pumping(r);
    rank_close(r);
}

/* Who was told DEV_OK may do something else for long. */
static void arrives_without_another_call(struct rank *r)
{
    enum { ROUNDS = 20 };
    rank_open(r);
    rank_connect(r);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (r->me == 1) {
            rank_short(r, 0, 40);
            if (r->ops->reserve)
                one_reserved(r, 0, i);
            rank_short(r, 0, 8);
        } else
            rank_pump_until(r, 1, 1 + (i + 1) * (r->ops->reserve ? 3 : 2));
        rank_meet(r);
    }
    rank_meet_pumping(r);
    rank_close(r);
}

/* ---- sleeping ---- */

static void wakes_a_sleeper(struct rank *r)
{
    enum { ROUNDS = 1500 };
    int other = (r->me + 1) % r->size;
    rank_open(r);
    rank_meet(r);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        if (r->me == 0)
            rank_short(r, other, 8);
        while (r->next_in[other] < i)
            NEED(r, !rank_sleep(r), "a wake-up was lost in round %u", i);
        if (r->me != 0)
            rank_short(r, other, 8);
    }
    rank_meet_pumping(r);
    rank_close(r);
}

static uint64_t processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Sleep until `ms` have passed, though woken: that takes next to no processor time. */
static void sleep_in_peace(struct rank *r, uint64_t ms, const char *when)
{
    enum { NAP_MS = 50 };
    uint64_t begin = ku_clock_ns(), end = begin + ms * 1000000, used = processor_ns();
    int times = 0;
    for (; ku_clock_ns() < end; times++)
        rank_sleep_for(r, NAP_MS);
    used = processor_ns() - used;
    NEED(r, used < (end - begin) / 3, "%s: sleeping for %d ms took %d ms of processor time, woken %d times",
         when, (int)ms, (int)(used / 1000000), times);
}

/* Nothing comes, nothing can be sent: a descriptor that stays readable, or cannot be armed, would wake the rank
 * again and again. */
static void a_sleeper_is_left_in_peace(struct rank *r)
{
    enum { MS = 300, STEADY = 20 };
    uint32_t n = 1;
    rank_open(r);
    rank_connect(r);
    sleep_in_peace(r, MS, "after a packet");
    rank_meet_pumping(r);
    if (r->me == 1)
        for (int refused = 0; refused < STEADY;) { /* 0 is deaf */
            bool taken = rank_try_short(r, 0, 40) == DEV_OK;
            n += taken;
            refused = taken ? 0 : refused + 1;
            r->ops->progress(r->dev);
        }
    if (r->me == 1)
        sleep_in_peace(r, MS, "refused");
    atomic_store(&r->board->word[0], n);
    rank_meet(r);
    if (r->me == 0)
        rank_pump_until(r, 1, n);
    rank_meet_pumping(r);
    rank_close(r);
}

/* Send packet i to rank 0 asleep whenever refused; tell at which packet that was first, plus 1. */
static void send_asleep(struct rank *r, size_t len, uint32_t i)
{
    void *buf = malloc(len + 1);
    dev_status st;
    while ((st = len <= 48 ? rank_try_short(r, 0, len) : rank_try_send(r, 0, len, 1, buf)) == DEV_AGAIN) {
        uint32_t never = 0;
        atomic_compare_exchange_strong(&r->board->word[3], &never, i + 1);
        NEED(r, !rank_sleep(r), "a refused sender was not woken (packet %u)", i);
    }
    if (st != DEV_QUEUED)
        free(buf);
}

/* A sender that was refused sleeps, and is woken when there is room.  Rank 0 does not look before the first
 * refusal, after which n more packets follow. */
static void wake_the_refused(struct rank *r, size_t len, uint32_t n)
{
    uint32_t first = 0;
    rank_open(r);
    rank_connect(r);
    for (uint32_t i = 0; r->me == 1 && (first == 0 || i < first - 1 + n); i++) {
        send_asleep(r, len, i);
        first = atomic_load(&r->board->word[3]);
    }
    while (r->me == 0 && (first = atomic_load(&r->board->word[3])) == 0)
        sched_yield();
    while (r->me == 0 && r->next_in[1] < first + n) /* one of them is rank_connect's */
        NEED(r, !rank_sleep(r), "a wake-up was lost (packet %u)", r->next_in[1]);
    rank_meet_pumping(r);
    rank_close(r);
}

static void wakes_a_refused_sender_short(struct rank *r)
{
    wake_the_refused(r, 8, 20000);
}

static void wakes_a_refused_sender_large(struct rank *r)
{
    wake_the_refused(r, 4096, 4000);
}

/* ---- several threads in send_short ---- */

struct shorts {
    struct rank *r;
    uint32_t id;
    _Atomic uint32_t *done;
};
enum { THREADS = 4, SHORTS = 3000 };

static uint32_t from_thread[THREADS];

static void deliver_from_thread(void *core, int32_t peer, const struct dev_head *head, const void *body,
                                size_t len)
{
    struct rank *r = core;
    uint32_t b[2];
    NEED(r, peer == r->size - 1, "from %d", peer);
    NEED(r, len == sizeof b && head->tag < THREADS, "len %zu tag %u", len, head->tag);
    memcpy(b, body, sizeof b);
    NEED(r, b[0] == head->tag && b[1] == head->context, "body %u %u", b[0], b[1]);
    NEED(r, head->context == from_thread[head->tag], "thread %u: packet %u instead of %u", head->tag,
         head->context, from_thread[head->tag]);
    from_thread[head->tag]++;
    r->packets++;
}

static void *send_shorts(void *arg)
{
    struct shorts *s = arg;
    for (uint32_t i = 0; i < SHORTS; i++) {
        uint32_t body[2] = { s->id, i };
        struct dev_head head = { .kind = 9, .len = sizeof body, .context = i, .tag = s->id };
        dev_status st;
        while ((st = s->r->ops->send_short(s->r->peer[0], &head, body)) == DEV_AGAIN)
            sched_yield();
        NEED(s->r, st == DEV_OK, "send_short answered %d", st);
    }
    atomic_fetch_add(s->done, 1);
    return NULL;
}

/* The last rank sends with several threads to rank 0 (itself, where there is one rank). */
static void threads_send_short(struct rank *r)
{
    pthread_t t[THREADS];
    struct shorts s[THREADS];
    bool sender = r->me == r->size - 1;
    _Atomic uint32_t done = 0;
    rank_open(r);
    rank_close(r);
    rank_prepare(r);
    if (r->me == 0)
        memset(from_thread, 0, sizeof from_thread);
    r->services.deliver = deliver_from_thread;
    rank_open_prepared(r);
    rank_meet(r);
    for (uint32_t i = 0; sender && i < THREADS; i++) {
        s[i] = (struct shorts){ r, i, &done };
        NEED(r, pthread_create(&t[i], NULL, send_shorts, &s[i]) == 0, "no thread");
    }
    while (r->me == 0 && r->packets < THREADS * SHORTS)
        rank_pump(r);
    while (sender && done < THREADS)
        rank_pump(r);
    for (int i = 0; sender && i < THREADS; i++)
        pthread_join(t[i], NULL);
    rank_meet_pumping(r);
    rank_close(r);
}

/* ---- death ---- */

/* Rank 2 dies (in the middle of a send if `half`) after 100 packets to rank 0; ranks 0 and 1 go on. */
static void lose_a_peer(struct rank *r, bool half)
{
    rank_open(r);
    rank_connect(r);
    if (r->me == 2) {
        for (int i = 0; i < 100; i++)
            one_of_any_kind(r, 0, (uint32_t)i);
        rank_settle(r);
        if (half)
            r->subject->half_send(&r->seg, r->world.area_off, 2, 0);
        raise(SIGKILL);
    }
    for (int i = 0; r->me == 1 && i < 300; i++)
        one_of_any_kind(r, 0, (uint32_t)i);
    while (r->gone_calls[2] == 0)
        NEED(r, !rank_sleep(r), "nobody was told of the death");
    if (r->me == 0) {
        rank_pump_until(r, 1, 301);
        NEED(r, r->next_in[2] == 101, "%u packets of the dead instead of 101", r->next_in[2]);
    }
    NEED(r, rank_try_short(r, 2, 8) == DEV_PEER_GONE, "a short packet to a dead rank");
    NEED(r, rank_try_send(r, 2, 0, 1, r) == DEV_PEER_GONE, "a packet to a dead rank");
    for (int i = 0; i < 50; i++)
        one_of_any_kind(r, 1 - r->me, (uint32_t)i);
    rank_pump_until(r, 1 - r->me, r->me == 0 ? 351 : 51);
    NEED(r, r->gone_calls[2] == 1, "told %u times", r->gone_calls[2]);
    NEED(r, r->gone_calls[0] + r->gone_calls[1] == 0, "told of the death of the living");
    atomic_fetch_add(&r->board->word[2], 1); /* an end without close is a death, too: together */
    while (atomic_load(&r->board->word[2]) < 2)
        rank_pump(r);
}

/* Rank 1 leaves; what is sent to it then ends, and is not refused for ever. */
static void who_has_left_takes_nothing(struct rank *r)
{
    dev_status st = DEV_AGAIN;
    uint64_t end;
    rank_open(r);
    rank_connect(r);
    end = ku_clock_ns() + 15000000000u;
    while (r->me == 0 && st != DEV_PEER_GONE && ku_clock_ns() < end) {
        st = rank_try_short(r, 1, 8);
        NEED(r, st == DEV_OK || st == DEV_AGAIN || st == DEV_PEER_GONE, "send_short answered %d", st);
        rank_pump(r);
    }
    NEED(r, r->me == 1 || st == DEV_PEER_GONE, "a send to who has left answers %d", st);
    rank_close(r);
    rank_meet(r);
}

static void a_peer_dies(struct rank *r)
{
    lose_a_peer(r, false);
}

/* Rank 2 dies while what it has sent to rank 0, and what rank 1 sends, is under way: of the dead a beginning
 * comes, whole; of the living all does. */
static void a_peer_dies_in_traffic(struct rank *r)
{
    enum { PACKETS = 700 };
    rank_open(r);
    rank_connect(r);
    for (int i = 0; r->me != 0 && i < PACKETS; i++) {
        if (r->me == 2 && i == 300)
            raise(SIGKILL);
        one_of_any_kind(r, 0, (uint32_t)i);
    }
    for (int i = 0; r->me == 0 && i < PACKETS; i++)
        one_of_any_kind(r, 1, (uint32_t)i);
    rank_pump_until(r, 1 - r->me, 1 + PACKETS);
    while (r->gone_calls[2] == 0)
        NEED(r, !rank_sleep(r), "nobody was told of the death");
    NEED(r, r->gone_calls[0] + r->gone_calls[1] == 0, "told of the death of the living");
    atomic_fetch_add(&r->board->word[2], 1); /* an end without close is a death, too: together */
    while (atomic_load(&r->board->word[2]) < 2)
        rank_pump(r);
}

/* Rank 2 dies while long bodies are under way to and from it: the device gives back all memory that it has for
 * them, and those of the living come. */
static void a_peer_dies_among_long_bodies(struct rank *r)
{
    enum { BODIES = 24, LENGTH = 1 << 20 };
    uint32_t queued = 0;
    size_t len;
    rank_open(r);
    rank_connect(r);
    len = r->caps.max_lying < LENGTH ? r->caps.max_lying : LENGTH;
    len = len > r->caps.max_send ? len : r->caps.max_send;
    for (int i = 0; i < BODIES; i++) {
        if (r->me == 2 && i == BODIES / 2)
            raise(SIGKILL);
        for (int to = 0; to < r->size; to++) {
            void *buf = r->peer[to] ? malloc(len) : NULL;
            dev_status st = DEV_AGAIN;
            while (buf && (st = rank_try_send(r, to, len, 1, buf)) == DEV_AGAIN)
                rank_pump(r);
            queued += st == DEV_QUEUED;
            if (st != DEV_QUEUED)
                free(buf);
        }
    }
    rank_pump_until(r, 1 - r->me, 1 + BODIES);
    while (r->gone_calls[2] == 0)
        NEED(r, !rank_sleep(r), "nobody was told of the death");
    for (uint64_t end = ku_clock_ns() + 10000000000u; r->sent_calls < queued && ku_clock_ns() < end;)
        rank_pump(r);
    NEED(r, r->sent_calls == queued && r->lent == NULL, "%u of %u bodies were given back", r->sent_calls,
         queued);
    NEED(r, r->gone_calls[0] + r->gone_calls[1] == 0, "told of the death of the living");
    atomic_fetch_add(&r->board->word[2], 1); /* an end without close is a death, too: together */
    while (atomic_load(&r->board->word[2]) < 2)
        rank_pump(r);
}

static void a_peer_dies_in_the_middle_of_a_send(struct rank *r)
{
    lose_a_peer(r, true);
}

/* Rank 2 dies holding what rank 1 filled: 1, which waits for room there, is told and not stuck. */
static void a_refused_senders_peer_dies(struct rank *r)
{
    rank_open(r);
    rank_connect(r);
    if (r->me == 2) {
        while (atomic_load(&r->board->word[1]) == 0)
            sched_yield();
        raise(SIGKILL);
    }
    if (r->me == 1) {
        void *buf = malloc(4096);
        dev_status st;
        while ((st = rank_try_send(r, 2, 4096, 1, buf)) != DEV_AGAIN)
            if (st == DEV_QUEUED)
                buf = malloc(4096);
        atomic_store(&r->board->word[1], 1);
        while ((st = rank_try_send(r, 2, 4096, 1, buf)) != DEV_PEER_GONE)
            if (st == DEV_QUEUED)
                buf = malloc(4096);
            else
                NEED(r, !rank_sleep(r), "stuck on a dead rank");
        free(buf);
        for (uint32_t i = 0; i < 200; i++)
            one_send(r, 0, i);
    }
    if (r->me == 0)
        rank_pump_until(r, 1, 201);
    atomic_fetch_add(&r->board->word[2], 1);
    while (atomic_load(&r->board->word[2]) < 2)
        rank_pump(r);
}

/* ---- the rest ---- */

/* Close with packets unread and open again: nothing is lost or repeated, rooms come back. */
static void open_again_with_packets_unread(struct rank *r)
{
    int to = (r->me + 1) % r->size, from = (r->me + r->size - 1) % r->size;
    uint32_t n = 0;
    rank_open(r);
    rank_meet(r);
    while (n < 5 && rank_try_short(r, to, 8) == DEV_OK)
        n++;
    rank_meet(r);
    rank_close(r);
    rank_meet(r);
    rank_open(r);
    rank_meet(r);
    rank_pump_until(r, from, n); /* every rank has sent as many */
    for (uint32_t i = 0; i < 300; i++)
        one_of_any_kind(r, to, i);
    rank_pump_until(r, from, n + 300);
    rank_meet_pumping(r);
    rank_close(r);
}

/* Open, exchange, close, again and again; where epochs tell the rounds apart nobody waits for the others to have
 * closed. */
static void opens_again_after_traffic(struct rank *r)
{
    enum { ROUNDS = 5, PACKETS = 40 };
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        rank_open(r);
        for (uint32_t i = 0; i < PACKETS; i++)
            for (int to = 0; to < r->size; to++)
                if (r->peer[to])
                    one_of_any_kind(r, to, i);
        for (int from = 0; from < r->size; from++)
            if (r->peer[from])
                rank_pump_until(r, from, round * PACKETS);
        rank_meet_pumping(r);
        rank_close(r);
        if (!r->subject->connects)
            rank_meet(r);
    }
}

static void writes_a_peers_memory(struct rank *r)
{
    static char data[100000], here[100000];
    int other = (r->me + 1) % r->size;
    uint64_t at;
    dev_status st;
    rank_open(r);
    if (r->me == 0 || !r->threads)
        rank_fill(data, 0, 7, sizeof data);
    at = r->near->offer(r->peer[other], here, sizeof here);
    rank_meet(r);
    st = r->near->copy_to_peer(r->peer[other], at, data, sizeof data);
    NEED(r, st == DEV_OK || st == DEV_NO_SUPPORT, "answered %d", st);
    rank_meet(r);
    NEED(r, st != DEV_OK || !memcmp(here, data, sizeof data), "other bytes");
    rank_meet(r);
    rank_close(r);
}

static void shares_words(struct rank *r)
{
    int other = (r->me + 1) % r->size;
    rank_open(r);
    for (uint32_t i = 0; i < DEV_WORDS; i++)
        atomic_store(r->near->word(r->peer[other], false, i), 100 * (uint64_t)r->me + i);
    rank_meet(r);
    for (uint32_t i = 0; i < DEV_WORDS; i++) {
        uint64_t is = atomic_fetch_add(r->near->word(r->peer[other], true, i), 1000);
        NEED(r, is == 100 * (uint64_t)other + i, "word %u is %llu", i, (unsigned long long)is);
    }
    rank_meet(r);
    for (uint32_t i = 0; i < DEV_WORDS; i++)
        NEED(r, atomic_load(r->near->word(r->peer[other], false, i)) == 1000 + 100 * (uint64_t)r->me + i,
             "word %u was not changed", i);
    rank_meet(r);
    rank_close(r);
}

/* Does the device's answer become this one within 10 s?  Nobody looks at what comes meanwhile, unless it pumps. */
static void need_under_way(struct rank *r, bool want, bool pump)
{
    bool is = !want;
    for (int i = 0; i < 10000 && (is = r->ops->under_way(r->dev)) != want; i++) {
        if (pump)
            rank_pump(r);
        usleep(1000);
    }
    NEED(r, is == want, "it is %d", is);
}

static void tells_what_is_under_way(struct rank *r)
{
    rank_open(r);
    rank_connect(r);
    need_under_way(r, false, true);
    rank_meet(r);
    if (r->me == 0)
        rank_send(r, 1, 3000, 1);
    else
        need_under_way(r, true, false);
    rank_meet(r);
    if (r->me == 1)
        rank_pump_until(r, 0, 2);
    need_under_way(r, false, true);
    rank_meet(r);
    rank_close(r);
}

static void reads_a_peers_memory(struct rank *r)
{
    static char data[100000], got[100000];
    int other = (r->me + 1) % r->size;
    char *own = r->threads ? malloc(sizeof got) : NULL; /* threads share `got` */
    dev_status st;
    rank_open(r);
    NEED(r, r->caps.has_get, "excluded otherwise");
    if (r->me == 0 || !r->threads)
        rank_fill(data, 0, 7, sizeof data);
    uint64_t at =
        r->near->offer ? r->near->offer(r->peer[other], data, sizeof data) : (uint64_t)(uintptr_t)data;
    NEED(r, at == (uint64_t)(uintptr_t)data, "offers %#llx", (unsigned long long)at);
    rank_meet(r);
    st = r->near->copy_from_peer(r->peer[other], own ? own : got, at, sizeof data);
    NEED(r, st == DEV_OK || st == DEV_NO_SUPPORT, "answered %d", st);
    NEED(r, st != DEV_OK || r->threads || !memcmp(got, data, sizeof data), "other bytes");
    free(own);
    rank_meet(r);
    rank_close(r);
}

/* ---- the table of tests -------------------------------------------------------------------------------------- */

enum {
    PROCESSES = 1,
    THREADED = 2,
    BOTH = 3,
    KILLS = 4,
    HALVES = 8 /* needs half_send */,
    GETS = 16,
    MEM = 32
};

static const struct test {
    const char *name;
    void (*fn)(struct rank *r);
    int least, most; /* ranks: run at both */
    int flags;
} tests[] = {
    { "open and close", open_and_close, 1, 4, BOTH },
    { "refuses peers out of reach", refuses_peers_out_of_reach, 1, 2, BOTH },
    { "short packets", short_packets, 1, 5, BOTH },
    { "large packets", large_packets, 1, 4, BOTH },
    { "reserved packets", reserved_packets, 1, 3, BOTH },
    { "kinds do not overtake", kinds_do_not_overtake, 1, 4, BOTH },
    { "copied packets", copied_packets, 1, 4, BOTH },
    { "takes packets in place", takes_packets_in_place, 2, 2, BOTH },
    { "dropped rooms", dropped_rooms, 1, 2, BOTH },
    { "refuses short packets when full", refuses_short_packets_when_full, 1, 2, BOTH },
    { "refuses large packets when full", refuses_large_packets_when_full, 1, 2, BOTH },
    { "what nobody receives is bounded", what_nobody_receives_is_bounded, 2, 2, BOTH },
    { "strangers are not heard", strangers_are_not_heard, 3, 3, BOTH },
    { "a deaf peer blocks no other", a_deaf_peer_blocks_no_other, 3, 3, BOTH },
    { "sends from deliver", sends_from_deliver, 1, 2, BOTH },
    { "arrives without another call of the sender", arrives_without_another_call, 2, 2, BOTH },
    { "wakes a sleeper", wakes_a_sleeper, 2, 2, BOTH },
    { "a sleeper is left in peace", a_sleeper_is_left_in_peace, 2, 2, BOTH },
    { "wakes a refused sender (short)", wakes_a_refused_sender_short, 2, 2, BOTH },
    { "wakes a refused sender (large)", wakes_a_refused_sender_large, 2, 2, BOTH },
    { "threads send short packets", threads_send_short, 1, 2, PROCESSES },
    { "who has left takes nothing", who_has_left_takes_nothing, 2, 2, BOTH },
    { "a peer dies", a_peer_dies, 3, 3, PROCESSES | KILLS },
    { "a peer dies in traffic", a_peer_dies_in_traffic, 3, 3, PROCESSES | KILLS },
    { "a peer dies among long bodies", a_peer_dies_among_long_bodies, 3, 3, PROCESSES | KILLS },
    { "a peer dies in the middle of a send", a_peer_dies_in_the_middle_of_a_send, 3, 3, PROCESSES | HALVES },
    { "a refused sender's peer dies", a_refused_senders_peer_dies, 3, 3, PROCESSES | KILLS },
    { "open again with packets unread", open_again_with_packets_unread, 1, 3, BOTH },
    { "opens again after traffic", opens_again_after_traffic, 1, 4, BOTH },
    { "reads a peer's memory", reads_a_peers_memory, 1, 2, BOTH | GETS },
    { "writes a peer's memory", writes_a_peers_memory, 1, 2, BOTH | GETS },
    { "shares words", shares_words, 1, 3, BOTH | GETS },
    { "memory: puts and gets", memory_puts_and_gets, 1, 4, BOTH | MEM },
    { "memory: updates", memory_updates, 1, 4, BOTH | MEM },
    { "memory: what is refused", memory_refuses, 1, 2, BOTH | MEM },
    { "memory: shared", memory_is_shared, 1, 3, BOTH | MEM },
    { "memory: among packets", memory_among_packets, 1, 3, BOTH | MEM },
    { "memory: a peer dies", memory_of_the_dead, 3, 3, PROCESSES | MEM | KILLS },
    { "tells what is under way", tells_what_is_under_way, 2, 2, BOTH },
};
enum { TESTS = sizeof tests / sizeof *tests };

static bool has_get(const struct subject *s)
{
    return (s->ops == shmem_ops && s->env == NULL) || s->max_ranks == 1;
}

static bool chosen; /* one device, on the command line */

/* Why the test does not run on the device, or NULL. */
static const char *excluded(const struct subject *s, const struct test *t)
{
    static const struct dev_near nothing;
    if (s->ops() == NULL && s->ops == elsewhere_ops)
        return "SUITE_PLUGIN names none";
    if (s->ops() == NULL)
        return "the plug-in is not built: its library is not installed";
    const struct dev_near *near = s->ops()->near ? s->ops()->near : &nothing;
    if (t->least > s->max_ranks)
        return "the device reaches the process itself only";
    if (t->fn == open_again_with_packets_unread && s->max_ranks == 1)
        return "what a process sent to itself ends with it";
    if (t->fn == who_has_left_takes_nothing && !s->connects)
        return "what is sent lies in memory, whoever has left";
    if (t->fn == open_again_with_packets_unread && s->connects)
        return "what nobody has read ends with the connection";
    if ((t->fn == dropped_rooms || t->fn == reserved_packets) && !s->ops()->reserve)
        return "the device has no reserve";
    if (t->fn == takes_packets_in_place && !near->take_long)
        return "the device has no take_long";
    if (t->fn == copied_packets && !near->send_copy)
        return "the device has no send_copy";
    if (t->fn == what_nobody_receives_is_bounded && s->bound == 0)
        return "a system or a ring bounds it, in bytes";
    if (t->fn == strangers_are_not_heard && s->bound == 0)
        return "memory of the node has no strangers; ch_tcp's are in tcp_faults";
    if (t->fn == tells_what_is_under_way && !s->ops()->under_way)
        return "the device has no under_way";
    if (s->hooked && hooked_how.stats == false &&
        (t->fn == open_again_with_packets_unread || t->fn == tells_what_is_under_way))
        return "what came and waits in the hook ends with it, or is under way";
    if (s->hooked && hooked_how.refuse > 0 &&
        (t->fn == dropped_rooms || t->fn == refuses_short_packets_when_full ||
         t->fn == refuses_large_packets_when_full || t->fn == a_refused_senders_peer_dies))
        return "the hook refuses by whim, not when the device is full";
    if (t->fn == arrives_without_another_call && s->ops == ucx_ops && strstr(s->env, "posix") != NULL)
        return "UCX 1.13 may keep what it is to send over shared memory alone until it is called again";
    if (t->fn == arrives_without_another_call &&
        ((s->hooked && hooked_how.stats == false) || s->prepare == mock_moody))
        return "what waits in it, by whim, goes on only when it is called";
    if (t->fn == a_sleeper_is_left_in_peace && getenv("SUITE_THREADS") != NULL)
        return "it measures processor time, which a sanitizer takes itself";
    if (t->fn == dropped_rooms && s->prepare == mock_moody)
        return "the device refuses rooms by whim";
    if (t->fn == open_again_with_packets_unread && s->prepare == mock_moody)
        return "what the device has queued is handed over while others receive";
    if (s->apart && !chosen)
        return "`suite NAME` runs it: parts ofi and ucx";
    if (t->flags & KILLS && !s->deaths)
        return "the device is not told of deaths";
    if (t->flags & HALVES && !s->half_send)
        return "no way to die in the middle of a send is known";
    if (t->flags & GETS && !has_get(s))
        return "the device has no copy_from_peer";
    if (t->fn == writes_a_peers_memory && !near->copy_to_peer)
        return "the device has no copy_to_peer";
    if (t->fn == shares_words && !near->word)
        return "the device has no words";
    if (t->flags & MEM && !s->ops()->mem)
        return "the device has no memory of peers: the core sends packets";
    if (s->memory_alone && !(t->flags & MEM))
        return "the same as above";
    if (s->env && !s->whole && !(t->flags & (GETS | MEM)))
        return "the setting changes nothing here";
    return NULL;
}

/* Loop index: (device * TESTS + test) * 2 + threads. */
START_TEST(conforms)
{
    const struct subject *s = &subjects[_i / 2 / TESTS];
    const struct test *t = &tests[_i / 2 % TESTS];
    bool threads = _i & 1;
    int least = t->least > s->min_ranks ? t->least : s->min_ranks;
    int most = t->most < s->max_ranks ? t->most : s->max_ranks;
    if (!(t->flags & (threads ? THREADED : PROCESSES)) || (threads && s->by_process) || excluded(s, t) ||
        (!threads && getenv("SUITE_THREADS") != NULL && t->fn != threads_send_short))
        return;
    for (int size = least; size <= most; size += most > least ? most - least : 1)
        if (ranks_run(s, size, threads, t->fn))
            ck_abort_msg("%s: %s, %d ranks as %s", s->name, t->name, size, threads ? "threads" : "processes");
}
END_TEST

static void print_exclusions(int from, int to)
{
    for (int d = from / (2 * TESTS); to - from >= 2 * TESTS && d < to / (2 * TESTS); d++)
        for (int t = 0; t < TESTS; t++)
            if (excluded(&subjects[d], &tests[t]) && (!subjects[d].env || subjects[d].whole) &&
                !subjects[d].memory_alone)
                printf("left out: %s on %s: %s\n", tests[t].name, subjects[d].name,
                       excluded(&subjects[d], &tests[t]));
    fflush(stdout);
}

static int place_of(const char *name)
{
    for (int i = 0; i < SUBJECTS; i++)
        if (!strcmp(subjects[i].name, name))
            return i;
    return atoi(name);
}

static int place_of_test(const char *name)
{
    for (int i = 0; i < TESTS; i++)
        if (!strcmp(tests[i].name, name))
            return i;
    return atoi(name);
}

int main(int argc, char **argv)
{
    Suite *suite = suite_create("device");
    TCase *c = tcase_create("conformance");
    SRunner *runner = srunner_create(suite);
    int failed, from = 0, to = SUBJECTS * TESTS * 2;
    if (argc > 1) { /* one device, by its name or its place in the table */
        chosen = true;
        from = place_of(argv[1]) * TESTS * 2;
        to = from + TESTS * 2;
    }
    if (argc > 2) { /* and one test, likewise */
        from += place_of_test(argv[2]) * 2;
        to = from + 2;
    }
    print_exclusions(from, to);
    tcase_set_timeout(c, 30);
    tcase_add_loop_test(c, conforms, from, to);
    suite_add_tcase(suite, c);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
