/* SPDX-License-Identifier: BSD-3-Clause */
/* bits.h: sets of partitions, a bit each.  Ranges are [low, high], both in it. */
#ifndef MPIR_PART_BITS_H
#define MPIR_PART_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t bits_words(uint32_t n)
{
    return ((size_t)n + 63) / 64;
}

/* The bits of word w that lie in the range. */
static inline uint64_t bits_mask(uint32_t w, uint32_t low, uint32_t high)
{
    uint64_t mask = UINT64_MAX;
    if (w == low / 64)
        mask &= UINT64_MAX << low % 64;
    if (w == high / 64)
        mask &= UINT64_MAX >> (63 - high % 64);
    return mask;
}

static inline void bits_fill(uint64_t *bits, uint32_t low, uint32_t high, bool value)
{
    for (uint32_t w = low / 64; w <= high / 64; w++) {
        uint64_t mask = bits_mask(w, low, high);
        /* (Other threads may look: MPIR_Pready_beside.) */
        __atomic_store_n(&bits[w], value ? bits[w] | mask : bits[w] & ~mask, __ATOMIC_RELAXED);
    }
}

/* The first of the range that has the value; high + 1: none. */
static inline uint32_t bits_find(const uint64_t *bits, uint32_t low, uint32_t high, bool value)
{
    for (uint32_t w = low / 64; low <= high && w <= high / 64; w++) {
        uint64_t x = (value ? bits[w] : ~bits[w]) & bits_mask(w, low, high);
        if (x)
            return w * 64 + (uint32_t)__builtin_ctzll(x);
    }
    return high + 1;
}

#endif
