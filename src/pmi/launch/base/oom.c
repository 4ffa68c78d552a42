/* SPDX-License-Identifier: BSD-3-Clause */
/* oom.c: the kernel's counters of processes it has killed for lack of memory: of our control group, v1 or v2,
 * which tells whose processes they were, and of the whole machine, which does not. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "util.h"
#include "oom.h"

static char group[PATH_MAX];        /* its folder; "": its counter cannot be read */
static const char *counter, *limit; /* files there */
static const char *machine;         /* in words */
static long long group_told, machine_told;

/* The number after `key` in a file; -1 if it is not there. */
static long long number_in(const char *path, const char *key)
{
    char text[16384];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, text + 1, sizeof text - 2);
    close(fd);
    text[0] = '\n';
    text[n > 0 ? n + 1 : 1] = '\0';
    char *p = strstr(text, key);
    return p ? atoll(p + strlen(key)) : -1;
}

static long long group_kills(void)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", group, counter);
    return *group ? number_in(path, "\noom_kill ") : -1;
}

static long long machine_kills(void)
{
    return number_in("/proc/vmstat", "\noom_kill ");
}

/* Take <base><path> for our group if it counts; in a container <base> itself may be the group, and the path
 * another's. */
static bool try_group(const char *base, const char *path, const char *count, const char *most)
{
    counter = count;
    limit = most;
    for (int i = 0; i < 2; i++) {
        snprintf(group, sizeof group, "%s%s", base, i == 0 && strcmp(path, "/") ? path : "");
        if (group_kills() >= 0)
            return true;
    }
    *group = '\0';
    return false;
}

static void find_group(void)
{
    char line[PATH_MAX];
    bool found = false;
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        char *kind = strchr(line, ':'), *path = kind ? strchr(kind + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        if (strcmp(kind, ":memory") == 0)
            found = try_group("/sys/fs/cgroup/memory", path, "memory.oom_control", "memory.limit_in_bytes");
        else if (strcmp(kind, ":") == 0)
            found = try_group("/sys/fs/cgroup", path, "memory.events", "memory.max");
    }
    if (f)
        fclose(f);
}

void oom_init(const char *where)
{
    machine = where;
    find_group();
    group_told = group_kills();
    machine_told = machine_kills();
}

static char *sure_words(void)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", group, limit);
    long long bytes = number_in(path, "\n");
    bool limited = bytes > 0 && bytes < 1ll << 60; /* v1 writes no limit as almost 2^63, v2 as "max" */
    char *most = limited ? xformat("the %lld MB that the control group %s allows", bytes >> 20, group)
                         : xformat("%s", "there is");
    char *text =
        xformat("the kernel's out-of-memory killer did that: the ranks need more memory than %s", most);
    free(most);
    return text;
}

char *oom_words(int status)
{
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        return NULL;
    bool sure = group_told >= 0 && group_kills() > group_told;
    bool perhaps = !sure && machine_told >= 0 && machine_kills() > machine_told;
    group_told += sure;
    machine_told += sure || perhaps;
    if (sure)
        return sure_words();
    return perhaps
               ? xformat(
                     "the kernel's out-of-memory killer was at work on this machine meanwhile, perhaps here: "
                     "the ranks may need more memory than there is")
               : NULL;
}
