/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 4 5 8 */
/* across: the end of a job goes from node to node */
/* exit: 3 */
/* stdout: (?s)\A(?=.*the others have ended well).*\Z */
/* stderr: MPI_Send: invalid datatype.*\[communicator half\] */
/* MPI_ERRORS_ABORT ends the processes of the communicator: those with odd ranks, which wait for ever otherwise. */
#include "check.h"

int main(int argc, char **argv)
{
    int x = 0;
    MPI_Comm half;
    check_init(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &half);
    MPI_Comm_set_name(half, "half");
    MPI_Comm_set_errhandler(half, MPI_ERRORS_ABORT);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD); /* all have made it; those who are still in here may find others ended */
    if (check_rank == 3)
        MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, half);
    if (check_rank % 2)
        MPI_Recv(&x, 1, MPI_INT, check_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i < check_size; i += 2)
        CHECK_ERR(MPI_Recv(&x, 1, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
    CHECK_EQ(MPI_Barrier(half), MPI_SUCCESS);
    MPI_Comm_free(&half);
    int rank = check_rank, failed = check_done();
    if (rank == 0 && !failed)
        printf("the others have ended well\n");
    return failed;
}
