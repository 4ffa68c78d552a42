/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective that can, at a team. */
/* ranks: 1 2 3 4 5 8 17 */
/* env: KEEL_COLL=barrier=team,bcast=team,allgather=team,allgatherv=team,alltoall=team,reduce_scatter=team,allreduce=team,scan=team,exscan=team */
#include "forced.h"
