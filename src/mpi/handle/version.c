/* version.c: the version of the ABI that a program was compiled for. */
#include "bodies.h"
#include "mpi_const.h"

int MPIR_Abi_get_version(int *abi_major, int *abi_minor)
{
    *abi_major = MPI_ABI_VERSION;
    *abi_minor = MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}
