/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of locks, which is checked here in any build. */
#ifndef KEEL_LOCK_ORDER
#define KEEL_LOCK_ORDER
#endif
#include "lock.c"
#include <check.h>
#include <signal.h>

static struct ku_lock table = KU_LOCK(KU_LOCK_TABLE), other_table = KU_LOCK(KU_LOCK_TABLE);

START_TEST(locks_in_their_order)
{
    struct ku_lock send;
    ku_lock_init(&send, KU_LOCK_SEND);
    for (int i = 0; i < 2; i++) {
        ku_lock_takes(KU_LOCK_DEVICE);
        ku_lock_takes(KU_LOCK_DEVICE); /* the one that may be taken again */
        ku_lock(&send);
        ku_lock(&table);
        ku_lock_takes(KU_LOCK_SEGMENT);
        ku_lock_left(KU_LOCK_SEGMENT);
        ku_unlock(&table);
        ku_lock(&other_table);
        ku_unlock(&other_table);
        ku_unlock(&send);
        ku_lock_left(KU_LOCK_DEVICE);
        ku_lock_left(KU_LOCK_DEVICE);
    }
    ku_lock_fini(&send);
}
END_TEST

START_TEST(one_that_stands_before_ends_the_process)
{
    ku_lock(&table);
    ku_lock_takes(KU_LOCK_DEVICE);
}
END_TEST

START_TEST(a_second_one_of_a_kind_ends_the_process)
{
    ku_lock(&table);
    ku_lock(&other_table);
}
END_TEST

START_TEST(the_device_lock_again_behind_another_ends_the_process)
{
    ku_lock_takes(KU_LOCK_DEVICE);
    ku_lock(&table);
    ku_lock_takes(KU_LOCK_DEVICE);
}
END_TEST

START_TEST(what_needs_a_lock_that_is_not_held_ends_the_process)
{
    ku_lock_takes(KU_LOCK_DEVICE);
    ku_lock_needs(KU_LOCK_DEVICE);
    ku_lock_left(KU_LOCK_DEVICE);
    ku_lock_needs(KU_LOCK_DEVICE);
}
END_TEST

static void *take_device(void *unused)
{
    ku_lock_takes(KU_LOCK_DEVICE);
    ku_lock_left(KU_LOCK_DEVICE);
    return unused;
}

START_TEST(threads_have_locks_of_their_own)
{
    pthread_t t;
    ku_lock(&table);
    ck_assert_int_eq(pthread_create(&t, NULL, take_device, NULL), 0);
    pthread_join(t, NULL);
    ku_unlock(&table);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lock");
    TCase *t = tcase_create("order");
    tcase_add_test(t, locks_in_their_order);
    tcase_add_test_raise_signal(t, one_that_stands_before_ends_the_process, SIGABRT);
    tcase_add_test_raise_signal(t, a_second_one_of_a_kind_ends_the_process, SIGABRT);
    tcase_add_test_raise_signal(t, the_device_lock_again_behind_another_ends_the_process, SIGABRT);
    tcase_add_test_raise_signal(t, what_needs_a_lock_that_is_not_held_ends_the_process, SIGABRT);
    tcase_add_test(t, threads_have_locks_of_their_own);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
