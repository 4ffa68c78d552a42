/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of peers: what it takes for a million of which few are used, growth, and peers that are lost. */
#include "core.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "util/sparse.h"

/* Resident private KB of this process, as the kernel counts its pages now. */
static long resident_kb(void)
{
    char line[200];
    long kb = -1;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f) != NULL)
        sscanf(line, "Rss: %ld", &kb);
    fclose(f);
    ck_assert_int_ge(kb, 0);
    return kb;
}

static struct peer *use(struct peers *t, int32_t index)
{
    struct peer *p = calloc(1, sizeof *p);
    ck_assert_ptr_nonnull(p);
    p->grank = index;
    MPID_Peers_put(t, p);
    return p;
}

enum { MILLION = 1 << 20, USED = 100 };

/* The i-th of USED indices all over the table, each on a page of its own. */
static int32_t scattered(int i)
{
    return (int32_t)((uint32_t)i * 9973u * 1051u % MILLION);
}

START_TEST(a_million_peers_of_which_few_are_used_take_little)
{
    struct peers t;
    const struct peer *p;
    int n = 0;
    long before = resident_kb(), after;
    ck_assert(MPID_Peers_init(&t, MILLION));
    for (int i = 0; i < USED; i++)
        ck_assert_ptr_eq(use(&t, scattered(i)), t.at[scattered(i)]);
    for (p = t.first; p != NULL; p = p->next_used)
        ck_assert_int_eq(p->grank, scattered(n++));
    ck_assert_int_eq(n, USED);
    after = resident_kb();
    for (int32_t i = 0; i < MILLION;
         i += 100) /* may take memory: not every kernel has a page of zeros for who only reads */
        n += t.at[i] != NULL && t.at[i]->grank != i;
    ck_assert_int_eq(n, USED);
    printf("%d of %d peers: %ld KB\n", USED, MILLION, after - before);
#ifndef __SANITIZE_ADDRESS__
    ck_assert_int_lt(after - before, 1024);
#endif
    MPID_Peers_fini(&t);
}
END_TEST

static void grows(int32_t from, int32_t to)
{
    struct peers t;
    struct peer *first, *last;
    ck_assert(MPID_Peers_init(&t, from));
    first = use(&t, 0);
    last = use(&t, from - 1);
    ck_assert(MPID_Peers_lose(&t, from / 2));
    ck_assert(MPID_Peers_grow(&t, to));
    ck_assert_int_eq(t.n, to);
    ck_assert_ptr_eq(t.at[0], first);
    ck_assert_ptr_eq(t.at[from - 1], last);
    ck_assert(t.at[from / 2]->gone);
    for (int32_t i = from; i < to; i++)
        ck_assert_ptr_null(t.at[i]);
    use(&t, to - 1);
    ck_assert_ptr_eq(t.first->next_used->next_used, t.at[to - 1]);
    MPID_Peers_fini(&t);
}

START_TEST(it_grows_and_indices_stay)
{
    grows(3, 4);
    grows(3, KU_SPARSE_SMALL + 1);
    grows(KU_SPARSE_SMALL, KU_SPARSE_SMALL + 1);
    grows(KU_SPARSE_SMALL + 1, 4 * KU_SPARSE_SMALL);
    grows(KU_SPARSE_SMALL + 513, MILLION);
}
END_TEST

START_TEST(who_is_lost_is_lost_once)
{
    struct peers t;
    struct peer *used;
    ck_assert(MPID_Peers_init(&t, 8));
    used = use(&t, 5);
    used->fast = true;
    ck_assert(MPID_Peers_lose(&t, 5));
    ck_assert(used->gone && !used->fast);
    ck_assert(MPID_Peers_lose(&t, 6)); /* never used: an entry, but not of those in use */
    ck_assert(t.at[6]->gone && !t.at[6]->fast);
    ck_assert_ptr_null(t.at[6]->dp);
    ck_assert_ptr_eq(t.last, used);
    ck_assert(!MPID_Peers_lose(&t, 5));
    ck_assert(!MPID_Peers_lose(&t, 6));
    ck_assert_int_eq(t.ngone, 2);
    MPID_Peers_fini(&t);
    ck_assert_int_eq(t.ngone + t.n, 0);
    MPID_Peers_fini(&t);
}
END_TEST

START_TEST(who_is_forgotten_leaves_its_place)
{
    struct peers t;
    ck_assert(MPID_Peers_init(&t, 8));
    struct peer *a = use(&t, 1), *b = use(&t, 2);
    use(&t, 3);
    ck_assert(MPID_Peers_lose(&t, 6));
    MPID_Peers_forget(&t, 2);
    MPID_Peers_forget(&t, 6);
    MPID_Peers_forget(&t, 7); /* never used */
    ck_assert_ptr_null(t.at[2]);
    ck_assert_ptr_null(t.at[6]);
    ck_assert_ptr_eq(a->next_used, t.at[3]);
    MPID_Peers_forget(&t, 3);
    ck_assert_ptr_eq(t.last, a);
    ck_assert_ptr_null(a->next_used);
    MPID_Peers_forget(&t, 1);
    ck_assert_ptr_null(t.first);
    ck_assert_ptr_null(t.last);
    b = use(&t, 2);
    ck_assert_ptr_eq(t.first, b);
    MPID_Peers_fini(&t);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("peers");
    TCase *c = tcase_create("table");
    SRunner *r = srunner_create(s);
    tcase_add_test(c, a_million_peers_of_which_few_are_used_take_little);
    tcase_add_test(c, it_grows_and_indices_stay);
    tcase_add_test(c, who_is_lost_is_lost_once);
    tcase_add_test(c, who_is_forgotten_leaves_its_place);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
