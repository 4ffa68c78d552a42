/* SPDX-License-Identifier: BSD-3-Clause */
/* As nodes.c, of a communicator whose ranks lie on the nodes by turns. */
/* ranks: 5 8 13 */
/* timeout: 120 */
/* mpiexec: -fake-nodes 3 */
/* nodes: one, because it has simulated ones of its own */
/* env: KEEL_COLL=barrier=nodes,bcast=nodes,gather=nodes,gatherv=nodes,scatter=nodes,scatterv=nodes,reduce=nodes,allreduce=nodes,allgather=nodes,allgatherv=nodes,alltoall=nodes,alltoallv=nodes,alltoallw=nodes,reduce_scatter=nodes,scan=nodes,exscan=nodes */
#include "placed.h"

static int color(int place, int node)
{
    (void)place, (void)node;
    return 0;
}

static int key(int place, int node)
{
    return place * 100 + node;
}

#include "forced.h"
