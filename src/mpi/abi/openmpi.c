/* openmpi.c: what Open MPI's ABI has besides MPI's procedures (../binding/abi-openmpi.txt): Fortran's ignored statuses, and the functions of
 * predefined copy and delete functions. */
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

/* ---- C++ ----
 *
 * Open MPI's own libmpi_cxx.so.40 is loaded by all programs that its wrapper for C++ links.  These variables of the library beneath it must
 * be there; it writes into the first, which is an error handler. */
#define BENEATH_CXX(name, bytes) \
    extern FRONT_EXPORT char name[bytes] __attribute__((aligned(32))); \
    char name[bytes];
BENEATH_CXX(ompi_mpi_errors_throw_exceptions, 1024)
BENEATH_CXX(ompi_errcode_intern_lastused, 4)
BENEATH_CXX(ompi_errcodes_intern, 120)
BENEATH_CXX(ompi_registered_datareps, 64)

/* The operation was made with a function that gets one argument more. */
FRONT_EXPORT void ompi_op_set_cxx_callback(ABI_Op op, void *fn);
void ompi_op_set_cxx_callback(ABI_Op op, void *fn)
{
    MPIR_Op *o = MPIR_Object_of(MPIR_KIND_OP, front_value_Op(op));
    if (o)
        o->callback.extra_state = fn;
}
