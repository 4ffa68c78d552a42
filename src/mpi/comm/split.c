/* SPDX-License-Identifier: BSD-3-Clause */
/* split.c: MPI_Comm_split: everybody says its color and key, and each makes the group of its own color; of an
 * intercommunicator each side does so, and learns what the other one said. */
#include "make.h"
#include "bodies.h"
#include "mpi_err.h"
#include "type.h"
#include <stdlib.h>

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

/* Those of the group with the color, by key and then rank. */
static int group_of_color(const MPIR_Group *all, const struct wish *wishes, int32_t color, MPIR_Group **group)
{
    int32_t n = all->size, m = 0;
    for (int32_t i = 0; i < n; i++)
        m += wishes[i].color == color;
    struct member *list = malloc((size_t)(m + 1) * sizeof *list);
    int32_t *granks = malloc((size_t)(m + 1) * sizeof *granks);
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
        granks[i] = MPIR_Group_grank(all, list[i].rank);
    free(list);
    return MPIR_Group_adopt(m, granks, group);
}

/* remote: NULL for an intracommunicator. */
static int make_groups(MPIR_Comm *comm, MPIR_Group *group, MPIR_Group *remote, const uint32_t context[2],
                       MPIR_Comm **newcomm)
{
    MPIR_Comm *c = NULL;
    int err = MPIR_Comm_prepare(comm, group, remote, &c);
    if (err)
        return err;
    if (!remote)
        MPIR_Coll_facts_inherit(comm, c);
    err = MPIR_Comm_start(comm, c, context);
    if (err)
        MPIR_Comm_discard(c);
    else
        *newcomm = c;
    return err;
}

/* wishes: of this side, then of the other one. */
static int make_color(MPIR_Comm *comm, const struct wish *wishes, const uint32_t context[2],
                      MPIR_Comm **newcomm)
{
    MPIR_Group *group = NULL, *remote = NULL;
    int32_t color = wishes[comm->adi.rank].color;
    int err = group_of_color(comm->group, wishes, color, &group);
    if (err)
        return err;
    if (comm->remote_group)
        err = group_of_color(comm->remote_group, wishes + comm->group->size, color, &remote);
    if (!err && !(remote && remote->size == 0)) /* a color of one side only makes nothing */
        err = make_groups(comm, group, remote, context, newcomm);
    MPIR_Group_release(group);
    if (remote)
        MPIR_Group_release(remote);
    return err;
}

/* Everybody's wishes, of both sides. */
static int hear_wishes(const struct party *p, MPIR_Comm *comm, struct wish mine, struct wish *wishes)
{
    MPIR_Datatype *type = MPIR_Datatype_predefined(KEEL_MPI_INT32_T);
    int32_t n = comm->adi.size, m = comm->remote_group ? comm->adi.remote_size : 0;
    int err = MPIR_Allgather(&mine, WISH_WORDS, type, wishes, WISH_WORDS, type, p->comm);
    if (!err && m)
        err = MPIR_Comm_swap(p, &wishes->color, WISH_WORDS * (int64_t)n, &wishes[n].color,
                             WISH_WORDS * (int64_t)m);
    if (!err)
        err = check_colors(wishes, n);
    return err ? err : check_colors(wishes + n, m);
}

int MPIR_Comm_split_begin(struct split *s, MPIR_Comm *comm, struct context_ask *ask)
{
    size_t n = (size_t)comm->adi.size + (comm->remote_group ? (size_t)comm->adi.remote_size : 0);
    s->comm = comm;
    s->party = MPIR_Comm_party(comm);
    s->wishes = malloc(n * sizeof *s->wishes);
    if (!s->wishes && !ask->err)
        ask->err = MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for the colors of %zu processes", n);
    ask->ids = comm->local ? 2 : 1;
    int err = MPIR_Context_agree(&s->vote, &s->party, ask);
    if (err)
        free(s->wishes);
    return err;
}

int MPIR_Comm_split_end(struct split *s, int color, int key, MPIR_Comm **newcomm)
{
    *newcomm = NULL;
    int err = hear_wishes(&s->party, s->comm, (struct wish){ color, key }, s->wishes);
    if (!err && color != MPI_UNDEFINED)
        err = make_color(s->comm, s->wishes, s->vote.context, newcomm);
    free(s->wishes);
    return err;
}

int MPIR_Comm_split(MPIR_Comm *comm, int color, int key, MPIR_Comm **newcomm)
{
    struct context_ask ask = { 0 };
    struct split s;
    *newcomm = NULL;
    int err = MPIR_Comm_split_begin(&s, comm, &ask);
    return err ? err : MPIR_Comm_split_end(&s, color, key, newcomm);
}
