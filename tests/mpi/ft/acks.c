/* SPDX-License-Identifier: BSD-3-Clause */
/* Failures are acknowledged some at a time, in the order in which they are listed; an acknowledgement covers what was
 * known, and no failure that comes later. */
/* ranks: 5 */
/* across: that one is lost, and that others say so, is heard from the device */
/* mpiexec: -with-ft ulfm */
/* stderr: (?s)\A(mpiexec: ranks? [^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n)+\Z */
#include "ft.h"

static int acked(void)
{
    MPI_Group g;
    int n = -1;
    CHECK_ERR(MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &g), MPI_SUCCESS);
    MPI_Group_size(g, &n);
    if (g != MPI_GROUP_EMPTY)
        MPI_Group_free(&g);
    return n;
}

/* The acknowledged are the first of the failed. */
static void in_order(int n)
{
    MPI_Group failed, some, first;
    int range[1][3] = { { 0, n - 1, 1 } }, same = -1;
    MPIX_Comm_get_failed(MPI_COMM_WORLD, &failed);
    MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &some);
    CHECK_ERR(MPI_Group_range_incl(failed, 1, range, &first), MPI_SUCCESS);
    CHECK_ERR(MPI_Group_compare(first, some, &same), MPI_SUCCESS);
    CHECK_EQ(same, MPI_IDENT);
    MPI_Group_free(&failed);
    MPI_Group_free(&some);
    MPI_Group_free(&first);
}

/* When all that live have come here, these ranks die, and the others know it. */
static void die(int a, int b, int known)
{
    int v = 0;
    for (int i = 0; i < 2; i++) /* a barrier of 0 and 1, and of those that are about to die */
        if (check_rank == 0) {
            for (int r = 1; r < check_size; r++)
                if (r == 1 || r == a || r == b)
                    CHECK_ERR(MPI_Sendrecv(&v, 1, MPI_INT, r, 7, &v, 1, MPI_INT, r, 7, MPI_COMM_WORLD,
                                           MPI_STATUS_IGNORE),
                              MPI_SUCCESS);
        } else if (check_rank == 1 || check_rank == a || check_rank == b) {
            MPI_Sendrecv(&v, 1, MPI_INT, 0, 7, &v, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    if (check_rank == a || check_rank == b)
        ft_die();
    if (check_rank < 2)
        ft_await(MPI_COMM_WORLD, known);
}

int main(int argc, char **argv)
{
    int n = -1, v = 4, got = -1, flag = 1;
    check_init(&argc, &argv);
    check_errors_return();
    die(3, 4, 2);
    if (check_rank == 2)
        die(2, 2, 3);
    CHECK_EQ(acked(), 0);
    CHECK_ERR(MPIX_Comm_ack_failed(MPI_COMM_WORLD, -1, &n), MPI_ERR_ARG);
    CHECK_ERR(MPIX_Comm_ack_failed(MPI_COMM_WORLD, 0, &n), MPI_SUCCESS);
    CHECK_EQ(n, 0);
    CHECK_ERR(MPIX_Comm_ack_failed(MPI_COMM_WORLD, 1, &n), MPI_SUCCESS);
    CHECK_EQ(n, 1);
    in_order(1);
    CHECK_ERR(MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              MPIX_ERR_PROC_FAILED);
    CHECK_ERR(MPI_Probe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
    CHECK_ERR(MPIX_Comm_ack_failed(MPI_COMM_WORLD, 0, &n), MPI_SUCCESS); /* it takes nothing back */
    CHECK_EQ(n, 1);
    CHECK_ERR(MPIX_Comm_ack_failed(MPI_COMM_WORLD, 100, &n), MPI_SUCCESS);
    CHECK_EQ(n, 2);
    in_order(2);
    CHECK_ERR(MPI_Sendrecv(&n, 1, MPI_INT, 1 - check_rank, 2, &got, 1, MPI_INT, 1 - check_rank, 2,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              MPI_SUCCESS); /* the other one has seen all that, too */
    v = 4;
    CHECK_ERR(MPI_Send(&v, 1, MPI_INT, 1 - check_rank, 1, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_ERR(MPI_Probe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_ERR(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(got, 4);
    die(2, 2, 3); /* one more */
    CHECK_EQ(acked(), 2);
    CHECK_ERR(MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              MPIX_ERR_PROC_FAILED);
    CHECK_ERR(MPIX_Comm_agree(MPI_COMM_WORLD, &flag), MPIX_ERR_PROC_FAILED);
    CHECK_EQ(flag, 1, "it is agreed on all the same");
    if (check_rank == 0)
        CHECK_ERR(MPIX_Comm_failure_ack(MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_ERR(MPIX_Comm_agree(MPI_COMM_WORLD, &flag), MPIX_ERR_PROC_FAILED); /* not by all */
    CHECK_ERR(MPIX_Comm_failure_ack(MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(acked(), 3);
    flag = 2 | check_rank;
    CHECK_ERR(MPIX_Comm_agree(MPI_COMM_WORLD, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 2);
    return check_done();
}
