/* SPDX-License-Identifier: BSD-3-Clause */
/* A member dies; the others are told, revoke, agree, shrink, and go on. */
/* ranks: 2 3 4 8 16 */
/* mpiexec: -with-ft ulfm */
/* stderr: (?s)\Ampiexec: rank \d+ \(.*was killed by signal 9 \(SIGKILL, Killed\); the job goes on\n\Z */
#include "ft.h"

/* Nothing but what survivors need is legal on a revoked communicator, and its errors go to its handler. */
static void revoked(MPI_Comm comm)
{
    int flag = 0, v = 0, size = 0;
    MPI_Comm other;
    MPI_Request request;
    MPI_Status status;
    CHECK_ERR(MPIX_Comm_revoke(comm), MPI_SUCCESS);
    CHECK_ERR(MPIX_Comm_is_revoked(comm, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    CHECK_ERR(MPI_Comm_size(comm, &size), MPI_SUCCESS);
    CHECK_EQ(size, check_size);
    CHECK_ERR(MPI_Send(&v, 1, MPI_INT, 0, 0, comm), MPIX_ERR_REVOKED);
    CHECK_SAYS("revoked");
    CHECK_ERR(MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &status), MPIX_ERR_REVOKED);
    CHECK_ERR(MPI_Irecv(&v, 1, MPI_INT, 0, 0, comm, &request), MPIX_ERR_REVOKED);
    CHECK_ERR(MPI_Barrier(comm), MPIX_ERR_REVOKED);
    CHECK_ERR(MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_INT, MPI_SUM, comm), MPIX_ERR_REVOKED);
    CHECK_ERR(MPI_Comm_dup(comm, &other), MPIX_ERR_REVOKED);
    CHECK_ERR(MPI_Comm_split(comm, 0, 0, &other), MPIX_ERR_REVOKED);
}

int main(int argc, char **argv)
{
    int flag, n;
    MPI_Group acked;
    check_init(&argc, &argv);
    check_errors_return();
    int victim = check_size / 2;
    CHECK_ERR(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    if (check_rank == victim)
        ft_die();
    int err = ft_class(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(err == MPIX_ERR_PROC_FAILED || err == MPIX_ERR_REVOKED, "a barrier with a dead member: class %d",
          err);
    revoked(MPI_COMM_WORLD);
    flag = 0xff ^ (1 << check_rank % 8);
    err = ft_class(MPIX_Comm_agree(MPI_COMM_WORLD, &flag));
    CHECK_EQ(err, MPIX_ERR_PROC_FAILED, "nobody has acknowledged it");
    int all = 0xff;
    for (int i = 0; i < check_size; i++)
        all &= i == victim ? 0xff : 0xff ^ (1 << i % 8);
    CHECK_EQ(flag, all, "flags");
    CHECK_EQ(ft_failed(MPI_COMM_WORLD), 1, "failed members");
    CHECK_ERR(MPIX_Comm_failure_ack(MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_ERR(MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &acked), MPI_SUCCESS);
    MPI_Group_size(acked, &n);
    CHECK_EQ(n, 1, "acknowledged members");
    MPI_Group_free(&acked);
    flag = -1;
    CHECK_ERR(MPIX_Comm_agree(MPI_COMM_WORLD, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, -1, "flags");
    MPI_Comm made = ft_shrunk(MPI_COMM_WORLD, check_size - 1);
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    return check_done();
}
