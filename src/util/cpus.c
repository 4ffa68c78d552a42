/* SPDX-License-Identifier: BSD-3-Clause */
/* cpus.c: affinity and cgroup quota. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cpus.h"

/* The whole of a small file as a string; false if it cannot be read. */
static bool slurp(const char *path, char *buf, size_t bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, buf, bytes - 1);
    close(fd);
    buf[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static uint32_t affinity(void)
{
    for (size_t cpus = 1024; cpus <= 1 << 20;
         cpus *= 4) { /* the kernel's mask may be longer than a cpu_set_t */
        cpu_set_t *set = CPU_ALLOC(cpus);
        if (!set)
            break;
        size_t bytes = CPU_ALLOC_SIZE(cpus);
        int n = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (n > 0)
            return (uint32_t)n;
    }
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint32_t)n : 1;
}

static uint32_t limit_by(long long quota, long long period, uint32_t limit)
{
    if (quota <= 0 || period <= 0)
        return limit;
    long long n = (quota + period - 1) / period;
    return n < limit ? (uint32_t)n : limit;
}

static uint32_t quota_v2(const char *dir, uint32_t limit)
{
    char path[PATH_MAX], text[64];
    long long quota, period;
    snprintf(path, sizeof path, "%s/cpu.max", dir);
    if (slurp(path, text, sizeof text) && sscanf(text, "%lld %lld", &quota, &period) == 2)
        return limit_by(quota, period, limit); /* "max 100000" is not a number: no limit */
    return limit;
}

static uint32_t quota_v1(const char *dir, uint32_t limit)
{
    char path[PATH_MAX], quota[32], period[32];
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", dir);
    if (!slurp(path, quota, sizeof quota))
        return limit;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", dir);
    if (!slurp(path, period, sizeof period))
        return limit;
    return limit_by(atoll(quota), atoll(period), limit);
}

/* Apply `quota` to <base><group> and to each directory above it down to <base> itself. */
static uint32_t climb(const char *base, const char *group, uint32_t (*quota)(const char *, uint32_t),
                      uint32_t limit)
{
    char dir[PATH_MAX / 2];
    if (snprintf(dir, sizeof dir, "%s%s", base, group) >= (int)sizeof dir)
        return limit;
    size_t floor = strlen(base);
    while (strlen(dir) > floor) {
        limit = quota(dir, limit);
        *strrchr(dir, '/') = '\0';
    }
    return quota(dir, limit);
}

/* Does the comma-separated list hold `name`? */
static bool lists(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (strncmp(p, name, n) == 0 && (p[n] == ',' || p[n] == '\0'))
            return true;
    return false;
}

uint32_t ku_cpus_quota(const char *proc_cgroup, const char *sysfs, uint32_t limit)
{
    char text[4096], base[PATH_MAX / 4], *save = NULL;
    if (!slurp(proc_cgroup, text, sizeof text))
        return limit;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        controllers++;
        if (*controllers == '\0') {
            snprintf(base, sizeof base, "%s", sysfs);
            limit = climb(base, strcmp(group, "/") ? group : "", quota_v2, limit);
        } else if (lists(controllers, "cpu")) {
            snprintf(base, sizeof base, "%s/%s", sysfs, controllers);
            limit = climb(base, strcmp(group, "/") ? group : "", quota_v1, limit);
        }
    }
    return limit > 0 ? limit : 1;
}

uint32_t ku_cpus(void)
{
    return ku_cpus_quota("/proc/self/cgroup", "/sys/fs/cgroup", affinity());
}

int32_t ku_cpus_spread(const int32_t cpu[], int32_t n, int32_t me)
{
    uint32_t on[CPU_SETSIZE] = { 0 };
    int32_t here = cpu[me], best = here;
    cpu_set_t may;
    for (int32_t i = 0; i < n; i++) {
        if (cpu[i] < 0 || cpu[i] >= CPU_SETSIZE || (i > me && cpu[i] == here))
            return -1;
        on[cpu[i]]++;
    }
    if (on[here] < 2 || sched_getaffinity(0, sizeof may, &may) != 0)
        return -1;
    for (int32_t c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, &may) && on[c] < on[best])
            best = c;
    return on[best] + 2 <= on[here] ? best : -1;
}

void ku_cpus_move(int32_t cpu)
{
    cpu_set_t may, one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_getaffinity(0, sizeof may, &may) == 0 && sched_setaffinity(0, sizeof one, &one) == 0)
        sched_setaffinity(0, sizeof may, &may);
}
