/* SPDX-License-Identifier: BSD-3-Clause */
/* independent.c: a job that is spawned, and how its parents end.
 *   independent HOW [keep]    rank 0 spawns 2 children, and unless it is to keep the connection, disconnects from
 *                             them; then it ends in this way: kill, abort, stay (for ever).  The children say that
 *                             they are there, and 1.5 s later that they go on. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Comm parent, inter;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], argv + 1, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
        MPI_Barrier(inter);
        if (argc < 3)
            MPI_Comm_disconnect(&inter);
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(300000); /* children's lines, and what is said through sockets, arrive */
        if (strcmp(argv[1], "kill") == 0 && rank == 0)
            raise(SIGKILL);
        if (strcmp(argv[1], "abort") == 0 && rank == 0)
            MPI_Abort(MPI_COMM_WORLD, 7);
        while (1)
            pause();
    }
    printf("child %d is there\n", rank);
    fflush(stdout);
    MPI_Barrier(parent);
    if (argc < 3)
        MPI_Comm_disconnect(&parent);
    usleep(1500000);
    printf("child %d goes on\n", rank);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
