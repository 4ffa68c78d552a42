#include "wait.h"
#include "clock.h"
#include "knob.h"
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    PAUSELESS = 256 /* polls before the loop pauses between them */,
    CLOCK_EVERY = 32 /* polls a look at the clock, and a yield */,
    CROWDED_NS = 1500 /* a yield with nobody to yield to takes less */,
    HOGGED_NS = 500000 /* a yield among ranks that all wait takes less */,
    HOGGED_WAITS = 16,
    CROWDED_WAITS = 64
};

static struct ku_knob rows[] = {
    { .name = "SPIN_US",
      .type = KU_KNOB_INT,
      .def = "100",
      .unit = "us",
      .min = 0,
      .max = 10000000,
      .help =
          "how long a waiting rank polls before it steps aside; unless set, 0 when ranks outnumber cores" },
    { .name = "YIELDS",
      .type = KU_KNOB_INT,
      .def = "20",
      .unit = "",
      .min = 0,
      .max = 1000000,
      .help = "how often a waiting rank lets others run on its core before it sleeps" },
};
static struct ku_knob_table knobs = { .rows = rows, .n = 2 };

struct ku_wait_policy ku_wait_policy = { .spin_ns = 0, .yields = 20 };

/* Does membarrier reach the senders?  Without it a sleeper relies on the senders' fences (fence_all). */
static _Atomic bool has_membarrier;
/* A membarrier that once worked was refused: sleeps become short naps, so that a lost wake costs time, not the job. */
static _Atomic bool must_nap;

void ku_wait_init(uint32_t ranks, uint32_t cpus)
{
    ku_knob_register(&knobs);
    ku_wait_policy.spin_ns = (uint32_t)ku_knob_int("SPIN_US") * 1000u;
    if (ranks > cpus && !ku_knob_is_set("SPIN_US"))
        ku_wait_policy.spin_ns = 0;
    ku_wait_policy.yields = (uint32_t)ku_knob_int("YIELDS");
}

bool ku_wait_register(void)
{
    has_membarrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
    return has_membarrier;
}

static void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

/* What the last yields told of this core; both count down from wait to wait.
 * crowded: somebody else ran, so whoever is waited for may sit on this very core, whatever the census says (other jobs
 *          share the machine): yield at once instead of polling.
 * hogged:  somebody ran for long, who computes and does not step aside: sleep at once, because a wake-up takes the core
 *          from him and a yield waits for the end of his time slice. */
static _Atomic int crowded, hogged;

static void count_down(_Atomic int *counter)
{
    int c = atomic_load_explicit(counter, memory_order_relaxed);
    if (c > 0)
        atomic_store_explicit(counter, c - 1, memory_order_relaxed);
}

/* sched_yield, and learn from how long it took. */
static void yield(uint64_t now)
{
    uint64_t took;
    sched_yield();
    took = ku_clock_ns() - now;
    if (took > HOGGED_NS)
        atomic_store_explicit(&hogged, HOGGED_WAITS, memory_order_relaxed);
    if (took > CROWDED_NS)
        atomic_store_explicit(&crowded, CROWDED_WAITS, memory_order_relaxed);
    else
        count_down(&crowded);
}

static bool may_spin(struct ku_wait *w)
{
    uint64_t now;
    if (ku_wait_policy.spin_ns == 0)
        return false;
    if (atomic_load_explicit(&crowded, memory_order_relaxed) == 0) {
        if (w->spins++ < PAUSELESS)
            return true;
        pause_cpu();
        if (w->spins % CLOCK_EVERY)
            return true;
    }
    if (atomic_load_explicit(&hogged, memory_order_relaxed))
        return false;
    now = ku_clock_ns();
    if (w->spin_until == 0)
        w->spin_until = now + ku_wait_policy.spin_ns;
    yield(now);
    return now < w->spin_until;
}

enum ku_wait_step ku_wait_step(struct ku_wait *w)
{
    if (may_spin(w))
        return KU_WAIT_AGAIN;
    if (atomic_load_explicit(&hogged, memory_order_relaxed)) {
        count_down(&hogged);
        return KU_WAIT_SLEEP;
    }
    if (w->yields >= ku_wait_policy.yields)
        return KU_WAIT_SLEEP;
    w->yields++;
    yield(ku_clock_ns());
    return KU_WAIT_AGAIN;
}

void ku_wait_prepare(_Atomic uint32_t *sleeping, bool fence_all)
{
    atomic_store_explicit(sleeping, 1, memory_order_seq_cst);
    atomic_thread_fence(memory_order_seq_cst);
    /* Even when all senders fence by now: one that looked at fence_all long ago may not yet. */
    if (atomic_load_explicit(&has_membarrier, memory_order_relaxed) &&
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) != 0 && !fence_all)
        must_nap = true;
}

void ku_wait_cancel(_Atomic uint32_t *sleeping)
{
    atomic_store_explicit(sleeping, 0, memory_order_relaxed);
}

void ku_wait_sleep(_Atomic uint32_t *sleeping, int timeout_ms)
{
    struct timespec t, *tp = NULL;
    if (must_nap && (timeout_ms < 0 || timeout_ms > 1))
        timeout_ms = 1;
    if (timeout_ms >= 0) {
        t = (struct timespec){ timeout_ms / 1000, timeout_ms % 1000 * 1000000l };
        tp = &t;
    }
    if (atomic_load_explicit(sleeping, memory_order_relaxed) == 1)
        syscall(SYS_futex, sleeping, FUTEX_WAIT, 1, tp, NULL, 0);
    ku_wait_cancel(sleeping);
}

void ku_wait_wake_slow(_Atomic uint32_t *sleeping)
{
    uint32_t one = 1;
    if (atomic_compare_exchange_strong(sleeping, &one, 0))
        syscall(SYS_futex, sleeping, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
