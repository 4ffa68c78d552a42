/* context.c: the context id of a new communicator, which is new to all of its processes.
 *
 * In a round each process proposes an id, and all learn the largest and the smallest.  If they are equal, all have proposed
 * the same one, each for this vote alone: that is the result.  Else there is another round, in which a process proposes the
 * largest if it is free here, and a free one further up if not.
 *
 * Invariants
 *   1. What a process has proposed in a vote it proposes in no other: no id is used twice, however many votes it takes part
 *      in at a time and in whatever order they end.
 *   2. With one vote at a time there are at most two rounds, and one where all have made as many communicators.
 *   3. Votes that go on side by side may take ids away from each other.  After the second round each tries further up by a
 *      distance of its own, which takes it to where nobody else looks: the ids that it leaves out stay free. */
#include "agree.h"
#include "err.h"
#include "make.h"

enum { WORD_MOST = AGREE_FIRST, WORD_LEAST, WORDS, MAX_BITS = 10 /* of the distance */ };

/* Ids are counted in steps of MPID_CONTEXT_IDS.  All from `next` on are free; of the WINDOW ones before it those whose bit is
 * 0; earlier ones are not. */
enum { WINDOW = 4 << MAX_BITS, STEP_FIRST = CONTEXT_FIRST / MPID_CONTEXT_IDS };
static const uint32_t step_end = MPID_MAX_CONTEXT_ID / MPID_CONTEXT_IDS - 2;
static uint32_t next = STEP_FIRST;
static uint8_t taken[WINDOW];

void MPIR_Context_reset(void)
{
    next = STEP_FIRST;
}

static bool is_free(uint32_t step)
{
    return step >= next || (step >= STEP_FIRST && next - step <= WINDOW && !taken[step % WINDOW]);
}

static void take(uint32_t step)
{
    if (step >= next) {
        uint32_t from = step - next < WINDOW ? next : step - WINDOW + 1;
        for (uint32_t i = from; i <= step; i++)
            taken[i % WINDOW] = 0;
        next = step + 1;
    }
    taken[step % WINDOW] = 1;
}

static void fail(struct context_vote *v, int err)
{
    v->err = err;
    v->words_of_err = *ku_err_last();
}

/* Propose an id, which is free here. */
static void propose(struct context_vote *v, uint32_t step)
{
    if (step >= step_end) {
        fail(v, MPIR_Err(MPI_ERR_OTHER, NULL,
                         "all %u context ids have been used: no more communicators can be made", step_end));
        return;
    }
    take(step);
    v->mine = step;
}

static void start_round(struct context_vote *v, MPIR_Comm *comm, MPIR_Group *group, int which, int tag)
{
    v->round++;
    v->agree.value[AGREE_ERROR] = (uint32_t)v->err;
    v->agree.value[WORD_MOST] = v->mine;
    v->agree.value[WORD_LEAST] = ~v->mine;
    MPIR_Agree_begin(&v->agree, comm, group, which, tag, WORDS);
}

void MPIR_Context_begin(struct context_vote *v, MPIR_Comm *comm, MPIR_Group *group, int which, int tag,
                        int err)
{
    v->round = v->err = 0;
    v->mine = STEP_FIRST;
    if (err)
        fail(v, err);
    else
        propose(v, next);
    start_round(v, comm, group, which, tag);
}

/* How far up to try: a number that the processes of one vote have in common. */
static uint32_t distance(const struct context_vote *v)
{
    int bits = 2 * (v->round - 1) < MAX_BITS ? 2 * (v->round - 1) : MAX_BITS;
    uint32_t h = (uint32_t)v->agree.tag * 0x85ebca6bu ^ v->agree.comm->adi.context_id * 0xc2b2ae35u;
    h = (h ^ h >> 15) * 0x2c1b3c6du + (uint32_t)v->round * 0x9e3779b1u;
    h = (h ^ h >> 13) * 0x297a2d39u;
    return bits > 0 ? h >> (32 - bits) : 0;
}

/* The round ended without an error.  True: with a result. */
static bool decide(struct context_vote *v)
{
    uint32_t most = v->agree.value[WORD_MOST], least = ~v->agree.value[WORD_LEAST];
    v->context = most * MPID_CONTEXT_IDS;
    if (most == least)
        return true;
    if (v->mine != most)
        propose(v, is_free(most) ? most : next + distance(v));
    start_round(v, v->agree.comm, v->agree.group, v->agree.which, v->agree.tag);
    return false;
}

bool MPIR_Context_step(struct context_vote *v)
{
    while (MPIR_Agree_step(&v->agree)) {
        if (v->err) { /* its own comes first */
            *ku_err_last() = v->words_of_err;
            return true;
        }
        v->err = MPIR_Agree_result(&v->agree);
        if (v->err || decide(v))
            return true;
    }
    return false;
}
