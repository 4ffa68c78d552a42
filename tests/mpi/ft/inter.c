/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators whose members fail, of either group: agree, revoke, shrink. */
/* ranks: 4 5 8 16 */
/* mpiexec: -with-ft ulfm */
/* stderr: (?s)\A(mpiexec: ranks? [^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n)+\Z */
#include "ft.h"

static MPI_Comm between(int *left)
{
    MPI_Comm half, inter;
    *left = check_rank < check_size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, *left, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, *left ? check_size / 2 : 0, 1, &inter);
    MPI_Comm_free(&half);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    return inter;
}

int main(int argc, char **argv)
{
    int left, flag, n, here, there, mine, sum, one = 1;
    MPI_Comm made, merged;
    check_init(&argc, &argv);
    check_errors_return();
    MPI_Comm inter = between(&left);
    int half = check_size / 2, others = left ? check_size - half : half, own = check_size - others;
    flag = left ? 6 : 12;
    CHECK_ERR(MPIX_Comm_agree(inter, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, left ? 12 : 6, "the other group's");
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0 || check_rank == check_size - 1) /* one of each, a leader and another one */
        ft_die();
    int err = ft_class(MPI_Barrier(inter));
    CHECK(err == MPIX_ERR_PROC_FAILED || err == MPIX_ERR_REVOKED, "class %d", err);
    MPIX_Comm_revoke(inter);
    CHECK_ERR(MPI_Barrier(inter), MPIX_ERR_REVOKED);
    flag = 7;
    CHECK_ERR(MPIX_Comm_agree(inter, &flag), MPIX_ERR_PROC_FAILED);
    CHECK_SAYS("acknowledged");
    CHECK_EQ(flag, 7);
    CHECK_EQ(ft_failed(inter), 2);
    MPIX_Comm_ack_failed(inter, check_size, &n);
    CHECK_EQ(n, 2, "acknowledged");
    CHECK_ERR(MPIX_Comm_agree(inter, &flag), MPI_SUCCESS);
    CHECK_ERR(MPIX_Comm_shrink(inter, &made), MPI_SUCCESS);
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    MPI_Comm_size(made, &here);
    MPI_Comm_remote_size(made, &there);
    CHECK_EQ(here, own - 1);
    CHECK_EQ(there, others - 1);
    mine = left ? 1 : 100;
    CHECK_ERR(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, made), MPI_SUCCESS);
    CHECK_EQ(sum, (left ? 100 : 1) * there, "the other group's sum");
    CHECK_ERR(MPI_Intercomm_merge(made, !left, &merged), MPI_SUCCESS);
    CHECK_ERR(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged), MPI_SUCCESS);
    CHECK_EQ(sum, check_size - 2);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&made);
    MPI_Comm_free(&inter);
    return check_done();
}
