/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that dies while the others have small nonblocking collectives under way with it: each is told of one, and
 * nobody waits for ever. */
/* ranks: 2 4 8 */
/* env: KEEL_SPIN_US=5 */
/* exit: 3 */
/* stderr: (?s)\A(?!.*told 0).*told 1.*\Z */
#include "../check.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Request r[4];
    int v = 1, all[3], bad = 0;
    check_init(&argc, &argv);
    check_outlives();
    check_errors_return();
    for (int i = 0; i < 10; i++)
        CHECK_ERR(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    MPI_Ibarrier(MPI_COMM_WORLD, &r[0]);
    if (check_rank == check_size - 1) {
        usleep(100000);
        _exit(3);
    }
    for (int i = 0; i < 3; i++)
        MPI_Iallreduce(&v, &all[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[1 + i]);
    CHECK_ERR(MPI_Wait(&r[0], MPI_STATUS_IGNORE), MPI_SUCCESS); /* all came to this one */
    for (int i = 0; i < 3; i++)
        bad += MPI_Wait(&r[1 + i], MPI_STATUS_IGNORE) != MPI_SUCCESS;
    fprintf(stderr, "told %d\n", bad == 3);
    return check_done();
}
