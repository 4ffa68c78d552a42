/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* A file of processes of two jobs, where each rank has a child of its own: the ranks of both jobs have
 * the same numbers, and the file's shared pointer lies in one of them. */
#include "spawned.h"

enum { TIMES = 5 };

static void use(MPI_Comm all, const char *name)
{
    MPI_File f;
    MPI_Offset at = -1;
    int rank, n, word = -1;
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &n);
    CHECK_ERR(MPI_File_open(all, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                            MPI_INFO_NULL, &f),
              MPI_SUCCESS);
    for (int i = 0; i < TIMES; i++)
        CHECK_ERR(MPI_File_write_shared(f, &rank, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Barrier(all);
    CHECK_ERR(MPI_File_get_position_shared(f, &at), MPI_SUCCESS);
    CHECK_EQ(at, TIMES * n * (int)sizeof rank);
    MPI_Barrier(all);
    CHECK_ERR(MPI_File_seek_shared(f, 0, MPI_SEEK_SET), MPI_SUCCESS);
    CHECK_ERR(MPI_File_write_ordered(f, &rank, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_File_sync(f);
    MPI_Barrier(all);
    CHECK_ERR(MPI_File_read_at(f, (MPI_Offset)((rank + 1) % n * (int)sizeof rank), &word, 1, MPI_INT,
                               MPI_STATUS_IGNORE),
              MPI_SUCCESS);
    CHECK_EQ(word, (rank + 1) % n);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter, all;
    char name[300] = "";
    check_init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    inter = parent;
    if (parent == MPI_COMM_NULL)
        CHECK_EQ(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter,
                                MPI_ERRCODES_IGNORE),
                 MPI_SUCCESS);
    for (int parents_first = 0; parents_first < 2; parents_first++) {
        MPI_Intercomm_merge(inter, (parent != MPI_COMM_NULL) == parents_first, &all);
        int rank;
        MPI_Comm_rank(all, &rank);
        if (rank == 0)
            snprintf(name, sizeof name, "%s/keel-files-%d",
                     getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp", (int)getpid());
        MPI_Bcast(name, sizeof name, MPI_CHAR, 0, all);
        use(all, name);
        MPI_Comm_disconnect(&all);
    }
    MPI_Comm_disconnect(&inter);
    return check_done();
}
