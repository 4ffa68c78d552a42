/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* exit: 6 */
/* stderr: error handlers have called one another 50 deep; the latest error: MPI_Send.*dest is 1000 */
/* A handler that errs on its own communicator, again and again. */
#include "check.h"

static void errs(MPI_Comm *comm, int *code, ...)
{
    int x = 0;
    (void)code;
    MPI_Send(&x, 1, MPI_INT, 1000, 0, *comm);
}

int main(int argc, char **argv)
{
    MPI_Errhandler h;
    int x = 0;
    check_init(&argc, &argv);
    MPI_Comm_create_errhandler(errs, &h);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, h);
    MPI_Send(&x, 1, MPI_INT, 1000, 0, MPI_COMM_SELF);
    return 0;
}
