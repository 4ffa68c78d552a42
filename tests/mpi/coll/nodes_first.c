/* SPDX-License-Identifier: BSD-3-Clause */
/* First calls that are nonblocking, over several nodes. */
/* ranks: 3 4 5 8 13 */
/* mpiexec: -fake-nodes 3 */
/* nodes: one, because it has simulated ones of its own */
/* env: KEEL_SPIN_US=5 */
#include "first.h"
