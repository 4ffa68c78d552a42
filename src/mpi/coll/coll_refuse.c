/* SPDX-License-Identifier: BSD-3-Clause */
/* coll_refuse.c: a process refuses a collective because of its arguments.
 *
 * It cannot play its part, and the others may have found nothing wrong.  So it says so to all members by packets
 * (MPID_Refuse), and breaks the team, if there is one: who finds that goes on by messages.  What has been refused
 * ends with the error at each member when it is about to wait for a message of the call (MPIR_Coll_note); from
 * then on it neither sends nor receives for the call, as nobody waits for it: all others have heard the same.
 *
 * Invariants
 *   1. All messages of a call, also those by which its members agree on something first, have its tag, in contexts
 *      of which MPID_Refused_with says that they are the call's; so none is waited for.
 *   2. What members agree on within a call begins with something that all of them say.  So if the call is refused
 *      nobody gets a result, and it is asked again by the next call; if there is a result, the call is refused by
 *      nobody, and what else is agreed on in it is safe, also among some of the members.
 *   3. A refused call has a number as any other. */
#include "coll.h"
#include <stdio.h>
#include <string.h>

static const char *coll_refuse_group_of(const struct MPID_Refusal *r)
{
    return !r->inter ? "communicator" : r->remote ? "remote group" : "local group";
}

/* The words: the call without its MPI_, so that both fit, and its argument, if one is at fault. */
static int coll_refuse_tell(const struct MPID_Refusal *r)
{
    if (r->error == MPID_ERR_REVOKED)
        return MPIR_Err(r->error, NULL, "a member has revoked it");
    int call = (int)strcspn(r->words, " ");
    if (r->words[call])
        return MPIR_Err(r->error, NULL,
                        "rank %d of the %s does not take part: argument %s of its MPI_%.*s was refused there",
                        (int)r->rank, coll_refuse_group_of(r), r->words + call + 1, call, r->words);
    return MPIR_Err(r->error, NULL, "rank %d of the %s does not take part: its MPI_%s was refused there",
                    (int)r->rank, coll_refuse_group_of(r), r->words);
}

int MPIR_Refused(const MPIR_Comm *comm, int which, int tag)
{
    const struct MPID_Refusal *r = MPID_Refused(MPIR_Comm_context(comm, which), tag);
    return r ? coll_refuse_tell(r) : 0;
}

bool MPIR_Comm_error_ends(const MPIR_Comm *comm)
{
    const MPIR_Errhandler *h = comm->adi.errhandler;
    return !h || h->what == MPIR_ERRHANDLER_FATAL || h->what == MPIR_ERRHANDLER_ABORT;
}

static void tell_all(MPIR_Comm *comm, int tag, int err, const char *call)
{
    struct ku_err words = *ku_err_last();
    struct MPID_Refusal r = { .error = err, .rank = comm->adi.rank, .inter = comm->local != NULL };
    uint32_t context = MPIR_Comm_context(comm, MPID_CONTEXT_COLL);
    snprintf(r.words, sizeof r.words, "%s%s%s", call + strlen("MPI_"),
             words.code == err && words.arg[0] ? " " : "", words.code == err ? words.arg : "");
    MPID_Refuse(comm->local ? &comm->local->adi : &comm->adi, context, tag, &r);
    r.remote = true;
    if (comm->local)
        MPID_Refuse(&comm->adi, context, tag, &r);
    *ku_err_last() = words;
}

/* The others need not hear of what is about to end them. */
static void tell_survivors(MPIR_Comm *comm, int tag, int err, const char *call)
{
    if (!MPIR_Comm_error_ends(comm))
        tell_all(comm, tag, err, call);
}

static void coll_refuse_refuse(MPIR_Comm *comm, int tag, int err, const char *call)
{
    tell_survivors(comm, tag, err, call);
    MPIR_Coll_team_give_up(comm);
}

void MPIR_Coll_refused(MPIR_Comm *comm, int err, const char *call)
{
    coll_refuse_refuse(comm, MPIR_Comm_next_tag(comm), err, call);
}

void MPIR_Make_refused(MPIR_Comm *comm, int err, const char *call, bool ends)
{
    int tag = MPIR_Comm_next_tag(comm);
    if (!ends)
        tell_all(comm, tag, err, call);
}

/* What is to be made takes several numbers, also those of what its members agree on.  Who needs to agree on
 * nothing hears of this when it starts the operation. */
void MPIR_Coll_init_refused(MPIR_Comm *comm, int err, const char *call)
{
    int tag = MPIR_Comm_next_tag(comm);
    comm->coll_seq += MPIR_INIT_NUMBERS - 1;
    tell_survivors(comm, tag, err, call);
    tell_survivors(comm, MPIR_COMM_TAGS + (int)(comm->persistent_seq++ & (MPIR_COMM_TAGS - 1)), err, call);
    if (!comm->facts.heard)
        MPIR_Coll_team_give_up(comm);
}

void MPIR_Coll_refuse_starts(const struct coll *c, int err)
{
    tell_survivors(c->comm, c->tag, err, MPIR_Coll_name(c, COLL_PERSISTENT));
}

void MPIR_Coll_refuse(const struct coll *c, enum coll_form form, int err)
{
    coll_refuse_refuse(c->comm, c->tag, err, MPIR_Coll_name(c, form));
}
