/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators without the rank that has failed are as before, in messages, from any source, collectives and when
 * others are made from them; who has failed is known by communicator, and so is what is acknowledged. */
/* ranks: 4 7 */
/* across: that one is lost, and that others say so, is heard from the device */
/* mpiexec: -with-ft ulfm */
/* stderr: \Ampiexec: rank \d+ \([^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n\Z */
#include "ft.h"

enum { ROUNDS = 50 };

int main(int argc, char **argv)
{
    MPI_Comm without, with, made;
    MPI_Group group, world;
    int n = -1, sum = 0, one = 1, rank, size, got = -1;
    check_init(&argc, &argv);
    check_errors_return();
    int dead = check_size - 1;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank == dead ? MPI_UNDEFINED : 0, 0, &without);
    MPI_Comm_dup(MPI_COMM_WORLD, &with);
    ft_last_dies();
    MPI_Comm_rank(without, &rank);
    MPI_Comm_size(without, &size);
    CHECK_EQ(ft_failed(without), 0);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_ERR(MPI_Barrier(without), MPI_SUCCESS);
        CHECK_ERR(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, without), MPI_SUCCESS);
        CHECK_EQ(sum, size);
        CHECK_ERR(MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 1, without), MPI_SUCCESS);
        CHECK_ERR(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 1, without, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK_EQ(got, (rank + size - 1) % size);
        CHECK_ERR(MPI_Comm_dup(without, &made), MPI_SUCCESS);
        CHECK_ERR(MPI_Comm_free(&made), MPI_SUCCESS);
    }
    int flag = 3;
    CHECK_ERR(MPIX_Comm_agree(without, &flag), MPI_SUCCESS);
    /* Each communicator has its own list, and its own acknowledgements. */
    CHECK_ERR(MPIX_Comm_get_failed(with, &group), MPI_SUCCESS);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    CHECK_ERR(MPI_Group_translate_ranks(group, 1, &(int){ 0 }, world, &n), MPI_SUCCESS);
    CHECK_EQ(n, dead);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    CHECK_ERR(MPIX_Comm_failure_ack(with), MPI_SUCCESS);
    CHECK_ERR(MPIX_Comm_failure_get_acked(with, &group), MPI_SUCCESS);
    MPI_Group_size(group, &n);
    CHECK_EQ(n, 1);
    MPI_Group_free(&group);
    CHECK_ERR(MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &group), MPI_SUCCESS);
    CHECK(group == MPI_GROUP_EMPTY, "nobody is acknowledged on MPI_COMM_WORLD");
    flag = 3;
    CHECK_ERR(MPIX_Comm_agree(with, &flag), MPI_SUCCESS);
    CHECK_ERR(MPIX_Comm_agree(MPI_COMM_WORLD, &flag), MPIX_ERR_PROC_FAILED);
    CHECK_ERR(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              MPIX_ERR_PROC_FAILED);
    /* One is revoked, and no other. */
    CHECK_ERR(MPIX_Comm_revoke(with), MPI_SUCCESS);
    CHECK_ERR(MPIX_Comm_is_revoked(without, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 0);
    CHECK_ERR(MPI_Barrier(without), MPI_SUCCESS);
    CHECK_ERR(MPI_Comm_free(&with), MPI_SUCCESS);
    CHECK_ERR(MPI_Comm_free(&without), MPI_SUCCESS);
    return check_done();
}
