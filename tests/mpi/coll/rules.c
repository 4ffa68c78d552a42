/* SPDX-License-Identifier: BSD-3-Clause */
/* Algorithms by sizes and ranks, as rules say; one rule names an algorithm that cannot do every call it is for. */
/* ranks: 1 2 4 5 8 */
/* env: KEEL_COLL=allreduce:-100:2-4=wide,allreduce:101-1k=halving,allreduce:1k-:*=ring,bcast::8=chain,bcast:*:-5=scatter_ring,alltoall=linear */
#include "forced.h"
