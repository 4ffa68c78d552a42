/* SPDX-License-Identifier: BSD-3-Clause */
/* server.h: what a launcher of others must offer, and each protocol of one offers in a file of its own: a job's
 * facts, a key-value space, a barrier, an end.  kvs.c makes a job of Keel's of it. */
#ifndef PMI_SERVER_H
#define PMI_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Filled in by init. */
struct pmi_facts {
    int32_t rank, size, appnum, universe; /* appnum, universe: -1: not known */
    int32_t *node_of;                     /* [size], from malloc: nodes are counted from 0 */
    size_t value_max;                     /* bytes of a value */
};

enum pmi_reach { PMI_REACH_NODE, PMI_REACH_ALL };

struct pmi_server {
    const char *name; /* job.wire */
    bool (*is_there)(void);
    /* 0, or an errno value with a text.  Once a process. */
    int (*init)(struct pmi_facts *f);
    /* `reach`: who will ask; the others need not be told.  A key has at most 31 letters and digits and '-'; a
     * value has no spaces, '=', ';' and controls. */
    int (*put)(const char *key, const char *value, enum pmi_reach reach);
    /* What another rank (`from`) has put, before a fence that both have passed; `cap` is more than value_max. */
    int (*get)(int32_t from, const char *key, char *value, size_t cap);
    int (*fence)(void); /* all ranks of the job meet */
    void (*abort)(int code, const char *text);
    void (*fini)(void);
};

extern const struct pmi_server pmi_1, pmi_2, pmi_x;

/* pmi_nodes.c.  The ranks' nodes from a launcher's PMI_process_mapping, like (vector,(0,2,3)): the whole grammar
 * stands there.  0, or an errno value with a text. */
int pmi_mapping(const char *mapping, int32_t *node_of, int32_t size);
/* The same nodes, counted from 0 in the order in which the ranks name them first. */
int pmi_renumber(int32_t *node_of, int32_t size);

#endif
