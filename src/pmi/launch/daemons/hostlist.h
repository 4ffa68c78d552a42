/* SPDX-License-Identifier: BSD-3-Clause */
/* hostlist.h: how batch systems write down the nodes of an allocation. */
#ifndef HOSTLIST_H
#define HOSTLIST_H

enum { HOSTLIST_MOST = 1 << 20 /* names; more are nonsense */ };

/* "login,n[01-03,7]r[1-2]": Slurm's lists of names.  *n of them in the order in which they stand there, to be
 * freed by hostlist_free; NULL: that is no such list. */
char **hostlist_names(const char *list, int *n);
void hostlist_free(char **names, int n);

/* "4(x2),1": Slurm's numbers of the nodes, in the same order.  The number of node `node`; 0: there is none, or
 * that is no such list. */
int hostlist_number(const char *list, int node);

/* The components of this heterogeneous job of Slurm's; 0: it is none. */
int hostlist_groups(void);
/* Slurm's variable of this component; of the job itself: group -1.  NULL: it is not set. */
const char *hostlist_said(const char *name, int group);
/* The component that has the host; -1: there is none. */
int hostlist_group(const char *host);

#endif
