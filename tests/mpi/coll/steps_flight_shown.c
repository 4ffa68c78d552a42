/* SPDX-License-Identifier: BSD-3-Clause */
/* The same through staging buffers alone. */
/* ranks: 2 5 */
/* timeout: 120 */
/* env: KEEL_COLL=gather=pieces,scatter=pieces,allgather=pieces,allgatherv=pieces,alltoall=pieces,alltoallv=pieces,reduce=slices,allreduce=slices,reduce_scatter=slices */
#include "steps_flight.c"
