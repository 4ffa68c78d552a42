/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that dies while others wait for it in collectives on an intercommunicator: those who do are told, in both
 * groups. */
/* ranks: 3 4 8 */
/* exit: 3 */
/* stderr: (?s)\A(?!.*told 0).*told 1.*\Z */
#include "../check.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Comm half, inter;
    int v = 1, w = 0, side, errclass = 0;
    check_init(&argc, &argv);
    check_outlives();
    check_errors_return();
    side = check_rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !side, 0, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    for (int i = 0; i < 10; i++)
        CHECK_ERR(MPI_Allreduce(&v, &w, 1, MPI_INT, MPI_SUM, inter), MPI_SUCCESS);
    if (check_rank == check_size - 1) {
        usleep(100000);
        _exit(3);
    }
    MPI_Error_class(MPI_Barrier(inter), &errclass);
    if (side != (check_size - 1) % 2) /* who hears of that group */
        fprintf(stderr, "told %d\n", errclass != MPI_SUCCESS);
    return check_done();
}
