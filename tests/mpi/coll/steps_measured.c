/* SPDX-License-Identifier: BSD-3-Clause */
/* Every large collective by the way that was faster before. */
/* ranks: 2 5 */
/* env: KEEL_COLL=bcast=measured,gather=measured,scatter=measured,allgather=measured,allgatherv=measured,alltoall=measured,alltoallv=measured,alltoallw=measured,gatherv=measured,scatterv=measured,allreduce=measured,reduce_scatter=measured */
#include "forced.h"
