/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 5 */
/* args: 12 3 0 */
#include "stress.h"
