/* SPDX-License-Identifier: BSD-3-Clause */
/* The same as growth.c, in a job of 1,024 ranks. */
/* ranks: 1024 */
/* part: long */
/* timeout: 120 */
#include "growth.c"
