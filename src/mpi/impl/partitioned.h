/* SPDX-License-Identifier: BSD-3-Clause */
/* partitioned.h: what others must know of partitioned messages (src/mpi/part). */
#ifndef MPIR_PARTITIONED_H
#define MPIR_PARTITIONED_H

#include <stdbool.h>

struct MPIR_HANDLE;
struct MPIR_Session;

/* MPI_Pready beside other threads, without the device lock.  False, and nothing done: with it. */
bool MPIR_Pready_beside(int partition, struct MPIR_HANDLE *request);

/* Forget the channels whose requests have been freed, of a session that ends; NULL: of the world model. */
void MPIR_Part_fini(const struct MPIR_Session *s);
/* MPIR_Drive_stop follows. */
void MPIR_Part_stop(void);

#endif
