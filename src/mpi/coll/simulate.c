/* SPDX-License-Identifier: BSD-3-Clause */
/* simulate.c: the schedules of collectives, as they are noted and carried out (sched.c), for thousands of ranks in
 * one process.
 *
 *     simulate [RANKS [NODES [WORD ...]]]      words: names of collectives
 *     simulate model                           costs alone, up to 1,048,576 ranks and 65,536 nodes
 *
 * Beneath them is a device that exists here alone: the functions of the ADI that messages go through are replaced
 * when this program is linked.  A message has an hour of arrival in virtual time, by the rates from which choose.c
 * reckons costs, and each rank has a clock of its own.  Ranks of a node share their way to other nodes.  A rank is
 * a communicator with that rank and a call whose schedule sleeps until a message wakes it: so it needs neither a
 * thread nor a stack.
 *
 * What processes copy besides is reckoned as the row's cost tells it.
 *
 * Every row that needs no team is run, its result is compared with what it must be, and the row that would be
 * chosen is compared with the best of the table: it may take SLACK times as long, and cost SLACK_MODEL times as
 * much.  It is told how often a row over nodes is as much faster than the best other row as the model says, within
 * a quarter: without arguments LEAST_AS_SAID is required. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nodes.h"
#include "drive.h"
#include "sched.h"

static const double SLACK = 1.3, SLACK_MODEL = 1.2, LEAST_AS_SAID = 0.67;
enum { PIECE = 64 << 10, WORLD = 1000, NODE = 2000, LEADERS = 3000 };

static int failures;

#define FAIL(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), failures++)

/* ---- Ranks and nodes ----------------------------------------------------------------------------------------- */

struct rank {
    MPIR_Comm comm, node, leaders;
    double clock;           /* ns */
    int64_t sent, bytes;    /* messages, and what was in them; */
    int64_t far, far_bytes; /* those to other nodes */
    struct message *posted, *arrived;
};

struct line {
    double out, in; /* free from then on */
};

static int32_t ranks, nodes, largest;
static struct rank *rank;
static struct line *line; /* of each node */
static int64_t messages;

static int32_t simulate_first_of(int32_t node)
{
    return (int32_t)coll_part(ranks, nodes, node);
}

static int32_t node_of(int32_t r)
{
    int32_t i = (int32_t)((int64_t)r * nodes / ranks);
    while (i > 0 && simulate_first_of(i) > r)
        i--;
    while (i + 1 < nodes && simulate_first_of(i + 1) <= r)
        i++;
    return i;
}

static void simulate_make_comm(MPIR_Comm *c, MPIR_Group *group, int32_t r, uint32_t context)
{
    c->adi.obj = (struct keel_object){ .index = KEEL_NO_INDEX, .refs = 1 };
    c->adi.rank = r;
    c->adi.size = c->adi.remote_size = group->size;
    c->adi.context_id = context;
    if (MPIR_Group_table(group, &c->adi.lrank_to_grank))
        exit(1);
    c->group = group;
    c->facts = (MPIR_Coll_facts){ .known = 1, .heard = 1 };
    c->team = MPIR_TEAM_NONE;
    c->nodes_asked = true;
}

static void *need(void *p)
{
    if (!p) {
        fprintf(stderr, "simulate: no memory\n");
        exit(1);
    }
    return p;
}

static MPIR_Group *range(int32_t size, int32_t first)
{
    MPIR_Group *g;
    if (MPIR_Group_new_range(size, first, 1, &g))
        g = NULL;
    return need(g);
}

/* What all ranks of a node keep alike, but for the communicators. */
static struct MPIR_Nodes *make_nodes(int32_t mine)
{
    struct MPIR_Nodes *n =
        need(calloc(1, sizeof *n + (size_t)nodes * (sizeof n->row[0] + sizeof n->by_id[0])));
    n->nodes = nodes;
    n->most = largest;
    n->mine = mine;
    n->blocks = true;
    n->by_id = (struct nodes_id *)(n->row + nodes);
    for (int32_t i = 0; i < nodes; i++) {
        int32_t first = simulate_first_of(i);
        n->row[i] = (struct nodes_row){
            .id = i, .first = first, .members = simulate_first_of(i + 1) - first, .before = first
        };
        n->by_id[i] = (struct nodes_id){ i, i };
    }
    return n;
}

static void make_ranks(void)
{
    int32_t *granks = need(malloc((size_t)nodes * sizeof *granks));
    MPIR_Group *world = range(ranks, 0), *leaders, *here = NULL;
    rank = need(calloc((size_t)ranks, sizeof *rank));
    line = need(calloc((size_t)nodes, sizeof *line));
    for (int32_t i = 0; i < nodes; i++)
        granks[i] = simulate_first_of(i);
    if (MPIR_Group_adopt(nodes, granks, &leaders))
        need(NULL);
    largest = (ranks + nodes - 1) / nodes;
    for (int32_t r = 0; r < ranks; r++) {
        int32_t i = node_of(r), first = simulate_first_of(i);
        if (r == first)
            here = range(simulate_first_of(i + 1) - first, first);
        simulate_make_comm(&rank[r].comm, world, r, WORLD);
        rank[r].comm.apart = nodes == ranks;
        if (nodes == 1 || nodes == ranks)
            continue;
        simulate_make_comm(&rank[r].node, here, r - first, NODE);
        rank[r].comm.nodes = make_nodes(i);
        rank[r].comm.nodes->node = &rank[r].node;
        if (r == first) {
            simulate_make_comm(&rank[r].leaders, leaders, i, LEADERS);
            rank[r].leaders.apart = true;
            rank[r].comm.nodes->leaders = &rank[r].leaders;
        }
    }
}

static void free_ranks(void)
{
    for (int32_t r = 0; r < ranks; r++)
        free(rank[r].comm.nodes);
    free(rank);
    free(line);
}

/* ---- The device ---------------------------------------------------------------------------------------------- */

struct message {
    struct message *next;
    int32_t from, to;
    uint32_t context;
    double when;         /* it arrives; */
    double takes, flies; /* the way out of a node, or into one; between these */
    enum { OUT, IN, THERE } stage;
    int64_t number;        /* of two at once the first to be sent is the first to arrive */
    MPIR_Request *request; /* a receive; or NULL: */
    int64_t bytes;         /* what was sent, a copy */
    char data[];
};

/* Those on their way, by their hour: a heap. */
static struct message **way;
static size_t on_way, way_room;

static bool before(const struct message *a, const struct message *b)
{
    return a->when != b->when ? a->when < b->when : a->number < b->number;
}

static void push(struct message *m)
{
    if (on_way == way_room) {
        way_room = way_room ? 2 * way_room : 1024;
        way = need(realloc(way, way_room * sizeof *way));
    }
    size_t i = on_way++;
    for (; i > 0 && before(m, way[(i - 1) / 2]); i = (i - 1) / 2)
        way[i] = way[(i - 1) / 2];
    way[i] = m;
}

static struct message *simulate_pop(void)
{
    struct message *first = way[0], *last = way[--on_way];
    size_t i = 0;
    for (size_t k; (k = 2 * i + 1) < on_way; i = k) {
        if (k + 1 < on_way && before(way[k + 1], way[k]))
            k++;
        if (!before(way[k], last))
            break;
        way[i] = way[k];
    }
    if (on_way)
        way[i] = last;
    return first;
}

/* The rank that a communicator here is. */
static struct rank *whose(const struct MPIR_COMMUNICATOR *adi)
{
    const MPIR_Comm *c = (const MPIR_Comm *)adi;
    return &rank[MPIR_Group_grank(c->group, c->adi.rank)];
}

/* Within a node both sides copy, at the same time as others; the rate is that of both together. */
static double copy_ns(int64_t bytes, const struct coll_rates *rates)
{
    return (double)bytes / rates->bytes_per_ns / 2;
}

static void simulate_complete(MPIR_Request *r, const struct message *m)
{
    struct rank *me = &rank[m->to];
    bool far = node_of(m->from) != node_of(m->to);
    struct coll_rates rates = MPIR_Coll_rates(me->comm.facts.cost, far);
    MPIR_Datatype *type = r->datatype ? (MPIR_Datatype *)r->datatype : coll_bytes();
    me->clock = (me->clock > m->when ? me->clock : m->when) + rates.message_ns;
    if (!far)
        me->clock += copy_ns(m->bytes, &rates);
    if (m->bytes > r->len * type->adi.size)
        FAIL("rank %d got %lld bytes from %d where there is room for %lld", m->to, (long long)m->bytes,
             m->from, (long long)(r->len * type->adi.size));
    else if (m->bytes > 0 && MPIR_Localcopy(m->data, m->bytes, coll_bytes(), r->buf, r->len, type))
        FAIL("rank %d cannot take a message: %s", m->to, ku_err_last()->text);
    r->moved = m->bytes;
    atomic_store(&r->is_complete, 1);
}

static struct message *take_from(struct message **list, int32_t from, uint32_t context)
{
    for (struct message **at = list; *at; at = &(*at)->next)
        if ((*at)->from == from && (*at)->context == context) {
            struct message *m = *at;
            *at = m->next;
            return m;
        }
    return NULL;
}

static void simulate_append(struct message **list, struct message *m)
{
    while (*list)
        list = &(*list)->next;
    m->next = NULL;
    *list = m;
}

int __wrap_MPID_Isend(const struct MPID_Operation *op, enum MPID_MODE mode, MPID_Request request);
int __wrap_MPID_Irecv(const struct MPID_Operation *op, MPID_Request request);
int __wrap_MPID_Wait(MPID_Request request, MPIR_Status *status);
bool __wrap_MPID_Request_watch(MPID_Request request);
static MPIR_Datatype *type_of(const struct MPID_Operation *op)
{
    return op->datatype ? (MPIR_Datatype *)op->datatype : coll_bytes();
}

int __wrap_MPID_Isend(const struct MPID_Operation *op, enum MPID_MODE mode, MPID_Request request)
{
    struct rank *me = whose(op->comm);
    int64_t len = op->len * type_of(op)->adi.size;
    struct message *m = need(malloc(sizeof *m + (size_t)len));
    int32_t from = (int32_t)(me - rank), here = node_of(from), there = node_of(op->peer);
    struct coll_rates rates = MPIR_Coll_rates(me->comm.facts.cost, here != there);
    (void)mode;
    *m = (struct message){ .from = from, .to = op->peer, .context = op->context_id, .bytes = len };
    if (len > 0 && MPIR_Localcopy(op->buf, op->len, type_of(op), m->data, len, coll_bytes()))
        FAIL("rank %d cannot send: %s", from, ku_err_last()->text);
    me->clock += rates.message_ns;
    m->when = me->clock;
    if (here == there) { /* a long message is copied by both at the same time, a piece behind each other */
        m->when += copy_ns(len < PIECE ? len : PIECE, &rates);
        me->clock += copy_ns(len, &rates);
    }
    m->takes = (double)len / rates.bytes_per_ns;
    m->flies = rates.round_ns - rates.message_ns;
    if (here != there) {
        me->far++;
        me->far_bytes += len;
    }
    me->sent++;
    me->bytes += len;
    m->number = messages++;
    push(m);
    request->handle_type = MPIR_SEND;
    atomic_store(&request->is_complete, 1);
    return 0;
}

int __wrap_MPID_Irecv(const struct MPID_Operation *op, MPID_Request request)
{
    struct rank *me = whose(op->comm);
    int32_t from = MPIR_Group_grank(((MPIR_Comm *)op->comm)->group, op->rank);
    struct message *m = take_from(&me->arrived, from, op->context_id);
    request->handle_type = MPIR_RECV;
    request->op = *op;
    request->datatype = &type_of(op)->adi;
    request->aux = NULL;
    atomic_store(&request->is_complete, 0);
    if (m) {
        simulate_complete(request, m);
        free(m);
    } else {
        m = need(malloc(sizeof *m));
        *m = (struct message){
            .from = from, .to = (int32_t)(me - rank), .context = op->context_id, .request = request
        };
        simulate_append(&me->posted, m);
    }
    return 0;
}

int __wrap_MPID_Wait(MPID_Request request, MPIR_Status *status)
{
    if (status)
        status->count = request->moved;
    return 0;
}

/* aux: whoever watches is told. */
bool __wrap_MPID_Request_watch(MPID_Request request)
{
    request->aux = request;
    return !atomic_load(&request->is_complete);
}

/* A message takes a line as long as it is, when it is its turn. */
static void take_line(double *free_from, struct message *m)
{
    *free_from = (*free_from > m->when ? *free_from : m->when) + m->takes;
    m->when = *free_from;
}

/* False: it is on its way. */
static bool moved_on(struct message *m)
{
    bool far = node_of(m->from) != node_of(m->to);
    switch (m->stage) {
    case OUT:
        if (far)
            take_line(&line[node_of(m->from)].out, m);
        m->when += m->flies - (far ? m->takes : 0);
        m->stage = far ? IN : THERE;
        break;
    case IN:
        take_line(&line[node_of(m->to)].in, m);
        m->stage = THERE;
        break;
    default:
        return true;
    }
    push(m);
    return false;
}

/* The next message gets further, or arrives. */
static void arrive(void)
{
    struct message *m = simulate_pop();
    if (!moved_on(m))
        return;
    struct message *waits = take_from(&rank[m->to].posted, m->from, m->context);
    if (!waits) {
        simulate_append(&rank[m->to].arrived, m);
        return;
    }
    MPIR_Request *r = waits->request;
    simulate_complete(r, m);
    free(waits);
    free(m);
    if (r->aux) {
        struct MPIR_Driven *d = ((struct MPIR_Watched *)r)->driven;
        d->advance(d);
    }
}

/* ---- Calls --------------------------------------------------------------------------------------------------- */

/* What each rank has, and gets: n is how long a block is, in ints. */
struct call {
    enum coll_kind kind;
    int64_t n;
    int32_t root;
    int **in, **out;
    int64_t *counts, *displs;
    MPIR_Request **request;
};

static int value(int64_t r, int64_t i)
{
    return (int)((r * 7919 + i * 31) % 1000);
}

static int64_t sum_upto(int64_t end, int64_t i)
{
    int64_t sum = 0;
    for (int64_t r = 0; r < end; r++)
        sum += value(r, i);
    return sum;
}

static bool vector(enum coll_kind k)
{
    return k == COLL_GATHERV || k == COLL_SCATTERV || k == COLL_ALLGATHERV || k == COLL_ALLTOALLV;
}

/* Blocks of a vector form are not all as long, and some are empty. */
static int64_t simulate_length(const struct call *a, int64_t i)
{
    return vector(a->kind) ? (i % 3 == 2 ? 0 : i % 3 == 1 ? a->n : (a->n + 1) / 2) : a->n;
}

/* How many blocks there are in the input, and in the output, of a rank. */
static int64_t blocks_in(const struct call *a, int32_t r)
{
    switch (a->kind) {
    case COLL_SCATTER:
    case COLL_SCATTERV:
        return r == a->root ? ranks : 0;
    case COLL_ALLTOALL:
    case COLL_ALLTOALLV:
    case COLL_REDUCE_SCATTER:
        return ranks;
    default:
        return 1;
    }
}

static int64_t blocks_out(const struct call *a, int32_t r)
{
    switch (a->kind) {
    case COLL_GATHER:
    case COLL_GATHERV:
        return r == a->root ? ranks : 0;
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV:
    case COLL_ALLTOALL:
    case COLL_ALLTOALLV:
        return ranks;
    default:
        return 1;
    }
}

static void simulate_fill(struct call *a, int32_t r)
{
    int64_t in = blocks_in(a, r) * a->n, out = blocks_out(a, r) * a->n;
    a->in[r] = need(malloc((size_t)(in + 1) * sizeof(int)));
    a->out[r] = need(malloc((size_t)(out + 1) * sizeof(int)));
    for (int64_t i = 0; i < in; i++) /* what is for rank b, or of this rank */
        a->in[r][i] = value(r, i);
    for (int64_t i = 0; i < out; i++)
        a->out[r][i] = a->kind == COLL_BCAST && r == a->root ? value(r, i) : -1;
}

static struct coll call_of(const struct call *a, int32_t r)
{
    MPIR_Datatype *type = MPIR_Datatype_predefined(KEEL_MPI_INT);
    MPIR_Counts counts = { a->counts, true }, displs = { a->displs, true };
    struct coll c = { .kind = a->kind,
                      .root = a->root,
                      .sbuf = a->in[r],
                      .rbuf = a->out[r],
                      .scount = a->n,
                      .rcount = a->n,
                      .stype = type,
                      .rtype = type };
    if (a->kind >= COLL_REDUCE && a->kind <= COLL_EXSCAN)
        c.op = MPIR_Op_predefined(KEEL_MPI_SUM);
    if (a->kind == COLL_GATHERV || a->kind == COLL_ALLGATHERV)
        c.scount = simulate_length(a, r), c.rcount = 0, c.rcounts = counts, c.rdispls = displs;
    if (a->kind == COLL_SCATTERV)
        c.scount = 0, c.scounts = counts, c.sdispls = displs, c.rcount = simulate_length(a, r);
    if (a->kind == COLL_REDUCE_SCATTER)
        c.rcounts = counts;
    if (a->kind == COLL_ALLTOALLV) { /* as long as both ranks' numbers together say */
        c.scounts = c.rcounts = (MPIR_Counts){ a->counts + r % 3, true };
        c.sdispls = c.rdispls = displs;
    }
    return c;
}

static bool wrong(const struct call *a, int32_t r)
{
    const int *out = a->out[r];
    int64_t bad = 0;
    for (int64_t b = 0; b < blocks_out(a, r); b++) {
        int64_t n = a->kind == COLL_ALLTOALLV        ? a->counts[b + r % 3]
                    : a->kind == COLL_SCATTERV       ? simulate_length(a, r)
                    : a->kind == COLL_REDUCE_SCATTER ? simulate_length(a, r)
                                                     : simulate_length(a, b);
        for (int64_t i = 0; i < n; i++) {
            int64_t want = value(b, i), k = b * a->n + i;
            switch (a->kind) {
            case COLL_BARRIER:
                return false;
            case COLL_BCAST:
                want = value(a->root, i);
                break;
            case COLL_SCATTER:
            case COLL_SCATTERV:
                want = value(a->root, r * a->n + i);
                break;
            case COLL_ALLTOALL:
            case COLL_ALLTOALLV:
                want = value(b, r * a->n + i);
                break;
            case COLL_REDUCE:
            case COLL_ALLREDUCE:
                if (a->kind == COLL_REDUCE && r != a->root)
                    return false;
                want = sum_upto(ranks, i);
                break;
            case COLL_REDUCE_SCATTER:
                want = sum_upto(ranks, a->displs[r] + i);
                break;
            case COLL_SCAN:
            case COLL_EXSCAN:
                if (a->kind == COLL_EXSCAN && r == 0)
                    return false;
                want = sum_upto(r + (a->kind == COLL_SCAN), i);
                break;
            default:
                break;
            }
            bad += out[k] != want;
        }
    }
    return bad != 0;
}

/* Of some ranks, since it takes long of many. */
static bool wrong_somewhere(const struct call *a)
{
    int32_t step = ranks > 64 ? ranks / 61 : 1;
    for (int32_t r = 0; r < ranks; r++)
        if ((r % step == 0 || r == a->root || r == ranks - 1) && wrong(a, r))
            return true;
    return false;
}

static void set_counts(struct call *a)
{
    int64_t at = 0;
    a->counts = need(malloc((size_t)(ranks + 3) * sizeof *a->counts));
    a->displs = need(malloc((size_t)ranks * sizeof *a->displs));
    for (int32_t i = 0; i < ranks + 3; i++) /* an alltoallv is symmetric: by (i + r) % 3 */
        a->counts[i] = simulate_length(a, i);
    for (int32_t i = 0; i < ranks; i++) {
        a->displs[i] = a->kind == COLL_REDUCE_SCATTER ? at : i * a->n;
        at += simulate_length(a, i);
    }
}

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

struct result {
    double ns;
    int64_t sent, bytes, far, far_bytes; /* most of a rank; of all, between nodes */
};

static void simulate_finish(MPIR_Request *r)
{
    ((struct MPIR_Closure *)r->aux)->ops->free(r);
    r->aux = NULL;
    MPIR_Request_release(r);
}

static struct result simulate_run(struct call *a, const char *name)
{
    struct result result = { 0 };
    memset(line, 0, (size_t)nodes * sizeof *line);
    for (int32_t r = 0; r < ranks; r++) {
        simulate_fill(a, r);
        rank[r].clock = 0;
        rank[r].sent = rank[r].bytes = rank[r].far = rank[r].far_bytes = 0;
    }
    for (int32_t r = 0; r < ranks; r++) {
        struct coll c = call_of(a, r);
        int err = MPIR_Coll_nonblocking(&c, &rank[r].comm, &a->request[r]);
        if (err) {
            FAIL("%s: rank %d cannot begin: %s", name, r, ku_err_last()->text);
            exit(1);
        }
    }
    while (on_way)
        arrive();
    for (int32_t r = 0; r < ranks; r++) {
        const struct rank *x = &rank[r];
        if (!atomic_load(&a->request[r]->is_complete)) {
            FAIL("%s of %d ranks on %d nodes, %lld ints: rank %d waits for ever", name, ranks, nodes,
                 (long long)a->n, r);
            exit(1);
        }
        if (a->request[r]->errval)
            FAIL("%s of %d ranks on %d nodes: rank %d has an error", name, ranks, nodes, r);
        if (x->arrived || x->posted)
            FAIL("%s of %d ranks on %d nodes: rank %d has messages left", name, ranks, nodes, r);
        result.ns = x->clock > result.ns ? x->clock : result.ns;
        result.sent = x->sent > result.sent ? x->sent : result.sent;
        result.bytes = x->bytes > result.bytes ? x->bytes : result.bytes;
        result.far += x->far;
        result.far_bytes += x->far_bytes;
    }
    if (wrong_somewhere(a))
        FAIL("%s of %d ranks on %d nodes, %lld ints: the result is wrong", name, ranks, nodes,
             (long long)a->n);
    for (int32_t r = 0; r < ranks; r++) {
        simulate_finish(a->request[r]);
        free(a->in[r]);
        free(a->out[r]);
    }
    return result;
}

/* What the choice would depend on: as MPIR_Coll_nonblocking has it. */
static struct coll_size size_of(const struct call *a)
{
    struct coll_state st;
    struct coll_size s = { .p = ranks };
    struct call b = *a;
    int nothing = 0, *in = &nothing, *out = &nothing;
    b.in = &in;
    b.out = &out;
    struct coll c = call_of(&b, 0);
    uint32_t before = rank[0].comm.coll_seq;
    if (MPIR_Coll_begin(&c, &st, &rank[0].comm) || MPIR_Coll_tables[a->kind].describe(&c, &s))
        FAIL("%s", ku_err_last()->text);
    MPIR_Coll_nodes_is(&rank[0].comm, &s);
    rank[0].comm.coll_seq = before;
    return s;
}

static void force(enum coll_kind kind, int row)
{
    for (int32_t r = 0; r < ranks; r++)
        rank[r].comm.facts.forced[kind] = (uint8_t)row;
}

/* More than this is left out. */
static bool too_long(const struct coll_alg *a, const struct coll_size *s)
{
    enum { MOST_MESSAGES = 3000000 };
    struct coll_cost cost = a->cost(s);
    return (cost.rounds + cost.messages) * s->p / 2 > MOST_MESSAGES;
}

/* The least time that rows took, and the least that the model says of them. */
struct pair {
    double took, model;
};

static void simulate_least(struct pair *p, double took, double model)
{
    p->took = p->took == 0 || took < p->took ? took : p->took;
    p->model = p->model == 0 || model < p->model ? model : p->model;
}

/* How often a row over nodes was beside the best other one what the model says, within a quarter. */
static int compared, as_said;

static void compare(const struct pair *composed, const struct pair *flat)
{
    double gain = flat->took / composed->took, said = flat->model / composed->model;
    compared++;
    as_said += gain >= 0.75 * said && gain <= 1.25 * said;
}

static void table(enum coll_kind kind, int64_t n, int32_t root)
{
    struct call a = { .kind = kind, .n = kind == COLL_BARRIER ? 1 : n, .root = root };
    const struct coll_table *t = &MPIR_Coll_tables[kind];
    a.in = need(calloc((size_t)ranks, sizeof *a.in));
    a.out = need(calloc((size_t)ranks, sizeof *a.out));
    a.request = need(calloc((size_t)ranks, sizeof(MPIR_Request *)));
    set_counts(&a);
    struct coll_size size = size_of(&a);
    MPIR_Coll_facts none = rank[0].comm.facts;
    const struct coll_alg *choice = MPIR_Coll_choose(kind, &none, &size);
    double best = 0, chosen = 0;
    struct pair composed = { 0 }, flat = { 0 };
    const char *best_name = "";
    for (int i = 0; t->algs[i].name; i++) {
        const struct coll_alg *row = &t->algs[i];
        MPIR_Coll_facts facts = none;
        facts.forced[kind] = (uint8_t)(i + 1);
        if (coll_at_team(row) || too_long(row, &size) || MPIR_Coll_choose(kind, &facts, &size) != row)
            continue;
        char name[64];
        snprintf(name, sizeof name, "%s %s", t->name, row->name);
        force(kind, i + 1);
        struct result r = simulate_run(&a, name);
        r.ns += row->cost(&size).copied / MPIR_Coll_rates(none.cost, false).bytes_per_ns;
        force(kind, 0);
        printf("%-14s %-12s %7d %6d %9lld %9.1f %9.1f %7lld %10lld %9lld %12lld%s\n", t->name, row->name,
               ranks, nodes, (long long)a.n * 4, r.ns / 1000, MPIR_Coll_ns(row, &size) / 1000,
               (long long)r.sent, (long long)r.bytes, (long long)r.far, (long long)r.far_bytes,
               row == choice ? " chosen" : "");
        if (row == choice)
            chosen = r.ns;
        simulate_least(row->needs & COLL_NEEDS_NODES ? &composed : &flat, r.ns, MPIR_Coll_ns(row, &size));
        if (best == 0 || r.ns < best) {
            best = r.ns;
            best_name = row->name;
        }
    }
    if (composed.took > 0 && flat.took > 0 && size.unit != COLL_UNKNOWN)
        compare(&composed, &flat);
    /* a choice that cannot know the sizes of others' blocks is not to blame */
    if (chosen > SLACK * best && size.unit != COLL_UNKNOWN)
        FAIL("%s of %d ranks on %d nodes, %lld bytes: %s is chosen and takes %.1f us, %s takes %.1f us",
             t->name, ranks, nodes, (long long)a.n * 4, choice->name, chosen / 1000, best_name, best / 1000);
    free(a.in);
    free(a.out);
    free(a.request);
    free(a.counts);
    free(a.displs);
}

static bool simulate_wanted(const char *name, int argc, char **argv)
{
    for (int i = 3; i < argc; i++)
        if (!strcmp(name, argv[i]))
            return true;
    return argc <= 3;
}

/* Blocks that each rank has for each other, or of each: short ones where there are many. */
static int64_t most_ints(enum coll_kind kind)
{
    bool square = kind == COLL_ALLTOALL || kind == COLL_ALLTOALLV || kind == COLL_ALLGATHER ||
                  kind == COLL_ALLGATHERV || kind == COLL_REDUCE_SCATTER;
    int64_t room = 1 << 24; /* ints in all */
    return square ? room / ranks / ranks : room / ranks / 8;
}

static void simulate(int argc, char **argv)
{
    static const int64_t sizes[] = { 2, 256, 16384, 262144 };
    make_ranks();
    for (int kind = 0; kind <= COLL_EXSCAN; kind++) {
        if (kind == COLL_ALLTOALLW || !simulate_wanted(MPIR_Coll_tables[kind].name, argc, argv))
            continue;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && (i == 0 || kind != COLL_BARRIER); i++)
            if (sizes[i] <= most_ints((enum coll_kind)kind) || kind == COLL_BARRIER)
                table((enum coll_kind)kind, sizes[i], i % 2 ? ranks / 2 : 0);
    }
    free_ranks();
}

/* ---- Costs alone --------------------------------------------------------------------------------------------- */

/* The choice for a size, and its steps and bytes a rank as its cost says; no row of the table that can do the call
 * costs less by SLACK_MODEL. */
static void choose_by_model(enum coll_kind kind, const struct coll_size *size)
{
    const struct coll_table *t = &MPIR_Coll_tables[kind];
    MPIR_Coll_facts facts = { .known = 1 };
    struct coll_size s = *size;
    const struct coll_alg *choice = MPIR_Coll_choose(kind, &facts, &s);
    double chosen = MPIR_Coll_ns(choice, &s), best = chosen;
    const char *best_name = choice->name;
    for (int i = 0; t->algs[i].name; i++) {
        MPIR_Coll_facts one = facts;
        one.forced[kind] = (uint8_t)(i + 1);
        double ns = MPIR_Coll_ns(&t->algs[i], &s);
        if (MPIR_Coll_choose(kind, &one, &s) == &t->algs[i] && ns < best) {
            best = ns;
            best_name = t->algs[i].name;
        }
    }
    struct coll_cost cost = choice->cost(&s);
    printf("%-14s %-12s %7d %6d %9lld %11.1f %8.2f %9.0f %13.0f\n", t->name, choice->name, s.p,
           s.nodes ? s.nodes : 1, (long long)s.bytes, chosen / 1000, chosen / best,
           cost.rounds + cost.net_rounds, cost.bytes + cost.net_bytes);
    if (!(chosen <= SLACK_MODEL * best))
        FAIL("%s of %d ranks on %d nodes, %lld bytes: %s is chosen, %s would take %.2f of that", t->name, s.p,
             s.nodes, (long long)s.bytes, choice->name, best_name, best / chosen);
}

static void model(void)
{
    printf("%-14s %-12s %7s %6s %9s %11s %8s %9s %13s\n", "collective", "row", "ranks", "nodes", "bytes",
           "model us", "to best", "steps", "bytes/rank");
    for (int kind = 0; kind <= COLL_EXSCAN; kind++)
        for (int32_t p = 2; p <= 1 << 20; p *= p < 1024 ? 2 : 32)
            for (int32_t n = 1; n <= p && n <= 1 << 16; n *= 16)
                for (int64_t bytes = 8; bytes <= 1 << 20; bytes *= 128) {
                    struct coll_size s = { .bytes = kind == COLL_BARRIER ? 0 : bytes,
                                           .elements = bytes / 4,
                                           .p = p,
                                           .commutative = true,
                                           .room = COLL_NO_ROOM,
                                           .nodes = n > 1 && n < p ? n : 0,
                                           .largest = n > 1 && n < p ? (p + n - 1) / n : 0,
                                           .blocks = n > 1 && n < p,
                                           .apart = n == p };
                    choose_by_model((enum coll_kind)kind, &s);
                }
}

int main(int argc, char **argv)
{
    static const int32_t shapes[][2] = { { 2, 1 },  { 2, 2 },  { 3, 2 },  { 5, 2 },   { 8, 1 },   { 8, 4 },
                                         { 13, 3 }, { 16, 4 }, { 64, 1 }, { 64, 16 }, { 100, 7 }, { 0, 0 } };
    if (argc == 2 && !strcmp(argv[1], "model")) {
        model();
        fprintf(stderr, "%d failures\n", failures);
        return failures != 0;
    }
    printf("%-14s %-12s %7s %6s %9s %9s %9s %7s %10s %9s %12s\n", "collective", "row", "ranks", "nodes",
           "bytes", "us", "model us", "steps", "bytes/rank", "messages", "bytes between");
    if (argc > 1) {
        ranks = atoi(argv[1]);
        nodes = argc > 2 ? atoi(argv[2]) : 1;
        if (ranks < 2 || nodes < 1 || nodes > ranks) {
            fprintf(stderr, "simulate: %s ranks on %s nodes; expected 2 or more, on 1 to as many\n", argv[1],
                    argc > 2 ? argv[2] : "1");
            return 1;
        }
        simulate(argc, argv);
    } else {
        for (int i = 0; shapes[i][0]; i++) {
            ranks = shapes[i][0];
            nodes = shapes[i][1];
            simulate(argc, argv);
        }
    }
    if (argc == 1 && as_said < LEAST_AS_SAID * compared)
        FAIL("of %d rows over nodes only %d are beside the best other one what the model says, within a "
             "quarter",
             compared, as_said);
    fprintf(stderr, "%lld messages, %d failures; rows over nodes beside others as the model says: %d of %d\n",
            (long long)messages, failures, as_said, compared);
    free(way);
    return failures != 0;
}
