/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.h: the hosts that the command line names, and which rank runs where. */
#ifndef PLACE_H
#define PLACE_H

#include <stdbool.h>

struct parse;

/* "a,b:2" of -host or -hosts (`all`: for every section); of a file. */
void place_names(struct parse *p, const char *names, bool all);
void place_file(struct parse *p, const char *name);
/* A host by its name, added if it was not named before: its number in p->hosts; -1: that is no name. */
int place_host(struct parse *p, const char *name);
/* So many slots more on this host, for every section. */
void place_slots_on(struct parse *p, const char *name, int slots);
/* How many ranks the hosts of this section have room for, where neither -n nor -ppn says how many there are. */
int place_slots(struct parse *p, int app);
/* The command line is read: leave this machine out, where other hosts are named. */
void place_not_here(struct parse *p);
/* The command line is read: fills in the launch's nodes, hosts, node_of. */
void place_ranks(struct parse *p);

#endif
