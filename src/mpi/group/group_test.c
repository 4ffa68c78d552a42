/* SPDX-License-Identifier: BSD-3-Clause */
/* group_test.c: groups of 100,000 and of a million processes, which no job of the tests has: right, and not
 * quadratic. */
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include "bodies.h"
#include "group.h"
#include "mpid.h"
#include "util/err.h"

enum { N = 100000 };

static MPIR_Group *world;
static int32_t shuffled[N];

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void set_up(void)
{
    MPID_MyWorldSize = N;
    MPID_MyWorldRank = 4711;
    ck_assert_int_eq(MPIR_Group_new_range(N, 0, 1, &world), 0);
    for (int32_t i = 0; i < N; i++)
        shuffled[i] = i;
    srand(1);
    for (int32_t i = N - 1; i > 0; i--) {
        int32_t j = rand() % (i + 1), t = shuffled[i];
        shuffled[i] = shuffled[j];
        shuffled[j] = t;
    }
}

static void tear_down(void)
{
    MPIR_Group_release(world);
    MPID_MyWorldSize = 1;
    MPID_MyWorldRank = 0;
}

START_TEST(shuffled_group)
{
    MPIR_Group *g, *h;
    int r, *all = malloc(N * sizeof *all), *out = malloc(N * sizeof *out);
    double t = seconds();
    ck_assert_int_eq(MPIR_Group_incl(world, N, shuffled, &g), 0);
    ck_assert_ptr_nonnull(g->granks);
    ck_assert_int_eq(shuffled[g->rank], MPID_MyWorldRank);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(MPIR_Group_rank_of(g, shuffled[i]), i);
    ck_assert_int_eq(MPIR_Group_rank_of(g, N), MPI_UNDEFINED);
    ck_assert_int_eq(MPIR_Group_rank_of(g, -1), MPI_UNDEFINED);
    MPIR_Group_compare(world, g, &r);
    ck_assert_int_eq(r, MPI_SIMILAR);
    MPIR_Group_compare(g, world, &r);
    ck_assert_int_eq(r, MPI_SIMILAR);
    MPIR_Group_intersection(world, g, &h);
    ck_assert_ptr_null(h->granks); /* recognised as a range */
    MPIR_Group_release(h);
    MPIR_Group_union(g, world, &h);
    ck_assert_int_eq(MPIR_Group_relation(g, h), MPI_IDENT);
    MPIR_Group_release(h);
    MPIR_Group_difference(g, world, &h);
    ck_assert_ptr_eq(h, &MPIR_Group_empty);
    for (int i = 0; i < N; i++)
        all[i] = i;
    ck_assert_int_eq(MPIR_Group_translate_ranks(world, N, all, g, out), 0);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(shuffled[out[i]], i);
    MPIR_Group_excl(g, N / 2, all, &h);
    ck_assert_int_eq(h->size, N / 2);
    ck_assert_int_eq(MPIR_Group_grank(h, 0), shuffled[N / 2]);
    MPIR_Group_release(h);
    MPIR_Group_release(g);
    ck_assert_double_lt(seconds() - t, 2.0); /* quadratic would be minutes */
    free(all);
    free(out);
}
END_TEST

START_TEST(ranges_stay_ranges)
{
    int down[1][3] = { { N - 2, 0, -2 } }, every[2][3] = { { 0, N / 2 - 1, 1 }, { N / 2, N - 1, 1 } };
    MPIR_Group *g, *h;
    ck_assert_int_eq(MPIR_Group_range_incl(world, 1, down, &g), 0);
    ck_assert_ptr_null(g->granks);
    ck_assert_int_eq(g->size, N / 2);
    ck_assert_int_eq(MPIR_Group_rank_of(g, 0), N / 2 - 1);
    ck_assert_int_eq(MPIR_Group_rank_of(g, 1), MPI_UNDEFINED);
    int back[1][3] = { { N / 2 - 1, 0, -1 } };
    ck_assert_int_eq(MPIR_Group_range_incl(g, 1, back, &h), 0);
    ck_assert_int_eq(h->stride, 2);
    ck_assert_int_eq(MPIR_Group_grank(h, 7), 14);
    MPIR_Group_release(h);
    MPIR_Group_release(g);
    ck_assert_int_eq(MPIR_Group_range_incl(world, 2, every, &g), 0);
    ck_assert_int_eq(MPIR_Group_relation(g, world), MPI_IDENT);
    ck_assert_ptr_null(g->granks);
    const int32_t *table = shuffled;
    ck_assert_int_eq(MPIR_Group_table(g, &table), 0);
    ck_assert_ptr_null(table);
    MPIR_Group_release(g);
    ck_assert_int_eq(MPIR_Group_range_excl(world, 1, down, &g), 0);
    ck_assert_ptr_null(g->granks);
    ck_assert_int_eq(MPIR_Group_grank(g, 3), 7);
    ck_assert_int_eq(MPIR_Group_table(g, &table), 0);
    ck_assert_int_eq(table[3], 7);
    MPIR_Group_release(g);
}
END_TEST

START_TEST(sharing)
{
    MPIR_Group *g, *h, *k;
    ck_assert_int_eq(MPIR_Group_new(N, shuffled, &g), 0);
    ck_assert_int_eq(MPIR_Group_share(g, &h), 0);
    ck_assert_int_eq(MPIR_Group_share(h, &k), 0);
    MPIR_Group_release(g);
    MPIR_Group_release(h);
    ck_assert_int_eq(MPIR_Group_rank_of(k, shuffled[12345]), 12345);
    ck_assert_int_eq(MPIR_Group_grank(k, 777), shuffled[777]);
    MPIR_Group_release(k);
}
END_TEST

/* ---- Many members, and lists that are as bad as can be --------------------------------------------------------- */

/* Members i * factor modulo a prime near n, in this order: no range anywhere. */
static MPIR_Group *scattered(int32_t n, int64_t factor)
{
    enum { PRIME = 1000003 };
    int32_t *t = malloc((size_t)n * sizeof *t);
    MPIR_Group *g;
    for (int64_t i = 0; i < n; i++)
        t[i] = (int32_t)((i + 1) * factor % PRIME);
    ck_assert_int_eq(MPIR_Group_adopt(n, t, &g), 0);
    return g;
}

/* Every operation on groups of n members; each result is checked at some places. */
static void big(int32_t n)
{
    MPIR_Group *a = scattered(n, 7919), *b = scattered(n, 104729), *all, *g, *h;
    int *ranks = malloc((size_t)n * sizeof *ranks), *out = malloc((size_t)n * sizeof *out), r;
    int(*ones)[3] = malloc((size_t)n * sizeof *ones);
    double t = seconds();
    MPIR_Group_new_range(1000003, 0, 1, &all);
    MPIR_Group_union(a, b, &g);
    MPIR_Group_intersection(a, b, &h);
    ck_assert_int_eq(g->size + h->size, 2 * n);
    MPIR_Group_release(h);
    MPIR_Group_difference(g, b, &h);
    ck_assert_int_eq(h->size, g->size - n);
    for (int32_t i = 0; i < h->size; i += 1009)
        ck_assert(MPIR_Group_rank_of(b, MPIR_Group_grank(h, i)) == MPI_UNDEFINED &&
                  MPIR_Group_rank_of(a, MPIR_Group_grank(h, i)) != MPI_UNDEFINED);
    MPIR_Group_release(h);
    MPIR_Group_compare(a, b, &r);
    ck_assert_int_eq(r, n < 1000002 ? MPI_UNEQUAL : MPI_SIMILAR);
    MPIR_Group_release(g);
    for (int32_t i = 0; i < n; i++) { /* ranges of one rank, backwards */
        ranks[i] = n - 1 - i;
        ones[i][0] = ones[i][1] = ranks[i];
        ones[i][2] = i % 2 ? 1 : -3;
    }
    MPIR_Group_range_incl(a, n, ones, &g);
    MPIR_Group_incl(a, n, ranks, &h);
    ck_assert_int_eq(MPIR_Group_relation(g, h), MPI_IDENT);
    MPIR_Group_compare(g, a, &r);
    ck_assert_int_eq(r, MPI_SIMILAR);
    ck_assert_int_eq(MPIR_Group_translate_ranks(g, n, ranks, all, out), 0);
    for (int32_t i = 0; i < n; i += 997)
        ck_assert_int_eq(out[i], MPIR_Group_grank(a, i));
    ck_assert_int_eq(MPIR_Group_translate_ranks(g, n, ranks, b, out), 0);
    MPIR_Group_release(g);
    MPIR_Group_release(h);
    MPIR_Group_range_excl(a, n - 1, ones, &g);
    ck_assert(g->size == 1 && MPIR_Group_grank(g, 0) == MPIR_Group_grank(a, 0));
    MPIR_Group_release(g);
    MPIR_Group_excl(a, n - 2, ranks, &g);
    ck_assert_int_eq(g->size, 2);
    MPIR_Group_release(g);
    for (int32_t i = 0; i < n; i++) { /* all of them whole: found out at the second */
        ones[i][0] = 0;
        ones[i][1] = n - 1;
        ones[i][2] = 1;
    }
    ck_assert_int_eq(MPIR_Group_range_incl(a, n, ones, &g), MPI_ERR_RANK);
    ck_assert_int_eq(MPIR_Group_range_excl(a, n, ones, &g), MPI_ERR_RANK);
    ranks[n - 1] = ranks[n - 2];
    ck_assert_int_eq(MPIR_Group_incl(a, n, ranks, &g), MPI_ERR_RANK);
    ck_assert_int_eq(MPIR_Group_excl(a, n, ranks, &g), MPI_ERR_RANK);
    MPIR_Group_release(a);
    MPIR_Group_release(b);
    MPIR_Group_release(all);
    free(ranks);
    free(out);
    free(ones);
    ck_assert_double_lt(seconds() - t, 10.0); /* a second for a million; quadratic would be hours */
}

START_TEST(hundred_thousand)
{
    big(N);
}
END_TEST

START_TEST(million)
{
    big(1000002);
}
END_TEST

/* A few members of many: not the time of all of them. */
START_TEST(few_of_many)
{
    enum { TIMES = 20000 };
    MPIR_Group *a = scattered(1000002, 7919), *g;
    int ranks[3] = { 999999, 3, 500000 }, ends[2][3] = { { 7, 9, 1 }, { 1000001, 1000000, -1 } };
    double t = seconds();
    for (int i = 0; i < TIMES; i++) {
        MPIR_Group_incl(a, 3, ranks, &g);
        ck_assert(g->size == 3 && MPIR_Group_grank(g, 1) == MPIR_Group_grank(a, 3));
        MPIR_Group_release(g);
        MPIR_Group_range_incl(a, 2, ends, &g);
        ck_assert(g->size == 5 && MPIR_Group_grank(g, 4) == MPIR_Group_grank(a, 1000000));
        MPIR_Group_release(g);
    }
    ck_assert_double_lt(seconds() - t, 2.0);
    MPIR_Group_release(a);
}
END_TEST

/* ---- Small groups against a model ---------------------------------------------------------------------------- */

enum { SMALL = 24, ROUNDS = 20000 };

struct model {
    int n, m[2 * SMALL];
};

static int model_rank(const struct model *s, int grank)
{
    for (int i = 0; i < s->n; i++)
        if (s->m[i] == grank)
            return i;
    return MPI_UNDEFINED;
}

static MPIR_Group *random_group(struct model *s)
{
    MPIR_Group *g;
    int first = rand() % SMALL, step = rand() % 3 ? 0 : rand() % 5 - 2, wanted = rand() % SMALL;
    s->n = 0;
    for (int i = 0; i < wanted; i++) {
        int grank = step ? first + i * step : rand() % SMALL;
        if (grank >= 0 && grank < SMALL && model_rank(s, grank) == MPI_UNDEFINED)
            s->m[s->n++] = grank;
    }
    ck_assert_int_eq(MPIR_Group_new(s->n, s->m, &g), 0);
    return g;
}

static void equal(MPIR_Group *g, const struct model *s)
{
    ck_assert_int_eq(g->size, s->n);
    for (int i = 0; i < s->n; i++)
        ck_assert_int_eq(MPIR_Group_grank(g, i), s->m[i]);
    for (int grank = -1; grank <= SMALL; grank++)
        ck_assert_int_eq(MPIR_Group_rank_of(g, grank), model_rank(s, grank));
    ck_assert_int_eq(g->rank, model_rank(s, MPID_MyWorldRank));
    MPIR_Group_release(g);
}

static void sets(MPIR_Group *a, const struct model *x, MPIR_Group *b, const struct model *y)
{
    struct model u = *x, i = { 0 }, d = { 0 };
    MPIR_Group *g;
    int r, same = x->n == y->n;
    for (int k = 0; k < y->n; k++)
        if (model_rank(x, y->m[k]) == MPI_UNDEFINED)
            u.m[u.n++] = y->m[k];
    for (int k = 0; k < x->n; k++) {
        struct model *to = model_rank(y, x->m[k]) == MPI_UNDEFINED ? &d : &i;
        to->m[to->n++] = x->m[k];
        same = same && x->m[k] == y->m[k];
    }
    MPIR_Group_union(a, b, &g);
    equal(g, &u);
    MPIR_Group_intersection(a, b, &g);
    equal(g, &i);
    MPIR_Group_difference(a, b, &g);
    equal(g, &d);
    MPIR_Group_compare(a, b, &r);
    ck_assert_int_eq(r, same ? MPI_IDENT : i.n == x->n && i.n == y->n ? MPI_SIMILAR : MPI_UNEQUAL);
}

/* Random ranges of ranks, right or wrong: what they stand for by the standard's words. */
static void ranges(MPIR_Group *a, const struct model *x)
{
    int r[3][3], n = rand() % 4, wrong = 0;
    struct model in = { 0 }, out = { 0 };
    bool hit[SMALL] = { false };
    MPIR_Group *g = NULL;
    for (int i = 0; i < n; i++) {
        r[i][0] = rand() % (SMALL + 2) - 1;
        r[i][1] = rand() % (SMALL + 2) - 1;
        r[i][2] = rand() % 7 - 3;
        int s = r[i][2], span = r[i][1] - r[i][0];
        if (s == 0 || span * s < 0) {
            wrong = wrong ? wrong : MPI_ERR_ARG;
            break;
        }
        for (int k = r[i][0]; !wrong && (s > 0 ? k <= r[i][1] : k >= r[i][1]); k += s)
            if (k < 0 || k >= x->n || hit[k])
                wrong = MPI_ERR_RANK;
            else
                hit[k] = true, in.m[in.n++] = x->m[k];
        if (wrong)
            break;
    }
    for (int k = 0; k < x->n; k++)
        if (!hit[k])
            out.m[out.n++] = x->m[k];
    int e1 = MPIR_Group_range_incl(a, n, r, &g);
    if (wrong == 0) {
        ck_assert_int_eq(e1, 0);
        equal(g, &in);
        ck_assert_int_eq(MPIR_Group_range_excl(a, n, r, &g), 0);
        equal(g, &out);
    } else {
        ck_assert(e1 == MPI_ERR_ARG || e1 == MPI_ERR_RANK);
        ck_assert_int_eq(MPIR_Group_range_excl(a, n, r, &g), e1);
    }
}

START_TEST(model)
{
    MPID_MyWorldSize = SMALL;
    MPID_MyWorldRank = 5;
    srand(7);
    for (int i = 0; i < ROUNDS; i++) {
        struct model x, y;
        MPIR_Group *a = random_group(&x), *b = random_group(&y);
        int list[SMALL], to[SMALL];
        sets(a, &x, b, &y);
        ranges(a, &x);
        for (int k = 0; k < x.n; k++)
            list[k] = k % 5 == 4 ? MPI_PROC_NULL : k;
        ck_assert_int_eq(MPIR_Group_translate_ranks(a, x.n, list, b, to), 0);
        for (int k = 0; k < x.n; k++)
            ck_assert_int_eq(to[k], k % 5 == 4 ? MPI_PROC_NULL : model_rank(&y, x.m[k]));
        MPIR_Group_release(a);
        MPIR_Group_release(b);
    }
}
END_TEST

/* ---- Errors -------------------------------------------------------------------------------------------------- */

START_TEST(wrong_lists)
{
    MPIR_Group *g;
    int twice[3] = { 1, 99999, 1 }, beyond[2] = { 0, N };
    int r[][3] = { { 0, INT32_MAX, 1 }, { INT32_MIN, 0, 1 },          { 0, 10, 0 },
                   { 5, 3, 1 },         { 3, 5, INT32_MIN },          { N, N, 1 },
                   { 0, N - 1, N },     { N - 1, 0, -INT32_MAX - 1 }, { INT32_MAX, INT32_MIN, -1 },
                   { 0, 0, INT32_MAX }, { INT32_MIN, INT32_MAX, 1 } };
    const int expected[] = { MPI_ERR_RANK,
                             MPI_ERR_RANK,
                             MPI_ERR_ARG,
                             MPI_ERR_ARG,
                             MPI_ERR_ARG,
                             MPI_ERR_RANK,
                             0,
                             0,
                             MPI_ERR_RANK,
                             0,
                             MPI_ERR_RANK };
    ck_assert_int_eq(MPIR_Group_incl(world, 3, twice, &g), MPI_ERR_RANK);
    ck_assert_str_eq(ku_err_last()->text, "[2] is 1, as is ranks[0]; expected different ranks");
    ck_assert_int_eq(MPIR_Group_excl(world, 2, beyond, &g), MPI_ERR_RANK);
    ck_assert_str_eq(ku_err_last()->text, "[1] is 100000; expected 0 to 99999");
    for (size_t i = 0; i < sizeof r / sizeof *r; i++) {
        int err = MPIR_Group_range_incl(world, 1, &r[i], &g);
        ck_assert_msg(err == expected[i], "range %zu: %d", i, err);
        if (!err) {
            ck_assert_int_eq(g->size, 1);
            MPIR_Group_release(g);
        }
        err = MPIR_Group_range_excl(world, 1, &r[i], &g);
        ck_assert_int_eq(err, expected[i]);
        if (!err) {
            ck_assert_int_eq(g->size, N - 1);
            MPIR_Group_release(g);
        }
    }
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("group");
    Suite *s = suite_create("groups of 100,000");
    tcase_add_checked_fixture(c, set_up, tear_down);
    tcase_add_test(c, shuffled_group);
    tcase_add_test(c, ranges_stay_ranges);
    tcase_add_test(c, sharing);
    tcase_add_test(c, hundred_thousand);
    tcase_add_test(c, million);
    tcase_add_test(c, few_of_many);
    tcase_add_test(c, model);
    tcase_add_test(c, wrong_lists);
    tcase_set_timeout(c, 120);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
