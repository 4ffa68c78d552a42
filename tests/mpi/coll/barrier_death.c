/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that dies before a barrier: no other comes out of it as if that one had come, in any form, whoever dies. */
/* ranks: 3 4 5 8 */
/* exit: 3 */
/* stderr: (?s)\A(?!.*told 0).*told 1.*\Z */
#include "../check.h"
#include <unistd.h>

/* Of the member that is gone; at who has not heard that, of one that could not go on. */
static int is_told(int errclass)
{
    return errclass == MPI_ERR_PROC_ABORTED || errclass == MPI_ERR_TRUNCATE;
}

static void goes(int victim)
{
    if (check_rank == victim) {
        usleep(100000);
        _exit(3);
    }
}

int main(int argc, char **argv)
{
    int errclass = 0;
    MPI_Request request;
    check_init(&argc, &argv);
    check_outlives();
    check_errors_return();
    for (int i = 0; i < 10; i++)
        CHECK_ERR(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    MPI_Comm twin; /* its barrier goes by messages from the first, or at its team */
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_Barrier(twin), MPI_SUCCESS);
    goes(0);
    MPI_Error_class(MPI_Barrier(MPI_COMM_WORLD), &errclass);
    fprintf(stderr, "told %d\n", is_told(errclass));
    int err = MPI_Ibarrier(twin, &request);
    if (!err)
        err = MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Error_class(err, &errclass);
    fprintf(stderr, "told %d\n", is_told(errclass));
    return check_done();
}
