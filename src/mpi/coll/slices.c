/* SPDX-License-Identifier: BSD-3-Clause */
/* slices.c: reductions of much data at a team.
 *
 * In each round every process shows the others the parts of its operand that they are to combine, combines its own
 * part, its slice, of all operands, and, if others want it, shows them the result.  The three steps of three
 * rounds are interleaved, so that nobody waits for what has just been done.  Each element is combined by one
 * process, in rank order.
 *
 * Steps of a member: 3 i + 1 shows round i, + 2 combines round i - 1, + 3 reads what others have combined of round
 * i - 2. */
#include "steps.h"
#include "ways.h"
#include <string.h>

enum { BIT = 4096 /* bytes combined at a time: operands and result stay in the first cache */ };

/* What a call does next. */
enum stage { MEETS = 0, SHOWS, MEETS_AGAIN, MEETS_LAST };

struct slices {
    struct coll_steps x;
    enum stage stage;
    struct coll_block in, out;
    int64_t size;   /* of an element */
    bool scattered; /* slices are the blocks of a reduce_scatter; else equal parts of each round's elements */
    int32_t root;   /* who reads the result; -1: all */
    bool mine;      /* this process wants its own slice of the result */
    bool two;       /* each combines all of it for itself, if it can read the other's operand */
    int64_t most;   /* elements of a slice */
    const char **operand;
    void *part, *acc; /* types that are not contiguous: one operand, and the result */
};

struct range {
    int64_t first, n; /* elements */
};

static int64_t slices_length(const struct coll *c, int64_t i)
{
    return c->rcounts.p ? MPIR_counts_get(c->rcounts, i) : c->rcount;
}

/* The elements of slice j in a round. */
static struct range slice(const struct slices *s, int64_t round, int32_t j)
{
    const struct coll *c = s->x.c;
    if (s->scattered) {
        int64_t at = 0, from = round * s->most, len = slices_length(c, j);
        if (c->rcounts.p)
            for (int32_t i = 0; i < j; i++)
                at += slices_length(c, i);
        else
            at = j * c->rcount;
        int64_t n = len - from < s->most ? len - from : s->most;
        return (struct range){ at + from, n > 0 ? n : 0 };
    }
    int64_t lo = coll_part(c->rcount, (int32_t)s->x.rounds, round),
            n = coll_part(c->rcount, (int32_t)s->x.rounds, round + 1) - lo;
    int64_t from = coll_part(n, c->size, j);
    return (struct range){ lo + from, coll_part(n, c->size, j + 1) - from };
}

/* On each bench the slices of the others, in their order, then the result. */
static void *shown(const struct slices *s, int32_t by, int64_t round, int32_t j)
{
    return MPIR_Steps_chunk(&s->x, by, round, j < by ? j : j - 1);
}

static void *result(const struct slices *s, int32_t by, int64_t round)
{
    return MPIR_Steps_chunk(&s->x, by, round, s->x.c->size - 1);
}

static bool reads(const struct slices *s, int32_t rank)
{
    return !s->scattered && (s->root < 0 || s->root == rank);
}

/* ---- The three steps ---- */

static int64_t step_shown(int64_t round)
{
    return 3 * round + 1;
}

static int64_t step_combined(int64_t round)
{
    return round < 0 ? 0 : 3 * (round + 1) + 2;
}

static int64_t step_read(int64_t round)
{
    return round < 0 ? 0 : 3 * (round + 2) + 3;
}

static bool slices_show(struct slices *s, int64_t round)
{
    const struct coll *c = s->x.c;
    if (!MPIR_Steps_wait_all(&s->x, step_combined(round - s->x.depth)))
        return false;
    for (int32_t k = 1; k < c->size; k++) {
        int32_t j = (c->rank + k) % c->size;
        struct range r = slice(s, round, j);
        MPIR_Steps_put(shown(s, c->rank, round, j), &s->in, r.first * s->size, r.n * s->size);
    }
    MPIR_Steps_done(&s->x, step_shown(round));
    return true;
}

/* Where this process's slice of the result begins in `out`, in elements. */
static int64_t slices_place(const struct slices *s, int64_t round, struct range r)
{
    return s->scattered ? round * s->most : r.first;
}

/* A few elements of all operands into `to`. */
static void combine_bit(const struct slices *s, int64_t at, int64_t n, char *to)
{
    const struct coll *c = s->x.c;
    int32_t i = c->size - 2;
    MPIR_Op_combine(c->op, s->operand[i] + at, s->operand[i + 1] + at, to, n, c->rtype);
    while (--i >= 0)
        MPIR_Op_combine(c->op, s->operand[i] + at, to, to, n, c->rtype);
}

static void combine_contiguous(struct slices *s, int64_t round, struct range r, char *to)
{
    struct coll *c = s->x.c;
    int64_t bit = BIT / s->size > 0 ? BIT / s->size : 1, n;
    char *out = s->mine ? (char *)s->out.buf + slices_place(s, round, r) * s->size : NULL;
    for (int32_t i = 0; i < c->size; i++)
        s->operand[i] =
            i == c->rank ? (const char *)s->in.buf + r.first * s->size : shown(s, i, round, c->rank);
    for (int64_t i = 0; i < r.n; i += n) {
        int64_t at = i * s->size;
        n = r.n - i < bit ? r.n - i : bit;
        combine_bit(s, at, n, to + at);
        if (out)
            memcpy(out + at, to + at, (size_t)(n * s->size));
    }
}

/* With types that have gaps: each operand is unpacked, as a function of the user's expects it. */
static void combine_typed(struct slices *s, int64_t round, struct range r, char *to)
{
    struct coll *c = s->x.c;
    struct MPIR_DATATYPE *t = &c->rtype->adi;
    const void *own = coll_at(s->in.buf, r.first, c->rtype);
    for (int32_t i = c->size - 1; i >= 0; i--) {
        bool last = i == c->size - 1;
        const void *in = i == c->rank ? own : s->part;
        if (i != c->rank)
            MPID_Layout_unpack(t, last ? s->acc : s->part, r.n, 0, shown(s, i, round, c->rank),
                               r.n * s->size);
        else if (last)
            MPIR_Coll_copy(c, own, r.n, c->rtype, s->acc, r.n, c->rtype);
        if (!last)
            MPIR_Op_apply(c->op, in, s->acc, r.n, c->rtype);
    }
    MPID_Layout_pack(t, s->acc, r.n, 0, to, r.n * s->size);
    if (s->mine)
        MPID_Layout_unpack(t, s->out.buf, s->out.count, slices_place(s, round, r) * s->size, to,
                           r.n * s->size);
}

static bool combine(struct slices *s, int64_t round)
{
    const struct coll *c = s->x.c;
    struct range r = slice(s, round, c->rank);
    for (int32_t i = 0; i < c->size; i++)
        if (i != c->rank && (!MPIR_Steps_wait(&s->x, i, step_shown(round)) ||
                             (reads(s, i) && !MPIR_Steps_wait(&s->x, i, step_read(round - s->x.depth)))))
            return false;
    if (r.n > 0 && c->rtype->adi.is_contig)
        combine_contiguous(s, round, r, result(s, c->rank, round));
    else if (r.n > 0)
        combine_typed(s, round, r, result(s, c->rank, round));
    MPIR_Steps_done(&s->x, step_combined(round));
    return true;
}

static bool read_others(struct slices *s, int64_t round)
{
    const struct coll *c = s->x.c;
    for (int32_t *k = &s->x.others; *k < c->size - 1; ++*k) {
        int32_t j = (c->rank + 1 + *k) % c->size;
        struct range r = slice(s, round, j);
        if (!MPIR_Steps_wait(&s->x, j, step_combined(round)))
            return false;
        MPIR_Steps_take(&s->x, result(s, j, round), &s->out, r.first * s->size, r.n * s->size);
    }
    MPIR_Steps_done(&s->x, step_read(round));
    return true;
}

/* Three units a round: it is shown, the one before it combined, the one before that read. */
static bool slices_work(struct coll_steps *x, int64_t unit)
{
    struct slices *s = (struct slices *)x;
    int64_t round = unit / 3 - unit % 3;
    if (round < 0 || round >= x->rounds)
        return true;
    if (unit % 3 == 0)
        return slices_show(s, round);
    if (unit % 3 == 1)
        return combine(s, round);
    return !reads(s, x->c->rank) || read_others(s, round);
}

/* ---- The same, read straight from where it is ---- */

/* This process's slice of all of it, a bit at a time: the others' operands are read to its own bench. */
static void read_and_combine(struct slices *s, struct range r, char *to)
{
    struct coll *c = s->x.c;
    char *bench = MPID_Steps_bench(&c->comm->adi, c->rank);
    int64_t chunk = s->x.chunk / s->size, bit = BIT / s->size > 0 ? BIT / s->size : 1, n, m;
    for (int64_t at = 0; at < r.n; at += n) {
        n = r.n - at < chunk ? r.n - at : chunk;
        for (int32_t i = 0; i < c->size; i++) {
            int64_t offset = (r.first + at) * s->size;
            char *part = bench + i * s->x.chunk;
            s->operand[i] = i == c->rank ? (const char *)s->in.buf + offset : part;
            if (i != c->rank)
                MPIR_Ways_read(c, i, MPIR_Ways_at(c, i) + (uint64_t)offset, part, n * s->size);
        }
        for (int64_t i = 0; i < n; i += m) {
            m = n - i < bit ? n - i : bit;
            combine_bit(s, i * s->size, m, to + (at + i) * s->size);
        }
    }
}

/* Two combine all of it each: to read a half that the other has just written takes longer than to combine it. */
static void combine_all(struct slices *s)
{
    const struct coll *c = s->x.c;
    s->two = c->size == 2 && !s->scattered;
    s->x.rounds = 1;
    if (s->scattered)
        s->most = INT64_MAX;
    struct range r = s->two ? (struct range){ 0, c->rcount } : slice(s, 0, c->rank);
    read_and_combine(s, r, (char *)s->out.buf + (s->scattered ? 0 : r.first * s->size));
}

static void read_results(const struct slices *s)
{
    struct coll *c = s->x.c;
    for (int32_t k = 1; k < c->size; k++) {
        int32_t j = (c->rank + k) % c->size;
        struct range r = slice(s, 0, j);
        int64_t at = r.first * s->size;
        MPIR_Ways_read(c, j, MPIR_Ways_result(c, j) + (uint64_t)at, (char *)s->out.buf + at, r.n * s->size);
    }
}

/* ---- The collectives ---- */

static void slices_prepare(struct slices *s, int64_t longest)
{
    struct coll *c = s->x.c;
    s->size = c->rtype->adi.size;
    s->in = (struct coll_block){ coll_in_place(c->sbuf) ? c->rbuf : (void *)(uintptr_t)c->sbuf, 0, c->rtype };
    s->out = (struct coll_block){ c->rbuf, 0, c->rtype };
    int64_t takers = s->scattered ? 0 : s->root >= 0 ? 1 : c->size;
    MPIR_Steps_divide(&s->x, c, c->size, longest * s->size, takers * c->rcount * s->size);
    s->most = s->x.chunk / s->size;
    s->mine = s->scattered || reads(s, c->rank);
    s->operand = MPIR_Coll_temp(c, c->size * (int64_t)sizeof *s->operand, coll_bytes());
    if (c->rtype->adi.is_contig)
        return;
    s->part = MPIR_Coll_temp(c, s->most, c->rtype);
    s->acc = MPIR_Coll_temp(c, s->most, c->rtype);
}

static enum coll_met slices_meet(struct slices *s)
{
    struct coll *c = s->x.c;
    bool readable = c->rtype->adi.is_contig && !coll_in_place(c->sbuf);
    return MPIR_Ways_meet(c, s->in.count * s->size, readable ? c->sbuf : NULL, c->rbuf);
}

/* All have met. */
static enum stage begin_work(struct slices *s)
{
    if (s->x.c->way == COLL_READ) {
        combine_all(s);
        return MEETS_AGAIN;
    }
    MPIR_Steps_begin(&s->x, step_read(s->x.rounds - 1));
    return SHOWS;
}

static enum coll_met slices_go_on(struct coll_steps *x)
{
    struct slices *s = (struct slices *)x;
    enum coll_met met = COLL_MET;
    if (s->stage == MEETS && (met = slices_meet(s)) == COLL_MET)
        s->stage = begin_work(s);
    if (s->stage == SHOWS)
        met = MPIR_Steps_work(x, 3 * (x->rounds + 2), slices_work);
    if (s->stage == MEETS_AGAIN && (met = MPIR_Ways_next(x->c, 1)) == COLL_MET && !s->scattered && !s->two) {
        read_results(s);
        s->stage = MEETS_LAST;
    }
    if (s->stage == MEETS_LAST)
        met = MPIR_Ways_next(x->c, 2);
    if (met == COLL_MET)
        MPIR_Ways_end(x->c);
    return met;
}

static void equal_slices(struct coll *c, int32_t root)
{
    struct slices here, *s = MPIR_Steps_keep(c, &here, sizeof here);
    s->root = root;
    slices_prepare(s, (c->rcount + c->size - 1) / c->size);
    s->x.rounds = (c->rcount + c->size * s->most - 1) / (c->size * s->most);
    s->in.count = s->out.count = c->rcount;
    MPIR_Steps_run(&s->x, slices_go_on);
}

void MPIR_Coll_slices_allreduce(struct coll *c)
{
    equal_slices(c, -1);
}

void MPIR_Coll_slices_reduce(struct coll *c)
{
    equal_slices(c, c->root);
}

void MPIR_Coll_slices_reduce_scatter(struct coll *c)
{
    struct slices here, *s = MPIR_Steps_keep(c, &here, sizeof here);
    int64_t longest = c->rcount, all = c->rcount * c->size;
    if (c->rcounts.p)
        all = MPIR_Coll_total(c->rcounts, c->size, &longest);
    s->scattered = true;
    slices_prepare(s, longest);
    s->x.rounds = (longest + s->most - 1) / s->most;
    s->in.count = all;
    s->out.count = slices_length(c, c->rank);
    MPIR_Steps_run(&s->x, slices_go_on);
}

/* Each byte is copied twice, and combined.  Where ranks share cores each waits for all others three times, mostly
 * in more than one turn. */
struct coll_cost MPIR_Coll_slices_cost(const struct coll_size *s)
{
    double p = s->p, n = (double)s->bytes;
    return (struct coll_cost){
        .rounds = 3, .messages = p, .bytes = 0.3 * n, .turns = 7 * p, .total_bytes = 0.3 * n * p
    };
}
