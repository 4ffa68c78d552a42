/* SPDX-License-Identifier: BSD-3-Clause */
/* The device lock and the threads that wait without it: no wake-up is lost, whoever completes a request; somebody
 * always drives; what is done with the lock is done by one at a time. */
#include <check.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "core.h"
#include "thread.h"

enum { THREADS = 6, ROUNDS = 4000, LATE_MS = 20000 };

static struct MPIR_HANDLE request[THREADS];
static _Atomic int arrived[THREADS]; /* what a device would have for it */
static _Atomic int over, late;
static int alone; /* written with the lock only */
static void *segment;

static _Atomic uint32_t *word(void)
{
    return &ku_segment_rank(&MPID_core.job.segment, 0)->sleeping;
}

/* As MPID_Progress, from a device without memory of others. */
static int look(void)
{
    int n = 0;
    for (int i = 0; i < THREADS; i++)
        if (atomic_exchange(&arrived[i], 0)) {
            req_complete(&request[i]);
            n++;
        }
    if (n > 0)
        MPID_Thread_event();
    return n;
}

static void sleep_driving(void)
{
    struct timespec most = { LATE_MS / 1000, 0 };
    atomic_store(word(), KU_ASLEEP);
    if (look() == 0) {
        uint32_t depth = MPID_Thread_lie_down();
        if (atomic_load(word()) == KU_ASLEEP &&
            syscall(SYS_futex, word(), FUTEX_WAIT, KU_ASLEEP, &most, NULL, 0) != 0 && errno == ETIMEDOUT)
            atomic_fetch_add(&late, 1);
        MPID_Thread_rise(depth);
    }
    atomic_store(word(), KU_AWAKE);
}

/* As MPID_Wait_request. */
static void wait_for(struct MPIR_HANDLE *r)
{
    struct ku_wait w = { 0 };
    while (!req_is_complete(r)) {
        uint32_t before = MPID_Thread_events();
        if (look() > 0) {
            MPID_Thread_yield();
        } else if (!MPID_Thread_drive()) {
            MPID_Thread_park(r, NULL, &w, LATE_MS);
        } else if (MPID_Thread_step(&w) == KU_WAIT_SLEEP && before == MPID_Thread_events() &&
                   MPID_Thread_drive()) {
            sleep_driving();
            ku_wait_reset(&w);
        }
    }
}

static void enter(void)
{
    MPID_Thread_enter();
    ck_assert_int_eq(alone++, 0);
}

static void leave(void)
{
    alone--;
    MPID_Thread_leave();
}

static void *work(void *arg)
{
    int me = (int)(intptr_t)arg;
    unsigned seed = (unsigned)me;
    for (int i = 0; i < ROUNDS; i++) {
        enter();
        request[me].state = REQ_POSTED;
        atomic_store(&request[me].is_complete, 0);
        if (i % 7 == 0) /* another one's, as by a message of this process to itself */
            atomic_store(&arrived[(me + 1) % THREADS], 1);
        leave();
        MPID_Thread_enter();
        MPID_Thread_enter(); /* as the layers above and below the core do */
        wait_for(&request[me]);
        MPID_Thread_leave();
        MPID_Thread_leave();
        if (rand_r(&seed) % 16 == 0)
            sched_yield();
    }
    return NULL;
}

/* Others: each message, then a look at who sleeps. */
static void *device(void *arg)
{
    unsigned seed = 7;
    (void)arg;
    while (!atomic_load(&over)) {
        atomic_store(&arrived[(unsigned)rand_r(&seed) % THREADS], 1);
        ku_wait_wake(word(), true);
        if (rand_r(&seed) % 4 == 0)
            sched_yield();
    }
    return NULL;
}

START_TEST(nobody_waits_in_vain)
{
    pthread_t t[THREADS], other;
    const char *call;
    MPID_core.needs = MPID_NEEDS_THREADS;
    MPID_Thread_begin();
    MPID_core.job.segment.head = segment = calloc(1, 1 << 20);
    ck_assert(segment != NULL);
    pthread_create(&other, NULL, device, NULL);
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    atomic_store(&over, 1);
    pthread_join(other, NULL);
    ck_assert_int_eq(atomic_load(&late), 0);
    ck_assert_int_eq(MPID_Thread_waiting(&call), 0);
    free(segment);
}
END_TEST

START_TEST(given_away_and_taken_again)
{
    MPID_Thread_enter();
    MPID_Thread_enter();
    uint32_t depth = MPID_Thread_suspend();
    ck_assert_uint_eq(depth, 2);
    ck_assert_uint_eq(MPID_Thread_suspend(), 0);
    ck_assert(MPID_Thread_try_enter());
    MPID_Thread_leave();
    MPID_Thread_resume(depth);
    MPID_Thread_leave();
    MPID_Thread_leave();
    ck_assert_uint_eq(MPID_Thread_suspend(), 0);
}
END_TEST

/* Of a procedure that began without the lock, and has it from its middle on. */
START_TEST(come_in_once)
{
    MPID_Thread_leave();
    MPID_Thread_come_in();
    MPID_Thread_come_in();
    MPID_Thread_enter();
    ck_assert_uint_eq(MPID_Thread_suspend(), 2);
    MPID_Thread_resume(2);
    MPID_Thread_leave();
    MPID_Thread_leave();
    ck_assert_uint_eq(MPID_Thread_suspend(), 0);
}
END_TEST

static bool has_bias(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) & MEMBARRIER_CMD_PRIVATE_EXPEDITED;
}

static void *ask_if_busy(void *busy)
{
    *(bool *)busy = MPID_Thread_busy();
    return NULL;
}

static bool is_busy_for_another(void)
{
    pthread_t thread;
    bool busy = false;
    ck_assert_int_eq(pthread_create(&thread, NULL, ask_if_busy, &busy), 0);
    pthread_join(thread, NULL);
    return busy;
}

/* Another thread sees who has the lock, whether by a bias or not, but not who is quiet. */
START_TEST(seen_by_another)
{
    MPID_Thread_begin();
    uint32_t biases = MPID_Thread_biases() + has_bias();
    for (int i = 0; i < 2; i++) {
        ck_assert(!is_busy_for_another());
        MPID_Thread_enter();
        ck_assert(!MPID_Thread_busy());
        ck_assert(is_busy_for_another());
        MPID_Thread_quiet(true);
        ck_assert(!is_busy_for_another());
        MPID_Thread_quiet(false);
        MPID_Thread_alone();
        MPID_Thread_leave();
        ck_assert_uint_eq(MPID_Thread_biases(), biases);
    }
}
END_TEST

/* One thread calls all the time; the others do so now and then, or try. */
enum { NOW_AND_THEN = 40 };
static _Atomic int visits, crowds;

/* (No ck_assert here: it writes to a pipe.) */
static void visit(bool stays)
{
    if (alone++ != 0)
        atomic_fetch_add(&crowds, 1);
    if (stays)
        sched_yield();
    alone--;
}

static void *calls_often(void *arg)
{
    int turns = *(const int *)arg;
    for (int i = 0; i < turns || atomic_load(&visits) < 2 * NOW_AND_THEN; i++) {
        MPID_Thread_enter();
        if (i % 2)
            MPID_Thread_enter();
        visit(i % 8 == 0); /* long enough for others to come */
        if (i % 2)
            MPID_Thread_leave();
        MPID_Thread_leave();
    }
    return arg;
}

static void *calls_now_and_then(void *arg)
{
    uint32_t seen = 0;
    for (int i = 0; i < NOW_AND_THEN; i++) {
        nanosleep(&(struct timespec){ 0, 200000 }, NULL);
        if (arg != NULL)
            MPID_Thread_enter();
        while (arg == NULL && !(i % 2 ? MPID_Thread_try_enter() : MPID_Thread_help(&seen)))
            sched_yield();
        visit(false);
        atomic_fetch_add(&visits, 1);
        MPID_Thread_leave();
    }
    return arg;
}

START_TEST(biased_to_who_is_alone)
{
    pthread_t often, other[2];
    int turns = 400000;
    if (!has_bias()) {
        puts("skipped: this kernel has no membarrier, so there is no bias");
        return;
    }
    MPID_Thread_begin();
    pthread_create(&often, NULL, calls_often, &turns);
    pthread_create(&other[0], NULL, calls_now_and_then, NULL);
    pthread_create(&other[1], NULL, calls_now_and_then, &visits);
    pthread_join(other[0], NULL);
    pthread_join(other[1], NULL);
    pthread_join(often, NULL);
    uint32_t biases = MPID_Thread_biases();
    ck_assert_uint_gt(biases, 1);
    /* Seats are given back: more threads than there are have one after the other. */
    turns = 70000;
    for (int i = 0; i < 40; i++) {
        pthread_create(&often, NULL, calls_often, &turns);
        pthread_join(often, NULL);
    }
    ck_assert_uint_eq(MPID_Thread_biases(), biases + 40);
    ck_assert_int_eq(crowds, 0);
    ck_assert_int_eq(alone, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("thread");
    TCase *c = tcase_create("thread");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, given_away_and_taken_again);
    tcase_add_test(c, come_in_once);
    tcase_add_test(c, seen_by_another);
    tcase_add_test(c, nobody_waits_in_vain);
    suite_add_tcase(s, c);
    c = tcase_create("bias");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, biased_to_who_is_alone);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
