/* SPDX-License-Identifier: BSD-3-Clause */
#include "copy.h"
#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 20 << 10, GUARD = 128 };

static unsigned char *from, *to;

static void setup(void)
{
    from = aligned_alloc(64, ROOM);
    to = aligned_alloc(64, ROOM);
    for (size_t i = 0; i < ROOM; i++)
        from[i] = (unsigned char)(i * 167 + (i >> 8));
}

static void teardown(void)
{
    free(from);
    free(to);
}

/* n bytes from `s` to `d`: all of them, and nothing around them; the source as it was. */
static void one(void (*copy)(void *, const void *, size_t), size_t d, size_t s, size_t n)
{
    size_t wrong = 0;
    memset(to, 0xee, d + n + GUARD);
    copy(to + d, from + s, n);
    ck_assert_msg(memcmp(to + d, from + s, n) == 0, "%zu bytes from +%zu to +%zu", n, s, d);
    for (size_t i = 0; i < d; i++)
        wrong += to[i] != 0xee;
    for (size_t i = d + n; i < d + n + GUARD; i++)
        wrong += to[i] != 0xee;
    ck_assert_uint_eq(wrong, 0);
}

static void every_length(void (*copy)(void *, const void *, size_t))
{
    static const size_t at[] = { 0, 1, 31, 32, 63, 64 };
    for (size_t a = 0; a < 6; a++)
        for (size_t b = 0; b < 6; b++) {
            for (size_t n = 0; n < 700; n += n < 300 ? 1 : 13)
                one(copy, at[a], at[b], n);
            for (size_t n = 1000; n < 18000; n += 1023)
                one(copy, at[a], at[b], n);
        }
}

static void out_ahead(void *d, const void *s, size_t n)
{
    ku_copy_out_ahead(d, s, n, from); /* fetched, and not changed */
}

static void in_own(void *d, const void *s, size_t n)
{
    ku_copy_in_own(d, (void *)(uintptr_t)s, n);
}

static void own_past(void *d, const void *s, size_t n)
{
    ku_copy_own_past(d, (void *)(uintptr_t)s, n);
}

START_TEST(every_length_and_alignment)
{
    int level = ku_copy_use(_i);
    ck_assert_int_le(level, _i);
    every_length(ku_copy_out);
    every_length(out_ahead);
    every_length(ku_copy_in);
    every_length(in_own);
    every_length(own_past);
    every_length(ku_copy_past);
}
END_TEST

START_TEST(what_is_made_own_keeps_its_contents)
{
    unsigned char *copy = malloc(ROOM);
    ku_copy_use(_i);
    memcpy(copy, from, ROOM);
    ku_copy_own(from, 0);
    for (size_t n = 1; n < ROOM; n = n * 2 + 1)
        ku_copy_own(from + n % 64, n - n % 64);
    ck_assert_int_eq(memcmp(copy, from, ROOM), 0);
    free(copy);
}
END_TEST

START_TEST(the_best_is_chosen_unasked)
{
    ku_copy_use(2);
    int level = ku_copy_use(2);
    ck_assert_int_eq(level, ku_copy_use(99));
    ck_assert_int_eq(ku_copy_use(0), 0);
    one(ku_copy_out, 3, 5, 777);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("copy");
    TCase *c = tcase_create("copy");
    SRunner *r = srunner_create(suite);
    int failed;
    tcase_set_timeout(c, 20);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, every_length_and_alignment, 0, 3);
    tcase_add_loop_test(c, what_is_made_own_keeps_its_contents, 0, 3);
    tcase_add_test(c, the_best_is_chosen_unasked);
    suite_add_tcase(suite, c);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
