/* SPDX-License-Identifier: BSD-3-Clause */
/* agree.h: what those who make a communicator agree on, step by step, so that it can be done without blocking. */
#ifndef COMM_AGREE_H
#define COMM_AGREE_H

#include <stdbool.h>
#include "comm.h"
#include "request.h"
#include "util/err.h"

/* Who agrees: some ranks of comm; or, where they are one of two sides, those of the other side as well.  The sides talk
 * to each other through their roots. */
struct party {
    MPIR_Comm *comm;
    MPIR_Group *group; /* of comm's members; NULL: all */
    int which, tag;    /* of the messages in comm */
    int32_t root;      /* a rank in group, or in comm */
    MPIR_Comm *peer;   /* at the root of a side, where it reaches the other root; else NULL */
    int peer_which, peer_tag, peer_rank;
    bool introduced; /* all of both sides know each other */
    bool alone;      /* it is all there is: a rank in comm says who is meant */
};

/* All of comm, on an intercommunicator both sides, with messages in its context `which`. */
struct party MPIR_Agree_party(MPIR_Comm *comm, int which, int tag);

/* ---- The maximum of some numbers (agree.c) ------------------------------------------------------------------- */

enum {
    AGREE_RADIX = 16, /* few levels: when ranks share cores, each level costs a turn of the scheduler */
    AGREE_WORDS = MPIR_AGREE_WORDS + 1,
    AGREE_ERROR = 0, /* value[0]: agree_error() of the largest error class that somebody met */
    AGREE_FIRST = 1  /* where the caller's numbers begin */
};

/* Of this process's error class, or 0; the lower half says whose it is, if that can be said. */
static inline uint64_t agree_error(const struct party *p, int err)
{
    return err == 0 ? 0 : (uint64_t)err << 32 | (p->alone ? (uint32_t)p->comm->adi.rank + 1 : 0);
}

struct agree_peer {
    MPIR_Request request;
    uint64_t value[AGREE_WORDS];
};

struct agree {
    struct party party;
    int words, stage;
    int children, over; /* of this process in the tree; how many of them have answered or been told */
    int32_t me, n;      /* places in the tree: this process's, and how many there are; the root's is 0 */
    int err;            /* what this process could not hear or say */
    bool refused;       /* since somebody takes no part (MPIR_Refused): it ends here, and so it does in all */
    struct ku_err words_of_err;
    uint64_t value[AGREE_WORDS], sent[AGREE_WORDS];
    MPIR_Request up;
    struct agree_peer parent, child[AGREE_RADIX];
};

/* A request that lies in a struct, before it begins. */
static inline MPIR_Request *agree_fresh(MPIR_Request *r)
{
    r->obj = (struct keel_object){ .index = KEEL_NO_INDEX, .gen = 1, .refs = 1 };
    return r;
}
/* Begin to send words to a rank of comm, in its context `which`.  Who is not told waits for ever, so where memory is
 * lacking it is tried again.  Returns an error class. */
int MPIR_Agree_tell(MPIR_Comm *comm, int which, int rank, int tag, const uint64_t *value, int words,
                    MPIR_Request *r);

/* Start with a->value[0 .. words - 1], which the caller has set. */
void MPIR_Agree_begin(struct agree *a, const struct party *p, int words);
/* Go on as far as possible; never blocks.  True: over, a->value is what all have, or a->err says why not. */
bool MPIR_Agree_step(struct agree *a);
/* The error class of the whole: a->err, or another process's (recorded with words); 0. */
int MPIR_Agree_result(const struct agree *a);

/* ---- A context id (comm_context.c) --------------------------------------------------------------------------- */

enum { CONTEXT_EXTRAS = 4 };

/* What a process brings to a vote. */
struct context_ask {
    int err;    /* what it has met (recorded): the vote then ends with an error in all of them */
    int ids;    /* how many ids: 1, or 2 for a communicator that has another one in it */
    int extras; /* of further numbers, whose maxima are found by the way */
    uint64_t extra[CONTEXT_EXTRAS];
    /* Not NULL: the extras are pairs of context_same, and those must have given the same number who have given one;
     * the argument it stands for, and the class of the error. */
    const char *same_arg;
    int same_class;
};

static inline void context_same(struct context_ask *ask, int pair, uint64_t number)
{
    ask->extra[2 * pair] = number;
    ask->extra[2 * pair + 1] = ~number;
}

struct context_vote {
    struct agree agree;
    struct context_ask ask;
    uint64_t mine; /* what this process has proposed last */
    int round, err;
    struct ku_err words_of_err;
    uint32_t context[2];            /* the result */
    uint64_t extra[CONTEXT_EXTRAS]; /* the maxima */
};

/* A first offer, for an agreement on the maximum of both words; and what that has given: true: v->context is the
 * result.  False: there must be a vote. */
void MPIR_Context_offer(struct context_vote *v, int ids, uint64_t offer[2]);
bool MPIR_Context_is_taken(struct context_vote *v, const uint64_t offer[2]);
/* Those of the party start to agree. */
void MPIR_Context_begin(struct context_vote *v, const struct party *p, const struct context_ask *ask);
/* Never blocks.  True: over, with v->err (recorded) or v->context. */
bool MPIR_Context_step(struct context_vote *v);
/* Both, waiting; returns v->err. */
int MPIR_Context_agree(struct context_vote *v, const struct party *p, const struct context_ask *ask);
/* The ids of a communicator and of the one in it, which this process and one other agree on that exchange numbers
 * by swap (0, or an error class). */
int MPIR_Context_pair(int (*swap)(void *arg, uint64_t mine, uint64_t *theirs), void *arg,
                      uint32_t context[2]);
/* How many communicators have had the id before the one that has just been agreed on; the same in all processes. */
uint32_t MPIR_Context_use(uint32_t context);
/* Before the first vote of a job. */
void MPIR_Context_reset(void);

#endif
