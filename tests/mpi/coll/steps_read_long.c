/* SPDX-License-Identifier: BSD-3-Clause */
/* What does not fit a bench, straight out of the others' memory. */
/* ranks: 2 3 5 8 */
/* env: KEEL_COLL=bcast=read,gather=read,scatter=read,allgather=read,allgatherv=read,alltoall=read,alltoallv=read,alltoallw=read,gatherv=read,scatterv=read,allreduce=read,reduce_scatter=read */
#include "steps_long.c"
