/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: extensions of MPICH and Open MPI that ask about memory of devices: none can be given to MPI. */
#include "front_abi.h"

#define EXTENSION(name, params) \
    FRONT_EXPORT int P##name params; \
    FRONT_EXPORT int name params __attribute__((weak, alias("P" #name))); \
    int P##name params

EXTENSION(MPIX_Query_cuda_support, (void))
{
    return 0;
}
EXTENSION(MPIX_Query_hip_support, (void))
{
    return 0;
}
EXTENSION(MPIX_Query_rocm_support, (void))
{
    return 0;
}
EXTENSION(MPIX_Query_ze_support, (void))
{
    return 0;
}
EXTENSION(MPIX_GPU_query_support, (int type __attribute__((unused)), int *is_supported))
{
    *is_supported = 0;
    return 0;
}
