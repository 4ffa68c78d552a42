/* SPDX-License-Identifier: BSD-3-Clause */
/* The same at a team whose members meet over lines. */
/* ranks: 3 4 8 16 */
/* env: KEEL_SPIN_US=5 */
/* env: KEEL_COLL=barrier=team,bcast=team,allgather=team,allgatherv=team,alltoall=team,reduce_scatter=team,allreduce=team,scan=team,exscan=team */
#include "forced.h"
