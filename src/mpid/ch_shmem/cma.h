/* cma.h: reading another process's memory in one copy, where the kernel allows it. */
#ifndef SHMEM_CMA_H
#define SHMEM_CMA_H

#include <stddef.h>
#include <stdint.h>
#include "device.h"

/* Let processes of the same user read this one's memory where a security module would ask for it. */
void dev_shmem_cma_allow(void);

/* DEV_OK, DEV_NO_SUPPORT (not allowed, not there), DEV_PEER_GONE, DEV_ERROR (bad address). */
dev_status dev_shmem_cma_read(int32_t pid, void *local, uint64_t remote, size_t len);

#endif
