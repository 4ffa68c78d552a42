/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_test.c: divisions whose best is known: grids into blocks, clusters, and that nothing becomes worse. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "fit.h"
#include "tiles.h"

enum { MOST = 20000 };
static struct fit_line lines[MOST];
static int32_t part[MOST];

/* The edges of a grid, row-major. */
static int64_t grid(int n, const int *dims, int *cells)
{
    int64_t k = 0;
    int step = 1;
    *cells = 1;
    for (int i = 0; i < n; i++)
        *cells *= dims[i];
    for (int i = n - 1; i >= 0; i--) {
        for (int v = 0; v < *cells; v++)
            if (v / step % dims[i] < dims[i] - 1)
                lines[k++] = (struct fit_line){ v, v + step, 1 };
        step *= dims[i];
    }
    return k;
}

static void count_sizes(int n, int parts, int *sizes)
{
    memset(sizes, 0, (size_t)parts * sizeof *sizes);
    for (int i = 0; i < n; i++) {
        ck_assert_int_ge(part[i], 0);
        ck_assert_int_lt(part[i], parts);
        sizes[part[i]]++;
    }
}

/* Divide as part[] is, and check what must hold always; the weight between the parts. */
static int64_t fit(int n, int64_t nlines, int parts, struct fit_orders *orders)
{
    static int before[MOST], after[MOST];
    static int32_t was[MOST];
    struct fit_graph g;
    ck_assert(MPIR_Fit_graph(&g, n, lines, nlines));
    count_sizes(n, parts, before);
    memcpy(was, part, sizeof was);
    int64_t start = MPIR_Fit_cut(&g, part);
    ck_assert(MPIR_Fit(&g, parts, orders, part));
    int64_t cut = MPIR_Fit_cut(&g, part);
    ck_assert_int_le(cut, start);
    ck_assert(cut < start || !memcmp(was, part, (size_t)n * sizeof *part));
    count_sizes(n, parts, after);
    ck_assert(!memcmp(before, after, (size_t)parts * sizeof *before));
    MPIR_Fit_free(&g);
    return cut / 2;
}

static const struct {
    int n, dims[4], parts;
    int64_t best;
} grids[] = {
    { 1, { 12 }, 4, 3 },        { 2, { 4, 4 }, 4, 8 },  { 2, { 8, 8 }, 4, 16 },
    { 2, { 16, 16 }, 16, 96 },  { 2, { 6, 6 }, 4, 12 }, { 3, { 4, 4, 4 }, 8, 48 },
    { 3, { 8, 8, 8 }, 8, 192 }, { 2, { 1, 9 }, 3, 2 },  { 4, { 4, 4, 4, 4 }, 2, 64 },
};

START_TEST(grids_into_blocks)
{
    int cells, dims[4];
    memcpy(dims, grids[_i].dims, sizeof dims);
    int64_t k = grid(grids[_i].n, dims, &cells);
    for (int tiled = 0; tiled < 2; tiled++) {
        struct tiles t;
        MPIR_Tiles_init(&t, grids[_i].n, dims);
        ck_assert(MPIR_Tiles_of(&t, cells / grids[_i].parts));
        for (int v = 0; v < cells; v++)
            part[v] = v % grids[_i].parts; /* dealt out */
        int64_t cut = fit(cells, k, grids[_i].parts, tiled ? &t.orders : NULL);
        ck_assert_int_eq(cut, grids[_i].best);
        MPIR_Tiles_free(&t);
    }
}
END_TEST

/* Each order goes through all cells once. */
START_TEST(tiles_are_orders)
{
    static int32_t order[MOST];
    struct tiles t;
    const int dims[3] = { 5, 7, 4 };
    int orders = 0;
    MPIR_Tiles_init(&t, 3, dims);
    ck_assert(MPIR_Tiles_of(&t, 12) && MPIR_Tiles_of(&t, 11));
    while (t.orders.next(&t.orders, order)) {
        char seen[140] = { 0 };
        for (int i = 0; i < 140; i++) {
            ck_assert(order[i] >= 0 && order[i] < 140 && !seen[order[i]]);
            seen[order[i]] = 1;
        }
        orders++;
    }
    ck_assert_int_ge(orders, 3);
    MPIR_Tiles_free(&t);
}
END_TEST

/* Heavy clusters whose members are far from each other. */
START_TEST(clusters)
{
    int64_t k = 0, light = 0;
    for (int a = 0; a < 60; a++)
        for (int b = 0; b < a; b++) {
            int near = a % 6 == b % 6;
            light += !near;
            lines[k++] = (struct fit_line){ a, b, near ? 1000 : 1 };
        }
    for (int v = 0; v < 60; v++)
        part[v] = v / 10;
    ck_assert_int_eq(fit(60, k, 6, NULL), light);
}
END_TEST

/* Parts of all sizes, loops, several edges, isolated vertices, weights of 0. */
START_TEST(anything)
{
    srand((unsigned)_i);
    int n = 2 + rand() % 60, parts = 1 + rand() % n;
    int64_t k = rand() % 300;
    for (int64_t i = 0; i < k; i++)
        lines[i] = (struct fit_line){ rand() % n, rand() % n, rand() % 4 };
    for (int v = 0; v < n; v++)
        part[v] = v < parts ? v : rand() % parts;
    fit(n, k, parts, NULL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("fit");
    TCase *t = tcase_create("fit");
    tcase_add_loop_test(t, grids_into_blocks, 0, (int)(sizeof grids / sizeof *grids));
    tcase_add_test(t, tiles_are_orders);
    tcase_add_test(t, clusters);
    tcase_add_loop_test(t, anything, 0, 200);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_set_fork_status(r, CK_NOFORK);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
