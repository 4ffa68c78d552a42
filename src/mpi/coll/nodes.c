/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.c: collectives of a communicator over several nodes: a part among the members of each node, which may have
 * a team, and a part among the leaders, so that nothing goes to a node twice. */
#include "nodes.h"
#include "bodies.h"
#include "inter.h"
#include <stdlib.h>
#include <string.h>

/* ---- What is kept -------------------------------------------------------------------------------------------- */

static void nodes_release(MPIR_Comm *comm)
{
    if (comm)
        MPIR_Comm_release(comm);
}

void MPIR_Coll_nodes_free(MPIR_Comm *comm)
{
    struct MPIR_Nodes *n = comm->nodes;
    comm->nodes = NULL;
    comm->nodes_asked = false;
    if (!n)
        return;
    nodes_release(n->node);
    nodes_release(n->leaders);
    free(n);
}

enum { PART_NODE, PART_LEADERS }; /* of MPIR_PARTS */

static int32_t rank_in(const MPIR_Comm *comm, const MPIR_Comm *part, int32_t i)
{
    int32_t g = MPIR_Group_grank(part->group, i);
    return MPIR_Group_rank_of(comm->group, g);
}

static int by_id(const void *a, const void *b)
{
    const struct nodes_id *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static void put_in_order(struct MPIR_Nodes *n)
{
    for (int32_t i = 0; i < n->nodes; i++) {
        n->row[i].before = i ? n->row[i - 1].before + n->row[i - 1].members : 0;
        n->by_id[i] = (struct nodes_id){ n->row[i].id, i };
    }
    qsort(n->by_id, (size_t)n->nodes, sizeof n->by_id[0], by_id);
}

/* The rows and what follows from them, by what this process knows of where the others are.  place: [nodes of the
 * job], all -1. */
static void survey(const MPIR_Comm *comm, struct MPIR_Nodes *n, int32_t *place)
{
    n->blocks = true;
    for (int32_t i = 0; i < comm->adi.size; i++) {
        int32_t id = MPID_Node_of(MPIR_Group_grank(comm->group, i));
        if (place[id] < 0) {
            place[id] = n->nodes;
            n->row[n->nodes++] = (struct nodes_row){ .id = id, .first = i };
        }
        struct nodes_row *row = &n->row[place[id]];
        n->blocks = n->blocks && i - row->first == row->members;
        row->members++;
        n->most = row->members > n->most ? row->members : n->most;
    }
    n->mine = place[MPID_World()->node];
    n->by_id = (struct nodes_id *)(n->row + n->nodes);
    put_in_order(n);
}

/* NULL without memory. */
static struct MPIR_Nodes *surveyed(const MPIR_Comm *comm)
{
    int32_t nodes = MPID_World()->nodes, most = nodes < comm->adi.size ? nodes : comm->adi.size;
    struct MPIR_Nodes *n = calloc(1, sizeof *n + (size_t)most * (sizeof n->row[0] + sizeof n->by_id[0]));
    int32_t *place = malloc((size_t)nodes * sizeof *place);
    for (int32_t i = 0; place && i < nodes; i++)
        place[i] = -1;
    if (n && place) {
        survey(comm, n, place);
    } else {
        free(n);
        n = NULL;
    }
    free(place);
    return n;
}

/* Those on this node, or the leaders. */
static int nodes_group_of(const MPIR_Comm *comm, const struct MPIR_Nodes *n, bool leaders, MPIR_Group **group)
{
    int32_t m = leaders ? n->nodes : n->row[n->mine].members, k = 0;
    int32_t *granks = malloc((size_t)m * sizeof *granks);
    if (!granks)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a group of %d processes", m);
    for (int32_t i = leaders ? 0 : n->row[n->mine].first; k < m; i++) {
        int32_t grank = MPIR_Group_grank(comm->group, leaders ? n->row[i].first : i);
        if (leaders || MPID_Node_of(grank) == n->row[n->mine].id)
            granks[k++] = grank;
    }
    return MPIR_Group_adopt(m, granks, group);
}

static bool on_several_nodes(const MPIR_Comm *comm)
{
    /* Members of other jobs have node numbers of their own, and those of jobs on one node do not come here: nobody
     * asks. */
    if (MPIR_Group_other_job(comm->group) != MPI_UNDEFINED)
        return false;
    for (int32_t i = 0; i < comm->adi.size; i++)
        if (MPID_Node_of(MPIR_Group_grank(comm->group, i)) != MPID_World()->node)
            return true;
    return false;
}

void MPIR_Coll_nodes_begin(struct coll_nodes_making *m, MPIR_Comm *comm, int tag)
{
    MPIR_Group *groups[MPIR_PARTS] = { NULL };
    int err = 0;
    *m = (struct coll_nodes_making){ .tag = tag };
    comm->nodes_asked = true;
    if (!on_several_nodes(comm))
        return;
    m->nodes = surveyed(comm);
    if (!m->nodes)
        err = MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for the nodes of a communicator");
    bool composed = !err && m->nodes->most > 1;
    if (composed)
        err = nodes_group_of(comm, m->nodes, false, &groups[PART_NODE]);
    if (composed && !err && m->nodes->row[m->nodes->mine].first == comm->adi.rank)
        err = nodes_group_of(comm, m->nodes, true, &groups[PART_LEADERS]);
    m->parts = MPIR_Parts_begin(comm, tag, groups, err);
    for (int i = 0; i < MPIR_PARTS; i++)
        if (groups[i])
            MPIR_Group_release(groups[i]);
    if (!m->parts)
        free(m->nodes);
}

/* Its messages belong to calls of comm, whose parts have the same tag; or of an intercommunicator, if comm is its
 * local group (MPIR_Inter_within). */
static void nodes_follow(MPIR_Comm *part, const MPIR_Comm *comm, bool local)
{
    int of = local ? MPID_CONTEXT_PT2PT : MPID_CONTEXT_COLL;
    MPID_Refused_with(&part->adi, MPIR_Comm_context(part, MPID_CONTEXT_PT2PT), MPIR_Comm_context(comm, of));
    MPID_Refused_with(&part->adi, MPIR_Comm_context(part, MPID_CONTEXT_COLL), MPIR_Comm_context(comm, of));
}

/* All members have the parts, so nobody has refused the call in which they are made, and what those of one node
 * agree on in it is safe. */
static void take_parts(struct coll_nodes_making *m, MPIR_Comm *comm, MPIR_Comm *const parts[MPIR_PARTS])
{
    MPIR_Comm *node = parts[PART_NODE], *leaders = parts[PART_LEADERS];
    comm->nodes = m->nodes;
    comm->nodes->node = node;
    comm->nodes->leaders = leaders;
    nodes_follow(node, comm, m->tag == COLL_TAG_NODES);
    if (leaders) {
        nodes_follow(leaders, comm, m->tag == COLL_TAG_NODES);
        leaders->apart = true;
        leaders->team = MPIR_TEAM_NONE;
    }
    if (node->adi.size == 1) {
        node->team = MPIR_TEAM_NONE;
        return;
    }
    uint32_t number = MPIR_Coll_team_number(node);
    m->team = MPIR_Agreement_begin(node, MPID_CONTEXT_COLL, COLL_TAG_TEAM, &number, 1);
    if (!m->team) /* there is no memory to wait for the others later */
        (void)MPIR_Coll_team_ask(node, COLL_TAG_TEAM);
}

static bool parts_over(struct coll_nodes_making *m, MPIR_Comm *comm)
{
    MPIR_Comm *parts[MPIR_PARTS];
    int err;
    if (!MPIR_Parts_step(m->parts, parts, &err))
        return false;
    m->parts = NULL;
    m->refused = err ? MPIR_Refused(comm, MPID_CONTEXT_COLL, m->tag) : 0;
    if (m->refused)
        comm->nodes_asked = false;
    comm->apart = !err && m->nodes->most == 1;
    if (err || comm->apart)
        free(m->nodes);
    else
        take_parts(m, comm, parts);
    return true;
}

bool MPIR_Coll_nodes_step(struct coll_nodes_making *m, MPIR_Comm *comm)
{
    uint32_t number;
    int err;
    if (m->parts && !parts_over(m, comm))
        return false;
    if (!m->team)
        return true;
    if (!MPIR_Agreement_step(m->team, &number, 1, &err))
        return false;
    m->team = NULL;
    MPIR_Coll_team_join(comm->nodes->node, err ? 0 : number);
    return true;
}

void MPIR_Coll_nodes_heard(MPIR_Comm *comm)
{
    struct MPIR_Nodes *n = comm->nodes;
    if (!n)
        return;
    n->node->facts = comm->facts;
    n->node->facts.asked = 0;
    if (n->leaders)
        n->leaders->facts = n->node->facts;
}

/* What goes wrong is no error of the call: it is done by other rows, and hears itself of a process that is lost. */
int MPIR_Coll_nodes_ask(MPIR_Comm *comm, int tag)
{
    struct coll_nodes_making m;
    MPIR_Coll_nodes_begin(&m, comm, tag);
    while (!MPIR_Coll_nodes_step(&m, comm))
        MPID_DeviceCheck(MPID_BLOCKING);
    MPIR_Coll_nodes_heard(comm);
    return m.refused ? MPIR_Refused(comm, MPID_CONTEXT_COLL, tag) : 0;
}

void MPIR_Coll_nodes_give_up(MPIR_Comm *comm, uint32_t when)
{
    MPIR_Comm *node = comm->nodes->node;
    int tag = (int)((when - 1) & (MPIR_COMM_TAGS - 1));
    for (int k = 0; k < 2; k++) { /* no call has more parts on a node */
        node->coll_seq = coll_nodes_number(tag, k) + 1;
        MPIR_Coll_team_give_up(node);
    }
}

void MPIR_Coll_nodes_revoke(MPIR_Comm *comm)
{
    const struct MPIR_Nodes *n = comm->nodes;
    if (!n)
        return;
    MPIR_Coll_team_leave(n->node);
    if (n->leaders)
        MPIR_Coll_team_leave(n->leaders);
}

void MPIR_Coll_nodes_is(const MPIR_Comm *comm, struct coll_size *s)
{
    const struct MPIR_Nodes *n = s->anywhere ? NULL : comm->nodes;
    s->nodes = n ? n->nodes : 0;
    s->largest = n ? n->most : 0;
    s->blocks = n && n->blocks;
    s->apart = comm->apart && !s->anywhere;
}

int32_t MPIR_Coll_node_of(const MPIR_Comm *comm, int32_t rank)
{
    const struct MPIR_Nodes *n = comm->nodes;
    int32_t key = n->blocks ? rank : MPID_Node_of(MPIR_Group_grank(comm->group, rank));
    int32_t low = 0, high = n->nodes - 1;
    while (low < high) {
        int32_t mid = low + (high - low + 1) / 2;
        if ((n->blocks ? n->row[mid].first : n->by_id[mid].id) <= key)
            low = mid;
        else
            high = mid - 1;
    }
    return n->blocks ? low : n->by_id[low].place;
}

static int32_t node_of(const struct coll *c, int32_t rank)
{
    return MPIR_Coll_node_of(c->comm, rank);
}

int32_t MPIR_Coll_node_member(const MPIR_Comm *comm, int32_t i)
{
    return comm->nodes->blocks ? comm->nodes->row[comm->nodes->mine].first + i
                               : rank_in(comm, comm->nodes->node, i);
}

/* Of a rank on this node. */
static int32_t rank_on_node(const struct coll *c, int32_t rank)
{
    return MPIR_Group_rank_of(c->comm->nodes->node->group, MPIR_Group_grank(c->comm->group, rank));
}

/* ---- Parts --------------------------------------------------------------------------------------------------- */

static void part(struct coll *c, MPIR_Comm *comm, struct coll p)
{
    if (c->st->sched || c->st->by_messages || c->which != MPID_CONTEXT_COLL) {
        p.st = c->st;
        p.comm = comm;
        p.rank = comm->adi.rank;
        p.size = comm->adi.size;
        p.which = MPID_CONTEXT_PT2PT;
        p.tag = c->tag;
        p.room = COLL_NO_ROOM;
        MPIR_Inter_run(c, &p, p.kind);
    } else {
        MPIR_Coll_within(c, &p, comm);
    }
}

static struct coll nodes_whole(const struct coll *c, enum coll_kind kind, int root, const void *in, void *out)
{
    return (struct coll){ .kind = kind,
                          .root = root,
                          .op = c->op,
                          .sbuf = in,
                          .rbuf = out,
                          .rcount = c->rcount,
                          .rtype = c->rtype };
}

/* Messages among the leaders, or on the node, that are no collective of theirs. */
static struct coll messages(const struct coll *c, MPIR_Comm *comm)
{
    struct coll p = *c;
    p.comm = comm;
    p.which = MPID_CONTEXT_PT2PT;
    return p;
}

static struct coll tree_on(const struct coll *c, MPIR_Comm *comm)
{
    struct coll p = messages(c, comm);
    p.rank = comm->adi.rank;
    p.size = comm->adi.size;
    return p;
}

void MPIR_Coll_nodes_up(struct coll *c, int radix)
{
    struct MPIR_Nodes *n = c->comm->nodes;
    struct coll p = tree_on(c, n->node);
    MPIR_Coll_tree_up(&p, radix);
    if (n->leaders) {
        p = tree_on(c, n->leaders);
        MPIR_Coll_tree_up(&p, radix);
    }
}

void MPIR_Coll_nodes_down(struct coll *c, int radix)
{
    struct MPIR_Nodes *n = c->comm->nodes;
    struct coll p;
    if (n->leaders) {
        p = tree_on(c, n->leaders);
        MPIR_Coll_tree_down(&p, radix);
    }
    p = tree_on(c, n->node);
    MPIR_Coll_tree_down(&p, radix);
}

/* ---- Ranks that lie on the nodes in no order ----------------------------------------------------------------- */

/* Blocks in the order of ranks, and the same node by node, in the order of the leaders, on each in the order of
 * its members. */
struct order {
    int64_t *at;   /* of each node: where the next of its blocks begins, in elements */
    int64_t count; /* of a block; BY_RCOUNTS: rcounts tells */
    MPIR_Datatype *type;
    char *by_rank, *by_node;
    bool to_nodes;
};
enum { BY_RCOUNTS = -1 };

static int64_t length_of(const struct coll *c, int64_t count, int32_t rank)
{
    return count != BY_RCOUNTS ? count : MPIR_Coll_lengths(c, rank, rank + 1);
}

/* The elements of each node. */
static void node_lengths(const struct coll *c, int64_t count, int64_t *sum)
{
    const struct MPIR_Nodes *n = c->comm->nodes;
    for (int32_t i = 0; i < n->nodes; i++)
        sum[i] = count != BY_RCOUNTS ? n->row[i].members * count
                 : n->blocks ? MPIR_Coll_lengths(c, n->row[i].first, n->row[i].first + n->row[i].members)
                             : 0;
    for (int32_t r = 0; count == BY_RCOUNTS && !n->blocks && r < c->size; r++)
        sum[node_of(c, r)] += length_of(c, count, r);
}

/* Where the blocks of each begin. */
static void node_starts(const struct coll *c, int64_t count, int64_t *at)
{
    int64_t next = 0;
    node_lengths(c, count, at);
    for (int32_t i = 0; i < c->comm->nodes->nodes; i++) {
        int64_t sum = at[i];
        at[i] = next;
        next += sum;
    }
}

static void nodes_move(const MPIR_Datatype *type, const void *from, void *to, int64_t count)
{
    MPID_Copy(from, count, &type->adi, to, count, &type->adi, count * type->adi.size);
}

static void reorder(struct coll *c, void *arg)
{
    const struct order *o = arg;
    int64_t place = 0;
    if (c->st->mute)
        return;
    node_starts(c, o->count, o->at);
    for (int32_t r = 0; r < c->size; r++) {
        int64_t count = length_of(c, o->count, r), *at = &o->at[node_of(c, r)];
        char *by_rank = coll_at(o->by_rank, place, o->type), *by_node = coll_at(o->by_node, *at, o->type);
        if (o->to_nodes)
            nodes_move(o->type, by_rank, by_node, count);
        else
            nodes_move(o->type, by_node, by_rank, count);
        place += count;
        *at += count;
    }
}

static void put_order(struct coll *c, struct order o)
{
    struct order *kept = MPIR_Coll_temp(c, sizeof *kept, coll_bytes());
    o.at = MPIR_Coll_temp(c, (int64_t)sizeof *o.at * c->comm->nodes->nodes, coll_bytes());
    if (c->st->mute)
        return;
    *kept = o;
    MPIR_Coll_call(c, reorder, kept);
}

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

void MPIR_Coll_nodes_barrier(struct coll *c)
{
    struct MPIR_Nodes *n = c->comm->nodes;
    part(c, n->node, (struct coll){ .kind = COLL_BARRIER });
    if (n->leaders)
        part(c, n->leaders, (struct coll){ .kind = COLL_BARRIER });
    part(c, n->node, (struct coll){ .kind = COLL_BARRIER });
}

void MPIR_Coll_nodes_bcast(struct coll *c)
{
    struct MPIR_Nodes *n = c->comm->nodes;
    int32_t from = node_of(c, c->root);
    if (n->mine == from)
        part(c, n->node, nodes_whole(c, COLL_BCAST, rank_on_node(c, c->root), NULL, c->rbuf));
    if (n->leaders)
        part(c, n->leaders, nodes_whole(c, COLL_BCAST, from, NULL, c->rbuf));
    if (n->mine != from)
        part(c, n->node, nodes_whole(c, COLL_BCAST, 0, NULL, c->rbuf));
}

/* Nobody waits for the root: a root beside its leader gets everything from its node, whose leader brings what the
 * other nodes have.  Where operands are to keep their order it gets the result from the leader. */
void MPIR_Coll_nodes_reduce(struct coll *c)
{
    struct MPIR_Nodes *n = c->comm->nodes;
    int32_t to = node_of(c, c->root), root = n->mine == to ? rank_on_node(c, c->root) : 0;
    bool at_root = c->rank == c->root, root_last = root != 0 && c->op->commutative;
    void *result = n->leaders ? at_root ? c->rbuf : MPIR_Coll_temp(c, c->rcount, c->rtype) : c->rbuf;
    const void *own = coll_in_place(c->sbuf) && !n->leaders ? c->rbuf : c->sbuf;
    if (!root_last)
        part(c, n->node, nodes_whole(c, COLL_REDUCE, 0, own, result));
    if (n->leaders)
        part(c, n->leaders,
             nodes_whole(c, COLL_REDUCE, to,
                         root_last       ? c->sbuf
                         : n->mine == to ? MPI_IN_PLACE
                                         : result,
                         result));
    struct coll p = messages(c, n->node);
    if (root_last)
        part(c, n->node, nodes_whole(c, COLL_REDUCE, root, n->leaders ? result : c->sbuf, c->rbuf));
    else if (root != 0 && n->leaders)
        MPIR_Coll_send(&p, result, c->rcount, c->rtype, root);
    else if (root != 0 && at_root)
        MPIR_Coll_recv(&p, c->rbuf, c->rcount, c->rtype, 0);
}

void MPIR_Coll_nodes_allreduce(struct coll *c)
{
    struct MPIR_Nodes *n = c->comm->nodes;
    const void *in = coll_in_place(c->sbuf) && !n->leaders ? c->rbuf : c->sbuf;
    part(c, n->node, nodes_whole(c, COLL_REDUCE, 0, in, n->leaders ? c->rbuf : NULL));
    if (n->leaders)
        part(c, n->leaders, nodes_whole(c, COLL_ALLREDUCE, 0, MPI_IN_PLACE, c->rbuf));
    part(c, n->node, nodes_whole(c, COLL_BCAST, 0, NULL, c->rbuf));
}

/* Blocks of a rooted collective, as this process has them: `count` elements of `type` each, node by node. */
struct blocks {
    int64_t count;
    MPIR_Datatype *type;
    void *all; /* of all ranks; or NULL */
};

static void *block_at(const struct blocks *b, int64_t rank)
{
    return coll_at(b->all, rank * b->count, b->type);
}

/* Those of all other nodes, between the leader and its peers. */
static void with_leaders(struct coll *c, const struct blocks *b, bool sends)
{
    struct MPIR_Nodes *n = c->comm->nodes;
    struct coll p = messages(c, n->leaders);
    struct coll_batch batch;
    coll_batch_begin(&batch, &p);
    for (int32_t k = 1; k < n->nodes; k++) {
        int32_t i = (n->mine + k) % n->nodes;
        const struct nodes_row *row = &n->row[i];
        if (sends)
            MPIR_Coll_batch_send(&batch, block_at(b, row->before), row->members * b->count, b->type, i);
        else
            MPIR_Coll_batch_recv(&batch, block_at(b, row->before), row->members * b->count, b->type, i);
    }
    MPIR_Coll_batch_end(&batch);
}

/* The same between the leader and a root beside it, which is `other` on the node: the blocks of the nodes before
 * this one, and those behind. */
static void with_root(struct coll *c, const struct blocks *b, int32_t other, bool sends)
{
    struct MPIR_Nodes *n = c->comm->nodes;
    const struct nodes_row *row = &n->row[n->mine];
    struct coll p = messages(c, n->node);
    int32_t from[2] = { 0, row->before + row->members }, end[2] = { row->before, c->size };
    for (int i = 0; i < 2; i++) {
        if (from[i] < end[i] && sends)
            MPIR_Coll_send(&p, block_at(b, from[i]), (end[i] - from[i]) * b->count, b->type, other);
        else if (from[i] < end[i])
            MPIR_Coll_recv(&p, block_at(b, from[i]), (end[i] - from[i]) * b->count, b->type, other);
    }
}

/* Have all nodes as many members? */
static bool alike(const struct coll *c)
{
    const struct MPIR_Nodes *n = c->comm->nodes;
    return (int64_t)n->nodes * n->most == c->size;
}

/* The root's node gathers to the root; the others' blocks come by way of the leaders. */
void MPIR_Coll_nodes_gather(struct coll *c)
{
    struct MPIR_Nodes *n = c->comm->nodes;
    const struct nodes_row *row = &n->row[n->mine];
    int32_t to = node_of(c, c->root), root = n->mine == to ? rank_on_node(c, c->root) : 0;
    bool at_root = c->rank == c->root;
    struct blocks b = { at_root ? c->rcount : c->scount, at_root ? c->rtype : c->stype,
                        at_root ? c->rbuf : NULL };
    struct coll p = {
        .kind = COLL_GATHER, .root = root, .sbuf = c->sbuf, .scount = c->scount, .stype = c->stype
    };
    if (at_root && !n->blocks) {
        b.all = MPIR_Coll_temp(c, c->size * b.count, b.type);
        if (coll_in_place(c->sbuf)) {
            p.sbuf = coll_at(c->rbuf, c->rank * b.count, b.type);
            p.scount = b.count;
            p.stype = b.type;
        }
    }
    if (n->leaders && !at_root)
        b.all = MPIR_Coll_temp(c, (n->mine == to ? c->size : row->members) * b.count, b.type);
    if (n->mine != to ? n->leaders != NULL : at_root) {
        p.rbuf = n->mine == to ? block_at(&b, row->before) : b.all;
        p.rcount = b.count;
        p.rtype = b.type;
    }
    part(c, n->node, p);
    if (n->leaders && alike(c)) {
        p = (struct coll){ .kind = COLL_GATHER, .root = to };
        p.sbuf = n->mine == to ? MPI_IN_PLACE : b.all;
        p.rbuf = n->mine == to ? b.all : NULL;
        p.scount = p.rcount = row->members * b.count;
        p.stype = p.rtype = b.type;
        part(c, n->leaders, p);
    } else if (n->leaders && n->mine != to) {
        p = messages(c, n->leaders);
        MPIR_Coll_send(&p, b.all, row->members * b.count, b.type, to);
    } else if (n->leaders) {
        with_leaders(c, &b, false);
    }
    if (root != 0 && n->leaders)
        with_root(c, &b, root, true);
    else if (root != 0 && at_root)
        with_root(c, &b, 0, false);
    if (at_root && !n->blocks)
        put_order(c,
                  (struct order){ .count = b.count, .type = b.type, .by_rank = c->rbuf, .by_node = b.all });
}

/* The same the other way. */
void MPIR_Coll_nodes_scatter(struct coll *c)
{
    struct MPIR_Nodes *n = c->comm->nodes;
    const struct nodes_row *row = &n->row[n->mine];
    int32_t from = node_of(c, c->root), root = n->mine == from ? rank_on_node(c, c->root) : 0;
    bool at_root = c->rank == c->root;
    struct blocks b = { at_root ? c->scount : c->rcount, at_root ? c->stype : c->rtype,
                        at_root ? (void *)(uintptr_t)c->sbuf : NULL };
    struct coll p = {
        .kind = COLL_SCATTER, .root = root, .rbuf = c->rbuf, .rcount = c->rcount, .rtype = c->rtype
    };
    if (at_root && !n->blocks) {
        char *by_rank = b.all;
        b.all = MPIR_Coll_temp(c, c->size * b.count, b.type);
        put_order(
            c,
            (struct order){
                .count = b.count, .type = b.type, .by_rank = by_rank, .by_node = b.all, .to_nodes = true });
    }
    if (n->leaders && !at_root)
        b.all = MPIR_Coll_temp(c, (n->mine == from ? c->size : row->members) * b.count, b.type);
    if (root != 0 && at_root)
        with_root(c, &b, 0, true);
    else if (root != 0 && n->leaders)
        with_root(c, &b, root, false);
    if (n->leaders && alike(c)) {
        struct coll among = { .kind = COLL_SCATTER, .root = from };
        among.sbuf = n->mine == from ? b.all : NULL;
        among.rbuf = n->mine == from ? MPI_IN_PLACE : b.all;
        among.scount = among.rcount = row->members * b.count;
        among.stype = among.rtype = b.type;
        part(c, n->leaders, among);
    } else if (n->leaders && n->mine != from) {
        struct coll from_root = messages(c, n->leaders);
        MPIR_Coll_recv(&from_root, b.all, row->members * b.count, b.type, from);
    } else if (n->leaders) {
        with_leaders(c, &b, true);
    }
    if (n->mine != from ? n->leaders != NULL : at_root) {
        p.sbuf = n->mine == from ? block_at(&b, row->before) : b.all;
        p.scount = b.count;
        p.stype = b.type;
    }
    part(c, n->node, p);
}

/* Each process's own block is in its place. */
void MPIR_Coll_nodes_allgather(struct coll *c)
{
    struct MPIR_Nodes *n = c->comm->nodes;
    void *own = coll_at(c->rbuf, c->rank * c->rcount, c->rtype);
    char *all = n->blocks ? c->rbuf : MPIR_Coll_temp(c, c->size * c->rcount, c->rtype);
    struct coll p = { .kind = COLL_GATHER,
                      .sbuf = own,
                      .scount = c->rcount,
                      .stype = c->rtype,
                      .rcount = c->rcount,
                      .rtype = c->rtype };
    if (n->leaders) {
        p.sbuf = n->blocks ? MPI_IN_PLACE : own;
        p.rbuf = coll_at(all, n->row[n->mine].before * c->rcount, c->rtype);
    }
    part(c, n->node, p);
    if (n->leaders) {
        int64_t *counts = MPIR_Coll_must_have(c, (int64_t)(2 * sizeof *counts) * n->nodes);
        for (int32_t i = 0; i < n->nodes; i++) {
            counts[i] = n->row[i].members * c->rcount;
            counts[n->nodes + i] = n->row[i].before * c->rcount;
        }
        part(c, n->leaders,
             (struct coll){ .kind = COLL_ALLGATHERV,
                            .sbuf = MPI_IN_PLACE,
                            .rbuf = all,
                            .rcounts = { counts, true },
                            .rdispls = { counts + n->nodes, true },
                            .rtype = c->rtype });
    }
    struct coll down = nodes_whole(c, COLL_BCAST, 0, NULL, all);
    down.rcount = c->size * c->rcount;
    part(c, n->node, down);
    if (!n->blocks)
        put_order(c,
                  (struct order){ .count = c->rcount, .type = c->rtype, .by_rank = c->rbuf, .by_node = all });
}

/* Where the blocks of all lie one after the other, in the order of the ranks, without gaps; NULL: they do not. */
static char *in_a_row(const struct coll *c)
{
    int64_t at = 0, before = 0;
    if (!c->rtype->adi.is_contig)
        return NULL;
    for (int64_t i = 0, seen = 0; i < c->size; i++) {
        int64_t count = MPIR_counts_get(c->rcounts, i), displ = MPIR_counts_get(c->rdispls, i);
        if (count == 0)
            continue;
        if (seen++ == 0)
            at = displ;
        else if (displ != at + before)
            return NULL;
        before += count;
    }
    return (char *)coll_at(c->rbuf, at, c->rtype) + c->rtype->adi.true_lb;
}

/* The blocks of this node's members to their leader, as bytes: one after the other at `here`. */
static void bring_blocks(struct coll *c, char *here)
{
    struct MPIR_Nodes *n = c->comm->nodes;
    const struct nodes_row *row = &n->row[n->mine];
    struct coll p = messages(c, n->node);
    struct coll_block mine = MPIR_Coll_rblock(c, c->rank);
    int64_t at = mine.count * mine.type->adi.size;
    struct coll_batch batch;
    coll_batch_begin(&batch, &p);
    if (!n->leaders && !coll_empty(&mine))
        MPIR_Coll_batch_send(&batch, mine.buf, mine.count, mine.type, 0);
    for (int32_t i = 1; n->leaders && i < row->members; i++) {
        struct coll_block b = MPIR_Coll_rblock(c, MPIR_Coll_node_member(c->comm, i));
        int64_t bytes = b.count * b.type->adi.size;
        if (bytes > 0)
            MPIR_Coll_batch_recv(&batch, here + at, bytes, coll_bytes(), i);
        at += bytes;
    }
    MPIR_Coll_batch_end(&batch);
}

static void spread_blocks(struct coll *c, const char *all)
{
    int64_t unit = c->rtype->adi.size;
    int64_t *at = MPIR_Coll_temp(c, (int64_t)sizeof *at * c->comm->nodes->nodes, coll_bytes());
    if (c->st->mute)
        return;
    node_starts(c, BY_RCOUNTS, at);
    for (int32_t i = 0; i < c->size; i++) {
        struct coll_block b = MPIR_Coll_rblock(c, i);
        int64_t *from = &at[node_of(c, i)];
        if (i != c->rank && !coll_empty(&b))
            MPIR_Coll_copy(c, all + *from * unit, b.count * unit, coll_bytes(), b.buf, b.count, b.type);
        *from += b.count;
    }
}

/* As bytes without gaps, node by node, which need not be copied where the user's lie so. */
void MPIR_Coll_nodes_allgatherv(struct coll *c)
{
    struct MPIR_Nodes *n = c->comm->nodes;
    int64_t unit = c->rtype->adi.size, total = MPIR_Coll_lengths(c, 0, c->size) * unit;
    char *there = n->blocks ? in_a_row(c) : NULL,
         *all = there ? there : MPIR_Coll_temp(c, total, coll_bytes());
    int64_t *counts = MPIR_Coll_must_have(c, (int64_t)(2 * sizeof *counts) * n->nodes),
            *at = counts + n->nodes;
    struct coll_block mine = MPIR_Coll_rblock(c, c->rank);
    node_starts(c, BY_RCOUNTS, at);
    char *here = all + at[n->mine] * unit;
    if (!there && n->leaders && !coll_empty(&mine))
        MPIR_Coll_copy(c, mine.buf, mine.count, mine.type, here, mine.count * unit, coll_bytes());
    bring_blocks(c, here);
    if (n->leaders) {
        node_lengths(c, BY_RCOUNTS, counts);
        for (int32_t i = 0; i < n->nodes; i++) {
            counts[i] *= unit;
            at[i] *= unit;
        }
        part(c, n->leaders,
             (struct coll){ .kind = COLL_ALLGATHERV,
                            .sbuf = MPI_IN_PLACE,
                            .rbuf = all,
                            .rcounts = { counts, true },
                            .rdispls = { at, true },
                            .rtype = coll_bytes() });
    }
    part(c, n->node,
         (struct coll){ .kind = COLL_BCAST, .rbuf = all, .rcount = total, .rtype = coll_bytes() });
    if (!there)
        spread_blocks(c, all);
}

/* ---- Reduce and scatter -------------------------------------------------------------------------------------- */

/* From the leader to each member its elements, which begin one after the other at `all`. */
static void hand_out(struct coll *c, const void *all)
{
    const struct MPIR_Nodes *n = c->comm->nodes;
    struct coll p = messages(c, n->node);
    int64_t mine = MPIR_Coll_lengths(c, c->rank, c->rank + 1), at = mine;
    struct coll_batch b;
    if (!n->leaders) {
        if (mine > 0)
            MPIR_Coll_recv(&p, c->rbuf, mine, c->rtype, 0);
        return;
    }
    coll_batch_begin(&b, &p);
    for (int32_t i = 1; i < n->row[n->mine].members; i++) {
        int32_t rank = MPIR_Coll_node_member(c->comm, i);
        int64_t count = MPIR_Coll_lengths(c, rank, rank + 1);
        if (count > 0)
            MPIR_Coll_batch_send(&b, coll_at(all, at, c->rtype), count, c->rtype, i);
        at += count;
    }
    MPIR_Coll_copy(c, all, mine, c->rtype, c->rbuf, mine, c->rtype);
    MPIR_Coll_batch_end(&b);
}

/* The elements of the first `members` of this node. */
static int64_t here_before(const struct coll *c, int32_t members)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < members; i++)
        sum += length_of(c, BY_RCOUNTS, MPIR_Coll_node_member(c->comm, i));
    return sum;
}

/* All of it to all, who take what is theirs: a bcast on a node is one turn of each. */
static void show_all(struct coll *c, void *all, int64_t elements)
{
    struct MPIR_Nodes *n = c->comm->nodes;
    struct coll p = nodes_whole(c, COLL_BCAST, 0, NULL, all);
    int64_t at = here_before(c, n->node->adi.rank), mine = length_of(c, BY_RCOUNTS, c->rank);
    p.rcount = elements;
    part(c, n->node, p);
    MPIR_Coll_copy(c, coll_at(all, at, c->rtype), mine, c->rtype, c->rbuf, mine, c->rtype);
}

/* What the leaders have, node by node, to the leaders. */
static void among_leaders(struct coll *c, const void *all, void *ours)
{
    struct MPIR_Nodes *n = c->comm->nodes;
    int64_t *counts = MPIR_Coll_must_have(c, (int64_t)sizeof *counts * n->nodes);
    struct coll p = nodes_whole(c, COLL_REDUCE_SCATTER, 0, all, ours);
    node_lengths(c, BY_RCOUNTS, counts);
    p.rcounts = (MPIR_Counts){ counts, true };
    part(c, n->leaders, p);
}

/* To the leader of each node, from there to the leaders what is for their members, and to these. */
void MPIR_Coll_nodes_reduce_scatter(struct coll *c)
{
    enum { SHORT = 32 << 10 };
    struct MPIR_Nodes *n = c->comm->nodes;
    void *all = NULL, *ours = NULL;
    int64_t total = MPIR_Coll_lengths(c, 0, c->size), here = here_before(c, n->row[n->mine].members);
    bool is_short = here * c->rtype->adi.size <= SHORT;
    if (n->leaders)
        all = MPIR_Coll_temp(c, total, c->rtype);
    if (n->leaders || is_short)
        ours = MPIR_Coll_temp(c, here, c->rtype);
    struct coll p = nodes_whole(c, COLL_REDUCE, 0, coll_in_place(c->sbuf) ? c->rbuf : c->sbuf, all);
    p.rcount = total;
    part(c, n->node, p);
    if (n->leaders && !n->blocks) {
        void *by_rank = all;
        all = MPIR_Coll_temp(c, total, c->rtype);
        put_order(c, (struct order){ .count = BY_RCOUNTS,
                                     .type = c->rtype,
                                     .by_rank = by_rank,
                                     .by_node = all,
                                     .to_nodes = true });
    }
    if (n->leaders)
        among_leaders(c, all, ours);
    if (is_short)
        show_all(c, ours, here);
    else
        hand_out(c, ours);
}

/* ---- Scans --------------------------------------------------------------------------------------------------- */

/* What the ranks of all nodes before this one have together goes to *before, from what its own have, which the
 * last of them has.  False:
 * there are none before. */
static bool before_node(struct coll *c, void *sum, void **before)
{
    struct MPIR_Nodes *n = c->comm->nodes;
    int32_t members = n->row[n->mine].members;
    bool is_last = c->rank == n->row[n->mine].first + members - 1;
    *before = MPIR_Coll_temp(c, c->rcount, c->rtype);
    if (n->mine < n->nodes - 1 && members > 1) {
        struct coll p = messages(c, n->node);
        if (is_last)
            MPIR_Coll_send(&p, sum, c->rcount, c->rtype, 0);
        else if (n->leaders)
            MPIR_Coll_recv(&p, sum = MPIR_Coll_temp(c, c->rcount, c->rtype), c->rcount, c->rtype,
                           members - 1);
    }
    if (n->leaders)
        part(c, n->leaders, nodes_whole(c, COLL_EXSCAN, 0, sum, *before));
    if (n->mine > 0)
        part(c, n->node, nodes_whole(c, COLL_BCAST, 0, NULL, *before));
    return n->mine > 0;
}

void MPIR_Coll_nodes_scan(struct coll *c)
{
    void *before;
    part(c, c->comm->nodes->node, nodes_whole(c, COLL_SCAN, 0, c->sbuf, c->rbuf));
    if (before_node(c, c->rbuf, &before))
        MPIR_Coll_combine(c, before, c->rbuf, c->rcount);
}

void MPIR_Coll_nodes_exscan(struct coll *c)
{
    struct MPIR_Nodes *n = c->comm->nodes;
    const struct nodes_row *row = &n->row[n->mine];
    void *before, *sum = MPIR_Coll_temp(c, c->rcount, c->rtype); /* with this rank's own operand */
    MPIR_Coll_copy(c, coll_in_place(c->sbuf) ? c->rbuf : c->sbuf, c->rcount, c->rtype, sum, c->rcount,
                   c->rtype);
    part(c, n->node, nodes_whole(c, COLL_EXSCAN, 0, c->sbuf, c->rbuf));
    if (c->rank > row->first)
        MPIR_Coll_combine(c, c->rbuf, sum, c->rcount);
    if (!before_node(c, sum, &before))
        return;
    if (c->rank == row->first)
        MPIR_Coll_copy(c, before, c->rcount, c->rtype, c->rbuf, c->rcount, c->rtype);
    else
        MPIR_Coll_combine(c, before, c->rbuf, c->rcount);
}

/* ---- All to all ---------------------------------------------------------------------------------------------- */

/* What a leader keeps: blocks by member of this node and rank; the same by node, for the leaders; and what comes
 * back.  seen: the ranks of each node so far. */
struct exchange {
    char *mine, *out, *in;
    int64_t *seen;
};

static void block_copy(const struct coll *c, const char *from, int64_t f, char *to, int64_t t, int64_t blocks)
{
    nodes_move(c->rtype, coll_at(from, f * c->rcount, c->rtype), coll_at(to, t * c->rcount, c->rtype),
               blocks * c->rcount);
}

/* The next rank's node; how many of that there have been. */
static int32_t next_rank(const struct coll *c, const struct exchange *e, int32_t rank, int64_t *before)
{
    int32_t i = node_of(c, rank);
    if (rank == 0)
        memset(e->seen, 0, (size_t)c->comm->nodes->nodes * sizeof *e->seen);
    *before = e->seen[i]++;
    return i;
}

/* For each node, the blocks of the first member here for its members, those of the second, ... */
static void to_nodes(struct coll *c, void *arg)
{
    const struct exchange *e = arg;
    const struct MPIR_Nodes *n = c->comm->nodes;
    int64_t members = n->row[n->mine].members, before;
    for (int32_t i = 0; n->blocks && !c->st->mute && i < n->nodes; i++)
        for (int64_t k = 0; k < members; k++)
            block_copy(c, e->mine, k * c->size + n->row[i].first, e->out,
                       n->row[i].first * members + k * n->row[i].members, n->row[i].members);
    for (int32_t r = 0; !n->blocks && !c->st->mute && r < c->size; r++) {
        const struct nodes_row *row = &n->row[next_rank(c, e, r, &before)];
        for (int64_t k = 0; k < members; k++)
            block_copy(c, e->mine, k * c->size + r, e->out, row->before * members + k * row->members + before,
                       1);
    }
}

/* What came by node, there by rank, and by member, to each member's blocks by rank. */
static void to_members(struct coll *c, void *arg)
{
    const struct exchange *e = arg;
    const struct MPIR_Nodes *n = c->comm->nodes;
    int64_t members = n->row[n->mine].members, before = 0;
    for (int32_t r = 0; !c->st->mute && r < c->size; r++) {
        int64_t from = n->blocks ? r : n->row[next_rank(c, e, r, &before)].before + before;
        for (int64_t k = 0; k < members; k++)
            block_copy(c, e->in, from * members + k, e->mine, k * c->size + r, 1);
    }
}

static void between_leaders(struct coll *c, const struct exchange *e)
{
    struct MPIR_Nodes *n = c->comm->nodes;
    int64_t members = n->row[n->mine].members;
    int64_t *counts = MPIR_Coll_must_have(c, (int64_t)(2 * sizeof *counts) * n->nodes);
    for (int32_t i = 0; i < n->nodes; i++) {
        counts[i] = n->row[i].members * members * c->rcount;
        counts[n->nodes + i] = n->row[i].before * members * c->rcount;
    }
    MPIR_Counts of = { counts, true }, at = { counts + n->nodes, true };
    part(c, n->leaders,
         (struct coll){ .kind = COLL_ALLTOALLV,
                        .sbuf = e->out,
                        .scounts = of,
                        .sdispls = at,
                        .stype = c->rtype,
                        .rbuf = e->in,
                        .rcounts = of,
                        .rdispls = at,
                        .rtype = c->rtype });
}

/* All blocks of a node go by way of its leader. */
void MPIR_Coll_nodes_alltoall(struct coll *c)
{
    struct MPIR_Nodes *n = c->comm->nodes;
    int64_t blocks = c->size * c->rcount, members = n->row[n->mine].members;
    struct exchange *e = MPIR_Coll_temp(c, sizeof *e, coll_bytes());
    struct coll p = {
        .kind = COLL_GATHER, .sbuf = c->sbuf, .scount = c->size * c->scount, .stype = c->stype
    };
    if (coll_in_place(c->sbuf)) {
        p.sbuf = c->rbuf;
        p.scount = blocks;
        p.stype = c->rtype;
    }
    struct coll back = { .kind = COLL_SCATTER, .rbuf = c->rbuf, .rcount = blocks, .rtype = c->rtype };
    if (n->leaders) {
        char *room[3];
        for (int i = 0; i < 3; i++)
            room[i] = MPIR_Coll_temp(c, members * blocks, c->rtype);
        int64_t *seen = MPIR_Coll_temp(c, (int64_t)sizeof *seen * n->nodes, coll_bytes());
        *e = (struct exchange){ room[0], room[1], room[2], seen };
        p.rbuf = room[0];
        p.rcount = blocks;
        p.rtype = c->rtype;
        back.sbuf = room[0];
        back.scount = blocks;
        back.stype = c->rtype;
    }
    part(c, n->node, p);
    if (n->leaders) {
        MPIR_Coll_call(c, to_nodes, e);
        between_leaders(c, e);
        MPIR_Coll_call(c, to_members, e);
    }
    part(c, n->node, back);
}

/* ---- Costs --------------------------------------------------------------------------------------------------- */

/* `ways` times on the nodes, once among the leaders: the whole vector down or up a tree, or cut into parts if it
 * is long. */
static struct coll_cost cost_of(const struct coll_size *s, double ways, double whole_bytes, double cut_bytes)
{
    double levels = MPIR_Coll_levels(s->nodes, 2), n = (double)s->bytes;
    double here = MPIR_Coll_levels(s->largest, 2);
    struct coll_rates r = MPIR_Coll_rates(s->cost, true);
    bool cut = cut_bytes + (s->nodes + levels) * r.round_ns * r.bytes_per_ns <
               levels * (whole_bytes + r.round_ns * r.bytes_per_ns);
    return (struct coll_cost){ .rounds = ways * here,
                               .messages = ways * here,
                               .bytes = ways * n,
                               .net_rounds = cut ? s->nodes + levels : levels,
                               .net_messages = cut ? s->nodes + levels : levels,
                               .net_bytes = cut ? cut_bytes : levels * whole_bytes,
                               .waits = levels * s->nodes,
                               .total_bytes = ways * n * s->p,
                               .turns = ways * s->p };
}

/* The part of all that a node gets from others. */
static double from_others(const struct coll_size *s)
{
    return s->nodes > 1 ? 1 - 1.0 / s->nodes : 0;
}

struct coll_cost MPIR_Coll_nodes_barrier_cost(const struct coll_size *s)
{
    return cost_of(s, 2, 0, 0);
}

/* Few leaders may be all sent to by one. */
struct coll_cost MPIR_Coll_nodes_down_cost(const struct coll_size *s)
{
    struct coll_cost cost = cost_of(s, 1, (double)s->bytes, 2.0 * (double)s->bytes), wide = cost;
    wide.net_rounds = MPIR_Coll_levels(s->nodes, COLL_WIDE);
    wide.net_messages = wide.net_rounds * (s->nodes < COLL_WIDE ? s->nodes - 1 : COLL_WIDE - 1);
    wide.net_bytes = wide.net_messages * (double)s->bytes;
    return MPIR_Coll_net_ns(&wide, s) < MPIR_Coll_net_ns(&cost, s) ? wide : cost;
}

struct coll_cost MPIR_Coll_nodes_allreduce_cost(const struct coll_size *s)
{
    return cost_of(s, 2, (double)s->bytes, 2.0 * (double)s->bytes);
}

/* Among leaders of nodes that have as many members each also by a tree. */
struct coll_cost MPIR_Coll_nodes_blocks_cost(const struct coll_size *s)
{
    double all = (double)s->bytes * s->p, out = (double)s->bytes * (s->p - s->largest);
    struct coll_cost cost = { .rounds = MPIR_Coll_levels(s->largest, 2),
                              .messages = MPIR_Coll_levels(s->largest, 2),
                              .bytes = all,
                              .net_rounds = 1,
                              .net_messages = s->nodes,
                              .net_bytes = out,
                              .waits = s->nodes,
                              .total_bytes = 2 * all,
                              .turns = s->p },
                     tree = cost;
    tree.net_rounds = tree.net_messages = MPIR_Coll_levels(s->nodes, 2);
    tree.net_bytes = 1.5 * out;
    bool alike = (int64_t)s->nodes * s->largest == s->p;
    return alike && MPIR_Coll_net_ns(&tree, s) < MPIR_Coll_net_ns(&cost, s) ? tree : cost;
}

struct coll_cost MPIR_Coll_nodes_allgather_cost(const struct coll_size *s)
{
    struct coll_cost cost = cost_of(s, s->blocks ? 2 : 3, 0, 0); /* put in order */
    cost.net_bytes = (double)s->bytes * from_others(s);
    cost.both_ways = true;
    return cost;
}

/* Down and up on the nodes, and once among the leaders. */
struct coll_cost MPIR_Coll_nodes_scan_cost(const struct coll_size *s)
{
    struct coll_cost cost = cost_of(s, 2, (double)s->bytes, (double)s->bytes * MPIR_Coll_levels(s->nodes, 2));
    cost.rounds += 1; /* from the last member to the leader */
    cost.both_ways = true;
    return cost;
}

/* bytes: of the whole vector. */
struct coll_cost MPIR_Coll_nodes_reduce_scatter_cost(const struct coll_size *s)
{
    struct coll_cost cost = cost_of(s, 2, 0, 0);
    cost.net_bytes = (double)s->bytes * from_others(s);
    cost.both_ways = true;
    return cost;
}

struct coll_cost MPIR_Coll_nodes_alltoall_cost(const struct coll_size *s)
{
    double all = (double)s->bytes * s->p * s->largest;
    return (struct coll_cost){ .rounds = 2,
                               .messages = 2,
                               .bytes = 4 * all,
                               .net_rounds = 1,
                               .net_messages = 2.0 * (s->nodes - 1),
                               .net_bytes = (double)s->bytes * s->largest * (s->p - s->largest),
                               .waits = (double)s->nodes * s->nodes,
                               .total_bytes = 4 * all * s->nodes,
                               .turns = 2.0 * s->p };
}
