/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains and rings, and allgather by Bruck. */
/* ranks: 1 2 3 4 5 8 */
/* env: KEEL_COLL=bcast=chain,allreduce=ring,allgather=bruck,allgatherv=bruck,alltoall=in_place,alltoallv=in_place,alltoallw=in_place */
#include "forced.h"
