/* SPDX-License-Identifier: BSD-3-Clause */
/* ways.c: which way much data goes within a team (ways.h).
 *
 * Invariants
 *   1. Who can read whom is found out once for a communicator, at a meeting of its own: a member that cannot, says
 *      so with each call, and then none reads.
 *   2. `cells` change at meetings only, by what all have shown there: they are the same in all members.
 *   3. Nothing of the user's that a call needs again changes before all have met for the last time: so a call that
 *      could not read is done by messages. */
#include "ways.h"
#include <stdlib.h>
#include "learn.h"
#include "util/clock.h"

enum {
    LEAST = 16 << 10 /* bytes for which to look at a clock */,
    CLASSES = 8,
    TOUCHED = 2 << 20 /* bytes shown after which no page of the team's is new */
};
_Static_assert(COLL_SHOWN == 0 && COLL_READ == 1, "two ways to learn about");

struct cell {
    struct learnt learnt;
    uint32_t shown; /* bytes, up to TOUCHED */
};

enum offered { NOT_ASKED = 0, OFFERED, REFUSED };

struct ways {
    bool asked, able;     /* this process can read all others */
    enum offered lending; /* may they read it? */
    struct cell *last;    /* of the call before */
    enum coll_way way;    /* that it took */
    bool timed;           /* a call that began with that meeting is under way */
    uint64_t began, ended;
    struct cell *lent; /* of a broadcast; NULL: the way was given */
    uint64_t lent_at;
    uint64_t *at;                              /* of each member: what it has, its result */
    struct cell cells[2][COLL_KINDS][CLASSES]; /* of calls that wait, and that do not */
};

/* What each shows. */
struct said {
    uint64_t at, result, began, ended;
    uint32_t able;
};
_Static_assert(sizeof(struct said) == COLL_SAID, "room for it");

static struct said *said(const struct coll *c, int32_t rank)
{
    return MPID_Team_room(&c->comm->adi, rank);
}

static struct cell *cell_of(struct ways *w, const struct coll *c, int64_t bytes)
{
    int k = 0;
    while (k < CLASSES - 1 && bytes > LEAST << 2 * k)
        k++;
    return &w->cells[c->st->turn != COLL_TURN_BOTH][c->kind][k];
}

/* NULL without memory. */
static struct ways *ways_of(struct coll *c)
{
    struct ways *w = c->comm->ways;
    if (!w && (w = calloc(1, sizeof *w + 2 * (size_t)c->size * sizeof *w->at)) != NULL)
        w->at = (uint64_t *)(w + 1);
    c->comm->ways = w;
    return w;
}

static bool offers(struct coll *c, struct ways *w)
{
    if (w->lending == NOT_ASKED)
        w->lending = MPID_Reach_offer(&c->comm->adi) ? OFFERED : REFUSED;
    return w->lending == OFFERED;
}

/* Invariant 1. */
enum coll_met MPIR_Ways_ready(struct coll *c)
{
    struct ways *w = ways_of(c);
    if (w && w->asked)
        return COLL_MET;
    bool offered = w && offers(c, w);
    if (!w)
        MPID_Team_break(&c->comm->adi);
    enum coll_met met = MPIR_Coll_team_meet_again(c, 0);
    if (met != COLL_MET)
        return met;
    w->able = offered && MPID_Reach_all(&c->comm->adi);
    w->asked = true;
    return COLL_MET;
}

/* ---- The choice ---- */

static enum coll_way next_way(struct cell *cell, int64_t bytes)
{
    enum coll_way way = (enum coll_way)MPIR_Learn_next(&cell->learnt);
    if (way == COLL_SHOWN && cell->shown < TOUCHED) {
        cell->shown += bytes < TOUCHED ? (uint32_t)bytes : TOUCHED;
        MPIR_Learn_cold(&cell->learnt);
    }
    return way;
}

/* What all have shown: the time of the call before; may all read? */
static bool ways_hear(struct ways *w, const struct coll *c)
{
    uint64_t first = UINT64_MAX, last = 0;
    bool can = true;
    for (int32_t i = 0; i < c->size; i++) {
        const struct said *s = said(c, i);
        first = s->began < first ? s->began : first;
        last = s->ended > last ? s->ended : last;
        can = can && s->able && s->at != 0;
        w->at[2 * i] = s->at;
        w->at[2 * i + 1] = s->result;
    }
    if (w->last && last > first)
        MPIR_Learn_took(&w->last->learnt, w->way, last - first);
    w->last = NULL;
    return can;
}

void *MPIR_Ways_say(struct coll *c, int64_t room, const void *at, const void *result)
{
    const struct ways *w = c->comm->ways;
    struct said *s = MPIR_Coll_team_own(c, room);
    if (!s)
        return NULL;
    *s = (struct said){ (uint64_t)(uintptr_t)at, (uint64_t)(uintptr_t)result, w->began, w->ended, w->able };
    return s;
}

void MPIR_Ways_hear(struct coll *c, int64_t bytes)
{
    struct ways *w = c->comm->ways;
    struct cell *cell = cell_of(w, c, bytes);
    bool can = ways_hear(w, c);
    if (can && c->way == COLL_MEASURED) {
        c->way = next_way(cell, bytes);
        w->last = cell;
        w->way = c->way;
    } else {
        c->way = can && c->way == COLL_READ ? COLL_READ : COLL_SHOWN;
    }
    w->timed = true;
    w->began = w->ended = ku_clock_ns();
}

enum coll_met MPIR_Ways_meet(struct coll *c, int64_t bytes, const void *at, const void *result)
{
    enum coll_met met;
    if (c->way == COLL_SHOWN || (c->way == COLL_MEASURED && bytes < LEAST)) {
        c->way = COLL_SHOWN;
        return MPIR_Coll_team_meet_for(c, bytes);
    }
    if ((met = MPIR_Ways_ready(c)) != COLL_MET)
        return met;
    if (c->st->turn != COLL_TURN_MET && !MPIR_Ways_say(c, COLL_SAID, at, result))
        return COLL_MET_NEVER;
    if ((met = MPIR_Coll_team_meet_for(c, bytes)) == COLL_MET)
        MPIR_Ways_hear(c, bytes);
    return met;
}

void MPIR_Ways_end(struct coll *c)
{
    struct ways *w = c->comm->ways;
    if (w && w->timed)
        w->ended = ku_clock_ns();
    if (w)
        w->timed = false;
}

/* ---- Broadcasts ---- */

bool MPIR_Ways_lends(struct coll *c, int64_t bytes)
{
    struct ways *w = c->way == COLL_SHOWN || bytes < LEAST ? c->comm->ways : ways_of(c);
    if (w)
        w->lent = NULL;
    if (c->way == COLL_SHOWN || bytes < LEAST || !w || !offers(c, w)) {
        c->way = COLL_SHOWN;
        return false;
    }
    if (c->way == COLL_READ)
        return true;
    w->lent = cell_of(w, c, bytes);
    c->way = next_way(w->lent, bytes);
    w->lent_at = ku_clock_ns();
    return c->way == COLL_READ;
}

bool MPIR_Ways_times(const struct coll *c)
{
    const struct ways *w = c->comm->ways;
    return w && w->lent && (c->way == COLL_READ || MPIR_Learn_asks(&w->lent->learnt, c->way));
}

void MPIR_Ways_timed(struct coll *c)
{
    struct ways *w = c->comm->ways;
    MPIR_Learn_took(&w->lent->learnt, c->way, ku_clock_ns() - w->lent_at);
}

void MPIR_Ways_no_lending(struct coll *c)
{
    struct ways *w = c->comm->ways;
    w->lending = REFUSED;
}

/* ---- Reading ---- */

uint64_t MPIR_Ways_at(const struct coll *c, int32_t rank)
{
    return ((const struct ways *)c->comm->ways)->at[2 * rank];
}

uint64_t MPIR_Ways_result(const struct coll *c, int32_t rank)
{
    return ((const struct ways *)c->comm->ways)->at[2 * rank + 1];
}

void MPIR_Ways_read(struct coll *c, int32_t rank, uint64_t at, void *to, int64_t n)
{
    if (!c->st->team_broke && !MPID_Reach_copy(&c->comm->adi, rank, to, at, n)) {
        MPID_Team_break(&c->comm->adi);
        c->st->team_broke = true;
    }
}

enum coll_met MPIR_Ways_next(struct coll *c, int turn)
{
    return MPIR_Coll_team_meet_again(c, turn);
}
