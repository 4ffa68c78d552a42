/* pieces.c: collectives at a team that move much data, and compute nothing: in each round every process that has something for
 * others shows them a piece of each block, and every one that expects something reads its pieces.
 *
 * Steps of a member: 2 i + 1 shows round i, + 2 reads round i - 1. */
#include "steps.h"
#include "ways.h"
#include "util/copy.h"

struct pieces {
    struct coll_steps x;
    bool shows, each; /* has something for others; something else for each of them */
    int32_t from, to; /* only this one shows, or reads; -1: all do */
};

static struct coll_block given(const struct pieces *p, int32_t to)
{
    const struct coll *c = p->x.c;
    switch (c->kind) {
    case COLL_ALLTOALL:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
        return coll_in_place(c->sbuf) ? MPIR_Coll_rblock(c, to) : MPIR_Coll_sblock(c, to);
    case COLL_SCATTER:
        return MPIR_Coll_sblock(c, to);
    case COLL_GATHER:
        return (struct coll_block){ (void *)(uintptr_t)c->sbuf, c->scount, c->stype };
    default: /* allgather: it is in its place */
        return MPIR_Coll_rblock(c, c->rank);
    }
}

static struct coll_block wanted(const struct pieces *p, int32_t from)
{
    const struct coll *c = p->x.c;
    if (c->kind == COLL_SCATTER)
        return (struct coll_block){ c->rbuf, c->rcount, c->rtype };
    return MPIR_Coll_rblock(c, from);
}

static int64_t bytes_of(const struct coll_block *b)
{
    return b->count * b->type->adi.size;
}

/* How much of a block the round has; where it begins in *at. */
static int64_t piece(const struct pieces *p, const struct coll_block *b, int64_t round, int64_t *at)
{
    int64_t all = bytes_of(b), n;
    *at = round * p->x.chunk;
    n = all - *at;
    return n > p->x.chunk ? p->x.chunk : n > 0 ? n : 0;
}

static int32_t chunk_for(const struct pieces *p, int32_t by, int32_t to)
{
    return !p->each ? 0 : to < by ? to : to - 1;
}

static int64_t step_shown(int64_t round)
{
    return 2 * round + 1;
}

static int64_t step_read(int64_t round)
{
    return round < 0 ? 0 : 2 * (round + 1) + 2;
}

static void show(struct pieces *p, int64_t round)
{
    const struct coll *c = p->x.c;
    int64_t before = step_read(round - p->x.depth), at;
    if (!(p->to < 0 ? MPIR_Steps_wait_all(&p->x, before) : MPIR_Steps_wait(&p->x, p->to, before)))
        return;
    for (int32_t k = 1; k < (p->each ? c->size : 2); k++) {
        int32_t to = (c->rank + k) % c->size;
        struct coll_block b = given(p, to);
        int64_t n = piece(p, &b, round, &at);
        MPIR_Steps_put(MPIR_Steps_chunk(&p->x, c->rank, round, chunk_for(p, c->rank, to)), &b, at, n);
    }
}

static void read_piece(struct pieces *p, int64_t round, int32_t from)
{
    const struct coll *c = p->x.c;
    struct coll_block b = wanted(p, from);
    int64_t at, n = piece(p, &b, round, &at);
    if (n > 0 && MPIR_Steps_wait(&p->x, from, step_shown(round)))
        MPIR_Steps_take(MPIR_Steps_chunk(&p->x, from, round, chunk_for(p, from, c->rank)), &b, at, n);
}

static void read_others(struct pieces *p, int64_t round)
{
    const struct coll *c = p->x.c;
    if (p->from >= 0) {
        read_piece(p, round, p->from);
        return;
    }
    for (int32_t k = 1; k < c->size; k++)
        read_piece(p, round, (c->rank + k) % c->size);
}

/* Blocks of at most `longest` bytes. */
static void divide(struct pieces *p, struct coll *c, int64_t longest)
{
    MPIR_Steps_divide(&p->x, c, p->each ? c->size - 1 : 1, longest);
    p->x.rounds = (longest + p->x.chunk - 1) / p->x.chunk;
}

/* After a meeting. */
static void go(struct pieces *p)
{
    const struct coll *c = p->x.c;
    bool shows = p->from < 0 ? c->rank != p->to : c->rank == p->from,
         reads = p->to < 0 ? c->rank != p->from : c->rank == p->to;
    MPIR_Steps_begin(&p->x, step_read(p->x.rounds - 1));
    for (int64_t i = 0; i < p->x.rounds + 1; i++) {
        if (i < p->x.rounds && shows) {
            show(p, i);
            MPIR_Steps_done(&p->x, step_shown(i));
        }
        if (i > 0 && reads) {
            read_others(p, i - 1);
            MPIR_Steps_done(&p->x, step_read(i - 1));
        }
    }
    MPIR_Steps_done(&p->x, step_read(p->x.rounds - 1));
}

/* ---- Read straight from where it is ---- */

/* What this process has for others, if they can read it. */
static const void *readable(const struct pieces *p)
{
    const struct coll *c = p->x.c;
    if (p->from >= 0 ? c->rank != p->from : c->rank == p->to)
        return COLL_NOTHING;
    struct coll_block b = given(p, p->each ? 0 : c->rank);
    return b.type->adi.is_contig && !(c->kind == COLL_ALLTOALL && coll_in_place(c->sbuf)) ? b.buf : NULL;
}

/* Where its types differ from bytes, by way of its own bench. */
static void read_block(const struct pieces *p, int32_t from)
{
    struct coll *c = p->x.c;
    struct coll_block b = wanted(p, from);
    int64_t n = bytes_of(&b), offset = p->each ? c->rank * n : 0, part = p->x.chunk;
    char *bench = MPID_Steps_bench(&c->comm->adi, c->rank);
    if (b.type->adi.is_contig) {
        MPIR_Ways_read(c, from, offset, b.buf, n);
        return;
    }
    for (int64_t at = 0; at < n; at += part) {
        part = n - at < part ? n - at : part;
        MPIR_Ways_read(c, from, offset + at, bench, part);
        MPID_Layout_unpack(&b.type->adi, b.buf, b.count, at, bench, part);
    }
}

static void go_reading(struct pieces *p)
{
    struct coll *c = p->x.c;
    for (int32_t k = 1; k < c->size; k++) {
        int32_t from = (c->rank + k) % c->size;
        if (p->from >= 0 ? from == p->from : p->to < 0 || p->to == c->rank)
            read_block(p, from);
    }
    MPIR_Ways_next(c, 1);
}

static void exchange(struct pieces *p, struct coll *c, int64_t longest, int64_t all)
{
    divide(p, c, longest);
    if (!MPIR_Ways_meet(c, all, readable(p), NULL))
        return;
    if (c->way == COLL_READ)
        go_reading(p);
    else
        go(p);
    MPIR_Ways_end(c);
}

/* ---- The collectives ---- */

static void copy_own(struct coll *c, struct coll_block from, struct coll_block to)
{
    if (from.type->adi.is_contig && to.type->adi.is_contig && bytes_of(&from) == bytes_of(&to))
        ku_copy_in(to.buf, from.buf, (size_t)bytes_of(&from));
    else
        MPIR_Coll_copy(c, from.buf, from.count, from.type, to.buf, to.count, to.type);
}

void MPIR_Coll_pieces_alltoall(struct coll *c)
{
    struct pieces p = { .each = true, .from = -1, .to = -1 };
    int64_t block = c->rcount * c->rtype->adi.size;
    bool fits = coll_in_place(c->sbuf) || c->scount * c->stype->adi.size == block;
    exchange(&p, c, block, fits ? block : -1); /* else messages find out */
    if (!c->st->team_broke && !coll_in_place(c->sbuf))
        copy_own(c, MPIR_Coll_sblock(c, c->rank), MPIR_Coll_rblock(c, c->rank));
}

/* Each shows in its room how much it has for each, and the most. */
static void tell_lengths(struct pieces *p, struct coll *c)
{
    int64_t most = 0, *mine = MPID_Team_own(&c->comm->adi, (c->size + 1) * (int64_t)sizeof *mine);
    for (int32_t i = 0; i < c->size; i++) {
        struct coll_block b = given(p, i);
        mine[i] = i == c->rank ? 0 : bytes_of(&b);
        most = mine[i] > most ? mine[i] : most;
    }
    mine[c->size] = most;
}

/* The most that anybody has for another. */
static int64_t hear_lengths(const struct pieces *p, struct coll *c)
{
    int64_t most = 0;
    for (int32_t i = 0; i < c->size; i++) {
        const int64_t *theirs = MPID_Team_room(&c->comm->adi, i);
        struct coll_block b = wanted(p, i);
        most = theirs[c->size] > most ? theirs[c->size] : most;
        if (i != c->rank)
            MPIR_Coll_received(c, 0, &(MPIR_Status){ .count = theirs[c->rank] }, bytes_of(&b), i);
    }
    return most;
}

void MPIR_Coll_pieces_alltoallv(struct coll *c)
{
    struct pieces p = { .x.c = c, .each = true, .from = -1, .to = -1 };
    tell_lengths(&p, c);
    if (!MPIR_Coll_team_meet_for(c, 0))
        return;
    int64_t longest = hear_lengths(&p, c);
    if (longest > 0) {
        divide(&p, c, longest);
        go(&p);
    }
    if (!coll_in_place(c->sbuf))
        copy_own(c, MPIR_Coll_sblock(c, c->rank), MPIR_Coll_rblock(c, c->rank));
}

void MPIR_Coll_pieces_allgather(struct coll *c)
{
    struct pieces p = { .from = -1, .to = -1 };
    int64_t longest = c->rcount, all = c->rcount * c->size, size = c->rtype->adi.size;
    if (c->rcounts.p)
        all = MPIR_Coll_total(c->rcounts, c->size, &longest);
    exchange(&p, c, longest * size, all * size);
}

void MPIR_Coll_pieces_gather(struct coll *c)
{
    struct pieces p = { .from = -1, .to = c->root };
    int64_t block = c->rank == c->root ? c->rcount * c->rtype->adi.size : c->scount * c->stype->adi.size;
    exchange(&p, c, block, block);
    if (!c->st->team_broke && c->rank == c->root && !coll_in_place(c->sbuf))
        copy_own(c, (struct coll_block){ (void *)(uintptr_t)c->sbuf, c->scount, c->stype },
                 MPIR_Coll_rblock(c, c->rank));
}

void MPIR_Coll_pieces_scatter(struct coll *c)
{
    struct pieces p = { .each = true, .from = c->root, .to = -1 };
    int64_t block = c->rank == c->root ? c->scount * c->stype->adi.size : c->rcount * c->rtype->adi.size;
    exchange(&p, c, block, block);
    if (!c->st->team_broke && c->rank == c->root && !coll_in_place(c->rbuf))
        copy_own(c, MPIR_Coll_sblock(c, c->rank), (struct coll_block){ c->rbuf, c->rcount, c->rtype });
}

/* Each byte is copied twice. */
struct coll_cost MPIR_Coll_pieces_cost(const struct coll_size *s)
{
    double p = s->p, n = (double)s->bytes * p;
    return (struct coll_cost){
        .rounds = 3, .messages = p, .bytes = 0.2 * n, .turns = 2 * p, .total_bytes = 0.2 * n * p
    };
}

struct coll_cost MPIR_Coll_pieces_all_cost(const struct coll_size *s)
{
    struct coll_size block = { .bytes = s->bytes / s->p, .p = s->p };
    return MPIR_Coll_pieces_cost(&block);
}

/* Nobody knows whether all blocks are large, and small ones are faster by messages: only for those who ask for it. */
struct coll_cost MPIR_Coll_pieces_v_cost(const struct coll_size *s)
{
    (void)s;
    return (struct coll_cost){ .rounds = 1e9 };
}
