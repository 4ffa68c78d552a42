/* SPDX-License-Identifier: BSD-3-Clause */
/* pieces.c: collectives at a team that move much data, and compute nothing: in each round every process that has
 * something for others shows them a piece of each block, and every one that expects something reads its pieces.
 *
 * Steps of a member: 2 i + 1 shows round i, + 2 reads round i - 1. */
#include "steps.h"
#include "ways.h"

/* What a call does next. */
enum stage { MEETS = 0, SHOWS, MEETS_AGAIN, ENDS };

struct pieces {
    struct coll_steps x;
    enum stage stage;
    bool each;         /* something else for each of the others */
    bool vectors;      /* of lengths that only those know who give and who get them */
    bool shows, reads; /* this process has something for others, wants something of them */
    int32_t from, to;  /* only this one shows, or reads; -1: all do */
    int64_t all;       /* bytes, the same in all: what they meet for */
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
    case COLL_SCATTERV:
        return MPIR_Coll_sblock(c, to);
    default: /* gather, allgather: where it was given, not the copy in its place, which is in this core's own cache */
        if (coll_in_place(c->sbuf))
            return MPIR_Coll_rblock(c, c->rank);
        return (struct coll_block){ (void *)(uintptr_t)c->sbuf, c->scount, c->stype };
    }
}

static struct coll_block pieces_wanted(const struct pieces *p, int32_t from)
{
    const struct coll *c = p->x.c;
    if (c->kind == COLL_SCATTER || c->kind == COLL_SCATTERV)
        return (struct coll_block){ c->rbuf, c->rcount, c->rtype };
    return MPIR_Coll_rblock(c, from);
}

/* How much of a block the round has; where it begins in *at. */
static int64_t piece(const struct pieces *p, const struct coll_block *b, int64_t round, int64_t *at)
{
    int64_t all = coll_block_bytes(b), n;
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

static bool pieces_show(struct pieces *p, int64_t round)
{
    const struct coll *c = p->x.c;
    int64_t before = step_read(round - p->x.depth), at;
    if (!(p->to < 0 ? MPIR_Steps_wait_all(&p->x, before) : MPIR_Steps_wait(&p->x, p->to, before)))
        return false;
    for (int32_t k = 1; k < (p->each ? c->size : 2); k++) {
        int32_t to = (c->rank + k) % c->size;
        struct coll_block b = given(p, to);
        int64_t n = piece(p, &b, round, &at);
        MPIR_Steps_put(MPIR_Steps_chunk(&p->x, c->rank, round, chunk_for(p, c->rank, to)), &b, at, n);
    }
    MPIR_Steps_done(&p->x, step_shown(round));
    return true;
}

static bool read_piece(struct pieces *p, int64_t round, int32_t from)
{
    const struct coll *c = p->x.c;
    struct coll_block b = pieces_wanted(p, from);
    int64_t at, n = piece(p, &b, round, &at);
    if (n > 0 && !MPIR_Steps_wait(&p->x, from, step_shown(round)))
        return false;
    MPIR_Steps_take(&p->x, MPIR_Steps_chunk(&p->x, from, round, chunk_for(p, from, c->rank)), &b, at, n);
    return true;
}

static bool read_others(struct pieces *p, int64_t round)
{
    const struct coll *c = p->x.c;
    int32_t *k = &p->x.others, n = p->from < 0 ? c->size - 1 : 1;
    for (; *k < n; ++*k)
        if (!read_piece(p, round, p->from < 0 ? (c->rank + 1 + *k) % c->size : p->from))
            return false;
    MPIR_Steps_done(&p->x, step_read(round));
    return true;
}

/* Two units a round: it is shown, and the one before it is read. */
static bool pieces_work(struct coll_steps *x, int64_t unit)
{
    struct pieces *p = (struct pieces *)x;
    int64_t round = unit / 2;
    if (unit % 2 == 0)
        return round == x->rounds || !p->shows || pieces_show(p, round);
    return round == 0 || !p->reads || read_others(p, round - 1);
}

/* Blocks of at most `longest` bytes; all take so many together. */
static void divide(struct pieces *p, struct coll *c, int64_t longest, int64_t taken)
{
    MPIR_Steps_divide(&p->x, c, p->each ? c->size - 1 : 1, longest, taken);
    p->x.rounds = (longest + p->x.chunk - 1) / p->x.chunk;
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

/* A block that lies there; where this process's type differs from bytes, by way of its own bench. */
static void read_block(const struct pieces *p, int32_t from, uint64_t there)
{
    struct coll *c = p->x.c;
    struct coll_block b = pieces_wanted(p, from);
    int64_t n = coll_block_bytes(&b), part = p->x.chunk;
    char *bench = MPID_Steps_bench(&c->comm->adi, c->rank);
    if (b.type->adi.is_contig) {
        MPIR_Ways_read(c, from, there, b.buf, n);
        return;
    }
    for (int64_t at = 0; at < n; at += part) {
        part = n - at < part ? n - at : part;
        MPIR_Ways_read(c, from, there + (uint64_t)at, bench, part);
        MPID_Layout_unpack(&b.type->adi, b.buf, b.count, at, bench, part);
    }
}

/* Has `by` something for `to`? */
static bool gives(const struct pieces *p, int32_t by, int32_t to)
{
    return by != to && (p->from < 0 || by == p->from) && (p->to < 0 || to == p->to);
}

static void read_all(const struct pieces *p)
{
    struct coll *c = p->x.c;
    for (int32_t k = 1; k < c->size; k++) {
        int32_t from = (c->rank + k) % c->size;
        if (!gives(p, from, c->rank))
            continue;
        struct coll_block b = pieces_wanted(p, from);
        read_block(p, from, MPIR_Ways_at(c, from) + (uint64_t)(p->each ? c->rank * coll_block_bytes(&b) : 0));
    }
}

/* ---- Blocks whose lengths only those know who give and who get them
 * ---------------------------------------------------
 *
 * At the meeting each shows how long its blocks are and where they lie; and, if all of them are short, the blocks
 * themselves. */

struct told {
    char said[COLL_SAID];
    int64_t most, all; /* bytes of the longest block, and of all */
    int64_t here;      /* they follow, one after the other */
    struct {
        int64_t bytes;
        uint64_t at;
    } block[]; /* for each member */
};

static char *blocks_of(const struct told *t, int32_t size)
{
    return (char *)(uintptr_t)(t->block + size);
}

static int64_t head_of_told(const struct coll *c)
{
    return (int64_t)(sizeof(struct told) + (size_t)c->size * sizeof((struct told *)0)->block[0]);
}

/* How much this process has for each; may the others read all of it? */
static bool pieces_measure(const struct pieces *p, struct told *t)
{
    const struct coll *c = p->x.c;
    bool can = !coll_in_place(c->sbuf) || c->kind == COLL_GATHERV;
    t->most = t->all = 0;
    for (int32_t i = 0; i < c->size; i++) {
        t->block[i].bytes = 0;
        if (!gives(p, c->rank, i))
            continue;
        struct coll_block b = given(p, i);
        t->block[i].bytes = coll_block_bytes(&b);
        t->block[i].at = (uint64_t)(uintptr_t)b.buf;
        t->most = t->block[i].bytes > t->most ? t->block[i].bytes : t->most;
        t->all += t->block[i].bytes;
        can = can && (t->block[i].bytes == 0 || b.type->adi.is_contig);
    }
    return can;
}

static void put_blocks(const struct pieces *p, struct told *t)
{
    const struct coll *c = p->x.c;
    char *to = blocks_of(t, c->size);
    for (int32_t i = 0; i < c->size; to += t->block[i++].bytes)
        if (t->block[i].bytes > 0) {
            struct coll_block b = given(p, i);
            MPIR_Steps_put(to, &b, 0, t->block[i].bytes);
        }
}

static const struct told *told_by(const struct coll *c, int32_t rank)
{
    return MPID_Team_room(&c->comm->adi, rank);
}

/* Is what this process wants from `rank` what that one has for it? */
static bool pieces_fits(const struct pieces *p, int32_t rank)
{
    struct coll_block b = pieces_wanted(p, rank);
    return coll_block_bytes(&b) == told_by(p->x.c, rank)->block[p->x.c->rank].bytes;
}

static void take_block(const struct pieces *p, int32_t rank)
{
    const struct coll *c = p->x.c;
    const struct told *t = told_by(c, rank);
    struct coll_block b = pieces_wanted(p, rank);
    const char *from = blocks_of(t, c->size);
    for (int32_t i = 0; i < c->rank; i++)
        from += t->block[i].bytes;
    MPIR_Steps_take(&p->x, from, &b, 0, coll_block_bytes(&b));
}

/* Each block in the same way; those that are not what was expected are errors. */
static void each_wanted(struct pieces *p, void (*fetch)(const struct pieces *p, int32_t from))
{
    struct coll *c = p->x.c;
    for (int32_t k = 1; k < c->size; k++) {
        int32_t from = (c->rank + k) % c->size;
        if (!gives(p, from, c->rank))
            continue;
        struct coll_block b = pieces_wanted(p, from);
        MPIR_Coll_received(c, 0, &(MPIR_Status){ .count = told_by(c, from)->block[c->rank].bytes },
                           coll_block_bytes(&b), from);
        if (fetch && pieces_fits(p, from))
            fetch(p, from);
    }
}

static void fetch_block(const struct pieces *p, int32_t from)
{
    read_block(p, from, told_by(p->x.c, from)->block[p->x.c->rank].at);
}

/* All that is to be read is in the rooms; else all find the same, and what is left to do. */
static bool read_rooms(struct pieces *p)
{
    struct coll *c = p->x.c;
    int64_t most = 0, all = 0;
    bool here = true;
    for (int32_t i = 0; i < c->size; i++) {
        const struct told *t = told_by(c, i);
        most = t->most > most ? t->most : most;
        all += t->all;
        here = here && t->here;
    }
    if (here || most == 0) {
        each_wanted(p, take_block);
        return true;
    }
    if (c->way != COLL_SHOWN)
        MPIR_Ways_hear(c, all / c->size);
    divide(p, c, most, all);
    each_wanted(p, c->way == COLL_READ ? fetch_block : NULL);
    return false;
}

/* False: by messages, in all alike. */
static bool pieces_tell(const struct pieces *p, int64_t head)
{
    enum { HERE = 16 << 10 };
    struct coll *c = p->x.c;
    int64_t room = head + HERE, most = MPID_World()->team_room;
    bool measured = c->way != COLL_SHOWN;
    room = room < most ? room : most;
    c->st->team_broke = head > most;
    if (c->st->team_broke)
        return false;
    struct told *t = measured ? MPIR_Ways_say(c, room, NULL, NULL) : MPIR_Coll_team_own(c, room);
    if (!t)
        return false;
    bool can = pieces_measure(p, t);
    if (measured && can)
        MPIR_Ways_say(c, room, COLL_NOTHING, NULL);
    t->here = c->way == COLL_MEASURED && t->all <= room - head;
    if (t->here)
        put_blocks(p, t);
    return true;
}

static enum coll_met meet_telling(const struct pieces *p)
{
    struct coll *c = p->x.c;
    enum coll_met met = c->way == COLL_SHOWN ? COLL_MET : MPIR_Ways_ready(c);
    if (met != COLL_MET)
        return met;
    if (c->st->turn != COLL_TURN_MET && !pieces_tell(p, head_of_told(c)))
        return COLL_MET_NEVER;
    return MPIR_Coll_team_meet_for(c, 0);
}

/* ---- A call ---- */

/* What it has for itself; in an allgather that is in its place. */
static void take_own(const struct pieces *p)
{
    struct coll *c = p->x.c;
    int32_t root = p->from >= 0 ? p->from : p->to;
    if (c->kind == COLL_ALLGATHER || c->kind == COLL_ALLGATHERV || (root >= 0 && c->rank != root) ||
        coll_in_place(c->sbuf) || coll_in_place(c->rbuf))
        return;
    struct coll_block from = given(p, c->rank), to = pieces_wanted(p, c->rank);
    if (from.type->adi.is_contig && to.type->adi.is_contig &&
        coll_block_bytes(&from) == coll_block_bytes(&to))
        MPIR_Steps_take(&p->x, from.buf, &to, 0, coll_block_bytes(&from));
    else
        MPIR_Coll_copy(c, from.buf, from.count, from.type, to.buf, to.count, to.type);
}

/* All have met. */
static enum stage begin_work(struct pieces *p)
{
    if (p->vectors && read_rooms(p))
        return ENDS;
    if (p->x.c->way == COLL_READ) {
        if (!p->vectors)
            read_all(p);
        return MEETS_AGAIN;
    }
    MPIR_Steps_begin(&p->x, step_read(p->x.rounds - 1));
    return SHOWS;
}

static enum coll_met pieces_go_on(struct coll_steps *x)
{
    struct pieces *p = (struct pieces *)x;
    enum coll_met met = COLL_MET;
    if (p->stage == MEETS) {
        met = p->vectors ? meet_telling(p) : MPIR_Ways_meet(x->c, p->all, readable(p), NULL);
        if (met == COLL_MET)
            p->stage = begin_work(p);
    }
    if (p->stage == SHOWS)
        met = MPIR_Steps_work(x, 2 * (x->rounds + 1), pieces_work);
    else if (p->stage == MEETS_AGAIN)
        met = MPIR_Ways_next(x->c, 1);
    if (met != COLL_MET)
        return met;
    MPIR_Ways_end(x->c);
    take_own(p);
    return COLL_MET;
}

/* From one, or all, to one, or all. */
static struct pieces *pieces_prepare(struct coll *c, struct pieces *here, int32_t from, int32_t to, bool each)
{
    struct pieces *p = MPIR_Steps_keep(c, here, sizeof *here);
    p->from = from;
    p->to = to;
    p->each = each;
    p->shows = from < 0 ? c->rank != to : c->rank == from;
    p->reads = to < 0 ? c->rank != from : c->rank == to;
    return p;
}

/* Blocks of at most `longest` bytes. */
static void pieces_exchange(struct pieces *p, int64_t longest, int64_t all)
{
    struct coll *c = p->x.c;
    int64_t alone = p->from >= 0 || p->to >= 0, others = c->size - 1;
    divide(p, c, longest, alone ? longest * others : p->each ? longest * c->size * others : all * others);
    p->all = all;
    MPIR_Steps_run(&p->x, pieces_go_on);
}

static void exchange_vectors(struct pieces *p)
{
    p->vectors = true;
    MPIR_Steps_run(&p->x, pieces_go_on);
}

void MPIR_Coll_pieces_alltoall(struct coll *c)
{
    struct pieces here, *p = pieces_prepare(c, &here, -1, -1, true);
    int64_t block = c->rcount * c->rtype->adi.size;
    bool fit = coll_in_place(c->sbuf) || c->scount * c->stype->adi.size == block;
    pieces_exchange(p, block, fit ? block : -1); /* else messages find out */
}

void MPIR_Coll_pieces_allgather(struct coll *c)
{
    struct pieces here, *p = pieces_prepare(c, &here, -1, -1, false);
    int64_t longest = c->rcount, all = c->rcount * c->size, size = c->rtype->adi.size;
    if (c->rcounts.p)
        all = MPIR_Coll_total(c->rcounts, c->size, &longest);
    pieces_exchange(p, longest * size, all * size);
}

void MPIR_Coll_pieces_gather(struct coll *c)
{
    struct pieces here, *p = pieces_prepare(c, &here, -1, c->root, false);
    int64_t block = c->rank == c->root ? c->rcount * c->rtype->adi.size : c->scount * c->stype->adi.size;
    pieces_exchange(p, block, block);
}

void MPIR_Coll_pieces_scatter(struct coll *c)
{
    struct pieces here, *p = pieces_prepare(c, &here, c->root, -1, true);
    int64_t block = c->rank == c->root ? c->scount * c->stype->adi.size : c->rcount * c->rtype->adi.size;
    pieces_exchange(p, block, block);
}

void MPIR_Coll_pieces_alltoallv(struct coll *c)
{
    struct pieces here;
    exchange_vectors(pieces_prepare(c, &here, -1, -1, true));
}

void MPIR_Coll_pieces_gatherv(struct coll *c)
{
    struct pieces here;
    exchange_vectors(pieces_prepare(c, &here, -1, c->root, false));
}

void MPIR_Coll_pieces_scatterv(struct coll *c)
{
    struct pieces here;
    exchange_vectors(pieces_prepare(c, &here, c->root, -1, true));
}

/* ---- Costs ---- */

/* Each byte is copied twice. */
struct coll_cost MPIR_Coll_pieces_cost(const struct coll_size *s)
{
    double p = s->p, n = (double)s->bytes * p;
    return (struct coll_cost){
        .rounds = 3, .messages = p, .bytes = 0.2 * n, .turns = 2 * p, .total_bytes = 0.2 * n * p
    };
}

/* Of two, one sends the other a block: a message does the same without their meeting, and gains nothing from
 * several that copy at once. */
struct coll_cost MPIR_Coll_pieces_root_cost(const struct coll_size *s)
{
    struct coll_cost cost = MPIR_Coll_pieces_cost(s);
    if (s->p == 2)
        cost.bytes = 0.97 * (double)s->bytes;
    return cost;
}

struct coll_cost MPIR_Coll_pieces_all_cost(const struct coll_size *s)
{
    struct coll_size block = { .bytes = s->bytes / s->p, .p = s->p };
    return MPIR_Coll_pieces_cost(&block);
}

/* Nobody knows whether all blocks are large; short ones are faster by messages, which a root or a leaf need not
 * wait for: only for those who ask for it. */
struct coll_cost MPIR_Coll_pieces_v_cost(const struct coll_size *s)
{
    (void)s;
    return (struct coll_cost){ .rounds = 1e9 };
}
