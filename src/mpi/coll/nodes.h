/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.h: rows that compose a part among the members of each node and a part among the nodes. */
#ifndef NODES_H
#define NODES_H

#include "coll.h"

/* What a communicator over several nodes keeps, from a collective on that all members have begun. */
struct MPIR_Nodes {
    MPIR_Comm *node;     /* the members on this node, in the order of their ranks; the first is the leader */
    MPIR_Comm *leaders;  /* the leaders, in the order of their ranks; NULL in others */
    int32_t nodes, most; /* how many; the members of the largest */
    int32_t mine;        /* this node's place among the leaders */
    bool blocks;         /* the members of each node are ranks in a row */
    struct nodes_id {
        int32_t id, place;
    } * by_id; /* [nodes]: the same nodes, sorted by the job's numbers */
    struct nodes_row {
        int32_t id, first, members; /* the job's number of it; the leader's rank */
        int32_t before;             /* members of all nodes before it */
    } row[];                        /* [nodes] */
};

/* Make what is above, if the communicator is over several nodes and one of them has several members; collective,
 * of those that have agreed on its facts, with messages that have the tag.  Where there is no memory, here or
 * elsewhere, it just has no such thing.  Returns an error class if somebody has refused the call that the tag is
 * of: then it is asked again. */
int MPIR_Coll_nodes_ask(MPIR_Comm *comm, int tag);
/* The same without waiting: begin, take steps until one is true, and say when the facts of the communicator are
 * there. */
struct coll_nodes_making {
    struct MPIR_Nodes *nodes;
    struct MPIR_Parts *parts;    /* NULL: there is nothing to do, or they are there */
    struct MPIR_Agreement *team; /* of the members on this node; NULL: there is none yet, or no more */
    int tag, refused;
};
void MPIR_Coll_nodes_begin(struct coll_nodes_making *m, MPIR_Comm *comm, int tag);
bool MPIR_Coll_nodes_step(struct coll_nodes_making *m, MPIR_Comm *comm);
void MPIR_Coll_nodes_heard(MPIR_Comm *comm);
/* This process does not come to that call: the others on its node need not wait at the team there. */
void MPIR_Coll_nodes_give_up(MPIR_Comm *comm, uint32_t when);
/* The number from which part k of the call with this tag counts, on the node or among the leaders. */
static inline uint32_t coll_nodes_number(int tag, int k)
{
    enum { PARTS = 8 };
    return 2u * ((uint32_t)tag * PARTS + (uint32_t)k);
}
/* The place of a rank's node among the leaders; the rank of member i of this node. */
int32_t MPIR_Coll_node_of(const MPIR_Comm *comm, int32_t rank);
int32_t MPIR_Coll_node_member(const MPIR_Comm *comm, int32_t i);
/* What the choice depends on. */
void MPIR_Coll_nodes_is(const MPIR_Comm *comm, struct coll_size *s);

/* As MPIR_Coll_tree_up and _down, first on the nodes and then among the leaders, or the other way. */
void MPIR_Coll_nodes_up(struct coll *c, int radix);
void MPIR_Coll_nodes_down(struct coll *c, int radix);

void MPIR_Coll_nodes_gatherv(struct coll *c);   /* nodes_v.c */
void MPIR_Coll_nodes_scatterv(struct coll *c);  /* nodes_v.c */
void MPIR_Coll_nodes_alltoallv(struct coll *c); /* nodes_v.c */
struct coll_cost MPIR_Coll_nodes_v_cost(const struct coll_size *s);
struct coll_cost MPIR_Coll_nodes_alltoallv_cost(const struct coll_size *s);
void MPIR_Coll_nodes_barrier(struct coll *c);
void MPIR_Coll_nodes_bcast(struct coll *c);
void MPIR_Coll_nodes_reduce(struct coll *c);
void MPIR_Coll_nodes_allreduce(struct coll *c);
void MPIR_Coll_nodes_gather(struct coll *c);
void MPIR_Coll_nodes_scatter(struct coll *c);
void MPIR_Coll_nodes_allgather(struct coll *c);
void MPIR_Coll_nodes_allgatherv(struct coll *c);
void MPIR_Coll_nodes_alltoall(struct coll *c);
void MPIR_Coll_nodes_reduce_scatter(struct coll *c);
void MPIR_Coll_nodes_scan(struct coll *c);
void MPIR_Coll_nodes_exscan(struct coll *c);
struct coll_cost MPIR_Coll_nodes_barrier_cost(const struct coll_size *s);
struct coll_cost MPIR_Coll_nodes_down_cost(const struct coll_size *s); /* or up: the whole vector */
struct coll_cost MPIR_Coll_nodes_allreduce_cost(const struct coll_size *s);
struct coll_cost
MPIR_Coll_nodes_blocks_cost(const struct coll_size *s); /* a block of each to or from the root */
struct coll_cost MPIR_Coll_nodes_allgather_cost(const struct coll_size *s); /* bytes: of all blocks */
struct coll_cost MPIR_Coll_nodes_alltoall_cost(const struct coll_size *s);
struct coll_cost MPIR_Coll_nodes_reduce_scatter_cost(const struct coll_size *s);
struct coll_cost MPIR_Coll_nodes_scan_cost(const struct coll_size *s);

#endif
