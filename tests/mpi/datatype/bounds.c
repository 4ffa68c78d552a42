/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds: padding to the alignment, markers, empty types, negative extents; numbers beyond 32 bits without any
 * memory. */
/* ranks: 1 2 */
#include <stddef.h>
#include "../check.h"

#define OK(call) CHECK_ERR(call, MPI_SUCCESS)

static void expect(int line, MPI_Datatype t, MPI_Count size, MPI_Count lb, MPI_Count extent,
                   MPI_Count true_lb, MPI_Count true_extent)
{
    MPI_Count got[5] = { -1, -1, -1, -1, -1 };
    const MPI_Count want[5] = { size, lb, extent, true_lb, true_extent };
    OK(MPI_Type_size_c(t, &got[0]));
    OK(MPI_Type_get_extent_c(t, &got[1], &got[2]));
    OK(MPI_Type_get_true_extent_c(t, &got[3], &got[4]));
    for (int i = 0; i < 5; i++)
        CHECK_EQ(got[i], want[i], "line %d: number %d of size, lb, extent, true lb, true extent", line, i);
    OK(MPI_Type_free(&t));
}
#define EXPECT(...) expect(__LINE__, __VA_ARGS__)

static MPI_Datatype make_struct(int n, const int *bl, const MPI_Aint *disp, const MPI_Datatype *types)
{
    MPI_Datatype t = MPI_DATATYPE_NULL;
    OK(MPI_Type_create_struct(n, bl, disp, types, &t));
    return t;
}
#define STRUCT(N, BL, DISP, TYPES) make_struct(N, (int[])BL, (MPI_Aint[])DISP, (MPI_Datatype[])TYPES)
#define L(...) \
    { \
        __VA_ARGS__ \
    }

static void try_padding(void)
{
    struct record {
        double d;
        char c;
    };
    struct tail {
        short s;
        char c[3];
    };
    MPI_Datatype t, u;
    EXPECT(STRUCT(2, L(1, 1), L(0, 8), L(MPI_DOUBLE, MPI_CHAR)), 9, 0, sizeof(struct record), 0, 9);
    EXPECT(STRUCT(2, L(1, 3), L(0, 2), L(MPI_SHORT, MPI_CHAR)), 5, 0, sizeof(struct tail), 0, 5);
    EXPECT(STRUCT(2, L(1, 1), L(4, 8), L(MPI_CHAR, MPI_CHAR)), 2, 4, 5, 4, 5);
    EXPECT(STRUCT(2, L(1, 1), L(-3, 8), L(MPI_CHAR, MPI_INT)), 5, -3, 16, -3, 15); /* 15 rounded up to 16 */
    EXPECT(STRUCT(2, L(0, 1), L(0, 8), L(MPI_DOUBLE, MPI_CHAR)), 1, 8, 1, 8, 1); /* no double: no alignment */
    EXPECT(STRUCT(1, L(1), L(0), L(MPI_LONG_DOUBLE_INT)), 20, 0, 32, 0, 20);
    t = STRUCT(2, L(1, 1), L(0, 8), L(MPI_DOUBLE, MPI_CHAR)); /* an array of them is the C array */
    OK(MPI_Type_contiguous(5, t, &u));
    OK(MPI_Type_free(&t));
    EXPECT(u, 45, 0, 5 * sizeof(struct record), 0, 4 * sizeof(struct record) + 9);
    t = STRUCT(2, L(1, 1), L(0, 8), L(MPI_DOUBLE, MPI_CHAR)); /* a resized one has no padding */
    OK(MPI_Type_create_resized(t, 0, 9, &u));
    OK(MPI_Type_free(&t));
    EXPECT(u, 9, 0, 9, 0, 9);
}

static void try_empty(void)
{
    MPI_Datatype t, u, wide;
    int zero = 0, at = 0;
    OK(MPI_Type_contiguous(0, MPI_INT, &t));
    OK(MPI_Type_dup(t, &u));
    EXPECT(u, 0, 0, 0, 0, 0);
    OK(MPI_Type_commit(&t));
    OK(MPI_Pack(NULL, 5, t, NULL, 0, &at, MPI_COMM_SELF));
    CHECK_EQ(at, 0);
    OK(MPI_Type_create_resized(t, 4, 20, &wide)); /* no data, but bounds */
    OK(MPI_Type_vector(3, 2, 2, wide, &u));
    EXPECT(u, 0, 4, 120, 0, 0);
    OK(MPI_Type_vector(0, 5, 7, wide, &u));
    EXPECT(u, 0, 0, 0, 0, 0);
    OK(MPI_Type_vector(5, 0, 7, MPI_DOUBLE, &u));
    EXPECT(u, 0, 0, 0, 0, 0);
    OK(MPI_Type_indexed(1, &zero, &zero, MPI_DOUBLE, &u));
    EXPECT(u, 0, 0, 0, 0, 0);
    OK(MPI_Type_create_struct(0, NULL, NULL, NULL, &u));
    EXPECT(u, 0, 0, 0, 0, 0);
    EXPECT(STRUCT(2, L(1, 1), L(0, 100), L(MPI_INT, t)), 4, 0, 4, 0, 4);
    EXPECT(STRUCT(2, L(1, 1), L(0, 100), L(MPI_INT, wide)), 4, 104, 20, 0, 4);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&wide));
}

/* Elements that run backwards: extent below zero. */
static void try_backwards(void)
{
    MPI_Datatype back, t;
    int mem[8] = { 0, 1, 2, 3, 4, 5, 6, 7 }, packed[4], at = 0;
    OK(MPI_Type_create_resized(MPI_INT, 0, -4, &back));
    OK(MPI_Type_commit(&back));
    OK(MPI_Pack(mem + 7, 4, back, packed, sizeof packed, &at, MPI_COMM_SELF));
    for (int i = 0; i < 4; i++)
        CHECK_EQ(packed[i], 7 - i);
    OK(MPI_Type_contiguous(3, back, &t));
    OK(MPI_Type_free(&back));
    MPI_Count tlb, text;
    OK(MPI_Type_get_true_extent_c(t, &tlb, &text));
    CHECK_EQ(tlb, -8);
    CHECK_EQ(text, 12);
    OK(MPI_Type_free(&t));
}

static void try_huge(void)
{
    const MPI_Count big = (MPI_Count)1 << 40;
    MPI_Datatype t, u;
    MPI_Count n = -1;
    MPI_Aint alb, aextent;
    int size = 0;
    OK(MPI_Type_vector_c(big, 1, 3, MPI_DOUBLE, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_size(t, &size));
    CHECK_EQ(size, MPI_UNDEFINED);
    OK(MPI_Type_size_x(t, &n));
    CHECK_EQ(n, 8 * big);
    OK(MPI_Type_get_extent(t, &alb, &aextent)); /* MPI_Aint has 64 bits here */
    CHECK_EQ(aextent, 24 * (big - 1) + 8);
    OK(MPI_Pack_size_c(3, t, MPI_COMM_SELF, &n));
    CHECK_EQ(n, 24 * big);
    OK(MPI_Pack_size(1, t, MPI_COMM_SELF, &size));
    CHECK_EQ(size, MPI_UNDEFINED);
    OK(MPI_Pack_size_c(big, t, MPI_COMM_SELF, &n)); /* 2^83 bytes */
    CHECK_EQ(n, MPI_UNDEFINED);
    u = MPI_INT;
    CHECK_ERR(MPI_Type_vector_c(1 << 20, 1, 1 << 20, t, &u), MPI_ERR_TYPE); /* extent about 2^84 */
    CHECK_ERR(MPI_Type_contiguous_c(big, t, &u), MPI_ERR_TYPE);
    CHECK_SAYS("63 bits");
    CHECK_ERR(MPI_Type_create_resized_c(MPI_INT, INT64_MAX, 1, &u), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_create_hvector_c(3, 1, INT64_MAX / 2 + 1, MPI_INT, &u), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_contiguous_c(INT64_MAX, MPI_INT, &u), MPI_ERR_TYPE);
    OK(MPI_Type_free(&t));
}

static void try_large_counts(void)
{
    MPI_Datatype t, u;
    OK(MPI_Type_contiguous(0x7fffffff, MPI_DOUBLE, &t)); /* 2^34 - 8 bytes */
    OK(MPI_Type_dup(t, &u));
    EXPECT(u, 8 * (MPI_Count)0x7fffffff, 0, 8 * (MPI_Count)0x7fffffff, 0, 8 * (MPI_Count)0x7fffffff);
    OK(MPI_Type_vector(1 << 20, 1, 2, t, &u));
    OK(MPI_Type_free(&t));
    MPI_Count one = 8 * (MPI_Count)0x7fffffff, n = 1 << 20;
    EXPECT(u, n * one, 0, (2 * n - 1) * one, 0, (2 * n - 1) * one);
    MPI_Aint disp[2] = { 0, (MPI_Aint)1 << 50 };
    OK(MPI_Type_create_hindexed_block(2, 1, disp, MPI_INT, &t));
    EXPECT(t, 8, 0, ((MPI_Count)1 << 50) + 4, 0, ((MPI_Count)1 << 50) + 4);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    try_padding();
    try_empty();
    try_backwards();
    try_huge();
    try_large_counts();
    return check_done();
}
