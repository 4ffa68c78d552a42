/* SPDX-License-Identifier: BSD-3-Clause */
/* Gatherv and scatterv in a tree of packed blocks. */
/* ranks: 1 2 3 4 5 7 8 17 */
/* env: KEEL_COLL=gatherv=packed,scatterv=packed */
#include "packed.h"
