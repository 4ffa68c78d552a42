/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "wait.h"
#include "clock.h"
#include "counter.h"
#include "cpus.h"
#include "knob.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    PAUSELESS = 256 /* polls before the loop pauses between them */,
    NEAR = 128 /* looks at a word that another core is about to change: about 2 us */,
    CLOCK_EVERY = 32 /* polls a look at the clock, and a yield */,
    CROWDED_EVERY = 8 /* the same where somebody else uses the core */,
    LONG_NS = 1000 /* a yield with nobody to yield to takes less, if nothing disturbs it */,
    MET_ONE = 12 /* what a yield that let somebody run counts, and one that did not: -1 */,
    CROWDED_FROM = 3 * MET_ONE - 8 /* three of few yields */,
    CROWDED_MOST = 64,
    LOOK_EVERY = 8,
    APART_RANKS = 64 /* on more nobody looks */,
    APART_LOOK_NS = 100000,
    APART_NS = 1000000 /* from a move to the next at first; then twice as long each time */,
    APART_MOST_NS = 8000000,
    HOGGED_NS = 500000 /* two ranks: of ku_wait_policy.hogged_ns; and for each more on a core */,
    HOGGED_RANK_NS = 60000,
    HOGGED_MOST_NS =
        3000000 /* somebody who does not step aside keeps the core for a tick or more: 4 ms as a rule */,
    HOGGED_WAITS = 4 /* at first; twice as many each time that a yield meets him again */,
    HOGGED_WAITS_MOST = 64,
    HOGGED_PAST = 256 /* yields that did not meet him */,
    AWAKE_NS = 1000000,
    BUSY_NS = 100000 /* a yield among ranks that wait takes less */
};

struct ku_wait_policy ku_wait_policy = { .spin_ns = 0, .yields = 20, .hogged_ns = HOGGED_NS };

static void set_spin(const struct ku_knob *row)
{
    ku_wait_policy.spin_ns = (uint32_t)row->num * 1000u;
}

static void set_yields(const struct ku_knob *row)
{
    ku_wait_policy.yields = (uint32_t)row->num;
    ku_wait_policy.awake_ns = 0;
}

static struct ku_knob rows[] = {
    { .name = "SPIN_US",
      .type = KU_KNOB_INT,
      .def = "100",
      .unit = "us",
      .min = 0,
      .max = 10000000,
      .audience = KU_FOR_TUNERS,
      .changed = set_spin,
      .help =
          "how long a waiting rank polls before it steps aside; unless set, 0 when ranks outnumber cores" },
    { .name = "YIELDS",
      .type = KU_KNOB_INT,
      .def = "20",
      .unit = "",
      .min = 0,
      .max = 1000000,
      .audience = KU_FOR_TUNERS,
      .changed = set_yields,
      .help = "how often a waiting rank lets others run on its core before it sleeps; unless set, for 1 ms "
              "in a job of several nodes, or of more ranks than cores, while nobody has to run" },
};
static struct ku_knob_table knobs = { .rows = rows, .n = 2, .area = "process.waiting" };

__attribute__((constructor)) static void add_knobs(void)
{
    ku_knob_add(&knobs);
}

/* Does membarrier reach the senders?  Without it a sleeper relies on the senders' fences (fence_all). */
static _Atomic bool has_membarrier;
/* A membarrier that once worked was refused: sleeps become short naps, so that a lost wake costs time, not the job. */
static _Atomic bool must_nap;

void ku_wait_init(uint32_t ranks, uint32_t cpus, bool far)
{
    ku_knob_register(&knobs);
    ku_wait_policy.spin_ns = (uint32_t)ku_knob_int("SPIN_US") * 1000u;
    if (ranks > cpus && !ku_knob_is_set("SPIN_US"))
        ku_wait_policy.spin_ns = 0;
    ku_wait_policy.yields = (uint32_t)ku_knob_int("YIELDS");
    ku_wait_policy.awake_ns = (far || ranks > cpus) && !ku_knob_is_set("YIELDS") ? AWAKE_NS : 0;
    ku_wait_policy.hogged_ns = HOGGED_MOST_NS;
    if (ranks / cpus < (HOGGED_MOST_NS - HOGGED_NS) / HOGGED_RANK_NS)
        ku_wait_policy.hogged_ns = HOGGED_NS + ranks / cpus * HOGGED_RANK_NS;
}

bool ku_wait_register(void)
{
    has_membarrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
    return has_membarrier;
}

/* What the last yields told of this core; both count down.
 * crowded: somebody else ran, again and again, so whoever is waited for may sit on this very core, whatever the
 * census says
 *          (other jobs share the machine): yield soon.
 * hogged:  somebody ran for long, who computes and does not step aside: sleep at once, because a wake-up takes the
 * core
 *          from him and a yield waits for the end of his time slice.
 * That a yield took long does not tell it: a hypervisor, an interrupt or a thread of the kernel may have had the core
 * meanwhile, from whom nothing is gained by stepping aside (on a virtual machine 443 of a million yields on an
 * idle core took more than 1.5 us, two of them with a switch of threads).  So there must have been a switch, and
 * one is nothing yet. */
static _Atomic int crowded, hogged;
static _Thread_local long switches;             /* of this thread, when it looked last */
static _Atomic int hogged_waits = HOGGED_WAITS; /* what hogged counts down from the next time */
static _Atomic int hogged_past;                 /* yields until that begins anew */

bool ku_wait_hogged(void)
{
    return atomic_load_explicit(&hogged, memory_order_relaxed) != 0;
}

bool ku_wait_alone(void)
{
    return atomic_load_explicit(&crowded, memory_order_relaxed) < CROWDED_FROM && !ku_wait_hogged();
}

static void count_down(_Atomic int *counter)
{
    int c = atomic_load_explicit(counter, memory_order_relaxed);
    if (c > 0)
        atomic_store_explicit(counter, c - 1, memory_order_relaxed);
}

/* One such yield may be a chance; the next ones tell. */
static void be_hogged(void)
{
    int waits = atomic_load_explicit(&hogged_waits, memory_order_relaxed);
    atomic_store_explicit(&hogged, waits, memory_order_relaxed);
    atomic_store_explicit(&hogged_waits, waits < HOGGED_WAITS_MOST ? 2 * waits : waits, memory_order_relaxed);
    atomic_store_explicit(&hogged_past, HOGGED_PAST, memory_order_relaxed);
}

static void be_free(void)
{
    count_down(&hogged_past);
    if (atomic_load_explicit(&hogged_past, memory_order_relaxed) == 0)
        atomic_store_explicit(&hogged_waits, HOGGED_WAITS, memory_order_relaxed);
}

static struct {
    _Atomic uint64_t yields, wakes;
} counts;

static void wait_count(_Atomic uint64_t *n)
{
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1, memory_order_relaxed);
}

static const struct ku_counter count_rows[] = {
    { .name = "yields",
      .of = KU_COUNT,
      KU_AT(counts.yields),
      .help = "times that the process, waiting, let others run on its core" },
    { .name = "wakes",
      .of = KU_COUNT,
      KU_AT(counts.wakes),
      .help = "times that the process woke another that slept" },
};
static struct ku_counter_table count_table = { .rows = count_rows, .n = 2, .area = "process.waiting" };

__attribute__((constructor)) static void add_counts(void)
{
    ku_counter_add(&count_table);
}

/* Has this thread been off its core since the last call?  Not only in a yield: but whoever asks again soon knows. */
static bool switched(void)
{
    struct rusage u;
    long before = switches;
    if (getrusage(RUSAGE_THREAD, &u) != 0)
        return true;
    switches = u.ru_nivcsw;
    return switches != before;
}

static struct {
    const struct ku_segment *segment;
    uint32_t me;
    uint64_t next, pause; /* ns: the next look; from one move to the next one at least */
} company;

static void say_cpu(int cpu)
{
    atomic_store_explicit(&ku_segment_rank(company.segment, company.me)->cpu, cpu + 1, memory_order_relaxed);
}

void ku_wait_company(const struct ku_segment *segment, uint32_t me)
{
    company.segment = segment;
    company.me = me;
    company.next = 0;
    company.pause = APART_NS;
    if (segment)
        say_cpu(sched_getcpu());
}

static void look_apart(uint64_t now)
{
    int32_t cpu[APART_RANKS], to;
    uint32_t n;
    if (!company.segment || now < company.next)
        return;
    n = company.segment->head->nlocal;
    if (n > APART_RANKS)
        return;
    say_cpu(sched_getcpu());
    for (uint32_t i = 0; i < n; i++)
        cpu[i] = atomic_load_explicit(&ku_segment_rank(company.segment, i)->cpu, memory_order_relaxed) - 1;
    to = ku_cpus_spread(cpu, (int32_t)n, (int32_t)company.me);
    if (now > company.next + APART_MOST_NS)
        company.pause = APART_NS;
    if (to < 0) {
        company.next = now + APART_LOOK_NS;
        return;
    }
    ku_cpus_move(to);
    say_cpu(to);
    company.next = now + company.pause;
    if (company.pause < APART_MOST_NS)
        company.pause *= 2;
    atomic_store_explicit(&crowded, 0, memory_order_relaxed);
}

/* Somebody else uses this cpu, again and again: another rank of this job? */
static void step_apart(uint64_t now)
{
    static atomic_flag looks = ATOMIC_FLAG_INIT; /* one thread at a time */
    if (atomic_flag_test_and_set(&looks))
        return;
    look_apart(now);
    atomic_flag_clear(&looks);
}

/* Did a yield that took so long let somebody else run?  Where that is known to be so most are not looked at: a
 * look takes 0.4 us. */
static bool met_one(uint64_t took)
{
    static _Thread_local uint32_t looks;
    if (took <= LONG_NS)
        return false;
    return ku_wait_policy.spin_ns == 0 || (!ku_wait_alone() && ++looks % LOOK_EVERY != 0) || switched();
}

/* sched_yield, and learn from how long it took. */
static void say_aside(const struct ku_wait *w, bool aside)
{
    if (w->aside != NULL)
        atomic_store_explicit(w->aside, aside, memory_order_relaxed);
}

void ku_wait_yield(void)
{
    if (ku_service != NULL)
        ku_service->aside(ku_service->self);
    else
        sched_yield();
}

/* In place of a sleep, where time is somebody else's: true. */
static bool served(_Atomic uint32_t *sleeping)
{
    if (ku_service == NULL)
        return false;
    ku_service->aside(ku_service->self);
    if (sleeping != NULL)
        ku_wait_cancel(sleeping);
    return true;
}

void ku_wait_nap(int ms)
{
    if (!served(NULL))
        poll(NULL, 0, ms);
}

static uint64_t yield(const struct ku_wait *w, uint64_t now)
{
    uint64_t took;
    bool met;
    int c;
    say_aside(w, true);
    sched_yield();
    say_aside(w, false);
    wait_count(&counts.yields);
    took = ku_clock_ns() - now;
    met = met_one(took);
    if (met && took > ku_wait_policy.hogged_ns)
        be_hogged();
    else if (atomic_load_explicit(&hogged_waits, memory_order_relaxed) != HOGGED_WAITS)
        be_free();
    if (!met) {
        count_down(&crowded);
        return took;
    }
    c = atomic_load_explicit(&crowded, memory_order_relaxed) + MET_ONE;
    atomic_store_explicit(&crowded, c < CROWDED_MOST ? c : CROWDED_MOST, memory_order_relaxed);
    if (c >= CROWDED_FROM && ku_wait_policy.spin_ns != 0)
        step_apart(now);
    return took;
}

/* Is it too early to step aside? */
static bool keep_polling(struct ku_wait *w)
{
    bool alone = ku_wait_alone();
    w->spins++;
    if (alone && w->spins <= PAUSELESS)
        return true;
    if (!alone)
        return w->spins % CROWDED_EVERY != 0;
    ku_wait_pause();
    return w->spins % CLOCK_EVERY != 0;
}

static bool may_spin(struct ku_wait *w)
{
    uint64_t now;
    if (ku_wait_policy.spin_ns == 0)
        return false;
    if (keep_polling(w))
        return true;
    if (ku_wait_hogged())
        return false;
    now = ku_clock_ns();
    if (w->spin_until == 0)
        w->spin_until = now + ku_wait_policy.spin_ns;
    yield(w, now);
    return now < w->spin_until;
}

bool ku_wait_near(_Atomic uint32_t *word, uint32_t is)
{
    for (int i = 0; i < NEAR; i++) {
        if (atomic_load_explicit(word, memory_order_acquire) != is)
            return true;
        ku_wait_pause();
    }
    return false;
}

/* What other nodes send takes longer than a few yields, and to be woken takes as long as much of that way; where
 * ranks outnumber cores one that computes is waited for, and a core that nobody else uses by then halts when its
 * last rank sleeps.  So a rank there lets others run again and again for a while before it sleeps, unless one of
 * them has something to do. */
static bool stays_awake(struct ku_wait *w)
{
    uint64_t now;
    if (ku_wait_policy.awake_ns == 0)
        return false;
    now = ku_clock_ns();
    if (w->awake_until == 0)
        w->awake_until = now + ku_wait_policy.awake_ns;
    if (now >= w->awake_until)
        return false;
    if (yield(w, now) > BUSY_NS)
        w->awake_until = now;
    return true;
}

enum ku_wait_step ku_wait_step(struct ku_wait *w)
{
    if (__builtin_expect(ku_service != NULL, 0)) {
        ku_service->aside(ku_service->self);
        return w->yields++ < ku_wait_policy.yields ? KU_WAIT_AGAIN : KU_WAIT_SLEEP;
    }
    if (may_spin(w))
        return KU_WAIT_AGAIN;
    if (ku_wait_hogged()) {
        count_down(&hogged);
        return KU_WAIT_SLEEP;
    }
    if (w->yields >= ku_wait_policy.yields)
        return stays_awake(w) ? KU_WAIT_AGAIN : KU_WAIT_SLEEP;
    w->yields++;
    yield(w, ku_clock_ns());
    return KU_WAIT_AGAIN;
}

void ku_wait_show_stores(uint32_t fences)
{
    atomic_thread_fence(memory_order_seq_cst);
    /* Even when all senders fence by now: one that looked at fence_all long ago may not yet. */
    if (!(fences & KU_FENCE_ALL) && atomic_load_explicit(&has_membarrier, memory_order_relaxed) &&
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) != 0 && fences == KU_FENCE_NONE)
        must_nap = true;
}

bool ku_wait_show_all_stores(uint32_t fences)
{
    atomic_thread_fence(memory_order_seq_cst);
    return !(fences & KU_FENCE_SOME) && atomic_load_explicit(&has_membarrier, memory_order_relaxed) &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}

static void wait_prepare(_Atomic uint32_t *sleeping, uint32_t how, uint32_t fences)
{
    atomic_store_explicit(sleeping, how, memory_order_seq_cst);
    ku_wait_show_stores(fences);
}

void ku_wait_prepare(_Atomic uint32_t *sleeping, uint32_t fences)
{
    wait_prepare(sleeping, KU_ASLEEP, fences);
}

void ku_wait_cancel(_Atomic uint32_t *sleeping)
{
    atomic_store_explicit(sleeping, 0, memory_order_relaxed);
}

static int nap(int timeout_ms)
{
    return must_nap && (timeout_ms < 0 || timeout_ms > 1) ? 1 : timeout_ms;
}

static void wait_sleep_on(_Atomic uint32_t *sleeping, int timeout_ms)
{
    struct timespec t, *tp = NULL;
    timeout_ms = nap(timeout_ms);
    if (timeout_ms >= 0) {
        t = (struct timespec){ timeout_ms / 1000, timeout_ms % 1000 * 1000000l };
        tp = &t;
    }
    if (atomic_load_explicit(sleeping, memory_order_relaxed) == KU_ASLEEP)
        syscall(SYS_futex, sleeping, FUTEX_WAIT, KU_ASLEEP, tp, NULL, 0);
}

void ku_wait_sleep(_Atomic uint32_t *sleeping, int timeout_ms)
{
    if (served(sleeping))
        return;
    wait_sleep_on(sleeping, timeout_ms);
    ku_wait_cancel(sleeping);
}

/* ---- a word for many ---- */

#ifdef SYS_futex_waitv

/* As the kernel has it; older headers do not. */
struct waitv {
    uint64_t value, address;
    uint32_t flags, reserved;
};
enum { WAITV_U32 = 2 };

/* 1: the kernel has the call, -1: it has not, or it is refused, or Valgrind is here, which does not know it; 0:
 * not tried yet. */
static _Atomic int has_waitv;

static long waitv(struct waitv *of, unsigned n, const struct timespec *until)
{
    return syscall(SYS_futex_waitv, of, n, 0, until, CLOCK_MONOTONIC);
}

bool ku_wait_can_sleep_on(void)
{
    _Atomic uint32_t word = 0;
    struct waitv one = { .value = 1, .address = (uintptr_t)&word, .flags = WAITV_U32 };
    if (has_waitv == 0) {
        const char *preloaded = getenv("LD_PRELOAD");
        bool valgrind = preloaded && strstr(preloaded, "vgpreload");
        has_waitv = !valgrind && waitv(&one, 1, NULL) < 0 && errno == EAGAIN ? 1 : -1;
    }
    return has_waitv > 0;
}

bool ku_wait_sleep_on(_Atomic uint32_t *sleeping, _Atomic uint32_t *word, uint32_t is, int timeout_ms)
{
    struct waitv both[] = {
        { .value = KU_ASLEEP, .address = (uintptr_t)sleeping, .flags = WAITV_U32 },
        { .value = is, .address = (uintptr_t)word, .flags = WAITV_U32 },
    };
    struct timespec t, *until = NULL;
    if (!ku_wait_can_sleep_on())
        return false;
    if (served(sleeping))
        return true;
    timeout_ms = nap(timeout_ms);
    if (timeout_ms >= 0) {
        uint64_t end = ku_clock_ns() + (uint64_t)timeout_ms * 1000000u;
        t = (struct timespec){ (time_t)(end / 1000000000u), (long)(end % 1000000000u) };
        until = &t;
    }
    waitv(both, 2, until);
    ku_wait_cancel(sleeping);
    return true;
}

#else

bool ku_wait_can_sleep_on(void)
{
    return false;
}

bool ku_wait_sleep_on(_Atomic uint32_t *sleeping, _Atomic uint32_t *word, uint32_t is, int timeout_ms)
{
    (void)sleeping, (void)word, (void)is, (void)timeout_ms;
    return false;
}

#endif

void ku_wait_while(_Atomic uint32_t *word, uint32_t is)
{
    struct timespec t = { 0, 1000000 };
    if (served(NULL))
        return;
    syscall(SYS_futex, word, FUTEX_WAIT, is, must_nap ? &t : NULL, NULL, 0);
}

void ku_wait_wake_all(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* ---- the doorbell ---- */

enum { MUTE_MS = 2, PATIENCE_MS = 50, PATIENCE_MAX = 1 << 30 };

/* The socket of process bell_pid (a child of fork has its parent's, which is not its own), to ring others' and,
 * once bound, to be rung; -1: none yet. */
static _Atomic int bell = -1, bell_pid;
/* Until the bell has rung for the first time nobody knows that it can be heard: another's word on that takes a
 * wake-up that fails, and that must not cost long.  This long a sleep may be, twice as long after each in which
 * nothing came. */
static int bell_patience;

static int bell_socket(void)
{
    int fd = atomic_load(&bell), none = -1, pid = getpid();
    if (fd >= 0 && atomic_load(&bell_pid) != pid && atomic_compare_exchange_strong(&bell, &fd, -1)) {
        close(fd);
        fd = -1;
    }
    if (fd >= 0)
        return fd;
    atomic_store(&bell_pid, pid);
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && !atomic_compare_exchange_strong(&bell, &none, fd)) { /* another thread was faster */
        close(fd);
        fd = none;
    }
    return fd;
}

/* Bind to a name of the kernel's choice, and publish it. */
static void bell_hang(struct ku_seg_rank *rank)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    socklen_t bytes = sizeof at;
    int fd = bell_socket();
    atomic_store(&rank->bell_mute, 1);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at.sun_family) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &bytes) != 0)
        return;
    bytes -= (socklen_t)offsetof(struct sockaddr_un, sun_path);
    if (bytes == 0 || bytes > KU_BELL_BYTES)
        return;
    memcpy(rank->bell, at.sun_path, bytes);
    rank->bell_len = (uint8_t)bytes;
    bell_patience = PATIENCE_MS;
    atomic_store(&rank->bell_mute, 0);
}

void ku_wait_bell_close(struct ku_seg_rank *rank)
{
    int fd = atomic_exchange(&bell, -1);
    rank->bell_len = 0;
    atomic_store(&rank->bell_mute, 0);
    if (fd >= 0)
        close(fd);
}

static void bell_ring(struct ku_seg_rank *rank)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    size_t len = rank->bell_len;
    int fd = bell_socket();
    if (len == 0 || len > KU_BELL_BYTES)
        return; /* it has taken the bell away, so it is awake */
    memcpy(to.sun_path, rank->bell, len);
    if (fd < 0 || (sendto(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&to,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) < 0 &&
                   errno != EAGAIN)) /* a full queue wakes, too */
        atomic_store(&rank->bell_mute, 1);
}

void ku_wait_bell_open(struct ku_seg_rank *rank)
{
    if (rank->bell_len == 0 && !atomic_load_explicit(&rank->bell_mute, memory_order_relaxed))
        bell_hang(rank);
}

void ku_wait_prepare_poll(struct ku_seg_rank *rank, uint32_t fences)
{
    ku_wait_bell_open(rank);
    if (!atomic_load_explicit(&rank->bell_mute, memory_order_relaxed))
        wait_prepare(&rank->sleeping, KU_IN_POLL, fences);
}

static int bell_limit(const struct ku_seg_rank *rank, int timeout_ms)
{
    int most = must_nap ? 1 : bell_patience;
    if (atomic_load_explicit(&rank->bell_mute, memory_order_relaxed) && most > MUTE_MS)
        most = MUTE_MS;
    return timeout_ms < 0 || most < timeout_ms ? most : timeout_ms;
}

/* What poll says; *rung: the doorbell, if it has rung, -1: it has not. */
static int poll_all(struct ku_seg_rank *rank, const int fds[], int n, int timeout_ms, int *rung)
{
    struct pollfd p[KU_WAIT_FDS + 1];
    int fd = atomic_load(&bell), bells = fd >= 0 && rank->bell_len > 0, ready;
    for (int i = 0; i < n && i < KU_WAIT_FDS; i++)
        p[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
    p[n] = (struct pollfd){ .fd = fd, .events = POLLIN };
    ready = poll(p, (nfds_t)(n + bells), bell_limit(rank, timeout_ms));
    *rung = bells && ready > 0 && p[n].revents != 0 ? fd : -1;
    return ready;
}

void ku_wait_poll(struct ku_seg_rank *rank, const int fds[], int n, int timeout_ms)
{
    char byte[8];
    if (served(&rank->sleeping))
        return;
    int rung, ready = poll_all(rank, fds, n, timeout_ms, &rung);
    ku_wait_cancel(&rank->sleeping);
    if (ready == 0 && bell_patience < PATIENCE_MAX)
        bell_patience *= 2;
    while (rung >= 0 && recv(rung, byte, sizeof byte, MSG_DONTWAIT) > 0)
        bell_patience = PATIENCE_MAX;
}

void ku_wait_beside(struct ku_seg_rank *rank, const int fds[], int n, int timeout_ms)
{
    int rung;
    if (n > 0)
        poll_all(rank, fds, n, timeout_ms, &rung);
    else
        wait_sleep_on(&rank->sleeping, timeout_ms);
}

void ku_wait_beside_end(struct ku_seg_rank *rank)
{
    char byte[8];
    int fd = atomic_load(&bell);
    ku_wait_cancel(&rank->sleeping);
    while (fd >= 0 && rank->bell_len > 0 && recv(fd, byte, sizeof byte, MSG_DONTWAIT) > 0)
        ;
}

/* ---- waking ---- */

void ku_wait_wake_slow(_Atomic uint32_t *sleeping)
{
    uint32_t is = atomic_load(sleeping);
    if (is == KU_AWAKE || !atomic_compare_exchange_strong(sleeping, &is, KU_AWAKE))
        return;
    wait_count(&counts.wakes);
    if (is == KU_IN_POLL)
        bell_ring((struct ku_seg_rank *)((char *)sleeping - offsetof(struct ku_seg_rank, sleeping)));
    else
        syscall(SYS_futex, sleeping, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
