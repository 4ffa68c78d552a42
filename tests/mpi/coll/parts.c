/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective that can be done in parts. */
/* ranks: 1 2 3 4 5 8 */
/* env: KEEL_COLL=barrier=dissemination,bcast=scatter_ring,reduce=halving,allreduce=halving,allgather=ring,alltoall=pairwise,reduce_scatter=pairwise */
#include "forced.h"
