#include "copy.h"
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

enum { LINE = 64, TURN = 512 /* bytes copied, then given back */ };

struct kernels {
    void (*copy)(char *to, const char *from, size_t n);
    void (*copy_done)(char *to, const char *from, size_t n);
    void (*done)(const char *at, size_t n);
};

static void copy_plain(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
}

static void done_nothing(const char *at, size_t n)
{
    (void)at;
    (void)n;
}

static const struct kernels plain = { copy_plain, copy_plain, done_nothing };

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512bw,bmi2")))
#define CLWB __attribute__((target("clwb")))

CLWB static inline void done_clwb(const char *at, size_t n)
{
    const char *line = (const char *)((uintptr_t)at & ~(uintptr_t)(LINE - 1));
    if (n == 0)
        return;
    for (; line < at + n; line += LINE)
        _mm_clwb((void *)(uintptr_t)line);
}

/* Bytes until `to` begins a line. */
static inline size_t to_line(const char *to)
{
    return -(uintptr_t)to % LINE;
}

/* ---- AVX-512 ---- */

/* At most 64 bytes. */
AVX512 static inline void few_512(char *to, const char *from, size_t n)
{
    __mmask64 k = _bzhi_u64(~(uint64_t)0, (unsigned)n);
    _mm512_mask_storeu_epi8(to, k, _mm512_maskz_loadu_epi8(k, from));
}

AVX512 static inline void lines_512(char *to, const char *from, size_t n)
{
    size_t i = 0;
    for (; i + 4 * LINE <= n; i += 4 * LINE) {
        __m512i a = _mm512_loadu_si512(from + i), b = _mm512_loadu_si512(from + i + 64);
        __m512i c = _mm512_loadu_si512(from + i + 128), d = _mm512_loadu_si512(from + i + 192);
        _mm512_store_si512(to + i, a);
        _mm512_store_si512(to + i + 64, b);
        _mm512_store_si512(to + i + 128, c);
        _mm512_store_si512(to + i + 192, d);
    }
    for (; i + LINE <= n; i += LINE)
        _mm512_store_si512(to + i, _mm512_loadu_si512(from + i));
    few_512(to + i, from + i, n - i);
}

AVX512 static void copy_512(char *to, const char *from, size_t n)
{
    size_t head = to_line(to);
    if (n <= LINE) {
        few_512(to, from, n);
        return;
    }
    few_512(to, from, head);
    lines_512(to + head, from + head, n - head);
}

__attribute__((target("avx512f,avx512bw,bmi2,clwb"))) static void copy_done_512(char *to, const char *from,
                                                                                size_t n)
{
    size_t i = 0;
    for (; n - i > TURN; i += TURN) {
        copy_512(to + i, from + i, TURN);
        done_clwb(from + i, TURN);
    }
    copy_512(to + i, from + i, n - i);
    done_clwb(from + i, n - i);
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

static void copy_done_256(char *to, const char *from, size_t n)
{
    size_t i = 0;
    for (; n - i > TURN; i += TURN) {
        copy_256(to + i, from + i, TURN);
        done_clwb(from + i, TURN);
    }
    copy_256(to + i, from + i, n - i);
    done_clwb(from + i, n - i);
}

static const struct kernels with_512 = { copy_512, copy_512, done_nothing };
static const struct kernels with_512_clwb = { copy_512, copy_done_512, done_clwb };
static const struct kernels with_256 = { copy_256, copy_256, done_nothing };
static const struct kernels with_256_clwb = { copy_256, copy_done_256, done_clwb };

static bool has_clwb(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_CLWB;
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
    if (level == 2)
        return has_clwb() ? &with_512_clwb : &with_512;
    if (level == 1)
        return has_clwb() ? &with_256_clwb : &with_256;
    return &plain;
}

#else
static int best(void)
{
    return 0;
}

static const struct kernels *kernels_of(int level)
{
    (void)level;
    return &plain;
}
#endif

/* ---- Which ---- */

static _Atomic(const struct kernels *) chosen;

int ku_copy_use(int most)
{
    int level = best() < most ? best() : most;
    atomic_store_explicit(&chosen, kernels_of(level), memory_order_release);
    return level;
}

static inline const struct kernels *kernels(void)
{
    const struct kernels *k = atomic_load_explicit(&chosen, memory_order_acquire);
    if (__builtin_expect(k == NULL, 0)) {
        ku_copy_use(2);
        k = atomic_load_explicit(&chosen, memory_order_acquire);
    }
    return k;
}

void ku_copy_out(void *shared, const void *from, size_t n)
{
    kernels()->copy(shared, from, n);
}

void ku_copy_in(void *to, const void *shared, size_t n)
{
    kernels()->copy(to, shared, n);
}

void ku_copy_done(const void *shared, size_t n)
{
    kernels()->done(shared, n);
}

void ku_copy_in_done(void *to, const void *shared, size_t n)
{
    kernels()->copy_done(to, shared, n);
}

void ku_copy_own(void *shared, size_t n)
{
    volatile char *at = shared, *end = at + n;
    while (at < end) {
        *at = *at;
        at += LINE - (uintptr_t)at % LINE;
    }
}

void ku_copy_in_own(void *to, void *shared, size_t n)
{
    void (*copy)(char *, const char *, size_t) = kernels()->copy;
    char *d = to, *s = shared;
    for (; n > TURN; n -= TURN, d += TURN, s += TURN) {
        copy(d, s, TURN);
        ku_copy_own(s, TURN);
    }
    copy(d, s, n);
    ku_copy_own(s, n);
}
