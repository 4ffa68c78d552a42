/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Type_match_size, MPI_Type_create_f90_real, _complex, _integer, MPI_Type_get_value_index; MPI_MINLOC on any
 * pair. */
/* ranks: 1 2 5 */
#include <stddef.h>
#include "../check.h"

#define OK(call) CHECK_ERR(call, MPI_SUCCESS)

static void try_match_size(void)
{
    const struct {
        int class, size;
        MPI_Datatype type;
    } rows[] = {
        { MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1 },   { MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2 },
        { MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4 },   { MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8 },
        { MPI_TYPECLASS_REAL, 4, MPI_REAL4 },         { MPI_TYPECLASS_REAL, 8, MPI_REAL8 },
        { MPI_TYPECLASS_REAL, 16, MPI_REAL16 },       { MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8 },
        { MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16 }, { MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32 },
    };
    MPI_Datatype t = MPI_DATATYPE_NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        OK(MPI_Type_match_size(rows[i].class, rows[i].size, &t));
        CHECK(t == rows[i].type, "row %d", (int)i);
    }
    CHECK_ERR(MPI_Type_free(&t), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &t), MPI_ERR_ARG);
    CHECK_SAYS("size is 3");
    CHECK_ERR(MPI_Type_match_size(17, 4, &t), MPI_ERR_ARG);
    CHECK_SAYS("typeclass is 17");
}

static int size_of(MPI_Datatype t)
{
    int size = -1;
    OK(MPI_Type_size(t, &size));
    return size;
}

static void try_integers(void)
{
    const int r[] = { 0, 2, 3, 4, 5, 9, 10, 18, 19, 38 }, want[] = { 1, 1, 2, 2, 4, 4, 8, 8, 16, 16 };
    MPI_Datatype t, again, dup;
    int ni, na, nt, combiner, got[1] = { -1 }, x = 5, y = 0;
    MPI_Aint size = -1;
    for (int i = 0; i < 10; i++) {
        OK(MPI_Type_create_f90_integer(r[i], &t));
        CHECK_EQ(size_of(t), want[i], "r %d", r[i]);
        OK(MPI_Pack_external_size("external32", 1, t, &size));
        CHECK_EQ(size, want[i], "external32, r %d", r[i]);
        OK(MPI_Type_create_f90_integer(r[i], &again));
        CHECK(t == again, "the same call gives the same handle");
    }
    OK(MPI_Type_create_f90_integer(9, &t));
    CHECK(t != MPI_INTEGER4 && t != MPI_INTEGER, "a type of its own");
    OK(MPI_Type_create_f90_integer(8, &again));
    CHECK(t != again, "other arguments, another handle");
    OK(MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner));
    CHECK(ni == 1 && na == 0 && nt == 0 && combiner == MPI_COMBINER_F90_INTEGER, "envelope %d %d %d %d", ni,
          na, nt, combiner);
    OK(MPI_Type_get_contents(t, 1, 0, 0, got, NULL, NULL));
    CHECK_EQ(got[0], 9);
    CHECK_ERR(MPI_Type_free(&t), MPI_ERR_TYPE);
    OK(MPI_Allreduce(&x, &y, 1, t, MPI_SUM, MPI_COMM_WORLD)); /* committed, and the operations know it */
    CHECK_EQ(y, 5 * check_size);
    OK(MPI_Type_dup(t, &dup));
    OK(MPI_Allreduce(&x, &y, 1, dup, MPI_MAX, MPI_COMM_WORLD));
    CHECK_EQ(y, 5);
    OK(MPI_Type_free(&dup));
    CHECK_ERR(MPI_Type_create_f90_integer(39, &t), MPI_ERR_ARG);
    CHECK_SAYS("r is 39");
    CHECK_ERR(MPI_Type_create_f90_integer(-1, &t), MPI_ERR_ARG);
}

static void try_reals(void)
{
    const struct {
        int p, r, size, wire;
    } rows[] = {
        { 6, 37, 4, 4 }, { 7, MPI_UNDEFINED, 8, 8 },    { MPI_UNDEFINED, 38, 8, 8 },    { 15, 307, 8, 8 },
        { 0, 0, 4, 4 },  { 16, MPI_UNDEFINED, 16, 16 }, { MPI_UNDEFINED, 308, 16, 16 }, { 33, 4931, 16, 16 }
    };
    MPI_Datatype t, c, again, contig;
    int ni, na, nt, combiner, got[2];
    MPI_Aint size = -1;
    double x[2] = { 1.5, 2 }, y[2] = { 0, 0 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        OK(MPI_Type_create_f90_real(rows[i].p, rows[i].r, &t));
        OK(MPI_Type_create_f90_real(rows[i].p, rows[i].r, &again));
        CHECK(t == again && size_of(t) == rows[i].size, "row %d: %d bytes", (int)i, size_of(t));
        OK(MPI_Pack_external_size("external32", 1, t, &size));
        CHECK_EQ(size, rows[i].wire);
        OK(MPI_Type_create_f90_complex(rows[i].p, rows[i].r, &c));
        OK(MPI_Type_create_f90_complex(rows[i].p, rows[i].r, &again));
        CHECK(c == again && c != t && size_of(c) == 2 * rows[i].size, "row %d, complex", (int)i);
        for (int k = 0; k < 2; k++) {
            OK(MPI_Type_get_envelope(k ? c : t, &ni, &na, &nt, &combiner));
            CHECK(ni == 2 && na == 0 && nt == 0 &&
                      combiner == (k ? MPI_COMBINER_F90_COMPLEX : MPI_COMBINER_F90_REAL),
                  "envelope %d %d %d %d", ni, na, nt, combiner);
            OK(MPI_Type_get_contents(k ? c : t, 2, 0, 0, got, NULL, NULL));
            CHECK(got[0] == rows[i].p && got[1] == rows[i].r, "contents %d %d", got[0], got[1]);
        }
    }
    CHECK_ERR(MPI_Type_free(&c), MPI_ERR_TYPE);
    OK(MPI_Type_create_f90_real(15, MPI_UNDEFINED, &t));
    OK(MPI_Type_contiguous(2, t, &contig));
    OK(MPI_Type_commit(&contig));
    OK(MPI_Sendrecv(x, 1, contig, check_rank, 0, y, 2, t, check_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(y[0] == 1.5 && y[1] == 2, "the data");
    OK(MPI_Type_free(&contig));
    CHECK_ERR(MPI_Type_create_f90_real(34, MPI_UNDEFINED, &t), MPI_ERR_ARG);
    CHECK_SAYS("p is 34");
    CHECK_ERR(MPI_Type_create_f90_complex(6, 5000, &t), MPI_ERR_ARG);
    CHECK_SAYS("r is 5000");
    CHECK_ERR(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &t), MPI_ERR_ARG);
}

static void try_named_pairs(void)
{
    const MPI_Datatype rows[][3] = {
        { MPI_FLOAT, MPI_INT, MPI_FLOAT_INT },
        { MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT },
        { MPI_LONG, MPI_INT, MPI_LONG_INT },
        { MPI_INT, MPI_INT, MPI_2INT },
        { MPI_SHORT, MPI_INT, MPI_SHORT_INT },
        { MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT },
        { MPI_REAL, MPI_REAL, MPI_2REAL },
        { MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION },
        { MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER },
        { MPI_CHAR, MPI_INT, MPI_DATATYPE_NULL },     /* nothing to compare */
        { MPI_DOUBLE, MPI_FLOAT, MPI_DATATYPE_NULL }, /* no index */
        { MPI_C_COMPLEX, MPI_INT, MPI_DATATYPE_NULL },
        { MPI_FLOAT_INT, MPI_INT, MPI_DATATYPE_NULL },
        { MPI_BYTE, MPI_INT, MPI_DATATYPE_NULL },
    };
    MPI_Datatype t, derived;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        t = MPI_BYTE;
        OK(MPI_Type_get_value_index(rows[i][0], rows[i][1], &t));
        CHECK(t == rows[i][2], "row %d", (int)i);
    }
    OK(MPI_Type_contiguous(1, MPI_INT, &derived));
    OK(MPI_Type_get_value_index(derived, MPI_INT, &t));
    CHECK(t == MPI_DATATYPE_NULL, "a derived value");
    OK(MPI_Type_free(&derived));
    CHECK_ERR(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &t), MPI_ERR_TYPE);
}

struct pair {
    double value;
    uint64_t index;
};

/* The standard's example, on every rank: the largest value, of equal ones the lowest index. */
static void try_unnamed_pair(void)
{
    MPI_Datatype t, again, dup, of[2];
    int ni, na, nt, combiner, size, n = -1;
    MPI_Aint lb, extent;
    MPI_Status s;
    struct pair x[3] = { { check_rank, (uint64_t)check_rank + ((uint64_t)1 << 40) },
                         { 1, (uint64_t)(check_size - check_rank) },
                         { -check_rank, 7 } },
                y[3];
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_UINT64_T, &t));
    CHECK(t != MPI_DATATYPE_NULL, "a pair without a name");
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_UINT64_T, &again));
    CHECK(t == again, "the same type");
    OK(MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner));
    CHECK(ni == 0 && na == 0 && nt == 2 && combiner == MPI_COMBINER_VALUE_INDEX, "envelope %d %d %d %d", ni,
          na, nt, combiner);
    OK(MPI_Type_get_contents(t, 0, 0, 2, NULL, NULL, of));
    CHECK(of[0] == MPI_DOUBLE && of[1] == MPI_UINT64_T, "its parts");
    OK(MPI_Type_get_extent(t, &lb, &extent));
    OK(MPI_Type_size(t, &size));
    CHECK(lb == 0 && extent == sizeof(struct pair) && size == 16, "extent %ld", (long)extent);
    CHECK_ERR(MPI_Type_free(&t), MPI_ERR_TYPE);
    OK(MPI_Allreduce(x, y, 3, t, MPI_MAXLOC, MPI_COMM_WORLD));
    CHECK(y[0].value == check_size - 1 && y[0].index == (uint64_t)check_size - 1 + ((uint64_t)1 << 40),
          "the largest");
    CHECK(y[1].value == 1 && y[1].index == 1, "of equal ones");
    CHECK(y[2].value == 0 && y[2].index == 7, "the third");
    OK(MPI_Type_dup(t, &dup));
    OK(MPI_Allreduce(x, y, 3, dup, MPI_MINLOC, MPI_COMM_WORLD));
    CHECK(y[0].value == 0 && y[0].index == (uint64_t)1 << 40, "the smallest");
    CHECK(y[2].value == 1 - check_size, "the third");
    CHECK_ERR(MPI_Allreduce(x, y, 3, dup, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP);
    OK(MPI_Type_free(&dup));
    OK(MPI_Sendrecv(x, 3, t, check_rank, 0, y, 3, t, check_rank, 0, MPI_COMM_WORLD, &s));
    OK(MPI_Get_elements(&s, t, &n));
    CHECK_EQ(n, 6);
    OK(MPI_Type_get_value_index(MPI_INT64_T, MPI_INT64_T, &t)); /* both of one type */
    int64_t a[2] = { 3, check_rank + 10 }, b[2];
    OK(MPI_Allreduce(a, b, 1, t, MPI_MINLOC, MPI_COMM_WORLD));
    CHECK(b[0] == 3 && b[1] == 10, "%d %d", (int)b[0], (int)b[1]);
}

/* Small values and indices, with gaps and tails: against a loop. */
#define TRY_PAIR(V, VT, I, IT) \
    do { \
        struct p { \
            V v; \
            I i; \
        } in[20], io[20], want[20]; \
        MPI_Datatype t; \
        MPI_Aint lb, extent; \
        for (int max = 0; max < 2; max++) { \
            for (int k = 0; k < 20; k++) { \
                in[k].v = (V)(k % 3), in[k].i = (I)(k % 5); \
                io[k].v = (V)(k % 2), io[k].i = (I)(k % 4); \
                want[k] = io[k]; \
                int take = max ? in[k].v > io[k].v : in[k].v < io[k].v; \
                if (take || (in[k].v == io[k].v && in[k].i < io[k].i)) \
                    want[k].v = in[k].v, want[k].i = in[k].i; \
            } \
            OK(MPI_Type_get_value_index(VT, IT, &t)); \
            OK(MPI_Type_get_extent(t, &lb, &extent)); \
            CHECK_EQ(extent, sizeof(struct p)); \
            OK(MPI_Reduce_local(in, io, 20, t, max ? MPI_MAXLOC : MPI_MINLOC)); \
            for (int k = 0; k < 20; k++) \
                CHECK(io[k].v == want[k].v && io[k].i == want[k].i, #V " and " #I ", %d", k); \
        } \
    } while (0)

static void try_all_pairs(void)
{
    TRY_PAIR(int8_t, MPI_INT8_T, int64_t, MPI_INT64_T);
    TRY_PAIR(uint8_t, MPI_UINT8_T, uint8_t, MPI_UINT8_T);
    TRY_PAIR(int16_t, MPI_INT16_T, int8_t, MPI_INT8_T);
    TRY_PAIR(uint16_t, MPI_UINT16_T, uint16_t, MPI_UINT16_T);
    TRY_PAIR(int32_t, MPI_INT32_T, int16_t, MPI_INT16_T);
    TRY_PAIR(uint32_t, MPI_UINT32_T, uint32_t, MPI_UINT32_T);
    TRY_PAIR(int64_t, MPI_INT64_T, int, MPI_INT);
    TRY_PAIR(uint64_t, MPI_UINT64_T, int, MPI_INT);
    TRY_PAIR(float, MPI_FLOAT, long, MPI_LONG);
    TRY_PAIR(float, MPI_REAL4, int32_t, MPI_INTEGER4);
    TRY_PAIR(double, MPI_DOUBLE, short, MPI_SHORT);
    TRY_PAIR(long double, MPI_LONG_DOUBLE, MPI_Count, MPI_COUNT);
    TRY_PAIR(MPI_Aint, MPI_AINT, MPI_Offset, MPI_OFFSET);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    try_match_size();
    try_integers();
    try_reals();
    try_named_pairs();
    try_unnamed_pair();
    try_all_pairs();
    return check_done();
}
