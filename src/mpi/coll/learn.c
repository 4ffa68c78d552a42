/* SPDX-License-Identifier: BSD-3-Clause */
/* learn.c: see learn.h.
 *
 * A way is settled when enough of its calls have been timed; until then it is the one that is taken, and its
 * figure is the least of their times, as nothing but the way itself makes it faster.  A trial makes a way
 * unsettled again. */
#include "learn.h"

enum {
    SETTLED = 3,        /* calls: the least of these counts */
    DEAR_TRIES = 2,     /* of a way on trial, that are enough if they all were dear */
    SLOW_ONES = 2,      /* calls in a row that are believed */
    TRY_EVERY = 128,    /* calls */
    TRY_DEAR_MOST = 64, /* times as many if the other way took so many times as long */
    LOOK_BACK = 4,      /* calls after slow ones have led to the other way: were they a disturbance? */
    TIME_EVERY = 32
};

enum trial { NO_TRIAL = 0, SINCE_SLOW, SINCE_LONG };

/* Half as much again. */
static bool dear(uint64_t ns, uint64_t than)
{
    return ns > than + than / 2;
}

static void learn_settle(struct learnt *l, int way, uint64_t ns)
{
    l->ns[way] = l->seen[way] == 0 || ns < l->ns[way] ? ns : l->ns[way];
    l->seen[way]++;
    if (l->trial && l->seen[way] >= DEAR_TRIES && dear(l->ns[way], l->ns[!way]))
        l->seen[way] = SETTLED;
}

void MPIR_Learn_took(struct learnt *l, int way, uint64_t ns)
{
    if (l->cold) {
        l->cold = false;
    } else if (l->seen[way] < SETTLED) {
        learn_settle(l, way, ns);
    } else if (dear(ns, l->ns[way])) {
        l->slow_ns = l->slow == 0 || ns < l->slow_ns ? ns : l->slow_ns;
        l->slow += l->slow < SLOW_ONES;
    } else {
        l->slow = 0;
        l->ns[way] = ns < l->ns[way] ? ns : (3 * l->ns[way] + ns) / 4;
    }
}

/* The faster way; if they are about the same, the one in use. */
static int faster(const struct learnt *l)
{
    int other = !l->way;
    return l->ns[other] + l->ns[other] / 16 < l->ns[l->way] ? other : l->way;
}

static uint16_t try_every(const struct learnt *l)
{
    uint64_t times = l->ns[l->way] > 0 ? l->ns[!l->way] / l->ns[l->way] : 1;
    return (uint16_t)(TRY_EVERY * (times < 1 ? 1 : times > TRY_DEAR_MOST ? TRY_DEAR_MOST : times));
}

/* Slow calls that were a disturbance make those that follow less credible; a change makes all credible again. */
static void end_trial(struct learnt *l)
{
    int way = faster(l);
    bool changes = way != l->way;
    l->way = (uint8_t)way;
    l->since = 0;
    if (l->trial == SINCE_LONG || changes)
        l->patience /= 2;
    else if (l->trial == SINCE_SLOW && l->patience < TRY_EVERY)
        l->patience = (uint16_t)(2 * l->patience + 1);
    if (l->trial == SINCE_SLOW && changes)
        l->since = (uint16_t)(try_every(l) - LOOK_BACK);
    l->trial = NO_TRIAL;
}

static void begin_trial(struct learnt *l, enum trial why)
{
    l->seen[!l->way] = 0;
    l->trial = (uint8_t)why;
    l->slow = 0;
}

static int learn_wanted(struct learnt *l)
{
    for (int way = 0; way < LEARN_WAYS; way++)
        if (l->seen[way] < SETTLED)
            return way;
    if (l->trial)
        end_trial(l);
    if (l->slow >= SLOW_ONES && l->since >= l->patience) {
        l->ns[l->way] = l->slow_ns;
        begin_trial(l, SINCE_SLOW);
        return !l->way;
    }
    if (++l->since >= try_every(l)) {
        begin_trial(l, SINCE_LONG);
        return !l->way;
    }
    return l->way = (uint8_t)faster(l);
}

int MPIR_Learn_next(struct learnt *l)
{
    int way = learn_wanted(l);
    l->cold = l->last != way + 1;
    l->last = (uint8_t)(way + 1);
    return way;
}

void MPIR_Learn_cold(struct learnt *l)
{
    l->cold = true;
}

bool MPIR_Learn_asks(const struct learnt *l, int way)
{
    return l->seen[way] < SETTLED || l->slow > 0 || l->since % TIME_EVERY == 0;
}
