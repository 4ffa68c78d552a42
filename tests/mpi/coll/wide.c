/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective with few levels: as ranks that share cores want it. */
/* ranks: 1 2 3 4 5 8 */
/* env: KEEL_COLL=barrier=wide,bcast=wide,gather=linear,gatherv=linear,scatter=linear,scatterv=linear,reduce=wide,allreduce=wide,allgather=wide,allgatherv=wide,alltoall=linear,alltoallv=linear,alltoallw=linear,reduce_scatter=wide,scan=linear,exscan=linear */
#include "forced.h"
