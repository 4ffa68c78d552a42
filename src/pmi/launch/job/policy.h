/* SPDX-License-Identifier: BSD-3-Clause */
/* policy.h: what the options say of cores (mapping/bind.h makes a plan of it). */
#ifndef LAUNCH_POLICY_H
#define LAUNCH_POLICY_H

#include <stdbool.h>

/* Objects of a machine, from the smallest. */
enum level { AT_HWTHREAD, AT_CORE, AT_L2, AT_L3, AT_NUMA, AT_PACKAGE, AT_MACHINE, LEVELS };

enum bind_to {
    BIND_DEFAULT, /* each rank its share, if that does no harm */
    BIND_NONE,
    BIND_LEVEL, /* the objects of to_level in which the rank's cores lie */
    BIND_LIST,  /* `list`: the node's rank i gets the i-th set */
    BIND_SET,   /* all that may be used */
    BIND_RANKS  /* `list`: of each rank, what --rankfile says (bind_list.c) */
};

/* What the options say. */
struct bind_policy {
    enum bind_to to;
    enum level to_level;
    enum level
        map_level; /* ranks are dealt out to the objects of this level in turn; AT_MACHINE: core after core */
    enum level rank_level;
    bool share;          /* --bind-to share: what the default does, whatever others do */
    bool mapped;         /* --map-by names a level */
    bool ranked;         /* --rank-by: by rank_level in turn; AT_MACHINE: in the order of the cores */
    int pe;              /* cores a rank; 0: not said */
    int ppr;             /* ranks an object of map_level; 0: in turn */
    const char *list;    /* of sets, separated by ',', their parts by '+'; or of ranks */
    const char *cpu_set; /* use these only */
    bool hwthreads;      /* a hardware thread counts as a core */
    bool no_oversubscribe, overload_ok;
    bool report, display, no_launch;
    bool untold; /* -threads none: ranks count their threads themselves */
    const char *svg;
};

#endif
