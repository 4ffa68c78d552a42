/* SPDX-License-Identifier: BSD-3-Clause */
/* cpus.h: how many cores this process may really use. */
#ifndef KU_CPUS_H
#define KU_CPUS_H

#include <stdint.h>

/* Cores by affinity mask and by the cgroup's cpu quota (v1 and v2, all levels), rounded up; at least 1. Never
 * fails: what cannot be read does not limit. */
uint32_t ku_cpus(void);

/* The same with other roots, for tests: `proc_cgroup` like /proc/self/cgroup, `sysfs` like /sys/fs/cgroup. */
uint32_t ku_cpus_quota(const char *proc_cgroup, const char *sysfs, uint32_t limit);

/* Where should process `me` of n go, so that they are spread over the cpus it may use: from one that has two more
 * of them than another; the last of those there goes.  cpu[i]: where process i was seen; -1: unknown.  Returns a
 * cpu, or -1: it stays. */
int32_t ku_cpus_spread(const int32_t cpu[], int32_t n, int32_t me);
/* Move the calling thread to a cpu, and leave it free to be moved again. */
void ku_cpus_move(int32_t cpu);

#endif
