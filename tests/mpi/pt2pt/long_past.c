/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5 */
/* env: KEEL_SHMEM_CMA=0 */
/* env: KEEL_PAST_CACHE=65536 */
/* timeout: 120 */
/* Long messages in packets, which are written past the caches. */
#include "long.c"
