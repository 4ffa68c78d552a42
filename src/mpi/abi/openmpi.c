/* SPDX-License-Identifier: BSD-3-Clause */
/* openmpi.c: what Open MPI's ABI has besides MPI's procedures (../binding/abi-openmpi.txt): Fortran's ignored
 * statuses, and the functions of predefined copy and delete functions. */
#include "config.h"
#include "front_abi.h"
#include "attributes.inc"

/* Where Fortran programs' MPI_STATUS_IGNORE and so on lie; the Fortran library says so. */
extern FRONT_EXPORT int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE, *MPI_F08_STATUS_IGNORE,
    *MPI_F08_STATUSES_IGNORE;
int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE, *MPI_F08_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE;

#define FUNCTIONS(kind, handle) \
    COPY_FN(OMPI_C_MPI_##kind##NULL_COPY_FN, handle, 0) \
    COPY_FN(OMPI_C_MPI_##kind##DUP_FN, handle, 1) \
    DELETE_FN(OMPI_C_MPI_##kind##NULL_DELETE_FN, handle)
FUNCTIONS(, ABI_Comm)
FUNCTIONS(COMM_, ABI_Comm)
FUNCTIONS(TYPE_, ABI_Datatype)
FUNCTIONS(WIN_, ABI_Win)
