/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 16 */
/* part: long */
/* timeout: 300 */
#include "atomic.c"
