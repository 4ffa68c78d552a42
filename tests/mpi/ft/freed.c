/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators with ranks that have failed can be freed and disconnected, revoked or not, with what is left on them;
 * and MPI_Finalize ends though one dies in it, and though some are left. */
/* ranks: 3 5 */
/* across: that one is lost, and that others say so, is heard from the device */
/* mpiexec: -with-ft ulfm */
/* stderr: (?s)\A(mpiexec: ranks? [^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n)+\Z */
#include "ft.h"

int main(int argc, char **argv)
{
    MPI_Comm comm[6];
    MPI_Request r;
    int v = 0;
    check_init(&argc, &argv);
    check_errors_return();
    int dead = check_size - 1;
    for (int i = 0; i < 6; i++)
        CHECK_ERR(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]), MPI_SUCCESS);
    CHECK_ERR(MPI_Irecv(&v, 1, MPI_INT, (check_rank + 1) % dead, 1, comm[3], &r), MPI_SUCCESS);
    ft_last_dies();
    CHECK_ERR(MPI_Comm_free(&comm[0]), MPI_SUCCESS);
    CHECK_ERR(MPI_Comm_disconnect(&comm[1]), MPI_SUCCESS);
    CHECK_ERR(MPIX_Comm_revoke(comm[2]), MPI_SUCCESS);
    CHECK_ERR(MPI_Comm_free(&comm[2]), MPI_SUCCESS);
    CHECK_ERR(MPIX_Comm_revoke(comm[3]), MPI_SUCCESS);
    CHECK_ERR(MPI_Comm_free(&comm[3]), MPI_SUCCESS);
    CHECK_ERR(MPI_Wait(&r, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
    for (int i = 0; i < 4; i++)
        CHECK(comm[i] == MPI_COMM_NULL, "communicator %d", i);
    if (check_rank == 0)
        CHECK_ERR(MPIX_Comm_revoke(MPI_COMM_WORLD), MPI_SUCCESS);
    if (check_rank == 1)
        ft_die();        /* the others may have come to MPI_Finalize */
    return check_done(); /* with comm[4], comm[5]; MPI_COMM_WORLD is revoked, or not yet */
}
