/* SPDX-License-Identifier: BSD-3-Clause */
/* What the datatype procedures refuse, with class and words. */
/* ranks: 1 2 */
#include "../check.h"

#define OK(call) CHECK_ERR(call, MPI_SUCCESS)
#define BAD(call, class, words) \
    do { \
        CHECK_ERR(call, class); \
        CHECK_SAYS(words); \
    } while (0)

static MPI_Datatype nt, garbage;
static int n, buf[8], at, out[8];

static void try_handles(MPI_Datatype bad)
{
    MPI_Datatype t = bad, two[2] = { MPI_INT, bad };
    int one[2] = { 1, 1 };
    MPI_Aint ad[2] = { 0, 8 }, lb;
    MPI_Count c;
    MPI_Status s;
    memset(&s, 0, sizeof s);
    CHECK_ERR(MPI_Type_contiguous(1, bad, &nt), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_vector(1, 1, 1, bad, &nt), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_create_hvector(1, 1, 1, bad, &nt), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_indexed(2, one, one, bad, &nt), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_create_hindexed(2, one, ad, bad, &nt), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_create_indexed_block(2, 1, one, bad, &nt), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_create_hindexed_block(2, 1, ad, bad, &nt), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_create_struct(2, one, ad, two, &nt), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_create_resized(bad, 0, 4, &nt), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_dup(bad, &nt), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_commit(&t), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_free(&t), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_size(bad, &n), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_size_x(bad, &c), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_get_extent(bad, &lb, &lb), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_get_extent_x(bad, &c, &c), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_get_true_extent(bad, &lb, &lb), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_get_true_extent_x(bad, &c, &c), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Get_elements(&s, bad, &n), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Get_count(&s, bad, &n), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Status_set_elements(&s, bad, 1), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Pack(buf, 1, bad, out, 8, &at, MPI_COMM_SELF), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Unpack(buf, 8, &at, out, 1, bad, MPI_COMM_SELF), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Pack_size(1, bad, MPI_COMM_SELF, &n), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_get_envelope(bad, &n, &n, &n, &n), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_get_contents(bad, 8, 0, 8, buf, NULL, two), MPI_ERR_TYPE);
}

static void try_counts(void)
{
    int bad[2] = { 1, -2 }, one[2] = { 1, 1 };
    MPI_Aint ad[2] = { 0, 8 };
    MPI_Datatype two[2] = { MPI_INT, MPI_INT };
    BAD(MPI_Type_contiguous(-1, MPI_INT, &nt), MPI_ERR_COUNT, "-1");
    BAD(MPI_Type_vector(-5, 1, 1, MPI_INT, &nt), MPI_ERR_COUNT, "-5");
    BAD(MPI_Type_vector(1, -1, 1, MPI_INT, &nt), MPI_ERR_COUNT, "blocklength");
    BAD(MPI_Type_create_hvector(1, -1, 1, MPI_INT, &nt), MPI_ERR_COUNT, "blocklength");
    BAD(MPI_Type_indexed(2, bad, one, MPI_INT, &nt), MPI_ERR_COUNT, "array_of_blocklengths[1] is -2");
    BAD(MPI_Type_create_hindexed(2, bad, ad, MPI_INT, &nt), MPI_ERR_COUNT, "array_of_blocklengths[1] is -2");
    BAD(MPI_Type_create_struct(2, bad, ad, two, &nt), MPI_ERR_COUNT, "array_of_blocklengths[1] is -2");
    BAD(MPI_Type_create_indexed_block(2, -1, one, MPI_INT, &nt), MPI_ERR_COUNT, "blocklength");
    BAD(MPI_Type_create_hindexed_block(-2, 1, ad, MPI_INT, &nt), MPI_ERR_COUNT, "-2");
    BAD(MPI_Pack(buf, -1, MPI_INT, out, 8, &at, MPI_COMM_SELF), MPI_ERR_COUNT, "incount");
    BAD(MPI_Pack_size(-1, MPI_INT, MPI_COMM_SELF, &n), MPI_ERR_COUNT, "incount");
    CHECK_ERR(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Type_size(MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Get_address(buf, NULL), MPI_ERR_ARG);
}

static void try_arrays(void)
{
    const int two[2] = { 4, 5 }, one[2] = { 1, 1 }, zero[2] = { 0, 0 }, six[2] = { 6, 1 }, four[2] = { 3, 5 },
              big[2] = { 1 << 30, 1 << 30 }, minus[2] = { 0, -1 };
    const int d[2] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC }, odd[2] = { MPI_DISTRIBUTE_NONE, 77 },
              dflt[2] = { MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG }, grid[2] = { 2, 3 };
    const MPI_Count huge[2] = { (MPI_Count)1 << 40, (MPI_Count)1 << 40 };
    const int C = MPI_ORDER_C;
#define SUB(n, sizes, subs, starts, order) \
    MPI_Type_create_subarray(n, sizes, subs, starts, order, MPI_INT, &nt)
    int bytes = -1;
    OK(SUB(0, NULL, NULL, NULL, C)); /* one element */
    OK(MPI_Type_size(nt, &bytes));
    CHECK_EQ(bytes, sizeof(int));
    OK(MPI_Type_free(&nt));
    BAD(SUB(-3, two, one, zero, C), MPI_ERR_ARG, "ndims is -3");
    BAD(SUB(2, two, one, zero, 99), MPI_ERR_ARG, "order is 99");
    BAD(SUB(2, zero, one, zero, C), MPI_ERR_ARG, "array_of_sizes has 0 at index 0");
    BAD(SUB(2, minus, one, zero, C), MPI_ERR_ARG, "array_of_sizes has 0 at index 0");
    BAD(SUB(2, two, six, zero, C), MPI_ERR_ARG, "array_of_subsizes has 6 at index 0; expected 1 to 4");
    BAD(SUB(2, two, zero, zero, C), MPI_ERR_ARG, "array_of_subsizes has 0 at index 0");
    BAD(SUB(2, two, one, minus, C), MPI_ERR_ARG, "array_of_starts has -1 at index 1");
    BAD(SUB(2, two, one, four, C), MPI_ERR_ARG, "array_of_starts has 5 at index 1; expected 0 to 4");
    BAD(SUB(2, NULL, one, zero, C), MPI_ERR_ARG, "array_of_sizes is NULL");
    BAD(SUB(2, two, one, NULL, C), MPI_ERR_ARG, "array_of_starts is NULL");
    BAD(MPI_Type_create_subarray_c(2, huge, huge, (MPI_Count[]){ 0, 0 }, C, MPI_INT, &nt), MPI_ERR_TYPE,
        "array_of_sizes has 1099511627776");
    BAD(MPI_Type_create_subarray(2, two, one, zero, C, MPI_DATATYPE_NULL, &nt), MPI_ERR_TYPE, "oldtype");
    OK(SUB(2, big, one, zero, C));
    OK(MPI_Type_free(&nt));
#define DA(size, rank, n, g, dist, darg, p, order) \
    MPI_Type_create_darray(size, rank, n, g, dist, darg, p, order, MPI_INT, &nt)
    BAD(DA(0, 0, 2, two, d, dflt, grid, C), MPI_ERR_ARG, "size is 0");
    BAD(DA(6, 6, 2, two, d, dflt, grid, C), MPI_ERR_ARG, "rank is 6; expected 0 to 5");
    BAD(DA(6, -1, 2, two, d, dflt, grid, C), MPI_ERR_ARG, "rank is -1");
    BAD(DA(6, 0, 0, two, d, dflt, grid, C), MPI_ERR_ARG, "ndims is 0");
    BAD(DA(6, 0, 2, two, d, dflt, grid, -1), MPI_ERR_ARG, "order is -1");
    BAD(DA(6, 0, 2, zero, d, dflt, grid, C), MPI_ERR_ARG, "array_of_gsizes has 0 at index 0");
    BAD(DA(6, 0, 2, two, odd, dflt, grid, C), MPI_ERR_ARG, "array_of_distribs has 77 at index 1");
    BAD(DA(6, 0, 2, two, d, zero, grid, C), MPI_ERR_ARG, "array_of_dargs has 0 at index 0");
    BAD(DA(6, 0, 2, two, d, one, grid, C), MPI_ERR_ARG, "array_of_dargs has 1 at index 0");
    BAD(DA(6, 0, 2, two, d, dflt, zero, C), MPI_ERR_ARG, "array_of_psizes has 0 at index 0");
    BAD(DA(7, 0, 2, two, d, dflt, grid, C), MPI_ERR_ARG, "array_of_psizes multiply to 6; expected 7");
    BAD(DA(6, 0, 2, two, d, dflt, big, C), MPI_ERR_ARG, "array_of_psizes multiply to 1152921504606846976");
    BAD(DA(6, 0, 2, two, NULL, dflt, grid, C), MPI_ERR_ARG, "array_of_distribs is NULL");
    BAD(DA(6, 0, 2, two, d, dflt, NULL, C), MPI_ERR_ARG, "array_of_psizes is NULL");
    BAD(MPI_Type_create_darray(6, 0, 2, two, d, dflt, grid, C, garbage, &nt), MPI_ERR_TYPE, "oldtype");
    BAD(MPI_Type_indexed(2, one, NULL, MPI_INT, &nt), MPI_ERR_ARG, "array_of_displacements is NULL");
    BAD(MPI_Type_create_hindexed_block(2, 1, NULL, MPI_INT, &nt), MPI_ERR_ARG, "array_of_displacements");
}

static void try_packing(void)
{
    at = 0;
    BAD(MPI_Pack(buf, 3, MPI_INT, out, 11, &at, MPI_COMM_SELF), MPI_ERR_TRUNCATE, "takes 12 bytes");
    CHECK_EQ(at, 0);
    at = 4;
    BAD(MPI_Pack(buf, 2, MPI_INT, out, 11, &at, MPI_COMM_SELF), MPI_ERR_TRUNCATE, "11");
    BAD(MPI_Unpack(buf, 11, &at, out, 2, MPI_INT, MPI_COMM_SELF), MPI_ERR_TRUNCATE, "insize");
    CHECK_EQ(at, 4);
    at = -1;
    BAD(MPI_Pack(buf, 1, MPI_INT, out, 8, &at, MPI_COMM_SELF), MPI_ERR_ARG, "position");
    at = 9;
    BAD(MPI_Unpack(buf, 8, &at, out, 1, MPI_INT, MPI_COMM_SELF), MPI_ERR_ARG, "position is 9");
    at = 0;
    CHECK_ERR(MPI_Pack(buf, 1, MPI_INT, out, 8, &at, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_ERR(MPI_Unpack(buf, 8, &at, out, 1, MPI_INT, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_ERR(MPI_Pack_size(1, MPI_INT, MPI_COMM_NULL, &n), MPI_ERR_COMM);
}

static void try_uncommitted(void)
{
    MPI_Datatype t;
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &t));
    BAD(MPI_Send(buf, 1, t, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE, "commit");
    at = 0;
    CHECK_ERR(MPI_Pack(buf, 1, t, out, sizeof out, &at, MPI_COMM_SELF), MPI_ERR_TYPE);
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_commit(&t)); /* twice is no error */
    OK(MPI_Pack(buf, 1, t, out, sizeof out, &at, MPI_COMM_SELF));
    MPI_Datatype dup, copy = t;
    OK(MPI_Type_dup(t, &dup)); /* a duplicate is as committed as the original */
    OK(MPI_Pack(buf, 1, dup, out, sizeof out, &at, MPI_COMM_SELF));
    OK(MPI_Type_free(&dup));
    OK(MPI_Type_free(&t));
    CHECK(t == MPI_DATATYPE_NULL, "a freed handle");
    try_handles(copy);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    garbage = (MPI_Datatype)(intptr_t)0x12345678;
    try_handles(MPI_DATATYPE_NULL);
    try_handles(garbage);
    try_handles((MPI_Datatype)buf);
    try_handles((MPI_Datatype)MPI_COMM_WORLD);
    try_counts();
    try_arrays();
    try_packing();
    try_uncommitted();
    return check_done();
}
