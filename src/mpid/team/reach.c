/* SPDX-License-Identifier: BSD-3-Clause */
/* reach.c: members of a team that copy straight out of each other's memory, by what their devices can (offer,
 * copy_from_peer). */
#include "mpid/core/core.h"

static struct peer *peer_of(const struct MPIR_COMMUNICATOR *comm, int32_t rank)
{
    int err = 0;
    struct peer *p = peer_get(grank_of(comm, rank), &err);
    return p != NULL && p->dp != NULL && p->cd->caps.has_get ? p : NULL;
}

static dev_status reach_copy(const struct MPIR_COMMUNICATOR *comm, int32_t rank, void *to, uint64_t from,
                             size_t n)
{
    struct peer *p = peer_of(comm, rank);
    return p != NULL ? p->cd->near.copy_from_peer(p->dp, to, from, n) : DEV_NO_SUPPORT;
}

bool MPID_Reach_offer(const struct MPIR_COMMUNICATOR *comm)
{
    char some = 0;
    for (int32_t i = 0; i < comm->size; i++) {
        struct peer *p = i == comm->rank ? NULL : peer_of(comm, i);
        if (i != comm->rank && (p == NULL || p->cd->near.offer(p->dp, &some, sizeof some) == 0))
            return false;
    }
    return true;
}

bool MPID_Reach_all(const struct MPIR_COMMUNICATOR *comm)
{
    for (int32_t i = 0; i < comm->size; i++)
        if (i != comm->rank && reach_copy(comm, i, NULL, 0, 0) != DEV_OK)
            return false;
    return true;
}

bool MPID_Reach_copy(const struct MPIR_COMMUNICATOR *comm, int32_t rank, void *to, uint64_t from, int64_t n)
{
    return n == 0 || reach_copy(comm, rank, to, from, (size_t)n) == DEV_OK;
}
