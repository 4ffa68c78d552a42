/* SPDX-License-Identifier: BSD-3-Clause */
/* location.c: where this process runs.  What the launcher knows it has left in the node's segment (ku_seg_place);
 * the rest, or all of it if the launcher had no reason to look, is in the kernel's files about the few cpus that
 * this process may use. */
#define _GNU_SOURCE /* cpu_set_t */
#include "location.h"
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
#include "mpid.h"
#include "util/segment.h"

const char *const MPIR_Resource_name[MPIR_RESOURCES] = {
    [MPIR_RESOURCE_MACHINE] = "hwloc://Machine", [MPIR_RESOURCE_PACKAGE] = "hwloc://Package",
    [MPIR_RESOURCE_NUMA] = "hwloc://NUMANode",   [MPIR_RESOURCE_L3] = "hwloc://L3Cache",
    [MPIR_RESOURCE_CORE] = "hwloc://Core",       [MPIR_RESOURCE_PU] = "hwloc://PU",
};

static int32_t first_number(const char *path)
{
    FILE *f = fopen(path, "re");
    int n;
    if (!f)
        return MPIR_PLACE_UNKNOWN;
    if (fscanf(f, "%d", &n) != 1 || n < 0)
        n = MPIR_PLACE_UNKNOWN;
    fclose(f);
    return n;
}

/* The cache of level 3 is named by the first cpu that shares it. */
static int32_t l3_of(int cpu)
{
    char path[96];
    for (int i = 0; i < 8; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/level", cpu, i);
        int32_t level = first_number(path);
        if (level == MPIR_PLACE_UNKNOWN)
            break;
        if (level != 3)
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, i);
        return first_number(path);
    }
    return MPIR_PLACE_UNKNOWN;
}

static int32_t numa_of(int cpu)
{
    char path[96];
    for (int n = 0; n < 1024; n++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/node%d", cpu, n);
        if (access(path, F_OK) == 0)
            return n;
    }
    return MPIR_PLACE_UNKNOWN;
}

static int32_t kernel_says(enum MPIR_RESOURCE kind, int cpu)
{
    char path[96];
    const char *file = kind == MPIR_RESOURCE_PACKAGE ? "physical_package_id" : "thread_siblings_list";
    switch (kind) {
    case MPIR_RESOURCE_L3:
        return l3_of(cpu);
    case MPIR_RESOURCE_NUMA:
        return numa_of(cpu);
    default:
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, file);
        return first_number(path);
    }
}

static bool has_cpu(const struct ku_seg_place *p, const cpu_set_t *mine, int cpu)
{
    if (p->flags & KU_PLACE_KNOWN)
        return p->set[cpu / 64] >> cpu % 64 & 1;
    return CPU_ISSET((size_t)cpu, mine);
}

/* The instance that all cpus have in common. */
static int32_t ask_kernel(enum MPIR_RESOURCE kind, const struct ku_seg_place *p, const cpu_set_t *mine)
{
    int32_t found = MPIR_PLACE_UNKNOWN;
    for (int cpu = 0; cpu < KU_PLACE_CPUS && cpu < CPU_SETSIZE; cpu++) {
        if (!has_cpu(p, mine, cpu))
            continue;
        int32_t at = kind == MPIR_RESOURCE_PU ? cpu : kernel_says(kind, cpu);
        if (at < 0)
            return MPIR_PLACE_UNKNOWN;
        if (found >= 0 && at != found)
            return MPIR_PLACE_SEVERAL;
        found = at;
    }
    return found;
}

static int32_t location_told(uint16_t number)
{
    return number == KU_PLACE_SEVERAL   ? MPIR_PLACE_SEVERAL
           : number == KU_PLACE_UNKNOWN ? MPIR_PLACE_UNKNOWN
                                        : number;
}

void MPIR_Place_get(int32_t at[MPIR_RESOURCES])
{
    const struct ku_seg_place *p = MPID_World()->place;
    cpu_set_t mine;
    CPU_ZERO(&mine);
    for (int i = 0; i < MPIR_RESOURCES; i++)
        at[i] = MPIR_PLACE_UNKNOWN;
    if (p->flags & KU_PLACE_KNOWN) {
        at[MPIR_RESOURCE_PACKAGE] = location_told(p->package);
        at[MPIR_RESOURCE_NUMA] = location_told(p->numa);
        at[MPIR_RESOURCE_L3] = location_told(p->l3);
        at[MPIR_RESOURCE_CORE] = location_told(p->core);
    } else if (sched_getaffinity(0, sizeof mine, &mine) != 0) {
        CPU_ZERO(&mine); /* then nothing is known */
    }
    at[MPIR_RESOURCE_MACHINE] = 0;
    for (int i = MPIR_RESOURCE_MACHINE + 1; i < MPIR_RESOURCES; i++)
        if (at[i] == MPIR_PLACE_UNKNOWN)
            at[i] = ask_kernel((enum MPIR_RESOURCE)i, p, &mine);
}
