/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* exit: 137 */
/* stderr: mpiexec: rank 1 \(.*spawn-killed.*\) was killed by signal 9 .* */
/* A child dies: its parents find it gone, go on, and spawn another; mpiexec's exit code tells of the failure. */
#include "../check.h"
#include <signal.h>

static void child(MPI_Comm parent, int dies)
{
    int word = check_rank;
    MPI_Barrier(parent);
    if (dies && check_rank == 1)
        raise(SIGKILL);
    if (check_rank == 1)
        MPI_Send(&word, 1, MPI_INT, 0, 3, parent);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter;
    char *args[] = { "dies", NULL };
    int word = -1;
    check_init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        child(parent, argc > 1);
        return check_done();
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int round = 0; round < 2; round++) {
        CHECK_EQ(MPI_Comm_spawn(argv[0], round == 0 ? args : MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0,
                                MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE),
                 MPI_SUCCESS);
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        MPI_Barrier(inter);
        if (check_rank == 0 && round == 0)
            CHECK_ERR(MPI_Recv(&word, 1, MPI_INT, 1, 3, inter, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
        if (check_rank == 0 && round == 1) {
            CHECK_ERR(MPI_Recv(&word, 1, MPI_INT, 1, 3, inter, MPI_STATUS_IGNORE), MPI_SUCCESS);
            CHECK_EQ(word, 1);
        }
        MPI_Comm_free(&inter);
    }
    return check_done();
}
