/* SPDX-License-Identifier: BSD-3-Clause */
/* The leader of the middle node dies among collectives that are composed over nodes: all others are told, none
 * waits for ever. */
/* ranks: 5 8 13 */
/* mpiexec: -fake-nodes 3 */
/* nodes: one, because it has simulated ones of its own */
/* timeout: 120 */
/* env: KEEL_COLL=barrier=nodes,bcast=nodes,gather=nodes,gatherv=nodes,scatter=nodes,scatterv=nodes,reduce=nodes,allreduce=nodes,allgather=nodes,allgatherv=nodes,alltoall=nodes,alltoallv=nodes,alltoallw=nodes,reduce_scatter=nodes,scan=nodes,exscan=nodes */
/* exit: 3 */
/* stderr: (?s)\A(?!.*told 0).*told 1.*\Z */
#include "nodes_death.h"

static int dies(int place, int node)
{
    return node == 1 && place == 0;
}
