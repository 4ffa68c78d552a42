/* SPDX-License-Identifier: BSD-3-Clause */
/* type_kernel.c: the kernels for any processor, and which are used.  Each loop is written once, always inlined,
 * and compiled for each constant block size. */
#include <stdatomic.h>
#include <string.h>
#include "mpid/datatype/type_kernel.h"

#define INLINE static inline __attribute__((always_inline))

/* Any size: two overlapping moves up to 64 bytes, then memcpy. */
INLINE void copy_any(char *d, const char *s, int64_t bytes)
{
    if (bytes > 64) {
        memcpy(d, s, (size_t)bytes);
    } else if (bytes > 32) {
        char a[32], b[32];
        memcpy(a, s, 32);
        memcpy(b, s + bytes - 32, 32);
        memcpy(d, a, 32);
        memcpy(d + bytes - 32, b, 32);
    } else if (bytes > 16) {
        char a[16], b[16];
        memcpy(a, s, 16);
        memcpy(b, s + bytes - 16, 16);
        memcpy(d, a, 16);
        memcpy(d + bytes - 16, b, 16);
    } else if (bytes >= 8) {
        uint64_t a, b;
        memcpy(&a, s, 8);
        memcpy(&b, s + bytes - 8, 8);
        memcpy(d, &a, 8);
        memcpy(d + bytes - 8, &b, 8);
    } else if (bytes >= 4) {
        uint32_t a, b;
        memcpy(&a, s, 4);
        memcpy(&b, s + bytes - 4, 4);
        memcpy(d, &a, 4);
        memcpy(d + bytes - 4, &b, 4);
    } else {
        for (int64_t i = 0; i < bytes; i++)
            d[i] = s[i];
    }
}

/* A constant size is as good as an assignment.  `big`: known to be too big for copy_any's tricks. */
INLINE void copy(char *d, const char *s, int64_t bytes, bool big)
{
    if (__builtin_constant_p(bytes) || big)
        memcpy(d, s, (size_t)bytes);
    else
        copy_any(d, s, bytes);
}

INLINE void strided(char *d, int64_t ds, const char *s, int64_t ss, int64_t n, int64_t bytes, bool big)
{
    int64_t i = 0;
    for (; i + 4 <= n; i += 4, d += 4 * ds, s += 4 * ss) {
        copy(d, s, bytes, big);
        copy(d + ds, s + ss, bytes, big);
        copy(d + 2 * ds, s + 2 * ss, bytes, big);
        copy(d + 3 * ds, s + 3 * ss, bytes, big);
    }
    for (; i < n; i++, d += ds, s += ss)
        copy(d, s, bytes, big);
}

static void strided_of(char *d, int64_t ds, const char *s, int64_t ss, int64_t n, int64_t bytes)
{
    if (ds == bytes && ss == bytes) {
        memcpy(d, s, (size_t)(n * bytes));
        return;
    }
    switch (bytes) {
    case 1:
        strided(d, ds, s, ss, n, 1, false);
        break;
    case 2:
        strided(d, ds, s, ss, n, 2, false);
        break;
    case 4:
        strided(d, ds, s, ss, n, 4, false);
        break;
    case 8:
        strided(d, ds, s, ss, n, 8, false);
        break;
    case 12:
        strided(d, ds, s, ss, n, 12, false);
        break;
    case 16:
        strided(d, ds, s, ss, n, 16, false);
        break;
    case 24:
        strided(d, ds, s, ss, n, 24, false);
        break;
    case 32:
        strided(d, ds, s, ss, n, 32, false);
        break;
    case 64:
        strided(d, ds, s, ss, n, 64, false);
        break;
    default:
        if (bytes > 64)
            strided(d, ds, s, ss, n, bytes, true);
        else
            strided(d, ds, s, ss, n, bytes, false);
        break;
    }
}

INLINE void gather(char *d, const char *s, const int64_t *off, int64_t n, int64_t bytes, bool big)
{
    for (int64_t i = 0; i < n; i++)
        copy(d + i * bytes, s + off[i], bytes, big);
}

static void gather_of(char *d, const char *s, const int64_t *off, int64_t n, int64_t bytes)
{
    switch (bytes) {
    case 1:
        gather(d, s, off, n, 1, false);
        break;
    case 2:
        gather(d, s, off, n, 2, false);
        break;
    case 4:
        gather(d, s, off, n, 4, false);
        break;
    case 8:
        gather(d, s, off, n, 8, false);
        break;
    case 16:
        gather(d, s, off, n, 16, false);
        break;
    case 24:
        gather(d, s, off, n, 24, false);
        break;
    case 32:
        gather(d, s, off, n, 32, false);
        break;
    case 64:
        gather(d, s, off, n, 64, false);
        break;
    default:
        if (bytes > 64)
            gather(d, s, off, n, bytes, true);
        else
            gather(d, s, off, n, bytes, false);
        break;
    }
}

INLINE void scatter(char *d, const char *s, const int64_t *off, int64_t n, int64_t bytes, bool big)
{
    for (int64_t i = 0; i < n; i++)
        copy(d + off[i], s + i * bytes, bytes, big);
}

static void scatter_of(char *d, const char *s, const int64_t *off, int64_t n, int64_t bytes)
{
    switch (bytes) {
    case 1:
        scatter(d, s, off, n, 1, false);
        break;
    case 2:
        scatter(d, s, off, n, 2, false);
        break;
    case 4:
        scatter(d, s, off, n, 4, false);
        break;
    case 8:
        scatter(d, s, off, n, 8, false);
        break;
    case 16:
        scatter(d, s, off, n, 16, false);
        break;
    case 24:
        scatter(d, s, off, n, 24, false);
        break;
    case 32:
        scatter(d, s, off, n, 32, false);
        break;
    case 64:
        scatter(d, s, off, n, 64, false);
        break;
    default:
        if (bytes > 64)
            scatter(d, s, off, n, bytes, true);
        else
            scatter(d, s, off, n, bytes, false);
        break;
    }
}

static void gather_runs(char *d, const char *s, const int64_t *off, const int64_t *start, int64_t n,
                        int64_t longest)
{
    (void)longest;
    for (int64_t i = 0; i < n; i++)
        copy_any(d + (start[i] - start[0]), s + off[i], start[i + 1] - start[i]);
}

static void scatter_runs(char *d, const char *s, const int64_t *off, const int64_t *start, int64_t n,
                         int64_t longest)
{
    (void)longest;
    for (int64_t i = 0; i < n; i++)
        copy_any(d + off[i], s + (start[i] - start[0]), start[i + 1] - start[i]);
}

const struct MPID_KERNELS MPID_Kernels_plain = { strided_of,   gather_of, scatter_of, gather_runs,
                                                 scatter_runs, NULL,      NULL };

/* ---- which ---- */

_Atomic(const struct MPID_KERNELS *) MPID_Kernels_chosen;

static const struct MPID_KERNELS *best(void)
{
    const struct MPID_KERNELS *k = MPID_Kernels_avx512();
    return k ? k : &MPID_Kernels_plain;
}

const struct MPID_KERNELS *MPID_Kernels_choose(void)
{
    const struct MPID_KERNELS *k = best();
    atomic_store_explicit(&MPID_Kernels_chosen, k, memory_order_relaxed);
    return k;
}

bool MPID_Kernels_use(bool plain)
{
    atomic_store_explicit(&MPID_Kernels_chosen, plain ? &MPID_Kernels_plain : best(), memory_order_relaxed);
    return best() != &MPID_Kernels_plain;
}
