/* SPDX-License-Identifier: BSD-3-Clause */
/* accord.c: agreement of members that may fail meanwhile: the head of a tree collects, proposes, and commits.
 *
 * A wide tree, of all members but those that an earlier agreement has found to be lost (the base).
 *   up     each hears its children, and says the sum to its parent (OWN)
 *   down   the head proposes the sum; each accepts that, and passes it on (PROPOSED)
 *   up     each says that it and all below it have accepted (ACCEPTED)
 *   down   the head commits: each has the result, and passes it on (RESULT)
 * Who sees that a member of the tree is lost leaves it for good, also after the end.  Then there are heads without a
 * tree, one after the other: the first member that lives, in the order of ranks, with all others as its children.
 * They say what they have: the proposal that they have accepted last, or else their own words; and when the head asks,
 * the result.  The head commits the result if it has that, or if somebody has; else it proposes the latest that
 * somebody has accepted; else the sum of all, and who was lost.  Whoever finds it lost goes on to the next one.
 *
 * Invariants
 *   1. A result is committed only when all members that live have accepted it, and who has left a tree, or a head that
 *      is lost, accepts nothing of theirs.  So later heads propose nothing else: all who ever get a result get the
 *      same, also those that die with it.
 *   2. Each member that lives hears of each loss; so all leave the tree, and all come to the same head.
 *   3. Who has the result may be asked for it by others that have not.  So it is kept after the call, until a later
 *      agreement shows that all have it: one in which nobody took part who had not ended all before it.
 *   4. A message to or from a process that is lost ends with an error, or is cancelled, and no process that lives is
 *      ever taken for lost.  One that has ended counts as lost: it has gone on after all agreements that it was in.
 *   5. Nobody waits for messages of the tree that a member has left: they are cancelled, or so short that they leave
 *      at once.
 * tests/model/accord.pml is a model of it. */
#include "accord.h"
#include "agree.h"
#include "drive.h"
#include "make.h"
#include "mpi_err.h"
#include "p2p.h"
#include "request.h"
#include <stdlib.h>
#include <string.h>

enum {
    ACCORD_UP = 0,
    ACCORD_DOWN = 1,
    ACCORD_IN_TREE = 2,
    ACCORD_TAG_BITS = 29,
    ACCORD_KEPT = 64,
    ACCORD_RADIX =
        64, /* when ranks share cores each level costs a turn of the scheduler, and a message little */
    ACCORD_TREE_WORDS = 512 /* longer messages would be by rendezvous (invariant 5) */
};
enum accord_kind { ACCORD_OWN = 1, ACCORD_ACCEPTED, ACCORD_RESULT, ACCORD_PROPOSED, ACCORD_ASKED };
enum accord_stage {
    ACCORD_GATHERS,  /* what the children say */
    ACCORD_HEARS,    /* what the head says, through the parent */
    ACCORD_CONFIRMS, /* that the children accept */
    ACCORD_COMMITS,
    ACCORD_LEAVES,
    ACCORD_OVER
};

/* A message: kind; of what is accepted, whose proposal it was (0: the tree's; a head's rank and 1); and what is or'ed:
 * 1 of a member that had not ended all before this one, the caller's words, the lost. */
enum { ACCORD_KIND = 0, ACCORD_HEAD, ACCORD_OPEN, ACCORD_WORDS };

struct accord_letter {
    MPIR_Request request;
    bool used;
    uint64_t *text;
};

/* As head, or in the tree: a member that says what it has to this one. */
struct accord_child {
    int32_t member;
    struct accord_letter from, to;
};

/* Members are numbered by rank; of an intercommunicator those of the left side come first. */
struct accord {
    struct MPIR_Driven driven;
    MPIR_Comm *comm;     /* a reference */
    int maxima;          /* so many of the caller's words are not or'ed */
    int tag, words, all; /* all: words of a message */
    int32_t n, me;
    int32_t local, remote; /* the first member of each side; intracommunicators: 0, n */
    int32_t head;          /* -1: the tree's */
    int32_t parent;        /* a member; -1: this one is the head */
    enum accord_stage stage;
    bool is_kept, is_dropped, driving;
    unsigned losses;       /* that have been looked at */
    uint64_t *mine, *said; /* what this member says; what it has begun to say to its children */
    uint64_t *base;        /* who was lost before */
    struct accord_letter up, down;
    struct accord_child *child;
    uint64_t *child_text;
    int32_t children;
    struct accord *next; /* of those that are over, the latest first */
};

static struct accord *ended; /* those that are kept, and those that are about to go */
static unsigned losses;      /* how often a process was lost */

uint32_t MPIR_Accord_numbers(MPIR_Comm *comm, uint32_t n)
{
    uint32_t first = comm->fail_seq;
    comm->fail_seq += n;
    return first;
}

int MPIR_Accord_tag(uint32_t number)
{
    return (int)((number & ((1u << ACCORD_TAG_BITS) - 1)) << 2);
}

static uint64_t *accord_lost_bits(const struct accord *a)
{
    return a->mine + ACCORD_WORDS + a->words;
}

static bool accord_bit(const uint64_t *bits, int32_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

static void accord_set_bit(uint64_t *bits, int32_t i)
{
    bits[i / 64] |= 1ull << i % 64;
}

/* ---- Members ---- */

static MPIR_Comm *accord_place(const struct accord *a, int32_t member, int32_t *rank)
{
    int32_t size = a->comm->adi.size;
    bool here = member >= a->local && member < a->local + size;
    *rank = member - (here ? a->local : a->remote);
    return here && a->comm->local ? a->comm->local : a->comm;
}

static bool accord_is_lost(const struct accord *a, int32_t member)
{
    int err;
    return accord_bit(a->base, member) || (losses > 0 && MPID_Lost(MPIR_Accord_grank(a->comm, member), &err));
}

int32_t MPIR_Accord_members(const MPIR_Comm *comm)
{
    return comm->adi.size + (comm->local ? comm->adi.remote_size : 0);
}

int32_t MPIR_Accord_first(const MPIR_Comm *comm, bool local)
{
    bool first = !comm->local || MPIR_Intercomm_is_left(comm) == local;
    return first ? 0 : local ? comm->adi.remote_size : comm->adi.size;
}

int32_t MPIR_Accord_grank(const MPIR_Comm *comm, int32_t member)
{
    int32_t mine = member - MPIR_Accord_first(comm, true);
    if (comm->local && (mine < 0 || mine >= comm->adi.size))
        return MPIR_Comm_grank(comm, member - MPIR_Accord_first(comm, false));
    return MPIR_Comm_grank(comm->local ? comm->local : comm, mine);
}

/* ---- Messages ---- */

/* One that cannot begin counts as one that has failed. */
static void accord_failed(struct accord_letter *l, int err)
{
    l->request.errval = err;
    atomic_store_explicit(&l->request.is_complete, 1, memory_order_release);
}

static int accord_way(const struct accord *a, int way)
{
    return a->tag | way | (a->head < 0 ? ACCORD_IN_TREE : 0);
}

static void accord_hear(struct accord *a, struct accord_letter *l, int32_t from, int way)
{
    int32_t rank;
    MPIR_Comm *comm = accord_place(a, from, &rank);
    l->used = true;
    l->request.s.cancelled = 0;
    int err = MPIR_P2p_irecv(l->text, a->all, MPIR_Datatype_predefined(KEEL_MPI_UINT64_T), rank,
                             accord_way(a, way), comm, MPID_CONTEXT_FAIL, agree_fresh(&l->request));
    if (err)
        accord_failed(l, err);
}

static void accord_say(struct accord *a, struct accord_letter *l, const uint64_t *text, int32_t to, int way)
{
    int32_t rank;
    MPIR_Comm *comm = accord_place(a, to, &rank);
    l->used = true;
    int err = MPIR_Agree_tell(comm, MPID_CONTEXT_FAIL, rank, accord_way(a, way), text, a->all, &l->request);
    if (err)
        accord_failed(l, err);
}

static bool accord_is_over(const struct accord_letter *l)
{
    return !l->used || atomic_load_explicit(&l->request.is_complete, memory_order_acquire);
}

static bool accord_has_come(const struct accord_letter *l)
{
    return l->used && !l->request.errval && !l->request.s.cancelled;
}

/* Each of those is over; *failed: one with an error. */
static bool accord_all_over(const struct accord *a, bool *failed)
{
    *failed = false;
    for (int32_t i = 0; i < a->children; i++) {
        const struct accord_child *c = &a->child[i];
        if (!accord_is_over(&c->from) || !accord_is_over(&c->to))
            return false;
        *failed |= (c->from.used && c->from.request.errval) || (c->to.used && c->to.request.errval);
    }
    return true;
}

static void accord_tell_all(struct accord *a, enum accord_kind kind)
{
    memcpy(a->said, a->mine, sizeof *a->said * (size_t)a->all);
    a->said[ACCORD_KIND] = kind;
    a->said[ACCORD_HEAD] = (uint64_t)(a->head + 1);
    for (int32_t i = 0; i < a->children; i++)
        if (!accord_is_lost(a, a->child[i].member))
            accord_say(a, &a->child[i].to, a->said, a->child[i].member, ACCORD_DOWN);
        else
            a->child[i].to.used = false;
}

static void accord_hear_all(struct accord *a)
{
    for (int32_t i = 0; i < a->children; i++)
        if (!accord_is_lost(a, a->child[i].member))
            accord_hear(a, &a->child[i].from, a->child[i].member, ACCORD_UP);
        else
            a->child[i].from.used = false;
}

/* ---- Where this member stands ---- */

static void accord_drop_children(struct accord *a)
{
    free(a->child);
    free(a->child_text);
    a->child = NULL;
    a->child_text = NULL;
    a->children = 0;
}

static void accord_make_children(struct accord *a, int32_t n)
{
    accord_drop_children(a);
    if (n == 0)
        return;
    a->child = calloc((size_t)n, sizeof *a->child);
    a->child_text = malloc(sizeof *a->child_text * (size_t)n * (size_t)a->all);
    if (!a->child || !a->child_text)
        MPIR_Accord_no_memory();
    a->children = n;
    for (int32_t i = 0; i < n; i++)
        a->child[i].from.text = a->child_text + (size_t)i * (size_t)a->all;
}

static void accord_stand(struct accord *a)
{
    a->up.used = a->down.used = false;
    a->stage = ACCORD_GATHERS;
    accord_hear_all(a);
}

/* The members outside the base, in their order, are a tree in which place p is below place (p - 1) / ACCORD_RADIX. */
static void accord_climb(struct accord *a)
{
    int32_t place = 0, at = 0;
    for (int32_t i = 0; i < a->me; i++)
        place += !accord_bit(a->base, i);
    int64_t first = (int64_t)place * ACCORD_RADIX + 1, last = first + ACCORD_RADIX - 1;
    int32_t above = place > 0 ? (place - 1) / ACCORD_RADIX : -1, children = 0, of[ACCORD_RADIX];
    a->head = a->parent = -1;
    for (int32_t i = 0; i < a->n && at <= last; i++) {
        if (accord_bit(a->base, i))
            continue;
        if (at == above)
            a->parent = i;
        else if (at >= first)
            of[children++] = i;
        at++;
    }
    accord_make_children(a, children);
    for (int32_t i = 0; i < children; i++)
        a->child[i].member = of[i];
    accord_stand(a);
}

static void accord_commit(struct accord *a);

/* To the first member that lives. */
static void accord_follow(struct accord *a)
{
    int32_t head = a->head < 0 ? 0 : a->head, children = 0;
    while (head != a->me && accord_is_lost(a, head))
        head++;
    a->head = head;
    a->parent = head == a->me ? -1 : head;
    accord_make_children(a, head == a->me ? a->n - 1 : 0);
    for (int32_t i = 0; i < a->n && a->parent < 0; i++)
        if (i != a->me)
            a->child[children++].member = i;
    bool has_result = a->mine[ACCORD_KIND] == ACCORD_RESULT && a->all <= ACCORD_TREE_WORDS;
    if (!has_result) {
        accord_stand(a);
        if (a->parent < 0)
            accord_tell_all(a, ACCORD_ASKED);
    } else if (a->parent < 0) { /* what others say to it leaves at once, as in a tree */
        accord_commit(a);
    } else {
        a->up.used = false;
        a->stage = ACCORD_HEARS;
        accord_hear(a, &a->down, a->parent, ACCORD_DOWN);
    }
}

static void accord_cancel(struct accord_letter *l)
{
    if (!accord_is_over(l))
        MPID_Cancel(&l->request);
}

static void accord_leave(struct accord *a)
{
    accord_cancel(&a->down);
    for (int32_t i = 0; i < a->children; i++)
        accord_cancel(&a->child[i].from);
    a->stage = ACCORD_LEAVES;
}

/* A head without a tree waits for nobody who has ended. */
static void accord_give_up(struct accord *a)
{
    for (int32_t i = 0; i < a->children; i++)
        if (!accord_is_over(&a->child[i].from) && accord_is_lost(a, a->child[i].member))
            accord_cancel(&a->child[i].from);
}

/* Somebody is lost without whom it does not go on: a member of the tree, or the head. */
static bool accord_broken(struct accord *a)
{
    if (a->losses == losses || a->stage == ACCORD_LEAVES)
        return false;
    a->losses = losses;
    if (a->head >= 0 && a->parent < 0)
        accord_give_up(a);
    if (a->head >= 0)
        return a->parent >= 0 && accord_is_lost(a, a->parent);
    for (int32_t i = 0; i < a->n; i++)
        if (!accord_bit(a->base, i) && accord_is_lost(a, i))
            return true;
    return false;
}

/* ---- The steps ---- */

/* What a member says counts for more than what this one has so far: a result, the proposal of a later head. */
static bool accord_exceeds(const uint64_t *text, const uint64_t *than)
{
    return text[ACCORD_KIND] != than[ACCORD_KIND]
               ? text[ACCORD_KIND] > than[ACCORD_KIND]
               : text[ACCORD_KIND] == ACCORD_ACCEPTED && text[ACCORD_HEAD] > than[ACCORD_HEAD];
}

static bool accord_only_own(const struct accord *a)
{
    bool own = a->mine[ACCORD_KIND] == ACCORD_OWN;
    for (int32_t i = 0; i < a->children && own; i++) {
        const struct accord_letter *l = &a->child[i].from;
        own = !accord_has_come(l) || l->text[ACCORD_KIND] == ACCORD_OWN;
    }
    return own;
}

static void accord_merge(struct accord *a, const uint64_t *text)
{
    for (int w = ACCORD_OPEN; w < a->all; w++)
        if (w < ACCORD_WORDS || w >= ACCORD_WORDS + a->maxima)
            a->mine[w] |= text[w];
        else if (text[w] > a->mine[w])
            a->mine[w] = text[w];
}

/* The words of all children and this one. */
static void accord_sum(struct accord *a)
{
    bool own = accord_only_own(a);
    for (int32_t i = 0; i < a->children; i++) {
        const struct accord_letter *l = &a->child[i].from;
        if (!accord_has_come(l)) {
            if (own)
                accord_set_bit(accord_lost_bits(a), a->child[i].member);
        } else if (own) {
            accord_merge(a, l->text);
        } else if (accord_exceeds(l->text, a->mine)) {
            memcpy(a->mine, l->text, sizeof *a->mine * (size_t)a->all);
        }
    }
}

/* This one has nothing to wait for but the parent. */
static void accord_report(struct accord *a)
{
    memcpy(a->up.text, a->mine, sizeof *a->mine * (size_t)a->all);
    a->stage = ACCORD_HEARS;
    accord_hear(a, &a->down, a->parent, ACCORD_DOWN);
    accord_say(a, &a->up, a->up.text, a->parent, ACCORD_UP);
}

static void accord_commit(struct accord *a)
{
    a->mine[ACCORD_KIND] = ACCORD_RESULT;
    a->stage = ACCORD_COMMITS;
    accord_tell_all(a, ACCORD_RESULT);
}

static void accord_propose(struct accord *a)
{
    a->mine[ACCORD_KIND] = ACCORD_ACCEPTED;
    a->mine[ACCORD_HEAD] = (uint64_t)(a->head + 1);
    a->stage = ACCORD_CONFIRMS;
    accord_hear_all(a);
    accord_tell_all(a, ACCORD_PROPOSED);
}

static void accord_gathered(struct accord *a)
{
    uint64_t *own = a->said;
    memcpy(own, a->mine, sizeof *own * (size_t)a->all);
    accord_sum(a);
    if (a->parent >= 0) { /* it hears of the sum; what it says to a later head is its own */
        accord_report(a);
        memcpy(a->mine, own, sizeof *own * (size_t)a->all);
    } else if (a->mine[ACCORD_KIND] == ACCORD_RESULT) {
        accord_commit(a);
    } else {
        accord_propose(a);
    }
}

/* It may have said what it has before it was asked. */
static void accord_asked(struct accord *a)
{
    if (a->up.used)
        accord_hear(a, &a->down, a->parent, ACCORD_DOWN);
    else
        accord_report(a);
}

static void accord_heard(struct accord *a)
{
    memcpy(a->mine, a->down.text, sizeof *a->mine * (size_t)a->all);
    if (a->down.text[ACCORD_KIND] == ACCORD_PROPOSED)
        accord_propose(a);
    else
        accord_commit(a);
}

/* Has one of the tree failed?  Then it is left.  A head does without those that fail. */
static bool accord_left(struct accord *a, bool failed)
{
    if (failed && a->head < 0)
        accord_leave(a);
    return failed && a->head < 0;
}

static void accord_confirmed(struct accord *a)
{
    if (a->parent < 0)
        accord_commit(a);
    else
        accord_report(a);
}

static bool accord_move(struct accord *a)
{
    bool failed;
    if (accord_broken(a)) {
        accord_leave(a);
        return true;
    }
    switch (a->stage) {
    case ACCORD_GATHERS:
        if (!accord_all_over(a, &failed))
            return false;
        if (!accord_left(a, failed))
            accord_gathered(a);
        return true;
    case ACCORD_HEARS:
        if (!accord_is_over(&a->down) || !accord_is_over(&a->up))
            return false;
        if (a->down.request.errval || a->up.request.errval)
            accord_leave(a);
        else if (a->down.text[ACCORD_KIND] == ACCORD_ASKED)
            accord_asked(a);
        else
            accord_heard(a);
        return true;
    case ACCORD_CONFIRMS:
        if (!accord_all_over(a, &failed))
            return false;
        if (!accord_left(a, failed))
            accord_confirmed(a);
        return true;
    case ACCORD_COMMITS:
        if (!accord_all_over(a, &failed))
            return false;
        accord_drop_children(a);
        a->stage = ACCORD_OVER;
        return true;
    case ACCORD_LEAVES:
        if (!accord_is_over(&a->down) || !accord_is_over(&a->up) || !accord_all_over(a, &failed))
            return false;
        if (a->is_dropped)
            a->stage = ACCORD_OVER;
        else
            accord_follow(a);
        return true;
    case ACCORD_OVER:
        break;
    }
    return false;
}

bool MPIR_Accord_step(struct accord *a)
{
    while (a->stage != ACCORD_OVER && accord_move(a))
        ;
    return a->stage == ACCORD_OVER;
}

/* ---- Those that are kept (invariant 3) ---- */

static void accord_free(struct accord *a)
{
    MPIR_Comm_release(a->comm);
    accord_drop_children(a);
    free(a->mine);
    free(a);
}

static enum MPIR_DRIVE accord_serve(struct MPIR_Driven *d)
{
    struct accord *a = (struct accord *)((char *)d - offsetof(struct accord, driven));
    enum accord_stage stage = a->stage;
    if (a->is_dropped ? stage < ACCORD_LEAVES : stage == ACCORD_OVER && accord_broken(a))
        accord_leave(a);
    if (!MPIR_Accord_step(a))
        return a->stage != stage ? MPIR_DRIVE_MOVED : MPIR_DRIVE_WAITS;
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

/* Nobody needs it: it goes when its messages have left. */
static void accord_drop(struct accord *a)
{
    a->is_kept = false;
    a->is_dropped = true;
    accord_wake(a);
}

void MPIR_Accord_done(struct accord *a)
{
    int n = 0;
    a->comm->fail_open--;
    a->is_kept = true;
    a->next = ended;
    ended = a;
    for (struct accord *o = a->next; o; o = o->next)
        if (o->is_kept && ((o->comm == a->comm && !a->mine[ACCORD_OPEN]) || ++n >= ACCORD_KEPT))
            accord_drop(o);
    if (a->losses != losses)
        accord_wake(a);
}

void MPIR_Accord_lose(void)
{
    losses++;
    MPIR_Failures = true;
    for (struct accord *a = ended; a; a = a->next)
        accord_wake(a);
}

/* What still waits for its messages is the device's. */
void MPIR_Accord_end(void)
{
    for (struct accord *a = ended, *next; a; a = next) {
        next = a->next;
        if (a->stage == ACCORD_OVER)
            accord_free(a);
    }
    ended = NULL;
}

/* ---- The beginning ---- */

void MPIR_Accord_no_memory(void)
{
    MPID_Abort(NULL, MPI_ERR_NO_MEM, NULL, "no memory for an agreement that others wait for");
}

struct accord *MPIR_Accord_begin(MPIR_Comm *comm, uint32_t number, const uint64_t *base, const uint64_t *mine,
                                 int words, int maxima)
{
    struct accord *a = calloc(1, sizeof *a);
    size_t bits = (size_t)MPIR_Accord_bits(comm), all = (size_t)(ACCORD_WORDS + words) + bits;
    uint64_t *memory = calloc(4 * all + bits, sizeof *memory);
    if (!a || !memory)
        MPIR_Accord_no_memory();
    MPIR_Object_ref(comm);
    a->driven.advance = accord_serve;
    a->comm = comm;
    a->tag = MPIR_Accord_tag(number);
    a->words = words;
    a->maxima = maxima;
    a->all = (int)all;
    a->n = MPIR_Accord_members(comm);
    a->local = MPIR_Accord_first(comm, true);
    a->remote = MPIR_Accord_first(comm, false);
    a->me = a->local + comm->adi.rank;
    a->mine = memory;
    a->said = memory + all;
    a->up.text = memory + 2 * all;
    a->down.text = memory + 3 * all;
    a->base = memory + 4 * all;
    if (base)
        memcpy(a->base, base, sizeof *base * bits);
    a->mine[ACCORD_KIND] = ACCORD_OWN;
    a->mine[ACCORD_OPEN] = comm->fail_open++ > 0;
    memcpy(a->mine + ACCORD_WORDS, mine, sizeof *mine * (size_t)words);
    for (int32_t i = 0; i < a->n; i++)
        if (accord_is_lost(a, i))
            accord_set_bit(accord_lost_bits(a), i);
    if (a->all <= ACCORD_TREE_WORDS)
        accord_climb(a);
    else
        accord_follow(a);
    return a;
}

const uint64_t *MPIR_Accord_words(const struct accord *a)
{
    return a->mine + ACCORD_WORDS;
}

const uint64_t *MPIR_Accord_lost(const struct accord *a)
{
    return accord_lost_bits(a);
}
