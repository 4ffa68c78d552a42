/* SPDX-License-Identifier: BSD-3-Clause */
/* mpich.c: what MPICH's ABI has besides MPI's procedures (../binding/abi-mpich.txt): Fortran's ignored statuses,
 * and the copy function that MPI_DUP_FN names. */
#include "config.h"
#include "front_abi.h"
#include "attributes.inc"

/* ---- Variables ---- */

/* Where Fortran programs' MPI_STATUS_IGNORE and so on lie; the Fortran library says so. */
extern FRONT_EXPORT int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;
int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;

extern FRONT_EXPORT ABI_Status MPIR_F08_MPI_STATUS_IGNORE_OBJ, MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
extern FRONT_EXPORT ABI_Status *MPI_F08_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE;
ABI_Status MPIR_F08_MPI_STATUS_IGNORE_OBJ, MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
ABI_Status *MPI_F08_STATUS_IGNORE = &MPIR_F08_MPI_STATUS_IGNORE_OBJ;
ABI_Status *MPI_F08_STATUSES_IGNORE = MPIR_F08_MPI_STATUSES_IGNORE_OBJ;

extern FRONT_EXPORT int MPIR_F08_MPI_IN_PLACE, MPIR_F08_MPI_BOTTOM;
int MPIR_F08_MPI_IN_PLACE, MPIR_F08_MPI_BOTTOM;

/* What MPI_DUP_FN, MPI_COMM_DUP_FN and so on name. */
COPY_FN(MPIR_Dup_fn, ABI_Comm, 1)
