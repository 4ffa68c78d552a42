/* SPDX-License-Identifier: BSD-3-Clause */
/* meetings_death.c at a team whose members share cores, which meet at a counter. */
/* ranks: 2 4 8 */
/* env: KEEL_SPIN_US=0 */
/* exit: 3 */
/* stderr: (?s)\A(?!.*told 0).*told 1.*\Z */
#include "meetings_death.c"
