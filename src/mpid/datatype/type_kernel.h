/* SPDX-License-Identifier: BSD-3-Clause */
/* type_kernel.h: the loops that copy many small blocks; a set of them for each kind of processor, chosen when
 * first used.
 *
 * Nothing reads or writes a byte of user memory that is not data, not even for a moment: what lies in the gaps may
 * belong to another thread or process, or to nobody. */
#ifndef MPID_KERNEL_H
#define MPID_KERNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct MPID_PROGRAM;

struct MPID_KERNELS {
    /* n blocks of `bytes`, ds and ss bytes from one to the next; nothing overlaps. */
    void (*strided)(char *dst, int64_t ds, const char *src, int64_t ss, int64_t n, int64_t bytes);

    /* n blocks of `bytes` at src + off[i] to consecutive places, and back. */
    void (*gather)(char *dst, const char *src, const int64_t *off, int64_t n, int64_t bytes);
    void (*scatter)(char *dst, const char *src, const int64_t *off, int64_t n, int64_t bytes);

    /* n runs at src + off[i] of start[i + 1] - start[i] bytes, at most `longest`, to consecutive places, and back. */
    void (*gather_runs)(char *dst, const char *src, const int64_t *off, const int64_t *start, int64_t n,
                        int64_t longest);
    void (*scatter_runs)(char *dst, const char *src, const int64_t *off, const int64_t *start, int64_t n,
                         int64_t longest);

    /* A program (program.h) n times, at mem + off[i], or `stride` apart if off is NULL.  NULL: programs are not
     * for this processor. */
    void (*pack)(const struct MPID_PROGRAM *p, char *packed, const char *mem, const int64_t *off,
                 int64_t stride, int64_t n);
    void (*unpack)(const struct MPID_PROGRAM *p, char *mem, const char *packed, const int64_t *off,
                   int64_t stride, int64_t n);
};

extern _Atomic(const struct MPID_KERNELS *) MPID_Kernels_chosen; /* NULL: not yet */
const struct MPID_KERNELS *MPID_Kernels_choose(void);

static inline const struct MPID_KERNELS *MPID_Kernels(void)
{
    const struct MPID_KERNELS *k = atomic_load_explicit(&MPID_Kernels_chosen, memory_order_relaxed);
    return k ? k : MPID_Kernels_choose();
}

/* The plain ones if `plain`, else the best again; returns false if these are the same. */
bool MPID_Kernels_use(bool plain);

extern const struct MPID_KERNELS MPID_Kernels_plain;

/* NULL if this processor has no AVX-512 with byte permutations. */
const struct MPID_KERNELS *MPID_Kernels_avx512(void);

#endif
