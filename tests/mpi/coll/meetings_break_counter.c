/* SPDX-License-Identifier: BSD-3-Clause */
/* meetings_break.c at a team whose members share cores, which meet at a counter. */
/* ranks: 2 3 8 */
/* env: KEEL_SPIN_US=0 */
#include "meetings_break.c"
