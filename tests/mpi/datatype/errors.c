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
    try_packing();
    try_uncommitted();
    return check_done();
}
