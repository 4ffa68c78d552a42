/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI-1's MPI_LB and MPI_UB in MPI_Type_struct; MPI_Type_extent, _lb, _ub, _count; what get_contents says of the
 * old calls. */
/* ranks: 1 2 */
#include "../check.h"

#define OK(call) CHECK_ERR(call, MPI_SUCCESS)

static void bounds(int line, MPI_Datatype t, MPI_Aint lb, MPI_Aint ub, int size)
{
    MPI_Aint l = -77, u = -77, e = -77, gl, ge;
    int got = -1;
    OK(MPI_Type_lb(t, &l));
    OK(MPI_Type_ub(t, &u));
    OK(MPI_Type_extent(t, &e));
    OK(MPI_Type_get_extent(t, &gl, &ge));
    OK(MPI_Type_size(t, &got));
    CHECK(l == lb && u == ub && e == ub - lb && gl == lb && ge == e, "line %d: lb %ld, ub %ld, extent %ld",
          line, (long)l, (long)u, (long)e);
    CHECK_EQ(got, size, "line %d", line);
}
#define BOUNDS(...) bounds(__LINE__, __VA_ARGS__)

static MPI_Datatype structure(int n, MPI_Aint *at, MPI_Datatype *types)
{
    int ones[3] = { 1, 1, 1 };
    MPI_Datatype t = MPI_DATATYPE_NULL;
    OK(MPI_Type_struct(n, ones, at, types, &t));
    return t;
}
#define STRUCT(N, AT, ...) structure(N, (MPI_Aint[])AT, (MPI_Datatype[]){ __VA_ARGS__ })
#define L(...) \
    { \
        __VA_ARGS__ \
    }

static void try_markers(void)
{
    MPI_Datatype both = STRUCT(3, L(-3, 0, 6), MPI_LB, MPI_INT, MPI_UB), t, u;
    BOUNDS(both, -3, 6, 4); /* the standard's example */
    OK(MPI_Type_contiguous(2, both, &t));
    BOUNDS(t, -3, 15, 8);
    OK(MPI_Type_free(&t));
    t = STRUCT(2, L(0, 12), MPI_INT, MPI_UB); /* one marker: the other bound is the data's */
    BOUNDS(t, 0, 12, 4);
    OK(MPI_Type_vector(2, 1, 2, t, &u));
    BOUNDS(u, 0, 36, 8);
    OK(MPI_Type_free(&u));
    u = STRUCT(2, L(20, 2), t, MPI_UB); /* sticky: a lower MPI_UB does not move the bound down */
    BOUNDS(u, 20, 32, 4);
    OK(MPI_Type_free(&u));
    u = STRUCT(2, L(20, 50), t, MPI_UB); /* a higher one moves it up */
    BOUNDS(u, 20, 50, 4);
    OK(MPI_Type_free(&u));
    OK(MPI_Type_create_resized(t, 0, 4, &u)); /* MPI-2's way is not sticky */
    BOUNDS(u, 0, 4, 4);
    OK(MPI_Type_free(&u));
    OK(MPI_Type_free(&t));
    t = STRUCT(2, L(-8, 0), MPI_LB, MPI_CHAR);
    BOUNDS(t, -8, 1, 1);
    u = STRUCT(2, L(0, -20), t, MPI_LB); /* sticky also below */
    BOUNDS(u, -20, 1, 1);
    OK(MPI_Type_free(&u));
    u = STRUCT(2, L(0, 0), t, MPI_LB);
    BOUNDS(u, -8, 1, 1);
    OK(MPI_Type_free(&u));
    OK(MPI_Type_free(&t));
    t = STRUCT(3, L(-4, 0, 8), MPI_LB, MPI_INT, MPI_CHAR); /* without MPI_UB the extent is rounded up */
    BOUNDS(t, -4, 12, 5);
    OK(MPI_Type_free(&t));
    t = STRUCT(2, L(4, 24), MPI_LB, MPI_UB); /* nothing but markers */
    BOUNDS(t, 4, 24, 0);
    OK(MPI_Type_free(&t));
    t = STRUCT(1, L(16), MPI_UB);
    BOUNDS(t, 16, 16, 0);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&both));
    BOUNDS(MPI_UB, 0, 0, 0);
    BOUNDS(MPI_INT, 0, 4, 4);
}

/* The old way to send a column of a matrix. */
static void try_column(void)
{
    int a[5][7], column[5] = { 0 };
    MPI_Datatype v, t;
    for (int i = 0; i < 35; i++)
        a[i / 7][i % 7] = i;
    OK(MPI_Type_hvector(5, 1, sizeof a[0], MPI_INT, &v));
    t = STRUCT(2, L(0, sizeof(int)), v, MPI_UB); /* above the marker there is data */
    OK(MPI_Type_free(&v));
    BOUNDS(t, 0, 4, 20);
    OK(MPI_Type_commit(&t));
    OK(MPI_Sendrecv(&a[0][3], 1, t, 0, 0, column, 5, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    for (int i = 0; i < 5; i++)
        CHECK_EQ(column[i], 7 * i + 3);
    OK(MPI_Type_free(&t));
}

static void try_contents(void)
{
    int ni, na, nt, combiner, ints[8], lengths[2] = { 2, 3 }, n = -1;
    MPI_Aint addrs[8], at[2] = { 8, 64 };
    MPI_Datatype types[8], t, of[2] = { MPI_INT, MPI_UB };
    OK(MPI_Type_hvector(4, 2, 24, MPI_INT, &t)); /* called from C, the old calls are the new ones */
    OK(MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner));
    CHECK(ni == 2 && na == 1 && nt == 1 && combiner == MPI_COMBINER_HVECTOR, "hvector");
    OK(MPI_Type_get_contents(t, 2, 1, 1, ints, addrs, types));
    CHECK(ints[0] == 4 && ints[1] == 2 && addrs[0] == 24 && types[0] == MPI_INT, "its contents");
    OK(MPI_Type_count(t, &n));
    CHECK_EQ(n, 4);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_hindexed(2, lengths, at, MPI_CHAR, &t));
    OK(MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner));
    CHECK(ni == 3 && na == 2 && nt == 1 && combiner == MPI_COMBINER_HINDEXED, "hindexed");
    OK(MPI_Type_get_contents(t, 3, 2, 1, ints, addrs, types));
    CHECK(ints[0] == 2 && ints[1] == 2 && ints[2] == 3 && addrs[0] == 8 && addrs[1] == 64, "its contents");
    OK(MPI_Type_count(t, &n));
    CHECK_EQ(n, 2);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_struct(2, lengths, at, of, &t));
    OK(MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner));
    CHECK(ni == 3 && na == 2 && nt == 2 && combiner == MPI_COMBINER_STRUCT, "struct");
    OK(MPI_Type_get_contents(t, 3, 2, 2, ints, addrs, types));
    CHECK(types[0] == MPI_INT && types[1] == MPI_UB && addrs[1] == 64, "its contents");
    OK(MPI_Type_free(&t));
    OK(MPI_Type_count(MPI_DOUBLE, &n));
    CHECK_EQ(n, 1);
    const int other[] = { MPI_COMBINER_HVECTOR_INTEGER, MPI_COMBINER_HINDEXED_INTEGER,
                          MPI_COMBINER_STRUCT_INTEGER };
    for (int i = 0; i < 3; i++)
        CHECK(other[i] > 16384, "a constant beyond the ABI's");
    CHECK_ERR(MPI_Type_free(&of[1]), MPI_ERR_TYPE);
    CHECK_SAYS("MPI_UB");
    CHECK_ERR(MPI_Type_extent(MPI_DATATYPE_NULL, addrs), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_lb(MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Allreduce(ints, ints + 4, 1, MPI_LB, MPI_SUM, MPI_COMM_SELF), MPI_ERR_OP);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    try_markers();
    try_column();
    try_contents();
    return check_done();
}
