/* SPDX-License-Identifier: BSD-3-Clause */
/* packed.c: gatherv and scatterv in a binomial tree over packed blocks, for many ranks with small blocks.
 *
 * Only the root knows all counts, but everybody knows his own, and the number of ranks.  So a block of at most
 * limit(p) bytes travels in the tree, as a record: whose, how long, data.  The others go straight between their
 * process and the root; in the tree there is a record that says so.  A message is the records of a subtree one
 * after the other, so that inner processes just put together (gatherv) or take apart (scatterv) what they get, and
 * need no more memory than limit(p) for each.
 *
 * What the sender of a block says of it counts, should the other side have thought otherwise: so nobody waits for
 * a message that does not come, and what comes is received, if only to find that it is of another length.  Where
 * records are missing, because a process on the way has failed, each goes by what he thinks himself. */
#include "packed.h"
#include <string.h>

enum { MOST_BYTES = 1024, LEAST_BYTES = 32, MOST_IN_TREE = 256 << 10, MOST_CHILDREN = 32 };

int64_t MPIR_Packed_limit(int64_t p)
{
    int64_t n = MOST_IN_TREE / p & ~7;
    return n > MOST_BYTES ? MOST_BYTES : n < LEAST_BYTES ? LEAST_BYTES : n;
}

static int64_t limit(int32_t p)
{
    return MPIR_Packed_limit(p);
}

int64_t MPIR_Packed_room(int64_t bytes)
{
    return (int64_t)sizeof(struct record) + (bytes < 0 ? 0 : (bytes + 7) & ~7);
}

void MPIR_Packed_put(struct coll *c, struct coll_heap *h, int64_t v, struct coll_block b, int64_t limit)
{
    int64_t bytes = packed_bytes(&b);
    struct record *r = (struct record *)(h->data + h->used);
    bytes = bytes > limit ? STRAIGHT : bytes;
    record_prepare(r, (int32_t)v, (int32_t)bytes);
    if (bytes > 0)
        MPIR_Coll_copy(c, b.buf, b.count, b.type, r->data, bytes, coll_bytes());
    h->used += MPIR_Packed_room(bytes);
}

void MPIR_Packed_put_on(struct coll_heap *h, const struct record *r, int32_t v)
{
    int64_t room = MPIR_Packed_room(record_bytes(r));
    struct record *to = (struct record *)(h->data + h->used);
    memcpy(to, r, (size_t)room);
    record_prepare(to, v, record_bytes(r));
    h->used += room;
}

const struct record *MPIR_Packed_next(const struct coll *c, const struct coll_heap *h, int64_t *at)
{
    const struct record *r = (const struct record *)(h->data + *at);
    if (*at + (int64_t)sizeof *r > h->used || record_v(r) < 0 || record_v(r) >= c->size ||
        record_bytes(r) < FROM || *at + MPIR_Packed_room(record_bytes(r)) > h->used)
        return NULL;
    *at += MPIR_Packed_room(record_bytes(r));
    return r;
}

void MPIR_Packed_take(struct coll *c, const struct record *r, struct coll_block to, int from)
{
    MPIR_Status status = { .count = record_bytes(r) };
    MPIR_Coll_received(c, 0, &status, packed_bytes(&to), from);
    if (record_bytes(r) > 0)
        MPIR_Coll_copy(c, r->data, record_bytes(r), coll_bytes(), to.buf, to.count, to.type);
}

void MPIR_Packed_lost(struct coll *c, int from)
{
    MPID_Peer_failed();
    MPIR_Coll_note(c, MPIR_Err(MPID_Survives() ? MPID_ERR_PROC_FAILED : MPI_ERR_TRUNCATE, NULL,
                               "the block of rank %d did not arrive: a rank on the way failed", from));
}

void MPIR_Packed_make(struct coll *c, struct coll_heap *h, int64_t records, int64_t limit)
{
    h->room = records * MPIR_Packed_room(limit);
    h->used = 0;
    h->data = MPIR_Coll_temp(c, h->room, coll_bytes());
}

void MPIR_Packed_empty(struct coll *c, void *arg)
{
    (void)c;
    ((struct coll_heap *)arg)->used = 0;
}

static void make_heap(struct coll *c, struct coll_heap *h, int64_t ranks)
{
    MPIR_Packed_make(c, h, ranks, limit(c->size));
}

static void packed_put(struct coll *c, struct coll_heap *h, int64_t v, struct coll_block b)
{
    MPIR_Packed_put(c, h, v, b, limit(c->size));
}

/* ---- Gatherv ------------------------------------------------------------------------------------------------- */

struct gathering {
    struct coll_heap heap;
    bool *straight; /* at the root, of each rank: is its block to come straight? */
};

static void packed_collect(struct coll *c, void *arg, int64_t child, int64_t span)
{
    (void)span;
    MPIR_Coll_recv_heap(c, &((struct gathering *)arg)->heap, coll_real(c, c->root, child));
}

static void put_own(struct coll *c, void *arg)
{
    struct gathering *g = arg;
    if (c->st->mute)
        return;
    g->heap.used = 0;
    packed_put(c, &g->heap, coll_vrank(c, c->root),
               (struct coll_block){ (void *)(uintptr_t)c->sbuf, c->scount, c->stype });
}

/* What the root thinks before it has heard anything: nobody has said that nothing comes. */
static void expect(struct coll *c, void *arg)
{
    struct gathering *g = arg;
    g->heap.used = 0;
    for (int32_t i = 0; i < c->size && !c->st->mute; i++) {
        struct coll_block b = MPIR_Coll_rblock(c, i);
        g->straight[i] = i != c->root && packed_bytes(&b) > limit(c->size);
    }
}

/* At the root: the records to their places.  They are in the order of the tree, so whose is missing shows. */
static void unpack(struct coll *c, void *arg)
{
    struct gathering *g = arg;
    const struct record *r;
    int64_t at = 0;
    int32_t v = 0;
    if (c->st->mute)
        return;
    while ((r = MPIR_Packed_next(c, &g->heap, &at)) != NULL && record_v(r) == v + 1) {
        int from = coll_real(c, c->root, v = record_v(r));
        g->straight[from] = record_bytes(r) == STRAIGHT;
        if (record_bytes(r) != STRAIGHT)
            MPIR_Packed_take(c, r, MPIR_Coll_rblock(c, from), from);
    }
    if (v + 1 < c->size)
        MPIR_Packed_lost(c, coll_real(c, c->root, v + 1));
}

static void gather_at_root(struct coll *c, struct gathering *g)
{
    struct coll_batch b;
    g->straight = MPIR_Coll_temp(c, c->size, coll_bytes());
    bool mute = c->st->mute; /* no memory: `straight` is of no use */
    MPIR_Coll_call(c, expect, g);
    MPIR_Coll_each_child(c, 0, c->size, 2, true, packed_collect, g);
    MPIR_Coll_call(c, unpack, g);
    coll_batch_begin(&b, c);
    for (int32_t i = 0; i < c->size; i++) {
        struct coll_block to = MPIR_Coll_rblock(c, i);
        if (i != c->rank && !mute)
            MPIR_Coll_batch_recv_if(&b, &g->straight[i], to.buf, to.count, to.type, i);
        else if (i != c->rank && packed_bytes(&to) > limit(c->size))
            MPIR_Coll_batch_recv(&b, to.buf, to.count, to.type, i);
    }
    MPIR_Coll_own_block(c);
    MPIR_Coll_batch_end(&b);
}

void MPIR_Coll_gather_packed(struct coll *c)
{
    struct coll_batch b;
    int64_t v = coll_vrank(c, c->root);
    struct coll_tree t = MPIR_Coll_tree_of(v, c->size, 2);
    struct gathering *g = MPIR_Coll_temp(c, sizeof *g, coll_bytes());
    make_heap(c, &g->heap, v == 0 ? c->size - 1 : t.span);
    if (v == 0) {
        gather_at_root(c, g);
        return;
    }
    MPIR_Coll_call(c, put_own, g);
    MPIR_Coll_each_child(c, v, c->size, 2, true, packed_collect, g);
    coll_batch_begin(&b, c);
    MPIR_Coll_batch_send_heap(&b, &g->heap, coll_real(c, c->root, t.parent));
    if (c->scount * c->stype->adi.size > limit(c->size))
        MPIR_Coll_batch_send(&b, c->sbuf, c->scount, c->stype, c->root);
    MPIR_Coll_batch_end(&b);
}

/* ---- Scatterv ------------------------------------------------------------------------------------------------ */

struct scattering {
    struct coll_heap heap;
    const struct record *own;              /* below the root; NULL: it did not come */
    bool straight;                         /* is this process's block to come straight? */
    struct coll_heap child[MOST_CHILDREN]; /* what they get, the nearest first */
};
_Static_assert(sizeof(struct scattering) <= COLL_SMALL, "there is memory for it even where there is none");

static int child_of(int64_t distance)
{
    return 63 - __builtin_clzll((unsigned long long)distance);
}

/* At the root: all records. */
static void pack(struct coll *c, void *arg)
{
    struct scattering *s = arg;
    s->heap.used = 0;
    for (int64_t v = 1; v < c->size && !c->st->mute; v++)
        packed_put(c, &s->heap, v, MPIR_Coll_sblock(c, coll_real(c, c->root, v)));
}

/* Which records are whose. */
static void take_apart(struct coll *c, void *arg)
{
    struct scattering *s = arg;
    int64_t at = 0, before = 0, me = coll_vrank(c, c->root);
    const struct record *r;
    s->own = NULL;
    s->straight = me != 0 && c->rcount * c->rtype->adi.size > limit(c->size);
    for (int i = 0; i < MOST_CHILDREN; i++)
        s->child[i] = (struct coll_heap){ 0 };
    for (; !c->st->mute && (r = MPIR_Packed_next(c, &s->heap, &at)) != NULL && record_v(r) >= me;
         before = at) {
        struct coll_heap *h = record_v(r) > me ? &s->child[child_of(record_v(r) - me)] : NULL;
        if (h && !h->data)
            h->data = s->heap.data + before;
        if (h)
            h->used += at - before;
        else
            s->own = r;
    }
    if (me != 0 && !s->own && !c->st->mute)
        MPIR_Packed_lost(c, c->rank);
    if (s->own)
        s->straight = record_bytes(s->own) == STRAIGHT;
}

static void take_own(struct coll *c, void *arg)
{
    const struct record *own = ((struct scattering *)arg)->own;
    if (own && record_bytes(own) != STRAIGHT)
        MPIR_Packed_take(c, own, (struct coll_block){ c->rbuf, c->rcount, c->rtype }, c->root);
}

struct handing {
    struct coll_batch batch;
    struct scattering *s;
};

static void hand_out(struct coll *c, void *arg, int64_t child, int64_t span)
{
    struct handing *h = arg;
    (void)span;
    MPIR_Coll_batch_send_heap(&h->batch, &h->s->child[child_of(child - coll_vrank(c, c->root))],
                              coll_real(c, c->root, child));
}

static void send_straight(struct coll *c, struct coll_batch *b)
{
    for (int32_t i = 0; i < c->size; i++) {
        struct coll_block to = MPIR_Coll_sblock(c, i);
        if (i != c->rank && packed_bytes(&to) > limit(c->size))
            MPIR_Coll_batch_send(b, to.buf, to.count, to.type, i);
    }
}

void MPIR_Coll_scatter_packed(struct coll *c)
{
    int64_t v = coll_vrank(c, c->root);
    struct coll_tree t = MPIR_Coll_tree_of(v, c->size, 2);
    struct handing h = { .s = MPIR_Coll_temp(c, sizeof *h.s, coll_bytes()) };
    make_heap(c, &h.s->heap, v == 0 ? c->size - 1 : t.span);
    if (v == 0) {
        MPIR_Coll_call(c, pack, h.s);
    } else {
        MPIR_Coll_call(c, MPIR_Packed_empty, &h.s->heap);
        MPIR_Coll_recv_heap(c, &h.s->heap, coll_real(c, c->root, t.parent));
    }
    MPIR_Coll_call(c, take_apart, h.s);
    coll_batch_begin(&h.batch, c);
    MPIR_Coll_each_child(c, v, c->size, 2, false, hand_out, &h);
    if (v == 0) {
        send_straight(c, &h.batch);
        MPIR_Coll_take_own_block(c);
    } else {
        MPIR_Coll_batch_recv_if(&h.batch, &h.s->straight, c->rbuf, c->rcount, c->rtype, c->root);
        MPIR_Coll_call(c, take_own, h.s);
    }
    MPIR_Coll_batch_end(&h.batch);
}

/* Like a binomial tree of blocks of unknown size, with records to be written and read. */
struct coll_cost MPIR_Coll_packed_cost(const struct coll_size *s)
{
    struct coll_cost cost = MPIR_Coll_binomial_cost(s);
    cost.messages += s->p / 8.0;
    return cost;
}
