/* group_test.c: groups of 100,000 processes, which no job of the tests has: right, and not quadratic. */
#include <check.h>
#include <stdlib.h>
#include <time.h>
#include "bodies.h"
#include "group.h"
#include "mpid.h"

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

int main(void)
{
    TCase *c = tcase_create("group");
    Suite *s = suite_create("groups of 100,000");
    tcase_add_checked_fixture(c, set_up, tear_down);
    tcase_add_test(c, shuffled_group);
    tcase_add_test(c, ranges_stay_ranges);
    tcase_add_test(c, sharing);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
