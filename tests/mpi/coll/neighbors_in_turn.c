/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighborhood collectives, a few edges at a time. */
/* ranks: 1 2 3 4 5 8 17 */
/* env: KEEL_COLL=neighbor_allgather=in_turn,neighbor_alltoall=in_turn */
#include "neighbors.h"
