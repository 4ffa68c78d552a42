#include "copy.h"
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

enum { LINE = 64, TURN = 512 /* bytes copied, then given back */ };

typedef void kernel_fn(char *to, const char *from, size_t n);

static void copy_plain(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
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

static int best(void)
{
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("bmi2"))
        return 2;
    return __builtin_cpu_supports("avx2") ? 1 : 0;
}

static kernel_fn *kernel_of(int level)
{
    static kernel_fn *const by_level[] = { copy_plain, copy_256, copy_512 };
    return by_level[level];
}

#else
static int best(void)
{
    return 0;
}

static kernel_fn *kernel_of(int level)
{
    (void)level;
    return copy_plain;
}
#endif

/* ---- Which ---- */

static _Atomic(kernel_fn *) chosen;

int ku_copy_use(int most)
{
    int level = best() < most ? best() : most;
    atomic_store_explicit(&chosen, kernel_of(level), memory_order_release);
    return level;
}

static inline kernel_fn *kernel(void)
{
    kernel_fn *k = atomic_load_explicit(&chosen, memory_order_acquire);
    if (__builtin_expect(k == NULL, 0)) {
        ku_copy_use(2);
        k = atomic_load_explicit(&chosen, memory_order_acquire);
    }
    return k;
}

void ku_copy_out(void *shared, const void *from, size_t n)
{
    kernel()(shared, from, n);
}

void ku_copy_in(void *to, const void *shared, size_t n)
{
    kernel()(to, shared, n);
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
    kernel_fn *copy = kernel();
    char *d = to, *s = shared;
    for (; n > TURN; n -= TURN, d += TURN, s += TURN) {
        copy(d, s, TURN);
        ku_copy_own(s, TURN);
    }
    copy(d, s, n);
    ku_copy_own(s, n);
}
