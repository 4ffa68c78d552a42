/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective with few levels: as ranks that share cores want it, on other numbers of ranks. */
/* ranks: 6 7 9 10 11 12 13 14 15 16 17 */
/* part: long */
/* env: KEEL_COLL=barrier=wide,bcast=wide,gather=linear,gatherv=linear,scatter=linear,scatterv=linear,reduce=wide,allreduce=wide,allgather=wide,allgatherv=wide,alltoall=linear,alltoallv=linear,alltoallw=linear,reduce_scatter=wide,scan=linear,exscan=linear */
#include "forced.h"
