/* SPDX-License-Identifier: BSD-3-Clause */
/* The queues against a model that keeps plain arrays and always searches from the oldest. */
#include "match.h"
#include <check.h>
#include <stdlib.h>

enum { MAX = 3000 };

static uint64_t state = 88172645463325252ull;

static int rnd(int n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)(state % (uint64_t)n);
}

struct model {
    void *item[MAX];
    int source[MAX], tag[MAX], n;
};

static void model_add(struct model *m, void *item, int source, int tag)
{
    m->item[m->n] = item;
    m->source[m->n] = source;
    m->tag[m->n++] = tag;
}

static void model_remove(struct model *m, int i)
{
    m->n--;
    memmove(&m->item[i], &m->item[i + 1], (size_t)(m->n - i) * sizeof m->item[0]);
    memmove(&m->source[i], &m->source[i + 1], (size_t)(m->n - i) * sizeof m->source[0]);
    memmove(&m->tag[i], &m->tag[i + 1], (size_t)(m->n - i) * sizeof m->tag[0]);
}

static bool fits(int wanted_source, int wanted_tag, int source, int tag)
{
    return (wanted_source == MPI_ANY_SOURCE || wanted_source == source) &&
           (wanted_tag == MPI_ANY_TAG || wanted_tag == tag);
}

/* The entry of the model that is to be taken, -1 if none; wildcards may be in the model or in what is asked. */
static int model_find(const struct model *m, int source, int tag)
{
    for (int i = 0; i < m->n; i++)
        if (fits(m->source[i], m->tag[i], source, tag) || fits(source, tag, m->source[i], m->tag[i]))
            return i;
    return -1;
}

static int some_source(int sources, int wild)
{
    return rnd(100) < wild ? MPI_ANY_SOURCE : rnd(sources);
}

static int some_tag(int tags, int wild)
{
    return rnd(100) < wild ? MPI_ANY_TAG : rnd(tags);
}

static void posted_round(int steps, int target, int sources, int tags, int wild)
{
    static struct MPIR_HANDLE pool[MAX];
    static struct model m;
    struct posted q = { .n = 0 };
    int used = 0;
    m.n = 0;
    for (int i = 0; i < steps; i++) {
        bool full = m.n >= target || used == MAX;
        if (!full && (m.n == 0 || rnd(3) > 0)) {
            struct MPIR_HANDLE *r = &pool[used++];
            r->rank = some_source(sources, wild);
            r->tag = some_tag(tags, wild);
            MPID_Posted_add(&q, r);
            model_add(&m, r, r->rank, r->tag);
        } else if (m.n > 0 && rnd(5) == 0) { /* cancel */
            int k = rnd(m.n);
            MPID_Posted_remove(&q, m.item[k]);
            model_remove(&m, k);
        } else {
            int source = rnd(sources), tag = rnd(tags), k = model_find(&m, source, tag);
            struct MPIR_HANDLE *r = MPID_Posted_take(&q, source, tag);
            ck_assert_ptr_eq(r, k < 0 ? NULL : m.item[k]);
            if (k >= 0)
                model_remove(&m, k);
        }
        ck_assert_uint_eq(q.n, (unsigned)m.n);
        if (m.n == 0)
            used = 0;
    }
    while (m.n > 0) {
        MPID_Posted_remove(&q, m.item[m.n - 1]);
        m.n--;
    }
    MPID_Posted_fini(&q);
}

START_TEST(posted_follows_the_model)
{
    posted_round(20000, 20, 3, 3, 20);
    posted_round(40000, 200, 4, 5, 20);
    posted_round(40000, 2500, 7, 400, 5);
    posted_round(40000, 2500, 2, 2, 50);
    posted_round(20000, 2500, 1000, 1, 0);
}
END_TEST

static void unexp_round(int steps, int target, int sources, int tags, int wild)
{
    static struct umsg pool[MAX];
    static struct model m;
    struct unexp q = { .n = 0 };
    int used = 0;
    m.n = 0;
    for (int i = 0; i < steps; i++) {
        if (m.n < target && used < MAX && (m.n == 0 || rnd(3) > 0)) {
            struct umsg *u = &pool[used++];
            u->source = rnd(sources);
            u->tag = rnd(tags);
            MPID_Unexp_add(&q, u);
            model_add(&m, u, u->source, u->tag);
        } else {
            int source = some_source(sources, wild), tag = some_tag(tags, wild),
                k = model_find(&m, source, tag);
            struct umsg *u = MPID_Unexp_find(&q, source, tag);
            ck_assert_ptr_eq(u, k < 0 ? NULL : m.item[k]);
            if (k >= 0 && rnd(4) > 0) { /* else: a probe */
                MPID_Unexp_remove(&q, u);
                model_remove(&m, k);
            }
        }
        ck_assert_uint_eq(q.n, (unsigned)m.n);
        if (m.n == 0)
            used = 0;
    }
    while (q.n > 0)
        MPID_Unexp_remove(&q, q.head);
    MPID_Unexp_fini(&q);
}

START_TEST(unexpected_follows_the_model)
{
    unexp_round(20000, 20, 3, 3, 20);
    unexp_round(40000, 200, 4, 5, 30);
    unexp_round(40000, 2500, 7, 400, 10);
    unexp_round(40000, 2500, 2, 2, 60);
    unexp_round(20000, 2500, 1000, 1, 0);
}
END_TEST

static void count_one(struct MPIR_HANDLE *r, void *arg)
{
    MPID_Posted_remove(arg, r);
    r->peer = 1234;
}

START_TEST(each_may_remove)
{
    static struct MPIR_HANDLE pool[500];
    for (int n = 1; n < 500; n += 83) {
        struct posted q = { .n = 0 };
        for (int i = 0; i < n; i++) {
            pool[i] = (struct MPIR_HANDLE){ .rank = i % 5, .tag = i };
            MPID_Posted_add(&q, &pool[i]);
        }
        MPID_Posted_each(&q, count_one, &q);
        ck_assert_uint_eq(q.n, 0);
        for (int i = 0; i < n; i++)
            ck_assert_int_eq(pool[i].peer, 1234);
        MPID_Posted_fini(&q);
    }
}
END_TEST

/* Numbers 0 to n - 1 in some order. */
enum { FORWARD, REVERSE, RANDOM, ORDERS };

static const int *order_of(int n, int order)
{
    static int at[100000];
    for (int i = 0; i < n; i++)
        at[i] = order == REVERSE ? n - 1 - i : i;
    for (int i = n - 1; i > 0 && order == RANDOM; i--) {
        int k = rnd(i + 1), x = at[i];
        at[i] = at[k];
        at[k] = x;
    }
    return at;
}

static const int depths[] = { 1, 2, 31, 32, 33, 34, 127, 128, 129, 1000, 100000 };

/* Receives by tag, every third from any source, wait; before or behind them one that takes anything. */
static void posted_depth(int n, int order, bool anything)
{
    static struct MPIR_HANDLE pool[100001];
    const int *at = order_of(n, order);
    struct posted q = { .n = 0 };
    pool[n] = (struct MPIR_HANDLE){ .rank = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG };
    for (int i = 0; i < n; i++) {
        pool[i] = (struct MPIR_HANDLE){ .rank = i % 3 == 0 ? MPI_ANY_SOURCE : i % 7, .tag = i };
        MPID_Posted_add(&q, &pool[i]);
    }
    if (anything)
        MPID_Posted_add(&q, &pool[n]);
    for (int i = 0; i < n; i++)
        ck_assert_ptr_eq(MPID_Posted_take(&q, at[i] % 7, at[i]), &pool[at[i]]);
    ck_assert_ptr_eq(MPID_Posted_take(&q, 1, 1), anything ? &pool[n] : NULL);
    ck_assert_uint_eq(q.n, 0);
    MPID_Posted_fini(&q);
}

START_TEST(posted_depths)
{
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++)
        for (int order = 0; order < ORDERS; order++)
            for (int anything = 0; anything < 2; anything++)
                posted_depth(depths[i], order, anything);
}
END_TEST

/* Messages wait, every one with a tag and a source of its own; taken by tag, by source, by both in turn. */
static void unexp_depth(int n, int order)
{
    static struct umsg pool[100000];
    const int *at = order_of(n, order);
    struct unexp q = { .n = 0 };
    for (int i = 0; i < n; i++) {
        pool[i] = (struct umsg){ .source = i, .tag = n + i };
        MPID_Unexp_add(&q, &pool[i]);
    }
    for (int i = 0; i < n; i++) {
        int k = at[i];
        struct umsg *m =
            MPID_Unexp_find(&q, i % 3 == 0 ? MPI_ANY_SOURCE : k, i % 3 == 1 ? MPI_ANY_TAG : n + k);
        ck_assert_ptr_eq(m, &pool[k]);
        MPID_Unexp_remove(&q, m);
    }
    ck_assert_ptr_eq(MPID_Unexp_find(&q, MPI_ANY_SOURCE, MPI_ANY_TAG), NULL);
    MPID_Unexp_fini(&q);
}

START_TEST(unexpected_depths)
{
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++)
        for (int order = 0; order < ORDERS; order++)
            unexp_depth(depths[i], order);
}
END_TEST

/* A queue that was hashed and emptied is a list again, and may be hashed again. */
START_TEST(emptied_and_filled)
{
    static struct MPIR_HANDLE pool[300];
    static struct umsg msg[300];
    struct posted q = { .n = 0 };
    struct unexp u = { .n = 0 };
    for (int round = 0; round < 20; round++) {
        int n = 20 + 40 * (round % 7);
        for (int i = 0; i < n; i++) {
            pool[i] = (struct MPIR_HANDLE){ .rank = 1, .tag = i };
            msg[i] = (struct umsg){ .source = 1, .tag = i };
            MPID_Posted_add(&q, &pool[i]);
            MPID_Unexp_add(&u, &msg[i]);
        }
        for (int i = n - 1; i >= 0; i--) {
            ck_assert_ptr_eq(MPID_Posted_take(&q, 1, i), &pool[i]);
            ck_assert_ptr_eq(MPID_Unexp_find(&u, round % 2 ? 1 : MPI_ANY_SOURCE, i), &msg[i]);
            MPID_Unexp_remove(&u, &msg[i]);
        }
        ck_assert(!q.hashed && q.head == NULL && q.tail == NULL && u.built == 0);
    }
    MPID_Posted_fini(&q);
    MPID_Unexp_fini(&u);
}
END_TEST

START_TEST(sizes)
{
    ck_assert_uint_le(sizeof(struct umsg), 136);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("match");
    TCase *t = tcase_create("match");
    SRunner *r = srunner_create(s);
    int failed;
    tcase_set_timeout(t, 60);
    tcase_add_test(t, posted_follows_the_model);
    tcase_add_test(t, unexpected_follows_the_model);
    tcase_add_test(t, posted_depths);
    tcase_add_test(t, unexpected_depths);
    tcase_add_test(t, emptied_and_filled);
    tcase_add_test(t, each_may_remove);
    tcase_add_test(t, sizes);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
