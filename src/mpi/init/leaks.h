/* leaks.h: what the program leaves when it calls MPI_Finalize (KEEL_LEAKS). */
#ifndef MPIR_LEAKS_H
#define MPIR_LEAKS_H

/* Show it, if the user wants to know.  All ranks have come to MPI_Finalize, and MPI_COMM_WORLD is still there. */
void MPIR_Leaks_show(void);

#endif
