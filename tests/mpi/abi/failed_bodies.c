/* SPDX-License-Identifier: BSD-3-Clause */
/* A call that fails late, after its handles and counts have been found to be in order, leaves the
 * null handle where it was to put a new one; the error handler sees it already. */
/* ranks: 1 2 3 */
#include "check.h"

static MPI_Comm comm;
static int seen;

static void look(MPI_Comm *c, int *code, ...)
{
    (void)c, (void)code;
    seen += comm == MPI_COMM_NULL;
}

int main(int argc, char **argv)
{
    int dims[] = { 1 << 20, 1 << 20 }, no[] = { 0, 0 }, range[] = { 0, 0, 0 }, n = 1 << 30;
    MPI_Errhandler h;
    MPI_Datatype type = MPI_INT;
    MPI_Group group = MPI_GROUP_EMPTY;
    MPI_Aint disp = 0;
    check_init(&argc, &argv);
    MPI_Comm_create_errhandler(look, &h);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
    MPI_Errhandler_free(&h);
    comm = MPI_COMM_SELF;
    CHECK_ERR(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, no, 0, &comm), MPI_ERR_DIMS);
    comm = MPI_COMM_SELF;
    CHECK_ERR(MPI_Comm_split_type(MPI_COMM_WORLD, 12345, 0, MPI_INFO_NULL, &comm), MPI_ERR_ARG);
    CHECK_EQ(seen, 2, "times before the handler ran");
    check_errors_return();
    CHECK_ERR(MPI_Type_create_hvector_c((MPI_Count)1 << 60, (MPI_Count)1 << 60, 1, MPI_INT, &type),
              MPI_ERR_TYPE);
    CHECK(type == MPI_DATATYPE_NULL, " ");
    type = MPI_INT;
    CHECK_ERR(MPI_Type_create_struct(1, &n, &disp, &type, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Type_create_subarray(1, no, no, no, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
    CHECK(type == MPI_DATATYPE_NULL, " ");
    CHECK_ERR(MPI_Group_range_incl(MPI_GROUP_EMPTY, 1, &range, &group), MPI_ERR_ARG);
    CHECK(group == MPI_GROUP_NULL, " ");
    return check_done();
}
