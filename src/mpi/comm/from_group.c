/* SPDX-License-Identifier: BSD-3-Clause */
/* from_group.c: communicators made without another one: MPI_Comm_create_from_group, MPI_Intercomm_create_from_groups.
 *
 * The messages go through a communicator of all processes of the job that no program sees; it takes part in
 * nothing else, and no process needs another one to have it.  The string tag becomes the tag of the messages; that
 * it is the same string, and the same group, is checked besides. */
#include "make.h"
#include "bodies.h"
#include "mpi_err.h"
#include <string.h>

static MPIR_Comm boot = {
    .adi = { .obj = { .index = KEEL_NO_INDEX,
                      .gen = 1,
                      .kind = MPIR_KIND_COMM,
                      .flags = KEEL_OBJ_PREDEFINED,
                      .refs = 1 },
             .errhandler = &MPIR_Errors_are_fatal },
};

/* Ready to use; made when first asked for. */
static int get_boot(void)
{
    return boot.group ? 0 : MPIR_Comm_init_static(&boot, MPID_MyWorldSize, 0, CONTEXT_BOOT);
}

void MPIR_Comm_boot_fini(void)
{
    MPIR_Comm_fini_static(&boot);
}

static uint64_t hash_tag(const char *s)
{
    uint64_t h = 0xcbf29ce484222325ull;
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 0x100000001b3ull;
    return h ^ h >> 32;
}

static int check_tag(const char *stringtag)
{
    size_t n = strlen(stringtag) + 1;
    if (n <= MPI_MAX_STRINGTAG_LEN)
        return 0;
    return MPIR_Err(MPI_ERR_ARG, "stringtag", "has %zu characters with its end; expected at most %d", n,
                    MPI_MAX_STRINGTAG_LEN);
}

static int check_member(const char *arg, const MPIR_Group *group)
{
    if (group->rank != MPI_UNDEFINED)
        return 0;
    return MPIR_Err(MPI_ERR_GROUP, arg, "does not contain this process; expected a group of all who call");
}

/* A communicator of the group, which calls; `use` keeps the messages of different procedures apart. */
static int from_group_create(MPIR_Group *group, const char *stringtag, int use, const MPIR_Info *info,
                             MPIR_Errhandler *h, MPIR_Comm **newcomm)
{
    uint64_t tag = hash_tag(stringtag) + (uint64_t)use;
    struct party p = {
        .comm = &boot, .group = group, .which = MPID_CONTEXT_COMM, .tag = (int)(tag & MPID_TAG_UB)
    };
    struct context_ask ask = {
        .ids = 1, .extras = 4, .same_arg = "group or stringtag", .same_class = MPI_ERR_GROUP
    };
    MPIR_Comm *c = NULL;
    context_same(&ask, 0, MPIR_Comm_hash_group(group));
    context_same(&ask, 1, tag);
    ask.err = MPIR_Comm_prepare(&boot, group, NULL, &c);
    if (c) {
        MPIR_Comm_handler(c, h);
        c->session = group->session;
    }
    if (!ask.err)
        ask.err = MPIR_Comm_hints_read(&c->hints, info);
    return MPIR_Comm_finish(&p, &ask, c, newcomm);
}

int MPIR_Comm_create_from_group(MPIR_Group *group, const char *stringtag, MPIR_Info *info,
                                MPIR_Errhandler *errhandler, MPIR_Comm **newcomm)
{
    *newcomm = NULL;
    if (group->size == 0)
        return 0;
    int err = check_member("group", group);
    if (!err)
        err = check_tag(stringtag);
    if (!err)
        err = MPIR_Errhandler_check(MPIR_KIND_COMM, errhandler);
    if (!err)
        err = get_boot();
    return err ? err : from_group_create(group, stringtag, 0, info, errhandler, newcomm);
}

/* At the leader: can the other one be reached? */
static int check_remote(const MPIR_Group *group, int leader)
{
    if (!group)
        return MPIR_Err(MPI_ERR_GROUP, "remote_group",
                        "is not a group; expected one, as this process is its group's leader");
    if (leader < 0 || leader >= group->size)
        return MPIR_Err(MPI_ERR_RANK, "remote_leader", "is %d; expected 0 to %d", leader, group->size - 1);
    return 0;
}

/* The same, when the local group has a communicator; the leader's remote group is not empty. */
static int bind_to(MPIR_Comm *local, int local_leader, MPIR_Group *remote, int remote_leader,
                   const char *stringtag, const MPIR_Info *info, MPIR_Comm **newcomm)
{
    struct party p = { .comm = local,
                       .which = MPID_CONTEXT_COLL,
                       .tag = MPIR_Comm_next_tag(local),
                       .root = local_leader,
                       .peer_which = MPID_CONTEXT_PT2PT };
    MPIR_Comm_hints hints = { 0 };
    bool leads = local->adi.rank == local_leader;
    int err = leads ? check_remote(remote, remote_leader) : 0;
    if (leads && !err) {
        p.peer = &boot;
        p.peer_tag = (int)(hash_tag(stringtag) & MPID_TAG_UB);
        p.peer_rank = MPIR_Group_grank(remote, remote_leader);
        if (MPIR_Group_rank_of(local->group, p.peer_rank) != MPI_UNDEFINED) {
            p.peer = NULL;
            err = MPIR_Err(MPI_ERR_GROUP, "remote_group",
                           "has a leader who is in local_group; expected groups without a common process");
        }
    }
    if (!err)
        err = MPIR_Comm_hints_read(&hints, info);
    err = MPIR_Comm_bind(&p, err, leads ? remote : NULL, newcomm);
    if (err)
        MPIR_Comm_hints_clear(&hints);
    else
        (*newcomm)->hints = hints;
    return err;
}

int MPIR_Intercomm_create_from_groups(MPIR_Group *local_group, int local_leader, MPIR_Group *remote_group,
                                      int remote_leader, const char *stringtag, MPIR_Info *info,
                                      MPIR_Errhandler *errhandler, MPIR_Comm **newintercomm)
{
    MPIR_Comm *local = NULL;
    uint32_t nobody = 0;
    *newintercomm = NULL;
    if (local_group->size == 0)
        return 0;
    int err = check_member("local_group", local_group);
    if (!err && (local_leader < 0 || local_leader >= local_group->size))
        err = MPIR_Err(MPI_ERR_RANK, "local_leader", "is %d; expected 0 to %d", local_leader,
                       local_group->size - 1);
    if (!err)
        err = check_tag(stringtag);
    if (!err)
        err = MPIR_Errhandler_check(MPIR_KIND_COMM, errhandler);
    if (!err)
        err = get_boot();
    if (!err)
        err = from_group_create(local_group, stringtag, 1, NULL, errhandler, &local);
    if (err)
        return err;
    if (local->adi.rank == local_leader)
        nobody = remote_group && remote_group->size == 0; /* only the leader knows */
    err = MPIR_Agree_max(local, NULL, MPID_CONTEXT_COLL, MPIR_Comm_next_tag(local), 0, &nobody, 1);
    if (!err && !nobody)
        err = bind_to(local, local_leader, remote_group, remote_leader, stringtag, info, newintercomm);
    MPIR_Comm_release(local);
    return err;
}
