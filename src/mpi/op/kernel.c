/* kernel.c: the loops of the predefined operations, one a representation, from the templates beside it (*.inc), and the
 * table that finds them.  Written so that the compiler vectorises them. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* gcc 12 vectorises loops of unknown length only at -O3 */
#endif
#include <stddef.h>
#include "basic.h"
#include "kernel.h"
#include "half.h"

/* ---- integers: the signed ones need a kernel of their own only for the order ---- */

#define W unsigned
#define T uint8_t
#define NAME(op) op##_u8
#include "sums.inc"
#include "bits.inc"
#include "ordered.inc"
#undef T
#undef NAME
#define T uint16_t
#define NAME(op) op##_u16
#include "sums.inc"
#include "bits.inc"
#include "ordered.inc"
#undef T
#undef NAME
#define T uint32_t
#define NAME(op) op##_u32
#include "sums.inc"
#include "bits.inc"
#include "ordered.inc"
#undef W
#undef T
#undef NAME
#define W uint64_t
#define T uint64_t
#define NAME(op) op##_u64
#include "sums.inc"
#include "bits.inc"
#include "ordered.inc"
#undef W
#undef T
#undef NAME

#define T int8_t
#define NAME(op) op##_i8
#include "ordered.inc"
#undef T
#undef NAME
#define T int16_t
#define NAME(op) op##_i16
#include "ordered.inc"
#undef T
#undef NAME
#define T int32_t
#define NAME(op) op##_i32
#include "ordered.inc"
#undef T
#undef NAME
#define T int64_t
#define NAME(op) op##_i64
#include "ordered.inc"
#undef T
#undef NAME

#if defined(__SIZEOF_INT128__)
#define W MPIR_U128
#define T MPIR_U128
#define NAME(op) op##_u128
#include "sums.inc"
#include "bits.inc"
#include "ordered.inc"
#undef W
#undef T
#undef NAME
#define T MPIR_I128
#define NAME(op) op##_i128
#include "ordered.inc"
#undef T
#undef NAME
#define IF_INT128(f) f
#else
#define IF_INT128(f) NULL
#endif

/* ---- floating point, complex ---- */

#define W float
#define T float
#define NAME(op) op##_f32
#include "sums.inc"
#include "ordered.inc"
#include "complex.inc"
#undef W
#undef T
#undef NAME
#define W double
#define T double
#define NAME(op) op##_f64
#include "sums.inc"
#include "ordered.inc"
#include "complex.inc"
#undef W
#undef T
#undef NAME
#define W long double
#define T long double
#define NAME(op) op##_fl
#include "sums.inc"
#include "ordered.inc"
#include "complex.inc"
#undef W
#undef T
#undef NAME

#if MPIR_HAVE_F128
#define W MPIR_F128
#define T MPIR_F128
#define NAME(op) op##_f128
#include "sums.inc"
#include "ordered.inc"
#include "complex.inc"
#undef W
#undef T
#undef NAME
#define IF_F128(f) f
#else
#define IF_F128(f) NULL
#endif

enum half_op { HALF_SUM, HALF_PROD, HALF_MAX, HALF_MIN };

static inline __attribute__((always_inline)) void half_loop(const void *in, void *inout, int64_t n,
                                                            enum half_op op)
{
    const MPIR_F16 *a = in;
    MPIR_F16 *b = inout;
    for (int64_t i = 0; i < n; i++) {
        float x = half_to_float(a[i].bits), y = half_to_float(b[i].bits);
        if (op == HALF_MAX || op == HALF_MIN)
            b[i] = (op == HALF_MAX ? x > y : x < y) ? a[i] : b[i];
        else
            b[i].bits = half_of_float(op == HALF_SUM ? x + y : x * y);
    }
}
static void sum_f16(const void *restrict in, void *restrict inout, int64_t n)
{
    half_loop(in, inout, n, HALF_SUM);
}
static void prod_f16(const void *restrict in, void *restrict inout, int64_t n)
{
    half_loop(in, inout, n, HALF_PROD);
}
static void max_f16(const void *restrict in, void *restrict inout, int64_t n)
{
    half_loop(in, inout, n, HALF_MAX);
}
static void min_f16(const void *restrict in, void *restrict inout, int64_t n)
{
    half_loop(in, inout, n, HALF_MIN);
}
static void csum_f16(const void *restrict in, void *restrict inout, int64_t n)
{
    half_loop(in, inout, 2 * n, HALF_SUM);
}
static void cprod_f16(const void *restrict in, void *restrict inout, int64_t n)
{
    const MPIR_C16 *a = in;
    MPIR_C16 *b = inout;
    for (int64_t i = 0; i < n; i++) {
        float ar = half_to_float(a[i].re.bits), ai = half_to_float(a[i].im.bits);
        float br = half_to_float(b[i].re.bits), bi = half_to_float(b[i].im.bits);
        b[i].re.bits = half_of_float(ar * br - ai * bi);
        b[i].im.bits = half_of_float(ar * bi + ai * br);
    }
}

/* ---- pairs ---- */

#define I int
#define V float
#define NAME(op) op##_float_int
#include "pairs.inc"
#undef V
#undef NAME
#define V double
#define NAME(op) op##_double_int
#include "pairs.inc"
#undef V
#undef NAME
#define V long
#define NAME(op) op##_long_int
#include "pairs.inc"
#undef V
#undef NAME
#define V int
#define NAME(op) op##_2int
#include "pairs.inc"
#undef V
#undef NAME
#define V short
#define NAME(op) op##_short_int
#include "pairs.inc"
#undef V
#undef NAME
#define V long double
#define NAME(op) op##_long_double_int
#include "pairs.inc"
#undef V
#undef NAME
#undef I
#define I float
#define V float
#define NAME(op) op##_2float
#include "pairs.inc"
#undef V
#undef NAME
#undef I
#define I double
#define V double
#define NAME(op) op##_2double
#include "pairs.inc"
#undef V
#undef NAME
#undef I

/* ---- the table ---- */

#define OP(NAME) [KEEL_MPI_##NAME - KEEL_MPI_OP_NULL]
#define SAME_INTEGERS(BASE, op) \
    [BASE] = op##_u8, [BASE + 1] = op##_u16, [BASE + 2] = op##_u32, [BASE + 3] = op##_u64, \
    [BASE + 4] = IF_INT128(op##_u128)
#define INTEGERS(op) SAME_INTEGERS(MPIR_REPR_SIGNED, op), SAME_INTEGERS(MPIR_REPR_UNSIGNED, op)
#define ORDERED(op) \
    [MPIR_REPR_SIGNED] = op##_i8, [MPIR_REPR_SIGNED + 1] = op##_i16, [MPIR_REPR_SIGNED + 2] = op##_i32, \
    [MPIR_REPR_SIGNED + 3] = op##_i64, [MPIR_REPR_SIGNED + 4] = IF_INT128(op##_i128), \
    SAME_INTEGERS(MPIR_REPR_UNSIGNED, op)
#define FLOATS(op) \
    [MPIR_REPR_F16] = op##_f16, [MPIR_REPR_F32] = op##_f32, [MPIR_REPR_F64] = op##_f64, \
    [MPIR_REPR_LONG_DOUBLE] = op##_fl, [MPIR_REPR_F128] = IF_F128(op##_f128)
#define COMPLEXES(op) \
    [MPIR_REPR_C16] = op##_f16, [MPIR_REPR_C32] = op##_f32, [MPIR_REPR_C64] = op##_f64, \
    [MPIR_REPR_C_LONG_DOUBLE] = op##_fl, [MPIR_REPR_C128] = IF_F128(op##_f128)
#define PAIRS(op) \
    [MPIR_REPR_FLOAT_INT] = op##_float_int, [MPIR_REPR_DOUBLE_INT] = op##_double_int, \
    [MPIR_REPR_LONG_INT] = op##_long_int, [MPIR_REPR_2INT] = op##_2int, \
    [MPIR_REPR_SHORT_INT] = op##_short_int, [MPIR_REPR_LONG_DOUBLE_INT] = op##_long_double_int, \
    [MPIR_REPR_2FLOAT] = op##_2float, [MPIR_REPR_2DOUBLE] = op##_2double

static op_kernel *const kernels[][MPIR_REPR_COUNT] = {
    OP(SUM) = { INTEGERS(sum), FLOATS(sum), COMPLEXES(csum) },
    OP(PROD) = { INTEGERS(prod), FLOATS(prod), COMPLEXES(cprod) },
    OP(MAX) = { ORDERED(max), FLOATS(max) },
    OP(MIN) = { ORDERED(min), FLOATS(min) },
    OP(BAND) = { INTEGERS(band) },
    OP(BOR) = { INTEGERS(bor) },
    OP(BXOR) = { INTEGERS(bxor) },
    OP(LAND) = { INTEGERS(land) },
    OP(LOR) = { INTEGERS(lor) },
    OP(LXOR) = { INTEGERS(lxor) },
    OP(MAXLOC) = { PAIRS(maxloc) },
    OP(MINLOC) = { PAIRS(minloc) },
};

op_kernel *MPIR_Op_kernel_of(int32_t op, int repr)
{
    size_t row = (size_t)(op - KEEL_MPI_OP_NULL);
    return row < sizeof kernels / sizeof *kernels ? kernels[row][repr] : NULL;
}
