/* SPDX-License-Identifier: BSD-3-Clause */
/* fault.h: stores to a mapping of a file that may become shorter meanwhile. */
#ifndef IO_FAULT_H
#define IO_FAULT_H

#include <stdbool.h>
#include <stddef.h>

/* fn(arg), which accesses the mapping at map.  False: a page of it was not there, and fn was left at that.
 * Several threads may do so at the same time. */
bool MPIR_Io_guard(void (*fn)(void *arg), void *arg, void *map, size_t len);

#endif
