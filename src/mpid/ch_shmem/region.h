/* SPDX-License-Identifier: BSD-3-Clause */
/* region.h: memory that peers put to and get from (region.c), and what it needs of the device. */
#ifndef SHMEM_REGION_H
#define SHMEM_REGION_H

#include <stdbool.h>
#include "device.h"
#include "util/segment.h"

extern const struct dev_mem_ops dev_shmem_mem;

/* shmem.c */
bool dev_shmem_offer(
    struct dev *d); /* peers may read and write this process's memory from now on; false: not so */
const struct ku_segment *dev_shmem_segment(const struct dev *d);
const struct dev *dev_shmem_of(const struct dev_peer *p);
bool dev_shmem_gone(const struct dev_peer *p);
dev_status dev_shmem_copy_from(struct dev_peer *p, void *local, uint64_t remote, size_t len);
dev_status dev_shmem_copy_to(struct dev_peer *p, uint64_t remote, const void *local, size_t len);

#endif
