/* SPDX-License-Identifier: BSD-3-Clause */
/* Members that call different collectives, or one with other roots, operations or types, are told so, all of them,
 * where they meet at a team; and the call before, or a communicator beside it, is nobody's business (7.1, 7.9). */
/* ranks: 2 3 5 */
/* nodes: one, because processes of several nodes have no team */
#include "../check.h"

static int odd(void)
{
    return check_rank == check_size - 1;
}

/* Makes the team: it is agreed on after some calls. */
static MPI_Comm fresh(void)
{
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    for (int i = 0; i < 8; i++)
        CHECK_ERR(MPI_Barrier(c), MPI_SUCCESS);
    return c;
}

int main(int argc, char **argv)
{
    double a[64] = { 0 }, b[64];
    check_init(&argc, &argv);
    MPI_Comm c = fresh();
    CHECK_ERR(MPI_Allreduce(a, b, 1, MPI_DOUBLE, odd() ? MPI_MAX : MPI_SUM, c), MPI_ERR_OP);
    CHECK_SAYS(odd() ? "MPI_SUM" : "MPI_MAX");
    CHECK_ERR(MPI_Barrier(c), MPI_SUCCESS);
    MPI_Comm_free(&c);

    c = fresh();
    CHECK_ERR(MPI_Allreduce(a, b, 1, odd() ? MPI_DOUBLE : MPI_INT64_T, MPI_SUM, c), MPI_ERR_TYPE);
    CHECK_SAYS("datatype");
    MPI_Comm_free(&c);

    c = fresh();
    CHECK_ERR(odd() ? MPI_Barrier(c) : MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_SUM, c), MPI_ERR_OTHER);
    CHECK_SAYS(odd() ? "MPI_Allreduce" : "MPI_Barrier");
    MPI_Comm_free(&c);

    c = fresh();
    CHECK_ERR(MPI_Allreduce(a, b, 64, MPI_DOUBLE, odd() ? MPI_PROD : MPI_SUM, c), MPI_ERR_OP);
    CHECK_SAYS(odd() ? "MPI_SUM" : "MPI_PROD");
    MPI_Comm_free(&c);

    /* Types that are combined alike are alike. */
    c = fresh();
    CHECK_ERR(MPI_Allreduce(a, b, 1, odd() ? MPI_LONG : MPI_INT64_T, MPI_SUM, c), MPI_SUCCESS);
    CHECK_ERR(MPI_Bcast(a, 2, MPI_DOUBLE, check_size - 1, c), MPI_SUCCESS);
    CHECK_ERR(MPI_Barrier(c), MPI_SUCCESS);

    /* Nobody waits in these broadcasts; what comes next tells. */
    int err = MPI_Bcast(a, 1, MPI_DOUBLE, odd() && check_size == 2 ? 1 : 0, c);
    CHECK_EQ(err, MPI_SUCCESS);
    if (check_size == 2) {
        CHECK_ERR(MPI_Barrier(c), MPI_ERR_ROOT);
        CHECK_SAYS("MPI_Bcast");
    }
    MPI_Comm_free(&c);
    return check_done();
}
