/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes_death.h: a process, number `place` on node `node`, dies among collectives of all kinds and forms; the
 * others go on with them, and say at the end whether each that waits for all has told them. */
#ifndef NODES_DEATH_H
#define NODES_DEATH_H

#include "../check.h"
#include <signal.h>
#include <unistd.h>

enum { N = 3000, MOST = 16, HEALTHY = 10, KINDS = 8 };

static int dies(int place, int node);

static int in[MOST * N], out[MOST * N];

/* Call number i: of those for which a process needs something of every other one. */
static int call(int i, int n)
{
    int counts[MOST], displs[MOST];
    MPI_Request r;
    for (int k = 0; k < check_size; k++) {
        counts[k] = n;
        displs[k] = k * n;
    }
    switch (i % KINDS) {
    case 0:
        return MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    case 1:
        return MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD);
    case 2:
        return MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD);
    case 3:
        return MPI_Alltoallv(in, counts, displs, MPI_INT, out, counts, displs, MPI_INT, MPI_COMM_WORLD);
    case 4:
        return MPI_Allgatherv(in, n, MPI_INT, out, counts, displs, MPI_INT, MPI_COMM_WORLD);
    case 5:
        return MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    case 6:
        MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
        return MPI_Wait(&r, MPI_STATUS_IGNORE);
    default:
        MPI_Ialltoallv(in, counts, displs, MPI_INT, out, counts, displs, MPI_INT, MPI_COMM_WORLD, &r);
        return MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

/* Those of which only the root hears of all, or all of the root alone. */
static void rooted(int root)
{
    int counts[MOST], displs[MOST];
    for (int k = 0; k < check_size; k++) {
        counts[k] = 1 + k % 3;
        displs[k] = k * 3;
    }
    MPI_Bcast(out, 10, MPI_INT, root, MPI_COMM_WORLD);
    MPI_Reduce(in, out, 10, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    MPI_Gather(in, 10, MPI_INT, out, 10, MPI_INT, root, MPI_COMM_WORLD);
    MPI_Gatherv(in, counts[check_rank], MPI_INT, out, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
    MPI_Scatterv(in, counts, displs, MPI_INT, out, counts[check_rank], MPI_INT, root, MPI_COMM_WORLD);
    MPI_Scan(in, out, 10, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Comm here, firsts;
    int place, node = 0, told = 0, i = 0;
    check_init(&argc, &argv);
    check_outlives();
    check_errors_return();
    signal(SIGTERM,
           SIG_IGN); /* mpiexec will soon end those who are left: on a busy machine before they have told */
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, check_rank, MPI_INFO_NULL, &here);
    MPI_Comm_rank(here, &place);
    MPI_Comm_split(MPI_COMM_WORLD, place, check_rank, &firsts);
    if (place == 0)
        MPI_Comm_rank(firsts, &node);
    MPI_Comm_free(&firsts);
    MPI_Bcast(&node, 1, MPI_INT, 0, here);
    MPI_Comm_free(&here);
    for (; i < HEALTHY; i++)
        CHECK_ERR(call(i, 1 + i % 2 * 1000), MPI_SUCCESS);
    if (dies(place, node))
        _exit(3);
    for (int k = 0; k < KINDS; k++, i++)
        told += call(i, i % 2 ? 1 : 1000) != MPI_SUCCESS;
    for (int root = 0; root < check_size; root++)
        rooted(root);
    fprintf(stderr, "told %d\n", told == KINDS);
    signal(SIGTERM, SIG_DFL);
    return check_done();
}

#endif
