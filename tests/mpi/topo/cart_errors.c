/* SPDX-License-Identifier: BSD-3-Clause */
/* What the standard calls erroneous of Cartesian topologies: an error that says why, on all processes. */
/* ranks: 1 2 3 5 */
#include "../check.h"

static void create(void)
{
    MPI_Comm c = MPI_COMM_WORLD;
    int two[2] = { check_size, 1 }, none[2] = { 0, 0 }, large[3] = { 65536, 65536, 65536 }, rank = -1;
    const int periods[3] = { 0 };
    CHECK_ERR(MPI_Cart_create(MPI_COMM_WORLD, -1, two, none, 0, &c), MPI_ERR_DIMS);
    CHECK_SAYS("ndims is -1; expected at least 0");
    two[1] = 2;
    CHECK_ERR(MPI_Cart_create(MPI_COMM_WORLD, 2, two, none, 0, &c), MPI_ERR_DIMS);
    CHECK_SAYS(
        check_text("a grid of %d processes or more; expected at most the %d", 2 * check_size, check_size));
    CHECK_ERR(MPI_Cart_map(MPI_COMM_WORLD, 2, two, none, &rank), MPI_ERR_DIMS);
    CHECK_ERR(MPI_Cart_create(MPI_COMM_WORLD, 3, large, periods, 0, &c), MPI_ERR_DIMS);
    two[1] = -4;
    CHECK_ERR(MPI_Cart_create(MPI_COMM_WORLD, 2, two, none, 0, &c), MPI_ERR_DIMS);
    CHECK_SAYS("dims has -4 at index 1");
    CHECK_ERR(MPI_Cart_create(MPI_COMM_WORLD, 2, NULL, none, 0, &c), MPI_ERR_ARG);
    CHECK_SAYS("dims is NULL");
    two[1] = 1;
    CHECK_ERR(MPI_Cart_create(MPI_COMM_WORLD, 2, two, NULL, 0, &c), MPI_ERR_ARG);
    CHECK_SAYS("periods is NULL");
}

/* A grid of no process is one to which nobody belongs. */
static void empty(void)
{
    static const int sizes[][3] = { { 0, 0, 0 }, { 1, 0, 1 }, { 65536, 65536, 0 }, { 0, 65536, 65536 } };
    const int periods[3] = { 0 };
    for (int i = 0; i < 8; i++) {
        MPI_Comm c = MPI_COMM_WORLD;
        int rank = -1;
        CHECK_ERR(MPI_Cart_create(MPI_COMM_WORLD, 3, sizes[i / 2], periods, i % 2, &c), MPI_SUCCESS);
        CHECK(c == MPI_COMM_NULL, "grid %d", i);
        CHECK_ERR(MPI_Cart_map(MPI_COMM_WORLD, 3, sizes[i / 2], periods, &rank), MPI_SUCCESS);
        CHECK_EQ(rank, MPI_UNDEFINED);
    }
}

/* Processes that pass different arguments, or of which one alone is wrong. */
static void unlike(void)
{
    MPI_Comm c;
    int dims[1] = { check_rank == check_size - 1 ? -1 : check_size }, periods[1] = { 0 };
    CHECK_ERR(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &c), MPI_ERR_DIMS);
    if (check_size == 1)
        return;
    dims[0] = check_rank ? check_size : 1;
    CHECK_ERR(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &c), MPI_ERR_ARG);
    CHECK_SAYS("dims differs between the processes");
    dims[0] = check_size;
    periods[0] = check_rank == 0;
    CHECK_ERR(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &c), MPI_ERR_ARG);
    CHECK_SAYS("periods differs");
    periods[0] = check_rank + 1; /* all true */
    CHECK_ERR(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, check_rank, &c), MPI_ERR_ARG);
    CHECK_SAYS("reorder differs");
    CHECK_ERR(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &c), MPI_SUCCESS);
    MPI_Comm sub;
    int remain = check_rank == 0;
    CHECK_ERR(MPI_Cart_sub(c, &remain, &sub), MPI_ERR_ARG);
    CHECK_SAYS("remain_dims differs");
    MPI_Comm_free(&c);
}

static void inquire(void)
{
    MPI_Comm c, sub;
    int dims[2] = { check_size, 1 }, periods[2] = { 0, 1 }, out[2], a, b;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &c);
    int few[3][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
    CHECK_ERR(MPI_Cart_get(c, 1, few[0], few[1], few[2]), MPI_SUCCESS); /* what the arrays hold */
    CHECK(few[0][0] == check_size && few[1][0] == 0 && few[2][0] == check_rank, "%d %d %d", few[0][0],
          few[1][0], few[2][0]);
    CHECK(few[0][1] == -1 && few[1][1] == -1 && few[2][1] == -1, "written behind the arrays");
    CHECK_ERR(MPI_Cart_get(c, 0, NULL, NULL, NULL), MPI_SUCCESS);
    CHECK_ERR(MPI_Cart_get(c, 2, out, out, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Cart_coords(c, 0, 1, out), MPI_ERR_ARG);
    CHECK_ERR(MPI_Cart_coords(c, 0, 2, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Cart_coords(c, check_size, 2, out), MPI_ERR_RANK);
    CHECK_ERR(MPI_Cart_coords(c, -1, 2, out), MPI_ERR_RANK);
    out[0] = check_size, out[1] = 100;
    CHECK_ERR(MPI_Cart_rank(c, out, &a), MPI_ERR_ARG);
    CHECK_SAYS(check_text("coords has %d at index 0; expected 0 to %d", check_size, check_size - 1));
    out[0] = -1;
    CHECK_ERR(MPI_Cart_rank(c, out, &a), MPI_ERR_ARG);
    CHECK_ERR(MPI_Cart_rank(c, NULL, &a), MPI_ERR_ARG);
    CHECK_ERR(MPI_Cart_shift(c, 2, 1, &a, &b), MPI_ERR_DIMS);
    CHECK_SAYS("direction is 2; expected 0 to 1");
    CHECK_ERR(MPI_Cart_shift(c, -1, 1, &a, &b), MPI_ERR_DIMS);
    CHECK_ERR(MPI_Cart_sub(c, NULL, &sub), MPI_ERR_ARG);
    MPI_Comm_free(&c);
}

/* Communicators without such a topology. */
static void without(void)
{
    MPI_Comm c;
    int a, b, one = 1;
    CHECK_ERR(MPI_Cartdim_get(MPI_COMM_WORLD, &a), MPI_ERR_TOPOLOGY);
    CHECK_SAYS("has no topology; expected a communicator with a Cartesian topology");
    CHECK_ERR(MPI_Cart_get(MPI_COMM_WORLD, 1, &a, &a, &a), MPI_ERR_TOPOLOGY);
    CHECK_ERR(MPI_Cart_rank(MPI_COMM_WORLD, &one, &a), MPI_ERR_TOPOLOGY);
    CHECK_ERR(MPI_Cart_coords(MPI_COMM_WORLD, 0, 1, &a), MPI_ERR_TOPOLOGY);
    CHECK_ERR(MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &a, &b), MPI_ERR_TOPOLOGY);
    CHECK_ERR(MPI_Cart_sub(MPI_COMM_WORLD, &one, &c), MPI_ERR_TOPOLOGY);
    CHECK_ERR(MPI_Topo_test(MPI_COMM_NULL, &a), MPI_ERR_COMM);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    create();
    empty();
    unlike();
    inquire();
    without();
    return check_done();
}
