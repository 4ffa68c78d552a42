/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5 */
/* env: KEEL_LONG_MESSAGES=3 */
/* timeout: 120 */
/* The same where the kernel lets nobody write another process's memory, but read it: the receivers finish alone. */
#define REFUSED SYS_process_vm_writev
#include "long.c"
