/* SPDX-License-Identifier: BSD-3-Clause */
/* exit: 137 */
/* ranks: 1 2 3 */
/* stderr: mpiexec: rank 1 \(.*spawn-window_killed.*\) was killed by signal 9 .* */
/* A child dies while it has locked a part of a window that both jobs share, and who waits for that lock is told;
 * so is who receives from it then. */
#include "spawned.h"
#include <signal.h>

enum { CHILDREN = 2 };

int main(int argc, char **argv)
{
    MPI_Comm inter, all;
    MPI_Request request;
    MPI_Win win;
    int *part, rank, size, dead;
    check_init(&argc, &argv);
    all = all_of_both(argv[0], CHILDREN, &inter);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    dead = size - 1;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, all, &part, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Barrier(all);
    if (rank == dead) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        for (int i = 0; i < size - CHILDREN; i++)
            MPI_Send(NULL, 0, MPI_INT, i, 1, all);
        raise(SIGKILL);
    }
    if (rank >= size - CHILDREN)
        pause(); /* its job is ended */
    MPI_Recv(NULL, 0, MPI_INT, dead, 1, all, MPI_STATUS_IGNORE);
    int err = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win), class = MPI_SUCCESS;
    if (err == MPI_SUCCESS)
        err = MPI_Win_unlock(0, win);
    MPI_Error_class(err, &class);
    CHECK_EQ(class, MPI_ERR_PROC_ABORTED);
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    for (int i = 0; i < 2; i++) /* it is known by now, or found */
        CHECK_ERR(MPI_Recv(NULL, 0, MPI_INT, dead, 2, all, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
    int word;
    err = MPI_Irecv(&word, 1, MPI_INT, dead, 2, all, &request);
    if (err == MPI_SUCCESS)
        err = MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Error_class(err, &class);
    CHECK_EQ(class, MPI_ERR_PROC_ABORTED);
    return check_done();
}
