/* SPDX-License-Identifier: BSD-3-Clause */
/* choose_test.c: the tables of algorithms, the choice, the trees; and that tests/mpi/coll forces every row. */
#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "coll.h"
#include "tune.h"

enum { MOST = 100 };

/* ---- Trees ------------------------------------------------------------------------------------------------------- */

struct seen {
    int64_t parent[MOST], covered;
    int64_t v, last;
    int radix;
    int64_t p;
    bool up;
};

static void see(struct coll *c, void *arg, int64_t child, int64_t span)
{
    struct seen *s = arg;
    struct coll_tree t = MPIR_Coll_tree_of(child, s->p, s->radix);
    (void)c;
    ck_assert_int_eq(t.parent, s->v);
    ck_assert_int_eq(t.span, span);
    ck_assert_int_eq(s->parent[child], -1);
    s->parent[child] = s->v;
    s->covered += span;
    if (s->up)
        ck_assert_int_eq(child, s->last); /* subtrees in rank order, without gaps */
    s->last = child + span;
}

static void walk(int64_t p, int radix, bool up)
{
    struct seen s = { .radix = radix, .p = p, .up = up };
    struct coll c = { 0 };
    int children = 0;
    memset(s.parent, -1, sizeof s.parent);
    for (int64_t v = 0; v < p; v++) {
        s.v = v;
        s.covered = 1;
        s.last = v + 1;
        MPIR_Coll_each_child(&c, v, p, radix, up, see, &s);
        ck_assert_int_eq(MPIR_Coll_tree_of(v, p, radix).span, s.covered);
    }
    ck_assert_int_eq(MPIR_Coll_tree_of(0, p, radix).span, p);
    for (int64_t v = 0; v < p; v++)
        children += s.parent[v] >= 0;
    ck_assert_int_eq(children, p - 1);
}

START_TEST(trees)
{
    static const int radixes[] = { 2, 3, 4, 32 };
    for (int r = 0; r < 4; r++)
        for (int64_t p = 1; p <= MOST; p++) {
            walk(p, radixes[r], true);
            walk(p, radixes[r], false);
        }
}
END_TEST

START_TEST(parts)
{
    for (int p = 1; p < 40; p++)
        for (int64_t n = 0; n < 100; n += 7) {
            ck_assert_int_eq(coll_part(n, p, 0), 0);
            ck_assert_int_eq(coll_part(n, p, p), n);
            for (int i = 0; i < p; i++) {
                int64_t len = coll_part(n, p, i + 1) - coll_part(n, p, i);
                ck_assert(len == n / p || len == n / p + 1);
            }
        }
    ck_assert_int_eq(coll_part(INT64_MAX, 1000000, 1000000), INT64_MAX);
}
END_TEST

/* ---- The choice -------------------------------------------------------------------------------------------------- */

static bool allowed(const struct coll_alg *a, const struct coll_size *s)
{
    return !coll_at_team(a) && (!(a->needs & COLL_NEEDS_NODES) || s->nodes) &&
           (!(a->needs & COLL_NEEDS_BLOCKS) || s->blocks) &&
           (!(a->needs & COLL_NEEDS_ORDER) || s->blocks || s->commutative) &&
           (!(a->needs & COLL_NEEDS_COMMUTATIVE) || s->commutative) &&
           (!(a->needs & COLL_NEEDS_POW2) || !(s->p & (s->p - 1))) &&
           (!(a->needs & COLL_NEEDS_SPREAD) || s->elements >= s->p) &&
           (!(a->needs & COLL_NEEDS_IN_PLACE) || s->in_place) &&
           (!(a->needs & COLL_NEEDS_SEND) || !s->in_place);
}

/* Every call has an algorithm that can do it; none that is allowed is cheaper. */
static void choose(enum coll_kind kind, struct coll_size s, bool crowded)
{
    MPIR_Coll_facts facts = { .known = 1, .crowded = crowded };
    const struct coll_alg *best = MPIR_Coll_choose(kind, &facts, &s);
    ck_assert_ptr_nonnull(best);
    ck_assert(allowed(best, &s));
    for (const struct coll_alg *a = MPIR_Coll_tables[kind].algs; a->name; a++) {
        double ns = MPIR_Coll_ns(a, &s);
        ck_assert_msg(ns >= 0 && ns == ns, "%s %s costs %g", MPIR_Coll_tables[kind].name, a->name, ns);
        ck_assert(!allowed(a, &s) || MPIR_Coll_ns(best, &s) <= ns);
    }
}

START_TEST(choices)
{
    for (int kind = 0; kind < COLL_TABLES; kind++)
        for (int32_t p = 2; p <= 1 << 20; p = p < 9 ? p + 1 : p * 5)
            for (int64_t n = 0; n < 1ll << 33; n = n * 3 + 1)
                for (int bits = 0; bits < 32; bits++)
                    choose(kind,
                           (struct coll_size){ .bytes = n * 4,
                                               .elements = n,
                                               .p = p,
                                               .most = (p + 1) / 2,
                                               .commutative = bits & 1,
                                               .in_place = (bits & 2) != 0,
                                               .nodes = bits & 8 ? (p + 3) / 4 : 0,
                                               .largest = bits & 8 ? (p < 4 ? p : 4) : 0,
                                               .blocks = (bits & 24) == 24 },
                           bits & 4);
}
END_TEST

static const char *chosen(enum coll_kind kind, int64_t bytes, int32_t p, bool crowded)
{
    MPIR_Coll_facts facts = { .known = 1, .crowded = crowded };
    struct coll_size s = { .bytes = bytes, .elements = bytes / 4, .p = p, .commutative = true };
    return MPIR_Coll_choose(kind, &facts, &s)->name;
}

/* On an intercommunicator, with n ranks in a group and m in the larger. */
static const char *between(enum coll_kind kind, int32_t n, int32_t m)
{
    MPIR_Coll_facts facts = { .known = 1 };
    struct coll_size s = { .p = n + m, .most = m };
    return MPIR_Coll_choose((enum coll_kind)(kind + COLL_INTER), &facts, &s)->name;
}

/* What is known to be right. */
START_TEST(landmarks)
{
    ck_assert_str_eq(chosen(COLL_BARRIER, 0, 8, true), "wide");
    ck_assert_str_eq(chosen(COLL_BARRIER, 0, 64, false), "dissemination");
    ck_assert_str_eq(chosen(COLL_ALLREDUCE, 8, 64, false), "doubling");
    ck_assert_str_eq(chosen(COLL_ALLREDUCE, 8, 16, true), "wide");
    ck_assert_str_ne(chosen(COLL_ALLREDUCE, 16 << 20, 16, false), "doubling");
    ck_assert_str_eq(chosen(COLL_BCAST, 8, 64, false), "binomial");
    ck_assert_str_eq(chosen(COLL_GATHERV, 0, 64, false), "packed");
    ck_assert_str_eq(chosen(COLL_SCATTERV, 0, 8, false), "linear");
    ck_assert_str_eq(chosen(COLL_SCATTERV, 0, 64, true), "linear");
    ck_assert_str_ne(chosen(COLL_BCAST, 64 << 20, 16, false), "binomial");
    ck_assert_str_eq(chosen(COLL_ALLTOALL, 4, 256, false), "bruck");
    ck_assert_str_ne(chosen(COLL_ALLTOALL, 1 << 20, 16, false), "bruck");
    ck_assert_str_ne(chosen(COLL_ALLGATHER, 64 << 20, 12, false), "bruck");
    ck_assert_str_eq(between(COLL_ALLREDUCE, 2, 2), "direct");
    ck_assert_str_eq(between(COLL_ALLREDUCE, 64, 64), "leaders");
    ck_assert_str_eq(between(COLL_BCAST, 1, 2), "direct");
    ck_assert_str_eq(between(COLL_BCAST, 1, 500), "leader");
}
END_TEST

START_TEST(forced)
{
    MPIR_Coll_facts facts = { .known = 1 };
    struct coll_size s = { .bytes = 8, .elements = 1, .p = 4 };
    facts.forced[COLL_ALLREDUCE] = 8; /* ring: needs a commutative operation and as many elements as ranks */
    ck_assert_str_eq(MPIR_Coll_allreduce_algs[7].name, "ring");
    ck_assert_str_ne(MPIR_Coll_choose(COLL_ALLREDUCE, &facts, &s)->name, "ring");
    s.commutative = true;
    s.elements = 4;
    ck_assert_str_eq(MPIR_Coll_choose(COLL_ALLREDUCE, &facts, &s)->name, "ring");
}
END_TEST

START_TEST(flat)
{
    MPIR_Coll_facts facts = { .known = 1 };
    struct coll_size s = {
        .bytes = 8, .elements = 1, .p = 48, .nodes = 4, .largest = 12, .blocks = true, .commutative = true
    };
    ck_assert_str_eq(MPIR_Coll_choose(COLL_ALLREDUCE, &facts, &s)->name, "nodes");
    facts.forced[COLL_ALLREDUCE] = MPIR_Coll_row_of(COLL_ALLREDUCE, "flat", 4);
    ck_assert_str_ne(MPIR_Coll_choose(COLL_ALLREDUCE, &facts, &s)->name, "nodes");
    facts.forced[COLL_ALLREDUCE] = 0;
    ck_assert_str_eq(MPIR_Coll_choose(COLL_ALLREDUCE, &facts, &s)->name, "nodes");
}
END_TEST

static bool rule(const char *item)
{
    return MPIR_Coll_tune_add(item, strlen(item));
}

static const char *ruled(int64_t bytes, int32_t p)
{
    MPIR_Coll_facts facts = { .known = 1, .ruled = 1 };
    struct coll_size s = { .bytes = bytes, .elements = bytes / 4, .p = p, .commutative = true };
    return MPIR_Coll_choose(COLL_ALLREDUCE, &facts, &s)->name;
}

START_TEST(rules)
{
    static const char *const wrong[] = { "allreduce=ring",
                                         "allreduce:1",
                                         "allreduce:1=",
                                         "allreduce:1=none",
                                         "none:1=ring",
                                         "allreduce:x=ring",
                                         "allreduce:1-x=ring",
                                         "allreduce:-=ring",
                                         "allreduce:1:2:3=ring",
                                         "allreduce:1-2-3=ring",
                                         "" };
    ck_assert_uint_eq(MPIR_Coll_tune_hash(), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!rule(wrong[i]), "%s was taken", wrong[i]);
    ck_assert_uint_eq(MPIR_Coll_tune_hash(), 0);
    ck_assert(rule("allreduce:1k-2K:4-8=ring"));
    ck_assert(rule("allreduce:1m-:*=doubling"));
    ck_assert(rule("allreduce::-3=wide"));
    ck_assert(rule("allreduce:64=halving"));
    ck_assert_uint_ne(MPIR_Coll_tune_hash(), 0);
    ck_assert_str_eq(ruled(1024, 4), "ring");
    ck_assert_str_eq(ruled(2048, 8), "ring");
    ck_assert_str_eq(ruled(1024, 3), "wide");
    ck_assert_str_eq(ruled(1 << 20, 2), "doubling");
    ck_assert_str_eq(ruled(16 << 20, 16), "doubling");
    ck_assert_str_eq(ruled(64, 16), "halving");
    ck_assert_str_ne(ruled(64, 17), "halving"); /* it needs an element a rank */
    ck_assert_str_eq(ruled(1 << 20, 3), "doubling");
}
END_TEST

/* ---- Every row is forced by some test program ---------------------------------------------------------------- */

/* All lines of the programs that force something. */
static char *forcing(void)
{
    char path[600];
    char *all = calloc(1, 1 << 16);
    glob_t g;
    snprintf(path, sizeof path, "%s/tests/mpi/coll/*.c", TOP_SRCDIR);
    ck_assert_int_eq(glob(path, 0, NULL, &g), 0);
    for (size_t i = 0; i < g.gl_pathc; i++) {
        char line[2000];
        FILE *f = fopen(g.gl_pathv[i], "r");
        ck_assert_ptr_nonnull(f);
        while (fgets(line, sizeof line, f)) {
            char *list = strstr(line, "env: KEEL_COLL=");
            if (list) {
                strcat(all, ",");
                strcat(all, list + strlen("env: KEEL_COLL="));
            }
        }
        fclose(f);
    }
    globfree(&g);
    return all;
}

START_TEST(all_rows_are_tested)
{
    char *all = forcing(), item[100];
    for (int k = 0; k < COLL_TABLES; k++)
        for (const struct coll_alg *a = MPIR_Coll_tables[k].algs; a->name; a++) {
            snprintf(item, sizeof item, ",%s=%s", MPIR_Coll_tables[k].name, a->name);
            char *at = strstr(all, item);
            ck_assert_msg(at && strchr(", \n", at[strlen(item)]), "no test forces%s", item);
        }
    free(all);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("choose");
    tcase_set_timeout(c, 30);
    Suite *s = suite_create("collectives: choice and trees");
    tcase_add_test(c, trees);
    tcase_add_test(c, parts);
    tcase_add_test(c, choices);
    tcase_add_test(c, landmarks);
    tcase_add_test(c, forced);
    tcase_add_test(c, flat);
    tcase_add_test(c, rules);
    tcase_add_test(c, all_rows_are_tested);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
