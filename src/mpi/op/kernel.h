/* kernel.h: the predefined operations on arrays of each representation. */
#ifndef MPIR_OP_KERNEL_H
#define MPIR_OP_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

/* inout[i] = in[i] op inout[i]; the arrays do not overlap. */
typedef void op_kernel(const void *restrict in, void *restrict inout, int64_t n);

/* The kernel of an operation (its ABI value) on a representation (enum MPIR_REPR); NULL: not defined. */
op_kernel *MPIR_Op_kernel_of(int32_t op, int repr);

/* A pair without a kernel of its own: representations, sizes, and where the index and the next pair lie. */
struct op_pair {
    int value_repr, index_repr;
    int64_t value_size, index_size, index_at, extent;
};

/* Can values of this representation be compared? */
bool MPIR_Op_pair_known(int repr);

/* MPI_MAXLOC (is_max) or MPI_MINLOC on n such pairs. */
void MPIR_Op_pairs(bool is_max, const struct op_pair *p, const void *in, void *inout, int64_t n);

/* MPI_LAND, MPI_LOR or MPI_LXOR on Fortran's LOGICALs of so many bytes, where MPID_Logicals are set. */
void MPIR_Op_logicals(int32_t op, int64_t size, const void *in, void *inout, int64_t n);

#endif
