/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on intercommunicators: blocks that go round the groups. */
/* ranks: 2 3 5 8 13 */
/* env: KEEL_COLL=inter_allgather=rings,inter_allgatherv=rings */
#include "inters.h"
