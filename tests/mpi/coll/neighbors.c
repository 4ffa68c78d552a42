/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighborhood collectives, all edges at once. */
/* ranks: 1 2 3 4 5 8 17 */
/* env: KEEL_COLL=neighbor_allgather=linear,neighbor_alltoall=linear */
#include "neighbors.h"
