/* SPDX-License-Identifier: BSD-3-Clause */
/* KEEL_LEAKS: windows that are left, with their helper, are shown by MPI_Finalize; those that were freed are not. */
/* ranks: 2 3 */
/* env: KEEL_LEAKS=1 */
/* stderr: ^ranks? [-0-9, ]+: MPI_Finalize: the program leaves 2 windows: mine \(MPI_Win_create, leaks\.c:14 \(\w+\)\), one of 64 bytes without a name \(MPI_Win_allocate, leaks\.c:16 \(\w+\)\)$ */
#include "../check.h"

int main(int argc, char **argv)
{
    static int own[4];
    char *base;
    MPI_Win named, other, freed;
    check_init(&argc, &argv);
    MPI_Win_create(own, sizeof own, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &named);
    MPI_Win_set_name(named, "mine");
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &other);
    MPI_Win_allocate(32, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &freed);
    MPI_Win_free(&freed);
    return check_done();
}
