/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h: the tests of dev_mem_ops, for the table of suite.c. */
#ifndef DEVICE_MEMORY_H
#define DEVICE_MEMORY_H

#include "ranks.h"

void memory_puts_and_gets(struct rank *r);
void memory_updates(struct rank *r);
void memory_refuses(struct rank *r);
void memory_is_shared(struct rank *r);
void memory_among_packets(struct rank *r);
void memory_of_the_dead(struct rank *r);

#endif
