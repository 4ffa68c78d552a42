/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective that can be done in parts, on other numbers of ranks. */
/* ranks: 6 7 9 10 11 12 13 14 15 16 17 */
/* part: long */
/* env: KEEL_COLL=barrier=dissemination,bcast=scatter_ring,reduce=halving,allreduce=halving,allgather=ring,alltoall=pairwise,reduce_scatter=pairwise */
#include "forced.h"
