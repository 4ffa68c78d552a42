/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators made by several groups at a time, in any order, beside each other: MPI_Comm_create_group of
 * disjoint and of overlapping groups, with equal and other tags, while copies of the same parent are under way;
 * MPI_Comm_split into as many colors as processes; MPI_Comm_compare of what came out. */
/* ranks: 1 2 3 4 6 9 */
#include "../check.h"

static MPI_Group world;

static void expect_sum(MPI_Comm c, int n, int expected, const char *what)
{
    int size = -1, sum = check_rank + 1;
    MPI_Comm_size(c, &size);
    CHECK_EQ(size, n, "%s", what);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, c);
    CHECK_EQ(sum, expected, "%s", what);
}

/* Ranks first, first + step, ... of the world. */
static MPI_Group every(int first, int step)
{
    int range[1][3] = { { first, check_size - 1, step } };
    MPI_Group g;
    MPI_Group_range_incl(world, 1, range, &g);
    return g;
}

static int sum_of(int first, int step)
{
    int sum = 0;
    for (int i = first; i < check_size; i += step)
        sum += i + 1;
    return sum;
}

/* k disjoint groups, each twice, none knows of the others. */
static void disjoint(int k, int tag, int tag_step)
{
    int first = check_rank % k;
    MPI_Comm c[2];
    MPI_Group g = every(first, k);
    for (int i = 0; i < 2; i++)
        MPI_Comm_create_group(MPI_COMM_WORLD, g, tag + first * tag_step, &c[i]);
    for (int i = 0; i < 2; i++) {
        expect_sum(c[i], (check_size - 1 - first) / k + 1, sum_of(first, k), "one of several groups");
        MPI_Comm_free(&c[i]);
    }
    MPI_Group_free(&g);
}

/* Groups that overlap: all, then the even ranks, then all but the first; copies of the parent started before and
 * between. */
static void overlapping(void)
{
    MPI_Comm all, even = MPI_COMM_NULL, rest = MPI_COMM_NULL, p, copy[3];
    MPI_Request r[3];
    MPI_Group g = every(0, 1), e = every(0, 2), x = check_size > 1 ? every(1, 1) : MPI_GROUP_EMPTY;
    int same = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &p);
    MPI_Comm_idup(p, &copy[0], &r[0]);
    MPI_Comm_create_group(p, g, 0, &all);
    MPI_Comm_idup(p, &copy[1], &r[1]);
    if (check_rank % 2 == 0)
        MPI_Comm_create_group(p, e, 1, &even);
    if (check_rank > 0)
        MPI_Comm_create_group(p, x, 1, &rest);
    MPI_Comm_idup(p, &copy[2], &r[2]);
    MPI_Comm_free(&p);
    expect_sum(all, check_size, sum_of(0, 1), "all");
    if (check_rank % 2 == 0)
        expect_sum(even, (check_size + 1) / 2, sum_of(0, 2), "even");
    if (check_rank > 0)
        expect_sum(rest, check_size - 1, sum_of(1, 1), "all but one");
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++) {
        expect_sum(copy[i], check_size, sum_of(0, 1), "copy");
        MPI_Comm_compare(copy[i], all, &same);
        CHECK_EQ(same, MPI_CONGRUENT);
        MPI_Comm_free(&copy[i]);
    }
    if (even != MPI_COMM_NULL)
        MPI_Comm_free(&even);
    if (rest != MPI_COMM_NULL)
        MPI_Comm_free(&rest);
    MPI_Comm_free(&all);
    MPI_Group_free(&g);
    MPI_Group_free(&e);
    if (check_size > 1)
        MPI_Group_free(&x);
}

static void expect_compare(MPI_Comm a, MPI_Comm b, int expected)
{
    int r = -1;
    MPI_Comm_compare(a, b, &r);
    CHECK_EQ(r, expected);
    MPI_Comm_compare(b, a, &r);
    CHECK_EQ(r, expected);
}

static void compare(void)
{
    MPI_Comm back, same, part;
    int flag = 7;
    MPI_Comm_split(MPI_COMM_WORLD, 2147483647 - check_rank, 0, &part); /* a color each */
    expect_sum(part, 1, check_rank + 1, "alone");
    expect_compare(part, MPI_COMM_SELF, MPI_CONGRUENT);
    expect_compare(part, MPI_COMM_WORLD, check_size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
    MPI_Comm_free(&part);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &back);
    MPI_Comm_create(MPI_COMM_WORLD, world, &same);
    expect_compare(back, MPI_COMM_WORLD, check_size == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
    expect_compare(same, MPI_COMM_WORLD, MPI_CONGRUENT);
    expect_compare(same, same, MPI_IDENT);
    MPI_Comm_split(back, check_rank % 2, 0, &part);
    expect_compare(part, back, check_size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
    MPI_Comm_test_inter(part, &flag);
    CHECK_EQ(flag, 0);
    MPI_Comm_free(&part);
    MPI_Comm_free(&back);
    MPI_Comm_free(&same);
}

/* One process asks for something that does not exist: all hear of it, and the next call works. */
static void one_is_wrong(void)
{
    MPI_Comm c;
    char words[80];
    int type = check_rank == check_size - 1 ? 12345 : MPI_COMM_TYPE_SHARED;
    check_errors_return();
    CHECK_ERR(MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, MPI_INFO_NULL, &c), MPI_ERR_ARG);
    snprintf(words, sizeof words, "rank %d of the communicator failed with this error", check_size - 1);
    CHECK_SAYS(check_rank == check_size - 1 ? "split_type is 12345" : words);
    CHECK_ERR(MPI_Comm_dup(MPI_COMM_WORLD, &c), MPI_SUCCESS);
    MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < 50; i++) {
        for (int k = 1; k <= 3; k++)
            if (k <= check_size) {
                disjoint(k, 5, 0);
                disjoint(k, 2147483600, 3);
            }
        overlapping();
    }
    compare();
    one_is_wrong();
    MPI_Group_free(&world);
    return check_done();
}
