/* SPDX-License-Identifier: BSD-3-Clause */
/* failed.c: which processes of a communicator are lost.
 *
 * One state a communicator, brought up to date when somebody asks and more of the job's processes are lost than at
 * the last look.  Nobody comes back while a communicator has him, so `alive` and `some` only grow: all looks
 * together pass each member once, but for `some` and `lost`, which look at all of them as often as processes are
 * lost. */
#include "core.h"

struct comm_failures *MPID_Comm_failures(const struct MPIR_COMMUNICATOR *comm)
{
    if (comm == NULL)
        return &MPID_core.failures;
    return comm->adi != NULL ? &((struct comm_adi *)comm->adi)->failures : NULL;
}

bool MPID_Comm_lost_some(const struct MPIR_COMMUNICATOR *comm)
{
    struct comm_failures here = { 0 }, *f = MPID_Comm_failures(comm);
    int32_t size = comm != NULL ? comm->size : MPID_core.job.size;
    f = f != NULL ? f : &here;
    if (f->looked == MPID_core.peers.losses)
        return f->some;
    f->looked = MPID_core.peers.losses;
    for (int32_t i = 0; i < size && !f->some; i++) {
        int32_t g = grank_of(comm, i);
        f->some = g >= 0 && peer_gone(g);
    }
    return f->some;
}

int32_t MPID_Comm_lost_all(const struct MPIR_COMMUNICATOR *comm)
{
    struct comm_failures here = { 0 }, *f = MPID_Comm_failures(comm);
    int32_t size = comm != NULL ? comm->remote_size : MPID_core.job.size;
    f = f != NULL ? f : &here;
    for (; f->alive < size; f->alive++) {
        int32_t g = grank_of(comm, f->alive);
        if (g >= 0 && g != MPID_core.rank && !peer_gone(g))
            return -1;
    }
    for (int32_t i = size - 1; i >= 0; i--)
        if (grank_of(comm, i) >= 0 && grank_of(comm, i) != MPID_core.rank)
            return grank_of(comm, i);
    return -1;
}

static void failed_count(const struct MPIR_COMMUNICATOR *comm, struct comm_failures *f)
{
    if (f->counted == MPID_core.peers.losses)
        return;
    f->counted = MPID_core.peers.losses;
    f->lost = 0;
    for (int32_t i = 0; i < comm->remote_size; i++)
        f->lost += grank_of(comm, i) >= 0 && peer_gone(grank_of(comm, i));
}

bool MPID_Ended(int32_t grank)
{
    return grank >= 0 && grank < MPID_core.job.size &&
           atomic_load(&ku_segment_gone(&MPID_core.job.segment)[grank]) == KU_GONE_ENDED;
}

void MPID_Lost_acked(struct MPIR_COMMUNICATOR *comm, int32_t n)
{
    MPID_Comm_failures(comm)->acked = n;
}

int32_t MPID_Comm_lost_unknown(const struct MPIR_COMMUNICATOR *comm)
{
    struct comm_failures *f = MPID_Comm_failures(comm);
    if (comm == NULL || f == NULL)
        return -1;
    failed_count(comm, f);
    if (f->lost <= f->acked)
        return -1;
    for (int32_t i = comm->remote_size - 1; i >= 0; i--)
        if (grank_of(comm, i) >= 0 && peer_gone(grank_of(comm, i)))
            return grank_of(comm, i);
    return -1;
}
