/* SPDX-License-Identifier: BSD-3-Clause */
/* The same while the others read its memory. */
/* ranks: 2 3 8 */
/* env: KEEL_COLL=allreduce=read */
/* nodes: one, because reading is of one node; without it an operation is called another number of times */
/* exit: 3 */
/* stderr: (?s)\A(?!.*told 0).*told 1.*\Z */
#include "steps_flight_death.c"
