/* SPDX-License-Identifier: BSD-3-Clause */
/* half.h: IEEE binary16 in terms of float; rounding to nearest, ties to even.  A sum or product of two halves
 * computed in float and rounded once more is the correctly rounded one: float has more than twice the digits. */
#ifndef MPIR_OP_HALF_H
#define MPIR_OP_HALF_H

#include <stdint.h>
#include <string.h>

static inline float half_float_of_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint32_t half_bits_of_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static inline float half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fff;
    if (rest >= 0x7c00) /* infinity, not a number */
        return half_float_of_bits(sign | 0x7f800000 | (rest & 0x3ff) << 13);
    if (rest < 0x400) { /* zero, subnormal: a multiple of 2^-24 */
        float f = (float)rest * 0x1p-24f;
        return sign ? -f : f;
    }
    return half_float_of_bits(sign | ((rest << 13) + (112u << 23)));
}

static inline uint16_t half_of_float(float f)
{
    uint32_t bits = half_bits_of_float(f), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    if (rest > 0x7f800000)
        return (uint16_t)(sign | 0x7e00 | (rest >> 13 & 0x3ff));
    if (rest >= 0x477ff000) /* 65520 and more round to infinity */
        return (uint16_t)(sign | 0x7c00);
    if (rest < 0x38800000) /* below 2^-14: the sum's last digit is worth 2^-24 */
        return (uint16_t)(sign | (half_bits_of_float(half_float_of_bits(rest) + 0.5f) - 0x3f000000));
    return (uint16_t)(sign | (rest - (112u << 23) + 0xfff + (rest >> 13 & 1)) >> 13);
}

#endif
