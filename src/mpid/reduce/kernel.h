/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.h: the predefined operations on arrays of each representation, and those that basic.h alone does not tell. */
#ifndef MPID_REDUCE_KERNEL_H
#define MPID_REDUCE_KERNEL_H

#include "basic.h"
#include "mpid_op.h"

/* The loop of an operation (its ABI value less that of MPI_OP_NULL, below MPID_OP_COUNT) on a representation (enum
 * MPIR_REPR), NULL where there is none: for any processor; for some, with NULL where those for any are as good.
 * All compute the same bits. */
enum { MPID_OP_COUNT = KEEL_MPI_MAXLOC - KEEL_MPI_OP_NULL + 1 };
MPID_Op_fn *MPID_Op_kernels_plain(uint32_t row, uint32_t repr);
MPID_Op_fn *MPID_Op_kernels_avx2(uint32_t row, uint32_t repr);
MPID_Op_fn *MPID_Op_kernels_avx512(uint32_t row, uint32_t repr);

/* For tests: from now on use at most AVX2 (1) or nothing that not every processor has (0).  Returns what is in use. */
int MPID_Op_kernels_use(int most);

/* The representation of a basic type (enum MPIR_REPR); MPIR_REPR_NONE: it is unknown, or has none. */
int MPID_Op_repr_of(uint32_t basic);

/* MPI_LAND, MPI_LOR or MPI_LXOR on Fortran's LOGICALs of a representation (of integers), where MPID_Logicals are
 * set. */
MPID_Op_fn *MPID_Op_logical(int32_t op, int repr);

#endif
