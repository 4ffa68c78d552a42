/* kernel.c: the loops for any processor, and the choice among those for this one. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3,fp-contract=off") /* gcc 12 vectorises loops of unknown length only at -O3 */
#endif
#include <stdatomic.h>
#define KERNELS MPIR_Op_kernels_plain
#include "kernels.inc"

static _Atomic int level = -1; /* of the instruction set in use; -1: not looked yet */

int MPIR_Op_kernels_use(int most)
{
    int best = 0;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        best = 2;
    else if (__builtin_cpu_supports("avx2"))
        best = 1;
#endif
    best = best < most ? best : most;
    atomic_store_explicit(&level, best, memory_order_relaxed);
    return best;
}

static op_kernel *wide(size_t row, int repr)
{
#ifdef __x86_64__
    int use = atomic_load_explicit(&level, memory_order_relaxed);
    if (use < 0)
        use = MPIR_Op_kernels_use(2);
    if (use > 0)
        return use == 2 ? MPIR_Op_kernels_avx512[row][repr] : MPIR_Op_kernels_avx2[row][repr];
#endif
    (void)row;
    (void)repr;
    return NULL;
}

op_kernel *MPIR_Op_kernel_of(int32_t op, int repr)
{
    size_t row = (size_t)(op - KEEL_MPI_OP_NULL);
    if (row >= OP_KERNELS)
        return NULL;
    op_kernel *k = wide(row, repr);
    return k ? k : MPIR_Op_kernels_plain[row][repr];
}
