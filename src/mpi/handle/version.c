/* SPDX-License-Identifier: BSD-3-Clause */
/* version.c: what the ABI is that a program was compiled for: its version, the sizes of its integers. */
#include "bodies.h"
#include <stdio.h>
#include "abi.h"
#include "info.h"
#include "mpi_const.h"

int MPIR_Abi_get_version(int *abi_major, int *abi_minor)
{
    *abi_major = &MPIR_Differs ? MPIR_Differs.abi_version : MPI_ABI_VERSION;
    *abi_minor = &MPIR_Differs ? MPIR_Differs.abi_subversion : MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}

int MPIR_Abi_get_info(MPIR_Info **info)
{
    static const struct {
        const char *key;
        size_t size;
    } rows[] = { { "mpi_aint_size", sizeof(MPI_Aint) },
                 { "mpi_count_size", sizeof(MPI_Count) },
                 { "mpi_offset_size", sizeof(MPI_Offset) } };
    int err = MPIR_Info_create(info);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !err; i++) {
        char value[8];
        snprintf(value, sizeof value, "%zu", rows[i].size);
        err = MPIR_Info_set(*info, rows[i].key, value);
    }
    if (err && *info)
        MPIR_Info_free(info);
    return err;
}
