/* comm_make.c: new communicators out of old ones: dup, create, create_group, split.
 *
 * Each begins with one exchange among those who call it.  What a process finds wrong before the exchange travels with it, so
 * that the others report it too and nobody waits. */
#include "agree.h"
#include "make.h"
#include "attr.h"
#include "err.h"
#include "bodies.h"
#include "topo.h"
#include "type.h"
#include <stdlib.h>

/* Those who agree on a context: some ranks of comm. */
struct party {
    MPIR_Comm *comm;
    MPIR_Group *group; /* NULL: all */
    int which, tag;
};

/* err: what this process has met; the last error is the caller's own or somebody else's; ends with the same context in all. */
static int agree_context(const struct party *p, int err, uint32_t *context)
{
    struct context_vote v;
    MPIR_Context_begin(&v, p->comm, p->group, p->which, p->tag, err);
    while (!MPIR_Context_step(&v))
        MPID_DeviceCheck(MPID_BLOCKING);
    *context = v.context;
    return v.err;
}

/* Agree on the context of c and let it be used; NULL in processes that get no communicator.  err: what went wrong so far. */
static int finish(const struct party *p, MPIR_Comm *c, int err, MPIR_Comm **newcomm)
{
    uint32_t context = 0;
    err = agree_context(p, err, &context);
    if (!err && c)
        err = MPIR_Comm_start(p->comm, c, context);
    if (err && c)
        MPIR_Comm_discard(c);
    *newcomm = err ? NULL : c;
    return err;
}

/* Make a communicator of the group, NULL in processes that are in none. */
static int make(const struct party *p, MPIR_Group *group, int err, MPIR_Comm **newcomm)
{
    MPIR_Comm *c = NULL;
    if (!err && group && group->rank != MPI_UNDEFINED)
        err = MPIR_Comm_prepare(p->comm, group, &c);
    return finish(p, c, err, newcomm);
}

static struct party everybody(MPIR_Comm *comm)
{
    return (struct party){ comm, NULL, MPID_CONTEXT_COLL, MPIR_Comm_next_tag(comm) };
}

int MPIR_Comm_check_intra(const MPIR_Comm *comm)
{
    if (!comm->remote_group)
        return 0;
    return MPIR_Err(MPI_ERR_COMM, "comm", "is an intercommunicator; expected an intracommunicator");
}

/* ---- dup ----------------------------------------------------------------------------------------------------- */

int MPIR_Comm_copy(MPIR_Comm *comm, MPIR_Info *info, MPIR_Comm **c)
{
    int err = MPIR_Comm_prepare(comm, comm->group, c);
    if (err)
        return err;
    if (comm->facts.known)
        (*c)->facts = comm->facts;
    (*c)->topo = MPIR_Topo_share(comm->topo);
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
    int err = MPIR_Coll_ready(comm);
    struct party p = everybody(comm);
    if (!err)
        err = MPIR_Comm_copy(comm, info, &c);
    return finish(&p, c, err, newcomm);
}

int MPIR_Comm_dup(MPIR_Comm *comm, MPIR_Comm **newcomm)
{
    return MPIR_Comm_dup_with_info(comm, NULL, newcomm);
}

/* ---- create -------------------------------------------------------------------------------------------------- */

/* Every member of the group must be one of comm. */
static int check_subset(MPIR_Comm *comm, MPIR_Group *group)
{
    for (int32_t i = 0; i < group->size; i++) {
        int32_t r = MPIR_Group_rank_of(comm->group, MPIR_Group_grank(group, i));
        if (r == MPI_UNDEFINED)
            return MPIR_Err(MPI_ERR_GROUP, "group",
                            "has a member (rank %d of it) that is not in comm; expected a subset", i);
    }
    return 0;
}

int MPIR_Comm_make(MPIR_Comm *comm, MPIR_Group *group, int err, MPIR_Comm **newcomm)
{
    struct ku_err words = *ku_err_last();
    int unready = MPIR_Coll_ready(comm);
    if (err)
        *ku_err_last() = words;
    struct party p = everybody(comm);
    err = make(&p, group, err ? err : unready, newcomm);
    if (!err && *newcomm)
        (*newcomm)->facts = comm->facts;
    return err;
}

int MPIR_Comm_create(MPIR_Comm *comm, MPIR_Group *group, MPIR_Comm **newcomm)
{
    int err = MPIR_Comm_check_intra(comm);
    if (err)
        return err;
    return MPIR_Comm_make(comm, group, check_subset(comm, group), newcomm);
}

int MPIR_Comm_create_group(MPIR_Comm *comm, MPIR_Group *group, int tag, MPIR_Comm **newcomm)
{
    *newcomm = NULL;
    int err = MPIR_Comm_check_intra(comm);
    if (err || group->rank == MPI_UNDEFINED) /* only members take part: others have nothing to wait for */
        return err;
    err = check_subset(comm, group);
    if (err) /* for all of them: they pass the same group */
        return err;
    struct party p = { comm, group, MPID_CONTEXT_COMM, tag };
    return make(&p, group, 0, newcomm);
}

/* ---- split --------------------------------------------------------------------------------------------------- */

/* What a process says to all others. */
struct wish {
    int32_t color, key;
};
enum { WISH_WORDS = sizeof(struct wish) / sizeof(int32_t) };

struct member {
    int32_t key, rank;
};

static int by_key(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int check_colors(const struct wish *wishes, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (wishes[i].color < 0 && wishes[i].color != MPI_UNDEFINED)
            return MPIR_Err(MPI_ERR_ARG, "color", "is %d on rank %d; expected 0 or more or MPI_UNDEFINED",
                            wishes[i].color, i);
    return 0;
}

/* The group of those with this process's color, by key and then rank. */
static int group_of_color(MPIR_Comm *comm, const struct wish *wishes, MPIR_Group **group)
{
    int32_t n = comm->adi.size, m = 0, color = wishes[comm->adi.rank].color;
    for (int32_t i = 0; i < n; i++)
        m += wishes[i].color == color;
    struct member *list = malloc((size_t)m * sizeof *list);
    int32_t *granks = malloc((size_t)m * sizeof *granks);
    if (!list || !granks) {
        free(list);
        free(granks);
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory to sort %d processes", m);
    }
    m = 0;
    for (int32_t i = 0; i < n; i++)
        if (wishes[i].color == color)
            list[m++] = (struct member){ wishes[i].key, i };
    qsort(list, (size_t)m, sizeof *list, by_key);
    for (int32_t i = 0; i < m; i++)
        granks[i] = MPIR_Comm_grank(comm, list[i].rank);
    free(list);
    return MPIR_Group_adopt(m, granks, group);
}

static int make_color(MPIR_Comm *comm, const struct wish *wishes, uint32_t context, MPIR_Comm **newcomm)
{
    MPIR_Group *group = NULL;
    MPIR_Comm *c = NULL;
    int err = group_of_color(comm, wishes, &group);
    if (err)
        return err;
    err = MPIR_Comm_prepare(comm, group, &c);
    MPIR_Group_release(group);
    if (err)
        return err;
    if (comm->facts.known)
        c->facts = comm->facts;
    err = MPIR_Comm_start(comm, c, context);
    if (err)
        MPIR_Comm_discard(c);
    else
        *newcomm = c;
    return err;
}

/* err: what this process has met so far. */
static int split(MPIR_Comm *comm, int color, int key, int err, MPIR_Comm **newcomm)
{
    *newcomm = NULL;
    struct wish mine = { color, key };
    struct wish *wishes = malloc((size_t)comm->adi.size * sizeof *wishes);
    if (!wishes && !err)
        err = MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for the colors of %d processes", comm->adi.size);
    struct party p = everybody(comm);
    uint32_t context; /* one for all colors: their groups are disjoint */
    err = agree_context(&p, err, &context);
    if (err) {
        free(wishes);
        return err;
    }
    MPIR_Datatype *type = MPIR_Datatype_predefined(KEEL_MPI_INT32_T);
    err = MPIR_Allgather(&mine, WISH_WORDS, type, wishes, WISH_WORDS, type, comm);
    if (!err)
        err = check_colors(wishes, comm->adi.size);
    if (!err && color != MPI_UNDEFINED)
        err = make_color(comm, wishes, context, newcomm);
    free(wishes);
    return err;
}

int MPIR_Comm_split(MPIR_Comm *comm, int color, int key, MPIR_Comm **newcomm)
{
    int err = MPIR_Comm_check_intra(comm);
    return err ? err : split(comm, color, key, 0, newcomm);
}

/* The color that a type of split gives this process. */
static int color_of_type(int split_type, int *color)
{
    const struct MPID_World *world = MPID_World();
    *color = MPI_UNDEFINED;
    switch (split_type) {
    case MPI_COMM_TYPE_SHARED:
        *color = world->node_of ? world->node_of[MPID_MyWorldRank] : 0;
        return 0;
    case MPI_UNDEFINED:
    case MPI_COMM_TYPE_HW_GUIDED: /* no kind of resource has a name yet: all get MPI_COMM_NULL, as 8.4.2 says */
    case MPI_COMM_TYPE_HW_UNGUIDED:
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
        return 0;
    default:
        return MPIR_Err(MPI_ERR_ARG, "split_type",
                        "is %d; expected a MPI_COMM_TYPE_ constant or MPI_UNDEFINED", split_type);
    }
}

int MPIR_Comm_split_type(MPIR_Comm *comm, int split_type, int key, MPIR_Info *info, MPIR_Comm **newcomm)
{
    int color, err = MPIR_Comm_check_intra(comm);
    if (err)
        return err;
    err = color_of_type(split_type, &color);
    err = split(comm, color, key, err, newcomm);
    if (!err && *newcomm)
        err = MPIR_Comm_hints_read(&(*newcomm)->hints, info);
    if (err && *newcomm) {
        MPIR_Comm_release(*newcomm);
        *newcomm = NULL;
    }
    return err;
}
