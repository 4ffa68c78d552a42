/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* A child that spawns: three generations, each of which talks to the one before and, through a communicator of
 * all, to all. */
#include "../check.h"

enum { GENERATIONS = 3 };

int main(int argc, char **argv)
{
    MPI_Comm parent, child = MPI_COMM_NULL, family = MPI_COMM_WORLD, all;
    int generation = argc > 1 ? atoi(argv[1]) : 0, n, sum = 0, one = 1;
    char number[12], *args[] = { number, NULL };
    check_init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        MPI_Intercomm_merge(parent, 1, &family);
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &family);
    for (int next = generation + 1; next < GENERATIONS;
         next++) { /* all who are there spawn the next one together */
        snprintf(number, sizeof number, "%d", next);
        MPI_Comm_size(family, &n);
        CHECK_EQ(MPI_Comm_spawn(argv[0], args, 1, MPI_INFO_NULL, n - 1, family, &child, MPI_ERRCODES_IGNORE),
                 MPI_SUCCESS);
        MPI_Intercomm_merge(child, 0, &all);
        MPI_Comm_free(&child);
        MPI_Comm_free(&family);
        family = all;
    }
    MPI_Comm_size(family, &n);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, family);
    CHECK_EQ(sum, n, "generation %d", generation);
    CHECK(n >= GENERATIONS, "%d processes in all", n);
    MPI_Comm_free(&family);
    if (parent != MPI_COMM_NULL)
        MPI_Comm_disconnect(&parent);
    return check_done();
}
