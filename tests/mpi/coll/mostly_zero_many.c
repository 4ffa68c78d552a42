/* SPDX-License-Identifier: BSD-3-Clause */
/* Vector collectives of 1,000 ranks with few blocks that are not empty. */
/* ranks: 1000 */
/* part: long */
/* timeout: 120 */
#include "mostly_zero.h"
