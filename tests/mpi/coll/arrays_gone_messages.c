/* SPDX-License-Identifier: BSD-3-Clause */
/* The same by messages. */
/* ranks: 2 5 */
/* env: KEEL_COLL=gatherv=linear,scatterv=packed,allgatherv=bruck,alltoallv=pairwise,alltoallw=linear,reduce_scatter=wide,neighbor_allgather=in_turn,neighbor_alltoall=in_turn */
#include "arrays_gone.c"
