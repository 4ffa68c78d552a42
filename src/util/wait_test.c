/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "clock.h"
#include "cpus.h"
#include "err.h"
#include "knob.h"
#include "wait.h"
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
    _Alignas(64) _Atomic uint32_t sleeping, data;
    _Alignas(64) _Atomic uint32_t sleeping2, data2;
};

static struct shared *map_shared(void)
{
    return mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* Wait, asleep after one look, for *data to become `v`. */
static void await(_Atomic uint32_t *sleeping, _Atomic uint32_t *data, uint32_t v, uint32_t fences)
{
    while (atomic_load_explicit(data, memory_order_acquire) != v) {
        ku_wait_prepare(sleeping, fences);
        if (atomic_load_explicit(data, memory_order_acquire) == v)
            ku_wait_cancel(sleeping);
        else
            ku_wait_sleep(sleeping, 5000);
    }
}

/* Two processes hand a number to and fro, asleep in between: one lost wake-up would cost five seconds. */
static void ping_pong(uint32_t fences)
{
    enum { ROUNDS = 2000 };
    struct shared *s = map_shared();
    uint64_t t = ku_clock_ns();
    int status;
    pid_t child;
    ck_assert(ku_wait_register());
    child = fork();
    if (child == 0) {
        ku_wait_register();
        for (uint32_t i = 1; i <= ROUNDS; i++) {
            await(&s->sleeping, &s->data, i, fences);
            atomic_store_explicit(&s->data2, i, memory_order_release);
            ku_wait_wake(&s->sleeping2, fences != 0);
        }
        _exit(0);
    }
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        atomic_store_explicit(&s->data, i, memory_order_release);
        ku_wait_wake(&s->sleeping, fences != 0);
        await(&s->sleeping2, &s->data2, i, fences);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_lt(ku_clock_ns() - t, 4000000000u);
    munmap(s, sizeof *s);
}

START_TEST(no_wake_is_lost_with_membarrier)
{
    ping_pong(KU_FENCE_NONE);
}
END_TEST

START_TEST(no_wake_is_lost_with_fences)
{
    ping_pong(KU_FENCE_SOME);
    ping_pong(KU_FENCE_ALL);
}
END_TEST

/* Steps to the end of the ladder and the time they took; done again, for up to three seconds, while somebody who
 * computes has this core, because they may end sooner then; false if he had it all the time. */
static bool climb(int *steps, uint64_t *ns)
{
    bool hogged = true;
    for (int tries = 0; hogged && tries < 100; tries++) {
        struct ku_wait w = { 0 };
        uint64_t t = ku_clock_ns();
        hogged = ku_wait_hogged();
        for (*steps = 0; ku_wait_step(&w) == KU_WAIT_AGAIN;)
            ++*steps;
        *ns = ku_clock_ns() - t;
        hogged |= ku_wait_hogged();
        if (hogged)
            usleep(30000);
    }
    return !hogged;
}

START_TEST(the_ladder_ends_in_sleep)
{
    int steps;
    uint64_t ns;
    for (int far = 0; far < 2; far++) {
        ku_wait_init(4, 2, far);
        ck_assert_uint_eq(ku_wait_policy.spin_ns, 0);
        ck_assert_uint_gt(ku_wait_policy.awake_ns, 0);
        if (climb(&steps, &ns)) /* not for so long if somebody runs meanwhile */
            ck_assert_int_ge(steps, (int)ku_wait_policy.yields);
        ck_assert_uint_lt(ns, 2 * (uint64_t)ku_wait_policy.awake_ns + 1000000000);
    }
    ku_wait_policy.awake_ns = 0; /* as if KEEL_YIELDS were set */
    if (climb(&steps, &ns))
        ck_assert_int_eq(steps, (int)ku_wait_policy.yields);
    ck_assert_int_le(steps, (int)ku_wait_policy.yields);
    ku_wait_init(2, 2, false);
    ck_assert_uint_gt(ku_wait_policy.spin_ns, 0);
    ck_assert_uint_eq(ku_wait_policy.awake_ns, 0);
    if (climb(&steps, &ns))
        ck_assert_uint_ge(ns, ku_wait_policy.spin_ns);
}
END_TEST

START_TEST(a_sleep_ends_at_its_time_and_leaves_the_word_clear)
{
    struct shared *s = map_shared();
    uint64_t t = ku_clock_ns();
    ku_wait_prepare(&s->sleeping, false);
    ck_assert_uint_eq(s->sleeping, 1);
    ku_wait_sleep(&s->sleeping, 20);
    ck_assert_uint_ge(ku_clock_ns() - t, 19000000u);
    ck_assert_uint_eq(s->sleeping, 0);
    ck_assert_uint_ge(ku_clock_tick_ns(), 1);
    munmap(s, sizeof *s);
}
END_TEST

/* Many sleep on one word, each on its own besides. */
START_TEST(one_call_wakes_all)
{
    enum { SLEEPERS = 5, ROUNDS = 200 };
    struct sleeper {
        _Alignas(64) _Atomic uint32_t sleeping, seen;
    } *s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    _Atomic uint32_t *word = &s[SLEEPERS].seen;
    uint64_t t = ku_clock_ns();
    if (!ku_wait_can_sleep_on()) {
        ck_assert(!ku_wait_sleep_on(&s[0].sleeping, word, 0, -1));
        return;
    }
    for (int i = 0; i < SLEEPERS; i++)
        if (fork() == 0) {
            for (uint32_t v = 0; v < ROUNDS; v++) {
                while (atomic_load(word) == v) {
                    ku_wait_prepare(&s[i].sleeping, KU_FENCE_ALL);
                    ku_wait_sleep_on(&s[i].sleeping, word, v, 5000);
                }
                atomic_store(&s[i].seen, v + 1);
            }
            _exit(0);
        }
    for (uint32_t v = 0; v < ROUNDS; v++) {
        for (int i = 0; i < SLEEPERS; i++)
            while (atomic_load(&s[i].seen) < v)
                sched_yield();
        atomic_store(word, v + 1);
        ku_wait_wake_all(word);
    }
    for (int i = 0; i < SLEEPERS; i++)
        ck_assert_int_gt(wait(NULL), 0);
    ck_assert_uint_lt(ku_clock_ns() - t, 4000000000u);
    munmap(s, 4096);
}
END_TEST

START_TEST(ones_own_word_ends_such_a_sleep)
{
    struct shared *s = map_shared();
    uint64_t t = ku_clock_ns();
    pid_t child;
    if (!ku_wait_can_sleep_on())
        return;
    ku_wait_prepare(&s->sleeping, KU_FENCE_ALL);
    ck_assert(ku_wait_sleep_on(&s->sleeping, &s->data, 0, 20)); /* nobody wakes it */
    ck_assert_uint_ge(ku_clock_ns() - t, 19000000u);
    ck_assert_uint_eq(s->sleeping, 0);
    ku_wait_prepare(&s->sleeping, KU_FENCE_ALL);
    child = fork();
    if (child == 0) {
        ku_wait_wake(&s->sleeping, true);
        _exit(0);
    }
    ku_wait_sleep_on(&s->sleeping, &s->data, 0, 5000);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_uint_lt(ku_clock_ns() - t, 4000000000u);
    munmap(s, sizeof *s);
}
END_TEST

START_TEST(many_ranks_on_a_core_are_no_hog)
{
    ku_wait_init(2, 2, false);
    uint32_t two = ku_wait_policy.hogged_ns;
    ku_wait_init(64, 2, false);
    ck_assert_uint_gt(ku_wait_policy.hogged_ns, 3 * two);
    ku_wait_init(4000, 2, false);
    ck_assert_uint_lt(ku_wait_policy.hogged_ns, 4000000); /* a tick of the scheduler */
}
END_TEST

START_TEST(the_knob_overrides_the_census)
{
    setenv("KEEL_SPIN_US", "3", 1);
    ku_wait_init(4, 2, false);
    ck_assert_uint_eq(ku_wait_policy.spin_ns, 3000);
}
END_TEST

enum { OVER = UINT16_MAX };

static void await_turn(_Atomic uint32_t *turn, uint32_t mine)
{
    struct ku_wait w = { 0 };
    for (;;) {
        uint32_t now = atomic_load(turn);
        if (now % 2 == mine || now == OVER)
            return;
        if (ku_wait_step(&w) == KU_WAIT_SLEEP)
            ku_wait_reset(&w);
    }
}

static _Noreturn void stay_and_answer(const struct ku_segment *seg, _Atomic uint32_t *turn)
{
    ku_wait_company(seg, 0);
    for (;;) {
        await_turn(turn, 0);
        if (atomic_load(turn) == OVER)
            _exit(0);
        atomic_store(turn, 1);
    }
}

/* Rank 0 may use cpu a only, rank 1 another too: whatever the kernel does with it, it moves there by itself. */
START_TEST(ranks_on_one_cpu_step_apart)
{
    struct ku_segment seg;
    struct shared *s = map_shared();
    uint64_t until = ku_clock_ns() + 10000000000u;
    cpu_set_t may, set;
    int a = 0, b, status;
    _Atomic int32_t *said;
    pid_t child;
    ck_assert_int_eq(sched_getaffinity(0, sizeof may, &may), 0);
    if (CPU_COUNT(&may) < 2)
        return;
    while (!CPU_ISSET(a, &may))
        a++;
    for (b = a + 1; !CPU_ISSET(b, &may);)
        b++;
    ck_assert_int_eq(ku_segment_create(&seg, 2, 2, 0, 1), 0);
    ku_wait_init(2, 2, false);
    CPU_ZERO(&set);
    CPU_SET(a, &set);
    ck_assert_int_eq(sched_setaffinity(0, sizeof set, &set), 0);
    child = fork();
    if (child == 0)
        stay_and_answer(&seg, &s->data);
    CPU_SET(b, &set);
    ck_assert_int_eq(sched_setaffinity(0, sizeof set, &set), 0);
    ku_wait_company(&seg, 1);
    said = &ku_segment_rank(&seg, 1)->cpu;
    atomic_store(said, a + 1);
    while (atomic_load(said) == a + 1 && ku_clock_ns() < until) {
        if (sched_getcpu() != a)
            ku_cpus_move(a);
        await_turn(&s->data, 1);
        atomic_store(&s->data, 2);
    }
    ck_assert_int_eq(atomic_load(said), b + 1);
    await_turn(&s->data, 1);
    atomic_store(&s->data, OVER);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    munmap(s, sizeof *s);
}
END_TEST

/* The same by poll and doorbells; something to read on a descriptor of its own also ends a sleep. */
static void await_poll(struct ku_seg_rank *me, _Atomic int32_t *data, int32_t v, int fd)
{
    while (atomic_load_explicit(data, memory_order_acquire) != v) {
        ku_wait_prepare_poll(me, false);
        if (atomic_load_explicit(data, memory_order_acquire) == v)
            ku_wait_cancel(&me->sleeping);
        else
            ku_wait_poll(me, &fd, 1, 5000);
    }
}

START_TEST(no_wake_is_lost_in_poll)
{
    enum { ROUNDS = 2000 };
    struct ku_seg_rank *r =
        mmap(NULL, 2 * sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t t = ku_clock_ns();
    int status, quiet[2];
    ck_assert_int_eq(pipe(quiet), 0);
    ck_assert(ku_wait_register());
    pid_t child = fork();
    for (int32_t i = 1; i <= ROUNDS; i++) {
        struct ku_seg_rank *me = &r[child == 0], *other = &r[child != 0];
        if (child == 0)
            await_poll(me, &other->pid, i, quiet[0]);
        atomic_store_explicit(&me->pid, i, memory_order_release);
        ku_wait_wake(&other->sleeping, false);
        if (child != 0)
            await_poll(me, &other->pid, i, quiet[0]);
    }
    ck_assert(r[child == 0].bell_len > 0 && !r[child == 0].bell_mute);
    ku_wait_bell_close(&r[child == 0]);
    if (child == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_lt(ku_clock_ns() - t, 4000000000u);
    munmap(r, 2 * sizeof *r);
    close(quiet[0]);
    close(quiet[1]);
}
END_TEST

static uint64_t poll_ms(struct ku_seg_rank *r, int fd, int ms)
{
    uint64_t t = ku_clock_ns();
    ku_wait_poll(r, &fd, 1, ms);
    return (ku_clock_ns() - t) / 1000000;
}

START_TEST(a_bell_that_cannot_ring)
{
    static struct ku_seg_rank r;
    int fds[2];
    ck_assert_int_eq(pipe(fds), 0);
    ku_wait_prepare_poll(&r, false);
    ck_assert_uint_eq(r.sleeping, KU_IN_POLL);
    ku_wait_wake(&r.sleeping, false);
    ck_assert_uint_lt(poll_ms(&r, fds[0], 1000), 500); /* the byte was there already */
    ku_wait_prepare_poll(&r, false);
    ck_assert_int_eq(write(fds[1], "", 1), 1);
    ck_assert_uint_lt(poll_ms(&r, fds[0], 1000), 500);
    ck_assert_uint_eq(r.sleeping, 0);
    ku_wait_prepare_poll(&r, false);
    memcpy(r.bell + 1, "nobod", 5);
    ck_assert_int_eq(read(fds[0], &(char){ 0 }, 1), 1);
    ku_wait_wake(&r.sleeping, false);
    ck_assert_uint_eq(r.bell_mute, 1);
    ck_assert_uint_lt(poll_ms(&r, fds[0], 1000), 500);
    ku_wait_prepare_poll(&r, false);
    ck_assert_uint_eq(r.sleeping, 0); /* nobody need try */
    ck_assert_uint_lt(poll_ms(&r, fds[0], 1000), 500);
    ku_wait_bell_close(&r);
    ck_assert_uint_eq(r.bell_len, 0);
    ck_assert_uint_eq(r.bell_mute, 0);
    close(fds[0]);
    close(fds[1]);
}
END_TEST

static void *other_error(void *arg)
{
    ck_assert_int_eq(ku_err_last()->code, 0);
    ku_err_set(7, NULL, "of another thread");
    ck_assert_ptr_ne(ku_err_last(), arg);
    return ku_err_last();
}

/* A thread's record is its own, begins empty and is freed with it (the sanitizers and Valgrind see that). */
START_TEST(errors_are_a_threads_own)
{
    pthread_t thread;
    void *there;
    ku_err_set(5, "count", "is -3");
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(pthread_create(&thread, NULL, other_error, ku_err_last()), 0);
        ck_assert_int_eq(pthread_join(thread, &there), 0);
        ck_assert_ptr_ne(there, ku_err_last());
        ck_assert_str_eq(ku_err_last()->text, "is -3");
    }
    ku_err_clear();
}
END_TEST

START_TEST(errors_are_kept_in_words)
{
    ck_assert_int_eq(ku_err_set(5, "count", "is %d; expected at least 0", -3), 5);
    ck_assert_int_eq(ku_err_last()->code, 5);
    ck_assert_str_eq(ku_err_last()->arg, "count");
    ck_assert_str_eq(ku_err_last()->text, "is -3; expected at least 0");
    ku_err_set(6, ku_err_last()->arg, "what was said: %s", ku_err_last()->text);
    ck_assert_str_eq(ku_err_last()->arg, "count");
    ck_assert_str_eq(ku_err_last()->text, "what was said: is -3; expected at least 0");
    ku_err_clear();
    ck_assert_int_eq(ku_err_last()->code, 0);
    ck_assert_str_eq(ku_err_last()->text, "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wait");
    TCase *c = tcase_create("wait");
    SRunner *r = srunner_create(suite);
    int failed;
    tcase_set_timeout(c, 20);
    tcase_add_test(c, no_wake_is_lost_with_membarrier);
    tcase_add_test(c, no_wake_is_lost_with_fences);
    tcase_add_test(c, the_ladder_ends_in_sleep);
    tcase_add_test(c, a_sleep_ends_at_its_time_and_leaves_the_word_clear);
    tcase_add_test(c, one_call_wakes_all);
    tcase_add_test(c, ones_own_word_ends_such_a_sleep);
    tcase_add_test(c, many_ranks_on_a_core_are_no_hog);
    tcase_add_test(c, the_knob_overrides_the_census);
    tcase_add_test(c, ranks_on_one_cpu_step_apart);
    tcase_add_test(c, no_wake_is_lost_in_poll);
    tcase_add_test(c, a_bell_that_cannot_ring);
    tcase_add_test(c, errors_are_kept_in_words);
    tcase_add_test(c, errors_are_a_threads_own);
    suite_add_tcase(suite, c);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
