/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* env: KEEL_LONG_MESSAGES=1 */
/* They all come in packets. */
#include "start.c"
