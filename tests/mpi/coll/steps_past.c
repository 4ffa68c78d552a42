/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective step by step at a team's benches, where results are written past the caches. */
/* ranks: 2 3 8 */
/* env: KEEL_COLL=gather=pieces,scatter=pieces,allgather=pieces,allgatherv=pieces,alltoall=pieces,alltoallv=pieces,alltoallw=pieces,gatherv=pieces,scatterv=pieces,reduce=slices,allreduce=slices,reduce_scatter=slices */
/* env: KEEL_PAST_CACHE=1 */
#include "forced.h"
