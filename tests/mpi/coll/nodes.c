/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective by the rows that compose a part on each node and a part among the nodes. */
/* ranks: 4 5 8 13 */
/* timeout: 120 */
/* mpiexec: -fake-nodes 3 */
/* nodes: one, because it has simulated ones of its own */
/* env: KEEL_COLL=barrier=nodes,bcast=nodes,gather=nodes,gatherv=nodes,scatter=nodes,scatterv=nodes,reduce=nodes,allreduce=nodes,allgather=nodes,allgatherv=nodes,alltoall=nodes,alltoallv=nodes,alltoallw=nodes,reduce_scatter=nodes,scan=nodes,exscan=nodes */
#include "forced.h"
