/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.c: the two readers, and lists of cpus. */
#include "config.h"
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pmi/launch/base/util.h"
#include "topology.h"
#if HAVE_HWLOC
#include <dlfcn.h>
#include <hwloc.h>
#endif

const char *const level_name[LEVELS] = { "hwthread",  "core",    "L2 cache", "L3 cache",
                                         "NUMA node", "package", "machine" };

/* ---- lists of cpus ---- */

bool cpulist_read(const char *text, const char *ends, cpu_set_t *set)
{
    CPU_ZERO(set);
    do {
        char *end;
        if (*text < '0' || *text > '9')
            return false;
        long first = strtol(text, &end, 10), last = first;
        if (*end == '-') {
            text = end + 1;
            if (*text < '0' || *text > '9')
                return false;
            last = strtol(text, &end, 10);
        }
        if (last < first || last >= CPU_SETSIZE)
            return false;
        for (long c = first; c <= last; c++)
            CPU_SET((size_t)c, set);
        text = end + (*end == ',');
        if (*end != ',' && *end && !strchr(ends, *end))
            return false;
    } while (*text && !strchr(ends, *text));
    return true;
}

char *cpulist_write(const cpu_set_t *set, char *text, size_t cap)
{
    size_t n = 0;
    text[0] = '\0';
    for (size_t c = 0; c < CPU_SETSIZE; c++) {
        size_t last = c;
        if (!CPU_ISSET(c, set))
            continue;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
            last++;
        char one[32];
        int k = snprintf(one, sizeof one, last > c ? "%s%zu-%zu" : "%s%zu", n ? "," : "", c, last);
        if (n + (size_t)k + 1 > cap)
            break;
        strcpy(text + n, one);
        n += (size_t)k;
        c = last;
    }
    return text;
}

/* ---- the kernel's files ---- */

static bool read_file(const char *path, char *text, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, cap - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static bool read_list(const char *path, cpu_set_t *set)
{
    char text[4096];
    return read_file(path, text, sizeof text) && cpulist_read(text, "\n", set);
}

/* The first thread of each core tells the others. */
static void quick_cores(struct topology *t)
{
    char text[64];
    if (read_file("/sys/devices/system/cpu/smt/active", text, sizeof text) && text[0] == '0')
        return;
    for (int i = 0; i < t->npus; i++) {
        cpu_set_t siblings;
        if (t->pu[i].at[AT_CORE] != t->pu[i].os)
            continue;
        snprintf(text, sizeof text, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
                 t->pu[i].os);
        if (!read_list(text, &siblings))
            continue;
        for (int j = i + 1; j < t->npus; j++)
            if (CPU_ISSET((size_t)t->pu[j].os, &siblings))
                t->pu[j].at[AT_CORE] = t->pu[i].os;
    }
}

static void quick_numa(struct topology *t)
{
    cpu_set_t nodes, cpus;
    char path[64];
    if (!read_list("/sys/devices/system/node/online", &nodes) || CPU_COUNT(&nodes) == 1)
        return;
    for (int n = 0; n < CPU_SETSIZE; n++) {
        if (!CPU_ISSET((size_t)n, &nodes))
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", n);
        if (read_list(path, &cpus))
            for (int i = 0; i < t->npus; i++)
                if (CPU_ISSET((size_t)t->pu[i].os, &cpus))
                    t->pu[i].at[AT_NUMA] = n;
    }
}

static int by_place(const void *a, const void *b)
{
    const struct pu *x = a, *y = b;
    static const enum level order[] = { AT_NUMA, AT_CORE };
    for (int i = 0; i < 2; i++)
        if (x->at[order[i]] != y->at[order[i]])
            return x->at[order[i]] < y->at[order[i]] ? -1 : 1;
    return x->os < y->os ? -1 : 1;
}

/* The kernel's numbers become ours, without gaps. */
static void renumber(struct topology *t, enum level level)
{
    int before = 0;
    for (int i = 0; i < t->npus; i++) {
        int was = t->pu[i].at[level];
        t->count[level] += i == 0 || was != before;
        t->pu[i].at[level] = t->count[level] - 1;
        before = was;
    }
}

bool topology_quick(struct topology *t)
{
    *t = (struct topology){ .pu = NULL };
    if (sched_getaffinity(0, sizeof t->avail, &t->avail) != 0)
        return false;
    t->pu = xalloc((size_t)CPU_COUNT(&t->avail), sizeof *t->pu);
    for (int c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET((size_t)c, &t->avail)) {
            struct pu p = { .os = c, .at = { c, c, -1, -1, 0, -1, 0 } };
            t->pu[t->npus++] = p;
        }
    quick_cores(t);
    quick_numa(t);
    qsort(t->pu, (size_t)t->npus, sizeof *t->pu, by_place);
    renumber(t, AT_HWTHREAD);
    renumber(t, AT_CORE);
    renumber(t, AT_NUMA);
    t->count[AT_MACHINE] = 1;
    return t->npus > 0;
}

void topology_free(struct topology *t)
{
    free(t->pu);
    *t = (struct topology){ .pu = NULL };
}

bool topology_simulated(void)
{
    return getenv("HWLOC_SYNTHETIC") || getenv("HWLOC_XMLFILE");
}

/* ---- hwloc ---- */

#if HAVE_HWLOC
static struct {
    int (*init)(hwloc_topology_t *);
    int (*set_flags)(hwloc_topology_t, unsigned long);
    int (*load)(hwloc_topology_t);
    void (*destroy)(hwloc_topology_t);
    int (*depth)(hwloc_topology_t);
    unsigned (*count)(hwloc_topology_t, int);
    hwloc_obj_t (*object)(hwloc_topology_t, int, unsigned);
    int (*is_ours)(hwloc_topology_t);
} hw;

static bool hwloc_open(void)
{
    static const struct {
        const char *name;
        void *to;
    } need[] = {
        { "hwloc_topology_init", &hw.init },       { "hwloc_topology_set_flags", &hw.set_flags },
        { "hwloc_topology_load", &hw.load },       { "hwloc_topology_destroy", &hw.destroy },
        { "hwloc_topology_get_depth", &hw.depth }, { "hwloc_get_nbobjs_by_depth", &hw.count },
        { "hwloc_get_obj_by_depth", &hw.object },  { "hwloc_topology_is_thissystem", &hw.is_ours },
    };
    void *lib = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; lib && i < sizeof need / sizeof *need; i++) {
        void *f = dlsym(lib, need[i].name);
        if (!f)
            return false;
        memcpy(need[i].to, &f, sizeof f);
    }
    return lib;
}

static void hwloc_place(struct topology *t, struct pu *p, hwloc_obj_t o)
{
    static const struct {
        hwloc_obj_type_t type;
        enum level level;
    } levels[] = { { HWLOC_OBJ_PU, AT_HWTHREAD },
                   { HWLOC_OBJ_CORE, AT_CORE },
                   { HWLOC_OBJ_L2CACHE, AT_L2 },
                   { HWLOC_OBJ_L3CACHE, AT_L3 },
                   { HWLOC_OBJ_PACKAGE, AT_PACKAGE } };
    p->os = (int)o->os_index;
    for (int i = 0; i < LEVELS; i++)
        p->at[i] = i == AT_MACHINE ? 0 : -1;
    for (; o; o = o->parent) {
        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
            if (o->type == levels[i].type)
                p->at[levels[i].level] = (int)o->logical_index;
        hwloc_obj_t m = p->at[AT_NUMA] < 0 ? o->memory_first_child : NULL;
        while (m && m->type != HWLOC_OBJ_NUMANODE)
            m = m->memory_first_child; /* a cache in front of the memory */
        if (m)
            p->at[AT_NUMA] = (int)m->logical_index;
    }
    if (p->at[AT_CORE] < 0)
        p->at[AT_CORE] = p->at[AT_HWTHREAD];
    for (int i = 0; i < LEVELS; i++)
        if (p->at[i] >= t->count[i])
            t->count[i] = p->at[i] + 1;
}

static bool hwloc_list(struct topology *t, hwloc_topology_t h)
{
    int bottom = hw.depth(h) - 1;
    t->npus = (int)hw.count(h, bottom);
    t->pu = xalloc((size_t)t->npus, sizeof *t->pu);
    t->simulated = !hw.is_ours(h);
    for (int i = 0; i < t->npus; i++) {
        hwloc_place(t, &t->pu[i], hw.object(h, bottom, (unsigned)i));
        if (t->pu[i].os < 0 || t->pu[i].os >= CPU_SETSIZE)
            return false;
        if (t->simulated)
            CPU_SET((size_t)t->pu[i].os, &t->avail);
    }
    return t->npus > 0 && (t->simulated || sched_getaffinity(0, sizeof t->avail, &t->avail) == 0);
}

bool topology_full(struct topology *t, const char **why)
{
    hwloc_topology_t h;
    *t = (struct topology){ .pu = NULL };
    *why = "libhwloc.so.15 cannot be opened";
    if (!hw.is_ours && !hwloc_open())
        return false;
    *why = "hwloc cannot read the machine's topology";
    if (hw.init(&h) != 0)
        return false;
    bool ok =
        hw.set_flags(h, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 && hw.load(h) == 0 && hwloc_list(t, h);
    hw.destroy(h);
    if (ok && !t->simulated && topology_simulated() && !getenv("HWLOC_THISSYSTEM")) {
        *why = "HWLOC_SYNTHETIC or HWLOC_XMLFILE describes no machine";
        return false;
    }
    return ok;
}
#else
bool topology_full(struct topology *t, const char **why)
{
    *t = (struct topology){ .pu = NULL };
    *why = "mpiexec was built without hwloc";
    return false;
}
#endif
