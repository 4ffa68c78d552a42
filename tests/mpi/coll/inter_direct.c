/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on intercommunicators: each process straight to those of the other group. */
/* ranks: 2 3 5 8 */
/* env: KEEL_COLL=inter_barrier=direct,inter_bcast=direct,inter_gather=direct,inter_gatherv=direct,inter_scatter=direct,inter_scatterv=direct,inter_allgather=direct,inter_allgatherv=direct,inter_alltoall=pairwise,inter_alltoallv=pairwise,inter_alltoallw=pairwise,inter_reduce=direct,inter_allreduce=direct,inter_reduce_scatter=direct */
#include "inters.h"
