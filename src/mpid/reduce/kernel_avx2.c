/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel_avx2.c: the loops for processors with AVX2. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "basic.h"
#ifdef __x86_64__
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC optimize("O3,fp-contract=off")
#pragma GCC target("avx2")
#endif
#define KERNELS_WIDE
#define KERNELS MPID_Op_kernels_avx2
#include "kernels.inc"
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
