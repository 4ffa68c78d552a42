/* SPDX-License-Identifier: BSD-3-Clause */
/* Vector collectives of some ranks with few blocks that are not empty. */
/* ranks: 5 17 */
#include "mostly_zero.h"
