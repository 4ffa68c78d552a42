/* SPDX-License-Identifier: BSD-3-Clause */
/* The same by direct reads alone. */
/* ranks: 2 5 */
/* timeout: 120 */
/* env: KEEL_COLL=bcast=read,gather=read,scatter=read,allgather=read,allgatherv=read,alltoall=read,alltoallv=read,allreduce=read,reduce_scatter=read */
#include "steps_flight.c"
