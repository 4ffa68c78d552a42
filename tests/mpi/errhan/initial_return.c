/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* mpiexec: -initial-errhandler MPI_Errors_Return */
/* The initial handler: before MPI_Init, after MPI_Finalize, on MPI_COMM_WORLD and MPI_COMM_SELF, without an object. */
#include "check.h"

static void is_return(MPI_Comm comm)
{
    MPI_Errhandler h;
    MPI_Comm_get_errhandler(comm, &h);
    CHECK(h == MPI_ERRORS_RETURN, " ");
    MPI_Errhandler_free(&h);
}

int main(int argc, char **argv)
{
    int x = 0, rank, provided;
    MPI_Errhandler file;
    CHECK_ERR(MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_ERR_OTHER);
    CHECK_SAYS("before MPI_Init");
    CHECK_ERR(MPI_Add_error_string(3, "x"), MPI_ERR_ARG);
    CHECK_ERR(MPI_Init_thread(&argc, &argv, 777, &provided), MPI_ERR_ARG);
    check_init(&argc, &argv);
    is_return(MPI_COMM_WORLD);
    is_return(MPI_COMM_SELF);
    CHECK_ERR(MPI_Send(&x, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_ERR(MPI_Send(&x, 1, MPI_INT, 1000, 0, MPI_COMM_SELF), MPI_ERR_RANK);
    CHECK_ERR(MPI_Send(&x, 1, MPI_INT, 1000, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    MPI_File_get_errhandler(MPI_FILE_NULL, &file);
    CHECK(file == MPI_ERRORS_RETURN, "that of files is not the initial one");
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL); /* gone with MPI_COMM_SELF */
    int failed = check_done();
    CHECK_ERR(MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_OTHER);
    CHECK_SAYS("after MPI_Finalize");
    CHECK_ERR(MPI_Init(&argc, &argv), MPI_ERR_OTHER);
    return failed || check_failures;
}
