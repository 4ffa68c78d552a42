/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank is killed while it has a lock, or before it exposes its part: whoever waits for it is told so. */
/* ranks: 3 */
/* exit: 137 */
/* stdout: (?s)(?=.*rank 0 is told)(?=.*rank 2 is told) */
/* stderr: killed by signal 9 */
/* across: at another node the answer fails, here the wait for a word */
#include "rma.h"
#include <signal.h>

static void told(int err)
{
    int class;
    MPI_Error_class(err, &class);
    CHECK_EQ(class, MPI_ERR_PROC_ABORTED);
    if (class == MPI_ERR_PROC_ABORTED) {
        printf("rank %d is told\n", check_rank);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    MPI_Win win;
    char *base;
    MPI_Group world, one;
    int rank1 = 1;
    check_init(&argc, &argv);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &rank1, &one);
    if (check_rank == 1)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 1)
        raise(SIGKILL);
    if (check_rank == 0)
        told(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win));
    else
        told(MPI_Win_start(one, 0, win));
    for (;;)
        MPI_Barrier(MPI_COMM_WORLD); /* until the job is ended */
}
