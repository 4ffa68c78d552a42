/* SPDX-License-Identifier: BSD-3-Clause */
/* Gatherv and scatterv by way of leaders, where the receiver of a large block does not wait for its record. */
/* ranks: 4 5 8 13 */
/* mpiexec: -fake-nodes 3 */
/* nodes: one, because it has simulated ones of its own */
/* timeout: 120 */
/* env: KEEL_COLL=gatherv=nodes,scatterv=nodes */
#define SHORTEST 1 /* an empty block within a node is no message, so who expects one waits */
#include "packed.h"
