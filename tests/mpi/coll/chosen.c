/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective with the algorithms that the costs choose. */
/* ranks: 1 2 3 4 5 8 16 */
#include "forced.h"
