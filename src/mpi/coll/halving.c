/* SPDX-License-Identifier: BSD-3-Clause */
/* halving.c: see halving.h. */
#include "halving.h"

int32_t MPIR_Coll_halving_real(const struct halving *h, int32_t n)
{
    if (n >= h->rem)
        return n + h->rem;
    return 2 * n == h->keep ? 2 * n : 2 * n + 1;
}

/* The number of a rank that stays. */
static int32_t halving_number(const struct halving *h, int32_t rank)
{
    return rank < 2 * h->rem ? rank / 2 : rank - h->rem;
}

/* acc = the operands of both: spare holds the other's, whose ranks are lower or higher than this process's. */
static void merge(struct coll *c, void *acc, void *spare, int64_t count, bool other_is_lower)
{
    if (other_is_lower || coll_commutative(c)) {
        MPIR_Coll_combine(c, spare, acc, count);
    } else {
        MPIR_Coll_combine(c, acc, spare, count);
        MPIR_Coll_copy(c, spare, count, c->rtype, acc, count, c->rtype);
    }
}

static void fold(struct coll *c, struct halving *h, void *acc, void *spare)
{
    if (c->rank >= 2 * h->rem) {
        h->rank = c->rank - h->rem;
        return;
    }
    int32_t stays = MPIR_Coll_halving_real(h, c->rank / 2), other = c->rank ^ 1;
    if (stays == c->rank) {
        MPIR_Coll_recv(c, spare, c->rcount, c->rtype, other);
        merge(c, acc, spare, c->rcount, other < c->rank);
        h->rank = c->rank / 2;
    } else {
        MPIR_Coll_send(c, acc, c->rcount, c->rtype, other);
        h->rank = -1;
    }
}

/* What a step works on: [lo, hi) is shared by both, mine is [from, from + keep), the partner's [give, ...). */
struct step {
    int32_t partner;
    bool lower; /* this process is the lower one */
    int64_t from, keep, give, away;
};

static struct step step_of(const struct halving *h, int level)
{
    int64_t lo = h->lo[level], hi = h->hi[level], mid = lo + (hi - lo) / 2;
    struct step s = { .partner = MPIR_Coll_halving_real(h, h->rank ^ 1 << level),
                      .lower = !(h->rank & 1 << level) };
    s.from = s.lower ? lo : mid;
    s.give = s.lower ? mid : lo;
    s.keep = s.lower ? mid - lo : hi - mid;
    s.away = hi - lo - s.keep;
    return s;
}

/* The first step takes this process's operand from `in` and leaves the combination in acc: nothing is copied first,
 * unless order matters and the partner's ranks are lower. */
static void halve_first(struct coll *c, const struct step *s, const void *in, void *acc, void *spare)
{
    void *mine = coll_at(acc, s->from, c->rtype), *theirs = mine;
    const void *operand = coll_at(in, s->from, c->rtype);
    bool swap = !s->lower && !coll_commutative(c);
    if (swap)
        theirs = spare;
    MPIR_Coll_sendrecv(c, coll_at(in, s->give, c->rtype), s->away, c->rtype, s->partner, theirs, s->keep,
                       c->rtype, s->partner);
    if (swap) {
        MPIR_Coll_copy(c, operand, s->keep, c->rtype, mine, s->keep, c->rtype);
        MPIR_Coll_combine(c, spare, mine, s->keep);
    } else {
        MPIR_Coll_combine(c, operand, mine, s->keep);
    }
}

static void halve_once(struct coll *c, struct halving *h, int level, const void *in, void *acc, void *spare)
{
    struct step s = step_of(h, level);
    if (in != acc) {
        halve_first(c, &s, in, acc, spare);
    } else {
        MPIR_Coll_sendrecv(c, coll_at(acc, s.give, c->rtype), s.away, c->rtype, s.partner, spare, s.keep,
                           c->rtype, s.partner);
        merge(c, coll_at(acc, s.from, c->rtype), spare, s.keep, !s.lower);
    }
    h->lo[level + 1] = s.from;
    h->hi[level + 1] = s.from + s.keep;
}

void MPIR_Coll_halve(struct coll *c, struct halving *h, const void *in, void *acc, int keep)
{
    h->keep = keep;
    h->levels = 0;
    for (h->pow2 = 1; h->pow2 <= c->size / 2; h->pow2 *= 2)
        ;
    h->rem = c->size - h->pow2;
    void *spare = MPIR_Coll_temp(c, h->rem ? c->rcount : c->rcount / 2 + 1, c->rtype);
    if (c->rank < 2 * h->rem) {
        MPIR_Coll_copy(c, in, c->rcount, c->rtype, acc, c->rcount, c->rtype);
        in = acc;
    }
    fold(c, h, acc, spare);
    h->lo[0] = 0;
    h->hi[0] = c->rcount;
    if (h->rank >= 0)
        for (; 1 << h->levels < h->pow2; h->levels++)
            halve_once(c, h, h->levels, h->levels ? acc : in, acc, spare);
}

/* The elements that the partner of `level` holds of what both were concerned with. */
static void partners(const struct halving *h, int level, int64_t *at, int64_t *count)
{
    bool lower = !(h->rank & 1 << level);
    *at = lower ? h->hi[level + 1] : h->lo[level];
    *count = (h->hi[level] - h->lo[level]) - (h->hi[level + 1] - h->lo[level + 1]);
}

void MPIR_Coll_halving_allgather(struct coll *c, const struct halving *h, void *acc)
{
    for (int level = h->levels - 1; level >= 0; level--) {
        int32_t partner = MPIR_Coll_halving_real(h, h->rank ^ 1 << level);
        int64_t at, count;
        partners(h, level, &at, &count);
        MPIR_Coll_sendrecv(c, coll_at(acc, h->lo[level + 1], c->rtype), h->hi[level + 1] - h->lo[level + 1],
                           c->rtype, partner, coll_at(acc, at, c->rtype), count, c->rtype, partner);
    }
}

void MPIR_Coll_halving_gather(struct coll *c, const struct halving *h, void *acc, int root)
{
    int32_t target = halving_number(h, root);
    for (int level = h->levels - 1; level >= 0; level--) {
        int32_t partner = MPIR_Coll_halving_real(h, h->rank ^ 1 << level);
        int64_t at, count;
        if ((h->rank ^ target) & 1 << level) {
            MPIR_Coll_send(c, coll_at(acc, h->lo[level + 1], c->rtype), h->hi[level + 1] - h->lo[level + 1],
                           c->rtype, partner);
            return;
        }
        partners(h, level, &at, &count);
        MPIR_Coll_recv(c, coll_at(acc, at, c->rtype), count, c->rtype, partner);
    }
}

/* Halving and the way back. */
struct coll_cost MPIR_Coll_halving_cost(const struct coll_size *s)
{
    double p = s->p, n = (double)s->bytes, levels = MPIR_Coll_levels(s->p, 2);
    bool odd = (s->p & (s->p - 1)) != 0;
    return (struct coll_cost){ .rounds = 2 * levels,
                               .messages = 2 * levels,
                               .bytes = 2 * n * (p - 1) / p + (odd ? 2 * n : 0),
                               .waits = 2 * levels * p,
                               .total_bytes = 2 * n * p };
}
