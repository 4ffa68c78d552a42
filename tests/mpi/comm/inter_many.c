/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Intercomm_create of groups that are too large for the room that a small one has: each learns the other whole. */
/* ranks: 40 70 */
#include "../check.h"

int main(int argc, char **argv)
{
    int rank, size, remote, low, got = -1;
    MPI_Comm side, inter;
    MPI_Group group, world;
    check_init(&argc, &argv);
    rank = check_rank;
    size = check_size;
    low = size * 4 / 7; /* of 40: 22 and 18; of 70: 40 and 30 */
    int mine = rank < low, n = mine ? size - low : low;
    MPI_Comm_split(MPI_COMM_WORLD, mine, -rank, &side); /* backwards: no range from 0 on */
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, mine ? size - 1 : low - 1, 5, &inter);
    MPI_Comm_remote_size(inter, &remote);
    CHECK(remote == n, "%d on the other side; expected %d", remote, n);
    MPI_Comm_remote_group(inter, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < n; i++) {
        int there = -1;
        MPI_Group_translate_ranks(group, 1, &i, world, &there);
        CHECK(there == (mine ? size - 1 : low - 1) - i, "remote rank %d is rank %d", i, there);
    }
    MPI_Allreduce(&rank, &got, 1, MPI_INT, MPI_MIN, inter);
    CHECK(got == (mine ? low : 0), "the least of the other side is %d", got);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&side);
    return check_done();
}
