/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on intercommunicators by way of a process of each group, whose groups lie on several nodes: what is
 * done in a group is composed over them. */
/* ranks: 8 13 */
/* timeout: 120 */
/* mpiexec: -fake-nodes 3 */
/* nodes: one, because it has simulated ones of its own */
/* env: KEEL_COLL=inter_barrier=leaders,inter_bcast=leader,inter_gather=leader,inter_scatter=leader,inter_allgather=leaders,inter_allgatherv=rings,inter_alltoall=linear,inter_alltoallv=linear,inter_alltoallw=linear,inter_reduce=leader,inter_allreduce=leaders,inter_reduce_scatter=leaders,bcast=nodes,gather=nodes,scatter=nodes,reduce=nodes */
#include "inters.h"
