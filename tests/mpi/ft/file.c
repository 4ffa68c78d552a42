/* SPDX-License-Identifier: BSD-3-Clause */
/* Files whose processes fail: collective calls fail at those that live, revoke ends the others, what is independent
 * goes on before that, and the file is closed and deleted. */
/* ranks: 3 4 8 */
/* mpiexec: -with-ft ulfm */
/* stderr: (?s)\A(mpiexec: ranks? [^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n)+\Z */
#include "ft.h"

int main(int argc, char **argv)
{
    char name[200];
    int v = 7, got = 0, n = -1;
    MPI_File f;
    MPI_Group g;
    check_init(&argc, &argv);
    check_errors_return();
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    snprintf(name, sizeof name, "ft_file.%d", check_size);
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                            MPI_INFO_NULL, &f),
              MPI_SUCCESS);
    MPI_File_set_errhandler(f, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_File_write_at_all(f, 4 * check_rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        ft_die();
    int err = ft_class(MPI_File_set_size(f, 4096));
    CHECK(err == MPIX_ERR_PROC_FAILED || err == MPIX_ERR_REVOKED, "a collective call: class %d", err);
    if (err == MPIX_ERR_PROC_FAILED) /* else it is revoked already */
        err = ft_class(MPI_File_read_at(f, 4 * check_rank, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(err == MPI_SUCCESS || err == MPIX_ERR_REVOKED, "an independent call: class %d", err);
    if (!err)
        CHECK_EQ(got, 7);
    CHECK_ERR(MPIX_File_revoke(f), MPI_SUCCESS);
    CHECK_ERR(MPI_File_write_at_all(f, 0, &v, 1, MPI_INT, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
    CHECK_ERR(MPI_File_sync(f), MPIX_ERR_REVOKED);
    CHECK_ERR(MPIX_File_get_failed(f, &g), MPI_SUCCESS);
    MPI_Group_size(g, &n);
    CHECK_EQ(n, 1);
    MPI_Group_free(&g);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    MPI_Comm made = ft_shrunk(MPI_COMM_WORLD, check_size - 1);
    CHECK(access(name, F_OK) != 0, "%s is deleted", name);
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    return check_done();
}
