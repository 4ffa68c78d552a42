/* SPDX-License-Identifier: BSD-3-Clause */
/* The device lock, and the threads that wait without it; see thread.h. */
#include "core.h"
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "thread.h"
#include "util/clock.h"
#include "util/lock.h"

enum {
    LOOKS = 200 /* at the lock before sleeping */,
    TURNS = 4 /* yields after these */,
    KEPT = 32 /* looks of the driver before it gives the lock away for the first time */,
    LONG_NS = 400000000 /* after so much of a wait it finds out where it is, for a report */
};
enum { FREE, HELD, WANTED /* held, and somebody sleeps for it */ };
/* So many takings by one thread, and by no other, after which the lock is biased to it; twice as many with each
 * revocation. */
enum { STREAK = 256, STREAK_MOST = 1 << 16 };

/* A thread that waits for the driver to tell it: it runs, and looks itself whether somebody drives; it sleeps. */
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

enum { SEATS = 32 };
static struct ku_seat seats[SEATS];
static pthread_key_t seat_key;

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
    /* with the word */
    struct ku_seat *biased; /* who was the last one it was biased to: may still be inside */
    const void *taker;      /* who took the word last, to hold it */
    uint32_t streak, patience, biases;
    bool has_key, may_bias;
    /* with the lock */
    uint32_t depth;
    _Atomic uint32_t looks; /* of threads of the program at the devices, where they wait or ask */
    _Atomic(const void *) driver;
    struct {
        _Atomic uint32_t begun, ended; /* only go up */
    } quiet;
    _Atomic bool aside; /* the driver lets others of its core run */
    const char *driver_call;
    bool asleep; /* the driver */
    uint32_t events, settled;
    struct parked *first, *last, *heir;
} threads;

/* Its address is the thread's name. */
static _Thread_local char self __attribute__((tls_model("initial-exec")));

/* Where this thread waits, once it has waited for LONG_NS.  By the stack: what is left in MPID_Call_name may be of
 * an earlier call. */
static _Thread_local struct {
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

/* The lock has a word, and it may be biased to a thread: that one takes it without an atomic instruction, by
 * saying that it is inside, while no other thread calls MPI.  Another one takes the word, revokes the bias, and
 * waits until that thread has left.  Either the thread sees, once inside, that its bias is gone, or the other one
 * sees that it is inside: the membarrier between the two accesses of the other one stands for a fence in the
 * thread's (tests/model/bias.pml).  Who holds the word while nobody is inside has the lock. */

static bool is_inside(const struct ku_seat *p)
{
    return atomic_load_explicit(&p->inside, memory_order_acquire) != 0;
}

static struct ku_seat *biased_to(void)
{
    return atomic_load_explicit(&ku_bias.to, memory_order_relaxed);
}

static void bias_to(struct ku_seat *seat)
{
    atomic_store_explicit(&ku_bias.to, seat, memory_order_relaxed);
}

/* By the bias: so often it has been taken, or is to be. */
static uint32_t depth_inside(void)
{
    return KU_BIASED ? atomic_load_explicit(&ku_seat->inside, memory_order_relaxed) : 0;
}

static bool enter_biased(uint32_t depth)
{
    struct ku_seat *s = ku_seat;
    if (s == &ku_no_seat)
        return false;
    if (unlikely(!ku_seat_says(s, depth))) {
        ku_seat_lost(s);
        return false;
    }
    ku_lock_takes(KU_LOCK_DEVICE);
    return true;
}

/* The word is held.  Afterwards nobody comes in by the bias; who has been inside may still be. */
static void revoke_bias(void)
{
    if (biased_to() == NULL)
        return;
    bias_to(NULL);
    threads.streak = 0;
    if (threads.patience < STREAK_MOST)
        threads.patience *= 2;
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) {
        threads.may_bias = false; /* though it has worked; within this time any store becomes visible */
        nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
    }
}

static bool try_word(void)
{
    uint32_t is = FREE;
    return atomic_load_explicit(&threads.lock, memory_order_relaxed) == FREE &&
           atomic_compare_exchange_strong_explicit(&threads.lock, &is, HELD, memory_order_acquire,
                                                   memory_order_relaxed);
}

static void leave_word(void)
{
    if (atomic_exchange_explicit(&threads.lock, FREE, memory_order_release) == WANTED)
        wake(&threads.lock);
}

static __attribute__((noinline)) void wait_for_word(void)
{
    atomic_fetch_add_explicit(&threads.contenders, 1, memory_order_relaxed);
    for (int i = 0; i < LOOKS + TURNS; i++) {
        if (try_word())
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

static void wait_for_inside(void)
{
    _Atomic uint32_t *inside = &threads.biased->inside;
    uint32_t depth;
    atomic_fetch_add_explicit(&threads.contenders, 1, memory_order_relaxed);
    for (int i = 0; i < LOOKS && is_inside(threads.biased); i++)
        ku_wait_pause();
    /* It may be taken more often, or less often, meanwhile. */
    while ((depth = atomic_load_explicit(inside, memory_order_acquire)) != 0)
        sleep_on(inside, depth, -1);
    atomic_fetch_sub_explicit(&threads.contenders, 1, memory_order_relaxed);
}

/* The word is held, and the bias is in force, if perhaps revoked.  False: somebody is inside, and is not waited for. */
static __attribute__((noinline)) bool end_bias(bool wait)
{
    if (!wait && is_inside(threads.biased))
        return false;
    revoke_bias();
    if (wait)
        wait_for_inside();
    else if (is_inside(threads.biased))
        return false;
    atomic_store_explicit(&ku_bias_in_force, false, memory_order_release);
    MPID_Lanes_tune();
    return true;
}

/* A thread keeps its seat until it ends. */
static bool find_seat(void)
{
    struct ku_seat *s = pthread_getspecific(seat_key);
    for (int i = 0; s == NULL && i < SEATS; i++) {
        bool used = false;
        if (!atomic_compare_exchange_strong(&seats[i].used, &used, true))
            continue;
        if (pthread_setspecific(seat_key, &seats[i]) == 0)
            s = &seats[i];
        else
            atomic_store(&seats[i].used, false);
        break;
    }
    if (s != NULL)
        ku_seat = s;
    return s != NULL;
}

static __attribute__((noinline)) void bias(void)
{
    threads.streak = 0;
    if (!threads.may_bias || !find_seat())
        return;
    threads.biased = ku_seat;
    atomic_store_explicit(&ku_bias_in_force, true, memory_order_relaxed);
    bias_to(ku_seat);
    atomic_thread_fence(memory_order_seq_cst); /* between that and its looks at lanes */
    for (const struct peer *p = MPID_core.peers.first; p != NULL; p = p->next_used)
        while (p->lane.taken != NULL && atomic_load_explicit(p->lane.taken, memory_order_acquire))
            sched_yield();
    if (!MPID_Fresh_end()) { /* another thread is here */
        bias_to(NULL);
        atomic_store_explicit(&ku_bias_in_force, false, memory_order_release);
        return;
    }
    threads.biases++;
    MPID_Lanes_tune();
}

static void take_by_word(void)
{
    if (!try_word())
        wait_for_word();
    if (atomic_load_explicit(&ku_bias_in_force, memory_order_relaxed))
        end_bias(true);
    threads.streak = threads.taker == &self ? threads.streak + 1 : 0;
    threads.taker = &self;
}

static void hold(uint32_t depth)
{
    ku_lock_takes(KU_LOCK_DEVICE);
    atomic_store_explicit(&threads.holder, &self, memory_order_relaxed);
    threads.depth = depth;
    fresh_take();
}

static void take(uint32_t depth)
{
    if (enter_biased(depth))
        return;
    take_by_word();
    hold(depth);
}

/* False: somebody has it. */
static bool try_take(void)
{
    if (enter_biased(1))
        return true;
    if (!try_word())
        return false;
    if (atomic_load_explicit(&ku_bias_in_force, memory_order_relaxed) && !end_bias(false)) {
        leave_word();
        return false;
    }
    hold(1);
    return true;
}

static void release(void)
{
    if (depth_inside() > 0) {
        ku_seat_leave(ku_seat);
    } else {
        atomic_store_explicit(&threads.holder, NULL, memory_order_relaxed);
        if (threads.streak >= threads.patience)
            bias();
        leave_word();
    }
    ku_lock_left(KU_LOCK_DEVICE);
}

static void give_seat_back(void *p)
{
    ku_seat = &ku_no_seat;
    atomic_store(&((struct ku_seat *)p)->used, false);
}

/* The library may be unloaded before its threads end. */
__attribute__((destructor)) static void end_seats(void)
{
    if (threads.has_key)
        pthread_key_delete(seat_key);
}

void MPID_Thread_begin(void)
{
    static bool begun;
    if (begun)
        return;
    begun = true;
    threads.patience = STREAK;
    threads.has_key = pthread_key_create(&seat_key, give_seat_back) == 0;
    threads.may_bias =
        threads.has_key && syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

static const void *driver(void)
{
    return atomic_load_explicit(&threads.driver, memory_order_relaxed);
}

/* After each change of these. */
static void tell_waited(void)
{
    ku_bias.waited = threads.first != NULL || threads.asleep || driver() != NULL;
}

static void set_driver(const void *thread)
{
    atomic_store_explicit(&threads.driver, thread, memory_order_relaxed);
    tell_waited();
}

static void set_asleep(bool asleep)
{
    threads.asleep = asleep;
    tell_waited();
}

void MPID_Thread_more(void)
{
    if (threads.asleep)
        MPID_Thread_event();
}

/* How often the caller has taken the lock. */
static uint32_t depth_of_mine(void)
{
    uint32_t depth = depth_inside();
    if (depth == 0 && atomic_load_explicit(&threads.holder, memory_order_relaxed) == &self)
        depth = threads.depth;
    return depth;
}

static void set_depth(uint32_t depth)
{
    if (depth_inside() > 0)
        atomic_store_explicit(&ku_seat->inside, depth, memory_order_relaxed);
    else
        threads.depth = depth;
}

/* ---- The parked ---- */

uint32_t MPID_Thread_events(void)
{
    return threads.events + MPID_core.completions + MPID_Request_errors + (uint32_t)MPID_core.peers.losses;
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
    tell_waited();
}

static void unlist(struct parked *p)
{
    *(p->before != NULL ? &p->before->next : &threads.first) = p->next;
    *(p->next != NULL ? &p->next->before : &threads.last) = p->before;
    p->listed = false;
    tell_waited();
}

/* An operation of several steps may be complete as soon as somebody looks. */
static bool may_be_done(struct MPIR_HANDLE *r)
{
    return r == NULL || req_is_complete(r) || (r->handle_type >= MPIR_USER && r->handle_type <= MPIR_IO);
}

static bool may_go_on(const struct parked *p)
{
    const struct MPID_Waited *w = p->what.waited;
    if (p->errors != MPID_Request_errors || p->gone != MPID_core.peers.losses)
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

/* Does one of them run?  After the driver's leaving: either it is seen here, or it sees that nobody drives
 * (tests/model/park.pml). */
static bool one_is_awake(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    for (const struct parked *p = threads.first; p != NULL; p = p->next)
        if (atomic_load_explicit(&p->word, memory_order_relaxed) == WAITS)
            return true;
    return false;
}

/* Invariant 3. */
static void find_driver(struct wakes *wakes)
{
    if (driver() != NULL || threads.heir != NULL || threads.first == NULL || one_is_awake())
        return;
    threads.heir = threads.first;
    call(threads.heir, wakes);
}

static __attribute__((noinline)) void give_and_wake(bool sleeps)
{
    struct wakes wakes = { .n = 0 };
    settle(&wakes);
    find_driver(&wakes);
    if (sleeps)
        set_asleep(true);
    release();
    for (int i = 0; i < wakes.n; i++)
        wake(wakes.word[i]); /* of a thread that has gone on meanwhile: harmless */
    if (wakes.driver)
        ku_wait_wake(&ku_segment_rank(&MPID_core.job.segment, (uint32_t)MPID_core.job.local_rank)->sleeping,
                     true);
}

/* `sleeps`: who drives, from now on. */
static void give(bool sleeps)
{
    if (unlikely(threads.first != NULL || threads.asleep || sleeps))
        give_and_wake(sleeps);
    else
        release();
}

uint32_t MPID_Thread_biases(void)
{
    return threads.biases;
}

int MPID_Thread_waiting(const char **call)
{
    int n = driver() != NULL && driver() != &self;
    *call = n > 0 ? threads.driver_call : NULL;
    for (const struct parked *p = threads.first; p != NULL; p = p->next, n++)
        *call = *call != NULL ? *call : p->call;
    return n;
}

/* ---- Calls ---- */

void MPID_Thread_enter(void)
{
    uint32_t depth = depth_of_mine();
    if (depth > 0)
        set_depth(depth + 1);
    else
        take(1);
}

void MPID_Thread_alone(void)
{
    if (atomic_load_explicit(&threads.holder, memory_order_relaxed) == &self)
        threads.streak = threads.patience;
}

void MPID_Thread_quiet(bool begins)
{
    atomic_fetch_add(begins ? &threads.quiet.begun : &threads.quiet.ended, 1);
}

static bool is_taken(void)
{
    const void *holder = atomic_load_explicit(&threads.holder, memory_order_relaxed);
    const struct ku_seat *seat = atomic_load_explicit(&ku_bias.to, memory_order_relaxed);
    return (holder != NULL && holder != &self) || (seat != NULL && seat != ku_seat && is_inside(seat));
}

/* If no quiet one was there at the first two looks, and none has begun at the last, it is not one of them who has
 * it. */
bool MPID_Thread_busy(void)
{
    uint32_t ended = atomic_load(&threads.quiet.ended), begun = atomic_load(&threads.quiet.begun);
    return ended == begun && is_taken() && atomic_load(&threads.quiet.begun) == begun;
}

void MPID_Thread_come_in(void)
{
    if (depth_of_mine() == 0)
        take(1);
}

bool MPID_Thread_try_enter(void)
{
    uint32_t depth = depth_of_mine();
    if (depth > 0)
        set_depth(depth + 1);
    return depth > 0 || try_take();
}

static uint32_t looks_now(void)
{
    return atomic_load_explicit(&threads.looks, memory_order_relaxed);
}

void MPID_Thread_looks(void)
{
    ku_lock_needs(KU_LOCK_DEVICE);
    atomic_store_explicit(&threads.looks, looks_now() + 1, memory_order_relaxed);
}

/* It looks before it takes the lock, too: that would revoke the bias of a thread that is in MPI again and again. */
bool MPID_Thread_help(uint32_t *seen)
{
    if (looks_now() != *seen) {
        *seen = looks_now();
        return false;
    }
    if (driver() != NULL || !try_take())
        return false;
    if (looks_now() == *seen && driver() == NULL && threads.first == NULL)
        return true;
    *seen = looks_now();
    MPID_Thread_leave();
    return false;
}

void MPID_Thread_leave(void)
{
    uint32_t depth = depth_of_mine();
    if (depth == 0)
        return;
    if (depth > 1) {
        set_depth(depth - 1);
        return;
    }
    if (driver() == &self)
        set_driver(NULL);
    give(false);
}

/* Who drives goes on to. */
static uint32_t give_all(void)
{
    uint32_t depth = depth_of_mine();
    if (depth > 0)
        give(false);
    return depth;
}

uint32_t MPID_Thread_suspend(void)
{
    if (driver() == &self)
        set_driver(NULL);
    return give_all();
}

void MPID_Thread_resume(uint32_t depth)
{
    if (depth > 0)
        take(depth);
}

/* ---- Waiting ---- */

static bool is_aside(void)
{
    return atomic_load_explicit(&threads.aside, memory_order_relaxed);
}

/* A driver that lets others run may be on the caller's core, and come back late: the caller, who runs, drives on. */
bool MPID_Thread_drive(void)
{
    if (driver() == NULL || (is_aside() && driver() != &self)) {
        set_driver(&self);
        atomic_store_explicit(&threads.aside, false, memory_order_relaxed);
        threads.driver_call = MPID_Call_name;
    }
    return driver() == &self;
}

static void find_place(struct parked *p, const struct ku_wait *w)
{
    if (w == NULL || w->since == 0)
        place.call = NULL, place.caller = 0;
    else if (place.caller == 0 && ku_clock_ns() - w->since > LONG_NS)
        place.caller = MPID_Find_caller(&place.call);
    p->call = place.call != NULL ? place.call : MPID_Call_name;
    p->caller = place.caller;
}

void MPID_Thread_report(void)
{
    for (struct parked *p = threads.first; p != NULL; p = p->next)
        MPID_Report_thread(p->call, p->caller, &p->what);
}

/* Until it is called, or nobody drives, or the driver may be on this core, or asleep for so long. */
static void await_call(struct parked *p, struct ku_wait *w, int most_ms)
{
    uint32_t waits = WAITS;
    while (atomic_load_explicit(&p->word, memory_order_acquire) == WAITS) {
        if (driver() == NULL || is_aside())
            return;
        if (w != NULL && ku_wait_step(w) == KU_WAIT_AGAIN)
            continue;
        if (atomic_compare_exchange_strong(&p->word, &waits, SLEEPS) &&
            atomic_load(&threads.driver) != NULL) {
            if (w != NULL && w->since == 0)
                w->since = ku_clock_ns();
            sleep_on(&p->word, SLEEPS, most_ms);
        }
        return;
    }
}

int MPID_Thread_park(struct MPIR_HANDLE *r, const struct team *team, struct ku_wait *w, int most_ms)
{
    struct parked p = { .what = { r, team, &MPID_Probing, &MPID_Waited },
                        .errors = MPID_Request_errors,
                        .gone = MPID_core.peers.losses };
    uint32_t before = MPID_Thread_events(), depth;
    find_place(&p, w);
    list(&p);
    depth = give_all();
    await_call(&p, w, most_ms);
    if (w != NULL && atomic_load_explicit(&p.word, memory_order_relaxed) == CALLED)
        ku_wait_reset(w);
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

/* A message from another core comes sooner than the lock is given away and taken again. */
static bool may_keep(struct ku_wait *w)
{
    if (w->spins >= KEPT || ku_wait_policy.spin_ns == 0 || MPID_Thread_events() != threads.settled ||
        atomic_load_explicit(&threads.contenders, memory_order_relaxed) != 0)
        return false;
    w->spins++;
    ku_wait_pause();
    return true;
}

enum ku_wait_step MPID_Thread_step(struct ku_wait *w)
{
    if (may_keep(w))
        return KU_WAIT_AGAIN;
    bool wanted = atomic_load_explicit(&threads.contenders, memory_order_relaxed) != 0;
    w->aside = driver() == &self ? &threads.aside : NULL;
    uint32_t depth = give_all();
    enum ku_wait_step step = ku_wait_step(w);
    w->aside = NULL;
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
    uint32_t depth = needs_some(MPID_NEEDS_THREADS) ? depth_of_mine() : 0;
    if (depth > 0)
        give(true);
    return depth;
}

void MPID_Thread_rise(uint32_t depth)
{
    MPID_Thread_resume(depth);
    if (depth > 0)
        set_asleep(false);
}
