/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.c: the loops for any processor. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3,fp-contract=off") /* gcc 12 vectorises loops of unknown length only at -O3 */
#endif
#define KERNELS MPID_Op_kernels_plain
#include "kernels.inc"
