/* SPDX-License-Identifier: BSD-3-Clause */
/* split_type.c: MPI_Comm_split_type: dividing a communicator by what its processes share.
 *
 * A type of split gives each process a color.  With MPI_COMM_TYPE_HW_UNGUIDED that is done in common: everybody
 * says where it runs, and each takes the kind of resource whose instance here has the most processes without
 * having all.  As the instances of all kinds lie in each other, those of an instance choose it all or none. */
#include "make.h"
#include "bodies.h"
#include "mpi_err.h"
#include "location.h"
#include "session.h"
#include "type.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char type_key[] = "mpi_hw_resource_type", pset_key[] = "mpi_pset_name";

/* Are there processes of several jobs in it?  Then numbers of nodes, and ranks in a job, do not tell processes
 * apart. */
static bool is_of_one_job(const MPIR_Comm *comm)
{
    return MPIR_Group_other_job(comm->group) == MPI_UNDEFINED &&
           (!comm->remote_group || MPIR_Group_other_job(comm->remote_group) == MPI_UNDEFINED);
}

/* A number of this job's in one that no other job is likely to have. */
static int32_t mixed(int32_t number)
{
    struct MPID_Process p;
    MPID_Process_of(MPID_MyWorldRank, &p);
    uint64_t h = (p.job ^ (uint64_t)(uint32_t)number << 32) * 0x9e3779b97f4a7c15ull;
    return (int32_t)((h ^ h >> 31) & INT32_MAX);
}

static int32_t own_node(const MPIR_Comm *comm)
{
    return is_of_one_job(comm) ? MPID_World()->node : mixed(MPID_World()->node);
}

/* ---- Guided ---------------------------------------------------------------------------------------------------- */

/* The color that a kind of resource gives this process; names that are not known give none. */
static int color_of_name(const MPIR_Comm *comm, const char *name)
{
    enum { INSTANCES = 1 << 16 };
    int32_t at[MPIR_RESOURCES];
    int32_t node = own_node(comm);
    if (!strcmp(name, "mpi_shared_memory"))
        return node;
    for (int i = 0; i < MPIR_RESOURCES; i++) {
        if (strcasecmp(name, MPIR_Resource_name[i]) != 0)
            continue;
        MPIR_Place_get(at);
        if (at[i] < 0 || at[i] >= INSTANCES)
            break;
        return is_of_one_job(comm) && node <= INT32_MAX / INSTANCES ? node * INSTANCES + at[i]
                                                                    : mixed(node ^ at[i] << 16);
    }
    return MPI_UNDEFINED;
}

static void same_name(struct context_ask *ask, const char *name)
{
    uint64_t h = 0xcbf29ce484222325ull;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3ull;
    context_same(ask, 1, h);
}

/* A set of processes, known in sessions only, is one resource: of those that name the same.  Its color is its
 * first process. */
static int color_of_set(const MPIR_Comm *comm, const char *name, struct context_ask *ask)
{
    MPIR_Group *group = NULL;
    int color = MPI_UNDEFINED;
    if (comm->session)
        ask->err = MPIR_Pset_group(name, &group);
    if (!group)
        return color;
    if (group->rank != MPI_UNDEFINED)
        color = MPIR_Group_grank(group, 0);
    MPIR_Group_release(group);
    return color;
}

/* psets: MPI_COMM_TYPE_RESOURCE_GUIDED. */
static int guided(const MPIR_Comm *comm, const MPIR_Info *info, bool psets, struct context_ask *ask)
{
    const char *name = MPIR_Info_value(info, type_key), *set = psets ? MPIR_Info_value(info, pset_key) : NULL;
    if (name && set)
        ask->err =
            MPIR_Err(MPI_ERR_INFO, "info", "has both %s and %s; expected one of them", type_key, pset_key);
    if (set && !name)
        return color_of_set(comm, set, ask);
    if (!name)
        return MPI_UNDEFINED;
    same_name(ask, name);
    return color_of_name(comm, name);
}

/* ---- Unguided -------------------------------------------------------------------------------------------------- */

struct home {
    int32_t grank, node, at[MPIR_RESOURCES];
};
enum { HOME_WORDS = sizeof(struct home) / sizeof(int32_t), NOWHERE = -1 };

/* Where everybody runs, of both sides; who does not want to be asked is nowhere. */
static int hear_homes(const struct split *s, bool wants, struct home *homes)
{
    MPIR_Comm *comm = s->comm;
    MPIR_Datatype *type = MPIR_Datatype_predefined(KEEL_MPI_INT32_T);
    int32_t n = comm->adi.size, m = comm->remote_group ? comm->adi.remote_size : 0;
    struct home mine = { .grank = is_of_one_job(comm) ? MPID_MyWorldRank : mixed(MPID_MyWorldRank),
                         .node = wants ? own_node(comm) : NOWHERE };
    MPIR_Place_get(mine.at);
    int err = MPIR_Allgather(&mine, HOME_WORDS, type, homes, HOME_WORDS, type, s->party.comm);
    if (!err && m)
        err = MPIR_Comm_swap(&s->party, &homes->grank, HOME_WORDS * (int64_t)n, &homes[n].grank,
                             HOME_WORDS * (int64_t)m);
    return err;
}

/* How many run in the same instance of a kind as `me`; *first: the least of them. */
static int32_t count_mates(const struct home *homes, int32_t n, const struct home *me, int kind,
                           int32_t *first)
{
    int32_t mates = 0;
    *first = me->grank;
    for (int32_t i = 0; me->at[kind] >= 0 && i < n; i++)
        if (homes[i].node == me->node && homes[i].at[kind] == me->at[kind]) {
            mates++;
            *first = homes[i].grank < *first ? homes[i].grank : *first;
        }
    return mates;
}

/* *kind: what was chosen. */
static int choose(const struct home *homes, int32_t n, const struct home *me, int *kind)
{
    int32_t most = 0, all = 0, color = MPI_UNDEFINED, first;
    for (int32_t i = 0; i < n; i++)
        all += homes[i].node != NOWHERE;
    for (int i = 0; i < MPIR_RESOURCES; i++) {
        int32_t mates = count_mates(homes, n, me, i, &first);
        if (mates > most && mates < all) {
            most = mates;
            color = first;
            *kind = i;
        }
    }
    return color;
}

/* ---- All of it ------------------------------------------------------------------------------------------------- */

enum { NO_KIND = -1 };

/* The color by what this process alone knows. */
static int own_color(const MPIR_Comm *comm, int split_type, const MPIR_Info *info, struct context_ask *ask)
{
    if (split_type != MPI_UNDEFINED)
        context_same(ask, 0, (uint32_t)split_type);
    switch (split_type) {
    case MPI_COMM_TYPE_SHARED:
        return own_node(comm);
    case MPI_COMM_TYPE_HW_GUIDED:
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
        return guided(comm, info, split_type == MPI_COMM_TYPE_RESOURCE_GUIDED, ask);
    case MPI_UNDEFINED:
    case MPI_COMM_TYPE_HW_UNGUIDED:
        return MPI_UNDEFINED;
    default:
        ask->err = MPIR_Err(MPI_ERR_ARG, "split_type",
                            "is %d; expected a MPI_COMM_TYPE_ constant or MPI_UNDEFINED", split_type);
        return MPI_UNDEFINED;
    }
}

/* homes: room for everybody's, of both sides.  *kind: what was chosen for all, if that was asked for. */
static int split(MPIR_Comm *comm, int split_type, int key, const MPIR_Info *info, struct home *homes,
                 int *kind, MPIR_Comm **newcomm)
{
    struct split s;
    struct context_ask ask = { .extras = 4,
                               .same_arg = "split_type or mpi_hw_resource_type",
                               .same_class = MPI_ERR_ARG };
    int color = own_color(comm, split_type, info, &ask);
    if (!homes && !ask.err)
        ask.err = MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for the places of the processes");
    int err = MPIR_Comm_split_begin(&s, comm, &ask);
    if (err)
        return err;
    if (s.vote.extra[0] == (uint32_t)MPI_COMM_TYPE_HW_UNGUIDED) { /* also those that said MPI_UNDEFINED */
        bool wants = split_type != MPI_UNDEFINED;
        int32_t n = comm->adi.size, m = comm->remote_group ? comm->adi.remote_size : 0;
        err = hear_homes(&s, wants, homes);
        color = !err && wants ? choose(homes, n + m, &homes[comm->adi.rank], kind) : MPI_UNDEFINED;
    }
    int made = MPIR_Comm_split_end(&s, color, key, newcomm);
    return err ? err : made;
}

/* What info brings, and what it takes back. */
static int use_info(MPIR_Comm *c, int kind, MPIR_Info *info)
{
    int err = MPIR_Comm_hints_read(&c->hints, info);
    if (!err && info && kind != NO_KIND && !(info->obj.flags & KEEL_OBJ_PREDEFINED))
        err = MPIR_Info_set(info, type_key, MPIR_Resource_name[kind]);
    return err;
}

int MPIR_Comm_split_type(MPIR_Comm *comm, int split_type, int key, MPIR_Info *info, MPIR_Comm **newcomm)
{
    size_t n = (size_t)comm->adi.size + (comm->remote_group ? (size_t)comm->adi.remote_size : 0);
    struct home *homes = malloc(n * sizeof *homes);
    int kind = NO_KIND;
    *newcomm = NULL;
    int err = split(comm, split_type, key, info, homes, &kind, newcomm);
    free(homes);
    if (!err && *newcomm)
        err = use_info(*newcomm, kind, info);
    if (err && *newcomm) {
        MPIR_Comm_release(*newcomm);
        *newcomm = NULL;
    }
    return err;
}
