/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that dies in the middle of broadcasts: as a reader it is not waited for, as the root the others are told. */
/* ranks: 3 8 */
/* exit: 3 */
/* stderr: (?s)\A(?!.*told 0).*told 1.*\Z */
#include "../check.h"
#include <signal.h>
#include <unistd.h>

enum { N = 500000 };
static int a[N];

int main(int argc, char **argv)
{
    int errclass = 0, dies = 1, n;
    MPI_Comm node;
    check_init(&argc, &argv);
    check_outlives();
    check_errors_return();
    signal(SIGTERM, SIG_IGN); /* mpiexec may end a rank on a busy machine before it has said its line */
    for (int i = 0; i < 10; i++)
        CHECK_ERR(MPI_Bcast(a, 10, MPI_INT, i % check_size, MPI_COMM_WORLD), MPI_SUCCESS);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    MPI_Comm_free(&node);
    if (check_rank == dies) {
        usleep(100000);
        _exit(3);
    }
    for (int i = 0; i < 100 && n == check_size;
         i++) { /* more than there is room for without the one that is gone */
        a[0] = check_rank == 0 ? i : -1;
        CHECK_ERR(MPI_Bcast(a, i % 10 ? 1 : N, MPI_INT, 0, MPI_COMM_WORLD), MPI_SUCCESS);
        CHECK_EQ(a[0], i);
    }
    MPI_Error_class(MPI_Bcast(a, 1, MPI_INT, dies, MPI_COMM_WORLD), &errclass);
    fprintf(stderr, "told %d\n", errclass != MPI_SUCCESS);
    signal(SIGTERM, SIG_DFL);
    return check_done();
}
