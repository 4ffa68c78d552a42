/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank's k-th allocation in a constructor fails, for all k: every rank returns, all others with a communicator
 * or all with an error, and the next call works. */
/* ranks: 3 5 */
/* mpiexec: -fake-nodes 2 */
/* nodes: one, because it asks for several itself */
#include "../check.h"
#include "../nomem.h"

enum { KINDS = 9, MOST = 8 };

static MPI_Comm comm, grid;
static int rank; /* in comm */

static int call(int kind, MPI_Comm *made)
{
    int n = check_size, one = 1, next = (rank + 2) % n, before = (rank + n - 2) % n;
    int index[MOST], edges[MOST], remain = 0, reorder = kind % 2;
    for (int i = 0; i < n; i++) {
        index[i] = i + 1;
        edges[i] = (i + 2) % n;
    }
    switch (kind / 2) {
    case 0:
        return MPI_Cart_create(comm, 1, &n, &one, reorder, made);
    case 1:
        return MPI_Graph_create(comm, n, index, edges, reorder, made);
    case 2:
        return MPI_Dist_graph_create_adjacent(comm, 1, &before, &one, 1, &next, &one, MPI_INFO_NULL, reorder,
                                              made);
    case 3: /* told by another */
        return MPI_Dist_graph_create(comm, 1, &next, &one, &before, &one, MPI_INFO_NULL, reorder, made);
    default:
        return MPI_Cart_sub(grid, &remain, made);
    }
}

/* Returns whether an allocation failed in the victim. */
static int attempt(int kind, int victim, long k)
{
    MPI_Comm made = MPI_COMM_NULL;
    int err, hit, ok, all;
    nomem_begin(victim, k);
    err = call(kind, &made);
    hit = nomem_end(kind, victim, err);
    ok = err == MPI_SUCCESS;
    CHECK_EQ(made != MPI_COMM_NULL, ok, "call %d", kind);
    MPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == 0 || all == check_size || (all == check_size - 1 && ok == (check_rank != victim)),
          "call %d, allocation %ld of rank %d: %d processes have a communicator", kind, k, victim, all);
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    MPI_Bcast(&hit, 1, MPI_INT, victim, MPI_COMM_WORLD);
    return hit;
}

int main(int argc, char **argv)
{
#ifdef __SANITIZE_ADDRESS__
    puts("AddressSanitizer has its own malloc");
    return 77;
#endif
    check_init(&argc, &argv);
    int periodic = 1;
    MPI_Comm_split(MPI_COMM_WORLD, 0, check_rank * 3 % 5, &comm); /* nodes in turn */
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Cart_create(comm, 1, &check_size, &periodic, 0, &grid);
    for (int kind = 0; kind < KINDS; kind++)
        for (int victim = 0; victim < check_size; victim++)
            for (long k = 1; attempt(kind, victim, k); k++)
                ;
    MPI_Comm_free(&grid);
    MPI_Comm_free(&comm);
    return check_done();
}
