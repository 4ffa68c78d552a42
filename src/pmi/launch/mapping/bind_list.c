/* SPDX-License-Identifier: BSD-3-Clause */
/* bind_list.c: the cores of each rank by --rankfile, on the machine where they are: the front reads the file
 * (cli/rankfile.c) and has only looked whether it is written rightly. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bind.h"
#include "pmi/launch/base/util.h"

/* Add core `core` of the package (-1: of the machine); false: there is none that may be used. */
static bool add_core(const struct topology *t, const cpu_set_t *avail, int package, int core, cpu_set_t *cpus)
{
    int before = -1, have = CPU_COUNT(cpus);
    for (int i = 0; i < t->npus; i++) {
        if ((package >= 0 && t->pu[i].at[AT_PACKAGE] != package) || t->pu[i].at[AT_CORE] == before)
            continue;
        before = t->pu[i].at[AT_CORE];
        if (core-- == 0)
            bind_widen(t, avail, i, AT_CORE, cpus);
    }
    return CPU_COUNT(cpus) > have;
}

static void add_all(const struct topology *t, const cpu_set_t *avail, int package, cpu_set_t *cpus)
{
    for (int i = 0; i < t->npus; i++)
        if ((package < 0 || t->pu[i].at[AT_PACKAGE] == package) && CPU_ISSET((size_t)t->pu[i].os, avail))
            CPU_SET((size_t)t->pu[i].os, cpus);
}

/* One piece of SLOTS; false: a core of it is not there. */
static bool add_slots(const char *at, const struct topology *t, const cpu_set_t *avail, cpu_set_t *cpus)
{
    cpu_set_t cores, these;
    size_t digits = strspn(at, "0123456789");
    int package = -1;
    CPU_ZERO(&these);
    if (digits > 0 && at[digits] == ':') {
        package = atoi(at);
        at += digits + 1;
    }
    if (*at == '*') {
        add_all(t, avail, package, &these);
    } else if (cpulist_read(at, ";\n", &cores)) {
        for (int i = 0; i < CPU_SETSIZE; i++)
            if (CPU_ISSET((size_t)i, &cores) && !add_core(t, avail, package, i, &these))
                return false;
    }
    CPU_OR(cpus, cpus, &these);
    return CPU_COUNT(&these) > 0;
}

bool bind_rank_cores(const char *list, int rank, const struct topology *t, const cpu_set_t *avail,
                     cpu_set_t *cpus)
{
    CPU_ZERO(cpus);
    for (const char *at = strchr(list, '\n'); at && *++at; at = strchr(at, '\n')) {
        int of = -1, line = 0, slots = 0;
        if (sscanf(at, "%d %d %n", &of, &line, &slots) < 2 || of != rank)
            continue;
        size_t len = strcspn(at + slots, "\n");
        for (const char *s = at + slots, *end = s + len; s < end; s += strcspn(s, ";\n") + 1)
            if (!add_slots(s, t, avail, cpus))
                die("--rankfile %.*s:%d: slot=%.*s of rank %d: this machine has not all of these cores, or "
                    "they may "
                    "not be used (%d package%s, %d core%s)",
                    (int)strcspn(list, "\n"), list, line, (int)len, at + slots, rank, t->count[AT_PACKAGE],
                    plural(t->count[AT_PACKAGE]), t->count[AT_CORE], plural(t->count[AT_CORE]));
        return true;
    }
    return false;
}
