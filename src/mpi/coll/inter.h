/* SPDX-License-Identifier: BSD-3-Clause */
/* inter.h: collectives on intercommunicators: what one group gives, the other group gets (7.2.2, 7.2.3).
 *
 * c->rank and c->size are of the local group.  Messages to ranks of the remote group go through c->comm; a part
 * that is done among the local group goes through comm->local, in its context for point-to-point messages, with
 * the tag of the call: its collectives, with tags of their own, are in another context.
 *
 * Which messages go between the groups depends on the sizes of the groups and on agreed facts alone, never on
 * counts: groups that (wrongly) differ in a count hear of it, as each has the messages that the other one
 * expects.  So costs are of messages of `typical` bytes, and only vector forms leave out messages of nothing.
 *
 * Of the group that has the root of a rooted collective, all but the root have nothing to do. */
#ifndef COLL_INTER_H
#define COLL_INTER_H

#include "coll.h"

extern const struct coll_alg MPIR_Inter_barrier_algs[], MPIR_Inter_bcast_algs[], MPIR_Inter_gather_algs[],
    MPIR_Inter_gatherv_algs[], MPIR_Inter_scatter_algs[], MPIR_Inter_scatterv_algs[],
    MPIR_Inter_allgather_algs[], MPIR_Inter_allgatherv_algs[], MPIR_Inter_alltoall_algs[],
    MPIR_Inter_reduce_algs[], MPIR_Inter_allreduce_algs[], MPIR_Inter_reduce_scatter_algs[];
extern coll_describe MPIR_Inter_barrier_is, MPIR_Inter_bcast_is, MPIR_Inter_gather_is, MPIR_Inter_scatter_is,
    MPIR_Inter_allgather_is, MPIR_Inter_alltoall_is, MPIR_Inter_reduce_is, MPIR_Inter_allreduce_is,
    MPIR_Inter_reduce_scatter_is; /* vector forms are told by c->kind */

static inline int32_t inter_remote(const struct coll *c)
{
    return c->comm->adi.remote_size;
}
static inline bool inter_at_root(const struct coll *c)
{
    return c->root == MPI_ROOT;
}
/* In the group that the root is not in: c->root is its rank there. */
static inline bool inter_opposite(const struct coll *c)
{
    return c->root >= 0;
}

/* The same call among the local group. */
struct coll MPIR_Inter_within(const struct coll *c);
/* Do this part of c, a call that MPIR_Inter_within made, by the cheapest algorithm of that kind. */
void MPIR_Inter_run(const struct coll *c, struct coll *part, enum coll_kind kind);
/* The radix of trees in the local group. */
int MPIR_Inter_radix(const struct coll *c);

/* Sizes of the groups, of an operation between all; of the group that the root is not in. */
void MPIR_Inter_all_is(const struct coll *c, struct coll_size *s);
void MPIR_Inter_rooted_is(const struct coll *c, struct coll_size *s);
int MPIR_Inter_in_place(const char *arg);

/* Costs: all with all, all by way of the two ranks 0; root with all, root with rank 0 and a tree. */
struct coll_cost MPIR_Inter_direct_cost(const struct coll_size *s);
struct coll_cost MPIR_Inter_leaders_cost(const struct coll_size *s);
struct coll_cost MPIR_Inter_root_cost(const struct coll_size *s);
struct coll_cost MPIR_Inter_leader_cost(const struct coll_size *s);

#endif
