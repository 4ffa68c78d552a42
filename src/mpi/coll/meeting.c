/* meeting.c: nonblocking collectives of a few bytes, up to what a team's rooms have, at a team; and broadcasts of any length, by a stream.
 *
 * One is carried out by the row of the blocking form, which is run twice: the first time (COLL_TURN_COMES) it shows what it has to show, and
 * comes to the meeting; the second time (COLL_TURN_MET), when all have come, it reads.
 *
 * Invariants
 *   1. A team has one meeting, or stream, at a time: those of a communicator wait in a list, in the order of the calls, which is the same in all
 *      processes; only the first has come.
 *   2. Whatever else is done at the team, or said to it, comes after all that are in the list: a blocking call waits for them, which all
 *      processes have begun by then; that a nonblocking one uses messages, or was refused, is said when the list is empty.
 *   3. Which calls go this way depends on what is the same in all processes.  A team that is broken is so for all at the same meeting, so
 *      the calls from there on are done by messages in all of them. */
#include "meeting.h"
#include "nodes.h"
#include "mpid_team.h"

static struct coll_meeting *first_of(const MPIR_Comm *comm)
{
    return comm->meetings.first;
}

const struct coll_alg *MPIR_Coll_meeting_row(struct coll *c, struct coll_size *s)
{
    const MPIR_Comm *comm = c->comm;
    if (!comm->facts.known || comm->team != MPIR_TEAM_HAS || coll_anywhere(c) || s->local)
        return NULL;
    s->team = s->meets = true;
    const struct coll_alg *row = MPIR_Coll_choose(c->kind, &comm->facts, s);
    s->team = s->meets = false;
    return row->needs & COLL_NEEDS_TEAM ? row : NULL;
}

void MPIR_Coll_meeting_begin(struct coll_meeting *m, struct coll *c, const struct coll_alg *row,
                             struct MPIR_Driven *driven)
{
    MPIR_Meetings *all = &c->comm->meetings;
    *m = (struct coll_meeting){ .call = c, .row = row, .driven = driven };
    if (all->first)
        all->last->next = m;
    else
        all->first = m;
    all->last = m;
    all->refused = all->absent =
        false; /* it comes to this one for another call than those who wait for it in vain: so they see it */
}

/* ---- What is said afterwards (invariant 2) ---- */

static void say_refused(MPIR_Comm *comm, uint32_t when)
{
    if (comm->team != MPIR_TEAM_HAS)
        return;
    MPID_Team_break(&comm->adi);
    MPID_Stream_skip(&comm->adi, when);
}

static void say_absent(MPIR_Comm *comm, uint32_t when)
{
    if (comm->team == MPIR_TEAM_HAS)
        MPID_Team_absent(&comm->adi, when);
}

void MPIR_Coll_team_give_up(MPIR_Comm *comm)
{
    if (comm->nodes)
        MPIR_Coll_nodes_give_up(comm);
    if (!first_of(comm)) {
        say_refused(comm, comm->coll_seq);
        return;
    }
    comm->meetings.refused = true;
    comm->meetings.when = comm->coll_seq;
}

void MPIR_Coll_meeting_absent(MPIR_Comm *comm)
{
    if (!first_of(comm)) {
        say_absent(comm, comm->coll_seq);
        return;
    }
    comm->meetings.absent = true;
    comm->meetings.when = comm->coll_seq;
}

static void all_over(MPIR_Comm *comm)
{
    MPIR_Meetings *all = &comm->meetings;
    if (all->refused)
        say_refused(comm, all->when);
    if (all->absent)
        say_absent(comm, all->when);
    all->refused = all->absent = false;
}

void MPIR_Coll_meetings_end(MPIR_Comm *comm)
{
    while (first_of(comm))
        MPID_DeviceCheck(MPID_BLOCKING);
}

/* ---- Carrying out ---- */

static void leave(struct coll_meeting *m)
{
    MPIR_Comm *comm = m->call->comm;
    comm->meetings.first = m->next;
    if (m->next)
        MPIR_Drive(m->next->driven);
    else
        all_over(comm);
}

static void run(const struct coll_meeting *m, enum coll_turn turn)
{
    m->call->st->turn = turn;
    m->row->run(m->call);
    m->call->st->turn = COLL_TURN_BOTH;
}

/* False: the team is broken, or (in all processes) there is no memory to show so much. */
static bool come(struct coll_meeting *m)
{
    struct coll *c = m->call;
    m->come = c->comm->team == MPIR_TEAM_HAS;
    m->no_room = m->come && !MPID_Team_own(&c->comm->adi, c->room);
    if (m->come && !m->no_room)
        run(m, COLL_TURN_COMES);
    return m->come && !m->no_room && !c->st->team_broke;
}

enum coll_met MPIR_Coll_meeting_go(struct coll_meeting *m)
{
    struct coll *c = m->call;
    enum MPID_TEAM_TURN turn = MPID_TEAM_BROKEN;
    if (first_of(c->comm) != m)
        return COLL_MET_LATER;
    if (c->kind == COLL_BCAST) {
        enum coll_met met = c->comm->team == MPIR_TEAM_HAS ? MPIR_Coll_stream_go(m) : COLL_MET_NEVER;
        if (met != COLL_MET_NOT)
            leave(m);
        return met;
    }
    if (m->come)
        turn = MPID_Team_look(&c->comm->adi);
    else if (
        come(m)) /* a look at others' lines now would only take them from those who are about to write them */
        turn = MPID_Team_even(&c->comm->adi) ? MPID_TEAM_WAIT : MPID_Team_look(&c->comm->adi);
    if (turn == MPID_TEAM_WAIT)
        return COLL_MET_NOT;
    if (turn == MPID_TEAM_MET) {
        run(m, COLL_TURN_MET);
    } else {
        if (!m->no_room)
            MPIR_Coll_team_lost(c->comm);
        c->st->team_broke = false;
    }
    leave(m);
    return turn == MPID_TEAM_MET ? COLL_MET : COLL_MET_NEVER;
}
