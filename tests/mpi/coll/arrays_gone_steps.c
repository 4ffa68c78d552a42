/* SPDX-License-Identifier: BSD-3-Clause */
/* The same step by step at a team's staging buffers. */
/* ranks: 2 4 */
/* env: KEEL_COLL=gatherv=pieces,scatterv=pieces,allgatherv=pieces,alltoallv=pieces,alltoallw=pieces,reduce_scatter=slices */
#include "arrays_gone.c"
