/* SPDX-License-Identifier: BSD-3-Clause */
/* local.h: from a global rank to its place on the node. */
#ifndef KU_LOCAL_H
#define KU_LOCAL_H

#include <stdint.h>

/* Where `grank` stands in grank_of[n], which ascends, by steps of `stride` if that is not 0; -1: nowhere. */
static inline int32_t ku_local_of(const int32_t *grank_of, uint32_t n, uint32_t stride, int32_t grank)
{
    uint32_t low = 0, high = n;
    if (grank < grank_of[0] || n == 0)
        return -1;
    if (stride != 0) {
        uint32_t l = (uint32_t)(grank - grank_of[0]) / stride;
        return l < n && grank_of[0] + (int32_t)(l * stride) == grank ? (int32_t)l : -1;
    }
    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;
        *(grank_of[mid] <= grank ? &low : &high) = mid;
    }
    return grank_of[low] == grank ? (int32_t)low : -1;
}

#endif
