/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* env: KEEL_LONG_MESSAGES=2 */
/* The receiver copies them all: the first bytes come in vain. */
#include "start.c"
