/* SPDX-License-Identifier: BSD-3-Clause */
/* A process dies before the first collective of a communicator over several nodes, which is nonblocking: what the
 * others agree on in the background comes to an end, each call tells them, and so does a blocking one. */
/* ranks: 4 5 8 13 */
/* mpiexec: -fake-nodes 3 */
/* nodes: one, because it has simulated ones of its own */
/* exit: 3 */
/* stderr: (?s)\A(?!.*told 0).*told 1.*\Z */
#include "../check.h"
#include <signal.h>
#include <unistd.h>

enum { MANY = 6 };

int main(int argc, char **argv)
{
    MPI_Group all;
    MPI_Comm c;
    MPI_Request r[MANY];
    int in = 1, out[MANY + 1], told = 0;
    check_init(&argc, &argv);
    check_outlives();
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_create_from_group(all, "fresh", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
    MPI_Group_free(&all);
    signal(SIGTERM,
           SIG_IGN); /* mpiexec will soon end those who are left: on a busy machine before they have told */
    if (check_rank == check_size / 2)
        _exit(3);
    for (int k = 0; k < MANY; k++)
        if (MPI_Iallreduce(&in, &out[k], 1, MPI_INT, MPI_SUM, c, &r[k]) != MPI_SUCCESS)
            r[k] = MPI_REQUEST_NULL, told++;
    for (int k = 0; k < MANY; k++)
        told += r[k] != MPI_REQUEST_NULL && MPI_Wait(&r[k], MPI_STATUS_IGNORE) != MPI_SUCCESS;
    told += MPI_Allreduce(&in, &out[MANY], 1, MPI_INT, MPI_SUM, c) != MPI_SUCCESS;
    fprintf(stderr, "told %d\n", told == MANY + 1);
    signal(SIGTERM, SIG_DFL);
    return check_done();
}
