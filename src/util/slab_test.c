/* SPDX-License-Identifier: BSD-3-Clause */
#include "slab.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

struct thing {
    struct keel_object obj;
    char data[100];
};

START_TEST(new_objects_are_zero_and_have_a_live_generation)
{
    struct ku_slab s;
    struct thing *t;
    ku_slab_init(&s, sizeof *t, 7);
    ck_assert_uint_eq(s.objsize, 128);
    t = ku_slab_alloc(&s);
    ck_assert_ptr_nonnull(t);
    ck_assert_uint_eq((uintptr_t)t % 64, 0);
    ck_assert_int_eq(t->obj.kind, 7);
    ck_assert_int_eq(t->obj.refs, 1);
    ck_assert_int_eq(t->obj.gen & 1, 1);
    for (size_t i = 0; i < sizeof t->data; i++)
        ck_assert_int_eq(t->data[i], 0);
    ku_slab_fini(&s);
}
END_TEST

START_TEST(a_freed_object_is_stale_and_comes_back_clean)
{
    struct ku_slab s;
    struct thing *t, *u;
    uint16_t gen;
    uint32_t index;
    ku_slab_init(&s, sizeof *t, 1);
    t = ku_slab_alloc(&s);
    memset(t->data, 9, sizeof t->data);
    gen = t->obj.gen;
    index = t->obj.index;
    ku_slab_free(&s, t);
    ck_assert_ptr_eq(ku_slab_at(&s, index), t);
    ck_assert_int_eq(t->obj.gen, gen + 1);
    ck_assert_uint_eq(s.live, 0);
    u = ku_slab_alloc(&s);
    ck_assert_ptr_eq(u, t);
    ck_assert_int_eq(u->obj.gen, gen + 2);
    ck_assert_int_eq(u->data[50], 0);
    ku_slab_fini(&s);
}
END_TEST

static void count(void *obj, void *arg)
{
    (void)obj;
    ++*(int *)arg;
}

START_TEST(many_objects_keep_their_place)
{
    enum { N = 10000 };
    struct ku_slab s;
    struct thing **all = malloc(N * sizeof *all);
    int live = 0;
    ku_slab_init(&s, sizeof **all, 1);
    for (uint32_t i = 0; i < N; i++) {
        all[i] = ku_slab_alloc(&s);
        ck_assert_ptr_nonnull(all[i]);
        ck_assert_uint_eq(all[i]->obj.index, i);
        memcpy(all[i]->data, &i, sizeof i);
    }
    for (uint32_t i = 0; i < N; i++) {
        uint32_t v;
        ck_assert_ptr_eq(ku_slab_at(&s, i), all[i]);
        memcpy(&v, all[i]->data, sizeof v);
        ck_assert_uint_eq(v, i);
    }
    for (uint32_t i = 0; i < N; i += 3)
        ku_slab_free(&s, all[i]);
    ku_slab_each(&s, count, &live);
    ck_assert_int_eq(live, N - (N + 2) / 3);
    ck_assert_int_eq((int)s.live, live);
    ck_assert_ptr_null(ku_slab_at(&s, N));
    ck_assert_ptr_null(ku_slab_at(&s, KEEL_NO_INDEX));
    ku_slab_fini(&s);
    free(all);
}
END_TEST

START_TEST(the_last_object_freed_is_the_first_reused)
{
    struct ku_slab s;
    struct thing *a, *b;
    ku_slab_init(&s, sizeof *a, 1);
    a = ku_slab_alloc(&s);
    b = ku_slab_alloc(&s);
    ku_slab_free(&s, a);
    ku_slab_free(&s, b);
    ck_assert_ptr_eq(ku_slab_alloc(&s), b);
    ck_assert_ptr_eq(ku_slab_alloc(&s), a);
    ku_slab_fini(&s);
}
END_TEST

START_TEST(a_retired_place_is_not_used_again)
{
    struct ku_slab s;
    struct thing *a, *b;
    ku_slab_init(&s, sizeof *a, 1);
    a = ku_slab_alloc(&s);
    ku_slab_retire(&s, a);
    ck_assert_int_eq(a->obj.gen & 1, 0);
    ck_assert_uint_eq(s.live, 0);
    b = ku_slab_alloc(&s);
    ck_assert_ptr_ne(a, b);
    ck_assert_uint_eq(b->obj.index, 1);
    ku_slab_fini(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("slab");
    TCase *c = tcase_create("slab");
    SRunner *r = srunner_create(suite);
    int failed;
    tcase_add_test(c, new_objects_are_zero_and_have_a_live_generation);
    tcase_add_test(c, a_freed_object_is_stale_and_comes_back_clean);
    tcase_add_test(c, many_objects_keep_their_place);
    tcase_add_test(c, the_last_object_freed_is_the_first_reused);
    tcase_add_test(c, a_retired_place_is_not_used_again);
    suite_add_tcase(suite, c);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
