/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* env: KEEL_LONG_MESSAGES=3 */
/* Both copy those of 192 KB and more, the receiver others. */
#include "start.c"
