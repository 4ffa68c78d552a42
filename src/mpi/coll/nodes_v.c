/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes_v.c: gatherv, scatterv, alltoallv and alltoallw of a communicator over several nodes.
 *
 * A process knows the lengths of its own blocks alone.  So a block of up to a limit goes by way of the leaders,
 * behind a record (packed.h) that tells its length, and one message between two nodes carries all such blocks.  A
 * longer one goes straight to the process it is for, and its record says so; so each block goes between nodes
 * once.  Blocks between processes of a node are messages of their own.
 *
 * In gatherv and scatterv the receiver of a block that is long by what it expects begins to receive it at once,
 * and gives that up if the record says something else.  That takes another way for the records than for the block:
 * that of a leader to or from a root that leads no node comes when its record has come.
 *
 * As in packed.c, what the record says counts, should the receiver have expected something else.  Where a record
 * is missing, a process on the way has failed, and the receiver goes by what it expects itself. */
#include "nodes.h"
#include "packed.h"
#include "sched.h"
#include <string.h>

static bool nodes_v_is_here(const struct coll *c, int32_t rank)
{
    return MPIR_Coll_node_of(c->comm, rank) == c->comm->nodes->mine;
}

static int32_t leader_of(const struct coll *c, int32_t node)
{
    return c->comm->nodes->row[node].first;
}

static int32_t members_here(const struct coll *c)
{
    return c->comm->nodes->row[c->comm->nodes->mine].members;
}

/* Of a rank of this communicator, among the members of this node; negative: it is on another. */
static int32_t member_of(const struct coll *c, int32_t rank)
{
    return MPIR_Group_rank_of(c->comm->nodes->node->group, MPIR_Group_grank(c->comm->group, rank));
}

static bool is_long(const struct coll_block *b, int64_t limit)
{
    return packed_bytes(b) > limit;
}

/* Records between the root and leaders go through the leaders' communicator if the root is in it. */
static bool root_leads(const struct coll *c)
{
    return leader_of(c, MPIR_Coll_node_of(c->comm, c->root)) == c->root;
}

static struct coll records_of(const struct coll *c)
{
    struct coll p = *c;
    if (root_leads(c)) {
        p.comm = c->comm->nodes->leaders;
        p.which = MPID_CONTEXT_PT2PT;
    }
    return p;
}

/* In that communicator: the leader of a node; the root. */
static int32_t leader_among(const struct coll *c, int32_t node)
{
    return root_leads(c) ? node : leader_of(c, node);
}

static int32_t root_among(const struct coll *c)
{
    return root_leads(c) ? MPIR_Coll_node_of(c->comm, c->root) : c->root;
}

/* Does the record of a rank go another way than its block? */
static bool apart(const struct coll *c, int32_t rank)
{
    return root_leads(c) || leader_of(c, MPIR_Coll_node_of(c->comm, rank)) != rank;
}

/* ---- Gatherv ------------------------------------------------------------------------------------------------- */

struct gathering {
    struct coll_heap heap;
    bool *straight,
        *came; /* at the root, of each rank: is its block to come straight?  Has its record come? */
};

static void put_own(struct coll *c, void *arg)
{
    struct gathering *g = arg;
    struct coll_block own = { (void *)(uintptr_t)c->sbuf, c->scount, c->stype };
    g->heap.used = 0;
    if (!c->st->mute)
        MPIR_Packed_put(c, &g->heap, c->rank, own, MPIR_Packed_limit(c->size));
}

/* What the root thinks before it has heard anything. */
static void expect_all(struct coll *c, void *arg)
{
    struct gathering *g = arg;
    g->heap.used = 0;
    for (int32_t i = 0; i < c->size && !c->st->mute; i++) {
        struct coll_block b = MPIR_Coll_rblock(c, i);
        g->came[i] = nodes_v_is_here(c, i);
        g->straight[i] = !g->came[i] && is_long(&b, MPIR_Packed_limit(c->size));
    }
}

static void unpack_all(struct coll *c, void *arg)
{
    struct gathering *g = arg;
    const struct record *r;
    int64_t at = 0;
    if (c->st->mute)
        return;
    while ((r = MPIR_Packed_next(c, &g->heap, &at)) != NULL && !g->came[record_v(r)]) {
        int from = record_v(r);
        g->came[from] = true;
        g->straight[from] = record_bytes(r) == STRAIGHT;
        if (record_bytes(r) != STRAIGHT)
            MPIR_Packed_take(c, r, MPIR_Coll_rblock(c, from), from);
    }
    for (int32_t i = 0; i < c->size; i++)
        if (!g->came[i]) {
            MPIR_Packed_lost(c, i);
            return;
        }
}

/* Is the block of rank i received before its record has come? */
static bool comes_first(const struct coll *c, int32_t i)
{
    struct coll_block to = MPIR_Coll_rblock(c, i);
    return !nodes_v_is_here(c, i) && is_long(&to, MPIR_Packed_limit(c->size)) && apart(c, i);
}

/* Of the first ranks so many that none of them has to be waited for before the records.  Returns the rank behind
 * them. */
static int32_t begin_long(struct coll *c, struct coll_batch *b, const struct gathering *g, bool mute)
{
    enum { MOST = COLL_BATCH / 2 };
    int32_t i = 0;
    for (int begun = 0; i < c->size && begun < MOST; i++) {
        struct coll_block to = MPIR_Coll_rblock(c, i);
        if (!comes_first(c, i))
            continue;
        MPIR_Coll_batch_recv_while(b, mute ? NULL : &g->straight[i], to.buf, to.count, to.type, i);
        begun++;
    }
    return i;
}

static void gather_at_root(struct coll *c, struct gathering *g)
{
    const struct MPIR_Nodes *n = c->comm->nodes;
    int64_t limit = MPIR_Packed_limit(c->size);
    struct coll records = records_of(c);
    struct coll_batch b;
    MPIR_Packed_make(c, &g->heap, c->size - members_here(c), limit);
    g->straight = MPIR_Coll_temp(c, c->size, coll_bytes());
    g->came = MPIR_Coll_temp(c, c->size, coll_bytes());
    bool mute = c->st->mute; /* no memory: these are of no use */
    MPIR_Coll_call(c, expect_all, g);
    coll_batch_begin(&b, c);
    for (int32_t i = 0; i < members_here(c); i++) {
        int32_t from = MPIR_Coll_node_member(c->comm, i);
        struct coll_block to = MPIR_Coll_rblock(c, from);
        if (from != c->rank && !coll_empty(&to))
            MPIR_Coll_batch_recv(&b, to.buf, to.count, to.type, from);
    }
    int32_t begun = begin_long(c, &b, g, mute);
    for (int32_t k = 1; k < n->nodes; k++)
        MPIR_Coll_recv_heap(&records, &g->heap, leader_among(c, (n->mine + k) % n->nodes));
    MPIR_Coll_call(c, unpack_all, g);
    for (int32_t i = 0; i < c->size; i++) {
        struct coll_block to = MPIR_Coll_rblock(c, i);
        if (nodes_v_is_here(c, i) || (i < begun && comes_first(c, i)))
            continue;
        if (!mute)
            MPIR_Coll_batch_recv_if(&b, &g->straight[i], to.buf, to.count, to.type, i);
        else if (is_long(&to, limit))
            MPIR_Coll_batch_recv(&b, to.buf, to.count, to.type, i);
    }
    MPIR_Coll_own_block(c);
    MPIR_Coll_batch_end(&b);
}

/* On another node than the root's. */
static void gather_from_afar(struct coll *c, struct gathering *g)
{
    const struct MPIR_Nodes *n = c->comm->nodes;
    int64_t limit = MPIR_Packed_limit(c->size);
    struct coll_block own = { (void *)(uintptr_t)c->sbuf, c->scount, c->stype };
    bool block_first = n->leaders && apart(c, c->rank);
    struct coll records = n->leaders ? records_of(c) : *c;
    struct coll_batch b, up;
    MPIR_Packed_make(c, &g->heap, n->leaders ? members_here(c) : 1, limit);
    MPIR_Coll_call(c, put_own, g);
    coll_batch_begin(&b, c);
    coll_batch_begin(&up, &records);
    if (is_long(&own, limit) && block_first)
        MPIR_Coll_batch_send(&b, own.buf, own.count, own.type, c->root);
    for (int32_t i = 1; n->leaders && i < members_here(c); i++)
        MPIR_Coll_recv_heap(c, &g->heap, MPIR_Coll_node_member(c->comm, i));
    MPIR_Coll_batch_send_heap(&up, &g->heap, n->leaders ? root_among(c) : leader_of(c, n->mine));
    if (is_long(&own, limit) && !block_first)
        MPIR_Coll_batch_send(&b, own.buf, own.count, own.type, c->root);
    MPIR_Coll_batch_end(&up);
    MPIR_Coll_batch_end(&b);
}

void MPIR_Coll_nodes_gatherv(struct coll *c)
{
    struct gathering *g = MPIR_Coll_temp(c, sizeof *g, coll_bytes());
    if (c->rank == c->root)
        gather_at_root(c, g);
    else if (!nodes_v_is_here(c, c->root))
        gather_from_afar(c, g);
    else if (c->scount * c->stype->adi.size > 0)
        MPIR_Coll_send(c, c->sbuf, c->scount, c->stype, c->root);
}

/* ---- Scatterv ------------------------------------------------------------------------------------------------ */

struct scattering {
    struct coll_heap heap, none;
    const struct record *own; /* NULL: it did not come */
    bool straight;            /* is this process's block to come straight? */
    struct coll_heap *parts;  /* at the root: of each node; at a leader: of each member; else NULL */
};

/* At the root: the records of each node's members together. */
static void pack(struct coll *c, void *arg)
{
    const struct MPIR_Nodes *n = c->comm->nodes;
    struct scattering *s = arg;
    int64_t limit = MPIR_Packed_limit(c->size);
    if (c->st->mute)
        return;
    memset(s->parts, 0, (size_t)n->nodes * sizeof *s->parts);
    for (int32_t r = 0; r < c->size; r++) {
        struct coll_block b = MPIR_Coll_sblock(c, r);
        if (!nodes_v_is_here(c, r))
            s->parts[MPIR_Coll_node_of(c->comm, r)].used +=
                MPIR_Packed_room(is_long(&b, limit) ? STRAIGHT : packed_bytes(&b));
    }
    char *next = s->heap.data;
    for (int32_t i = 0; i < n->nodes; i++) {
        s->parts[i].data = next;
        next += s->parts[i].used;
        s->parts[i].used = 0;
    }
    for (int32_t r = 0; r < c->size; r++)
        if (!nodes_v_is_here(c, r))
            MPIR_Packed_put(c, &s->parts[MPIR_Coll_node_of(c->comm, r)], r, MPIR_Coll_sblock(c, r), limit);
}

/* Which records are whose. */
static void take_apart(struct coll *c, void *arg)
{
    struct scattering *s = arg;
    const struct record *r;
    int64_t at = 0;
    s->own = NULL;
    s->straight = c->rcount * c->rtype->adi.size > MPIR_Packed_limit(c->size);
    if (c->st->mute)
        return;
    if (s->parts)
        memset(s->parts, 0, (size_t)members_here(c) * sizeof *s->parts);
    while ((r = MPIR_Packed_next(c, &s->heap, &at)) != NULL) {
        int32_t i = member_of(c, record_v(r));
        if (record_v(r) == c->rank)
            s->own = r;
        else if (s->parts && i >= 0)
            s->parts[i] =
                (struct coll_heap){ .data = (char *)(uintptr_t)r, .used = MPIR_Packed_room(record_bytes(r)) };
    }
    if (s->own)
        s->straight = record_bytes(s->own) == STRAIGHT;
    else
        MPIR_Packed_lost(c, c->rank);
}

static void take_own(struct coll *c, void *arg)
{
    const struct record *own = ((struct scattering *)arg)->own;
    if (own && record_bytes(own) != STRAIGHT)
        MPIR_Packed_take(c, own, (struct coll_block){ c->rbuf, c->rcount, c->rtype }, c->root);
}

static void scatter_at_root(struct coll *c, struct scattering *s)
{
    const struct MPIR_Nodes *n = c->comm->nodes;
    int64_t limit = MPIR_Packed_limit(c->size);
    struct coll records = records_of(c);
    struct coll_batch b, down;
    MPIR_Packed_make(c, &s->heap, c->size - members_here(c), limit);
    s->parts = MPIR_Coll_temp(c, (int64_t)sizeof *s->parts * n->nodes, coll_bytes());
    bool mute = c->st->mute;
    MPIR_Coll_call(c, pack, s);
    coll_batch_begin(&b, c);
    coll_batch_begin(&down, &records);
    for (int32_t k = 1; k < n->nodes; k++) {
        int32_t i = (n->mine + k) % n->nodes;
        MPIR_Coll_batch_send_heap(&down, mute ? &s->none : &s->parts[i], leader_among(c, i));
    }
    for (int32_t i = 0; i < c->size; i++) {
        struct coll_block to = MPIR_Coll_sblock(c, i);
        bool here = nodes_v_is_here(c, i);
        if (i != c->rank && (here ? !coll_empty(&to) : is_long(&to, limit)))
            MPIR_Coll_batch_send(&b, to.buf, to.count, to.type, i);
    }
    MPIR_Coll_take_own_block(c);
    MPIR_Coll_batch_end(&down);
    MPIR_Coll_batch_end(&b);
}

/* On another node than the root's. */
static void scatter_to_afar(struct coll *c, struct scattering *s)
{
    const struct MPIR_Nodes *n = c->comm->nodes;
    struct coll_block own = { c->rbuf, c->rcount, c->rtype };
    bool block_first = is_long(&own, MPIR_Packed_limit(c->size)) && apart(c, c->rank);
    struct coll records = n->leaders ? records_of(c) : *c;
    struct coll_batch b;
    MPIR_Packed_make(c, &s->heap, n->leaders ? members_here(c) : 1, MPIR_Packed_limit(c->size));
    if (n->leaders)
        s->parts = MPIR_Coll_temp(c, (int64_t)sizeof *s->parts * members_here(c), coll_bytes());
    bool mute = c->st->mute;
    MPIR_Coll_call(c, MPIR_Packed_empty, &s->heap);
    coll_batch_begin(&b, c);
    if (block_first)
        MPIR_Coll_batch_recv_while(&b, &s->straight, own.buf, own.count, own.type, c->root);
    MPIR_Coll_recv_heap(&records, &s->heap, n->leaders ? root_among(c) : leader_of(c, n->mine));
    MPIR_Coll_call(c, take_apart, s);
    for (int32_t i = 1; n->leaders && i < members_here(c); i++)
        MPIR_Coll_batch_send_heap(&b, mute ? &s->none : &s->parts[i], MPIR_Coll_node_member(c->comm, i));
    if (!block_first)
        MPIR_Coll_batch_recv_if(&b, &s->straight, own.buf, own.count, own.type, c->root);
    MPIR_Coll_call(c, take_own, s);
    MPIR_Coll_batch_end(&b);
}

void MPIR_Coll_nodes_scatterv(struct coll *c)
{
    struct scattering *s = MPIR_Coll_temp(c, sizeof *s, coll_bytes());
    *s = (struct scattering){ 0 };
    if (c->rank == c->root)
        scatter_at_root(c, s);
    else if (!nodes_v_is_here(c, c->root))
        scatter_to_afar(c, s);
    else if (c->rcount * c->rtype->adi.size > 0)
        MPIR_Coll_recv(c, c->rbuf, c->rcount, c->rtype, c->root);
}

/* ---- Alltoallv, alltoallw ------------------------------------------------------------------------------------ */

/* Records on their way to one node, where those of a process of this one stand behind a record FROM; or to one
 * member. */
struct lane {
    struct coll_heap heap;
    int32_t from; /* whose records came last */
};

struct exchange {
    struct coll_heap mine, none; /* for other nodes */
    struct coll_heap back;       /* from other nodes, for this process */
    bool *straight, *came;       /* of each rank */
    /* A leader's: what the members here send, what comes for them, and both dealt out. */
    struct coll_heap all, in;
    struct lane *out, *down;
    char *out_room, *down_room;
    int32_t next; /* the member whose records come next */
};
_Static_assert(sizeof(struct exchange) + sizeof(struct gathering) <= COLL_SMALL,
               "there is memory for it even where there is none");

/* So that a leader has at most some MB, as long as it has the records themselves. */
static int64_t limit_between(const struct coll *c)
{
    return MPIR_Packed_limit((int64_t)c->size * c->comm->nodes->most / 4 + 1);
}

static void begin_exchange(struct coll *c, void *arg)
{
    struct exchange *e = arg;
    const struct MPIR_Nodes *n = c->comm->nodes;
    e->mine.used = e->back.used = e->all.used = e->in.used = 0;
    e->next = 0;
    if (c->st->mute)
        return;
    for (int32_t i = 0; i < c->size; i++) {
        struct coll_block b = MPIR_Coll_rblock(c, i);
        bool here = nodes_v_is_here(c, i);
        e->came[i] = here || coll_empty(&b);
        e->straight[i] = !here && is_long(&b, limit_between(c));
    }
    if (n->leaders) {
        memset(e->out, 0, (size_t)n->nodes * sizeof *e->out);
        memset(e->down, 0, (size_t)members_here(c) * sizeof *e->down);
    }
}

static void put_from(struct coll_heap *h, int32_t rank)
{
    record_prepare((struct record *)(h->data + h->used), rank, FROM);
    h->used += MPIR_Packed_room(FROM);
}

static void put_far(struct coll *c, struct coll_heap *h)
{
    for (int32_t i = 0; i < c->size; i++) {
        struct coll_block b = MPIR_Coll_sblock(c, i);
        if (!coll_empty(&b) && !nodes_v_is_here(c, i))
            MPIR_Packed_put(c, h, i, b, limit_between(c));
    }
}

static void put_mine(struct coll *c, void *arg)
{
    struct exchange *e = arg;
    if (!c->st->mute)
        put_far(c, &e->mine);
}

/* At a leader: a member's records come behind this; its own are there already. */
static void put_member(struct coll *c, void *arg)
{
    struct exchange *e = arg;
    if (c->st->mute)
        return;
    put_from(&e->all, MPIR_Coll_node_member(c->comm, e->next));
    if (e->next++ == 0)
        put_far(c, &e->all);
}

/* Once to see how long each lane gets, and once to fill it. */
static void deal(struct coll *c, const struct coll_heap *from, struct lane *lanes, bool out, bool fill)
{
    const struct record *r;
    int32_t source = -1;
    for (int64_t at = 0; (r = MPIR_Packed_next(c, from, &at)) != NULL;) {
        int32_t v = record_v(r), i = out ? MPIR_Coll_node_of(c->comm, v) : member_of(c, v);
        if (record_bytes(r) == FROM) {
            source = v;
            continue;
        }
        if (i < 0 || source < 0)
            continue;
        if (out && lanes[i].from != source && fill)
            put_from(&lanes[i].heap, source);
        else if (out && lanes[i].from != source)
            lanes[i].heap.used += MPIR_Packed_room(FROM);
        if (fill)
            MPIR_Packed_put_on(&lanes[i].heap, r, out ? v : source);
        else
            lanes[i].heap.used += MPIR_Packed_room(record_bytes(r));
        lanes[i].from = source;
    }
}

static void deal_all(struct coll *c, const struct coll_heap *from, struct lane *lanes, int32_t n, char *room,
                     bool out)
{
    if (c->st->mute)
        return;
    for (int32_t i = 0; i < n; i++)
        lanes[i] = (struct lane){ .from = -1 };
    deal(c, from, lanes, out, false);
    for (int32_t i = 0; i < n; i++) {
        int64_t used = lanes[i].heap.used;
        lanes[i] = (struct lane){ .heap = { .data = room }, .from = -1 };
        room += used;
    }
    deal(c, from, lanes, out, true);
}

static void deal_out(struct coll *c, void *arg)
{
    struct exchange *e = arg;
    deal_all(c, &e->all, e->out, c->comm->nodes->nodes, e->out_room, true);
}

static void deal_down(struct coll *c, void *arg)
{
    struct exchange *e = arg;
    deal_all(c, &e->in, e->down, members_here(c), e->down_room, false);
}

static void unpack_mine(struct coll *c, void *arg)
{
    struct exchange *e = arg;
    const struct coll_heap *h = c->comm->nodes->leaders ? &e->down[0].heap : &e->back;
    const struct record *r;
    int64_t at = 0;
    if (c->st->mute)
        return;
    while ((r = MPIR_Packed_next(c, h, &at)) != NULL) {
        int from = record_v(r);
        e->came[from] = true;
        e->straight[from] = record_bytes(r) == STRAIGHT;
        if (record_bytes(r) != STRAIGHT)
            MPIR_Packed_take(c, r, MPIR_Coll_rblock(c, from), from);
    }
    for (int32_t i = 0; i < c->size; i++)
        if (!e->came[i]) {
            MPIR_Packed_lost(c, i);
            return;
        }
}

static void make_rooms(struct coll *c, struct exchange *e)
{
    const struct MPIR_Nodes *n = c->comm->nodes;
    int64_t members = members_here(c), away = c->size - members, limit = limit_between(c);
    int64_t records = members * away, marks = MPIR_Packed_room(FROM);
    e->straight = MPIR_Coll_temp(c, c->size, coll_bytes());
    e->came = MPIR_Coll_temp(c, c->size, coll_bytes());
    if (!n->leaders) {
        MPIR_Packed_make(c, &e->mine, away, limit);
        MPIR_Packed_make(c, &e->back, away, limit);
        return;
    }
    MPIR_Packed_make(c, &e->all, records + members, limit);
    MPIR_Packed_make(c, &e->in, records + away, limit);
    e->out = MPIR_Coll_temp(c, (int64_t)sizeof *e->out * n->nodes, coll_bytes());
    e->down = MPIR_Coll_temp(c, (int64_t)sizeof *e->down * members, coll_bytes());
    e->out_room =
        MPIR_Coll_temp(c, records * MPIR_Packed_room(limit) + members * n->nodes * marks, coll_bytes());
    e->down_room = MPIR_Coll_temp(c, records * MPIR_Packed_room(limit), coll_bytes());
}

/* Between processes of this node, and what is long; those of the other kind are by way of the leaders. */
static void exchange_straight(struct coll *c, struct coll_batch *b, struct exchange *e, bool mute)
{
    int64_t p = c->size, limit = limit_between(c);
    for (int64_t k = 1; k < p; k++) {
        int to = (int)((c->rank + k) % p), from = (int)((c->rank - k + p) % p);
        struct coll_block s = MPIR_Coll_sblock(c, to), d = MPIR_Coll_rblock(c, from);
        bool from_here = nodes_v_is_here(c, from);
        if (from_here ? !coll_empty(&d) : mute && is_long(&d, limit))
            MPIR_Coll_batch_recv(b, d.buf, d.count, d.type, from);
        else if (!from_here && !mute)
            MPIR_Coll_batch_recv_if(b, &e->straight[from], d.buf, d.count, d.type, from);
        if (nodes_v_is_here(c, to) ? !coll_empty(&s) : is_long(&s, limit))
            MPIR_Coll_batch_send(b, s.buf, s.count, s.type, to);
    }
}

/* Each leader is sent to some messages before one of another must have come, which that one sends as far ahead. */
static void by_leader(struct coll *c, struct coll_batch *b, struct exchange *e, bool mute)
{
    enum { AHEAD = COLL_BATCH / 2 };
    const struct MPIR_Nodes *n = c->comm->nodes;
    MPIR_Coll_call(c, put_member, e);
    for (int32_t i = 1; i < members_here(c); i++) {
        MPIR_Coll_call(c, put_member, e);
        MPIR_Coll_recv_heap(c, &e->all, MPIR_Coll_node_member(c->comm, i));
    }
    MPIR_Coll_call(c, deal_out, e);
    for (int32_t k = 1; k < n->nodes + AHEAD; k++) {
        int32_t to = (n->mine + k) % n->nodes,
                from = (n->mine - (k - AHEAD) % n->nodes + n->nodes) % n->nodes;
        if (k < n->nodes)
            MPIR_Coll_batch_send_heap(b, mute ? &e->none : &e->out[to].heap, leader_of(c, to));
        if (k > AHEAD)
            MPIR_Coll_recv_heap(c, &e->in, leader_of(c, from));
    }
    MPIR_Coll_call(c, deal_down, e);
    for (int32_t i = 1; i < members_here(c); i++)
        MPIR_Coll_batch_send_heap(b, mute ? &e->none : &e->down[i].heap, MPIR_Coll_node_member(c->comm, i));
}

void MPIR_Coll_nodes_alltoallv(struct coll *c)
{
    struct exchange *e = MPIR_Coll_temp(c, sizeof *e, coll_bytes());
    struct coll_block s = MPIR_Coll_sblock(c, c->rank), d = MPIR_Coll_rblock(c, c->rank);
    struct coll_batch b;
    *e = (struct exchange){ 0 };
    if (coll_noting(c))
        MPIR_Sched_keep_types(c);
    make_rooms(c, e);
    bool mute = c->st->mute; /* no memory: what is in *e is of no use */
    MPIR_Coll_call(c, begin_exchange, e);
    coll_batch_begin(&b, c);
    if (c->comm->nodes->leaders) {
        by_leader(c, &b, e, mute);
    } else {
        int32_t leader = leader_of(c, c->comm->nodes->mine);
        MPIR_Coll_call(c, put_mine, e);
        MPIR_Coll_batch_send_heap(&b, &e->mine, leader);
        MPIR_Coll_recv_heap(c, &e->back, leader);
    }
    MPIR_Coll_call(c, unpack_mine, e);
    exchange_straight(c, &b, e, mute);
    MPIR_Coll_copy(c, s.buf, s.count, s.type, d.buf, d.count, d.type);
    MPIR_Coll_batch_end(&b);
}

/* ---- Costs: of blocks of unknown size ------------------------------------------------------------------------ */

struct coll_cost MPIR_Coll_nodes_v_cost(const struct coll_size *s)
{
    return (struct coll_cost){ .rounds = 1,
                               .messages = s->largest + s->p / 8.0, /* records to be written and read */
                               .net_rounds = 1,
                               .net_messages = s->nodes - 1,
                               .waits = (double)s->p + s->nodes };
}

/* Only if forced, or by a rule: in the other rows a process that has nothing to send or to receive waits for
 * nobody, and programs whose exchanges are sparse live by that. */
struct coll_cost MPIR_Coll_nodes_alltoallv_cost(const struct coll_size *s)
{
    enum { NEVER = 1000000000 };
    return (struct coll_cost){
        .rounds = NEVER, .net_rounds = 1, .net_messages = 2.0 * (s->nodes - 1), .waits = NEVER
    };
}
