/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* mpiexec: -initial-errhandler mpi_errors_return */
/* A handler of MPI_COMM_WORLD that gets the errors of no object gets none after MPI_Finalize, when
 * there is no MPI_COMM_WORLD. */
#include "check.h"

static int calls;

static void on_world(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    calls++;
}

int main(int argc, char **argv)
{
    int n;
    MPI_Errhandler h;
    MPI_Info info;
    CHECK_ERR(MPI_Info_create(NULL), MPI_ERR_ARG);
    check_init(&argc, &argv);
    CHECK_ERR(MPI_Group_size(MPI_GROUP_NULL, &n), MPI_ERR_GROUP);
    MPI_Comm_create_errhandler(on_world, &h);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
    MPI_Errhandler_free(&h);
    CHECK_ERR(MPI_Group_size(MPI_GROUP_NULL, &n), MPI_ERR_GROUP);
    CHECK_EQ(calls, 1);
    MPI_Finalize();
    CHECK_ERR(MPI_Info_create(NULL), MPI_ERR_ARG);
    CHECK_EQ(MPI_Info_create(&info), MPI_SUCCESS);
    CHECK_EQ(MPI_Info_free(&info), MPI_SUCCESS);
    CHECK_EQ(calls, 1, "only that from before MPI_Finalize");
    return check_failures != 0;
}
