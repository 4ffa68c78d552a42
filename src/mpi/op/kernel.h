/* kernel.h: the predefined operations on arrays of each representation. */
#ifndef MPIR_OP_KERNEL_H
#define MPIR_OP_KERNEL_H

#include <stdint.h>

/* inout[i] = in[i] op inout[i]; the arrays do not overlap. */
typedef void op_kernel(const void *restrict in, void *restrict inout, int64_t n);

/* The kernel of an operation (its ABI value) on a representation (enum MPIR_REPR); NULL: not defined. */
op_kernel *MPIR_Op_kernel_of(int32_t op, int repr);

#endif
