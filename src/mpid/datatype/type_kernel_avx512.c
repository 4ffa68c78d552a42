/* SPDX-License-Identifier: BSD-3-Clause */
/* type_kernel_avx512.c: the kernels for processors with AVX-512 and its byte permutations.  Loads and stores under
 * a mask touch the bytes of the mask only, so a block of any length up to 64 is one load and one store without a
 * branch. */
#include <stddef.h>
#include <string.h>
#include "mpid/datatype/type_kernel.h"
#include "mpid/datatype/program.h"

#ifdef __x86_64__
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,prfchw")))
#define INLINE static inline __attribute__((always_inline)) AVX512

enum {
    AHEAD = 256,     /* bytes that are fetched before a block of as many */
    NEAR = 1024,     /* and less */
    BY_MEMCPY = 4096 /* longer blocks gain from what libc knows about large copies */
};

INLINE __mmask64 first(int64_t bytes) /* all for 64 and more, up to 255 */
{
    return _bzhi_u64(~(uint64_t)0, (unsigned)bytes);
}

/* Blocks of any length up to 16, 32 or 64: no wider than needed, since an access that crosses a cache line takes
 * twice as long. */
INLINE void copy_16(char *d, const char *s, __mmask16 k)
{
    _mm_mask_storeu_epi8(d, k, _mm_maskz_loadu_epi8(k, s));
}

INLINE void copy_32(char *d, const char *s, __mmask32 k)
{
    _mm256_mask_storeu_epi8(d, k, _mm256_maskz_loadu_epi8(k, s));
}

INLINE void copy_64(char *d, const char *s, __mmask64 k)
{
    _mm512_mask_storeu_epi8(d, k, _mm512_maskz_loadu_epi8(k, s));
}

INLINE void copy_128(char *d, const char *s)
{
    __m256i a = _mm256_loadu_si256((const __m256i *)s), b = _mm256_loadu_si256((const __m256i *)(s + 32));
    __m256i c = _mm256_loadu_si256((const __m256i *)(s + 64)),
            e = _mm256_loadu_si256((const __m256i *)(s + 96));
    _mm256_storeu_si256((__m256i *)d, a);
    _mm256_storeu_si256((__m256i *)(d + 32), b);
    _mm256_storeu_si256((__m256i *)(d + 64), c);
    _mm256_storeu_si256((__m256i *)(d + 96), e);
}

/* More than 64 bytes. */
INLINE void copy_long(char *d, const char *s, int64_t bytes)
{
    if (bytes > BY_MEMCPY) {
        memcpy(d, s, (size_t)bytes);
        return;
    }
    if (bytes < 128) {
        __m512i a = _mm512_loadu_si512(s), b = _mm512_loadu_si512(s + bytes - 64);
        _mm512_storeu_si512(d, a);
        _mm512_storeu_si512(d + bytes - 64, b);
        return;
    }
    int64_t i = 0;
    if (bytes >= NEAR && (i = -(uintptr_t)d % 32) != 0)
        copy_32(d, s, ~(__mmask32)0); /* stores that cross cache lines cost more than loads that do */
#pragma GCC unroll 2
    for (; i + 128 <= bytes; i += 128)
        copy_128(d + i, s + i);
    if (i < bytes)
        copy_128(d + bytes - 128, s + bytes - 128);
}

/* A run of a list. Up to 128 bytes without a branch, since nobody can predict it where lengths are irregular.
 * `longest`: a constant. */
INLINE void copy_any(char *d, const char *s, int64_t bytes, int64_t longest)
{
    if (longest <= 16) {
        copy_16(d, s, (__mmask16)first(bytes));
    } else if (longest <= 32) {
        copy_32(d, s, (__mmask32)first(bytes));
    } else if (longest <= 64) {
        copy_64(d, s, first(bytes));
    } else if (bytes <= 128) {
        copy_64(d, s, first(bytes));
        copy_64(d + 64, s + 64, bytes > 64 ? first(bytes - 64) : 0);
    } else {
        copy_long(d, s, bytes);
    }
}

/* 64 bytes, where one access would cross a cache line more often than not. */
INLINE void copy_halves(char *d, const char *s)
{
    __m256i a = _mm256_loadu_si256((const __m256i *)s), b = _mm256_loadu_si256((const __m256i *)(s + 32));
    _mm256_storeu_si256((__m256i *)d, a);
    _mm256_storeu_si256((__m256i *)(d + 32), b);
}

/* The first lines of a block that is copied next.  The processor begins to read ahead too late by itself, which
 * matters for blocks of less than NEAR bytes. */
INLINE void ahead(const char *p, bool written)
{
#pragma GCC unroll 4
    for (int i = 0; i < AHEAD; i += 64)
        if (written)
            __builtin_prefetch(p + i, 1);
        else
            __builtin_prefetch(p + i, 0);
}

/* A constant size as a program would assign it, else by class. */
INLINE void copy(char *d, const char *s, int64_t bytes, int64_t longest)
{
    if (__builtin_constant_p(bytes) && bytes < 64)
        memcpy(d, s, (size_t)bytes);
    else if (__builtin_constant_p(bytes) && bytes == 64)
        copy_halves(d, s);
    else if (longest <= 64)
        copy_any(d, s, bytes, longest);
    else
        copy_long(d, s, bytes);
}

/* `n` blocks that are not short, one side of which is packed. */
INLINE void strided_long(char *d, int64_t ds, const char *s, int64_t ss, int64_t n, int64_t bytes)
{
    for (int64_t i = 0; i < n - 1; i++, d += ds, s += ss) {
        if (bytes < NEAR)
            ahead(ss == bytes ? d + ds : s + ss, ss == bytes);
        copy_long(d, s, bytes);
    }
    if (n > 0)
        copy_long(d, s, bytes);
}

INLINE void strided(char *d, int64_t ds, const char *s, int64_t ss, int64_t n, int64_t bytes, int64_t longest)
{
    int64_t i = 0;
    if (longest > 64 && bytes >= AHEAD && bytes < NEAR) {
        strided_long(d, ds, s, ss, n, bytes);
        return;
    }
    for (; i + 4 <= n; i += 4, d += 4 * ds, s += 4 * ss) {
        copy(d, s, bytes, longest);
        copy(d + ds, s + ss, bytes, longest);
        copy(d + 2 * ds, s + 2 * ss, bytes, longest);
        copy(d + 3 * ds, s + 3 * ss, bytes, longest);
    }
    for (; i < n; i++, d += ds, s += ss)
        copy(d, s, bytes, longest);
}

/* As many blocks of 8 bytes as are followed by FAR others, two to a store; returns how many. One in 8 is fetched
 * ahead: lists usually ascend by little, but not so evenly that the processor sees it. */
enum { FAR = 56 };
INLINE int64_t gather_8(char *d, const char *s, const int64_t *off, int64_t n)
{
    int64_t i = 0;
    for (; i + 8 + FAR <= n; i += 8, d += 64) {
        __builtin_prefetch(s + off[i + FAR]);
#pragma GCC unroll 4
        for (int k = 0; k < 8; k += 2) {
            __m128d low = _mm_castsi128_pd(_mm_loadl_epi64((const __m128i *)(s + off[i + k])));
            _mm_storeu_pd((double *)(d + k * 8), _mm_loadh_pd(low, (const double *)(s + off[i + k + 1])));
        }
    }
    return i;
}

INLINE void gather(char *d, const char *s, const int64_t *off, int64_t n, int64_t bytes, int64_t longest)
{
    int64_t i = 0;
    if (__builtin_constant_p(bytes) && bytes == 8) {
        i = gather_8(d, s, off, n);
        d += i * bytes;
    }
    for (; i + 4 <= n; i += 4, d += 4 * bytes) {
        copy(d, s + off[i], bytes, longest);
        copy(d + bytes, s + off[i + 1], bytes, longest);
        copy(d + 2 * bytes, s + off[i + 2], bytes, longest);
        copy(d + 3 * bytes, s + off[i + 3], bytes, longest);
    }
    for (; i < n; i++, d += bytes)
        copy(d, s + off[i], bytes, longest);
}

INLINE void scatter(char *d, const char *s, const int64_t *off, int64_t n, int64_t bytes, int64_t longest)
{
    int64_t i = 0;
    for (; i + 4 <= n; i += 4, s += 4 * bytes) {
        copy(d + off[i], s, bytes, longest);
        copy(d + off[i + 1], s + bytes, bytes, longest);
        copy(d + off[i + 2], s + 2 * bytes, bytes, longest);
        copy(d + off[i + 3], s + 3 * bytes, bytes, longest);
    }
    for (; i < n; i++, s += bytes)
        copy(d + off[i], s, bytes, longest);
}

/* One loop for each size that is frequent, one for the others up to 16, 32 and 64, one for longer blocks. */
#define BY_SIZE(BYTES, CALL) \
    switch (BYTES) { \
    case 1: \
        CALL(1, 64); \
        break; \
    case 2: \
        CALL(2, 64); \
        break; \
    case 4: \
        CALL(4, 64); \
        break; \
    case 8: \
        CALL(8, 64); \
        break; \
    case 12: \
        CALL(12, 64); \
        break; \
    case 16: \
        CALL(16, 64); \
        break; \
    case 24: \
        CALL(24, 64); \
        break; \
    case 32: \
        CALL(32, 64); \
        break; \
    case 48: \
        CALL(48, 64); \
        break; \
    case 64: \
        CALL(64, 64); \
        break; \
    case 128: \
        CALL(128, INT64_MAX); \
        break; \
    case 256: \
        CALL(256, INT64_MAX); \
        break; \
    default: \
        if ((BYTES) < 16) \
            CALL(BYTES, 16); \
        else if ((BYTES) < 32) \
            CALL(BYTES, 32); \
        else if ((BYTES) < 64) \
            CALL(BYTES, 64); \
        else \
            CALL(BYTES, INT64_MAX); \
    }

static AVX512 void strided_of(char *d, int64_t ds, const char *s, int64_t ss, int64_t n, int64_t bytes)
{
#define CALL(BYTES, LONGEST) strided(d, ds, s, ss, n, BYTES, LONGEST)
    BY_SIZE(bytes, CALL)
#undef CALL
}

static AVX512 void gather_of(char *d, const char *s, const int64_t *off, int64_t n, int64_t bytes)
{
#define CALL(BYTES, LONGEST) gather(d, s, off, n, BYTES, LONGEST)
    BY_SIZE(bytes, CALL)
#undef CALL
}

static AVX512 void scatter_of(char *d, const char *s, const int64_t *off, int64_t n, int64_t bytes){
#define CALL(BYTES, LONGEST) scatter(d, s, off, n, BYTES, LONGEST)
    BY_SIZE(bytes, CALL)
#undef CALL
}

INLINE void gather_any(char *d, const char *s, const int64_t *off, const int64_t *start, int64_t n,
                       int64_t longest)
{
    d -= start[0];
    for (int64_t i = 0; i < n; i++)
        copy_any(d + start[i], s + off[i], start[i + 1] - start[i], longest);
}

INLINE void scatter_any(char *d, const char *s, const int64_t *off, const int64_t *start, int64_t n,
                        int64_t longest)
{
    s -= start[0];
    for (int64_t i = 0; i < n; i++)
        copy_any(d + off[i], s + start[i], start[i + 1] - start[i], longest);
}

static AVX512 void gather_runs(char *d, const char *s, const int64_t *off, const int64_t *start, int64_t n,
                               int64_t longest)
{
    if (longest <= 16)
        gather_any(d, s, off, start, n, 16);
    else if (longest <= 32)
        gather_any(d, s, off, start, n, 32);
    else if (longest <= 64)
        gather_any(d, s, off, start, n, 64);
    else
        gather_any(d, s, off, start, n, INT64_MAX);
}

static AVX512 void scatter_runs(char *d, const char *s, const int64_t *off, const int64_t *start, int64_t n,
                                int64_t longest)
{
    if (longest <= 16)
        scatter_any(d, s, off, start, n, 16);
    else if (longest <= 32)
        scatter_any(d, s, off, start, n, 32);
    else if (longest <= 64)
        scatter_any(d, s, off, start, n, 64);
    else
        scatter_any(d, s, off, start, n, INT64_MAX);
}

/* ---- programs ---- */

/* The bytes of a window and where they go, in registers. */
struct window {
    __m512i pack, unpack;
    __mmask64 data, out;
};

INLINE struct window window_of(const struct MPID_PROGRAM *p, const struct MPID_STEP *t)
{
    const struct MPID_PLACES *places = &p->places[t->places];
    return (struct window){ _mm512_load_si512(places->pack), _mm512_load_si512(places->unpack), t->data,
                            t->out };
}

/* The data of a window to its packed bytes or back; `narrow`: at most 32 of these. */
INLINE void window(const struct window *w, char *packed, char *mem, bool packing, bool narrow)
{
    if (packing) {
        __m512i v = _mm512_permutexvar_epi8(w->pack, _mm512_maskz_loadu_epi8(w->data, mem));
        if (narrow)
            _mm256_mask_storeu_epi8(packed, (__mmask32)w->out, _mm512_castsi512_si256(v));
        else
            _mm512_mask_storeu_epi8(packed, w->out, v);
    } else {
        __m512i v = narrow ? _mm512_castsi256_si512(_mm256_maskz_loadu_epi8((__mmask32)w->out, packed))
                           : _mm512_maskz_loadu_epi8(w->out, packed);
        _mm512_mask_storeu_epi8(mem, w->data, _mm512_permutexvar_epi8(w->unpack, v));
    }
}

/* One window holds some iterations; what is left over of them is a window of fewer bytes. */
INLINE void windows(const struct MPID_PROGRAM *p, char *packed, char *mem, const int64_t *off, int64_t stride,
                    int64_t n, bool packing, bool narrow)
{
    struct window w = window_of(p, &p->step[0]);
    int64_t bytes = p->step[0].bytes, per = p->per;
    mem += p->step[0].mem;
    if (off) {
        for (int64_t i = 0; i < n; i++, packed += bytes)
            window(&w, packed, mem + off[i], packing, narrow);
        return;
    }
    for (int64_t step = per * stride; n >= per; n -= per, packed += bytes, mem += step)
        window(&w, packed, mem, packing, narrow);
    if (n) {
        bytes = n * p->bytes;
        w.data &= _mm512_cmplt_epu8_mask(w.unpack, _mm512_set1_epi8((char)bytes));
        w.out = first(bytes);
        window(&w, packed, mem, packing, narrow);
    }
}

/* A step of `n` repetitions, a constant: what kind it is has to be found out once.  mem[n]: where the next one
 * lies, or another. */
INLINE void step(const struct MPID_PROGRAM *p, const struct MPID_STEP *t, char *packed, char *const *mem,
                 int n, bool packing)
{
    int64_t bytes = p->bytes, at = t->mem;
#define EACH(COPY) \
    _Pragma("GCC unroll 4") for (int i = 0; i < n; i++) \
    { \
        char *d = packing ? packed + i * bytes : mem[i] + at, \
             *s = packing ? mem[i] + at : packed + i * bytes; \
        COPY; \
    }
    switch (t->kind) {
    case MPID_STEP_16:
        EACH(copy_16(d, s, (__mmask16)t->out))
        break;
    case MPID_STEP_32:
        EACH(copy_32(d, s, (__mmask32)t->out))
        break;
    case MPID_STEP_64:
        EACH(copy_64(d, s, t->out))
        break;
    case MPID_STEP_EXACT_4:
        EACH(copy(d, s, 4, 64))
        break;
    case MPID_STEP_EXACT_8:
        EACH(copy(d, s, 8, 64))
        break;
    case MPID_STEP_EXACT_16:
        EACH(copy(d, s, 16, 64))
        break;
    case MPID_STEP_EXACT_32:
        EACH(copy(d, s, 32, 64))
        break;
    case MPID_STEP_EXACT_64:
        EACH(copy_halves(d, s))
        break;
    case MPID_STEP_EXACT_256:
        EACH(ahead(mem[i + 1] + at, !packing); copy(d, s, 256, INT64_MAX))
        break;
    case MPID_STEP_LONG:
        EACH(if (t->bytes >= AHEAD && t->bytes < NEAR) ahead(mem[i + 1] + at, !packing);
             copy_long(d, s, t->bytes))
        break;
    case MPID_STEP_WINDOW: {
        struct window w = window_of(p, t);
#pragma GCC unroll 4
        for (int i = 0; i < n; i++)
            window(&w, packed + i * bytes, mem[i] + at, packing, false);
        break;
    }
    }
#undef EACH
}

INLINE void steps(const struct MPID_PROGRAM *p, char *packed, char *const *mem, int n, bool packing)
{
    const struct MPID_STEP *end = p->step + p->nsteps;
    for (const struct MPID_STEP *t = p->step; t < end; packed += t->bytes, t++)
        step(p, t, packed, mem, n, packing);
}

/* All `nsteps` steps, a constant, are blocks of `bytes`, another: where they lie stays in registers. */
INLINE void known_steps(const struct MPID_PROGRAM *p, char *packed, char *mem, const int64_t *off,
                        int64_t stride, int64_t n, bool packing, int64_t bytes, int nsteps)
{
    int64_t where[10];
#pragma GCC unroll 10
    for (int k = 0; k < nsteps; k++)
        where[k] = p->step[k].mem;
    for (int64_t i = 0; i < n; i++, packed += nsteps * bytes) {
        char *at = off ? mem + off[i] : mem + i * stride;
        char *next = i + 1 == n ? at : off ? mem + off[i + 1] : at + stride;
#pragma GCC unroll 10
        for (int k = 0; k < nsteps; k++) {
            if (bytes >= AHEAD && bytes < NEAR)
                ahead(k + 1 < nsteps ? at + where[k + 1] : next + where[0], !packing);
            copy(packing ? packed + k * bytes : at + where[k], packing ? at + where[k] : packed + k * bytes,
                 bytes, bytes > 64 ? INT64_MAX : 64);
        }
    }
}

/* All steps are blocks of `bytes`. */
INLINE void equal_steps(const struct MPID_PROGRAM *p, char *packed, char *mem, const int64_t *off,
                        int64_t stride, int64_t n, bool packing, int64_t bytes, int64_t longest)
{
    const struct MPID_STEP *end = p->step + p->nsteps;
#define KNOWN(STEPS) \
    case STEPS: \
        known_steps(p, packed, mem, off, stride, n, packing, bytes, STEPS); \
        return;
    if (__builtin_constant_p(bytes) && bytes >= 16)
        switch (p->nsteps) {
            KNOWN(2)
            KNOWN(3)
            KNOWN(4)
            KNOWN(5)
            KNOWN(6)
            KNOWN(8)
            KNOWN(10)
        }
#undef KNOWN
    for (int64_t i = 0; i < n; i++) {
        char *at = off ? mem + off[i] : mem + i * stride;
        char *next = i + 1 == n ? at : off ? mem + off[i + 1] : at + stride;
        for (const struct MPID_STEP *t = p->step; t < end; packed += bytes, t++) {
            if (longest > 64 && bytes >= AHEAD && bytes < NEAR)
                ahead(t + 1 < end ? at + t[1].mem : next + p->step[0].mem, !packing);
            copy(packing ? packed : at + t->mem, packing ? at + t->mem : packed, bytes, longest);
        }
    }
}

enum { TOGETHER = 4, TOGETHER_MAX = 512 }; /* repetitions of at most so many bytes are done 4 at a time */

INLINE char *repetition(char *mem, const int64_t *off, int64_t stride, int64_t i)
{
    return off ? mem + off[i] : mem + i * stride;
}

INLINE void run(const struct MPID_PROGRAM *p, char *packed, char *mem, const int64_t *off, int64_t stride,
                int64_t n, bool packing)
{
    if (p->nsteps == 1 && p->step[0].kind == MPID_STEP_WINDOW) {
        if (p->step[0].bytes <= 32)
            windows(p, packed, mem, off, stride, n, packing, true);
        else
            windows(p, packed, mem, off, stride, n, packing, false);
        return;
    }
    if (p->block) {
#define CALL(BYTES, LONGEST) equal_steps(p, packed, mem, off, stride, n, packing, BYTES, LONGEST)
        BY_SIZE(p->block, CALL)
#undef CALL
        return;
    }
    int64_t i = 0;
    char *at[TOGETHER + 1]; /* and of the next repetition */
    for (; i + TOGETHER <= n && p->bytes <= TOGETHER_MAX; i += TOGETHER, packed += TOGETHER * p->bytes) {
#pragma GCC unroll 4
        for (int k = 0; k < TOGETHER; k++)
            at[k] = repetition(mem, off, stride, i + k);
        at[TOGETHER] = repetition(mem, off, stride, i + TOGETHER < n ? i + TOGETHER : i);
        steps(p, packed, at, TOGETHER, packing);
    }
    for (; i < n; i++, packed += p->bytes) {
        at[0] = repetition(mem, off, stride, i);
        at[1] = repetition(mem, off, stride, i + 1 < n ? i + 1 : i);
        steps(p, packed, at, 1, packing);
    }
}

static AVX512 void pack(const struct MPID_PROGRAM *p, char *packed, const char *mem, const int64_t *off,
                        int64_t stride, int64_t n)
{
    run(p, packed, (char *)mem, off, stride, n, true);
}

static AVX512 void unpack(const struct MPID_PROGRAM *p, char *mem, const char *packed, const int64_t *off,
                          int64_t stride, int64_t n)
{
    run(p, (char *)packed, mem, off, stride, n, false);
}

static const struct MPID_KERNELS kernels = { strided_of,   gather_of, scatter_of, gather_runs,
                                             scatter_runs, pack,      unpack };

const struct MPID_KERNELS *MPID_Kernels_avx512(void)
{
    bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
               __builtin_cpu_supports("bmi2");
    return has ? &kernels : NULL;
}

#else

const struct MPID_KERNELS *MPID_Kernels_avx512(void)
{
    return NULL;
}

#endif
