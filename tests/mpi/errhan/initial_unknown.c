/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* env: KEEL_INITIAL_ERRHANDLER=mpi_errors_retrun */
/* stderr: KEEL_INITIAL_ERRHANDLER is "mpi_errors_retrun"; expected mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return */
/* A name that is none: told, and the default is used. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Errhandler h;
    check_init(&argc, &argv);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &h);
    CHECK(h == MPI_ERRORS_ARE_FATAL, " ");
    return check_done();
}
