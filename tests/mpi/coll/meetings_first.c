/* SPDX-License-Identifier: BSD-3-Clause */
/* First calls that are nonblocking, within a node. */
/* ranks: 1 2 3 4 5 8 */
/* env: KEEL_SPIN_US=5 */
#include "first.h"
