/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5 */
/* timeout: 120 */
/* Long messages where the kernel lets nobody read another process's memory: as in long.c, and not a word about it. */
#define REFUSED SYS_process_vm_readv
#include "long.c"
