/* SPDX-License-Identifier: BSD-3-Clause */
/* The same on four nodes, also of different sizes. */
/* ranks: 8 9 16 18 24 */
/* mpiexec: -fake-nodes 4 */
/* nodes: one, because it asks for several itself */
#include "reorder.c"
