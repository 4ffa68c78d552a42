/* SPDX-License-Identifier: BSD-3-Clause */
/* meetings.c at a team whose members share cores, which meet at a counter (two use messages). */
/* ranks: 1 3 5 8 */
/* env: KEEL_SPIN_US=0 */
#include "meetings.c"
