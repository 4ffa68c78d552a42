/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel_avx512.c: the loops for processors with AVX-512. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "basic.h"
#ifdef __x86_64__
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), \
                             apply_to = function)
#elif defined(__GNUC__)
#pragma GCC optimize("O3,fp-contract=off")
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#endif
#define KERNELS_WIDE
#define KERNELS MPID_Op_kernels_avx512
#include "kernels.inc"
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
