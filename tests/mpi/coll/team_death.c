/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that dies while the others wait for it in small collectives: they are told, and go on without it. */
/* ranks: 2 4 8 */
/* exit: 3 */
/* stderr: (?s)\A(?!.*told 0).*told 1.*\Z */
#include "../check.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    int v = 1, errclass = 0;
    check_init(&argc, &argv);
    check_outlives();
    check_errors_return();
    for (int i = 0; i < 10; i++)
        CHECK_ERR(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    if (check_rank == check_size - 1) {
        usleep(100000);
        _exit(3);
    }
    MPI_Error_class(MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), &errclass);
    fprintf(stderr, "told %d\n", errclass != MPI_SUCCESS);
    return check_done();
}
