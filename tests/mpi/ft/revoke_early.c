/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator is revoked by who has it already, while others are still making it: all hear, sooner or later. */
/* ranks: 3 5 8 */
/* across: that one is lost, and that others say so, is heard from the device */
/* mpiexec: -with-ft ulfm */
#include "ft.h"

enum { ROUNDS = 100 };

/* In the order of ranks, from the highest to the lowest, so that another one is done first. */
static int make(int how, MPI_Comm *made)
{
    MPI_Request request;
    switch (how) {
    case 0:
        return MPI_Comm_dup(MPI_COMM_WORLD, made);
    case 1:
        return MPI_Comm_split(MPI_COMM_WORLD, 0, check_size - check_rank, made);
    default:
        CHECK_ERR(MPI_Comm_idup(MPI_COMM_WORLD, made, &request), MPI_SUCCESS);
        return MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm made = MPI_COMM_NULL, left;
        int flag = 0, size = 0, err;
        CHECK_ERR(make(round % 3, &made), MPI_SUCCESS);
        if (made == MPI_COMM_NULL)
            return 1;
        if (check_rank == round / 3 % check_size)
            CHECK_ERR(MPIX_Comm_revoke(made), MPI_SUCCESS);
        while (!flag) /* hears it without a call on it, */
            CHECK_ERR(MPIX_Comm_is_revoked(made, &flag), MPI_SUCCESS);
        CHECK_ERR(MPI_Barrier(made), MPIX_ERR_REVOKED); /* and in calls */
        err = MPI_Send(&flag, 1, MPI_INT, 0, 0, made);
        if (ft_class(err) != MPIX_ERR_REVOKED)
            CHECK_EQ(ft_class(err), MPIX_ERR_REVOKED, "round %d, way %d", round, round % 3);
        CHECK_ERR(MPIX_Comm_shrink(made, &left), MPI_SUCCESS);
        CHECK_ERR(MPI_Comm_size(left, &size), MPI_SUCCESS);
        CHECK_EQ(size, check_size);
        MPI_Comm_free(&left);
        MPI_Comm_free(&made);
    }
    return check_done();
}
