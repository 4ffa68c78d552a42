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
#include "file.h"
#include "make.h"
#include "mpi_err.h"
#include "request.h"
#include "win.h"
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
        if (MPID_Lost(MPIR_Group_grank(g, i), &err) && !MPID_Ended(MPIR_Group_grank(g, i)))
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
    if (comm->owner) {
        comm->owner->flags |= KEEL_OBJ_REVOKED;
        MPIR_Object_rename(comm->owner);
    }
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
    if (comm->making)
        MPIR_Comm_revoked(&comm->making->adi);
}

void MPIR_Comm_making(MPIR_Comm *comm, MPIR_Comm *own)
{
    comm->making = own;
    if (own)
        own->brittle = true;
    if (own && (comm->adi.obj.flags & KEEL_OBJ_REVOKED))
        MPIR_Comm_revoked(&own->adi);
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

int MPIR_Win_revoke(MPIR_Win *win)
{
    return MPIR_Comm_revoke(win->comm);
}

int MPIR_Win_get_failed(MPIR_Win *win, MPIR_Group **failedgrp)
{
    return MPIR_Comm_get_failed(win->comm, failedgrp);
}

int MPIR_File_revoke(MPIR_File *fh)
{
    return MPIR_Comm_revoke(fh->comm);
}

int MPIR_File_get_failed(MPIR_File *fh, MPIR_Group **failedgrp)
{
    return MPIR_Comm_get_failed(fh->comm, failedgrp);
}

/* ---- Agree ---- */

/* What all members know now, as the call that has ended has waited for all of them: later ones leave those out. */
static void survive_base(MPIR_Comm *comm, const uint64_t *lost)
{
    size_t bits = (size_t)MPIR_Accord_bits(comm);
    bool some = false;
    for (size_t i = 0; i < bits; i++)
        some |= lost[i] != 0;
    if (some && !comm->fail_base && !(comm->fail_base = malloc(sizeof *lost * bits)))
        MPIR_Accord_no_memory();
    if (some)
        memcpy(comm->fail_base, lost, sizeof *lost * bits);
}

/* In words 0 and 1 the complement of the flags of the left and the right group, so that `or` makes their `and`; then
 * the bits of members that this process has not acknowledged. */
enum { AGREE_LEFT = 0, AGREE_RIGHT, AGREE_UNACKED };

static int agree_side(const MPIR_Comm *comm, bool local)
{
    return !comm->local || MPIR_Intercomm_is_left(comm) == local ? AGREE_LEFT : AGREE_RIGHT;
}

static struct accord *agree_begin(MPIR_Comm *comm, int flag)
{
    int bits = MPIR_Accord_bits(comm);
    uint64_t *mine = calloc((size_t)(AGREE_UNACKED + bits), sizeof *mine), *unacked = mine + AGREE_UNACKED;
    if (!mine)
        MPIR_Accord_no_memory();
    mine[agree_side(comm, true)] = (uint32_t)~flag;
    memset(unacked, 0xff, sizeof *mine * (size_t)bits);
    for (int32_t i = 0; comm->acked && i < MPIR_Accord_members(comm); i++)
        if (MPIR_Group_rank_of(comm->acked, MPIR_Accord_grank(comm, i)) != MPI_UNDEFINED)
            unacked[i / 64] &= ~(1ull << i % 64);
    struct accord *a =
        MPIR_Accord_begin(comm, MPIR_Accord_numbers(comm, 1), comm->fail_base, mine, AGREE_UNACKED + bits, 0);
    free(mine);
    return a;
}

static int agree_unacked(const MPIR_Comm *comm, int32_t member)
{
    int32_t rank = member - MPIR_Accord_first(comm, true);
    bool remote = comm->local && (rank < 0 || rank >= comm->adi.size);
    if (remote)
        rank = member - MPIR_Accord_first(comm, false);
    return MPIR_Err(MPID_ERR_PROC_FAILED, NULL,
                    "rank %d%s has failed, and not all members have acknowledged that", (int)rank,
                    remote ? " of the remote group" : "");
}

/* The same in all: an error if somebody has not acknowledged one that all know to be lost.  Between two groups each
 * hears the flags of the other one. */
static int agree_end(const MPIR_Comm *comm, struct accord *a, int *flag)
{
    const uint64_t *words = MPIR_Accord_words(a), *lost = MPIR_Accord_lost(a);
    int err = 0;
    *flag = (int)~(uint32_t)words[agree_side(comm, false)];
    for (int32_t i = 0; i < MPIR_Accord_members(comm) && !err; i++)
        if (lost[i / 64] & words[AGREE_UNACKED + i / 64] & 1ull << i % 64)
            err = agree_unacked(comm, i);
    MPIR_Accord_done(a);
    return err;
}

int MPIR_Comm_agree(MPIR_Comm *comm, int *flag)
{
    struct accord *a = agree_begin(comm, *flag);
    while (!MPIR_Accord_step(a))
        MPID_DeviceCheck(MPID_BLOCKING);
    survive_base(comm, MPIR_Accord_lost(a));
    return agree_end(comm, a, flag);
}

/* ---- Shrink: agree on who is lost; let the others agree on a communicator; agree that all have it, or begin again.
 * ---- */

enum { SHRINK_NUMBERS = 3 * 256 /* it begins again at most once for each member that fails meanwhile */ };

struct shrink {
    MPIR_Comm *comm, *made; /* comm: a reference */
    enum { SHRINK_LOST, SHRINK_MAKES, SHRINK_HAS } stage;
    uint32_t number, used;
    struct accord *accord;
    uint64_t *lost;
    MPIR_Group *local;
    struct context_vote vote;
    int err;
    struct ku_err words;
};

static uint32_t shrink_number(struct shrink *s)
{
    return s->number + s->used++ % SHRINK_NUMBERS;
}

static void shrink_agree(struct shrink *s, const uint64_t *words, int n, int maxima)
{
    const uint64_t *base = s->lost ? s->lost : s->comm->fail_base;
    s->accord = MPIR_Accord_begin(s->comm, shrink_number(s), base, words, n, maxima);
}

/* On who is lost, and by the way on a context, unless that takes more than one offer. */
static void shrink_find_lost(struct shrink *s)
{
    uint64_t offer[2];
    MPIR_Context_offer(&s->vote, s->comm->local ? 2 : 1, offer);
    s->stage = SHRINK_LOST;
    shrink_agree(s, offer, 2, 2);
}

static void shrink_begin(struct shrink *s, MPIR_Comm *comm)
{
    *s = (struct shrink){ .comm = comm, .number = MPIR_Accord_numbers(comm, SHRINK_NUMBERS) };
    if (MPIR_Comm_prepare(comm, comm->group, comm->remote_group, &s->made))
        MPIR_Accord_no_memory();
    shrink_find_lost(s);
}

/* Who lives, of the local group or the remote one; NULL: nobody. */
static MPIR_Group *shrink_group(const struct shrink *s, bool local)
{
    int32_t from = MPIR_Accord_first(s->comm, local), n = 0;
    int32_t size = local ? s->comm->adi.size : s->comm->adi.remote_size;
    int32_t *granks = malloc(sizeof *granks * (size_t)size);
    MPIR_Group *group = NULL;
    if (!granks)
        MPIR_Accord_no_memory();
    for (int32_t i = from; i < from + size; i++)
        if (!(s->lost[i / 64] & 1ull << i % 64))
            granks[n++] = MPIR_Accord_grank(s->comm, i);
    if (n == 0)
        free(granks);
    else if (MPIR_Group_adopt(n, granks, &group))
        MPIR_Accord_no_memory();
    return group;
}

static struct party shrink_party(struct shrink *s, MPIR_Group *local, MPIR_Group *remote)
{
    struct party p = { .comm = s->comm->local ? s->comm->local : s->comm,
                       .group = local,
                       .which = MPID_CONTEXT_FAIL,
                       .tag = MPIR_Accord_tag(shrink_number(s)),
                       .alone = !remote };
    if (remote && local->rank == 0) {
        p.peer = s->comm;
        p.peer_which = MPID_CONTEXT_FAIL;
        p.peer_tag = p.tag;
        p.peer_rank = MPIR_Group_rank_of(s->comm->remote_group, MPIR_Group_grank(remote, 0));
    }
    return p;
}

/* Keep who is lost, as what later agreements of this call leave out. */
static void shrink_lost(struct shrink *s)
{
    size_t bits = (size_t)MPIR_Accord_bits(s->comm);
    if (!s->lost && !(s->lost = malloc(sizeof *s->lost * bits)))
        MPIR_Accord_no_memory();
    memcpy(s->lost, MPIR_Accord_lost(s->accord), sizeof *s->lost * bits);
    MPIR_Accord_done(s->accord);
    s->accord = NULL;
}

static void shrink_made(struct shrink *s, int err)
{
    if (!err)
        err = MPIR_Comm_start(s->comm, s->made, s->vote.context);
    if (err) { /* what it is at the end, if it is no failure of a member */
        s->err = err;
        s->words = *ku_err_last();
    }
    s->stage = SHRINK_HAS;
    shrink_agree(s,
                 &(uint64_t){ err == 0                                         ? 0
                              : MPID_Survives() && err == MPID_ERR_PROC_FAILED ? 1
                                                                               : 2 },
                 1, 0);
}

/* False: there is nobody for one of the two groups. */
static bool shrink_make(struct shrink *s)
{
    bool taken = MPIR_Context_is_taken(&s->vote, MPIR_Accord_words(s->accord));
    shrink_lost(s);
    MPIR_Group *local = shrink_group(s, true), *remote = s->comm->local ? shrink_group(s, false) : NULL;
    if (s->comm->local && !remote) {
        MPIR_Group_release(local);
        s->err = MPIR_Err(MPID_ERR_PROC_FAILED, NULL, "no process of the remote group lives");
        return false;
    }
    struct context_ask ask = { .ids = remote ? 2 : 1,
                               .err = MPIR_Comm_regroup(s->comm, s->made, local, remote) };
    struct party p = shrink_party(s, local, remote);
    s->local = local; /* p's */
    s->stage = SHRINK_MAKES;
    if (taken)
        shrink_made(s, ask.err);
    else
        MPIR_Context_begin(&s->vote, &p, &ask);
    if (remote)
        MPIR_Group_release(remote);
    return true;
}

/* All have it, or cannot: true.  Else it begins again, as one more member has failed. */
static bool shrink_has(struct shrink *s, int *err)
{
    uint64_t word = MPIR_Accord_words(s->accord)[0];
    MPIR_Group_release(s->local);
    shrink_lost(s);
    if (word == 0)
        return true;
    if (word & 2) {
        if (s->err)
            *ku_err_last() = s->words;
        *err = s->err ? s->err
                      : MPIR_Err(MPI_ERR_OTHER, NULL, "another member could not make the new communicator");
        return true;
    }
    shrink_find_lost(s);
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
            if (!shrink_make(s)) {
                *err = s->err;
                return true;
            }
            break;
        case SHRINK_MAKES:
            if (!MPIR_Context_step(&s->vote))
                return false;
            shrink_made(s, s->vote.err);
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

static void shrink_discard(struct shrink *s)
{
    MPID_CommFree(&s->made->adi);
    MPIR_Comm_discard(s->made);
    s->made = NULL;
}

int MPIR_Comm_shrink(MPIR_Comm *comm, MPIR_Comm **newcomm)
{
    struct shrink s;
    int err;
    shrink_begin(&s, comm);
    while (!shrink_step(&s, &err))
        MPID_DeviceCheck(MPID_BLOCKING);
    survive_base(comm, s.lost);
    free(s.lost);
    if (err) {
        struct ku_err words = *ku_err_last();
        shrink_discard(&s);
        *ku_err_last() = words;
    }
    *newcomm = s.made;
    return err;
}

/* ---- Both without waiting ---- */

struct survive_op {
    struct MPIR_Closure closure;
    struct MPIR_Driven driven;
    MPIR_Comm *comm; /* a reference */
    MPIR_Request *request;
    bool (*step)(struct survive_op *o, int *err); /* true: over, with *err (recorded) */
    struct ku_err words;
    struct accord *accord; /* agree */
    int *flag;             /* the program's */
    struct shrink shrink;  /* made: until it is the program's */
};

static void survive_poll(MPIR_Request *r)
{
    (void)r; /* whoever polls has looked at the devices before, which advances it */
}

static void survive_free(MPIR_Request *r)
{
    struct survive_op *o = r->aux;
    if (o->shrink.made) { /* failed: only now, as its handle is the program's until then */
        MPIR_Comm_reveal(o->shrink.made);
        shrink_discard(&o->shrink);
    }
    free(o->shrink.lost);
    MPIR_Comm_release(o->comm);
    free(o);
}

static void survive_explain(const MPIR_Request *r)
{
    *ku_err_last() = ((const struct survive_op *)r->aux)->words;
}

static const struct MPIR_Request_ops survive_ops = { .poll = survive_poll,
                                                     .free = survive_free,
                                                     .explain = survive_explain,
                                                     .may_go = MPIR_Request_of_collective_may_go };

static enum MPIR_DRIVE survive_advance(struct MPIR_Driven *d)
{
    struct survive_op *o = (struct survive_op *)((char *)d - offsetof(struct survive_op, driven));
    MPIR_Request *r = o->request;
    int err;
    if (!o->step(o, &err))
        return MPIR_DRIVE_WAITS;
    if (err) {
        o->words = *ku_err_last();
        MPID_Request_errors++;
    }
    MPIR_Status_empty(&r->s);
    r->errval = err;
    atomic_store_explicit(&r->is_complete, 1, memory_order_release);
    return MPIR_DRIVE_DONE;
}

static struct survive_op *survive_op(MPIR_Comm *comm, bool (*step)(struct survive_op *o, int *err))
{
    struct survive_op *o = calloc(1, sizeof *o);
    MPIR_Request *r = o ? MPIR_Request_alloc(comm) : NULL;
    if (!r)
        MPIR_Accord_no_memory();
    o->closure.ops = &survive_ops;
    o->driven.advance = survive_advance;
    o->comm = comm;
    o->request = r;
    o->step = step;
    MPIR_Object_ref(comm);
    r->handle_type = MPIR_SCHED;
    r->aux = o;
    return o;
}

static void survive_go(struct survive_op *o, MPIR_Request **request)
{
    *request = o->request;
    if (survive_advance(&o->driven) != MPIR_DRIVE_DONE)
        MPIR_Drive(&o->driven);
}

static bool iagree_step(struct survive_op *o, int *err)
{
    if (!MPIR_Accord_step(o->accord))
        return false;
    *err = agree_end(o->comm, o->accord, o->flag);
    return true;
}

int MPIR_Comm_iagree(MPIR_Comm *comm, int *flag, MPIR_Request **request)
{
    struct survive_op *o = survive_op(comm, iagree_step);
    o->accord = agree_begin(comm, *flag);
    o->flag = flag;
    survive_go(o, request);
    return 0;
}

static bool ishrink_step(struct survive_op *o, int *err)
{
    if (!shrink_step(&o->shrink, err))
        return false;
    if (!*err) {
        MPIR_Comm_reveal(o->shrink.made);
        o->shrink.made = NULL; /* the program's */
    }
    return true;
}

int MPIR_Comm_ishrink(MPIR_Comm *comm, MPIR_Comm **newcomm, MPIR_Request **request)
{
    struct survive_op *o = survive_op(comm, ishrink_step);
    shrink_begin(&o->shrink, comm);
    MPIR_Comm_hide(o->shrink.made);
    *newcomm = o->shrink.made;
    survive_go(o, request);
    return 0;
}
