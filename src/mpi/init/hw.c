/* SPDX-License-Identifier: BSD-3-Clause */
/* hw.c: MPI_Get_hw_resource_info (10.1.2): which hardware resources this process may use one instance of. */
#include "bodies.h"
#include "location.h"

int MPIR_Get_hw_resource_info(MPIR_Info **hw_info)
{
    int32_t at[MPIR_RESOURCES];
    int err = MPIR_Info_create(hw_info);
    if (err)
        return err;
    MPIR_Place_get(at);
    for (int i = 0; i < MPIR_RESOURCES && !err; i++)
        if (at[i] != MPIR_PLACE_UNKNOWN)
            err = MPIR_Info_set(*hw_info, MPIR_Resource_name[i], at[i] >= 0 ? "true" : "false");
    if (err)
        MPIR_Info_free(hw_info);
    return err;
}
