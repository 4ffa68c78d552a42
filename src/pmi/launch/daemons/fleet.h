/* SPDX-License-Identifier: BSD-3-Clause */
/* fleet.h: the daemons of other hosts: starting them, in a tree, and talking with them.
 *
 * A process that starts daemons (mpiexec's own, or one of these daemons) has some of them as children, each behind an
 * agent's (ssh's) stdin and stdout, and others behind these.  All are named by their node.
 *
 * Invariants
 *   1. A host is told lost at most once, with a reason; nothing comes from it afterwards.  Those behind it are
 *      lost with it.
 *   2. Every host says HELLO within node_timeout, or is lost; says anything (a PING at least) that often, or is lost.
 *   3. Agents are in process groups of their own, which tree_signal spares. */
#ifndef FLEET_H
#define FLEET_H

#include <poll.h>
#include "pmi/launch/job/launch.h"
#include "pmi/launch/frames/link.h"

/* What those who start daemons need to know. */
struct fleet_host {
    int node;
    const char *name;
};
struct fleet_plan {
    struct launcher how;
    double timeout;
    struct fleet_host *hosts;
    int nhosts;
};

/* A frame from a daemon, FRAME_LOST and FRAME_TEXT made here among them. */
typedef void fleet_take(const struct frame *f, const char *bytes);

void fleet_start(const struct fleet_plan *p, fleet_take *take);
/* To a node, or to all (NODE_ALL). */
void fleet_send(enum frame_kind kind, int node, int value, const void *bytes, size_t len);
void fleet_pass(const struct frame *f, const char *bytes);

/* Is this node one of ours, or behind one? */
bool fleet_has(int node);
/* What a node said cannot be: it is lost, with this reason (kept), and nothing more is taken from it. */
void fleet_distrust(int node, const char *why);

/* For poll: how many entries they take at most; fill them in, how many; what has happened. */
int fleet_room(void);
int fleet_polls(struct pollfd *p);
void fleet_move(void);
/* When there is something to do if nothing happens; 0: never. */
double fleet_due(void);
/* A child has ended: true if it was an agent of ours. */
bool fleet_reaped(pid_t pid, int status);
/* Children that we talk with: they have neither said DONE nor are lost. */
int fleet_open(void);
/* It is over: close what is left, kill agents that remain after a moment. */
void fleet_close(void);

/* An answer to FRAME_LAUNCH. */
bool fleet_plan_get(struct fleet_plan *p, const char *bytes, size_t len);

#endif
