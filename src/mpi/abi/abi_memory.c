/* SPDX-License-Identifier: BSD-3-Clause */
/* abi_memory.c: extensions of MPICH and Open MPI that ask about memory of devices. */
#include "front_abi.h"
#include "stage.h"

enum { GPU_SUPPORT_CUDA = 0 }; /* MPIX_GPU_SUPPORT_CUDA */

#define EXTENSION(name, params) \
    FRONT_EXPORT int P##name params; \
    FRONT_EXPORT int name params __attribute__((weak, alias("P" #name))); \
    int P##name params

EXTENSION(MPIX_Query_cuda_support, (void))
{
    return MPIR_Memory_supports("cuda");
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
EXTENSION(MPIX_GPU_query_support, (int type, int *is_supported))
{
    *is_supported = type == GPU_SUPPORT_CUDA && MPIR_Memory_supports("cuda");
    return 0;
}
