/* SPDX-License-Identifier: BSD-3-Clause */
/* learn_test.c: which way is taken when calls take so long: what is told is simulated, so each run is the same. */
#include <check.h>
#include <stdint.h>
#include "learn.h"

/* What a call of each way takes; out of 1000 calls so many take ten times as long, and all up to so many per cent
 * more. */
struct world {
    uint64_t ns[LEARN_WAYS];
    unsigned spikes, noise;
};

static struct learnt learnt;
static uint64_t spent;
static uint32_t seed;

static uint32_t number(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)seed * below) >> 32);
}

/* One call; the way that it took. */
static int call(const struct world *w)
{
    int way = MPIR_Learn_next(&learnt);
    uint64_t ns = w->ns[way] + w->ns[way] * number(w->noise + 1) / 100;
    if (number(1000) < w->spikes)
        ns *= 10;
    spent += ns;
    MPIR_Learn_took(&learnt, way, ns);
    return way;
}

/* n calls; how many of them took `way`. */
static int calls(const struct world *w, int n, int way)
{
    int so = 0;
    for (int i = 0; i < n; i++)
        so += call(w) == way;
    return so;
}

static void begin(void)
{
    learnt = (struct learnt){ 0 };
    spent = 0;
    seed = 1;
}

/* Calls until `way` is in use for 8 in a row. */
static int until(const struct world *w, int way)
{
    int n = 0;
    for (int row = 0; row < 8 && n < 100000; n++)
        row = call(w) == way ? row + 1 : 0;
    return n - 8;
}

static const struct world fast = { { 75, 110 }, 0, 0 }, slow = { { 500, 115 }, 0, 0 };

START_TEST(both_are_tried)
{
    static const struct world second = { { 200, 100 }, 0, 0 };
    begin();
    ck_assert_int_le(until(&fast, 0), 8);
    begin();
    ck_assert_int_le(until(&second, 1), 8);
}
END_TEST

/* The way in use has become dearer: two calls tell, the third takes the other. */
START_TEST(slower_is_followed_at_once)
{
    for (int before = 20; before < 1000; before++) {
        begin();
        calls(&fast, before, 0);
        ck_assert_int_le(calls(&slow, 100, 0), 9); /* with those of a trial under way, and of a look back */
    }
    begin();
    calls(&fast, 50, 0);
    ck_assert_int_eq(calls(&slow, 2, 0), 2);
    ck_assert_int_eq(calls(&slow, 4, 1), 4);
    ck_assert_int_eq(calls(&slow, 100, 0), 3); /* the look back */
}
END_TEST

/* That the other one has become cheaper is only seen by trying it. */
START_TEST(faster_is_found)
{
    for (int before = 20; before < 1000; before++) {
        begin();
        calls(&slow, before, 1);
        ck_assert_int_le(until(&fast, 0), 128 * 4 + 8);
    }
    begin();
    calls(&fast, 1000, 0);
    calls(&slow, 10, 1);
    ck_assert_int_le(until(&fast, 0), 128 + 8); /* after slow calls it is tried again soon */
}
END_TEST

/* All has become slower, and the order is the same: some trials, no change. */
START_TEST(slower_alike)
{
    static const struct world twice = { { 150, 230 }, 0, 0 };
    begin();
    calls(&fast, 100, 0);
    ck_assert_int_ge(calls(&twice, 1000, 0), 960);
}
END_TEST

/* What trials cost where nothing changes: less than 4 %. */
START_TEST(trials_are_cheap)
{
    static const struct world worlds[] = {
        { { 100, 120 }, 0, 0 }, { { 100, 500 }, 0, 0 }, { { 1000, 100 }, 0, 0 }, { { 100, 10000 }, 0, 0 }
    };
    for (int i = 0; i < 4; i++) {
        begin();
        calls(&worlds[i], 20, 0);
        spent = 0;
        calls(&worlds[i], 20000, 0);
        ck_assert_uint_le(spent, 20000 * 104);
    }
}
END_TEST

/* Other work disturbs single calls, and pairs of them by chance: it stays with the faster way. */
START_TEST(noise_is_no_change)
{
    static const unsigned spikes[] = { 0, 5, 20, 50, 100 };
    for (int i = 0; i < 5; i++)
        for (unsigned noise = 0; noise <= 45; noise += 15) {
            struct world w = { { 100, 300 }, spikes[i], noise };
            begin();
            calls(&w, 20, 0);
            ck_assert_int_ge(calls(&w, 20000, 0), 20000 * 9 / 10);
            w = (struct world){ { 300, 100 }, spikes[i], noise };
            begin();
            calls(&w, 20, 0);
            ck_assert_int_ge(calls(&w, 20000, 1), 20000 * 9 / 10);
        }
}
END_TEST

/* To and fro: within a fifth of what one would take who knows all. */
START_TEST(follows_again_and_again)
{
    uint64_t best = 0;
    begin();
    for (int i = 0; i < 100; i++) {
        calls(i % 2 ? &slow : &fast, 1000, 0);
        best += 1000u * (i % 2 ? slow.ns[1] : fast.ns[0]);
    }
    ck_assert_uint_le(spent, best * 6 / 5);
}
END_TEST

/* A call that touches new memory, and the first after a change of way, do not count. */
START_TEST(cold_calls_do_not_count)
{
    begin();
    for (int i = 0; i < 20; i++) {
        int way = MPIR_Learn_next(&learnt);
        if (i < 3)
            MPIR_Learn_cold(&learnt);
        MPIR_Learn_took(&learnt, way, i < 3 ? 100000 : fast.ns[way]);
    }
    ck_assert_uint_eq(learnt.ns[0], fast.ns[0]);
    ck_assert_uint_eq(learnt.ns[1], fast.ns[1]);
    ck_assert_int_eq(MPIR_Learn_next(&learnt), 0);
}
END_TEST

/* Where times are not always told: the first ones are asked for, then some, and more after a slow one. */
START_TEST(asks_for_times)
{
    int asked = 0;
    begin();
    for (int i = 0; i < 1000; i++) {
        int way = MPIR_Learn_next(&learnt);
        if (!MPIR_Learn_asks(&learnt, way))
            continue;
        asked++;
        MPIR_Learn_took(&learnt, way, fast.ns[way]);
    }
    ck_assert_int_ge(asked, 1000 / 32);
    ck_assert_int_le(asked, 150);
    MPIR_Learn_took(&learnt, MPIR_Learn_next(&learnt), 500);
    ck_assert(MPIR_Learn_asks(&learnt, MPIR_Learn_next(&learnt)));
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("learn");
    Suite *s = suite_create("collectives: learning");
    tcase_add_test(c, both_are_tried);
    tcase_add_test(c, slower_is_followed_at_once);
    tcase_add_test(c, faster_is_found);
    tcase_add_test(c, slower_alike);
    tcase_add_test(c, trials_are_cheap);
    tcase_add_test(c, noise_is_no_change);
    tcase_add_test(c, follows_again_and_again);
    tcase_add_test(c, cold_calls_do_not_count);
    tcase_add_test(c, asks_for_times);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
