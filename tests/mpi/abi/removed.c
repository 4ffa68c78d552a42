/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI 3.0 removed or deprecated and the header's second part still declares. */
/* ranks: 1 2 */
/* abi: openmpi, because its header refuses these names */
#include <check.h>
#include <stddef.h>

struct pair {
    char c;
    double d;
};

static void types(void)
{
    struct pair x[2], y[2];
    int lengths[2] = { 1, 1 }, size;
    MPI_Aint at[2], base, extent, lb;
    MPI_Datatype of[2] = { MPI_CHAR, MPI_DOUBLE }, s, v, h;
    memset(x, 0, sizeof x);
    memset(y, 0, sizeof y);
    CHECK_ERR(MPI_Address(&x[0], &base), MPI_SUCCESS);
    CHECK(base == (MPI_Aint)(intptr_t)&x[0], "MPI_Address");
    CHECK(MPI_Aint_diff(MPI_Aint_add(base, 24), base) == 24, "MPI_Aint_add, _diff");
    CHECK(MPI_Aint_add(base, 5) == base + 5, "MPI_Aint_add");
    at[0] = offsetof(struct pair, c);
    at[1] = offsetof(struct pair, d);
    CHECK_ERR(MPI_Type_struct(2, lengths, at, of, &s), MPI_SUCCESS);
    CHECK_ERR(MPI_Type_size(s, &size), MPI_SUCCESS);
    CHECK_EQ(size, 9);
    CHECK_ERR(MPI_Type_hvector(2, 1, sizeof(struct pair), s, &v), MPI_SUCCESS);
    CHECK_ERR(MPI_Type_commit(&v), MPI_SUCCESS);
    CHECK_ERR(MPI_Type_get_extent(v, &lb, &extent), MPI_SUCCESS);
    CHECK_EQ(lb, 0);
    CHECK_EQ(extent, 2 * sizeof(struct pair));
    x[0].c = 'a', x[0].d = 1.5, x[1].c = 'b', x[1].d = -2.5;
    CHECK_ERR(MPI_Sendrecv(x, 1, v, 0, 3, y, 1, v, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(y[0].c == 'a' && y[0].d == 1.5 && y[1].c == 'b' && y[1].d == -2.5, "the data");
    CHECK_ERR(MPI_Type_hindexed(2, lengths, at, MPI_CHAR, &h), MPI_SUCCESS);
    CHECK_ERR(MPI_Type_get_extent(h, &lb, &extent), MPI_SUCCESS);
    CHECK_EQ(extent, offsetof(struct pair, d) + 1);
    MPI_Count lb_x = -1, extent_x = -1;
    CHECK_ERR(MPI_Type_get_extent_x(h, &lb_x, &extent_x), MPI_SUCCESS);
    CHECK(lb_x == 0 && extent_x == extent, "lower bound %lld, extent %lld", (long long)lb_x,
          (long long)extent_x);
    lb_x = extent_x = -1;
    CHECK_ERR(MPI_Type_get_true_extent_x(h, &lb_x, &extent_x), MPI_SUCCESS);
    CHECK(lb_x == 0 && extent_x == extent, "true lower bound %lld, extent %lld", (long long)lb_x,
          (long long)extent_x);
    MPI_Type_free(&h);
    MPI_Type_free(&v);
    MPI_Type_free(&s);
}

static int seen;
static void note(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    MPI_Error_class(*code, &seen);
}

static void errhandlers(void)
{
    MPI_Errhandler mine, got = MPI_ERRHANDLER_NULL;
    MPI_Comm comm;
    int x = 0;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    CHECK_ERR(MPI_Errhandler_create(note, &mine), MPI_SUCCESS);
    CHECK_ERR(MPI_Errhandler_set(comm, mine), MPI_SUCCESS);
    CHECK_ERR(MPI_Errhandler_get(comm, &got), MPI_SUCCESS);
    CHECK(got == mine, "another handler");
    CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(mine)) == mine, "its integer");
    CHECK_ERR(MPI_Send(&x, 1, MPI_INT, 9, 0, comm), MPI_ERR_RANK);
    CHECK_EQ(seen, MPI_ERR_RANK);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&mine);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    types();
    errhandlers();
    return check_done();
}
