/* SPDX-License-Identifier: BSD-3-Clause */
/* A receive from any source is told of a member that fails, and waits for the others once that is acknowledged. */
/* ranks: 3 4 */
/* mpiexec: -with-ft ulfm */
/* stderr: (?s)\Ampiexec: rank 1 \(.*; the job goes on\n\Z */
#include "ft.h"

int main(int argc, char **argv)
{
    int v = 0, n = 0, num = -1;
    check_init(&argc, &argv);
    check_errors_return();
    CHECK_ERR(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    if (check_rank == 1)
        ft_die();
    if (check_rank == 0) {
        CHECK_ERR(MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                  MPIX_ERR_PROC_FAILED);
        CHECK_ERR(MPI_Recv(&v, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
        CHECK_ERR(MPI_Send(&v, 1, MPI_INT, 1, 3, MPI_COMM_WORLD), MPIX_ERR_PROC_FAILED);
        CHECK_ERR(MPIX_Comm_ack_failed(MPI_COMM_WORLD, check_size, &num), MPI_SUCCESS);
        CHECK_EQ(num, 1, "acknowledged");
        MPI_Send(&n, 1, MPI_INT, 2, 4, MPI_COMM_WORLD);
        CHECK_ERR(MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                  MPI_SUCCESS);
        CHECK_EQ(v, 42);
    } else if (check_rank == 2) {
        v = 42;
        CHECK_ERR(MPI_Recv(&n, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK_ERR(MPI_Send(&v, 1, MPI_INT, 0, 3, MPI_COMM_WORLD), MPI_SUCCESS);
    }
    MPI_Comm made = ft_shrunk(MPI_COMM_WORLD, check_size - 1);
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    return check_done();
}
