/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Dims_create: against all divisions, for every number up to some thousand; given dimensions; large numbers;
 * errors. */
/* ranks: 1 */
#include "../check.h"

enum { MOST = 4000, DIMS = 6 };

struct best {
    int k, d[DIMS], found[DIMS];
    long difference;
};

/* All nonincreasing divisions in lexicographic order; the first with the smallest difference is kept. */
static void all_divisions(struct best *b, int i, int n, int most)
{
    if (i == b->k) {
        long difference = b->d[0] - b->d[b->k - 1];
        if (n == 1 && difference < b->difference) {
            b->difference = difference;
            memcpy(b->found, b->d, sizeof b->d);
        }
        return;
    }
    for (int d = 1; d <= most && d <= n; d++)
        if (n % d == 0) {
            b->d[i] = d;
            all_divisions(b, i + 1, n / d, d);
        }
}

static void exhaustive(int n, int k)
{
    struct best b = { .k = k, .difference = 1l << 60 };
    int dims[DIMS] = { 0 };
    all_divisions(&b, 0, n, n);
    CHECK_ERR(MPI_Dims_create(n, k, dims), MPI_SUCCESS);
    for (int i = 0; i < k; i++)
        CHECK_EQ(dims[i], b.found[i], "dimension %d of %d processes in %d", i, n, k);
}

static void expect(int n, int k, const int *given, const int *expected)
{
    int dims[40];
    memcpy(dims, given, (size_t)k * sizeof *dims);
    CHECK_ERR(MPI_Dims_create(n, k, dims), MPI_SUCCESS);
    for (int i = 0; i < k; i++)
        CHECK_EQ(dims[i], expected[i], "dimension %d of %d processes in %d", i, n, k);
}
#define EXPECT(n, k, given, ...) expect(n, k, (const int[])given, (const int[])__VA_ARGS__)
#define GIVEN(...) \
    { \
        __VA_ARGS__ \
    }

static void known(void)
{
    EXPECT(6, 2, GIVEN(0, 0), { 3, 2 }); /* the standard's examples */
    EXPECT(7, 2, GIVEN(0, 0), { 7, 1 });
    EXPECT(6, 3, GIVEN(0, 3, 0), { 2, 3, 1 });
    EXPECT(2 * 3 * 5 * 7, 3, GIVEN(0, 0, 0), { 7, 6, 5 });
    EXPECT(2 * 3 * 5 * 7 * 11 * 13, 3, GIVEN(0, 0, 0), { 35, 33, 26 });
    EXPECT(3 << 20, 3, GIVEN(0, 0, 0), { 192, 128, 128 });
    EXPECT(60, 4, GIVEN(0, 2, 0, 5), { 3, 2, 2, 5 });
    EXPECT(60, 2, GIVEN(12, 5), { 12, 5 });
    EXPECT(60, 1, GIVEN(0), { 60 });
    EXPECT(1, 3, GIVEN(0, 0, 0), { 1, 1, 1 });
    EXPECT(1, 3, GIVEN(0, 1, 0), { 1, 1, 1 });
    CHECK_ERR(MPI_Dims_create(1, 0, NULL), MPI_SUCCESS);
}

/* The product is right, the order is, and it takes no time worth mentioning. */
static void large(void)
{
    const int n[] = {
        2147483647,    2147483646, 1 << 30,        3 << 29,    2095133040, /* 1600 divisors */
        46337 * 46337, 1749686400, 2 * 1073741789, 2103393600, 2 * 3 * 5 * 7 * 11 * 13 * 17 * 19 * 23
    };
    double start = MPI_Wtime();
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        for (int k = 1; k <= 40; k++) {
            int dims[40] = { 0 };
            long long product = 1;
            CHECK_ERR(MPI_Dims_create(n[i], k, dims), MPI_SUCCESS);
            for (int j = 0; j < k; j++) {
                CHECK(dims[j] > 0 && (j == 0 || dims[j] <= dims[j - 1]), "%d in %d: %d at %d", n[i], k,
                      dims[j], j);
                product *= dims[j];
            }
            CHECK_EQ(product, n[i], "in %d", k);
        }
    CHECK(MPI_Wtime() - start < 20, "%g s", MPI_Wtime() - start);
}

static void errors(void)
{
    int dims[3] = { 0, 3, 0 };
    CHECK_ERR(MPI_Dims_create(7, 3, dims), MPI_ERR_DIMS);
    CHECK_SAYS("nnodes is 7; expected a multiple of the product of the dimensions that are given, 3");
    CHECK(dims[0] == 0 && dims[1] == 3 && dims[2] == 0);
    dims[1] = -2;
    CHECK_ERR(MPI_Dims_create(6, 3, dims), MPI_ERR_DIMS);
    CHECK_SAYS("dims has -2 at index 1");
    dims[0] = 2, dims[1] = 3;
    CHECK_ERR(MPI_Dims_create(12, 2, dims), MPI_ERR_DIMS);
    CHECK_SAYS("nnodes is 12; expected 6");
    dims[0] = 2000000000, dims[1] = 2000000000, dims[2] = 0;
    CHECK_ERR(MPI_Dims_create(2000000000, 3, dims), MPI_ERR_DIMS);
    CHECK_ERR(MPI_Dims_create(2, 0, dims), MPI_ERR_DIMS);
    CHECK_ERR(MPI_Dims_create(6, -1, dims), MPI_ERR_DIMS);
    CHECK_SAYS("ndims is -1");
    CHECK_ERR(MPI_Dims_create(0, 2, dims), MPI_ERR_ARG);
    CHECK_SAYS("nnodes is 0");
    CHECK_ERR(MPI_Dims_create(6, 2, NULL), MPI_ERR_ARG);
    CHECK_SAYS("dims is NULL");
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int n = 1; n <= MOST; n++)
        for (int k = 1; k <= DIMS; k++)
            exhaustive(n, k);
    known();
    large();
    check_errors_return();
    errors();
    return check_done();
}
