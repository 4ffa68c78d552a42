/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_ERRORS_ABORT ends the processes of the communicator alone: for all others these are ranks that have failed. */
/* ranks: 5 */
/* mpiexec: -with-ft ulfm */
/* exit: 16 */
/* stderr: rank 4 [^\n]*the job goes on(?s:.*)MPIX?_ERR_PROC_FAILED */
/* stdout: \A2 live\n\Z */
#include "ft.h"

int main(int argc, char **argv)
{
    int v, size, group;
    MPI_Comm part, left;
    check_init(&argc, &argv);
    check_errors_return();
    group = check_rank == 0 || check_rank == 2;
    MPI_Comm_split(MPI_COMM_WORLD, group, 0, &part); /* 0 and 2; 1, 3 and 4 */
    ft_last_dies();
    if (!group) {
        MPI_Comm_set_errhandler(part, MPI_ERRORS_ABORT);
        if (check_rank == 1)
            MPI_Recv(&v, 1, MPI_INT, 2, 0, part, MPI_STATUS_IGNORE);
        MPI_Recv(&v, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE); /* for ever */
    }
    ft_await(MPI_COMM_WORLD, 3);
    CHECK_ERR(MPI_Barrier(part), MPI_SUCCESS);
    CHECK_ERR(MPIX_Comm_shrink(MPI_COMM_WORLD, &left), MPI_SUCCESS);
    MPI_Comm_size(left, &size);
    CHECK_EQ(size, 2);
    if (check_rank == 0)
        printf("%d live\n", size);
    MPI_Comm_free(&left);
    MPI_Comm_free(&part);
    return check_done();
}
