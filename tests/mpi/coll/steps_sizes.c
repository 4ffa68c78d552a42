/* SPDX-License-Identifier: BSD-3-Clause */
/* The same on other numbers of ranks. */
/* ranks: 6 7 9 12 13 16 17 */
/* env: KEEL_COLL=gather=pieces,scatter=pieces,allgather=pieces,allgatherv=pieces,alltoall=pieces,alltoallv=pieces,alltoallw=pieces,gatherv=pieces,scatterv=pieces,reduce=slices,allreduce=slices,reduce_scatter=slices */
#include "forced.h"
