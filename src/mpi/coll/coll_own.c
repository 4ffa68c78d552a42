/* SPDX-License-Identifier: BSD-3-Clause */
/* coll_own.c: persistent collectives that meet at a team of their own (coll_own.h).
 *
 * Processes may start the persistent operations of a communicator each in another order, while a team has its
 * meetings in one order.  So an operation that a team can do gets a communicator that no program sees, whose team
 * is used by nothing else: there its starts are in one order, since each of them must be over before the next.
 *
 * There are at most MOST of them for a communicator, as each takes a context, and a team memory of the segment.
 * The other operations, and those whose team is broken, go by the messages that have been noted when they were
 * made. */
#include "coll_own.h"
#include "bodies.h"
#include <stdlib.h>

enum { MOST = 64 };

struct coll_own {
    MPIR_Comm *comm, *of;
    const struct coll_alg *row;
    struct coll call;
    struct coll_state st;
};

/* The row of the blocking form, if it is one of a team. */
static const struct coll_alg *coll_own_row_of(const struct coll *c, const struct coll_size *size)
{
    struct coll_size s = *size;
    if (!MPIR_Comm_has_team(c->comm) || s.anywhere || s.local)
        return NULL;
    s.team = true;
    const struct coll_alg *row = MPIR_Coll_choose(c->kind, &c->comm->facts, &s);
    return coll_at_team(row) ? row : NULL;
}

/* Its communicator, with a team; NULL: there can be none, as all processes find. */
static MPIR_Comm *coll_own_make_comm(MPIR_Comm *of, int *err)
{
    MPIR_Comm *comm = NULL;
    *err = MPIR_Comm_split(of, 0, of->adi.rank, &comm);
    if (*err || !comm)
        return NULL;
    comm->no_handle = true;
    comm->facts = of->facts;
    comm->facts.asked = 0;
    *err = MPIR_Coll_team_ask(comm, COLL_TAG_TEAM);
    if (!*err && comm->team == MPIR_TEAM_HAS)
        return comm;
    MPIR_Comm_release(comm);
    return NULL;
}

struct coll_own *MPIR_Coll_own_make(const struct coll *c, const struct coll_size *s, bool able, int tag,
                                    int *err)
{
    const struct coll_alg *row = coll_own_row_of(c, s);
    if (!row)
        return NULL;
    struct coll_own *o = calloc(1, sizeof *o);
    uint32_t full = !o || !able || c->comm->owns >= MOST;
    *err = MPIR_Agree_max(c->comm, NULL, MPID_CONTEXT_COLL, tag, 0, &full, 1);
    if (!*err && !full)
        o->comm = coll_own_make_comm(c->comm, err);
    if (!o || !o->comm) {
        free(o);
        return NULL;
    }
    o->of = c->comm;
    o->of->owns++;
    o->row = row;
    o->call = *c;
    o->call.comm = o->comm;
    o->call.st = &o->st;
    o->call.room = s->room;
    MPIR_Coll_count(&o->call, row, s);
    return o;
}

void MPIR_Coll_own_free(struct coll_own *o)
{
    if (!o)
        return;
    MPIR_Coll_drop(&o->st);
    o->of->owns--;
    MPIR_Comm_release(o->comm);
    free(o);
}

bool MPIR_Coll_own_start(struct coll_own *o, struct coll_meeting *m, struct MPIR_Driven *driven)
{
    struct coll *c = &o->call;
    if (o->comm->team != MPIR_TEAM_HAS)
        return false;
    MPIR_Coll_drop(&o->st);
    o->st.err = o->st.ntemps = 0;
    o->st.made = NULL;
    o->st.used = 0;
    o->st.mute = o->st.team_broke = false;
    c->when = ++o->comm->coll_seq;
    if (c->before)
        c->before(c);
    MPIR_Coll_meeting_begin(m, c, o->row, driven);
    return true;
}

void MPIR_Coll_own_end(struct coll_own *o, struct coll *c)
{
    if (__builtin_expect(o->st.err == 0, 1))
        return;
    *ku_err_last() = o->st.words;
    MPIR_Coll_note(c, o->st.err);
}
