/* The device lock, and the threads that wait without it; see thread.h. */
#include "core.h"
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "thread.h"
#include "util/lock.h"

enum {
    LOOKS = 200 /* at the lock, or at the own word, before sleeping */,
    TURNS = 4 /* yields after these */,
    LONG_MS = 400 /* after so much of a wait it finds out where it is, for a report */
};
enum { FREE, HELD, WANTED /* held, and somebody sleeps for it */ };

/* A thread that waits for the driver to tell it. */
enum { WAITS, SLEEPS, CALLED };
struct parked {
    struct parked *next, *before;
    _Atomic uint32_t word;
    struct core_waits what;
    const char *call;
    uint64_t caller; /* 0: not known */
    uint32_t errors;
    int32_t gone;
    bool listed;
};

/* Words to be woken when the lock is free. */
enum { WAKE_MOST = 16 };
struct wakes {
    _Atomic uint32_t *word[WAKE_MOST];
    int n;
    bool driver;
};

static struct {
    _Alignas(64) _Atomic uint32_t lock;
    _Atomic uint32_t contenders;
    _Alignas(64) _Atomic(const void *) holder;
    /* with the lock */
    uint32_t depth;
    uint32_t looks; /* of threads of the program at the devices, where they wait or ask */
    const void *driver;
    const char *driver_call;
    bool asleep; /* the driver */
    uint32_t events, settled;
    struct parked *first, *last, *heir;
} threads;

/* Its address is the thread's name. */
static _Thread_local char self __attribute__((tls_model("initial-exec")));

/* Where this thread waits, once it has waited for LONG_MS.  By the stack: what is left in MPID_Call_name may be of an earlier call. */
static _Thread_local struct {
    int ms; /* for so long by now, one turn after the other */
    const char *call;
    uint64_t caller;
} place __attribute__((tls_model("initial-exec")));

/* ---- The lock ---- */

static void sleep_on(_Atomic uint32_t *word, uint32_t is, int most_ms)
{
    struct timespec t = { most_ms / 1000, most_ms % 1000 * 1000000l };
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, is, most_ms >= 0 ? &t : NULL, NULL, 0);
}

static void wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static bool try_lock(void)
{
    uint32_t is = FREE;
    return atomic_load_explicit(&threads.lock, memory_order_relaxed) == FREE &&
           atomic_compare_exchange_strong_explicit(&threads.lock, &is, HELD, memory_order_acquire,
                                                   memory_order_relaxed);
}

static __attribute__((noinline)) void lock_slow(void)
{
    atomic_fetch_add_explicit(&threads.contenders, 1, memory_order_relaxed);
    for (int i = 0; i < LOOKS + TURNS; i++) {
        if (try_lock())
            goto held;
        if (i < LOOKS)
            ku_wait_pause();
        else
            sched_yield();
    }
    while (atomic_exchange_explicit(&threads.lock, WANTED, memory_order_acquire) != FREE)
        sleep_on(&threads.lock, WANTED, -1);
held:
    atomic_fetch_sub_explicit(&threads.contenders, 1, memory_order_relaxed);
}

static void hold(uint32_t depth)
{
    ku_lock_takes(KU_LOCK_DEVICE);
    atomic_store_explicit(&threads.holder, &self, memory_order_relaxed);
    threads.depth = depth;
}

static void take(uint32_t depth)
{
    if (!try_lock())
        lock_slow();
    hold(depth);
}

static bool is_mine(void)
{
    return atomic_load_explicit(&threads.holder, memory_order_relaxed) == &self;
}

/* ---- The parked ---- */

uint32_t MPID_Thread_events(void)
{
    return threads.events + MPID_core.completions + MPID_Request_errors + (uint32_t)MPID_core.peers.ngone;
}

void MPID_Thread_event(void)
{
    threads.events++;
}

static void list(struct parked *p)
{
    p->next = NULL;
    p->before = threads.last;
    *(threads.last != NULL ? &threads.last->next : &threads.first) = p;
    threads.last = p;
    p->listed = true;
}

static void unlist(struct parked *p)
{
    *(p->before != NULL ? &p->before->next : &threads.first) = p->next;
    *(p->next != NULL ? &p->next->before : &threads.last) = p->before;
    p->listed = false;
}

/* An operation of several steps may be complete as soon as somebody looks. */
static bool may_be_done(struct MPIR_HANDLE *r)
{
    return r == NULL || req_is_complete(r) || (r->handle_type >= MPIR_USER && r->handle_type <= MPIR_IO);
}

static bool may_go_on(const struct parked *p)
{
    const struct MPID_Waited *w = p->what.waited;
    if (p->errors != MPID_Request_errors || p->gone != MPID_core.peers.ngone)
        return true;
    if (p->what.request != NULL)
        return req_is_complete(p->what.request);
    if (w->n == 0)
        return true;
    for (int i = 0; i < w->n; i++)
        if (may_be_done(w->requests[i]))
            return true;
        else if (!w->any) /* all are waited for, so the first that is not complete */
            return false;
    return false;
}

static void call(struct parked *p, struct wakes *wakes)
{
    unlist(p);
    if (atomic_exchange_explicit(&p->word, CALLED, memory_order_release) != SLEEPS)
        return;
    if (wakes->n < WAKE_MOST)
        wakes->word[wakes->n++] = &p->word;
    else
        wake(&p->word);
}

/* Invariant 2. */
static void settle(struct wakes *wakes)
{
    bool happened = MPID_Thread_events() != threads.settled;
    threads.settled = MPID_Thread_events();
    for (struct parked *p = happened ? threads.first : NULL, *next; p != NULL; p = next) {
        next = p->next;
        if (may_go_on(p))
            call(p, wakes);
    }
    wakes->driver = threads.asleep &&
                    (happened || MPID_core.busy != NULL || MPID_core.pulls != NULL || MPID_core.gone_pending);
}

/* Invariant 3. */
static void find_driver(struct wakes *wakes)
{
    if (threads.driver == NULL && threads.heir == NULL && threads.first != NULL) {
        threads.heir = threads.first;
        call(threads.heir, wakes);
    }
}

/* `sleeps`: who drives, from now on. */
static void give(bool sleeps)
{
    struct wakes wakes = { .n = 0 };
    if (threads.first != NULL || threads.asleep) {
        settle(&wakes);
        find_driver(&wakes);
    }
    threads.asleep |= sleeps;
    atomic_store_explicit(&threads.holder, NULL, memory_order_relaxed);
    if (atomic_exchange_explicit(&threads.lock, FREE, memory_order_release) == WANTED)
        wake(&threads.lock);
    ku_lock_left(KU_LOCK_DEVICE);
    for (int i = 0; i < wakes.n; i++)
        wake(wakes.word[i]); /* of a thread that has gone on meanwhile: harmless */
    if (wakes.driver)
        ku_wait_wake(&ku_segment_rank(&MPID_core.job.segment, (uint32_t)MPID_core.job.local_rank)->sleeping,
                     true);
}

int MPID_Thread_waiting(const char **call)
{
    int n = threads.driver != NULL && threads.driver != &self;
    *call = n > 0 ? threads.driver_call : NULL;
    for (const struct parked *p = threads.first; p != NULL; p = p->next, n++)
        *call = *call != NULL ? *call : p->call;
    return n;
}

/* ---- Calls ---- */

void MPID_Thread_enter(void)
{
    if (is_mine())
        threads.depth++;
    else
        take(1);
}

bool MPID_Thread_try_enter(void)
{
    if (is_mine())
        threads.depth++;
    else if (try_lock())
        hold(1);
    else
        return false;
    return true;
}

void MPID_Thread_looks(void)
{
    threads.looks++;
}

bool MPID_Thread_help(uint32_t *seen)
{
    if (!try_lock())
        return false;
    hold(1);
    if (threads.looks == *seen && threads.driver == NULL && threads.first == NULL)
        return true;
    *seen = threads.looks;
    MPID_Thread_leave();
    return false;
}

void MPID_Thread_leave(void)
{
    if (--threads.depth > 0)
        return;
    if (threads.driver == &self)
        threads.driver = NULL;
    place.ms = 0;
    give(false);
}

/* Who drives goes on to. */
static uint32_t give_all(void)
{
    uint32_t depth = is_mine() ? threads.depth : 0;
    if (depth > 0)
        give(false);
    return depth;
}

uint32_t MPID_Thread_suspend(void)
{
    if (is_mine() && threads.driver == &self)
        threads.driver = NULL;
    return give_all();
}

void MPID_Thread_resume(uint32_t depth)
{
    if (depth > 0)
        take(depth);
}

/* ---- Waiting ---- */

bool MPID_Thread_drive(void)
{
    if (threads.driver == NULL) {
        threads.driver = &self;
        threads.driver_call = MPID_Call_name;
    }
    return threads.driver == &self;
}

static void find_place(struct parked *p)
{
    if (place.ms == 0)
        place.call = NULL, place.caller = 0;
    if (place.ms >= LONG_MS && place.caller == 0)
        place.caller = MPID_Find_caller(&place.call);
    p->call = place.call != NULL ? place.call : MPID_Call_name;
    p->caller = place.caller;
}

void MPID_Thread_report(void)
{
    for (struct parked *p = threads.first; p != NULL; p = p->next)
        MPID_Report_thread(p->call, p->caller, &p->what);
}

int MPID_Thread_park(struct MPIR_HANDLE *r, const struct team *team, int most_ms)
{
    struct parked p = { .what = { r, team, &MPID_Probing, &MPID_Waited },
                        .errors = MPID_Request_errors,
                        .gone = MPID_core.peers.ngone };
    uint32_t before = MPID_Thread_events(), waits = WAITS, depth;
    find_place(&p);
    list(&p);
    depth = give_all();
    for (int i = 0; i < LOOKS && atomic_load_explicit(&p.word, memory_order_acquire) == WAITS; i++)
        ku_wait_pause();
    if (atomic_compare_exchange_strong_explicit(&p.word, &waits, SLEEPS, memory_order_acq_rel,
                                                memory_order_acquire))
        sleep_on(&p.word, SLEEPS, most_ms);
    place.ms = atomic_load_explicit(&p.word, memory_order_relaxed) == CALLED ? 0 : place.ms + most_ms;
    take(depth);
    if (p.listed)
        unlist(&p);
    if (threads.heir == &p)
        threads.heir = NULL;
    return MPID_Thread_events() != before;
}

void MPID_Thread_yield(void)
{
    if (atomic_load_explicit(&threads.contenders, memory_order_relaxed) == 0)
        return;
    uint32_t depth = give_all();
    for (int i = 0; i < LOOKS && atomic_load_explicit(&threads.lock, memory_order_relaxed) == FREE; i++)
        ku_wait_pause();
    if (atomic_load_explicit(&threads.lock, memory_order_relaxed) == FREE)
        sched_yield();
    MPID_Thread_resume(depth);
}

enum ku_wait_step MPID_Thread_step(struct ku_wait *w)
{
    bool wanted = atomic_load_explicit(&threads.contenders, memory_order_relaxed) != 0;
    uint32_t depth = give_all();
    enum ku_wait_step step = ku_wait_step(w);
    for (int i = 0;
         wanted && i < LOOKS && atomic_load_explicit(&threads.contenders, memory_order_relaxed) != 0; i++)
        ku_wait_pause();
    if (wanted && atomic_load_explicit(&threads.contenders, memory_order_relaxed) != 0)
        sched_yield();
    MPID_Thread_resume(depth);
    return step;
}

uint32_t MPID_Thread_lie_down(void)
{
    uint32_t depth = mode_has(MPID_MODE_THREADED) && is_mine() ? threads.depth : 0;
    if (depth > 0)
        give(true);
    return depth;
}

void MPID_Thread_rise(uint32_t depth)
{
    MPID_Thread_resume(depth);
    if (depth > 0)
        threads.asleep = false;
}
