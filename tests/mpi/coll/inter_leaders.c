/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on intercommunicators: by way of a process of each group. */
/* ranks: 2 3 5 8 */
/* env: KEEL_COLL=inter_barrier=leaders,inter_bcast=leader,inter_gather=leader,inter_scatter=leader,inter_allgather=leaders,inter_allgatherv=rings,inter_alltoall=linear,inter_alltoallv=linear,inter_alltoallw=linear,inter_reduce=leader,inter_allreduce=leaders,inter_reduce_scatter=leaders */
#include "inters.h"
