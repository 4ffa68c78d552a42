/* SPDX-License-Identifier: BSD-3-Clause */
/* survive.c: communicators whose members fail: revoke, shrink, agree, and who has failed ("User-Level Failure
 * Mitigation", as proposed to the MPI Forum; names MPIX_).
 *
 * A revoked communicator keeps its handle, which names it for what is local and for the calls of this file alone: the
 * object has another generation, or is not in the table of predefined ones, as while MPI_Comm_idup makes one.  So no
 * call that is not for that pays for it. */
#include "accord.h"
#include "bodies.h"
#include "drive.h"
#include "make.h"
#include "mpi_err.h"
#include "request.h"
#include <stdlib.h>
#include <string.h>

/* ---- Who has failed ---- */

static int survive_group(MPIR_Comm *comm, int32_t n, const int32_t *granks, MPIR_Group **group)
{
    int err = MPIR_Group_new(n, granks, group);
    if (!err && n > 0)
        MPIR_Group_derive(*group, comm->session);
    return err;
}

static int32_t survive_lost_in(const MPIR_Group *g, int32_t *granks)
{
    int32_t n = 0;
    int err;
    for (int32_t i = 0; g && i < g->size; i++)
        if (MPID_Lost(MPIR_Group_grank(g, i), &err))
            granks[n++] = MPIR_Group_grank(g, i);
    return n;
}

/* Those of both groups that are known here to be lost. */
static int survive_lost(MPIR_Comm *comm, int32_t **granks, int32_t *n)
{
    int32_t most = comm->group->size + (comm->remote_group ? comm->remote_group->size : 0);
    MPID_DeviceCheck(MPID_NOTBLOCKING); /* what has happened by now */
    *granks = malloc(sizeof **granks * (size_t)most);
    if (!*granks)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a list of %d processes", (int)most);
    *n = survive_lost_in(comm->group, *granks);
    *n += survive_lost_in(comm->remote_group, *granks + *n);
    return 0;
}

int MPIR_Comm_get_failed(MPIR_Comm *comm, MPIR_Group **failedgrp)
{
    int32_t *granks, n;
    int err = survive_lost(comm, &granks, &n);
    if (err)
        return err;
    err = survive_group(comm, n, granks, failedgrp);
    free(granks);
    return err;
}

/* The first `most` that are lost, those that are acknowledged before others. */
static int survive_ack(MPIR_Comm *comm, int32_t most)
{
    int32_t *granks, n, nacked = comm->acked ? comm->acked->size : 0;
    MPIR_Group *acked;
    int err = survive_lost(comm, &granks, &n);
    if (err)
        return err;
    int32_t *list = malloc(sizeof *list * (size_t)(n + nacked + 1));
    if (!list) {
        free(granks);
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a list of %d processes", (int)n);
    }
    int32_t m = 0;
    for (; m < nacked; m++)
        list[m] = MPIR_Group_grank(comm->acked, m);
    for (int32_t i = 0; i < n && m < most; i++)
        if (!comm->acked || MPIR_Group_rank_of(comm->acked, granks[i]) == MPI_UNDEFINED)
            list[m++] = granks[i];
    err = MPIR_Group_new(m, list, &acked);
    free(granks);
    free(list);
    if (err)
        return err;
    if (comm->acked)
        MPIR_Group_release(comm->acked);
    comm->acked = acked;
    MPIR_Group *from = comm->remote_group ? comm->remote_group : comm->group;
    m = 0;
    for (int32_t i = 0; i < acked->size; i++)
        m += MPIR_Group_rank_of(from, MPIR_Group_grank(acked, i)) != MPI_UNDEFINED;
    MPID_Lost_acked(&comm->adi, m);
    return 0;
}

int MPIR_Comm_failure_ack(MPIR_Comm *comm)
{
    return survive_ack(comm, INT32_MAX);
}

int MPIR_Comm_ack_failed(MPIR_Comm *comm, int num_to_ack, int *num_acked)
{
    if (num_to_ack < 0)
        return MPIR_Err(MPI_ERR_ARG, "num_to_ack", "is %d; expected 0 or more", num_to_ack);
    int err = survive_ack(comm, num_to_ack);
    *num_acked = comm->acked ? comm->acked->size : 0;
    return err;
}

int MPIR_Comm_failure_get_acked(MPIR_Comm *comm, MPIR_Group **failedgrp)
{
    int32_t n = comm->acked ? comm->acked->size : 0;
    int32_t *granks = malloc(sizeof *granks * (size_t)(n + 1));
    if (!granks)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a list of %d processes", (int)n);
    for (int32_t i = 0; i < n; i++)
        granks[i] = MPIR_Group_grank(comm->acked, i);
    int err = survive_group(comm, n, granks, failedgrp);
    free(granks);
    return err;
}

/* ---- Revoke ---- */

static void revoke_hide(MPIR_Comm *comm)
{
    comm->adi.obj.flags |= KEEL_OBJ_REVOKED;
    if (comm->adi.obj.flags & KEEL_OBJ_PREDEFINED)
        MPIR_Object_forget(&comm->adi.obj);
    else if (!comm->no_handle && !(comm->adi.obj.flags & KEEL_OBJ_PENDING))
        MPIR_Object_rename(comm);
}

void MPIR_Comm_revoked(struct MPIR_COMMUNICATOR *adi)
{
    MPIR_Comm *comm = (MPIR_Comm *)adi;
    if (comm->adi.obj.flags & KEEL_OBJ_REVOKED)
        return;
    revoke_hide(comm);
    MPID_Revoke(&comm->adi, comm->local ? &comm->local->adi : NULL);
    MPIR_Coll_team_leave(comm);
    if (comm->local)
        MPIR_Coll_team_leave(comm->local);
    MPIR_Coll_nodes_revoke(comm);
}

int MPIR_Comm_revoke(MPIR_Comm *comm)
{
    MPIR_Comm_revoked(&comm->adi);
    return 0;
}

int MPIR_Comm_is_revoked(MPIR_Comm *comm, int *flag)
{
    MPID_DeviceCheck(MPID_NOTBLOCKING);
    *flag = (comm->adi.obj.flags & KEEL_OBJ_REVOKED) != 0 || MPID_Revoked(&comm->adi);
    return 0;
}

/* ---- Agree ---- */

/* In word 0 the complement of the flags, so that `or` makes their `and`; then the bits of members that this process has
 * not acknowledged. */
static struct accord *agree_begin(MPIR_Comm *comm, int tag, int flag)
{
    int bits = MPIR_Accord_bits(comm);
    uint64_t *mine = malloc(sizeof *mine * (size_t)(1 + bits));
    if (!mine)
        MPIR_Accord_no_memory();
    mine[0] = (uint32_t)~flag;
    memset(mine + 1, 0xff, sizeof *mine * (size_t)bits);
    for (int32_t i = 0; i < comm->adi.size; i++)
        if (comm->acked && MPIR_Group_rank_of(comm->acked, MPIR_Comm_grank(comm, i)) != MPI_UNDEFINED)
            mine[1 + i / 64] &= ~(1ull << i % 64);
    struct accord *a = MPIR_Accord_begin(comm, tag, mine, 1 + bits);
    free(mine);
    return a;
}

/* The same in all: an error if somebody has not acknowledged one that all know to be lost. */
static int agree_end(const MPIR_Comm *comm, struct accord *a, int *flag)
{
    const uint64_t *words = MPIR_Accord_words(a), *lost = MPIR_Accord_lost(a);
    int err = 0;
    *flag = (int)~(uint32_t)words[0];
    for (int32_t i = 0; i < comm->adi.size && !err; i++)
        if (lost[i / 64] & words[1 + i / 64] & 1ull << i % 64)
            err = MPIR_Err(MPID_ERR_PROC_FAILED, NULL,
                           "rank %d has failed, and not all members have acknowledged that", (int)i);
    MPIR_Accord_done(a);
    return err;
}

int MPIR_Comm_agree(MPIR_Comm *comm, int *flag)
{
    int err = MPIR_Comm_check_intra(comm);
    if (err)
        return err;
    struct accord *a = agree_begin(comm, MPIR_Accord_tag(comm), *flag);
    while (!MPIR_Accord_step(a))
        MPID_DeviceCheck(MPID_BLOCKING);
    return agree_end(comm, a, flag);
}

/* ---- Shrink: agree on who is lost; let the others agree on a communicator; agree that all have it, or begin again.
 * ---- */

struct shrink {
    MPIR_Comm *comm, *made; /* comm: a reference */
    enum { SHRINK_LOST, SHRINK_MAKES, SHRINK_HAS } stage;
    struct accord *accord;
    struct context_vote vote;
    int err;
    struct ku_err words;
};

static void shrink_agree(struct shrink *s, uint64_t word)
{
    s->accord = MPIR_Accord_begin(s->comm, MPIR_Accord_tag(s->comm), &word, 1);
}

static void shrink_begin(struct shrink *s, MPIR_Comm *comm)
{
    s->comm = comm;
    s->made = NULL;
    s->stage = SHRINK_LOST;
    s->err = 0;
    shrink_agree(s, 0);
}

static int shrink_group(const MPIR_Comm *comm, const uint64_t *lost, MPIR_Group **group)
{
    int32_t *granks = malloc(sizeof *granks * (size_t)comm->adi.size), n = 0;
    if (!granks)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a group of %d processes", (int)comm->adi.size);
    for (int32_t i = 0; i < comm->adi.size; i++)
        if (!(lost[i / 64] & 1ull << i % 64))
            granks[n++] = MPIR_Comm_grank(comm, i);
    return MPIR_Group_adopt(n, granks, group);
}

static void shrink_make(struct shrink *s)
{
    enum { VOTES = 1 << 30 /* tags apart from those of agreements */ };
    MPIR_Group *group = NULL;
    struct context_ask ask = { .ids = 1 };
    ask.err = shrink_group(s->comm, MPIR_Accord_lost(s->accord), &group);
    if (!ask.err)
        ask.err = MPIR_Comm_prepare(s->comm, group, NULL, &s->made);
    MPIR_Accord_done(s->accord);
    s->accord = NULL;
    struct party p = { .comm = s->comm,
                       .group = group,
                       .which = MPID_CONTEXT_FAIL,
                       .tag = VOTES | MPIR_Accord_tag(s->comm),
                       .alone = true };
    s->stage = SHRINK_MAKES;
    MPIR_Context_begin(&s->vote, &p, &ask);
}

static void shrink_made(struct shrink *s)
{
    int err = s->vote.err;
    if (!err)
        err = MPIR_Comm_start(s->comm, s->made, s->vote.context);
    if (err) { /* what it is at the end, if it is no failure of a member */
        s->err = err;
        s->words = *ku_err_last();
    }
    MPIR_Group_release(s->vote.agree.party.group);
    s->stage = SHRINK_HAS;
    shrink_agree(s, err == 0 ? 0 : MPID_Survives() && err == MPID_ERR_PROC_FAILED ? 1 : 2);
}

static void shrink_discard(struct shrink *s)
{
    if (s->made && s->vote.err)
        MPIR_Comm_discard(s->made);
    else if (s->made)
        MPIR_Comm_release(s->made);
    s->made = NULL;
}

/* All have it: true.  Else it begins again, if the reason is one more failure. */
static bool shrink_has(struct shrink *s, int *err)
{
    uint64_t word = MPIR_Accord_words(s->accord)[0];
    MPIR_Accord_done(s->accord);
    s->accord = NULL;
    if (word == 0)
        return true;
    shrink_discard(s);
    if (word & 2) {
        if (s->err)
            *ku_err_last() = s->words;
        *err = s->err ? s->err
                      : MPIR_Err(MPI_ERR_OTHER, NULL, "another member could not make the new communicator");
        return true;
    }
    s->stage = SHRINK_LOST;
    shrink_agree(s, 0);
    return false;
}

/* True: over, with s->made or *err. */
static bool shrink_step(struct shrink *s, int *err)
{
    *err = 0;
    for (;;) {
        switch (s->stage) {
        case SHRINK_LOST:
            if (!MPIR_Accord_step(s->accord))
                return false;
            shrink_make(s);
            break;
        case SHRINK_MAKES:
            if (!MPIR_Context_step(&s->vote))
                return false;
            shrink_made(s);
            break;
        case SHRINK_HAS:
            if (!MPIR_Accord_step(s->accord))
                return false;
            if (shrink_has(s, err))
                return true;
            break;
        }
    }
}

int MPIR_Comm_shrink(MPIR_Comm *comm, MPIR_Comm **newcomm)
{
    int err = MPIR_Comm_check_intra(comm);
    if (err)
        return err;
    struct shrink s;
    shrink_begin(&s, comm);
    while (!shrink_step(&s, &err))
        MPID_DeviceCheck(MPID_BLOCKING);
    *newcomm = s.made;
    return err;
}

/* ---- Agree without waiting ---- */

struct iagree {
    struct MPIR_Closure closure;
    struct MPIR_Driven driven;
    MPIR_Comm *comm; /* a reference */
    MPIR_Request *request;
    struct accord *accord;
    int *flag; /* the program's */
    struct ku_err words;
};

static void iagree_poll(MPIR_Request *r)
{
    (void)r; /* whoever polls has looked at the devices before, which advances it */
}

static void iagree_free(MPIR_Request *r)
{
    struct iagree *i = r->aux;
    MPIR_Comm_release(i->comm);
    free(i);
}

static void iagree_explain(const MPIR_Request *r)
{
    *ku_err_last() = ((const struct iagree *)r->aux)->words;
}

static const struct MPIR_Request_ops iagree_ops = { .poll = iagree_poll,
                                                    .free = iagree_free,
                                                    .explain = iagree_explain,
                                                    .may_go = MPIR_Request_of_collective_may_go };

static enum MPIR_DRIVE iagree_advance(struct MPIR_Driven *d)
{
    struct iagree *i = (struct iagree *)((char *)d - offsetof(struct iagree, driven));
    MPIR_Request *r = i->request;
    if (!MPIR_Accord_step(i->accord))
        return MPIR_DRIVE_WAITS;
    int err = agree_end(i->comm, i->accord, i->flag);
    if (err) {
        i->words = *ku_err_last();
        MPID_Request_errors++;
    }
    MPIR_Status_empty(&r->s);
    r->errval = err;
    atomic_store_explicit(&r->is_complete, 1, memory_order_release);
    return MPIR_DRIVE_DONE;
}

int MPIR_Comm_iagree(MPIR_Comm *comm, int *flag, MPIR_Request **request)
{
    int err = MPIR_Comm_check_intra(comm);
    if (err)
        return err;
    struct iagree *i = calloc(1, sizeof *i);
    MPIR_Request *r = i ? MPIR_Request_alloc(comm) : NULL;
    if (!r)
        MPIR_Accord_no_memory();
    *i = (struct iagree){ .closure = { &iagree_ops },
                          .driven = { .advance = iagree_advance },
                          .comm = comm,
                          .request = r,
                          .accord = agree_begin(comm, MPIR_Accord_tag(comm), *flag),
                          .flag = flag };
    MPIR_Object_ref(comm);
    r->handle_type = MPIR_SCHED;
    r->aux = i;
    *request = r;
    if (iagree_advance(&i->driven) != MPIR_DRIVE_DONE)
        MPIR_Drive(&i->driven);
    return 0;
}
