/* SPDX-License-Identifier: BSD-3-Clause */
/* leaks.h: what the program leaves when it calls MPI_Finalize (KEEL_LEAKS). */
#ifndef MPIR_LEAKS_H
#define MPIR_LEAKS_H

/* Show it, if the user wants to know.  All ranks have come to MPI_Finalize, and MPI_COMM_WORLD is still there. */
void MPIR_Leaks_show(void);

/* Does the user want to know?  Then what calls give to the program is noted (a listener, mpid_listen.h).  When the
 * library comes up, and when it ends. */
void MPIR_Leaks_begin(void);
void MPIR_Leaks_end(void);

#endif
