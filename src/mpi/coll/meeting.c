/* SPDX-License-Identifier: BSD-3-Clause */
/* meeting.c: nonblocking and persistent collectives at a team.
 *
 * One is carried out by the row of the blocking form.  That of an exchange is run twice: the first time
 * (COLL_TURN_COMES) it shows what it has to show, and comes to the meeting; the second time (COLL_TURN_MET), when
 * all have come, it reads.  One by steps is run once, to prepare it, and goes on from where it is when it is asked
 * to (steps.h).  A broadcast is a stream.
 *
 * Invariants
 *   1. A team has one call at a time: those of a communicator wait in a list, in the order of the calls, which is
 *      the same in all processes; only the first has come.
 *   2. Whatever else is done at the team, or said to it, comes after all that are in the list: a blocking call
 *      waits for them, which all processes have begun by then; that a nonblocking one uses messages, or was refused,
 *      is said when the list is empty. Calls that wait for what the communicator agrees on (choose.c) come into the
 *      list in their order when it has.
 *   3. Which calls go this way depends on what is the same in all processes.  A team that is broken is so for all
 *      at the same meeting, so the calls from there on are done by messages in all of them. */
#include "meeting.h"
#include "nodes.h"
#include "steps.h"

static struct coll_meeting *meeting_first_of(const MPIR_Comm *comm)
{
    return comm->meetings.first;
}

const struct coll_alg *MPIR_Coll_meeting_row(struct coll *c, struct coll_size *s)
{
    const MPIR_Comm *comm = c->comm;
    if (!comm->facts.heard || !coll_uses_team(c) || coll_anywhere(c) || s->local)
        return NULL;
    s->team = true;
    const struct coll_alg *row = MPIR_Coll_choose(c->kind, &comm->facts, s);
    s->team = false;
    return coll_at_team(row) ? row : NULL;
}

void MPIR_Coll_meeting_begin(struct coll_meeting *m, struct coll *c, const struct coll_alg *row,
                             struct MPIR_Driven *driven)
{
    MPIR_Meetings *all = &c->comm->meetings;
    *m = (struct coll_meeting){ .call = c, .row = row, .driven = driven };
    c->way = coll_way_of(row);
    if (all->first)
        all->last->next = m;
    else
        all->first = m;
    all->last = m;
    all->absent =
        false; /* it comes to this one for another call than those who wait for it in vain: so they see it */
}

/* ---- What is said afterwards (invariant 2) ---- */

static void say_refused(MPIR_Comm *comm, uint32_t when)
{
    if (comm->nodes)
        MPIR_Coll_nodes_give_up(comm, when);
    if (!MPIR_Comm_has_team(comm))
        return;
    MPID_Team_break(&comm->adi);
    MPID_Stream_skip(&comm->adi, when);
}

static void say_absent(MPIR_Comm *comm, uint32_t when)
{
    if (MPIR_Comm_has_team(comm))
        MPID_Team_absent(&comm->adi, when);
}

void MPIR_Coll_team_give_up(MPIR_Comm *comm)
{
    (void)MPIR_Coll_team_given(
        comm); /* where the others may be to find out whether they agree on all they need */
    if (!meeting_first_of(comm) && !comm->facts.asked) {
        say_refused(comm, comm->coll_seq);
        return;
    }
    comm->meetings.refused = true;
    comm->meetings.when = comm->coll_seq;
}

void MPIR_Coll_team_leave(MPIR_Comm *comm)
{
    enum { FAR = 1 << 20 /* calls that others may be ahead */ };
    comm->quick = false;
    if (!MPIR_Comm_has_team(comm))
        return;
    MPID_Team_break(&comm->adi);
    MPID_Stream_skip(&comm->adi, comm->coll_seq + FAR);
    comm->team = MPIR_TEAM_NONE;
}

void MPIR_Coll_meeting_absent(MPIR_Comm *comm, uint32_t when)
{
    if (!meeting_first_of(comm) && !comm->facts.asked) {
        say_absent(comm, when);
        return;
    }
    comm->meetings.absent = true;
    comm->meetings.when = when;
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

void MPIR_Coll_meetings_heard(MPIR_Comm *comm)
{
    if (!meeting_first_of(comm) && !comm->facts.asked)
        all_over(comm);
}

void MPIR_Coll_meetings_end(MPIR_Comm *comm)
{
    while (meeting_first_of(comm))
        MPID_DeviceCheck(MPID_BLOCKING);
}

/* ---- Carrying out ---- */

static void meeting_leave(struct coll_meeting *m)
{
    MPIR_Comm *comm = m->call->comm;
    comm->meetings.first = m->next;
    if (m->next)
        MPIR_Drive(m->next->driven);
    else
        all_over(comm);
}

static void meeting_run(const struct coll_meeting *m, enum coll_turn turn)
{
    m->call->st->turn = turn;
    m->row->run(m->call);
    m->call->st->turn = COLL_TURN_BOTH;
}

/* False: the team is broken, or (in all processes) there is no memory to show so much. */
static bool meeting_come(struct coll_meeting *m)
{
    struct coll *c = m->call;
    if (!MPID_Team_own(&c->comm->adi, c->room))
        return false;
    meeting_run(m, COLL_TURN_COMES);
    if (c->st->team_broke)
        MPIR_Coll_team_lost(c->comm);
    return !c->st->team_broke;
}

static enum coll_met go_by_meeting(struct coll_meeting *m)
{
    bool comes = !m->come;
    m->come = true;
    if (comes && !meeting_come(m))
        return COLL_MET_NEVER;
    enum coll_met met = MPIR_Coll_team_look(m->call, comes);
    if (met == COLL_MET)
        meeting_run(m, COLL_TURN_MET);
    return met;
}

static enum coll_met go_by_steps(struct coll_meeting *m)
{
    struct coll_state *st = m->call->st;
    if (!m->come) {
        m->come = true;
        st->turn = COLL_TURN_COMES;
        m->row->run(m->call);
    }
    return st->steps->go_on(st->steps);
}

static enum coll_met meeting_go_on(struct coll_meeting *m)
{
    if (!m->come && !coll_uses_team(m->call))
        return COLL_MET_NEVER;
    if (m->call->kind == COLL_BCAST)
        return MPIR_Coll_stream_go(m);
    return m->row->needs & COLL_NEEDS_STEPS ? go_by_steps(m) : go_by_meeting(m);
}

enum coll_met MPIR_Coll_meeting_go(struct coll_meeting *m)
{
    struct coll *c = m->call;
    if (meeting_first_of(c->comm) != m)
        return COLL_MET_LATER;
    enum coll_met met = meeting_go_on(m);
    if (met == COLL_MET_NOT || met == COLL_MET_MOVED)
        return met;
    c->st->turn = COLL_TURN_BOTH;
    c->st->team_broke = false;
    meeting_leave(m);
    return met;
}
