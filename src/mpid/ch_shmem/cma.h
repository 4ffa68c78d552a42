/* SPDX-License-Identifier: BSD-3-Clause */
/* cma.h: reading another process's memory in one copy, where the kernel allows it. */
#ifndef SHMEM_CMA_H
#define SHMEM_CMA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "device.h"
#include "util/segment.h"

/* In a rank's area: how another rank finds out that reading works, and reaches this process and no other. */
struct shm_cookie {
    _Atomic uint64_t at;    /* where it lies in the rank's own memory; 0: it has not offered anything */
    _Atomic uint64_t value; /* what is there */
};

/* Show the others a cookie: `own` keeps it, in this process's memory, as long as the device is open. */
void dev_shmem_cma_offer(struct shm_cookie *cookie, uint64_t *own, uint64_t value);

/* Can the memory of process pid, whose cookie that is, be read? */
bool dev_shmem_cma_proven(const struct shm_cookie *cookie, int32_t pid);

/* Let processes of the same user read this one's memory where a security module would ask for it. */
void dev_shmem_cma_allow(void);

/* DEV_OK, DEV_NO_SUPPORT (not allowed, not there), DEV_PEER_GONE, DEV_ERROR (bad address). */
dev_status dev_shmem_cma_read(int32_t pid, void *local, uint64_t remote, size_t len);
dev_status dev_shmem_cma_write(int32_t pid, uint64_t remote, const void *local, size_t len);

#endif
