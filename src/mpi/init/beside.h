/* SPDX-License-Identifier: BSD-3-Clause */
/* beside.h: other MPI libraries in this process. */
#ifndef MPIR_BESIDE_H
#define MPIR_BESIDE_H

/* MPI_ERR_OTHER if another MPI library has initialized MPI in this process: both would be the same rank. */
int MPIR_Beside_begin(void);
/* Tells of each library whose callers reach another one of another ABI. */
void MPIR_Beside_tell(void);

#endif
