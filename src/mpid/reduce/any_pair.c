/* SPDX-License-Identifier: BSD-3-Clause */
/* any_pair.c: MPI_MAXLOC and MPI_MINLOC on the pairs of MPI_Type_get_value_index that have no name: any number with any
 * integer.  Rare, so it is one loop over comparing functions. */
#include <stddef.h>
#include <string.h>
#include "half.h"
#include "kernel.h"

/* -1, 0, 1; 2 if one of them is not a number. */
typedef int order(const void *a, const void *b);

#define ORDER(NAME, T) \
    static int order_##NAME(const void *a, const void *b) \
    { \
        T x, y; \
        memcpy(&x, a, sizeof x); \
        memcpy(&y, b, sizeof y); \
        return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2; \
    }

ORDER(i8, int8_t)
ORDER(i16, int16_t)
ORDER(i32, int32_t)
ORDER(i64, int64_t)
ORDER(u8, uint8_t)
ORDER(u16, uint16_t)
ORDER(u32, uint32_t)
ORDER(u64, uint64_t)
ORDER(f32, float)
ORDER(f64, double)
ORDER(long_double, long double)
#if defined(__SIZEOF_INT128__)
ORDER(i128, MPIR_I128)
ORDER(u128, MPIR_U128)
#endif
#if MPIR_HAVE_F128
ORDER(f128, MPIR_F128)
#endif

static int order_f16(const void *a, const void *b)
{
    uint16_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    float p = half_to_float(x), q = half_to_float(y);
    return order_f32(&p, &q);
}

struct number {
    order *order; /* NULL: they have none, or cannot be computed with */
    size_t size;
};

static const struct number numbers[MPIR_REPR_COUNT] = { [MPIR_REPR_SIGNED] = { order_i8, 1 },
                                                        [MPIR_REPR_SIGNED + 1] = { order_i16, 2 },
                                                        [MPIR_REPR_SIGNED + 2] = { order_i32, 4 },
                                                        [MPIR_REPR_SIGNED + 3] = { order_i64, 8 },
                                                        [MPIR_REPR_UNSIGNED] = { order_u8, 1 },
                                                        [MPIR_REPR_UNSIGNED + 1] = { order_u16, 2 },
                                                        [MPIR_REPR_UNSIGNED + 2] = { order_u32, 4 },
                                                        [MPIR_REPR_UNSIGNED + 3] = { order_u64, 8 },
#if defined(__SIZEOF_INT128__)
                                                        [MPIR_REPR_SIGNED + 4] = { order_i128, 16 },
                                                        [MPIR_REPR_UNSIGNED + 4] = { order_u128, 16 },
#endif
#if MPIR_HAVE_F128
                                                        [MPIR_REPR_F128] = { order_f128, 16 },
#endif
                                                        [MPIR_REPR_F16] = { order_f16, 2 },
                                                        [MPIR_REPR_F32] = { order_f32, sizeof(float) },
                                                        [MPIR_REPR_F64] = { order_f64, sizeof(double) },
                                                        [MPIR_REPR_LONG_DOUBLE] = { order_long_double,
                                                                                    sizeof(long double) } };

static struct number any_pair_number_of(uint32_t basic)
{
    return numbers[MPID_Op_repr_of(basic)];
}

bool MPID_Op_pair_known(const struct MPID_Op_pair *pair)
{
    return any_pair_number_of(pair->value).order != NULL && any_pair_number_of(pair->index).order != NULL;
}

void MPID_Op_pairs(int32_t op, const struct MPID_Op_pair *pair, const void *in, void *inout, int64_t n)
{
    struct number value = any_pair_number_of(pair->value), index = any_pair_number_of(pair->index);
    const char *a = in;
    char *b = inout;
    for (int64_t i = 0; i < n; i++, a += pair->extent, b += pair->extent) {
        int o = value.order(a, b);
        if (o == (op == KEEL_MPI_MAXLOC ? 1 : -1))
            memcpy(b, a, value.size);
        else if (o != 0 || index.order(a + pair->index_at, b + pair->index_at) >= 0)
            continue;
        memcpy(b + pair->index_at, a + pair->index_at, index.size);
    }
}
