/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 3 */
/* What a program says of its Fortran compiler: sizes, what is supported, the values of .TRUE. and .FALSE.; once,
 * and it holds. */
#include "check.h"

static void expect_value(MPI_Info info, const char *key, const char *expected)
{
    char value[100] = "none";
    int len = sizeof value, flag = 0;
    MPI_Info_get_string(info, key, &len, value, &flag);
    CHECK(flag && !strcmp(value, expected), "%s is %s", key, flag ? value : "not there");
}

static void expect_size(MPI_Datatype type, int expected)
{
    int size = -1;
    MPI_Aint lb, extent;
    MPI_Type_size(type, &size);
    MPI_Type_get_extent(type, &lb, &extent);
    CHECK_EQ(size, expected);
    CHECK_EQ(extent, expected);
}

static void info(void)
{
    MPI_Info info, got;
    CHECK_ERR(MPI_Abi_get_fortran_info(&got), MPI_SUCCESS);
    CHECK(got == MPI_INFO_NULL, "nothing has been said yet");
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_integer_size", "8");
    MPI_Info_set(info, "mpi_real_size", "3");
    CHECK_ERR(MPI_Abi_set_fortran_info(info), MPI_ERR_INFO_VALUE);
    CHECK_SAYS("mpi_real_size");
    expect_size(MPI_INTEGER, 4);
    MPI_Info_set(info, "mpi_real_size", "8");
    MPI_Info_set(info, "mpi_logical16_supported", "perhaps");
    CHECK_ERR(MPI_Abi_set_fortran_info(info), MPI_ERR_INFO_VALUE);
    MPI_Info_set(info, "mpi_logical16_supported", "false");
    MPI_Info_set(info, "mpi_integer8_supported", "true");
    MPI_Info_set(info, "mpi_logical_size", "8");
    CHECK_ERR(MPI_Abi_set_fortran_info(info), MPI_SUCCESS);
    CHECK_ERR(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
    MPI_Info_free(&info);
    CHECK_ERR(MPI_Abi_get_fortran_info(&got), MPI_SUCCESS);
    expect_value(got, "mpi_integer_size", "8");
    expect_value(got, "mpi_real_size", "8");
    expect_value(got, "mpi_double_precision_size", "8");
    expect_value(got, "mpi_logical_size", "8");
    expect_value(got, "mpi_logical16_supported", "false");
    expect_value(got, "mpi_integer8_supported", "true");
    MPI_Info_free(&got);
}

static void sizes(void)
{
    int64_t in[2] = { (int64_t)1 << 40, check_rank }, out[2];
    double pair[2] = { 0.5, 1 }, sum[2];
    expect_size(MPI_INTEGER, 8);
    expect_size(MPI_2INTEGER, 16);
    expect_size(MPI_REAL, 8);
    expect_size(MPI_COMPLEX, 16);
    expect_size(MPI_2REAL, 16);
    expect_size(MPI_DOUBLE_PRECISION, 8);
    expect_size(MPI_LOGICAL, 8);
    expect_size(MPI_INTEGER4, 4);
    CHECK_ERR(MPI_Allreduce(in, out, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(out[0], (int64_t)check_size << 40);
    CHECK_EQ(out[1], check_size * (check_size - 1) / 2);
    CHECK_ERR(MPI_Allreduce(pair, sum, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK(sum[0] == 0.5 * check_size && sum[1] == check_size, "%g %g", sum[0], sum[1]);
    CHECK_ERR(MPI_Reduce_local(in, out, 1, MPI_2INTEGER, MPI_SUM), MPI_ERR_OP);
    int64_t best[4], mine[4] = { check_rank % 2 ? 7 : (int64_t)1 << 40, check_rank, -check_rank, check_rank };
    CHECK_ERR(MPI_Allreduce(mine, best, 2, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK(best[0] == (int64_t)1 << 40 && best[1] == 0 && best[2] == 0 && best[3] == 0, "%lld %lld",
          (long long)best[0], (long long)best[1]);
    double least[2], of_mine[2] = { -0.5 * check_rank, check_rank };
    MPI_Datatype dup;
    MPI_Type_dup(MPI_2REAL, &dup);
    CHECK_ERR(MPI_Allreduce(of_mine, least, 1, dup, MPI_MINLOC, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK(least[0] == -0.5 * (check_size - 1) && least[1] == check_size - 1, "%g %g", least[0], least[1]);
    MPI_Type_free(&dup);
}

static void booleans(void)
{
    int32_t yes = -1, no = 0, set = 7;
    int8_t small[2] = { 5, 5 };
    int64_t large[2] = { 5, 5 };
    CHECK_ERR(MPI_Abi_get_fortran_booleans(4, &yes, &no, &set), MPI_SUCCESS);
    CHECK_EQ(set, 0);
    CHECK_EQ(yes, -1, "was not touched");
    CHECK_ERR(MPI_Abi_set_fortran_booleans(3, &yes, &no), MPI_ERR_ARG);
    CHECK_ERR(MPI_Abi_set_fortran_booleans(4, &yes, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Abi_set_fortran_booleans(4, &no, &no), MPI_ERR_ARG);
    CHECK_ERR(MPI_Abi_set_fortran_booleans(4, &yes, &no), MPI_SUCCESS);
    CHECK_ERR(MPI_Abi_set_fortran_booleans(4, &yes, &no), MPI_ERR_ABI);
    yes = no = 3;
    CHECK_ERR(MPI_Abi_get_fortran_booleans(4, &yes, &no, &set), MPI_SUCCESS);
    CHECK_EQ(set, 1);
    CHECK_EQ(yes, -1);
    CHECK_EQ(no, 0);
    MPI_Abi_get_fortran_booleans(1, &small[0], &small[1], &set);
    CHECK(small[0] == -1 && small[1] == 0, "%d %d", small[0], small[1]);
    MPI_Abi_get_fortran_booleans(8, &large[0], &large[1], &set);
    CHECK(large[0] == -1 && large[1] == 0, "of 8 bytes");
}

#define LOGICALS(T, type) \
    do { \
        const T a[4] = { -1, -1, 0, 0 }, b[4] = { -1, 0, -1, 0 }; \
        T x[4], y[4], z[4]; \
        memcpy(x, b, sizeof b); \
        memcpy(y, b, sizeof b); \
        memcpy(z, b, sizeof b); \
        CHECK_ERR(MPI_Reduce_local(a, x, 4, type, MPI_LAND), MPI_SUCCESS); \
        CHECK_ERR(MPI_Reduce_local(a, y, 4, type, MPI_LOR), MPI_SUCCESS); \
        CHECK_ERR(MPI_Reduce_local(a, z, 4, type, MPI_LXOR), MPI_SUCCESS); \
        for (int i = 0; i < 4; i++) { \
            CHECK_EQ(x[i], a[i] & b[i], #type); \
            CHECK_EQ(y[i], a[i] | b[i], #type); \
            CHECK_EQ(z[i], a[i] ^ b[i], #type); \
        } \
    } while (0)

static void operations(void)
{
    const int32_t values[2] = { -1, 0 };
    const _Bool truths[2] = { 1, 0 };
    _Bool all[2] = { 1, 1 };
    int32_t back[2] = { 7, 7 };
    unsigned char wire[8];
    MPI_Aint at = 0;
    LOGICALS(int64_t, MPI_LOGICAL);
    LOGICALS(int8_t, MPI_LOGICAL1);
    LOGICALS(int16_t, MPI_LOGICAL2);
    LOGICALS(int32_t, MPI_LOGICAL4);
    LOGICALS(int64_t, MPI_LOGICAL8);
    MPI_Reduce_local(truths, all, 2, MPI_C_BOOL, MPI_LAND);
    CHECK(all[0] && !all[1], "C's have their own");
    MPI_Reduce_local(values, back, 2, MPI_LOGICAL4, MPI_SUM);
    CHECK(back[0] == 6 && back[1] == 7, "sums are those of integers: %d %d", back[0], back[1]);
    MPI_Pack_external("external32", values, 2, MPI_LOGICAL4, wire, sizeof wire, &at);
    CHECK(wire[3] == 1 && wire[0] == 0 && wire[7] == 0, "%d %d %d", wire[3], wire[0], wire[7]);
    at = 0;
    MPI_Unpack_external("external32", wire, sizeof wire, &at, back, 2, MPI_LOGICAL4);
    CHECK_EQ(back[0], -1);
    CHECK_EQ(back[1], 0);
}

int main(int argc, char **argv)
{
    int before = 1;
    int32_t t, f;
    MPI_Abi_get_fortran_booleans(4, &t, &f, &before);
    check_init(&argc, &argv);
    check_errors_return();
    CHECK_EQ(before, 0);
    info();
    sizes();
    booleans();
    operations();
    return check_done();
}
