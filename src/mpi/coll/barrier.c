/* SPDX-License-Identifier: BSD-3-Clause */
/* barrier.c: MPI_Barrier and its kin (7.3). */
#include "coll.h"
#include "nodes.h"

const char MPIR_Coll_beat = 1;

/* Round k: tell the process 2^k further on, hear from the one 2^k before. */
static void dissemination(struct coll *c)
{
    for (int64_t k = 1; k < c->size; k *= 2)
        coll_beats(c, (int)((c->rank + k) % c->size), (int)((c->rank + c->size - k) % c->size));
}

static void barrier_hear(struct coll *c, void *arg, int64_t child, int64_t span)
{
    (void)arg;
    (void)span;
    coll_beat_recv(c, (int)child);
}

static void barrier_release(struct coll *c, void *arg, int64_t child, int64_t span)
{
    (void)arg;
    (void)span;
    coll_beat_send(c, (int)child);
}

void MPIR_Coll_tree_up(struct coll *c, int radix)
{
    struct coll_tree t = MPIR_Coll_tree_of(c->rank, c->size, radix);
    MPIR_Coll_each_child(c, c->rank, c->size, radix, true, barrier_hear, NULL);
    if (t.parent >= 0)
        coll_beat_send(c, (int)t.parent);
}

void MPIR_Coll_tree_down(struct coll *c, int radix)
{
    struct coll_tree t = MPIR_Coll_tree_of(c->rank, c->size, radix);
    if (t.parent >= 0)
        coll_beat_recv(c, (int)t.parent);
    MPIR_Coll_each_child(c, c->rank, c->size, radix, false, barrier_release, NULL);
}

static void tree(struct coll *c, int radix)
{
    MPIR_Coll_tree_up(c, radix);
    MPIR_Coll_tree_down(c, radix);
}

static void barrier_binomial(struct coll *c)
{
    tree(c, 2);
}

static void barrier_wide(struct coll *c)
{
    tree(c, COLL_WIDE);
}

static struct coll_cost dissemination_cost(const struct coll_size *s)
{
    double rounds = MPIR_Coll_levels(s->p, 2);
    return (struct coll_cost){ .rounds = rounds, .messages = rounds, .waits = rounds * s->p };
}

static struct coll_cost binomial_cost(const struct coll_size *s)
{
    return MPIR_Coll_tree_cost(s, 2, 2, 0);
}

static struct coll_cost barrier_wide_cost(const struct coll_size *s)
{
    return MPIR_Coll_tree_cost(s, COLL_WIDE, 2, 0);
}

static void barrier_team(struct coll *c)
{
    MPIR_Coll_team_meet(c, NULL);
}

const struct coll_alg MPIR_Coll_barrier_algs[] = {
    { "team", COLL_NEEDS_TEAM, MPIR_Coll_team_cost, barrier_team },
    { "nodes", COLL_NEEDS_NODES, MPIR_Coll_nodes_barrier_cost, MPIR_Coll_nodes_barrier },
    { "dissemination", 0, dissemination_cost, dissemination },
    { "wide", COLL_NEIGHBORS | COLL_STRAIGHT, barrier_wide_cost, barrier_wide },
    { "binomial", COLL_TREE, binomial_cost, barrier_binomial },
    { 0 },
};

int MPIR_Coll_barrier_is(struct coll *c, struct coll_size *s)
{
    s->local = c->size == 1;
    c->stype = coll_bytes();
    return 0;
}
