/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.h: where the time goes (KEEL_PROFILE, mpiexec -profile). */
#ifndef MPIR_PROFILE_H
#define MPIR_PROFILE_H

/* When the library comes up: listen, if the user wants to know; and when it ends. */
void MPIR_Profile_begin(void);
void MPIR_Profile_end(void);
/* Rank 0 of MPI_COMM_WORLD writes the page.  All ranks have come to MPI_Finalize, and MPI_COMM_WORLD is still there. */
void MPIR_Profile_show(void);

#endif
