/* ranks: 2 3 5 */
/* env: KEEL_LONG_MESSAGES=2 */
/* timeout: 120 */
/* The receiver copies them all, or its device gets them (mpi/rma/by-device.test: with TEST_FETCHED=1 it must have). */
#define COUNTED
#include "long.c"
