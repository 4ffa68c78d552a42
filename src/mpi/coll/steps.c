/* SPDX-License-Identifier: BSD-3-Clause */
/* steps.c: what is common to the collectives that work at a team's benches. */
#include "steps.h"
#include <string.h>
#include "util/copy.h"

/* A chunk stays in the cache from one step to the next; where ranks share cores a turn of one should fill half of
 * its bench.  All of the bench is used in turn, from where the last call ended: lines that are written again have
 * left the caches of those who read them, which makes writing them three times as fast. */
enum { LINE = 64, CHUNK = 64 << 10, DEPTH = 4, DEPTH_CROWDED = 2 };

static int64_t chunk_of(int32_t chunks, int64_t depth)
{
    return MPID_World()->team_bench / (chunks * depth) & ~(int64_t)(LINE - 1);
}

int64_t MPIR_Coll_steps_unit(int32_t p)
{
    int64_t chunk = chunk_of(p, DEPTH);
    return chunk < CHUNK ? chunk : CHUNK;
}

void MPIR_Steps_divide(struct coll_steps *x, struct coll *c, int32_t chunks, int64_t most, int64_t taken)
{
    bool crowded = c->comm->facts.crowded;
    int64_t benches = MPID_World()->team_bench * c->size;
    taken = 2 * taken + (taken < benches ? taken : benches); /* with what it is read from, and shown in */
    x->chunks = chunks;
    x->past = MPID_Steps_past(taken);
    x->chunk = chunk_of(chunks, crowded ? DEPTH_CROWDED : DEPTH);
    if (x->chunk > CHUNK)
        x->chunk = CHUNK;
    if (x->chunk > most)
        x->chunk = (most + LINE - 1) & ~(int64_t)(LINE - 1);
    x->depth = MPID_World()->team_bench / (chunks * x->chunk);
}

void *MPIR_Steps_keep(struct coll *c, void *here, size_t bytes)
{
    struct coll_steps *x = c->st->turn == COLL_TURN_BOTH ? here : MPIR_Coll_must_have(c, (int64_t)bytes);
    memset(x, 0, bytes);
    x->c = c;
    return x;
}

void MPIR_Steps_run(struct coll_steps *x, enum coll_met (*go_on)(struct coll_steps *x))
{
    x->go_on = go_on;
    if (x->c->st->turn == COLL_TURN_BOTH)
        (void)go_on(x);
    else
        x->c->st->steps = x;
}

enum coll_met MPIR_Steps_work(struct coll_steps *x, int64_t units,
                              bool (*work)(struct coll_steps *x, int64_t unit))
{
    int64_t unit = x->unit;
    int32_t others = x->others;
    while (x->unit < units && work(x, x->unit)) {
        x->unit++;
        x->others = 0;
    }
    if (x->unit < units && !x->lost)
        return x->unit == unit && x->others == others ? COLL_MET_NOT : COLL_MET_MOVED;
    MPIR_Steps_done(x, x->steps);
    return COLL_MET;
}

void MPIR_Steps_begin(struct coll_steps *x, int64_t steps)
{
    x->steps = steps;
    uint64_t each = (uint64_t)(x->chunks * x->chunk), all = (uint64_t)x->rounds * each;
    uint64_t before = MPID_Steps_begin(&x->c->comm->adi, (uint64_t)steps, all);
    x->first = (int64_t)((before + each - 1) / each);
}

void *MPIR_Steps_chunk(const struct coll_steps *x, int32_t rank, int64_t round, int32_t chunk)
{
    char *bench = MPID_Steps_bench(&x->c->comm->adi, rank);
    return bench + ((x->first + round) % x->depth * x->chunks + chunk) * x->chunk;
}

/* Messages will say so. */
static void lost(struct coll_steps *x)
{
    char nothing;
    x->lost = true;
    MPIR_Coll_recv(x->c, &nothing, 0, coll_bytes(), MPID_Steps_lost(&x->c->comm->adi));
}

bool MPIR_Steps_wait(struct coll_steps *x, int32_t rank, int64_t step)
{
    struct MPIR_COMMUNICATOR *comm = &x->c->comm->adi;
    if (step <= 0 || x->lost)
        return !x->lost;
    if (x->c->st->turn != COLL_TURN_BOTH && !MPID_Steps_may_go(comm, rank, (uint64_t)step))
        return false;
    if (!MPID_Steps_wait(comm, rank, (uint64_t)step))
        lost(x);
    return !x->lost;
}

bool MPIR_Steps_wait_all(struct coll_steps *x, int64_t step)
{
    for (int32_t i = 0; i < x->c->size; i++)
        if (i != x->c->rank && !MPIR_Steps_wait(x, i, step))
            return false;
    return true;
}

void MPIR_Steps_done(struct coll_steps *x, int64_t step)
{
    if (!x->lost)
        MPID_Steps_done(&x->c->comm->adi, (uint64_t)step);
}

void MPIR_Steps_put(void *chunk, const struct coll_block *from, int64_t at, int64_t n)
{
    if (n > 0 && from->type->adi.is_contig)
        ku_copy_out(chunk, (const char *)from->buf + at, (size_t)n);
    else if (n > 0)
        MPID_Layout_pack(&from->type->adi, from->buf, from->count, at, chunk, n);
}

void MPIR_Steps_take(const struct coll_steps *x, const void *chunk, const struct coll_block *to, int64_t at,
                     int64_t n)
{
    if (n > 0 && to->type->adi.is_contig)
        (x && x->past ? ku_copy_past : ku_copy_in)((char *)to->buf + at, chunk, (size_t)n);
    else if (n > 0)
        MPID_Layout_unpack(&to->type->adi, to->buf, to->count, at, chunk, n);
}
