/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.h: the machine as a list of hardware threads, each with the number of every object it lies in.
 *
 * Two readers: the quick one takes the affinity mask, the cores and the NUMA nodes from the kernel's files (tens of
 * microseconds) and leaves out the rest; the full one is hwloc's, which takes milliseconds and also reads simulated
 * machines (HWLOC_SYNTHETIC, HWLOC_XMLFILE).  libhwloc is opened when it is first needed, not linked: its
 * libraries alone would cost each start a third of a millisecond. */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include "pmi/launch/job/policy.h"

struct pu {
    int os;         /* the kernel's number */
    int at[LEVELS]; /* the numbers of the objects it is part of, in the machine's order; -1: not known */
};

struct topology {
    struct pu *pu; /* in the machine's order: the threads of an object stand together */
    int npus;
    int count[LEVELS]; /* objects of each level; 0: not known */
    cpu_set_t
        avail; /* what this process may use (affinity, which a cgroup's cpuset limits too); all of a simulated one */
    bool simulated; /* not the machine we are on: nothing can be bound */
};

/* "core", "package", ... */
extern const char *const level_name[LEVELS];

/* False if the machine cannot be understood (more than CPU_SETSIZE cpus, no memory of them in /proc and /sys). */
bool topology_quick(struct topology *t);
/* False with *why, if there is no hwloc or it fails. */
bool topology_full(struct topology *t, const char **why);
/* Does the environment ask for another machine than ours? */
bool topology_simulated(void);
void topology_free(struct topology *t);

/* "0-3,8" to a set, and back (as much as fits); false: `text` is not such a list.  `text` ends at the first of the
 * characters `ends` or at '\0'. */
bool cpulist_read(const char *text, const char *ends, cpu_set_t *set);
char *cpulist_write(const cpu_set_t *set, char *text, size_t cap);

#endif
