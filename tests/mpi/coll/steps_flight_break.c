/* SPDX-License-Identifier: BSD-3-Clause */
/* Large nonblocking collectives with counts that differ, among small ones: who depends on one is told, and the
 * others are right. */
/* ranks: 2 3 4 8 */
#define SCALE 5000
#include "meetings_break.c"
