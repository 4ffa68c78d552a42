/* SPDX-License-Identifier: BSD-3-Clause */
/* As nodes.c, of a communicator that has all ranks of the first node, one of the second, some of the others, which
 * come in no order. */
/* ranks: 8 13 */
/* timeout: 120 */
/* mpiexec: -fake-nodes 4 */
/* nodes: one, because it has simulated ones of its own */
/* env: KEEL_COLL=barrier=nodes,bcast=nodes,gather=nodes,gatherv=nodes,scatter=nodes,scatterv=nodes,reduce=nodes,allreduce=nodes,allgather=nodes,allgatherv=nodes,alltoall=nodes,alltoallv=nodes,alltoallw=nodes,reduce_scatter=nodes,scan=nodes,exscan=nodes */
#include "placed.h"

static int color(int place, int node)
{
    return node == 1 && place > 0 ? MPI_UNDEFINED : node == 2 && place > 1 ? MPI_UNDEFINED : 0;
}

static int key(int place, int node)
{
    return (place * 7 + node * 5) % 11 * 100 + node;
}

#include "forced.h"
