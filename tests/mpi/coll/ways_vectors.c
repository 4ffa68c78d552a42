/* SPDX-License-Identifier: BSD-3-Clause */
/* The same with the vector forms in memory of the node, too, which they are only if asked to. */
/* ranks: 2 3 5 8 */
/* timeout: 120 */
/* env: KEEL_COLL=alltoallv=measured,alltoallw=measured,gatherv=measured,scatterv=measured */
#include "ways.c"
