/* SPDX-License-Identifier: BSD-3-Clause */
/* bridge.c: an intercommunicator of two groups that have just been introduced to each other, and have nothing else
 * in common. */
#include "make.h"
#include "mpi_err.h"

/* A communicator of the two roots. */
static int make_bridge(MPIR_Comm *comm, int32_t other,
                       int (*swap)(void *arg, uint64_t mine, uint64_t *theirs), void *arg, MPIR_Comm **bridge)
{
    MPIR_Group *self = NULL, *remote = NULL;
    uint32_t context[2];
    int err = MPIR_Group_new_range(1, MPID_MyWorldRank, 1, &self);
    if (!err)
        err = MPIR_Group_new_range(1, other, 1, &remote);
    if (!err)
        err = MPIR_Comm_prepare(comm, self, remote, bridge);
    if (self)
        MPIR_Group_release(self);
    if (remote)
        MPIR_Group_release(remote);
    if (err)
        return err;
    (*bridge)->no_handle = true;
    err = MPIR_Context_pair(swap, arg, context);
    if (!err)
        err = MPIR_Comm_start(comm, *bridge, context);
    if (err) {
        MPIR_Comm_discard(*bridge);
        *bridge = NULL;
    }
    return err;
}

int MPIR_Comm_from_two(MPIR_Comm *comm, int root, int err, int32_t other,
                       int (*swap)(void *arg, uint64_t mine, uint64_t *theirs), void *arg,
                       MPIR_Comm **newcomm)
{
    MPIR_Comm *bridge = NULL;
    struct party p = { .comm = comm,
                       .which = MPID_CONTEXT_COLL,
                       .tag = MPIR_Comm_next_tag(comm),
                       .root = root,
                       .peer_which = MPID_CONTEXT_COLL,
                       .introduced = true };
    if (!err && comm->adi.rank == root)
        err = make_bridge(comm, other, swap, arg, &bridge);
    p.peer = bridge;
    err = MPIR_Comm_bind(&p, err, NULL, newcomm);
    if (bridge)
        MPIR_Comm_release(bridge);
    return err;
}
