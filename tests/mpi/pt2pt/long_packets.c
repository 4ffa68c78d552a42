/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5 */
/* env: KEEL_SHMEM_CMA=0 */
/* timeout: 120 */
/* Long messages in packets only. */
#include "long.c"
