/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5 */
/* env: KEEL_LONG_MESSAGES=3 */
/* timeout: 120 */
/* Long messages that sender and receiver copy at once. */
#include "long.c"
