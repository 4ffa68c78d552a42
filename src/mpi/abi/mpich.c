/* mpich.c: what MPICH's ABI has besides MPI's procedures (../binding/abi-mpich.txt): Fortran's ignored statuses, the copy function that
 * MPI_DUP_FN names, and those extensions that programs call. */
#include "config.h"
#include "front_abi.h"

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

/* ---- MPI_DUP_FN, MPI_COMM_DUP_FN and so on ---- */

FRONT_EXPORT int MPIR_Dup_fn(ABI_Comm comm, int keyval, void *extra_state, void *in, void *out, int *flag);
int MPIR_Dup_fn(ABI_Comm comm __attribute__((unused)), int keyval __attribute__((unused)),
                void *extra_state __attribute__((unused)), void *in, void *out, int *flag)
{
    memcpy(out, &in, sizeof in);
    *flag = 1;
    return 0;
}

/* ---- Device memory: of none ---- */

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
EXTENSION(MPIX_Query_ze_support, (void))
{
    return 0;
}
EXTENSION(MPIX_GPU_query_support, (int type __attribute__((unused)), int *is_supported))
{
    *is_supported = 0;
    return 0;
}
