/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 4 */
/* Ranks that spawn at MPI_THREAD_MULTIPLE, each at its own speed: a child's MPI_Init_thread waits for its
 * parent, and has given back what it took when it returns. */
#include "../check.h"

enum { TIMES = 40 };

int main(int argc, char **argv)
{
    MPI_Comm parent, inter;
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    CHECK_EQ(level, MPI_THREAD_MULTIPLE);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        CHECK_EQ(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN), MPI_SUCCESS);
        MPI_Barrier(parent);
        MPI_Comm_disconnect(&parent);
        return check_done();
    }
    for (int i = 0; i < TIMES; i++) {
        CHECK_EQ(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1 + i % 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter,
                                MPI_ERRCODES_IGNORE),
                 MPI_SUCCESS);
        MPI_Barrier(inter);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return check_done();
}
