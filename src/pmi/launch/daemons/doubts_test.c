/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that cannot reach each other: who is ended, in which order, and when. */
#include <check.h>
#include <stdlib.h>
#include "doubts.h"
#include "pmi/launch/base/util.h"
#include "pmi/launch/job/ranks.h"

enum { RANKS = 12 };

struct crew crew;
static double clock_now;
static int ended[RANKS], other_of[RANKS], nended;

/* util.c's end a job; here it is enough to stop. */
void *xgrow(void *p, size_t n, size_t size)
{
    void *q = realloc(p, n * size);
    ck_assert_ptr_nonnull(q);
    return q;
}

void *xalloc(size_t n, size_t size)
{
    void *p = calloc(n, size);
    ck_assert_ptr_nonnull(p);
    return p;
}

double now(void)
{
    return clock_now;
}

static void end(int rank, int other)
{
    other_of[nended] = other;
    ended[nended++] = rank;
}

static void begin(void)
{
    static struct crew_rank ranks[RANKS];
    static struct launch launch = { .size = RANKS };
    crew.ranks = ranks;
    crew.launch = &launch;
    for (int i = 0; i < RANKS; i++)
        ranks[i].pid = 100 + i;
    clock_now = 50;
    nended = 0;
    ck_assert(doubts_due() == 0);
}

static void settle(void)
{
    ck_assert(doubts_due() > clock_now);
    doubts_settle(end);
    ck_assert_int_eq(nended, 0); /* not yet */
    clock_now = doubts_due();
    doubts_settle(end);
    ck_assert(doubts_due() == 0);
}

START_TEST(two)
{
    begin();
    doubts_add(3, 5);
    settle();
    ck_assert_int_eq(nended, 1);
    ck_assert_int_eq(ended[0], 5);
    ck_assert_int_eq(other_of[0], 3);
    begin();
    doubts_add(5, 3); /* whoever has said it */
    doubts_add(3, 5);
    settle();
    ck_assert_int_eq(nended, 1);
    ck_assert_int_eq(ended[0], 5);
}
END_TEST

/* It says so of all others, each of which lives with the rest. */
START_TEST(one_is_cut_off)
{
    begin();
    for (int i = 0; i < RANKS; i++)
        if (i != 4)
            doubts_add(4, i);
    settle();
    ck_assert_int_eq(nended, 1);
    ck_assert_int_eq(ended[0], 4);
    ck_assert_int_ne(other_of[0], 4);
}
END_TEST

/* Two hosts, of 2 and of 3 ranks. */
START_TEST(two_hosts)
{
    begin();
    for (int a = 0; a < 2; a++)
        for (int b = 5; b < 8; b++)
            doubts_add(b, a);
    settle();
    ck_assert_int_eq(nended, 2);
    ck_assert_int_eq(ended[0], 1);
    ck_assert_int_eq(ended[1], 0);
}
END_TEST

START_TEST(who_ends_meanwhile)
{
    begin();
    doubts_add(1, 2);
    doubts_add(1, 7);
    doubts_add(6, 6);
    crew.ranks[2].pid = 0; /* as most of them do */
    settle();
    ck_assert_int_eq(nended, 1);
    ck_assert_int_eq(ended[0], 7);
    begin();
    crew.ranks[1].pid = 0;
    doubts_add(1, 2); /* late */
    doubts_add(2, 1);
    ck_assert(doubts_due() == 0);
    doubts_settle(end);
    ck_assert_int_eq(nended, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("doubts");
    TCase *c = tcase_create("pairs");
    SRunner *r = srunner_create(s);
    tcase_add_test(c, two);
    tcase_add_test(c, one_is_cut_off);
    tcase_add_test(c, two_hosts);
    tcase_add_test(c, who_ends_meanwhile);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
