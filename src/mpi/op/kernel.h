/* kernel.h: the predefined operations on arrays of each representation. */
#ifndef MPIR_OP_KERNEL_H
#define MPIR_OP_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include "basic.h"

/* to[i] = in[i] op with[i]; `to` may be one of the operands, else it does not overlap them. */
typedef void op_kernel(const void *in, const void *with, void *to, int64_t n);

/* By operation (its ABI value less that of MPI_OP_NULL) and representation (enum MPIR_REPR): for any processor; for some, with
 * NULL where those for any are as good.  All compute the same bits. */
enum { OP_KERNELS = KEEL_MPI_MAXLOC - KEEL_MPI_OP_NULL + 1 };
extern op_kernel *const MPIR_Op_kernels_plain[OP_KERNELS][MPIR_REPR_COUNT],
    *const MPIR_Op_kernels_avx2[OP_KERNELS][MPIR_REPR_COUNT],
        *const MPIR_Op_kernels_avx512[OP_KERNELS][MPIR_REPR_COUNT];

/* The kernel of an operation (its ABI value) on a representation, for this processor; NULL: not defined. */
op_kernel *MPIR_Op_kernel_of(int32_t op, int repr);

/* For tests: from now on use at most AVX2 (1) or nothing that not every processor has (0).  Returns what is in use. */
int MPIR_Op_kernels_use(int most);

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
