/* SPDX-License-Identifier: BSD-3-Clause */
/* The same by rows that compose parts on each node and among the nodes. */
/* ranks: 4 5 */
/* mpiexec: -fake-nodes 2 */
/* nodes: one, because it has simulated ones of its own */
/* env: KEEL_COLL=gatherv=nodes,scatterv=nodes,allgatherv=nodes,alltoallv=nodes,alltoallw=nodes,reduce_scatter=nodes */
#include "arrays_gone.c"
