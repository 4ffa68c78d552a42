/* SPDX-License-Identifier: BSD-3-Clause */
/* inter.c: collectives on intercommunicators that move data (inter.h). */
#include "inter.h"
#include "nodes.h"
#include <string.h>

/* ---- A part among the local group ---------------------------------------------------------------------------- */

struct coll MPIR_Inter_within(const struct coll *c)
{
    struct coll l = *c;
    l.comm = c->comm->local;
    l.which = MPID_CONTEXT_PT2PT;
    l.root = 0;
    return l;
}

void MPIR_Inter_run(const struct coll *c, struct coll *part, enum coll_kind kind)
{
    /* what both groups have agreed on: the facts of comm->local may be agreed on while this call is under way */
    MPIR_Coll_facts facts = { .known = 1, .crowded = c->comm->facts.crowded };
    memcpy(facts.cost, c->comm->facts.cost, sizeof facts.cost);
    struct coll_size s = { .p = part->size, .anywhere = coll_anywhere(c), .apart = part->comm->apart };
    part->kind = kind;
    if (part->composes) { /* so these facts have been agreed on before */
        memcpy(facts.forced, part->comm->facts.forced, sizeof facts.forced);
        MPIR_Coll_nodes_is(part->comm, &s);
    }
    MPIR_Coll_note(part, MPIR_Coll_tables[kind].describe(part, &s));
    if (part->before)
        part->before(part);
    if (!s.local)
        MPIR_Coll_choose(kind, &facts, &s)->run(part);
}

int MPIR_Inter_radix(const struct coll *c)
{
    return c->comm->facts.crowded ? COLL_WIDE : 2;
}

/* ---- Rounds: in round k from 0 on with the rank k further on, and the one k before, if there are such ranks -- */

static int64_t rounds(const struct coll *c)
{
    return c->size > inter_remote(c) ? c->size : inter_remote(c);
}

static int peer(const struct coll *c, int64_t i)
{
    return i < inter_remote(c) ? (int)i : MPI_PROC_NULL;
}

static int peer_to(const struct coll *c, int64_t k)
{
    return peer(c, (c->rank + k) % rounds(c));
}

static int peer_from(const struct coll *c, int64_t k)
{
    return peer(c, (c->rank - k + rounds(c)) % rounds(c));
}

/* ---- Barrier ------------------------------------------------------------------------------------------------- */

static void barrier_direct(struct coll *c)
{
    struct coll_batch b;
    coll_batch_begin(&b, c);
    for (int64_t k = 0; k < rounds(c); k++) {
        if (peer_from(c, k) >= 0)
            MPIR_Coll_batch_recv(&b, &c->st->beat, 1, coll_bytes(), peer_from(c, k));
        if (peer_to(c, k) >= 0)
            MPIR_Coll_batch_send(&b, &MPIR_Coll_beat, 1, coll_bytes(), peer_to(c, k));
    }
    MPIR_Coll_batch_end(&b);
}

static void barrier_leaders(struct coll *c)
{
    struct coll l = MPIR_Inter_within(c);
    if (c->composes)
        MPIR_Coll_nodes_up(&l, MPIR_Inter_radix(c));
    else
        MPIR_Coll_tree_up(&l, MPIR_Inter_radix(c));
    if (c->rank == 0)
        coll_beats(c, 0, 0);
    if (c->composes)
        MPIR_Coll_nodes_down(&l, MPIR_Inter_radix(c));
    else
        MPIR_Coll_tree_down(&l, MPIR_Inter_radix(c));
}

/* ---- Bcast: from the root to the other group ----------------------------------------------------------------- */

static void bcast_direct(struct coll *c)
{
    struct coll_batch b;
    coll_batch_begin(&b, c);
    if (inter_opposite(c))
        MPIR_Coll_recv(c, c->rbuf, c->rcount, c->rtype, c->root);
    for (int i = 0; inter_at_root(c) && i < inter_remote(c); i++)
        MPIR_Coll_batch_send(&b, c->rbuf, c->rcount, c->rtype, i);
    MPIR_Coll_batch_end(&b);
}

static void bcast_leader(struct coll *c)
{
    struct coll l = MPIR_Inter_within(c);
    if (inter_at_root(c))
        MPIR_Coll_send(c, c->rbuf, c->rcount, c->rtype, 0);
    if (!inter_opposite(c))
        return;
    if (c->rank == 0)
        MPIR_Coll_recv(c, c->rbuf, c->rcount, c->rtype, c->root);
    MPIR_Inter_run(c, &l, COLL_BCAST);
}

/* ---- Gather: from the other group to the root ---------------------------------------------------------------- */

/* In a vector form nothing is sent where there is nothing. */
static bool leave_out(const struct coll *c, const struct coll_block *b)
{
    switch ((int)c->kind) {
    case COLL_INTER + COLL_GATHERV:
    case COLL_INTER + COLL_SCATTERV:
    case COLL_INTER + COLL_ALLGATHERV:
    case COLL_INTER + COLL_ALLTOALLV:
    case COLL_INTER + COLL_ALLTOALLW:
        return coll_empty(b);
    default:
        return false;
    }
}

static void gather_direct(struct coll *c)
{
    struct coll_batch batch;
    struct coll_block mine = { (void *)(uintptr_t)c->sbuf, c->scount, c->stype };
    if (inter_opposite(c) && !leave_out(c, &mine))
        MPIR_Coll_send(c, mine.buf, mine.count, mine.type, c->root);
    coll_batch_begin(&batch, c);
    for (int i = 0; inter_at_root(c) && i < inter_remote(c); i++) {
        struct coll_block b = MPIR_Coll_rblock(c, i);
        if (!leave_out(c, &b))
            MPIR_Coll_batch_recv(&batch, b.buf, b.count, b.type, i);
    }
    MPIR_Coll_batch_end(&batch);
}

/* Rank 0 gets the blocks of the local group: of all, one after the other. */
static void *gather_within(struct coll *c)
{
    struct coll l = MPIR_Inter_within(c);
    void *all = c->rank == 0 ? MPIR_Coll_temp(c, c->size * c->scount, c->stype) : NULL;
    l.rbuf = all;
    l.rcount = c->scount;
    l.rtype = c->stype;
    MPIR_Inter_run(c, &l, COLL_GATHER);
    return all;
}

static void gather_leader(struct coll *c)
{
    if (inter_opposite(c)) {
        void *all = gather_within(c);
        if (c->rank == 0)
            MPIR_Coll_send(c, all, c->size * c->scount, c->stype, c->root);
    }
    if (inter_at_root(c))
        MPIR_Coll_recv(c, c->rbuf, inter_remote(c) * c->rcount, c->rtype, 0);
}

/* ---- Scatter: from the root to the other group --------------------------------------------------------------- */

static void scatter_direct(struct coll *c)
{
    struct coll_batch batch;
    struct coll_block mine = { c->rbuf, c->rcount, c->rtype };
    if (inter_opposite(c) && !leave_out(c, &mine))
        MPIR_Coll_recv(c, mine.buf, mine.count, mine.type, c->root);
    coll_batch_begin(&batch, c);
    for (int i = 0; inter_at_root(c) && i < inter_remote(c); i++) {
        struct coll_block b = MPIR_Coll_sblock(c, i);
        if (!leave_out(c, &b))
            MPIR_Coll_batch_send(&batch, b.buf, b.count, b.type, i);
    }
    MPIR_Coll_batch_end(&batch);
}

static void scatter_leader(struct coll *c)
{
    struct coll l = MPIR_Inter_within(c);
    if (inter_at_root(c))
        MPIR_Coll_send(c, c->sbuf, inter_remote(c) * c->scount, c->stype, 0);
    if (!inter_opposite(c))
        return;
    if (c->rank == 0) {
        l.sbuf = MPIR_Coll_temp(c, c->size * c->rcount, c->rtype);
        MPIR_Coll_recv(c, (void *)(uintptr_t)l.sbuf, c->size * c->rcount, c->rtype, c->root);
    }
    l.scount = c->rcount;
    l.stype = c->rtype;
    MPIR_Inter_run(c, &l, COLL_SCATTER);
}

/* ---- Allgather: what each group has to all of the other ------------------------------------------------------ */

static void allgather_direct(struct coll *c)
{
    struct coll_batch batch;
    struct coll_block mine = { (void *)(uintptr_t)c->sbuf, c->scount, c->stype };
    coll_batch_begin(&batch, c);
    for (int64_t k = 0; k < rounds(c); k++) {
        int to = peer_to(c, k), from = peer_from(c, k);
        struct coll_block b = MPIR_Coll_rblock(c, from >= 0 ? from : 0);
        if (from >= 0 && !leave_out(c, &b))
            MPIR_Coll_batch_recv(&batch, b.buf, b.count, b.type, from);
        if (to >= 0 && !leave_out(c, &mine))
            MPIR_Coll_batch_send(&batch, mine.buf, mine.count, mine.type, to);
    }
    MPIR_Coll_batch_end(&batch);
}

static void allgather_leaders(struct coll *c)
{
    struct coll l = MPIR_Inter_within(c);
    int64_t theirs = inter_remote(c) * c->rcount;
    void *all = gather_within(c);
    if (c->rank == 0)
        MPIR_Coll_sendrecv(c, all, c->size * c->scount, c->stype, 0, c->rbuf, theirs, c->rtype, 0);
    l.rcount = theirs;
    MPIR_Inter_run(c, &l, COLL_BCAST);
}

/* ---- Allgather in rings: each block goes to one of the other group, and there round the group ---------------- */

/* The ranks of a group of p whose blocks go to rank i of the other one, of q. */
struct share {
    int64_t from, to;
};

static struct share share_of(int64_t p, int64_t q, int64_t i)
{
    return (struct share){ coll_part(p, (int32_t)q, i), coll_part(p, (int32_t)q, i + 1) };
}

/* To whom the block of this process goes. */
static int keeper(const struct coll *c)
{
    int q = inter_remote(c), i = 0;
    while (share_of(c->size, q, i).to <= c->rank)
        i++;
    return i;
}

/* How many messages a share takes, and the k-th, if there is such a one: all at once where its blocks are one
 * after the other. */
static int64_t messages_of(const struct coll *c, struct share s)
{
    return c->rcounts.p || s.to == s.from ? s.to - s.from : 1;
}

static bool message_of(const struct coll *c, struct share s, int64_t k, struct coll_block *b)
{
    if (k >= messages_of(c, s))
        return false;
    *b = MPIR_Coll_rblock(c, s.from + k);
    if (!c->rcounts.p)
        b->count *= s.to - s.from;
    return !leave_out(c, b);
}

/* Pass one share on to the next rank of the group, and get another from the one before. */
static void pass_on(struct coll *l, struct share out, struct share in)
{
    struct coll_batch batch;
    int next = (l->rank + 1) % l->size, before = (l->rank + l->size - 1) % l->size;
    coll_batch_begin(&batch, l);
    for (int64_t k = 0; k < messages_of(l, in) || k < messages_of(l, out); k++) {
        struct coll_block b;
        if (message_of(l, in, k, &b))
            MPIR_Coll_batch_recv(&batch, b.buf, b.count, b.type, before);
        if (message_of(l, out, k, &b))
            MPIR_Coll_batch_send(&batch, b.buf, b.count, b.type, next);
    }
    MPIR_Coll_batch_end(&batch);
}

static void allgather_rings(struct coll *c)
{
    struct coll l = MPIR_Inter_within(c);
    struct coll_batch batch;
    int64_t p = c->size, theirs = inter_remote(c);
    struct coll_block mine = { (void *)(uintptr_t)c->sbuf, c->scount, c->stype };
    struct share s = share_of(theirs, p, c->rank);
    coll_batch_begin(&batch, c);
    if (!leave_out(c, &mine))
        MPIR_Coll_batch_send(&batch, mine.buf, mine.count, mine.type, keeper(c));
    for (int64_t i = s.from; i < s.to; i++) {
        struct coll_block b = MPIR_Coll_rblock(c, i);
        if (!leave_out(c, &b))
            MPIR_Coll_batch_recv(&batch, b.buf, b.count, b.type, (int)i);
    }
    MPIR_Coll_batch_end(&batch);
    for (int64_t k = 0; k < p - 1; k++)
        pass_on(&l, share_of(theirs, p, (c->rank - k + p) % p),
                share_of(theirs, p, (c->rank - k - 1 + p) % p));
}

/* ---- Alltoall, alltoallv, alltoallw -------------------------------------------------------------------------- */

static void alltoall_linear(struct coll *c)
{
    struct coll_batch batch;
    coll_batch_begin(&batch, c);
    for (int64_t k = 0; k < rounds(c); k++) {
        int to = peer_to(c, k), from = peer_from(c, k);
        struct coll_block d = MPIR_Coll_rblock(c, from >= 0 ? from : 0);
        struct coll_block s = MPIR_Coll_sblock(c, to >= 0 ? to : 0);
        if (from >= 0 && !leave_out(c, &d))
            MPIR_Coll_batch_recv(&batch, d.buf, d.count, d.type, from);
        if (to >= 0 && !leave_out(c, &s))
            MPIR_Coll_batch_send(&batch, s.buf, s.count, s.type, to);
    }
    MPIR_Coll_batch_end(&batch);
}

/* One peer after the other. */
static void alltoall_pairwise(struct coll *c)
{
    for (int64_t k = 0; k < rounds(c); k++) {
        int to = peer_to(c, k), from = peer_from(c, k);
        struct coll_block d = MPIR_Coll_rblock(c, from >= 0 ? from : 0);
        struct coll_block s = MPIR_Coll_sblock(c, to >= 0 ? to : 0);
        bool in = from >= 0 && !leave_out(c, &d), out = to >= 0 && !leave_out(c, &s);
        if (in && out)
            MPIR_Coll_sendrecv(c, s.buf, s.count, s.type, to, d.buf, d.count, d.type, from);
        else if (in)
            MPIR_Coll_recv(c, d.buf, d.count, d.type, from);
        else if (out)
            MPIR_Coll_send(c, s.buf, s.count, s.type, to);
    }
}

/* ---- Costs --------------------------------------------------------------------------------------------------- */

static const double typical = 256;

struct coll_cost MPIR_Inter_direct_cost(const struct coll_size *s)
{
    double n = s->most, pairs = n * (s->p - n);
    return (struct coll_cost){ .rounds = 1,
                               .messages = 2 * n - 1,
                               .bytes = n * typical,
                               .waits = s->p,
                               .total_bytes = 2 * pairs * typical };
}

struct coll_cost MPIR_Inter_leaders_cost(const struct coll_size *s)
{
    double levels = 2 * MPIR_Coll_levels(s->most, 2) + 1;
    return (struct coll_cost){ .rounds = levels,
                               .messages = levels,
                               .bytes = levels * typical,
                               .waits = 2 * s->p,
                               .total_bytes = 2 * s->p * typical };
}

struct coll_cost MPIR_Inter_root_cost(const struct coll_size *s)
{
    double n = s->p;
    return (struct coll_cost){
        .rounds = 1, .messages = n, .bytes = n * typical, .waits = n, .total_bytes = n * typical
    };
}

struct coll_cost MPIR_Inter_leader_cost(const struct coll_size *s)
{
    double levels = 1 + MPIR_Coll_levels(s->p, 2);
    return (struct coll_cost){ .rounds = levels,
                               .messages = levels,
                               .bytes = levels * typical,
                               .waits = s->p + 1,
                               .total_bytes = s->p * typical };
}

/* With blocks that add up on their way. */
static struct coll_cost leader_blocks_cost(const struct coll_size *s)
{
    struct coll_cost within =
        MPIR_Coll_binomial_cost(&(struct coll_size){ .bytes = (int64_t)typical, .p = s->p });
    within.rounds += 1;
    within.messages += 1;
    within.bytes += s->p * typical;
    within.waits += 1;
    within.total_bytes += s->p * typical;
    return within;
}

static struct coll_cost leaders_blocks_cost(const struct coll_size *s)
{
    struct coll_cost cost = MPIR_Inter_leaders_cost(s);
    double n = s->most, levels = MPIR_Coll_levels(s->most, 2);
    cost.bytes += (levels + 1) * n * typical;
    cost.total_bytes += 2 * n * (s->p - n) * typical;
    return cost;
}

static struct coll_cost rings_cost(const struct coll_size *s)
{
    double n = s->most;
    return (struct coll_cost){ .rounds = n,
                               .messages = n,
                               .bytes = n * typical,
                               .waits = s->p * n,
                               .total_bytes = 2 * n * (s->p - n) * typical };
}

static struct coll_cost pairwise_cost(const struct coll_size *s)
{
    double n = s->most, pairs = n * (s->p - n);
    return (struct coll_cost){ .rounds = n,
                               .messages = n,
                               .bytes = n * typical,
                               .waits = s->p * n,
                               .total_bytes = 2 * pairs * typical };
}

static struct coll_cost inter_linear_cost(const struct coll_size *s)
{
    struct coll_cost cost = MPIR_Inter_direct_cost(s);
    double batches = 2.0 * s->most / COLL_BATCH + 1;
    cost.rounds = batches;
    cost.waits = batches * s->p;
    return cost;
}

/* ---- Tables -------------------------------------------------------------------------------------------------- */

const struct coll_alg MPIR_Inter_barrier_algs[] = {
    { "direct", 0, MPIR_Inter_direct_cost, barrier_direct },
    { "leaders", 0, MPIR_Inter_leaders_cost, barrier_leaders },
    { 0 },
};

const struct coll_alg MPIR_Inter_bcast_algs[] = {
    { "direct", 0, MPIR_Inter_root_cost, bcast_direct },
    { "leader", 0, MPIR_Inter_leader_cost, bcast_leader },
    { 0 },
};

const struct coll_alg MPIR_Inter_gather_algs[] = {
    { "direct", 0, MPIR_Inter_root_cost, gather_direct },
    { "leader", 0, leader_blocks_cost, gather_leader },
    { 0 },
};

const struct coll_alg MPIR_Inter_gatherv_algs[] = {
    { "direct", 0, MPIR_Inter_root_cost, gather_direct },
    { 0 },
};

const struct coll_alg MPIR_Inter_scatter_algs[] = {
    { "direct", 0, MPIR_Inter_root_cost, scatter_direct },
    { "leader", 0, leader_blocks_cost, scatter_leader },
    { 0 },
};

const struct coll_alg MPIR_Inter_scatterv_algs[] = {
    { "direct", 0, MPIR_Inter_root_cost, scatter_direct },
    { 0 },
};

const struct coll_alg MPIR_Inter_allgather_algs[] = {
    { "direct", 0, MPIR_Inter_direct_cost, allgather_direct },
    { "leaders", 0, leaders_blocks_cost, allgather_leaders },
    { "rings", 0, rings_cost, allgather_rings },
    { 0 },
};

const struct coll_alg MPIR_Inter_allgatherv_algs[] = {
    { "direct", 0, MPIR_Inter_direct_cost, allgather_direct },
    { "rings", 0, rings_cost, allgather_rings },
    { 0 },
};

const struct coll_alg MPIR_Inter_alltoall_algs[] = {
    { "linear", 0, inter_linear_cost, alltoall_linear },
    { "pairwise", 0, pairwise_cost, alltoall_pairwise },
    { 0 },
};

/* ---- What the choice, and rules, depend on ------------------------------------------------------------------- */

int MPIR_Inter_in_place(const char *arg)
{
    return MPIR_Coll_in_place_misuse(arg, "on intracommunicators");
}

void MPIR_Inter_all_is(const struct coll *c, struct coll_size *s)
{
    s->p = c->size + inter_remote(c);
    s->most = (int32_t)rounds(c);
}

void MPIR_Inter_rooted_is(const struct coll *c, struct coll_size *s)
{
    s->p = s->most = inter_opposite(c) ? c->size : inter_remote(c);
}

int MPIR_Inter_barrier_is(struct coll *c, struct coll_size *s)
{
    c->stype = MPIR_Datatype_predefined(KEEL_MPI_BYTE);
    MPIR_Inter_all_is(c, s);
    return 0;
}

static int64_t size_of(int64_t count, const MPIR_Datatype *type)
{
    return count * type->adi.size;
}

int MPIR_Inter_bcast_is(struct coll *c, struct coll_size *s)
{
    MPIR_Inter_rooted_is(c, s);
    s->bytes = inter_at_root(c) || inter_opposite(c) ? size_of(c->rcount, c->rtype) : 0;
    return 0;
}

int MPIR_Inter_gather_is(struct coll *c, struct coll_size *s)
{
    bool vector = (int)c->kind == COLL_INTER + COLL_GATHERV;
    MPIR_Inter_rooted_is(c, s);
    if (inter_opposite(c) && coll_in_place(c->sbuf))
        return MPIR_Inter_in_place("sendbuf");
    if (vector) {
        c->nrecv = inter_at_root(c) ? inter_remote(c) : 0;
        return MPIR_Coll_check_counts("recvcounts", c->rcounts, c->nrecv);
    }
    if (inter_opposite(c))
        s->bytes = size_of(c->scount, c->stype);
    else if (inter_at_root(c))
        s->bytes = size_of(c->rcount, c->rtype);
    return 0;
}

int MPIR_Inter_scatter_is(struct coll *c, struct coll_size *s)
{
    bool vector = (int)c->kind == COLL_INTER + COLL_SCATTERV;
    MPIR_Inter_rooted_is(c, s);
    if (inter_opposite(c) && coll_in_place(c->rbuf))
        return MPIR_Inter_in_place("recvbuf");
    if (vector) {
        c->nsend = inter_at_root(c) ? inter_remote(c) : 0;
        return MPIR_Coll_check_counts("sendcounts", c->scounts, c->nsend);
    }
    if (inter_opposite(c))
        s->bytes = size_of(c->rcount, c->rtype);
    else if (inter_at_root(c))
        s->bytes = size_of(c->scount, c->stype);
    return 0;
}

/* Bytes: of all blocks of both groups. */
int MPIR_Inter_allgather_is(struct coll *c, struct coll_size *s)
{
    MPIR_Inter_all_is(c, s);
    if (coll_in_place(c->sbuf))
        return MPIR_Inter_in_place("sendbuf");
    if ((int)c->kind == COLL_INTER + COLL_ALLGATHERV) {
        c->nrecv = inter_remote(c);
        return MPIR_Coll_check_counts("recvcounts", c->rcounts, c->nrecv);
    }
    s->bytes = c->size * size_of(c->scount, c->stype) + inter_remote(c) * size_of(c->rcount, c->rtype);
    return 0;
}

/* Bytes: of a block each way. */
int MPIR_Inter_alltoall_is(struct coll *c, struct coll_size *s)
{
    MPIR_Inter_all_is(c, s);
    c->nsend = c->nrecv = inter_remote(c);
    if (coll_in_place(c->sbuf))
        return MPIR_Inter_in_place("sendbuf");
    if ((int)c->kind == COLL_INTER + COLL_ALLTOALL) {
        s->bytes = size_of(c->scount, c->stype) + size_of(c->rcount, c->rtype);
        return 0;
    }
    int err = MPIR_Coll_check_counts("sendcounts", c->scounts, inter_remote(c));
    return err ? err : MPIR_Coll_check_counts("recvcounts", c->rcounts, inter_remote(c));
}
