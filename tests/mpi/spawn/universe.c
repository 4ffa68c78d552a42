/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* mpiexec: -usize 100 */
/* MPI_UNIVERSE_SIZE belongs to the universe that mpiexec was told of: a spawned job has that of its
 * parents, and so have the jobs that it spawns. */
#include "../check.h"

enum { UNIVERSE = 100, GENERATIONS = 3 };

int main(int argc, char **argv)
{
    MPI_Comm parent, inter;
    int *universe = NULL, flag = 0, generation = argc > 1 ? atoi(argv[1]) : 0;
    char number[12], *args[] = { number, NULL };
    check_init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    CHECK_EQ(parent != MPI_COMM_NULL, generation > 0);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);
    CHECK(flag, "generation %d", generation);
    CHECK_EQ(flag ? *universe : -1, UNIVERSE, "generation %d", generation);
    snprintf(number, sizeof number, "%d", generation + 1);
    if (generation + 1 < GENERATIONS) {
        CHECK_EQ(
            MPI_Comm_spawn(argv[0], args, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE),
            MPI_SUCCESS);
        MPI_Comm_disconnect(&inter);
    }
    if (parent != MPI_COMM_NULL)
        MPI_Comm_disconnect(&parent);
    return check_done();
}
