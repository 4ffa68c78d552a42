/* SPDX-License-Identifier: BSD-3-Clause */
/* Each constructor, in both bindings: size, bounds, and the order and place of every byte (by packing). */
/* ranks: 1 2 */
#include "../check.h"

static int mem[4000];

/* The type's numbers; then `places`: the ints of mem it should pick from mem + 1000, in order, n of them. */
static void expect(int line, MPI_Datatype t, int size, MPI_Aint lb, MPI_Aint extent, MPI_Aint true_lb,
                   MPI_Aint true_extent, const int *places, int n)
{
    int got_size = -1, at = 0, packed[100];
    MPI_Aint a = -1, b = -1;
    MPI_Count ca = -1, cb = -1, cs = -1;
    CHECK_ERR(MPI_Type_size(t, &got_size), MPI_SUCCESS);
    CHECK_EQ(got_size, size, "line %d", line);
    CHECK_ERR(MPI_Type_size_c(t, &cs), MPI_SUCCESS);
    CHECK_EQ(cs, size, "line %d", line);
    CHECK_ERR(MPI_Type_size_x(t, &cs), MPI_SUCCESS);
    CHECK_EQ(cs, size, "line %d", line);
    CHECK_ERR(MPI_Type_get_extent(t, &a, &b), MPI_SUCCESS);
    CHECK_EQ(a, lb, "line %d", line);
    CHECK_EQ(b, extent, "line %d", line);
    CHECK_ERR(MPI_Type_get_extent_c(t, &ca, &cb), MPI_SUCCESS);
    CHECK(ca == lb && cb == extent, "line %d", line);
    CHECK_ERR(MPI_Type_get_extent_x(t, &ca, &cb), MPI_SUCCESS);
    CHECK(ca == lb && cb == extent, "line %d", line);
    CHECK_ERR(MPI_Type_get_true_extent(t, &a, &b), MPI_SUCCESS);
    CHECK_EQ(a, true_lb, "line %d", line);
    CHECK_EQ(b, true_extent, "line %d", line);
    CHECK_ERR(MPI_Type_get_true_extent_c(t, &ca, &cb), MPI_SUCCESS);
    CHECK(ca == true_lb && cb == true_extent, "line %d", line);
    CHECK_ERR(MPI_Type_get_true_extent_x(t, &ca, &cb), MPI_SUCCESS);
    CHECK(ca == true_lb && cb == true_extent, "line %d", line);

    CHECK_ERR(MPI_Type_commit(&t), MPI_SUCCESS);
    CHECK_ERR(MPI_Pack(mem + 1000, 1, t, packed, sizeof packed, &at, MPI_COMM_SELF), MPI_SUCCESS);
    CHECK_EQ(at, n * 4, "line %d", line);
    for (int i = 0; i < n && i < at / 4; i++)
        CHECK_EQ(packed[i], 1000 + places[i], "line %d, int %d", line, i);
    CHECK_ERR(MPI_Type_free(&t), MPI_SUCCESS);
    CHECK(t == MPI_DATATYPE_NULL, "line %d: freed", line);
}
#define EXPECT(T, SIZE, LB, EXTENT, TLB, TEXTENT, ...) \
    expect(__LINE__, T, SIZE, LB, EXTENT, TLB, TEXTENT, (int[]){ __VA_ARGS__ }, \
           (int)(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int)))
#define OK(call) CHECK_ERR(call, MPI_SUCCESS)

int main(int argc, char **argv)
{
    MPI_Datatype t, u, pair;
    check_init(&argc, &argv);
    check_errors_return();
    for (int i = 0; i < 4000; i++)
        mem[i] = i;

    OK(MPI_Type_contiguous(3, MPI_INT, &t));
    EXPECT(t, 12, 0, 12, 0, 12, 0, 1, 2);
    OK(MPI_Type_contiguous_c(2, MPI_INT, &t));
    EXPECT(t, 8, 0, 8, 0, 8, 0, 1);

    OK(MPI_Type_vector(3, 2, 4, MPI_INT, &t));
    EXPECT(t, 24, 0, 40, 0, 40, 0, 1, 4, 5, 8, 9);
    OK(MPI_Type_vector_c(2, 1, -3, MPI_INT, &t)); /* backwards: the order stays */
    EXPECT(t, 8, -12, 16, -12, 16, 0, -3);
    OK(MPI_Type_create_hvector(2, 2, 20, MPI_INT, &t));
    EXPECT(t, 16, 0, 28, 0, 28, 0, 1, 5, 6);
    OK(MPI_Type_create_hvector_c(3, 1, 8, MPI_INT, &t));
    EXPECT(t, 12, 0, 20, 0, 20, 0, 2, 4);
    OK(MPI_Type_create_hvector(3, 1, 0, MPI_INT, &t)); /* the same place thrice */
    EXPECT(t, 12, 0, 4, 0, 4, 0, 0, 0);

    int bl[4] = { 2, 0, 1, 3 }, disp[4] = { 5, 100, -1, 8 };
    MPI_Count blc[4] = { 2, 0, 1, 3 }, dispc[4] = { 5, 100, -1, 8 };
    OK(MPI_Type_indexed(4, bl, disp, MPI_INT, &t)); /* the empty block at 100 has no part in it */
    EXPECT(t, 24, -4, 48, -4, 48, 5, 6, -1, 8, 9, 10);
    OK(MPI_Type_indexed_c(4, blc, dispc, MPI_INT, &t));
    EXPECT(t, 24, -4, 48, -4, 48, 5, 6, -1, 8, 9, 10);
    MPI_Aint hdisp[4] = { 20, 400, -4, 32 };
    MPI_Count hdispc[4] = { 20, 400, -4, 32 };
    OK(MPI_Type_create_hindexed(4, bl, hdisp, MPI_INT, &t));
    EXPECT(t, 24, -4, 48, -4, 48, 5, 6, -1, 8, 9, 10);
    OK(MPI_Type_create_hindexed_c(4, blc, hdispc, MPI_INT, &t));
    EXPECT(t, 24, -4, 48, -4, 48, 5, 6, -1, 8, 9, 10);
    int bdisp[3] = { 4, 0, 9 };
    MPI_Count bdispc[3] = { 4, 0, 9 }, hbdispc[3] = { 16, 0, 36 };
    MPI_Aint hbdisp[3] = { 16, 0, 36 };
    OK(MPI_Type_create_indexed_block(3, 2, bdisp, MPI_INT, &t));
    EXPECT(t, 24, 0, 44, 0, 44, 4, 5, 0, 1, 9, 10);
    OK(MPI_Type_create_indexed_block_c(3, 2, bdispc, MPI_INT, &t));
    EXPECT(t, 24, 0, 44, 0, 44, 4, 5, 0, 1, 9, 10);
    OK(MPI_Type_create_hindexed_block(3, 2, hbdisp, MPI_INT, &t));
    EXPECT(t, 24, 0, 44, 0, 44, 4, 5, 0, 1, 9, 10);
    OK(MPI_Type_create_hindexed_block_c(3, 2, hbdispc, MPI_INT, &t));
    EXPECT(t, 24, 0, 44, 0, 44, 4, 5, 0, 1, 9, 10);

    OK(MPI_Type_create_resized(MPI_INT, -4, 12, &pair)); /* lower bound -4, upper 8 */
    OK(MPI_Type_dup(pair, &t));
    EXPECT(t, 4, -4, 12, 0, 4, 0);
    OK(MPI_Type_create_resized_c(MPI_INT, 0, 8, &t));
    EXPECT(t, 4, 0, 8, 0, 4, 0);
    OK(MPI_Type_contiguous(3, pair, &t)); /* example 5.9 of the standard, with 3 */
    EXPECT(t, 12, -4, 36, 0, 28, 0, 3, 6);
    OK(MPI_Type_vector(2, 2, 3, pair, &t));
    EXPECT(t, 16, -4, 60, 0, 52, 0, 3, 9, 12);

    int sbl[3] = { 1, 2, 1 };
    MPI_Aint sdisp[3] = { 8, 40, 0 };
    MPI_Count sblc[3] = { 1, 2, 1 }, sdispc[3] = { 8, 40, 0 };
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &u));
    MPI_Datatype st[3] = { u, MPI_INT, MPI_FLOAT };
    OK(MPI_Type_create_struct(3, sbl, sdisp, st, &t));
    EXPECT(t, 20, 0, 48, 0, 48, 2, 4, 10, 11, 0);
    OK(MPI_Type_create_struct_c(3, sblc, sdispc, st, &t));
    OK(MPI_Type_free(&u)); /* the struct lives on without it */
    EXPECT(t, 20, 0, 48, 0, 48, 2, 4, 10, 11, 0);
    MPI_Datatype mixed[2] = { MPI_INT, pair }; /* markers of a part are sticky: lb 12 - 4, ub 12 + 8 */
    OK(MPI_Type_create_struct(2, (int[]){ 2, 1 }, (MPI_Aint[]){ 0, 12 }, mixed, &t));
    EXPECT(t, 12, 8, 12, 0, 16, 0, 1, 3);
    OK(MPI_Type_free(&pair));

    /* A matrix transposed: columns of a 3 x 4 matrix of ints, one after another. */
    MPI_Datatype column, narrow;
    OK(MPI_Type_vector(3, 1, 4, MPI_INT, &column));
    OK(MPI_Type_create_resized(column, 0, 4, &narrow));
    OK(MPI_Type_contiguous(4, narrow, &t));
    EXPECT(t, 48, 0, 16, 0, 48, 0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11);
    OK(MPI_Type_free(&column));
    OK(MPI_Type_free(&narrow));
    return check_done();
}
