/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective step by step at a team's benches, where it can be done so. */
/* ranks: 1 2 3 4 5 8 */
/* env: KEEL_COLL=gather=pieces,scatter=pieces,allgather=pieces,allgatherv=pieces,alltoall=pieces,alltoallv=pieces,alltoallw=pieces,gatherv=pieces,scatterv=pieces,reduce=slices,allreduce=slices,reduce_scatter=slices */
#include "forced.h"
