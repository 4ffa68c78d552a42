/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: every procedure against sets computed by hand, at any number of ranks.
 */
/* ranks: 1 2 3 4 5 8 24 */
#include "../check.h"

static MPI_Group world;

/* The group has exactly these world ranks, in this order. */
static void expect(MPI_Group g, int n, const int *ranks, const char *what)
{
    int size = -1, rank = -1, mine = MPI_UNDEFINED;
    int *all = malloc((size_t)(n + 1) * sizeof *all), *got = malloc((size_t)(n + 1) * sizeof *got);
    MPI_Group_size(g, &size);
    CHECK_EQ(size, n, "%s", what);
    MPI_Group_rank(g, &rank);
    for (int i = 0; i < n; i++) {
        all[i] = i;
        if (ranks[i] == check_rank)
            mine = i;
    }
    CHECK_EQ(rank, mine, "%s", what);
    if (size == n) {
        MPI_Group_translate_ranks(g, n, all, world, got);
        for (int i = 0; i < n; i++)
            CHECK_EQ(got[i], ranks[i], "%s: member %d", what, i);
    }
    free(all);
    free(got);
}

static void expect_relation(MPI_Group a, MPI_Group b, int expected)
{
    int r = -1;
    MPI_Group_compare(a, b, &r);
    CHECK_EQ(r, expected);
    MPI_Group_compare(b, a, &r);
    CHECK_EQ(r, expected);
}

static void lists(void)
{
    int n = check_size, *back = malloc((size_t)n * sizeof *back), *odd = malloc((size_t)n * sizeof *odd),
        m = 0, e = 0;
    int *even = malloc((size_t)n * sizeof *even);
    MPI_Group g, h;
    for (int i = 0; i < n; i++) {
        back[i] = n - 1 - i;
        if (i % 2)
            odd[m++] = i;
        else
            even[e++] = i;
    }
    MPI_Group_incl(world, n, back, &g);
    expect(g, n, back, "incl backwards");
    expect_relation(g, world, n > 1 ? MPI_SIMILAR : MPI_IDENT);
    MPI_Group_incl(g, n, back, &h);
    expect_relation(h, world, MPI_IDENT);
    MPI_Group_free(&h);
    MPI_Group_free(&g);
    CHECK(g == MPI_GROUP_NULL);
    MPI_Group_incl(world, m, odd, &g);
    expect(g, m, odd, "incl odd");
    expect_relation(g, world, MPI_UNEQUAL);
    MPI_Group_excl(world, m, odd, &h);
    expect(h, e, even, "excl odd");
    MPI_Group_free(&h);
    MPI_Group_free(&g);
    MPI_Group_incl(world, 0, NULL, &g);
    CHECK(g == MPI_GROUP_EMPTY);
    MPI_Group_excl(world, 0, NULL, &h);
    expect_relation(h, world, MPI_IDENT);
    expect_relation(g, MPI_GROUP_EMPTY, MPI_IDENT);
    MPI_Group_free(&h);
    free(back);
    free(odd);
    free(even);
}

static void sets(void)
{
    int n = check_size, a[64] = { 0 }, b[64] = { 0 }, x[64] = { 0 }, na = 0, nb = 0, nx;
    MPI_Group ga, gb, g;
    for (int i = n - 1; i >= 0; i--) /* a: not divisible by 3, downwards; b: even, upwards */
        if (i % 3)
            a[na++] = i;
    for (int i = 0; i < n; i += 2)
        b[nb++] = i;
    MPI_Group_incl(world, na, a, &ga);
    MPI_Group_incl(world, nb, b, &gb);
    MPI_Group_union(ga, gb, &g);
    for (nx = 0; nx < na; nx++)
        x[nx] = a[nx];
    for (int i = 0; i < nb; i++)
        if (b[i] % 3 == 0)
            x[nx++] = b[i];
    expect(g, nx, x, "union");
    MPI_Group_free(&g);
    nx = 0;
    for (int i = 0; i < na; i++)
        if (a[i] % 2 == 0)
            x[nx++] = a[i];
    MPI_Group_intersection(ga, gb, &g);
    expect(g, nx, x, "intersection");
    MPI_Group_free(&g);
    nx = 0;
    for (int i = 0; i < na; i++)
        if (a[i] % 2)
            x[nx++] = a[i];
    MPI_Group_difference(ga, gb, &g);
    expect(g, nx, x, "difference");
    MPI_Group_free(&g);
    MPI_Group_difference(ga, ga, &g);
    CHECK(g == MPI_GROUP_EMPTY);
    MPI_Group_union(ga, MPI_GROUP_EMPTY, &g);
    expect_relation(g, ga, MPI_IDENT);
    MPI_Group_free(&g);
    MPI_Group_intersection(MPI_GROUP_EMPTY, gb, &g);
    CHECK(g == MPI_GROUP_EMPTY);
    MPI_Group_free(&g);
    MPI_Group_free(&ga);
    MPI_Group_free(&gb);
}

static void ranges(void)
{
    int n = check_size, x[64] = { 0 }, nx = 0;
    int two[2][3] = { { n - 1, 1, -2 }, { 0, 0, 5 } }, one[1][3] = { { 0, n - 1, 3 } };
    MPI_Group g;
    for (int i = n - 1; i >= 1; i -= 2)
        x[nx++] = i;
    if (nx) {
        x[nx++] = 0;
        if (x[nx - 2] != 0) {
            MPI_Group_range_incl(world, 2, two, &g);
            expect(g, nx, x, "range_incl down, then 0");
            MPI_Group_free(&g);
        }
    }
    nx = 0;
    for (int i = 0; i < n; i += 3)
        x[nx++] = i;
    MPI_Group_range_incl(world, 1, one, &g);
    expect(g, nx, x, "range_incl by 3");
    MPI_Group_free(&g);
    nx = 0;
    for (int i = 0; i < n; i++)
        if (i % 3)
            x[nx++] = i;
    MPI_Group_range_excl(world, 1, one, &g);
    expect(g, nx, x, "range_excl by 3");
    MPI_Group_free(&g);
    MPI_Group_range_incl(world, 0, one, &g);
    CHECK(g == MPI_GROUP_EMPTY);
    MPI_Group_range_excl(world, 0, one, &g);
    expect_relation(g, world, MPI_IDENT);
    MPI_Group_free(&g);
}

static void translate(void)
{
    int in[3] = { check_size - 1, MPI_PROC_NULL, 0 }, out[3] = { -7, -7, -7 };
    MPI_Group last;
    MPI_Group_incl(world, 1, in, &last);
    MPI_Group_translate_ranks(world, 3, in, last, out);
    CHECK_EQ(out[0], 0);
    CHECK_EQ(out[1], MPI_PROC_NULL);
    CHECK_EQ(out[2], check_size > 1 ? MPI_UNDEFINED : 0);
    MPI_Group_translate_ranks(world, 0, NULL, last, NULL);
    MPI_Group_free(&last);
}

/* The group of a communicator outlives it, and freeing one handle leaves the others alone. */
static void lifetime(void)
{
    MPI_Comm c;
    MPI_Group g, h;
    int size = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_group(c, &g);
    MPI_Comm_group(c, &h);
    MPI_Group_free(&h);
    MPI_Comm_free(&c);
    MPI_Group_size(g, &size);
    CHECK_EQ(size, check_size);
    expect_relation(g, world, MPI_IDENT);
    MPI_Group_free(&g);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    lists();
    sets();
    ranges();
    translate();
    lifetime();
    MPI_Group_free(&world);
    return check_done();
}
