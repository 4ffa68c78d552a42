/* SPDX-License-Identifier: BSD-3-Clause */
/* comm.c: the communicator object: the predefined ones, making, referring to and freeing them.
 *
 * Invariants
 *   1. A process never uses a context id twice (comm_context.c).
 *   2. What can fail for want of memory happens before the agreement on a context, and its failure is part of the
 *      agreement, so that either all members get the communicator or none does. */
#include "make.h"
#include "attr.h"
#include "bsend.h"
#include "mpi_err.h"
#include "parent.h"
#include "bodies.h"
#include "request.h"
#include "topo.h"
#include <stdio.h>
#include <stdlib.h>

#define PREDEFINED_COMM(handle, text) \
    { \
        .adi = { .obj = { .index = KEEL_NO_INDEX, \
                          .gen = 1, \
                          .kind = MPIR_KIND_COMM, \
                          .flags = KEEL_OBJ_PREDEFINED, \
                          .refs = 1, \
                          .self = handle }, \
                 .errhandler = &MPIR_Errors_are_fatal }, \
        .name = text, \
    }

MPIR_Comm MPIR_Comm_world = PREDEFINED_COMM(KEEL_MPI_COMM_WORLD, "MPI_COMM_WORLD");
MPIR_Comm MPIR_Comm_self = PREDEFINED_COMM(KEEL_MPI_COMM_SELF, "MPI_COMM_SELF");

MPIR_Comm *MPIR_Comm_parent;

static int set_group(MPIR_Comm *c, MPIR_Group *g)
{
    c->group = g;
    c->adi.rank = g->rank;
    c->adi.size = c->adi.remote_size = g->size;
    return MPIR_Group_table(g, &c->adi.lrank_to_grank);
}

int MPIR_Comm_init_static(MPIR_Comm *c, int32_t size, int32_t first, uint32_t context)
{
    MPIR_Group *g;
    int err = MPIR_Group_new_range(size, first, 1, &g);
    if (err)
        return err;
    c->adi.context_id = context;
    c->coll_seq = c->persistent_seq = c->owns = c->coll_roots = 0;
    c->coll_other.member = 0;
    c->facts = (MPIR_Coll_facts){ 0 };
    c->awaiting = NULL;
    c->ways = NULL;
    c->apart = false;
    c->team = MPIR_TEAM_UNASKED;
    c->quick = false;
    c->meetings = (MPIR_Meetings){ 0 };
    err = set_group(c, g);
    if (!err)
        err = MPID_CommInit(NULL, &c->adi);
    if (err) {
        MPIR_Group_release(g);
        c->group = NULL;
    }
    return err;
}

static void release_errhandler(MPIR_Comm *c)
{
    MPIR_Errhandler_release(c->adi.errhandler);
    c->adi.errhandler = NULL;
}

void MPIR_Comm_fini_static(MPIR_Comm *c)
{
    if (!c->group)
        return;
    MPIR_Coll_nodes_free(c);
    MPID_CommFree(&c->adi);
    MPIR_Group_release(c->group);
    c->group = NULL;
    if (c->acked)
        MPIR_Group_release(c->acked);
    c->acked = NULL;
    c->fail_seq = 0;
    free(c->fail_base);
    c->fail_base = NULL;
    c->adi.obj.flags &= (uint8_t)~KEEL_OBJ_REVOKED;
    free(c->ways);
    c->ways = NULL;
    MPIR_Bsend_comm_free(c);
    MPIR_Comm_hints_clear(&c->hints);
    release_errhandler(c);
    c->adi.errhandler = &MPIR_Errors_are_fatal;
}

void MPIR_Comm_begin(void)
{
    MPIR_Context_reset();
}

void MPIR_Comm_end(void)
{
    MPIR_Comm_boot_fini();
}

/* What their handles name. */
static void comm_publish(MPIR_Comm *world, MPIR_Comm *self)
{
    MPIR_Object_table[KEEL_MPI_COMM_WORLD] = world;
    MPIR_Object_table[KEEL_MPI_COMM_SELF] = self;
}

int MPIR_Comm_init_predefined(void)
{
    int err = MPIR_Comm_init_static(&MPIR_Comm_world, MPID_MyWorldSize, 0, CONTEXT_WORLD);
    if (err)
        return err;
    err = MPIR_Comm_init_static(&MPIR_Comm_self, 1, MPID_MyWorldRank, CONTEXT_SELF);
    if (err)
        MPIR_Comm_fini_static(&MPIR_Comm_world);
    else
        comm_publish(&MPIR_Comm_world, &MPIR_Comm_self);
    return err;
}

void MPIR_Comm_fini_predefined(void)
{
    comm_publish(NULL, NULL);
    MPIR_Comm_fini_static(&MPIR_Comm_self);
    MPIR_Comm_fini_static(&MPIR_Comm_world);
}

static int prepare_remote(MPIR_Comm *c, MPIR_Comm *parent, MPIR_Group *remote)
{
    int err = MPIR_Group_table(remote, &c->adi.lrank_to_grank);
    if (!err)
        err = MPIR_Comm_prepare(parent, c->group, NULL, &c->local);
    if (err)
        return err;
    c->local->no_handle = true;
    MPIR_Object_ref(remote);
    MPIR_Group_connected(remote, true);
    c->remote_group = remote;
    c->adi.remote_size = remote->size;
    return 0;
}

int MPIR_Comm_prepare(MPIR_Comm *parent, MPIR_Group *group, MPIR_Group *remote, MPIR_Comm **newcomm)
{
    MPIR_Comm *c = MPIR_Object_alloc(MPIR_KIND_COMM);
    if (!c)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a communicator");
    int err = set_group(c, group);
    if (err) {
        MPIR_Object_free(c);
        return err;
    }
    MPIR_Object_ref(group);
    MPIR_Group_connected(group, true);
    c->adi.context_id = CONTEXT_NONE;
    c->adi.errhandler = parent->adi.errhandler;
    c->session = parent->session;
    MPIR_Errhandler_ref(c->adi.errhandler);
    err = remote ? prepare_remote(c, parent, remote) : 0;
    if (err)
        MPIR_Comm_discard(c);
    else
        *newcomm = c;
    return err;
}

static void end_group(MPIR_Group *g)
{
    MPIR_Group_connected(g, false);
    MPIR_Group_release(g);
}

int MPIR_Comm_regroup(MPIR_Comm *parent, MPIR_Comm *c, MPIR_Group *group, MPIR_Group *remote)
{
    MPIR_Group *old = c->group, *old_remote = c->remote_group;
    MPIR_Comm *local = c->local;
    if (c->adi.context_id != CONTEXT_NONE)
        MPID_CommFree(&c->adi);
    c->adi.context_id = CONTEXT_NONE;
    c->local = NULL;
    c->remote_group = NULL;
    MPIR_Object_ref(group);
    MPIR_Group_connected(group, true);
    int err = set_group(c, group);
    if (!err && remote)
        err = prepare_remote(c, parent, remote);
    end_group(old);
    if (local)
        MPIR_Comm_release(local);
    if (old_remote)
        end_group(old_remote);
    return err;
}

void MPIR_Comm_handler(MPIR_Comm *c, MPIR_Errhandler *h)
{
    release_errhandler(c);
    c->adi.errhandler = h;
    MPIR_Object_ref(h);
}

void MPIR_Comm_discard(MPIR_Comm *c)
{
    MPIR_Coll_nodes_free(c);
    MPIR_Attr_drop(c); /* there are none unless a dup failed */
    MPIR_Bsend_comm_free(c);
    MPIR_Comm_hints_clear(&c->hints);
    MPIR_Topo_release(c->topo);
    free(c->ways);
    release_errhandler(c);
    end_group(c->group);
    if (c->acked)
        MPIR_Group_release(c->acked);
    free(c->fail_base);
    if (c->local)
        MPIR_Comm_release(c->local);
    if (c->remote_group)
        end_group(c->remote_group);
    MPIR_Object_free(c);
}

static int comm_start(MPIR_Comm *parent, MPIR_Comm *c, uint32_t context)
{
    c->adi.context_id = context;
    c->context_use = MPIR_Context_use(context);
    return MPID_CommInit(&parent->adi, &c->adi);
}

int MPIR_Comm_start(MPIR_Comm *parent, MPIR_Comm *c, const uint32_t context[2])
{
    int err = c->local ? comm_start(parent, c->local, context[1]) : 0;
    if (!err)
        err = comm_start(parent, c, context[0]);
    if (!err && c->local)
        MPID_Refused_with(&c->local->adi, MPIR_Comm_context(c->local, MPID_CONTEXT_PT2PT),
                          MPIR_Comm_context(c, MPID_CONTEXT_COLL));
    if (!err && MPID_Survives() && MPID_Revoked(&c->adi)) /* by one that had it before this one */
        MPIR_Comm_revoked(&c->adi);
    return err;
}

void MPIR_Comm_release(MPIR_Comm *c)
{
    if (!MPIR_Object_unref(c))
        return;
    MPID_CommFree(&c->adi);
    MPIR_Comm_discard(c);
}

/* ---- Inquiry ------------------------------------------------------------------------------------------------- */

int MPIR_Comm_rank(MPIR_Comm *comm, int *rank)
{
    *rank = comm->adi.rank;
    return 0;
}

int MPIR_Comm_size(MPIR_Comm *comm, int *size)
{
    *size = comm->adi.size;
    return 0;
}

static int share_group(const MPIR_Comm *comm, MPIR_Group *g, MPIR_Group **group)
{
    int err = MPIR_Group_share(g, group);
    if (!err)
        MPIR_Group_derive(*group, comm->session);
    return err;
}

int MPIR_Comm_group(MPIR_Comm *comm, MPIR_Group **group)
{
    return share_group(comm, comm->group, group);
}

int MPIR_Comm_test_inter(MPIR_Comm *comm, int *flag)
{
    *flag = comm->remote_group != NULL;
    return 0;
}

int MPIR_Comm_check_inter(const MPIR_Comm *comm, const char *arg)
{
    if (comm->remote_group)
        return 0;
    return MPIR_Err(MPI_ERR_COMM, arg, "is an intracommunicator; expected an intercommunicator");
}

int MPIR_Comm_remote_size(MPIR_Comm *comm, int *size)
{
    int err = MPIR_Comm_check_inter(comm, "comm");
    if (!err)
        *size = comm->adi.remote_size;
    return err;
}

int MPIR_Comm_remote_group(MPIR_Comm *comm, MPIR_Group **group)
{
    int err = MPIR_Comm_check_inter(comm, "comm");
    return err ? err : share_group(comm, comm->remote_group, group);
}

int MPIR_Comm_compare(MPIR_Comm *comm1, MPIR_Comm *comm2, int *result)
{
    if (comm1 == comm2) {
        *result = MPI_IDENT;
        return 0;
    }
    int r = MPIR_Group_relation(comm1->group, comm2->group), remote = MPI_IDENT;
    if (!comm1->remote_group != !comm2->remote_group)
        r = MPI_UNEQUAL;
    else if (comm1->remote_group)
        remote = MPIR_Group_relation(comm1->remote_group, comm2->remote_group);
    if (r == MPI_UNEQUAL || remote == MPI_UNEQUAL)
        *result = MPI_UNEQUAL;
    else
        *result = r == MPI_IDENT && remote == MPI_IDENT ? MPI_CONGRUENT : MPI_SIMILAR;
    return 0;
}

int MPIR_Comm_set_name(MPIR_Comm *comm, const char *comm_name)
{
    snprintf(comm->name, sizeof comm->name, "%s", comm_name);
    return 0;
}

int MPIR_Comm_get_name(MPIR_Comm *comm, char *comm_name, int *resultlen)
{
    *resultlen = snprintf(comm_name, sizeof comm->name, "%s", comm ? comm->name : "MPI_COMM_NULL");
    return 0;
}

int MPIR_Comm_free(MPIR_Comm **comm)
{
    MPIR_Comm *c = *comm;
    if (c->adi.obj.flags & KEEL_OBJ_PREDEFINED)
        return MPIR_Err(MPI_ERR_COMM, "comm", "is %s; expected a communicator that a program made", c->name);
    int err = MPIR_Attr_delete_all(c);
    if (err)
        return err;
    if (c == MPIR_Comm_parent)
        MPIR_Comm_parent = NULL;
    c->no_handle = true;
    if (!(c->adi.obj.flags & KEEL_OBJ_REVOKED)) /* it has been renamed */
        MPIR_Object_rename(c);
    MPIR_Comm_release(c);
    *comm = NULL;
    return 0;
}

/* What this process has sent leaves it, and what it freed completes; nobody else is waited for.  Processes of
 * other jobs with which it has no other communicator in common are disconnected. */
int MPIR_Comm_disconnect(MPIR_Comm **comm)
{
    MPIR_Comm *c = *comm;
    if (!(c->adi.obj.flags & KEEL_OBJ_PREDEFINED)) {
        MPIR_Bsend_drain_comm(c);
        MPIR_Request_drain_comm(c);
        MPID_Flush();
    }
    int err = MPIR_Comm_free(comm);
    MPID_Others_part();
    MPIR_Spawn_parted();
    return err;
}

/* ---- Sessions ------------------------------------------------------------------------------------------------ */

static void forget_session(void *group, void *session)
{
    MPIR_Group *g = group;
    if (g->session == session)
        g->session = NULL;
}

/* The program may not use it any more.  Its attributes go without their callbacks (12.3.1). */
static void end_of_session(void *comm, void *session)
{
    MPIR_Comm *c = comm;
    if (c->session != session)
        return;
    c->session = NULL;
    if (!c->no_handle && !(c->adi.obj.flags & KEEL_OBJ_PENDING)) {
        c->no_handle = true;
        if (!(c->adi.obj.flags & KEEL_OBJ_REVOKED))
            MPIR_Object_rename(c);
        MPIR_Attr_forget(c);
        MPIR_Comm_release(c);
    }
}

void MPIR_Comm_end_session(struct MPIR_Session *s)
{
    ku_slab_each(&MPIR_slab[MPIR_KIND_COMM], end_of_session, s);
    ku_slab_each(&MPIR_slab[MPIR_KIND_GROUP], forget_session, s);
}
