/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5 8 */
/* exit: 6 */
/* stdout: (?s)\A(?=.*the others have ended well).*\Z */
/* stderr: (?s)\A(?!.*rank 0).*rank 1: MPI_Send: invalid rank \(MPI_ERR_RANK\): dest is 1000.*\[communicator MPI_COMM_SELF\] */
/* MPI_ERRORS_ABORT on MPI_COMM_SELF ends this process; the others find it gone, and finish. */
#include "check.h"

int main(int argc, char **argv)
{
    int x = 0;
    MPI_Comm others;
    check_init(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank == 1, 0, &others);
    if (check_rank == 1) {
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ABORT);
        MPI_Send(&x, 1, MPI_INT, 1000, 0, MPI_COMM_SELF);
        return 0;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
    CHECK_EQ(MPI_Barrier(others), MPI_SUCCESS);
    MPI_Comm_free(&others);
    int rank = check_rank, failed = check_done();
    if (rank == 0 && !failed)
        printf("the others have ended well\n");
    return failed;
}
