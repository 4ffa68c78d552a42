/* SPDX-License-Identifier: BSD-3-Clause */
/* Every large collective straight out of the others' memory, where it can be done so. */
/* ranks: 1 2 3 4 5 8 17 */
/* env: KEEL_COLL=bcast=read,gather=read,scatter=read,allgather=read,allgatherv=read,alltoall=read,alltoallv=read,alltoallw=read,gatherv=read,scatterv=read,allreduce=read,reduce_scatter=read */
#include "forced.h"
