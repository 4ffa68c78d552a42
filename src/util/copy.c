/* SPDX-License-Identifier: BSD-3-Clause */
#include "copy.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "linering.h"

enum { LINE = 64, TURN = 512 /* bytes copied, then made one's own */ };

typedef void copy_fn(char *to, const char *from, size_t n);
typedef void copy_own_fn(char *to, char *from, size_t n);

struct kernels {
    copy_fn *copy, *copy_past;
    copy_own_fn *copy_own, *copy_own_past;
};

void ku_copy_own(void *shared, size_t n)
{
    volatile char *at = shared, *end = at + n;
    while (at < end) {
        *at = *at;
        at += LINE - (uintptr_t)at % LINE;
    }
}

static void copy_plain(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
}

static void copy_own_plain(char *to, char *from, size_t n)
{
    for (; n > TURN; n -= TURN, to += TURN, from += TURN) {
        memcpy(to, from, TURN);
        ku_copy_own(from, TURN);
    }
    memcpy(to, from, n);
    ku_copy_own(from, n);
}

#ifdef __x86_64__
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512bw,bmi2")))

/* Bytes until `to` begins a line. */
static inline size_t to_line(const char *to)
{
    return -(uintptr_t)to % LINE;
}

/* ---- AVX-512 ---- */

/* Less than 64 bytes. */
AVX2 static inline void few_256(char *to, const char *from, size_t n)
{
    if (n < 32) {
        memcpy(to, from, n);
        return;
    }
    __m256i first = _mm256_loadu_si256((const __m256i *)from);
    __m256i last = _mm256_loadu_si256((const __m256i *)(from + n - 32));
    _mm256_storeu_si256((__m256i *)to, first);
    _mm256_storeu_si256((__m256i *)(to + n - 32), last);
}

/* What is no multiple of a register goes twice in part: processors give bytes that a masked store has written to
 * no load before they are in the cache. */
AVX512 static void copy_512(char *to, const char *from, size_t n)
{
    size_t i = to_line(to);
    if (n < LINE) {
        few_256(to, from, n);
        return;
    }
    __m512i first = _mm512_loadu_si512(from), last = _mm512_loadu_si512(from + n - LINE);
    _mm512_storeu_si512(to, first);
    if (i == 0)
        i = LINE;
    for (; i + 4 * LINE <= n; i += 4 * LINE) {
        __m512i a = _mm512_loadu_si512(from + i), b = _mm512_loadu_si512(from + i + 64);
        __m512i c = _mm512_loadu_si512(from + i + 128), d = _mm512_loadu_si512(from + i + 192);
        _mm512_store_si512(to + i, a);
        _mm512_store_si512(to + i + 64, b);
        _mm512_store_si512(to + i + 128, c);
        _mm512_store_si512(to + i + 192, d);
    }
    for (; i + LINE < n; i += LINE)
        _mm512_store_si512(to + i, _mm512_loadu_si512(from + i));
    _mm512_storeu_si512(to + n - LINE, last);
}

/* A line is made one's own by storing the first bytes of the register that it was read into: nothing is read again. */
AVX512 static inline void keep_512(char *from, __m512i line)
{
    _mm_storel_epi64((__m128i *)from, _mm512_castsi512_si128(line));
}

AVX512 static inline void put_512(char *to, __m512i line, bool past)
{
    if (past)
        _mm512_stream_si512((void *)to, line);
    else
        _mm512_store_si512(to, line);
}

AVX512 static inline __attribute__((always_inline)) void take_512(char *to, char *from, size_t n, bool own,
                                                                  bool past)
{
    size_t i = to_line(to) < n ? to_line(to) : n;
    copy_512(to, from, i);
    ku_copy_own(from, own ? i : 0);
    for (; i + 2 * LINE <= n; i += 2 * LINE) {
        __m512i a = _mm512_loadu_si512(from + i), b = _mm512_loadu_si512(from + i + 64);
        put_512(to + i, a, past);
        put_512(to + i + 64, b, past);
        if (own) {
            keep_512(from + i, a);
            keep_512(from + i + 64, b);
        }
    }
    copy_512(to + i, from + i, n - i);
    ku_copy_own(from + i, own ? n - i : 0);
}

AVX512 static void copy_own_512(char *to, char *from, size_t n)
{
    take_512(to, from, n, true, false);
}

AVX512 static void copy_own_past_512(char *to, char *from, size_t n)
{
    take_512(to, from, n, true, true);
    _mm_sfence();
}

AVX512 static void copy_past_512(char *to, const char *from, size_t n)
{
    take_512(to, (char *)(uintptr_t)from, n, false, true);
    _mm_sfence();
}

/* ---- AVX2 ---- */

AVX2 static inline void store_256(char *to, const char *from)
{
    __m256i a = _mm256_loadu_si256((const __m256i *)from);
    __m256i b = _mm256_loadu_si256((const __m256i *)(from + 32));
    _mm256_storeu_si256((__m256i *)to, a);
    _mm256_storeu_si256((__m256i *)(to + 32), b);
}

AVX2 static void copy_256(char *to, const char *from, size_t n)
{
    size_t i = to_line(to);
    if (n < 4 * LINE) {
        memcpy(to, from, n);
        return;
    }
    store_256(to, from);
    for (; i + 2 * LINE <= n; i += 2 * LINE) {
        store_256(to + i, from + i);
        store_256(to + i + 64, from + i + 64);
    }
    if (i + LINE <= n)
        store_256(to + i, from + i);
    store_256(to + n - LINE, from + n - LINE);
}

AVX2 static inline void put_256(char *to, __m256i half, bool past)
{
    if (past)
        _mm256_stream_si256((__m256i *)to, half);
    else
        _mm256_storeu_si256((__m256i *)to, half);
}

AVX2 static inline void move_256(char *to, char *from, bool own, bool past)
{
    __m256i a = _mm256_loadu_si256((const __m256i *)from);
    __m256i b = _mm256_loadu_si256((const __m256i *)(from + 32));
    put_256(to, a, past);
    put_256(to + 32, b, past);
    if (own)
        _mm_storel_epi64((__m128i *)from, _mm256_castsi256_si128(a));
}

AVX2 static inline __attribute__((always_inline)) void take_256(char *to, char *from, size_t n, bool own,
                                                                bool past)
{
    size_t i = to_line(to) < n ? to_line(to) : n;
    copy_256(to, from, i);
    ku_copy_own(from, own ? i : 0);
    for (; i + 2 * LINE <= n; i += 2 * LINE) {
        move_256(to + i, from + i, own, past);
        move_256(to + i + 64, from + i + 64, own, past);
    }
    copy_256(to + i, from + i, n - i);
    ku_copy_own(from + i, own ? n - i : 0);
}

AVX2 static void copy_own_256(char *to, char *from, size_t n)
{
    take_256(to, from, n, true, false);
}

AVX2 static void copy_own_past_256(char *to, char *from, size_t n)
{
    take_256(to, from, n, true, true);
    _mm_sfence();
}

AVX2 static void copy_past_256(char *to, const char *from, size_t n)
{
    take_256(to, (char *)(uintptr_t)from, n, false, true);
    _mm_sfence();
}

static int best(void)
{
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("bmi2"))
        return 2;
    return __builtin_cpu_supports("avx2") ? 1 : 0;
}

static const struct kernels *kernels_of(int level)
{
    static const struct kernels by_level[] = { { copy_plain, copy_plain, copy_own_plain, copy_own_plain },
                                               { copy_256, copy_past_256, copy_own_256, copy_own_past_256 },
                                               { copy_512, copy_past_512, copy_own_512, copy_own_past_512 } };
    return &by_level[level];
}

#else
static int best(void)
{
    return 0;
}

static const struct kernels *kernels_of(int level)
{
    static const struct kernels plain = { copy_plain, copy_plain, copy_own_plain, copy_own_plain };
    (void)level;
    return &plain;
}
#endif

/* ---- Which ---- */

static struct {
    _Atomic(copy_fn *) copy, copy_past;
    _Atomic(copy_own_fn *) copy_own, copy_own_past;
} chosen;

int ku_copy_use(int most)
{
    int level = best() < most ? best() : most;
    atomic_store_explicit(&chosen.copy_own, kernels_of(level)->copy_own, memory_order_relaxed);
    atomic_store_explicit(&chosen.copy_own_past, kernels_of(level)->copy_own_past, memory_order_relaxed);
    atomic_store_explicit(&chosen.copy_past, kernels_of(level)->copy_past, memory_order_relaxed);
    atomic_store_explicit(&chosen.copy, kernels_of(level)->copy, memory_order_relaxed);
    return level;
}

static inline copy_fn *kernel(_Atomic(copy_fn *) *which)
{
    copy_fn *k = atomic_load_explicit(which, memory_order_relaxed);
    if (__builtin_expect(k == NULL, 0)) {
        ku_copy_use(2);
        k = atomic_load_explicit(which, memory_order_relaxed);
    }
    return k;
}

void ku_copy_out(void *shared, const void *from, size_t n)
{
    kernel (&chosen.copy)(shared, from, n);
}

void ku_copy_out_ahead(void *shared, const void *from, size_t n, const void *next)
{
    copy_fn *copy = kernel(&chosen.copy);
    for (size_t at = 0, part; at < n; at += part) {
        part = n - at < TURN ? n - at : TURN;
        for (size_t i = 0; i < part; i += LINE)
            ku_fetch_line((const char *)next + at + i);
        copy((char *)shared + at, (const char *)from + at, part);
    }
}

void ku_copy_in(void *to, const void *shared, size_t n)
{
    kernel (&chosen.copy)(to, shared, n);
}

void ku_copy_past(void *to, const void *from, size_t n)
{
    kernel (&chosen.copy_past)(to, from, n);
}

static void copy_take(_Atomic(copy_own_fn *) *kernel_, void *to, void *shared, size_t n)
{
    copy_own_fn *k = atomic_load_explicit(kernel_, memory_order_relaxed);
    if (__builtin_expect(k == NULL, 0)) {
        ku_copy_use(2);
        k = atomic_load_explicit(kernel_, memory_order_relaxed);
    }
    k(to, shared, n);
}

void ku_copy_in_own(void *to, void *shared, size_t n)
{
    copy_take(&chosen.copy_own, to, shared, n);
}

void ku_copy_own_past(void *to, void *shared, size_t n)
{
    copy_take(&chosen.copy_own_past, to, shared, n);
}

/* Not by sysconf: of some processors glibc adds up all caches of that level. */
size_t ku_copy_cache(void)
{
    unsigned long kb = 0;
    for (int index = 4; kb == 0 && index >= 2; index--) {
        char name[64];
        FILE *f;
        snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
        f = fopen(name, "re");
        if (f == NULL)
            continue;
        if (fscanf(f, "%luK", &kb) != 1)
            kb = 0;
        fclose(f);
    }
    return (size_t)kb << 10;
}
