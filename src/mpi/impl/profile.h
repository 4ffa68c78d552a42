/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.h: where the time goes (KEEL_PROFILE_FOLDER, mpiexec -profile). */
#ifndef MPIR_PROFILE_H
#define MPIR_PROFILE_H

/* When the library comes up: listen, if the user wants to know; and when it ends. */
void MPIR_Profile_begin(void);
void MPIR_Profile_end(void);
/* MPI_Finalize: all ranks have come to it. */
void MPIR_Profile_final(void);

#endif
