/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains and rings, and allgather by Bruck, on other numbers of ranks. */
/* ranks: 6 7 9 10 11 12 13 14 15 16 17 */
/* part: long */
/* env: KEEL_COLL=bcast=chain,allreduce=ring,allgather=bruck,allgatherv=bruck,alltoall=in_place,alltoallv=in_place,alltoallw=in_place */
#include "forced.h"
