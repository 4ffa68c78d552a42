/* SPDX-License-Identifier: BSD-3-Clause */
/* The same where the kernel lets every second rank read nobody's memory: none does, and not a word about it. */
/* ranks: 1 2 3 5 */
/* timeout: 120 */
#define REFUSED
#include "ways.c"
