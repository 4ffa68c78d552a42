/* partitioned.h: what others must know of partitioned messages (src/mpi/part). */
#ifndef MPIR_PARTITIONED_H
#define MPIR_PARTITIONED_H

struct MPIR_Session;

/* Forget the channels whose requests have been freed, of a session that ends; NULL: of the world model. */
void MPIR_Part_fini(const struct MPIR_Session *s);
/* MPIR_Drive_stop follows. */
void MPIR_Part_stop(void);

#endif
