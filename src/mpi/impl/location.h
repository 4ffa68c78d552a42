/* SPDX-License-Identifier: BSD-3-Clause */
/* location.h: where this process runs, for MPI_Comm_split_type and MPI_Get_hw_resource_info
 * (src/mpi/comm/location.c). */
#ifndef MPIR_PLACE_H
#define MPIR_PLACE_H

#include <stdint.h>

/* Kinds of hardware resources, in general from the outside in. */
enum MPIR_RESOURCE {
    MPIR_RESOURCE_MACHINE,
    MPIR_RESOURCE_PACKAGE,
    MPIR_RESOURCE_NUMA,
    MPIR_RESOURCE_L3,
    MPIR_RESOURCE_CORE,
    MPIR_RESOURCE_PU,
    MPIR_RESOURCES
};
/* "hwloc://Package", ... */
extern const char *const MPIR_Resource_name[MPIR_RESOURCES];

enum { MPIR_PLACE_UNKNOWN = -2, MPIR_PLACE_SEVERAL = -1 };

/* For each kind the number of the one instance in which all cpus lie that this process may use; numbers are those
 * of its machine. */
void MPIR_Place_get(int32_t at[MPIR_RESOURCES]);

#endif
