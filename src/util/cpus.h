/* cpus.h: how many cores this process may really use. */
#ifndef KU_CPUS_H
#define KU_CPUS_H

#include <stdint.h>

/* Cores by affinity mask and by the cgroup's cpu quota (v1 and v2, all levels), rounded up; at least 1. Never
 * fails: what cannot be read does not limit. */
uint32_t ku_cpus(void);

/* The same with other roots, for tests: `proc_cgroup` like /proc/self/cgroup, `sysfs` like /sys/fs/cgroup. */
uint32_t ku_cpus_quota(const char *proc_cgroup, const char *sysfs, uint32_t limit);

#endif
