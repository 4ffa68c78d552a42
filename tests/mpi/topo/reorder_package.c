/* SPDX-License-Identifier: BSD-3-Clause */
/* reorder = true inside a node: neighbors share a package where ranks are dealt out to packages in turn. */
/* ranks: 8 */
/* env: HWLOC_SYNTHETIC=pack:2 core:4 pu:1 */
/* mpiexec: --map-by package */
/* nodes: one, because it is about the inside of a node */
#include "../check.h"

int main(int argc, char **argv)
{
    int n = 8, periodic = 1, from[8], mine, mapped = -1, rank, cut = 0;
    MPI_Comm c;
    check_init(&argc, &argv);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &periodic, 1, &c);
    MPI_Cart_map(MPI_COMM_WORLD, 1, &n, &periodic, &mapped);
    MPI_Comm_rank(c, &rank);
    CHECK_EQ(mapped, rank);
    mine = check_rank % 2; /* its package */
    MPI_Allgather(&mine, 1, MPI_INT, from, 1, MPI_INT, c);
    for (int i = 0; i < n; i++)
        cut += from[i] != from[(i + 1) % n];
    CHECK_EQ(cut, 2, "edges of the ring between the packages");
    MPI_Comm_free(&c);
    return check_done();
}
