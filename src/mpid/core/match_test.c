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
    tcase_add_test(t, each_may_remove);
    tcase_add_test(t, sizes);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
