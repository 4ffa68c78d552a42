/* SPDX-License-Identifier: BSD-3-Clause */
/* logical.c: the logical operations on Fortran's LOGICALs, whose .TRUE. and .FALSE. the program has told
 * (MPI_Abi_set_fortran_booleans) and are not 1 and 0.  What is not .FALSE. counts as .TRUE. */
#include <stddef.h>
#include "kernel.h"

static inline bool land(bool a, bool b)
{
    return a & b;
}

static inline bool lor(bool a, bool b)
{
    return a | b;
}

static inline bool lxor(bool a, bool b)
{
    return a ^ b;
}

#define LOOP(OP, T) \
    static void OP##_##T(const void *in, const void *with, void *to, int64_t n) \
    { \
        const T yes = (T)MPID_Logicals.yes, no = (T)MPID_Logicals.no; \
        const T *a = in, *b = with; \
        T *out = to; \
        for (int64_t i = 0; i < n; i++) { \
            bool truth = OP(a[i] != no, b[i] != no); \
            out[i] = truth ? yes : no; \
        } \
    }
#define LOOPS(T) LOOP(land, T) LOOP(lor, T) LOOP(lxor, T)

LOOPS(int8_t)
LOOPS(int16_t)
LOOPS(int32_t)
LOOPS(int64_t)
#if defined(__SIZEOF_INT128__)
LOOPS(MPIR_I128)
#define LAST(OP) OP##_MPIR_I128
#else
#define LAST(OP) NULL
#endif

#define ROW(OP) \
    { \
        OP##_int8_t, OP##_int16_t, OP##_int32_t, OP##_int64_t, LAST(OP) \
    }

MPID_Op_fn *MPID_Op_logical(int32_t op, int repr)
{
    static MPID_Op_fn *const loops[3][5] = { ROW(land), ROW(lor), ROW(lxor) };
    int row = op == KEEL_MPI_LAND ? 0 : op == KEEL_MPI_LOR ? 1 : 2;
    return loops[row][repr - MPIR_REPR_SIGNED];
}
