/* SPDX-License-Identifier: BSD-3-Clause */
/* accord.c: agreement of members that may fail meanwhile: a leader collects, proposes, and commits.
 *
 * The leader is the first member that lives, in the order of ranks; who finds it lost goes on to the next one.
 *   member   says its words to the leader (UP: what it has accepted, or else its own); accepts what the leader
 *            proposes (DOWN), says so (UP), and has the result when the leader commits (DOWN)
 *   leader   hears all that live; if one has the result, commits that; if some have accepted a proposal, proposes the
 *            one of the latest leader; else the sum of all, and who was lost; commits when all that live have accepted
 *
 * Invariants
 *   1. A result is committed only when all members that live have accepted it, so whoever leads later proposes
 *      nothing else: all who ever get a result get the same, also those that die with it.
 *   2. Who has the result and finds its leader lost says it to the next one, or, being that, commits it.  So it is
 *      kept after the call, until a later agreement of the communicator shows that all have it.
 *   3. A message to or from a process that is lost ends with an error, and no process that lives is ever taken for
 *      lost.
 * Each member sends one UP to each leader at least, and two if the leader proposes; nothing waits for more. */
#include "accord.h"
#include "agree.h"
#include "drive.h"
#include "mpi_err.h"
#include "p2p.h"
#include "request.h"
#include <stdlib.h>
#include <string.h>

enum { ACCORD_UP = 0, ACCORD_DOWN = 1, ACCORD_TAG_BITS = 28, ACCORD_KEPT = 64 };
enum accord_kind { ACCORD_OWN = 1, ACCORD_ACCEPTED, ACCORD_RESULT, ACCORD_PROPOSED };
enum accord_stage {
    ACCORD_SAYS,
    ACCORD_HEARS,
    ACCORD_COLLECTS,
    ACCORD_PROPOSES,
    ACCORD_COMMITS,
    ACCORD_OVER
};

/* A message: kind, the leader whose proposal it is, and the words. */
enum { ACCORD_KIND = 0, ACCORD_LEADER, ACCORD_HEAD };

struct accord_letter {
    MPIR_Request request;
    bool used;
    uint64_t *text;
};

struct accord {
    struct MPIR_Driven driven;
    MPIR_Comm *comm;     /* a reference */
    int tag, words, all; /* all: words of a message */
    int32_t n, me, leader;
    enum accord_stage stage;
    bool has_result, is_kept, driving;
    uint64_t *mine;             /* what this member says: head and words */
    struct accord_letter up[2]; /* to the leader: the first word, and that it accepts */
    struct accord_letter down;  /* from the leader */
    struct accord_letter *of;   /* [n], as leader: from, or to each member */
    struct accord_letter *to;   /* [n] */
    uint64_t *said;             /* as leader: what goes to all */
    uint64_t *memory;
    struct accord *next; /* of those that are over, the latest first */
};

static struct accord *ended; /* those that are kept, and those that are about to go */

int MPIR_Accord_tag(MPIR_Comm *comm)
{
    return (int)((comm->fail_seq++ & ((1u << ACCORD_TAG_BITS) - 1)) << 1);
}

/* ---- Messages ---- */

/* One that cannot begin counts as one that has failed. */
static void accord_failed(struct accord_letter *l, int err)
{
    l->request.errval = err;
    atomic_store_explicit(&l->request.is_complete, 1, memory_order_release);
}

static void accord_hear(struct accord *a, struct accord_letter *l, int32_t from, int way)
{
    l->used = true;
    int err = MPIR_P2p_irecv(l->text, a->all, MPIR_Datatype_predefined(KEEL_MPI_UINT64_T), from, a->tag | way,
                             a->comm, MPID_CONTEXT_FAIL, agree_fresh(&l->request));
    if (err)
        accord_failed(l, err);
}

static void accord_say(struct accord *a, struct accord_letter *l, const uint64_t *text, int32_t to, int way)
{
    l->used = true;
    int err = MPIR_Agree_tell(a->comm, MPID_CONTEXT_FAIL, to, a->tag | way, text, a->all, &l->request);
    if (err)
        accord_failed(l, err);
}

static bool accord_is_over(const struct accord_letter *l)
{
    return !l->used || atomic_load_explicit(&l->request.is_complete, memory_order_acquire);
}

static bool accord_all_over(const struct accord *a, const struct accord_letter *l)
{
    for (int32_t i = 0; i < a->n; i++)
        if (!accord_is_over(&l[i]))
            return false;
    return true;
}

static bool accord_lost(const struct accord *a, int32_t rank)
{
    int err;
    return MPID_Lost(MPIR_Comm_grank(a->comm, rank), &err);
}

/* ---- A member ---- */

static void accord_propose_none(struct accord *a)
{
    for (int32_t i = 0; i < a->n; i++)
        a->of[i].used = a->to[i].used = false;
}

/* To the first member that lives, from the present leader on. */
static void accord_follow(struct accord *a)
{
    while (a->leader != a->me && accord_lost(a, a->leader))
        a->leader++;
    if (a->leader == a->me) {
        accord_propose_none(a);
        a->stage = ACCORD_COLLECTS;
        for (int32_t i = 0; i < a->n; i++)
            if (i != a->me)
                accord_hear(a, &a->of[i], i, ACCORD_UP);
        return;
    }
    a->stage = ACCORD_HEARS;
    accord_hear(a, &a->down, a->leader, ACCORD_DOWN);
    accord_say(a, &a->up[0], a->mine, a->leader, ACCORD_UP);
}

static void accord_accept(struct accord *a)
{
    memcpy(a->mine, a->down.text, sizeof *a->mine * (size_t)a->all);
    a->mine[ACCORD_KIND] = ACCORD_ACCEPTED;
    a->mine[ACCORD_LEADER] = (uint64_t)a->leader;
}

/* The leader has said something, or is lost. */
static void accord_heard(struct accord *a)
{
    if (a->down.request.errval) {
        a->leader++;
        a->stage = ACCORD_SAYS;
    } else if (a->down.text[ACCORD_KIND] == ACCORD_PROPOSED) {
        accord_accept(a);
        accord_hear(a, &a->down, a->leader, ACCORD_DOWN);
        accord_say(a, &a->up[1], a->mine, a->leader, ACCORD_UP);
    } else {
        accord_accept(a);
        a->mine[ACCORD_KIND] = ACCORD_RESULT;
        a->has_result = true;
        a->stage = ACCORD_OVER;
    }
}

/* ---- The leader ---- */

static void accord_tell_all(struct accord *a, enum accord_kind kind)
{
    memcpy(a->said, a->mine, sizeof *a->said * (size_t)a->all);
    a->said[ACCORD_KIND] = kind;
    a->said[ACCORD_LEADER] = (uint64_t)a->me;
    for (int32_t i = 0; i < a->n; i++)
        if (i != a->me && !accord_lost(a, i))
            accord_say(a, &a->to[i], a->said, i, ACCORD_DOWN);
        else
            a->to[i].used = false;
}

static void accord_commit(struct accord *a)
{
    a->mine[ACCORD_KIND] = ACCORD_RESULT;
    a->has_result = true;
    a->stage = ACCORD_COMMITS;
    accord_tell_all(a, ACCORD_RESULT);
}

static void accord_propose(struct accord *a)
{
    a->mine[ACCORD_KIND] = ACCORD_ACCEPTED;
    a->mine[ACCORD_LEADER] = (uint64_t)a->me;
    a->stage = ACCORD_PROPOSES;
    accord_tell_all(a, ACCORD_PROPOSED);
    for (int32_t i = 0; i < a->n; i++)
        if (a->to[i].used)
            accord_hear(a, &a->of[i], i, ACCORD_UP);
        else
            a->of[i].used = false;
}

/* What a member says counts for more than what this one has so far: a result, the proposal of a later leader. */
static bool accord_exceeds(const uint64_t *text, const uint64_t *than)
{
    return text[ACCORD_KIND] != than[ACCORD_KIND]
               ? text[ACCORD_KIND] > than[ACCORD_KIND]
               : text[ACCORD_KIND] == ACCORD_ACCEPTED && text[ACCORD_LEADER] > than[ACCORD_LEADER];
}

static void accord_collected(struct accord *a)
{
    bool own = a->mine[ACCORD_KIND] == ACCORD_OWN;
    for (int32_t i = 0; i < a->n && own; i++)
        own = !a->of[i].used || a->of[i].request.errval || a->of[i].text[ACCORD_KIND] == ACCORD_OWN;
    for (int32_t i = 0; i < a->n; i++) {
        if (i == a->me)
            continue;
        if (a->of[i].request.errval) {
            if (own)
                a->mine[ACCORD_HEAD + a->words + i / 64] |= 1ull << i % 64;
        } else if (own) {
            for (int w = ACCORD_HEAD; w < a->all; w++)
                a->mine[w] |= a->of[i].text[w];
        } else if (accord_exceeds(a->of[i].text, a->mine)) {
            memcpy(a->mine, a->of[i].text, sizeof *a->mine * (size_t)a->all);
        }
    }
    if (a->mine[ACCORD_KIND] == ACCORD_RESULT)
        accord_commit(a);
    else
        accord_propose(a);
}

/* ---- All ---- */

static bool accord_move(struct accord *a)
{
    switch (a->stage) {
    case ACCORD_SAYS:
        if (!accord_is_over(&a->up[0]) || !accord_is_over(&a->up[1]))
            return false;
        accord_follow(a);
        return true;
    case ACCORD_HEARS:
        if (!accord_is_over(&a->down) || !accord_is_over(&a->up[0]))
            return false;
        accord_heard(a);
        return true;
    case ACCORD_COLLECTS:
        if (!accord_all_over(a, a->of))
            return false;
        accord_collected(a);
        return true;
    case ACCORD_PROPOSES:
        if (!accord_all_over(a, a->of) || !accord_all_over(a, a->to))
            return false;
        accord_commit(a);
        return true;
    case ACCORD_COMMITS:
        if (!accord_all_over(a, a->to))
            return false;
        a->stage = ACCORD_OVER;
        return true;
    case ACCORD_OVER:
        break;
    }
    return false;
}

bool MPIR_Accord_step(struct accord *a)
{
    while (accord_move(a))
        ;
    return a->stage == ACCORD_OVER;
}

/* ---- Those that are kept (invariant 2) ---- */

static void accord_free(struct accord *a)
{
    MPIR_Comm_release(a->comm);
    free(a->of);
    free(a->to);
    free(a->memory);
    free(a);
}

static bool accord_quiet(const struct accord *a)
{
    return accord_is_over(&a->up[0]) && accord_is_over(&a->up[1]) && accord_all_over(a, a->to);
}

static enum MPIR_DRIVE accord_serve(struct MPIR_Driven *d)
{
    struct accord *a = (struct accord *)((char *)d - offsetof(struct accord, driven));
    if (!accord_quiet(a))
        return MPIR_DRIVE_WAITS;
    if (a->leader != a->me && accord_lost(a, a->leader)) {
        while (a->leader != a->me && accord_lost(a, a->leader))
            a->leader++;
        if (a->leader == a->me)
            accord_tell_all(a, ACCORD_RESULT);
        else
            accord_say(a, &a->up[0], a->mine, a->leader, ACCORD_UP);
        return MPIR_DRIVE_MOVED;
    }
    a->driving = false;
    if (a->is_kept)
        return MPIR_DRIVE_SLEEPS;
    struct accord **at = &ended;
    while (*at != a)
        at = &(*at)->next;
    *at = a->next;
    accord_free(a);
    return MPIR_DRIVE_DONE;
}

static void accord_wake(struct accord *a)
{
    if (a->driving)
        return;
    a->driving = true;
    MPIR_Drive(&a->driven);
}

/* It goes when what it has said has left. */
static void accord_drop(struct accord *a)
{
    a->is_kept = false;
    accord_wake(a);
}

void MPIR_Accord_done(struct accord *a)
{
    int n = 0;
    a->is_kept = true;
    a->next = ended;
    ended = a;
    for (struct accord *o = a->next; o;
         o = o->next) /* who has been in this one has the result of earlier ones */
        if (o->is_kept && (o->comm == a->comm || ++n >= ACCORD_KEPT))
            accord_drop(o);
    accord_wake(a);
}

void MPIR_Accord_lose(void)
{
    for (struct accord *a = ended; a; a = a->next)
        accord_wake(a);
}

/* What still waits for its messages is the device's. */
void MPIR_Accord_end(void)
{
    for (struct accord *a = ended, *next; a; a = next) {
        next = a->next;
        if (accord_quiet(a))
            accord_free(a);
    }
    ended = NULL;
}

/* ---- The beginning ---- */

void MPIR_Accord_no_memory(void)
{
    MPID_Abort(NULL, MPI_ERR_NO_MEM, NULL, "no memory for an agreement that others wait for");
}

struct accord *MPIR_Accord_begin(MPIR_Comm *comm, int tag, const uint64_t *mine, int words)
{
    struct accord *a = calloc(1, sizeof *a);
    size_t n = (size_t)comm->adi.size, all = (size_t)(ACCORD_HEAD + words + MPIR_Accord_bits(comm));
    if (a) {
        a->of = calloc(n, sizeof *a->of);
        a->to = calloc(n, sizeof *a->to);
        a->memory = calloc((n + 3) * all, sizeof *a->memory);
    }
    if (!a || !a->of || !a->to || !a->memory)
        MPIR_Accord_no_memory();
    MPIR_Object_ref(comm);
    a->driven.advance = accord_serve;
    a->comm = comm;
    a->tag = tag;
    a->words = words;
    a->all = (int)all;
    a->n = comm->adi.size;
    a->me = comm->adi.rank;
    a->mine = a->memory + n * all;
    a->said = a->mine + all;
    a->down.text = a->said + all;
    for (size_t i = 0; i < n; i++)
        a->of[i].text = a->memory + i * all;
    a->mine[ACCORD_KIND] = ACCORD_OWN;
    memcpy(a->mine + ACCORD_HEAD, mine, sizeof *mine * (size_t)words);
    for (int32_t i = 0; i < a->n; i++)
        if (i != a->me && accord_lost(a, i))
            a->mine[ACCORD_HEAD + words + i / 64] |= 1ull << i % 64;
    return a;
}

const uint64_t *MPIR_Accord_words(const struct accord *a)
{
    return a->mine + ACCORD_HEAD;
}

const uint64_t *MPIR_Accord_lost(const struct accord *a)
{
    return a->mine + ACCORD_HEAD + a->words;
}
