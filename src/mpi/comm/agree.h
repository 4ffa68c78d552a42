/* agree.h: what those who make a communicator agree on, step by step, so that it can be done without blocking. */
#ifndef COMM_AGREE_H
#define COMM_AGREE_H

#include <stdbool.h>
#include "comm.h"
#include "request.h"
#include "util/err.h"

/* ---- The maximum of some numbers (agree.c) ------------------------------------------------------------------- */

enum {
    AGREE_RADIX = 16, /* few levels: when ranks share cores, each level costs a turn of the scheduler */
    AGREE_WORDS = 24,
    AGREE_ERROR = 0, /* value[0]: the largest error class that somebody met; 0 */
    AGREE_FIRST = 1  /* where the caller's numbers begin */
};

struct agree_peer {
    MPIR_Request request;
    uint32_t value[AGREE_WORDS];
};

struct agree {
    MPIR_Comm *comm;
    MPIR_Group *group; /* who takes part: a subset of comm; NULL: all */
    int which, tag, words, stage;
    int children, over; /* of this process in the tree; how many of them have answered or been told */
    int32_t me;
    int err; /* what this process could not hear or say */
    struct ku_err words_of_err;
    uint32_t value[AGREE_WORDS], sent[AGREE_WORDS];
    MPIR_Request up;
    struct agree_peer parent, child[AGREE_RADIX];
};

/* Start with a->value[0 .. words - 1], which the caller has set. */
void MPIR_Agree_begin(struct agree *a, MPIR_Comm *comm, MPIR_Group *group, int which, int tag, int words);
/* Go on as far as possible; never blocks.  True: over, a->value is what all have, or a->err says why not. */
bool MPIR_Agree_step(struct agree *a);
/* The error class of the whole: a->err, or another process's (recorded with words); 0. */
int MPIR_Agree_result(const struct agree *a);

/* ---- A context id (context.c) -------------------------------------------------------------------------------- */

struct context_vote {
    struct agree agree;
    uint32_t mine; /* what this process has proposed last, in steps of MPID_CONTEXT_IDS */
    int round, err;
    struct ku_err words_of_err;
    uint32_t context; /* the result */
};

/* Those of comm (of group) start to agree.  err: what this process has met (recorded); the vote then ends with an error in
 * all of them. */
void MPIR_Context_begin(struct context_vote *v, MPIR_Comm *comm, MPIR_Group *group, int which, int tag,
                        int err);
/* Never blocks.  True: over, with v->err (recorded) or v->context. */
bool MPIR_Context_step(struct context_vote *v);
/* Before the first vote of a job. */
void MPIR_Context_reset(void);

#endif
