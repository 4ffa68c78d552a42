/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Type_create_subarray and MPI_Type_create_darray: random shapes against the definition, element by element. */
/* ranks: 1 3 */
#include "../check.h"

#define OK(call) CHECK_ERR(call, MPI_SUCCESS)

enum { DIMS = 5, MOST = 3000 };

static unsigned state;
static int rnd(int n) /* 0 to n - 1 */
{
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (unsigned)n);
}

/* The array's elements are shorts, pairs of chars with a hole, or ints: each is marked with its place. */
static unsigned char memory[MOST * 8], packed[MOST * 8], want[MOST * 8];

static MPI_Datatype element(int kind, int *extent, int *size)
{
    MPI_Datatype t;
    *extent = kind == 0 ? 2 : kind == 1 ? 5 : 4;
    *size = kind == 1 ? 2 : *extent;
    if (kind != 1)
        return kind == 0 ? MPI_SHORT : MPI_INT;
    OK(MPI_Type_vector(2, 1, 4, MPI_CHAR, &t)); /* bytes 0 and 4 */
    return t;
}

/* Place of the element with these coordinates in the whole array. */
static int place(int ndims, const int *sizes, const int *at, int order)
{
    int p = 0;
    for (int n = 0; n < ndims; n++) {
        int i = order == MPI_ORDER_C ? n : ndims - 1 - n;
        p = p * sizes[i] + at[i];
    }
    return p;
}

/* All coordinates in storage order; false at the end. */
static int next(int ndims, const int *sizes, int *at, int order)
{
    for (int n = 0; n < ndims; n++) {
        int i = order == MPI_ORDER_C ? ndims - 1 - n : n;
        if (++at[i] < sizes[i])
            return 1;
        at[i] = 0;
    }
    return 0;
}

static void compare(MPI_Datatype t, int kind, int total, const unsigned char *mine, const char *what)
{
    int extent, size, n = 0, at = 0, got = -1;
    MPI_Aint lb = -1, whole = -1;
    MPI_Datatype e = element(kind, &extent, &size);
    for (int p = 0; p < total; p++)
        if (mine[p])
            for (int b = 0; b < size; b++)
                want[n++] = memory[p * extent + b * (kind == 1 ? 4 : 1)];
    OK(MPI_Type_get_extent(t, &lb, &whole));
    CHECK(lb == 0 && whole == (MPI_Aint)total * extent, "%s: lb %ld, extent %ld, array %d", what, (long)lb,
          (long)whole, total * extent);
    OK(MPI_Type_size(t, &got));
    CHECK_EQ(got, n, "%s", what);
    OK(MPI_Type_commit(&t));
    OK(MPI_Pack(memory, 1, t, packed, sizeof packed, &at, MPI_COMM_SELF));
    CHECK(at == n && memcmp(packed, want, (size_t)n) == 0, "%s: the data", what);
    OK(MPI_Type_free(&t));
    if (kind == 1)
        OK(MPI_Type_free(&e));
}

static int shape(int *sizes)
{
    int ndims = 1 + rnd(DIMS), total = 1;
    for (int i = 0; i < ndims; i++) {
        sizes[i] = 1 + rnd(ndims < 3 ? 40 : ndims < 4 ? 12 : 4);
        total *= sizes[i];
    }
    return total <= MOST ? ndims : shape(sizes);
}

static unsigned char mine[MOST];

static void try_subarray(void)
{
    int sizes[DIMS], subs[DIMS], starts[DIMS], at[DIMS] = { 0 }, total = 1, extent, size, kind = rnd(3);
    MPI_Count large[3][DIMS];
    int ndims = shape(sizes), order = rnd(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int i = 0; i < ndims; i++) {
        subs[i] = 1 + rnd(sizes[i]);
        starts[i] = rnd(sizes[i] - subs[i] + 1);
        large[0][i] = sizes[i], large[1][i] = subs[i], large[2][i] = starts[i];
        total *= sizes[i];
    }
    memset(mine, 0, sizeof mine);
    do {
        int in = 1;
        for (int i = 0; i < ndims; i++)
            in &= at[i] >= starts[i] && at[i] < starts[i] + subs[i];
        mine[place(ndims, sizes, at, order)] = (unsigned char)in;
    } while (next(ndims, sizes, at, order));
    MPI_Datatype e = element(kind, &extent, &size), t = MPI_DATATYPE_NULL;
    OK(MPI_Type_create_subarray(ndims, sizes, subs, starts, order, e, &t));
    compare(t, kind, total, mine, "subarray");
    OK(MPI_Type_create_subarray_c(ndims, large[0], large[1], large[2], order, e, &t));
    compare(t, kind, total, mine, "subarray_c");
    if (kind == 1)
        OK(MPI_Type_free(&e));
}

/* Whose is index x of this dimension? */
static int owner(int x, int gsize, int distrib, int darg, int psize)
{
    if (distrib == MPI_DISTRIBUTE_NONE)
        return 0;
    if (darg == MPI_DISTRIBUTE_DFLT_DARG)
        darg = distrib == MPI_DISTRIBUTE_CYCLIC ? 1 : (gsize + psize - 1) / psize;
    return x / darg % psize;
}

static void try_darray(void)
{
    int gsizes[DIMS], distribs[DIMS], dargs[DIMS], psizes[DIMS], total = 1, size = 1, extent, esize;
    int ndims = shape(gsizes), order = rnd(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, kind = rnd(3), sum = 0;
    MPI_Count large[DIMS];
    for (int i = 0; i < ndims; i++) {
        const int kinds[3] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE };
        distribs[i] = kinds[rnd(3)];
        psizes[i] = distribs[i] == MPI_DISTRIBUTE_NONE ? 1 : 1 + rnd(4);
        dargs[i] = 1 + rnd(6);
        if (distribs[i] == MPI_DISTRIBUTE_BLOCK)
            dargs[i] += (gsizes[i] - 1) / psizes[i];
        if (rnd(3) == 0 || dargs[i] == MPI_DISTRIBUTE_DFLT_DARG)
            dargs[i] = MPI_DISTRIBUTE_DFLT_DARG;
        large[i] = gsizes[i];
        total *= gsizes[i];
        size *= psizes[i];
    }
    MPI_Datatype e = element(kind, &extent, &esize), t = MPI_DATATYPE_NULL;
    for (int rank = 0; rank < size; rank++) {
        int at[DIMS] = { 0 };
        memset(mine, 0, sizeof mine);
        do {
            int who = 0; /* row-major in the grid, whatever the order of the array */
            for (int i = 0; i < ndims; i++)
                who = who * psizes[i] + owner(at[i], gsizes[i], distribs[i], dargs[i], psizes[i]);
            mine[place(ndims, gsizes, at, order)] = who == rank;
            sum += who == rank;
        } while (next(ndims, gsizes, at, order));
        OK(MPI_Type_create_darray(size, rank, ndims, gsizes, distribs, dargs, psizes, order, e, &t));
        compare(t, kind, total, mine, "darray");
        OK(MPI_Type_create_darray_c(size, rank, ndims, large, distribs, dargs, psizes, order, e, &t));
        compare(t, kind, total, mine, "darray_c");
    }
    CHECK_EQ(sum, total); /* everything has one owner */
    if (kind == 1)
        OK(MPI_Type_free(&e));
}

/* The standard's example: FILEARRAY(100, 200, 300), CYCLIC(10), *, BLOCK on 2 x 3 processes. */
static void try_example(void)
{
    const int gsizes[3] = { 100, 200, 300 },
              distribs[3] = { MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK },
              dargs[3] = { 10, 0, MPI_DISTRIBUTE_DFLT_DARG }, psizes[3] = { 2, 1, 3 };
    for (int rank = 0; rank < 6; rank++) {
        MPI_Datatype t = MPI_DATATYPE_NULL;
        MPI_Aint lb = -1, extent = -1;
        int size = -1;
        OK(MPI_Type_create_darray(6, rank, 3, gsizes, distribs, dargs, psizes, MPI_ORDER_FORTRAN, MPI_CHAR,
                                  &t));
        OK(MPI_Type_size(t, &size));
        CHECK_EQ(size, 50 * 200 * 100);
        OK(MPI_Type_get_extent(t, &lb, &extent));
        CHECK_EQ(extent, 100 * 200 * 300);
        OK(MPI_Type_get_true_extent(t, &lb, &extent));
        CHECK_EQ(lb, rank / 3 * 10 + rank % 3 * 100 * 200 * 100);
        OK(MPI_Type_free(&t));
    }
}

/* Arrays of more than 2^31 elements, which exist only as types. */
static void try_huge(void)
{
    const MPI_Count n = (MPI_Count)1 << 33, sizes[2] = { n, 100 }, subs[2] = { n / 2, 10 },
                    starts[2] = { n / 2, 90 };
    const int distribs[2] = { MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK },
              dargs[2] = { 3, MPI_DISTRIBUTE_DFLT_DARG }, psizes[2] = { 2, 1 };
    MPI_Datatype t;
    MPI_Count lb = -1, extent = -1, size = -1;
    int small = 0;
    OK(MPI_Type_create_subarray_c(2, sizes, subs, starts, MPI_ORDER_C, MPI_INT, &t));
    OK(MPI_Type_size_c(t, &size));
    CHECK_EQ(size, n / 2 * 10 * 4);
    OK(MPI_Type_get_extent_c(t, &lb, &extent));
    CHECK_EQ(extent, n * 100 * 4);
    OK(MPI_Type_get_true_extent_c(t, &lb, &extent));
    CHECK_EQ(lb, (n / 2 * 100 + 90) * 4);
    CHECK_EQ(extent, ((n / 2 - 1) * 100 + 10) * 4);
    OK(MPI_Type_size(t, &small));
    CHECK_EQ(small, MPI_UNDEFINED);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_create_darray_c(2, 0, 2, sizes, distribs, dargs, psizes, MPI_ORDER_FORTRAN, MPI_INT, &t));
    OK(MPI_Type_size_c(t, &size));
    CHECK_EQ(size, ((n / 6 * 3) + 2) * 100 * 4); /* 2^33 = 6 k + 2 */
    OK(MPI_Type_get_extent_c(t, &lb, &extent));
    CHECK_EQ(extent, n * 100 * 4);
    OK(MPI_Type_free(&t));
}

/* Halos: each rank's array gets its left neighbour's last columns. */
static void try_halo(void)
{
    enum { ROWS = 6, COLUMNS = 8 };
    int sizes[2] = { ROWS, COLUMNS }, subs[2] = { ROWS, 2 }, from[2] = { 0, COLUMNS - 4 }, to[2] = { 0, 0 };
    int a[ROWS][COLUMNS], left = (check_rank + check_size - 1) % check_size;
    MPI_Datatype send, recv;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            a[i][j] = check_rank * 100 + i * 10 + j;
    OK(MPI_Type_create_subarray(2, sizes, subs, from, MPI_ORDER_C, MPI_INT, &send));
    OK(MPI_Type_create_subarray(2, sizes, subs, to, MPI_ORDER_C, MPI_INT, &recv));
    OK(MPI_Type_commit(&send));
    OK(MPI_Type_commit(&recv));
    OK(MPI_Sendrecv(a, 1, send, (check_rank + 1) % check_size, 0, a, 1, recv, left, 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            CHECK_EQ(a[i][j], j < 2 ? left * 100 + i * 10 + j + COLUMNS - 4 : check_rank * 100 + i * 10 + j);
    OK(MPI_Type_free(&send));
    OK(MPI_Type_free(&recv));
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    check_fill(memory, sizeof memory, 7);
    state = (unsigned)check_rank;
    for (int i = 0; i < 150; i++)
        try_subarray();
    for (int i = 0; i < 60; i++)
        try_darray();
    try_example();
    try_huge();
    try_halo();
    return check_done();
}
