/* SPDX-License-Identifier: BSD-3-Clause */
/* comm_context.c: the context ids of a new communicator, which are new to all of its processes.
 *
 * Votes are about steps, which count up without end; a step stands for the MPID_CONTEXT_IDS ids of a communicator,
 * and after `lap` steps the same ids come again, but for those that are still in use here.  In a round each
 * process proposes a step (or several in a row, of which the first is spoken of), and all learn the largest and
 * the smallest.  If they are equal, all have proposed the same one, each for this vote alone: that is the result.
 * Else there is another round, in which a process proposes the largest if it is free here, and a free one further
 * up if not.
 *
 * Invariants
 *   1. What a process has proposed in a vote it proposes in no other: no step is used twice, however many votes it
 *      takes part in at a time and in whatever order they end.
 *   2. With one vote at a time there are at most two rounds, and one where all have made as many communicators,
 *      but for ids in use that some have to leave out.
 *   3. Votes that go on side by side may take steps away from each other.  After the second round each tries
 *      further up by a distance of its own, which takes it to where nobody else looks: the steps that it leaves out
 *      stay free.
 *   4. A lap is longer than the window, so of the steps that votes are about no two have the same ids. */
#include "agree.h"
#include "mpi_err.h"
#include "make.h"
#include "util/knob.h"

enum { WORD_MOST = AGREE_FIRST, WORD_LEAST, WORD_SALT, WORDS, MAX_BITS = 10 /* of the distance */ };

/* All steps from `next` on are free; of the WINDOW ones before it those whose bit is 0; earlier ones are not. */
enum { WINDOW = 4 << MAX_BITS, STEP_FIRST = CONTEXT_FIRST / MPID_CONTEXT_IDS };
#define STEPS (MPID_MAX_CONTEXT_ID / MPID_CONTEXT_IDS - STEP_FIRST - 1)
static uint32_t lap = STEPS;
static uint64_t next;
static uint8_t taken[WINDOW];

static struct ku_knob rows[] = {
    { .name = "CONTEXT_IDS",
      .type = KU_KNOB_INT,
      .unit = "",
      .min = 2 * WINDOW,
      .max = STEPS,
      .audience = KU_FOR_DEVELOPERS,
      .scope = KU_KNOB_EQUAL,
      .help = "communicators made before context ids are used again; for tests, the same in all ranks" },
};
static struct ku_knob_table knobs = { .rows = rows, .n = 1, .area = "mpi.comm" };

/* Known before MPI_Init looks for misspelt variables. */
__attribute__((constructor)) static void register_knobs(void)
{
    ku_knob_register(&knobs);
}

void MPIR_Context_reset(void)
{
    int64_t n = ku_knob_int("CONTEXT_IDS");
    lap = n ? (uint32_t)n : STEPS;
    next = 0;
}

static uint32_t id_of(uint64_t step)
{
    return (STEP_FIRST + (uint32_t)(step % lap)) * MPID_CONTEXT_IDS;
}

static bool is_free(uint64_t step, int n)
{
    for (int i = 0; i < n; i++, step++)
        if ((step < next && (next - step > WINDOW || taken[step % WINDOW])) ||
            (step >= lap && MPID_Context_in_use(id_of(step))))
            return false;
    return true;
}

static void comm_context_take(uint64_t step)
{
    if (step >= next) {
        uint64_t from = step - next < WINDOW ? next : step - WINDOW + 1;
        for (uint64_t i = from; i <= step; i++)
            taken[i % WINDOW] = 0;
        next = step + 1;
    }
    taken[step % WINDOW] = 1;
}

static void comm_context_fail(struct context_vote *v, int err)
{
    v->err = err;
    v->words_of_err = *ku_err_last();
}

/* What was agreed on lies less than a lap before `next`. */
uint32_t MPIR_Context_use(uint32_t context)
{
    uint64_t first = context / MPID_CONTEXT_IDS - STEP_FIRST;
    return next > first ? (uint32_t)((next - 1 - first) / lap) : 0;
}

/* Propose this step or the first free one after it. */
static void propose(struct context_vote *v, uint64_t step)
{
    uint64_t end = step + lap;
    while (step < end && !is_free(step, v->ask.ids))
        step++;
    if (step == end) {
        comm_context_fail(v,
                          MPIR_Err(MPI_ERR_OTHER, NULL,
                                   "all %u context ids are in use: no more communicators can be made", lap));
        return;
    }
    for (int i = 0; i < v->ask.ids; i++)
        comm_context_take(step + (uint64_t)i);
    v->mine = step;
}

/* A number by which this vote differs from others, the same in all processes of a side. */
static uint32_t salt_of(const struct party *p)
{
    return (uint32_t)p->tag * 0x85ebca6bu ^ p->comm->adi.context_id * 0xc2b2ae35u;
}

static void start_round(struct context_vote *v, const struct party *p)
{
    uint64_t *value = v->agree.value;
    v->round++;
    value[AGREE_ERROR] = agree_error(p, v->err);
    value[WORD_MOST] = v->mine;
    value[WORD_LEAST] = ~v->mine;
    value[WORD_SALT] = salt_of(p);
    for (int i = 0; i < v->ask.extras; i++)
        value[WORDS + i] = v->ask.extra[i];
    MPIR_Agree_begin(&v->agree, p, WORDS + v->ask.extras);
}

void MPIR_Context_offer(struct context_vote *v, int ids, uint64_t offer[2])
{
    v->ask = (struct context_ask){ .ids = ids };
    v->round = v->err = 0;
    propose(v, next);
    offer[0] = v->err ? UINT64_MAX : v->mine;
    offer[1] = v->err ? UINT64_MAX : ~v->mine;
}

bool MPIR_Context_is_taken(struct context_vote *v, const uint64_t offer[2])
{
    v->context[0] = id_of(offer[0]);
    v->context[1] = id_of(offer[0] + 1);
    return offer[0] == ~offer[1];
}

void MPIR_Context_begin(struct context_vote *v, const struct party *p, const struct context_ask *ask)
{
    v->ask = *ask;
    v->round = v->err = 0;
    v->mine = 0;
    if (ask->err)
        comm_context_fail(v, ask->err);
    else
        propose(v, next);
    start_round(v, p);
}

/* How far up to try: a number that the processes of one vote have in common. */
static uint32_t distance(const struct context_vote *v)
{
    int bits = 2 * (v->round - 1) < MAX_BITS ? 2 * (v->round - 1) : MAX_BITS;
    uint32_t h = (uint32_t)v->agree.value[WORD_SALT];
    h = (h ^ h >> 15) * 0x2c1b3c6du + (uint32_t)v->round * 0x9e3779b1u;
    h = (h ^ h >> 13) * 0x297a2d39u;
    return bits > 0 ? h >> (32 - bits) : 0;
}

/* Has somebody given another number than others?  All find the same answer. */
static bool differ(const struct context_vote *v)
{
    const uint64_t *x = v->extra;
    for (int i = 0; v->ask.same_arg && i < v->ask.extras; i += 2)
        if ((x[i] || x[i + 1]) && x[i] != ~x[i + 1])
            return true;
    return false;
}

/* The round ended without an error.  True: with a result. */
static bool comm_context_decide(struct context_vote *v)
{
    uint64_t most = v->agree.value[WORD_MOST], least = ~v->agree.value[WORD_LEAST];
    for (int i = 0; i < v->ask.extras; i++)
        v->extra[i] = v->agree.value[WORDS + i];
    v->context[0] = id_of(most);
    v->context[1] = id_of(most + 1);
    if (differ(v)) {
        comm_context_fail(v, MPIR_Err(v->ask.same_class, v->ask.same_arg,
                                      "is not the same in all processes that must give the same"));
        return true;
    }
    if (most == least)
        return true;
    if (v->mine != most)
        propose(v, is_free(most, v->ask.ids) ? most : next + distance(v));
    struct party p = v->agree.party;
    start_round(v, &p);
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
        if (v->err || comm_context_decide(v))
            return true;
    }
    return false;
}

int MPIR_Context_agree(struct context_vote *v, const struct party *p, const struct context_ask *ask)
{
    MPIR_Context_begin(v, p, ask);
    while (!MPIR_Context_step(v))
        MPID_DeviceCheck(MPID_BLOCKING);
    return v->err;
}

int MPIR_Context_pair(int (*swap)(void *arg, uint64_t mine, uint64_t *theirs), void *arg, uint32_t context[2])
{
    enum { STRIDE = 16 };
    struct context_vote v = { .ask = { .ids = 2 } };
    uint64_t theirs = 0;
    int err = 0;
    propose(&v, next);
    /* Who is behind proposes.  What is not free here the other may be about to leave behind: they meet further up,
     * where all is free to both. */
    while (!v.err && !(err = swap(arg, v.mine, &theirs)) && theirs != v.mine)
        if (theirs > v.mine)
            propose(&v, is_free(theirs, v.ask.ids) ? theirs
                                                   : ((theirs > next ? theirs : next) / STRIDE + 1) * STRIDE);
    context[0] = id_of(v.mine);
    context[1] = id_of(v.mine + 1);
    return v.err ? v.err : err;
}
