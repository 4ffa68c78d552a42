/* partitioned.h: what others must know of partitioned messages (src/mpi/part). */
#ifndef MPIR_PARTITIONED_H
#define MPIR_PARTITIONED_H

/* MPI_Finalize: forget the channels whose requests have been freed. */
void MPIR_Part_fini(void);

#endif
