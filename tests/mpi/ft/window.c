/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows whose processes fail: accesses to others go on, revoke ends what waits, and the window is freed. */
/* ranks: 3 4 8 */
/* mpiexec: -with-ft ulfm */
/* stderr: (?s)\A(mpiexec: ranks? [^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n)+\Z */
#include "ft.h"

static int *part;

static MPI_Win fresh(void)
{
    MPI_Win win;
    MPI_Win_allocate(8 * sizeof *part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    memset(part, 0, 8 * sizeof *part);
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

static int failed_of(MPI_Win win)
{
    MPI_Group g;
    int n = -1;
    CHECK_ERR(MPIX_Win_get_failed(win, &g), MPI_SUCCESS);
    MPI_Group_size(g, &n);
    if (n > 0)
        MPI_Group_free(&g);
    return n;
}

/* Rank 0 holds its lock, and goes on without letting go: those who wait for it are told. */
static void waits_in_vain(MPI_Win win)
{
    int v = 0;
    if (check_rank == 0) {
        CHECK_ERR(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win), MPI_SUCCESS);
        MPI_Send(&v, 1, MPI_INT, 2, 1, MPI_COMM_WORLD);
        usleep(20000);
        CHECK_ERR(MPIX_Win_revoke(win), MPI_SUCCESS);
    } else if (check_rank == 2) {
        MPI_Recv(&v, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int err =
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win); /* where it is begun by a message it ends at once */
        if (!err)
            err = MPI_Win_flush(0, win);
        CHECK(ft_class(err) == MPIX_ERR_REVOKED || ft_class(err) == MPIX_ERR_PROC_FAILED, "class %d",
              ft_class(err));
    } else {
        int err = ft_class(MPI_Win_fence(0, win));
        CHECK(err == MPIX_ERR_REVOKED || err == MPIX_ERR_PROC_FAILED, "class %d", err);
    }
    MPIX_Win_revoke(win);
    CHECK_ERR(MPI_Put(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPIX_ERR_REVOKED);
    CHECK_SAYS("revoked");
    CHECK_ERR(MPI_Win_fence(0, win), MPIX_ERR_REVOKED);
    CHECK_EQ(failed_of(win), 1);
}

int main(int argc, char **argv)
{
    int v;
    check_init(&argc, &argv);
    check_errors_return();
    MPI_Win win = fresh(), other = fresh();
    CHECK_EQ(failed_of(win), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 1)
        ft_die();
    CHECK_ERR(MPI_Recv(&v, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
    if (check_rank == 2) { /* to one that lives */
        v = 42;
        CHECK_ERR(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, other), MPI_SUCCESS);
        CHECK_ERR(MPI_Put(&v, 1, MPI_INT, 0, 3, 1, MPI_INT, other), MPI_SUCCESS);
        CHECK_ERR(MPI_Win_unlock(0, other), MPI_SUCCESS);
        CHECK_ERR(MPI_Send(&v, 1, MPI_INT, 0, 2, MPI_COMM_WORLD), MPI_SUCCESS);
    } else if (check_rank == 0) {
        CHECK_ERR(MPI_Recv(&v, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK_ERR(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, other), MPI_SUCCESS);
        CHECK_EQ(part[3], 42);
        CHECK_ERR(MPI_Win_unlock(0, other), MPI_SUCCESS);
    }
    waits_in_vain(win);
    CHECK_ERR(MPI_Win_free(&win), MPI_SUCCESS);
    int err = ft_class(MPI_Win_free(&other)); /* the first that frees it tells the others */
    CHECK(err == MPIX_ERR_PROC_FAILED || err == MPIX_ERR_REVOKED || err == MPI_SUCCESS, "class %d", err);
    CHECK_EQ(other == MPI_WIN_NULL, 1, "it is freed");
    MPI_Comm made = ft_shrunk(MPI_COMM_WORLD, check_size - 1);
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    return check_done();
}
