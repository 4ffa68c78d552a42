/* SPDX-License-Identifier: BSD-3-Clause */
/* comm_make.c: new communicators out of old ones: dup, create, create_group.
 *
 * Each begins with one exchange among those who call it.  What a process finds wrong before the exchange travels
 * with it, so that the others report it too and nobody waits. */
#include "make.h"
#include "attr.h"
#include "mpi_err.h"
#include "bodies.h"
#include "topo.h"
#include <stdlib.h>

struct party MPIR_Comm_party(MPIR_Comm *comm)
{
    return MPIR_Agree_party(comm, MPID_CONTEXT_COLL, MPIR_Comm_next_tag(comm));
}

int MPIR_Comm_finish(const struct party *p, const struct context_ask *ask, MPIR_Comm *c, MPIR_Comm **newcomm)
{
    struct context_vote v;
    int err = MPIR_Context_agree(&v, p, ask);
    if (!err && c)
        err = MPIR_Comm_start(p->comm, c, v.context);
    if (err && c)
        MPIR_Comm_discard(c);
    *newcomm = err ? NULL : c;
    return err;
}

int MPIR_Comm_check_intra(const MPIR_Comm *comm)
{
    if (!comm->remote_group)
        return 0;
    return MPIR_Err(MPI_ERR_COMM, "comm", "is an intercommunicator; expected an intracommunicator");
}

/* How many ids a new communicator takes. */
static int ids_of(const MPIR_Comm *c)
{
    return c->local ? 2 : 1;
}

/* ---- dup ----------------------------------------------------------------------------------------------------- */

int MPIR_Comm_copy(MPIR_Comm *comm, MPIR_Info *info, MPIR_Comm **c)
{
    int err = MPIR_Comm_prepare(comm, comm->group, comm->remote_group, c);
    if (err)
        return err;
    MPIR_Coll_facts_inherit(comm, *c);
    (*c)->topo = MPIR_Topo_share(comm->topo);
    if (comm->local)
        MPIR_Coll_facts_inherit(comm->local, (*c)->local);
    err = MPIR_Comm_hints_read(&(*c)->hints, info);
    if (!err)
        err = MPIR_Attr_copy_all(comm, *c);
    if (err) {
        MPIR_Comm_discard(*c);
        *c = NULL;
    }
    return err;
}

int MPIR_Comm_dup_with_info(MPIR_Comm *comm, MPIR_Info *info, MPIR_Comm **newcomm)
{
    MPIR_Comm *c = NULL;
    struct party p = MPIR_Comm_party(comm);
    int err = comm->local ? 0 : MPIR_Coll_ready(comm, p.tag);
    if (!err)
        err = MPIR_Comm_copy(comm, info, &c);
    struct context_ask ask = { .err = err, .ids = ids_of(comm) };
    return MPIR_Comm_finish(&p, &ask, c, newcomm);
}

int MPIR_Comm_dup(MPIR_Comm *comm, MPIR_Comm **newcomm)
{
    return MPIR_Comm_dup_with_info(comm, NULL, newcomm);
}

/* ---- create -------------------------------------------------------------------------------------------------- */

int MPIR_Comm_check_subset(MPIR_Comm *comm, MPIR_Group *group)
{
    for (int32_t i = 0; i < group->size; i++) {
        int32_t r = MPIR_Group_rank_of(comm->group, MPIR_Group_grank(group, i));
        if (r == MPI_UNDEFINED)
            return MPIR_Err(MPI_ERR_GROUP, "group",
                            "has a member (rank %d of it) that is not in comm; expected a subset", i);
    }
    return 0;
}

/* A communicator of the group, NULL in processes that are in none. */
static int comm_make_make(const struct party *p, MPIR_Group *group, struct context_ask *ask,
                          MPIR_Comm **newcomm)
{
    MPIR_Comm *c = NULL;
    ask->ids = 1;
    if (!ask->err && group && group->rank != MPI_UNDEFINED)
        ask->err = MPIR_Comm_prepare(p->comm, group, NULL, &c);
    return MPIR_Comm_finish(p, ask, c, newcomm);
}

int MPIR_Comm_make(MPIR_Comm *comm, MPIR_Group *group, int err, MPIR_Comm **newcomm)
{
    struct ku_err words = *ku_err_last();
    struct party p = MPIR_Comm_party(comm);
    int unready = MPIR_Coll_ready(comm, p.tag);
    if (err)
        *ku_err_last() = words;
    struct context_ask ask = { .err = err ? err : unready };
    err = comm_make_make(&p, group, &ask, newcomm);
    if (!err && *newcomm)
        (*newcomm)->facts = comm->facts;
    return err;
}

int MPIR_Comm_create(MPIR_Comm *comm, MPIR_Group *group, MPIR_Comm **newcomm)
{
    if (comm->local)
        return MPIR_Comm_create_inter(comm, group, newcomm);
    return MPIR_Comm_make(comm, group, MPIR_Comm_check_subset(comm, group), newcomm);
}

int MPIR_Comm_create_group(MPIR_Comm *comm, MPIR_Group *group, int tag, MPIR_Comm **newcomm)
{
    *newcomm = NULL;
    int err = MPIR_Comm_check_intra(comm);
    if (err || group->rank == MPI_UNDEFINED) /* only members take part: others have nothing to wait for */
        return err;
    err = MPIR_Comm_check_subset(comm, group);
    if (err) /* for all of them: they pass the same group */
        return err;
    struct party p = { .comm = comm, .group = group, .which = MPID_CONTEXT_COMM, .tag = tag, .alone = true };
    struct context_ask ask = { .extras = 2, .same_arg = "group", .same_class = MPI_ERR_GROUP };
    context_same(&ask, 0, MPIR_Comm_hash_group(group));
    return comm_make_make(&p, group, &ask, newcomm);
}
