/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on intercommunicators, with the algorithms that the costs choose. */
/* ranks: 2 3 4 5 8 16 */
#include "inters.h"
