/* SPDX-License-Identifier: BSD-3-Clause */
/* agree.c: the maximum of a few numbers over some processes: up a wide tree, and down again, without ever
 * blocking.  Where there are two sides each has its tree, and the roots tell each other what they have heard.
 *
 * A process is in one of these stages; MPIR_Agree_step takes each arrow when the messages it stands for have come
 * or gone:
 *   HEAR   -> REPORT   every child has said its maximum; the one of this subtree goes to the parent, the root's to
 *                      the other root
 *   REPORT -> SPREAD   the parent has said the maximum of all, the other root that of its side; it goes to the children
 *   SPREAD -> DONE
 * Invariants
 *   1. Whoever takes part in one stage takes part in all: a message fails when its peer is lost, and then it goes on.
 *      But if somebody has refused the call that this is part of, all who take part hear of that themselves before
 *      there is a result, and each stops where it is.
 *   2. Who could not hear somebody says so in AGREE_ERROR, up and down, so that nobody believes in a result while
 *      another has given up.  A child that can no longer be told is lost itself. */
#include "agree.h"
#include "mpi_err.h"
#include "p2p.h"
#include <stdlib.h>

enum { HEAR, REPORT, SPREAD, DONE };

/* Where a message goes, or comes from. */
struct place {
    MPIR_Comm *comm;
    int which, tag, rank;
};

static struct place place_in_tree(const struct agree *a, int64_t i)
{
    const struct party *p = &a->party;
    int32_t at = (int32_t)((i + p->root) % a->n);
    if (p->group)
        at = MPIR_Group_rank_of(p->comm->group, MPIR_Group_grank(p->group, at));
    return (struct place){ p->comm, p->which, p->tag, at };
}

static struct place above(const struct agree *a)
{
    const struct party *p = &a->party;
    if (a->me == 0)
        return (struct place){ p->peer, p->peer_which, p->peer_tag, p->peer_rank };
    return place_in_tree(a, (a->me - 1) / AGREE_RADIX);
}

static void agree_note(struct agree *a, int err)
{
    if (!err)
        return;
    if (!a->err) {
        struct ku_err words = *ku_err_last();
        int refused = MPIR_Refused(a->party.comm, a->party.which, a->party.tag);
        a->refused = refused != 0;
        a->err = refused ? refused : err;
        a->words_of_err = refused ? *ku_err_last() : words;
    }
    if (agree_error(&a->party, err) > a->value[AGREE_ERROR])
        a->value[AGREE_ERROR] = agree_error(&a->party, err);
}

/* Begin a message; a request that could not begin counts as complete. */
static void agree_hear(struct agree *a, struct place from, struct agree_peer *p)
{
    agree_note(a, MPIR_P2p_irecv(p->value, a->words, MPIR_Datatype_predefined(KEEL_MPI_UINT64_T), from.rank,
                                 from.tag, from.comm, from.which, agree_fresh(&p->request)));
}

int MPIR_Agree_tell(MPIR_Comm *comm, int which, int rank, int tag, const uint64_t *value, int words,
                    MPIR_Request *r)
{
    enum { TRIES = 10 };
    int err = MPI_ERR_NO_MEM;
    for (int i = 0; i < TRIES && err == MPI_ERR_NO_MEM; i++)
        err = MPIR_P2p_isend(value, words, MPIR_Datatype_predefined(KEEL_MPI_UINT64_T), rank, tag, comm,
                             which, agree_fresh(r));
    return err;
}

static int agree_tell(struct agree *a, struct place to, const uint64_t *value, MPIR_Request *r)
{
    return MPIR_Agree_tell(to.comm, to.which, to.rank, to.tag, value, a->words, r);
}

static bool is_over(struct agree *a, MPIR_Request *r)
{
    if (!MPIR_Request_is_complete(r))
        return false;
    if (r->errval && a->stage != SPREAD)
        agree_note(a, MPID_Wait(r, NULL)); /* records the words */
    return true;
}

/* The children are waited for in their order: each is looked at until it is over, and never again. */
static bool children_over(struct agree *a)
{
    while (a->over < a->children && is_over(a, &a->child[a->over].request))
        a->over++;
    return a->over == a->children;
}

void MPIR_Agree_begin(struct agree *a, const struct party *p, int words)
{
    int32_t n = p->group ? p->group->size : p->comm->adi.size;
    int32_t rank = p->group ? p->group->rank : p->comm->adi.rank;
    a->party = *p;
    a->words = words;
    a->stage = HEAR;
    a->err = 0;
    a->refused = false;
    a->over = 0;
    a->n = n;
    a->me = rank >= p->root ? rank - p->root : rank - p->root + n;
    int64_t first = (int64_t)a->me * AGREE_RADIX + 1, end = first + AGREE_RADIX < n ? first + AGREE_RADIX : n;
    a->children = end > first ? (int)(end - first) : 0;
    for (int i = 0; i < a->children; i++)
        agree_hear(a, place_in_tree(a, first + i), &a->child[i]);
}

static void merge(struct agree *a, const struct agree_peer *p)
{
    for (int w = 0; w < a->words; w++)
        if (!p->request.errval && p->value[w] > a->value[w])
            a->value[w] = p->value[w];
}

/* Has nobody above it. */
static bool is_top(const struct agree *a)
{
    return a->me == 0 && !a->party.peer;
}

static void report(struct agree *a)
{
    for (int i = 0; i < a->children; i++)
        merge(a, &a->child[i]);
    a->stage = REPORT;
    if (is_top(a))
        return;
    agree_hear(
        a, above(a),
        &a->parent); /* first: an error is told, also of a message that came before and could not be kept */
    (void)is_over(a, &a->parent.request);
    if (a->refused) {
        a->stage = DONE;
        return;
    }
    for (int w = 0; w < a->words; w++)
        a->sent[w] = a->value[w];
    agree_note(a, agree_tell(a, above(a), a->sent, &a->up));
}

static void agree_spread(struct agree *a)
{
    int64_t first = (int64_t)a->me * AGREE_RADIX + 1;
    if (!is_top(a))
        merge(a, &a->parent);
    if (agree_error(&a->party, a->err) > a->value[AGREE_ERROR])
        a->value[AGREE_ERROR] = agree_error(&a->party, a->err);
    a->stage = SPREAD;
    a->over = 0;
    for (int i = 0; i < a->children; i++) {
        for (int w = 0; w < a->words; w++)
            a->child[i].value[w] = a->value[w];
        agree_tell(a, place_in_tree(a, first + i), a->child[i].value, &a->child[i].request);
    }
}

static void next(struct agree *a, void (*stage)(struct agree *a))
{
    if (a->refused)
        a->stage = DONE;
    else
        stage(a);
}

bool MPIR_Agree_step(struct agree *a)
{
    if (a->stage == HEAR && children_over(a))
        next(a, report);
    if (a->stage == REPORT && (is_top(a) || (is_over(a, &a->up) && is_over(a, &a->parent.request))))
        next(a, agree_spread);
    if (a->stage == SPREAD && children_over(a))
        a->stage = DONE;
    return a->stage == DONE;
}

static int of_another(uint64_t error)
{
    int err = (int)(error >> 32), rank = (int)(uint32_t)error - 1;
    MPID_Peer_failed();
    if (rank < 0)
        return MPIR_Err(err, NULL, "another process of the communicator failed with this error");
    return MPIR_Err(err, NULL, "rank %d of the communicator failed with this error", rank);
}

int MPIR_Agree_result(const struct agree *a)
{
    if (!a->err && a->value[AGREE_ERROR])
        return of_another(a->value[AGREE_ERROR]);
    if (a->err)
        *ku_err_last() = a->words_of_err;
    return a->err;
}

struct party MPIR_Agree_party(MPIR_Comm *comm, int which, int tag)
{
    struct party p = { .comm = comm, .which = which, .tag = tag, .alone = !comm->local };
    if (p.alone)
        return p;
    p.comm = comm->local;
    if (which == MPID_CONTEXT_COLL)
        p.which = MPID_CONTEXT_PT2PT; /* its collectives have tags of their own */
    if (comm->adi.rank == 0)
        p.peer = comm;
    p.peer_which = which;
    p.peer_tag = tag;
    return p;
}

int MPIR_Agree_max(MPIR_Comm *comm, MPIR_Group *group, int which, int tag, int err, uint32_t *values,
                   int words)
{
    struct agree a;
    struct ku_err said = *ku_err_last();
    struct party p = MPIR_Agree_party(comm, which, tag);
    p.group = group;
    a.value[AGREE_ERROR] = agree_error(&p, err);
    for (int w = 0; w < words; w++)
        a.value[AGREE_FIRST + w] = values[w];
    MPIR_Agree_begin(&a, &p, AGREE_FIRST + words);
    while (!MPIR_Agree_step(&a))
        MPID_DeviceCheck(MPID_BLOCKING);
    for (int w = 0; w < words; w++)
        values[w] = (uint32_t)a.value[AGREE_FIRST + w];
    if (!err)
        return MPIR_Agree_result(&a);
    *ku_err_last() = said;
    return err;
}

struct MPIR_Agreement {
    struct agree agree;
};

struct MPIR_Agreement *MPIR_Agreement_begin(MPIR_Comm *comm, int which, int tag, const uint32_t *values,
                                            int words)
{
    struct MPIR_Agreement *a = malloc(sizeof *a);
    if (!a)
        return NULL;
    a->agree.value[AGREE_ERROR] = 0;
    for (int w = 0; w < words; w++)
        a->agree.value[AGREE_FIRST + w] = values[w];
    struct party p = MPIR_Agree_party(comm, which, tag);
    MPIR_Agree_begin(&a->agree, &p, AGREE_FIRST + words);
    return a;
}

bool MPIR_Agreement_step(struct MPIR_Agreement *a, uint32_t *values, int words, int *err)
{
    if (!MPIR_Agree_step(&a->agree))
        return false;
    for (int w = 0; w < words; w++)
        values[w] = (uint32_t)a->agree.value[AGREE_FIRST + w];
    *err = MPIR_Agree_result(&a->agree);
    free(a);
    return true;
}
