/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective by trees of two and by doubling, on other numbers of ranks. */
/* ranks: 6 7 9 10 11 12 13 14 15 16 17 */
/* part: long */
/* env: KEEL_COLL=barrier=binomial,bcast=binomial,gather=binomial,gatherv=packed,scatter=binomial,scatterv=packed,reduce=binomial,allreduce=doubling,allgather=doubling,allgatherv=ring,alltoall=bruck,alltoallv=pairwise,alltoallw=pairwise,reduce_scatter=halving,scan=doubling,exscan=doubling */
#include "forced.h"
