/* SPDX-License-Identifier: BSD-3-Clause */
/* le.h: numbers as they travel: little-endian, whatever the machine.
 *
 * ku_le16/32/64 turn a number into the one whose bytes in memory are little-endian, and such a one back.  On a
 * little-endian machine they are nothing.  KU_LE_SWAP makes them swap on every machine: tests compile an encoder
 * with it to see that each field goes through here. */
#ifndef KU_LE_H
#define KU_LE_H

#include <stdint.h>

#if defined KU_LE_SWAP || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#define KU_LE_IS(same, swapped) (swapped)
#else
#define KU_LE_IS(same, swapped) (same)
#endif

static inline uint16_t ku_le16(uint16_t x)
{
    return KU_LE_IS(x, __builtin_bswap16(x));
}
static inline uint32_t ku_le32(uint32_t x)
{
    return KU_LE_IS(x, __builtin_bswap32(x));
}
static inline uint64_t ku_le64(uint64_t x)
{
    return KU_LE_IS(x, __builtin_bswap64(x));
}

#endif
