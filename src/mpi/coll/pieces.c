/* pieces.c: collectives at a team that move much data, and compute nothing: in each round every process that has something for
 * others shows them a piece of each block, and every one that expects something reads its pieces.
 *
 * Steps of a member: 2 i + 1 shows round i, + 2 reads round i - 1. */
#include "steps.h"
#include "ways.h"

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
    case COLL_SCATTERV:
        return MPIR_Coll_sblock(c, to);
    default: /* gather, allgather: where it was given, not the copy in its place, which is in this core's own cache */
        if (coll_in_place(c->sbuf))
            return MPIR_Coll_rblock(c, c->rank);
        return (struct coll_block){ (void *)(uintptr_t)c->sbuf, c->scount, c->stype };
    }
}

static struct coll_block wanted(const struct pieces *p, int32_t from)
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
        MPIR_Steps_take(&p->x, MPIR_Steps_chunk(&p->x, from, round, chunk_for(p, from, c->rank)), &b, at, n);
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

/* Blocks of at most `longest` bytes; all take so many together. */
static void divide(struct pieces *p, struct coll *c, int64_t longest, int64_t taken)
{
    MPIR_Steps_divide(&p->x, c, p->each ? c->size - 1 : 1, longest, taken);
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

/* A block that lies there; where this process's type differs from bytes, by way of its own bench. */
static void read_block(const struct pieces *p, int32_t from, uint64_t there)
{
    struct coll *c = p->x.c;
    struct coll_block b = wanted(p, from);
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

static void go_reading(struct pieces *p)
{
    struct coll *c = p->x.c;
    for (int32_t k = 1; k < c->size; k++) {
        int32_t from = (c->rank + k) % c->size;
        if (!gives(p, from, c->rank))
            continue;
        struct coll_block b = wanted(p, from);
        read_block(p, from, MPIR_Ways_at(c, from) + (uint64_t)(p->each ? c->rank * coll_block_bytes(&b) : 0));
    }
    MPIR_Ways_next(c, 1);
}

static void exchange(struct pieces *p, struct coll *c, int64_t longest, int64_t all)
{
    int64_t alone = p->from >= 0 || p->to >= 0, others = c->size - 1;
    divide(p, c, longest, alone ? longest * others : p->each ? longest * c->size * others : all * others);
    if (!MPIR_Ways_meet(c, all, readable(p), NULL))
        return;
    if (c->way == COLL_READ)
        go_reading(p);
    else
        go(p);
    MPIR_Ways_end(c);
}

/* ---- The collectives ---- */

static void copy_own(struct pieces *p, struct coll_block from, struct coll_block to)
{
    struct coll *c = p->x.c;
    if (from.type->adi.is_contig && to.type->adi.is_contig &&
        coll_block_bytes(&from) == coll_block_bytes(&to))
        MPIR_Steps_take(&p->x, from.buf, &to, 0, coll_block_bytes(&from));
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
        copy_own(&p, MPIR_Coll_sblock(c, c->rank), MPIR_Coll_rblock(c, c->rank));
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
        copy_own(&p, (struct coll_block){ (void *)(uintptr_t)c->sbuf, c->scount, c->stype },
                 MPIR_Coll_rblock(c, c->rank));
}

void MPIR_Coll_pieces_scatter(struct coll *c)
{
    struct pieces p = { .each = true, .from = c->root, .to = -1 };
    int64_t block = c->rank == c->root ? c->scount * c->stype->adi.size : c->rcount * c->rtype->adi.size;
    exchange(&p, c, block, block);
    if (!c->st->team_broke && c->rank == c->root && !coll_in_place(c->rbuf))
        copy_own(&p, MPIR_Coll_sblock(c, c->rank), (struct coll_block){ c->rbuf, c->rcount, c->rtype });
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

/* ---- Blocks whose lengths only those know who give and who get them ---------------------------------------------------
 *
 * At the meeting each shows how long its blocks are and where they lie; and, if all of them are short, the blocks themselves. */

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
static bool measure(const struct pieces *p, struct told *t)
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
static bool fits(const struct pieces *p, int32_t rank)
{
    struct coll_block b = wanted(p, rank);
    return coll_block_bytes(&b) == told_by(p->x.c, rank)->block[p->x.c->rank].bytes;
}

static void take_block(const struct pieces *p, int32_t rank)
{
    const struct coll *c = p->x.c;
    const struct told *t = told_by(c, rank);
    struct coll_block b = wanted(p, rank);
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
        struct coll_block b = wanted(p, from);
        MPIR_Coll_received(c, 0, &(MPIR_Status){ .count = told_by(c, from)->block[c->rank].bytes },
                           coll_block_bytes(&b), from);
        if (fetch && fits(p, from))
            fetch(p, from);
    }
}

static void fetch_block(const struct pieces *p, int32_t from)
{
    read_block(p, from, told_by(p->x.c, from)->block[p->x.c->rank].at);
}

/* After the meeting: all find the same. */
static void fetch_all(struct pieces *p, bool measured)
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
        return;
    }
    if (measured)
        MPIR_Ways_hear(c, all / c->size);
    divide(p, c, most, all);
    each_wanted(p, c->way == COLL_READ ? fetch_block : NULL);
    if (c->way == COLL_READ)
        MPIR_Ways_next(c, 1);
    else
        go(p);
    MPIR_Ways_end(c);
}

static void vectors(struct pieces *p, struct coll *c)
{
    enum { HERE = 16 << 10 };
    int64_t head = head_of_told(c), room = head + HERE, most = MPID_World()->team_room;
    bool measured = c->way != COLL_SHOWN;
    p->x.c = c;
    room = room < most ? room : most;
    if (head > most) { /* by messages, in all alike */
        c->st->team_broke = true;
        return;
    }
    struct told *t = measured ? MPIR_Ways_say(c, room, NULL, NULL) : MPIR_Coll_team_own(c, room);
    if (!t)
        return;
    bool can = measure(p, t);
    if (measured && can)
        MPIR_Ways_say(c, room, COLL_NOTHING, NULL);
    t->here = c->way == COLL_MEASURED && t->all <= room - head;
    if (t->here)
        put_blocks(p, t);
    if (MPIR_Coll_team_meet_for(c, 0))
        fetch_all(p, measured);
}

void MPIR_Coll_pieces_alltoallv(struct coll *c)
{
    struct pieces p = { .each = true, .from = -1, .to = -1 };
    vectors(&p, c);
    if (!c->st->team_broke && !coll_in_place(c->sbuf))
        copy_own(&p, MPIR_Coll_sblock(c, c->rank), MPIR_Coll_rblock(c, c->rank));
}

void MPIR_Coll_pieces_gatherv(struct coll *c)
{
    struct pieces p = { .from = -1, .to = c->root };
    vectors(&p, c);
    if (!c->st->team_broke && c->rank == c->root)
        MPIR_Coll_own_block(c);
}

void MPIR_Coll_pieces_scatterv(struct coll *c)
{
    struct pieces p = { .each = true, .from = c->root, .to = -1 };
    vectors(&p, c);
    if (!c->st->team_broke && c->rank == c->root)
        MPIR_Coll_take_own_block(c);
}

/* Nobody knows whether all blocks are large; short ones are faster by messages, which a root or a leaf need not wait for: only for those who
 * ask for it. */
struct coll_cost MPIR_Coll_pieces_v_cost(const struct coll_size *s)
{
    (void)s;
    return (struct coll_cost){ .rounds = 1e9 };
}
