/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective by trees of two and by doubling. */
/* ranks: 1 2 3 4 5 8 */
/* env: KEEL_COLL=barrier=binomial,bcast=binomial,gather=binomial,gatherv=packed,scatter=binomial,scatterv=packed,reduce=binomial,allreduce=doubling,allgather=doubling,allgatherv=ring,alltoall=bruck,alltoallv=pairwise,alltoallw=pairwise,reduce_scatter=halving,scan=doubling,exscan=doubling */
#include "forced.h"
