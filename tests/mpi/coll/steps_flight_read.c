/* The same by direct reads alone. */
/* ranks: 2 3 5 8 */
/* timeout: 120 */
/* env: KEEL_COLL=bcast=read,gather=read,scatter=read,allgather=read,allgatherv=read,alltoall=read,alltoallv=read,allreduce=read,reduce_scatter=read */
#include "steps_flight.c"
