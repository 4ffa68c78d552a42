/* SPDX-License-Identifier: BSD-3-Clause */
/* The same as idle.c over sockets, where ranks sleep in poll. */
/* ranks: 9 */
/* timeout: 120 */
/* beside: waits */
/* env: KEEL_DEVICES=self,tcp */
#include "idle.c"
