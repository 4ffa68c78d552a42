/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5 */
/* env: KEEL_LONG_MESSAGES=2 */
/* timeout: 120 */
/* The receiver copies them all, or its device gets them (mpi/rma/by-device.test: TEST_COUNTED says which count
 * tells that it has). */
#define COUNTED
#include "long.c"
