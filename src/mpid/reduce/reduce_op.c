/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce_op.c: which predefined operation is defined on which basic types (MPI 5.0, 7.9.2 and 7.9.4, and more:
 * README.md), and the choice of its loop. */
#include <stdatomic.h>
#include <stddef.h>
#include "kernel.h"

enum {
    INTEGERS = MPIR_CLASS_C_INTEGER | MPIR_CLASS_F_INTEGER | MPIR_CLASS_MULTI | MPIR_CLASS_BYTE |
               MPIR_CLASS_CHARACTER | MPIR_CLASS_LOGICAL,
    ORDERED = INTEGERS | MPIR_CLASS_FLOAT,
    SUMS = ORDERED | MPIR_CLASS_COMPLEX,
    TRUTHS = ORDERED | MPIR_CLASS_BOOL
};

#define ROW(OP) [KEEL_MPI_##OP - KEEL_MPI_OP_NULL]
static const uint16_t op_classes[MPID_OP_COUNT] = { ROW(SUM) = SUMS,
                                                    ROW(PROD) = SUMS,
                                                    ROW(MAX) = ORDERED,
                                                    ROW(MIN) = ORDERED,
                                                    ROW(BAND) = INTEGERS,
                                                    ROW(BOR) = INTEGERS,
                                                    ROW(BXOR) = INTEGERS,
                                                    ROW(LAND) = TRUTHS,
                                                    ROW(LOR) = TRUTHS,
                                                    ROW(LXOR) = TRUTHS,
                                                    ROW(MAXLOC) = MPIR_CLASS_PAIR,
                                                    ROW(MINLOC) = MPIR_CLASS_PAIR };

/* By a basic type's value less that of MPI_DATATYPE_NULL: class and representation. */
enum { BASICS = 256 };
#define BASIC(NAME) [KEEL_##NAME - KEEL_MPI_DATATYPE_NULL]
#define BASIC_CLASS(NAME, TYPE, CLASS, REPR) BASIC(NAME) = MPIR_CLASS_##CLASS,
#define PAIR_CLASS(NAME, VALUE, INDEX, REPR, LAYOUT) BASIC(NAME) = MPIR_CLASS_PAIR,
static const uint16_t classes[BASICS] = { MPIR_BASIC_TYPES(BASIC_CLASS) MPIR_PAIR_TYPES(PAIR_CLASS) };
#define BASIC_REPR(NAME, TYPE, CLASS, REPR) BASIC(NAME) = (REPR),
#define PAIR_REPR(NAME, VALUE, INDEX, REPR, LAYOUT) BASIC(NAME) = (REPR),
static const uint8_t reprs[BASICS] = { MPIR_BASIC_TYPES(BASIC_REPR) MPIR_PAIR_TYPES(PAIR_REPR) };
_Static_assert(sizeof(_Bool) == 1, "MPIR_REPR_BOOL is computed as bytes");

static inline uint32_t row_of_type(uint32_t basic)
{
    return basic - (uint32_t)KEEL_MPI_DATATYPE_NULL;
}

static inline uint32_t row_of_op(int32_t op)
{
    return (uint32_t)op - (uint32_t)KEEL_MPI_OP_NULL;
}

int MPID_Op_class_of(uint32_t basic)
{
    uint32_t row = row_of_type(basic);
    return row < BASICS ? classes[row] : MPIR_CLASS_NONE;
}

int MPID_Op_repr_of(uint32_t basic)
{
    uint32_t row = row_of_type(basic);
    return row < BASICS ? reprs[row] : MPIR_REPR_NONE;
}

int MPID_Op_classes(int32_t op)
{
    uint32_t row = row_of_op(op);
    return row < MPID_OP_COUNT ? op_classes[row] : 0;
}

/* ---- for this processor ---- */

static _Atomic int level = -1; /* of the instruction set in use; -1: not looked yet */

int MPID_Op_kernels_use(int most)
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

static MPID_Op_fn *kernel_of(int use, uint32_t row, uint32_t repr)
{
    MPID_Op_fn *k = NULL;
#ifdef __x86_64__
    if (use > 0)
        k = use == 1 ? MPID_Op_kernels_avx2(row, repr) : MPID_Op_kernels_avx512(row, repr);
#else
    (void)use;
#endif
    return k != NULL ? k : MPID_Op_kernels_plain(row, repr);
}

/* The first time.  And where the program has told what LOGICALs are: the logical operations on them have loops of their
 * own. */
static __attribute__((noinline)) MPID_Op_fn *kernel_rare(int32_t op, uint32_t basic)
{
    int use = atomic_load_explicit(&level, memory_order_relaxed), repr = MPID_Op_repr_of(basic);
    if (use < 0)
        use = MPID_Op_kernels_use(2);
    if (MPID_Logicals.set && MPID_Op_classes(op) == TRUTHS && MPID_Op_class_of(basic) == MPIR_CLASS_LOGICAL)
        return MPID_Op_logical(op, repr);
    return kernel_of(use, row_of_op(op), (uint32_t)repr);
}

/* Collectives on small data ask each time.  The tables have what is defined and nothing else, so no class is
 * looked at. */
MPID_Op_fn *MPID_Op_kernel(int32_t op, uint32_t basic)
{
    uint32_t row = row_of_op(op), type = row_of_type(basic);
    int use = atomic_load_explicit(&level, memory_order_relaxed);
    if (row >= MPID_OP_COUNT || type >= BASICS)
        return NULL;
    if (__builtin_expect(use < 0 || MPID_Logicals.set, 0))
        return kernel_rare(op, basic);
    return kernel_of(use, row, reprs[type]);
}
