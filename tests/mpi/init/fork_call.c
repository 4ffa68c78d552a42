/* SPDX-License-Identifier: BSD-3-Clause */
/* A child that a rank made by fork calls MPI: the job ends and says so. */
/* ranks: 1 3 */
/* exit: 16 */
/* stderr: MPI_Comm_rank: .*called in a child that a rank made by fork */
#include <sys/wait.h>
#include <unistd.h>
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    if (fork() == 0) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        _exit(0);
    }
    wait(NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
