/* SPDX-License-Identifier: BSD-3-Clause */
/* choose.c: the tables of algorithms, what the members of a communicator agree on, and the choice.
 *
 * Every process computes the choice for itself from things that are the same in all: the size of the call, the number
 * of ranks, and the facts of the communicator, which are agreed on once.  KEEL_COLL forces algorithms by name. */
#include "sched.h"
#include "inter.h"
#include "meeting.h"
#include "nodes.h"
#include "tune.h"
#include "drive.h"
#include "env.h"
#include "mpid_team.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "util/knob.h"
#include "util/wait.h"

const struct coll_table MPIR_Coll_tables[COLL_TABLES] = {
    [COLL_BARRIER] = { "barrier", MPIR_Coll_barrier_algs, MPIR_Coll_barrier_is },
    [COLL_BCAST] = { "bcast", MPIR_Coll_bcast_algs, MPIR_Coll_bcast_is },
    [COLL_GATHER] = { "gather", MPIR_Coll_gather_algs, MPIR_Coll_gather_is },
    [COLL_GATHERV] = { "gatherv", MPIR_Coll_gatherv_algs, MPIR_Coll_gatherv_is },
    [COLL_SCATTER] = { "scatter", MPIR_Coll_scatter_algs, MPIR_Coll_scatter_is },
    [COLL_SCATTERV] = { "scatterv", MPIR_Coll_scatterv_algs, MPIR_Coll_scatterv_is },
    [COLL_ALLGATHER] = { "allgather", MPIR_Coll_allgather_algs, MPIR_Coll_allgather_is },
    [COLL_ALLGATHERV] = { "allgatherv", MPIR_Coll_allgatherv_algs, MPIR_Coll_allgatherv_is },
    [COLL_ALLTOALL] = { "alltoall", MPIR_Coll_alltoall_algs, MPIR_Coll_alltoall_is },
    [COLL_ALLTOALLV] = { "alltoallv", MPIR_Coll_alltoallv_algs, MPIR_Coll_alltoallv_is },
    [COLL_ALLTOALLW] = { "alltoallw", MPIR_Coll_alltoallw_algs, MPIR_Coll_alltoallv_is },
    [COLL_REDUCE] = { "reduce", MPIR_Coll_reduce_algs, MPIR_Coll_reduce_is },
    [COLL_ALLREDUCE] = { "allreduce", MPIR_Coll_allreduce_algs, MPIR_Coll_allreduce_is },
    [COLL_REDUCE_SCATTER] = { "reduce_scatter", MPIR_Coll_reduce_scatter_algs, MPIR_Coll_reduce_scatter_is },
    [COLL_SCAN] = { "scan", MPIR_Coll_scan_algs, MPIR_Coll_scan_is },
    [COLL_EXSCAN] = { "exscan", MPIR_Coll_exscan_algs, MPIR_Coll_exscan_is },
    [COLL_NEIGHBOR_ALLGATHER] = { "neighbor_allgather", MPIR_Coll_neighbor_allgather_algs,
                                  MPIR_Coll_neighbor_is },
    [COLL_NEIGHBOR_ALLTOALL] = { "neighbor_alltoall", MPIR_Coll_neighbor_alltoall_algs,
                                 MPIR_Coll_neighbor_is },
    [COLL_INTER + COLL_BARRIER] = { "inter_barrier", MPIR_Inter_barrier_algs, MPIR_Inter_barrier_is },
    [COLL_INTER + COLL_BCAST] = { "inter_bcast", MPIR_Inter_bcast_algs, MPIR_Inter_bcast_is },
    [COLL_INTER + COLL_GATHER] = { "inter_gather", MPIR_Inter_gather_algs, MPIR_Inter_gather_is },
    [COLL_INTER + COLL_GATHERV] = { "inter_gatherv", MPIR_Inter_gatherv_algs, MPIR_Inter_gather_is },
    [COLL_INTER + COLL_SCATTER] = { "inter_scatter", MPIR_Inter_scatter_algs, MPIR_Inter_scatter_is },
    [COLL_INTER + COLL_SCATTERV] = { "inter_scatterv", MPIR_Inter_scatterv_algs, MPIR_Inter_scatter_is },
    [COLL_INTER + COLL_ALLGATHER] = { "inter_allgather", MPIR_Inter_allgather_algs, MPIR_Inter_allgather_is },
    [COLL_INTER +
        COLL_ALLGATHERV] = { "inter_allgatherv", MPIR_Inter_allgatherv_algs, MPIR_Inter_allgather_is },
    [COLL_INTER + COLL_ALLTOALL] = { "inter_alltoall", MPIR_Inter_alltoall_algs, MPIR_Inter_alltoall_is },
    [COLL_INTER + COLL_ALLTOALLV] = { "inter_alltoallv", MPIR_Inter_alltoall_algs, MPIR_Inter_alltoall_is },
    [COLL_INTER + COLL_ALLTOALLW] = { "inter_alltoallw", MPIR_Inter_alltoall_algs, MPIR_Inter_alltoall_is },
    [COLL_INTER + COLL_REDUCE] = { "inter_reduce", MPIR_Inter_reduce_algs, MPIR_Inter_reduce_is },
    [COLL_INTER + COLL_ALLREDUCE] = { "inter_allreduce", MPIR_Inter_allreduce_algs, MPIR_Inter_allreduce_is },
    [COLL_INTER + COLL_REDUCE_SCATTER] = { "inter_reduce_scatter", MPIR_Inter_reduce_scatter_algs,
                                           MPIR_Inter_reduce_scatter_is },
};
_Static_assert((int)COLL_KINDS <= (int)MPIR_COLL_FORCED, "each kind has a place in the facts");

static struct ku_knob rows[] = {
    { .name = "COLL",
      .type = KU_KNOB_STR,
      .unit = "",
      .audience = KU_FOR_TUNERS,
      .scope = KU_KNOB_EQUAL,
      .help = "algorithms to use for collectives, e.g. allreduce=ring,bcast=binomial" },
};
static struct ku_knob_table knobs = { .rows = rows, .n = 1, .area = "mpi.coll" };

/* Known before MPI_Init looks for misspelt variables. */
__attribute__((constructor)) static void register_knobs(void)
{
    ku_knob_register(&knobs);
}

/* What messages cost, as devices say it (latency, bandwidth), and how collectives found it to be: a round is a
 * message that is sent and noticed, by processes that do other things besides; a device's bandwidth is that of one
 * long message.  Order of magnitude is enough: it places the crossings between algorithms, and all processes use
 * the same numbers. */
static const struct correction {
    struct MPID_Cost
        usual; /* where no device says anything, as there is nobody to reach: of ch_shmem, and of ch_tcp */
    double rounds, messages, bandwidth;
} corrections[2] = { { { 100, 30000 }, 3, 0.8, 0.27 }, { { 4500, 4500 }, 4.4, 0.9, 0.22 } };

/* What waiting costs where ranks share cores: the scheduler's doing, whatever the device. */
static const double wait_ns = 1500, turn_ns = 1000;

struct coll_rates MPIR_Coll_rates(const struct MPID_Cost cost[2], bool between_nodes)
{
    const struct correction *k = &corrections[between_nodes];
    struct MPID_Cost c = cost[between_nodes];
    if (c.latency_ns == 0 || c.bandwidth_mbs == 0)
        c = k->usual;
    return (struct coll_rates){ .round_ns = k->rounds * c.latency_ns,
                                .message_ns = k->messages * c.latency_ns,
                                .bytes_per_ns = k->bandwidth * c.bandwidth_mbs / 1000 };
}

static double own_ns(const struct coll_cost *cost, const struct coll_size *s)
{
    struct coll_rates r = MPIR_Coll_rates(s->cost, s->apart), memory = MPIR_Coll_rates(s->cost, false);
    double nodes = s->nodes ? s->nodes : 1; /* which work at the same time */
    if (s->crowded && !s->apart)
        return (cost->waits / nodes + cost->rounds) * wait_ns + cost->turns / nodes * turn_ns +
               cost->total_bytes / nodes / r.bytes_per_ns;
    /* those who share a core with a rank of a node of its own wait for it */
    return cost->rounds * (r.round_ns + (s->crowded ? wait_ns : 0)) + cost->messages * r.message_ns +
           cost->bytes / r.bytes_per_ns + cost->copied / memory.bytes_per_ns;
}

/* Of messages beyond one a round, which do not wait for each other, the network carries one while a process
 * handles the next.  It carries both ways at once; ranks that share cores copy one after the other. */
double MPIR_Coll_net_ns(const struct coll_cost *cost, const struct coll_size *s)
{
    struct coll_rates r = MPIR_Coll_rates(s->cost, true);
    double more = cost->net_messages > cost->net_rounds ? cost->net_messages - cost->net_rounds : 0;
    double ways = s->crowded && cost->both_ways ? 2 : 1;
    double handled = more * r.message_ns, carried = ways * cost->net_bytes / r.bytes_per_ns;
    return cost->net_rounds * r.round_ns + (cost->net_messages - more) * r.message_ns +
           (handled > carried ? handled : carried);
}

/* What of a row that knows nothing of nodes goes between them: each round, and in it what all ranks of a node
 * send, unless the row says more of itself. */
static void between_nodes(const struct coll_alg *a, const struct coll_size *s, struct coll_cost *cost)
{
    double others = s->p - 1, levels = MPIR_Coll_levels(s->nodes, 2) / MPIR_Coll_levels(s->p, 2);
    bool even = (int64_t)s->nodes * s->largest == s->p && (s->largest & (s->largest - 1)) == 0;
    double share = 1, messages = 1, bytes = a->needs & COLL_NEIGHBORS && s->blocks ? 1 : s->largest;
    if (a->needs & COLL_STRAIGHT) {
        messages = (s->p - s->largest) / others;
        bytes *= messages;
    } else if (a->needs & COLL_NEAR_FIRST && s->blocks && even) {
        share = messages = levels;
        bytes = a->needs & COLL_NEIGHBORS ? (s->nodes - 1.0) / s->nodes : bytes * share;
    } else if (a->needs & COLL_TREE && s->blocks) {
        share = messages = bytes = even ? levels : levels + (1 - levels) / 2;
    } else if (a->needs & COLL_CHAIN && s->blocks) {
        share = messages = bytes = (s->nodes - 1) / others;
    } else if (a->needs & COLL_RING && s->blocks) {
        share = (s->nodes - 1) / others;
    }
    cost->net_rounds = cost->rounds * share;
    cost->net_messages = cost->messages * messages;
    cost->net_bytes = cost->bytes * bytes;
    /* not of halving, whose rows these costs fit as they are */
    cost->both_ways =
        (a->needs & COLL_RING) || (a->needs & (COLL_NEAR_FIRST | COLL_NEIGHBORS)) == COLL_NEAR_FIRST;
}

double MPIR_Coll_ns(const struct coll_alg *a, const struct coll_size *s)
{
    struct coll_cost cost = a->cost(s);
    if (s->nodes && !(a->needs & COLL_NEEDS_NODES))
        between_nodes(a, s, &cost);
    return own_ns(&cost, s) + MPIR_Coll_net_ns(&cost, s);
}

/* ---- Facts ------------------------------------------------------------------------------------------------------- */

/* Take one item "kind=algorithm" of KEEL_COLL, which says something about communicators of one sort; false if
 * there is no such thing. */
static bool force(MPIR_Coll_facts *f, bool inter, const char *item, size_t len)
{
    size_t eq = strcspn(item, "=");
    int k = eq < len ? MPIR_Coll_kind_of(item, eq) : -1;
    uint8_t row = k >= 0 ? MPIR_Coll_row_of(k, item + eq + 1, len - eq - 1) : 0;
    if (row && inter == (k >= COLL_INTER))
        f->forced[k % COLL_INTER] = row;
    return row != 0;
}

/* An item of KEEL_COLL; rules are taken the first time. */
static bool choose_take(MPIR_Coll_facts *f, bool inter, const char *item, size_t len, bool first)
{
    if (!memchr(item, ':', len))
        return force(f, inter, item, len);
    return !first || MPIR_Coll_tune_add(item, len);
}

/* What KEEL_COLL and this process's node say. */
static void own_facts(MPIR_Coll_facts *f, const MPIR_Comm *comm)
{
    static bool again;
    bool first = !again;
    char text[200];
    again = true;
    *f = (MPIR_Coll_facts){ .crowded = ku_wait_policy.spin_ns == 0,
                            .cost = { MPID_Cost_of(true), MPID_Cost_of(false) } };
    for (const char *item = ku_knob_str("COLL"); item && *item;) {
        size_t len = strcspn(item, ",");
        if (!choose_take(f, comm->local != NULL, item, len, first) && MPID_MyWorldRank == 0) {
            snprintf(text, sizeof text,
                     "KEEL_COLL: \"%.*s\" names no algorithm; see KEEL_COLL in doc/collectives.md",
                     len < 100 ? (int)len : 100, item);
            MPID_Message(text);
        }
        item += len + (item[len] == ',');
    }
}

/* A communicator asks for a team when it has been used for so many collectives; many are used once. */
enum { TEAM_AFTER = 4 };

enum {
    FACT_TEAM = 1 + COLL_KINDS,
    FACT_RULES,
    FACT_NOT_RULES,
    FACT_COSTS, /* the latency, and what the bandwidth lacks to the greatest number, of each kind of messages */
    FACTS = FACT_COSTS + 4
};
_Static_assert((int)FACTS <= (int)MPIR_AGREE_WORDS, "they are agreed on at once");

/* The least of all, as the greatest; 0 stays what nobody says. */
static uint32_t complement(uint32_t v)
{
    return v ? UINT32_MAX - v : 0;
}

static void facts_ask(MPIR_Comm *comm, uint32_t v[FACTS])
{
    MPIR_Coll_facts f;
    own_facts(&f, comm);
    v[0] = f.crowded;
    for (int k = 0; k < COLL_KINDS; k++)
        v[1 + k] = f.forced[k];
    v[FACT_TEAM] = comm->local ? 0 : MPIR_Coll_team_number(comm);
    v[FACT_RULES] = MPIR_Coll_tune_hash();
    v[FACT_NOT_RULES] = ~v[FACT_RULES];
    for (int i = 0; i < 2; i++) {
        v[FACT_COSTS + 2 * i] = f.cost[i].latency_ns;
        v[FACT_COSTS + 2 * i + 1] = complement(f.cost[i].bandwidth_mbs);
    }
}

/* At the team that MPI_COMM_WORLD has from the start the members find out that all think the same, if they do. */
static bool facts_alike(MPIR_Comm *comm)
{
    MPIR_Coll_facts f;
    own_facts(&f, comm);
    uint32_t rules = MPIR_Coll_tune_hash();
    uint8_t bytes[1 + sizeof f.forced + sizeof rules + sizeof f.cost] = { f.crowded };
    memcpy(bytes + 1, f.forced, sizeof f.forced);
    memcpy(bytes + 1 + sizeof f.forced, &rules, sizeof rules);
    memcpy(bytes + 1 + sizeof f.forced + sizeof rules, f.cost, sizeof f.cost);
    f.ruled = rules != 0;
    f.heard = MPIR_Coll_team_alike(comm, bytes, sizeof bytes);
    if (f.heard)
        comm->facts = f;
    return f.heard;
}

static void facts_take(MPIR_Comm *comm, const uint32_t v[FACTS], int err)
{
    MPIR_Coll_facts *f = &comm->facts;
    if (!comm->local)
        MPIR_Coll_team_join(comm, err ? 0 : v[FACT_TEAM]);
    if (err)
        return;
    f->crowded = v[0] != 0;
    for (int k = 0; k < COLL_KINDS; k++)
        f->forced[k] = (uint8_t)v[1 + k];
    for (int i = 0; i < 2; i++)
        f->cost[i] = (struct MPID_Cost){ v[FACT_COSTS + 2 * i], complement(v[FACT_COSTS + 2 * i + 1]) };
    f->ruled = v[FACT_RULES] != 0 && v[FACT_RULES] == ~v[FACT_NOT_RULES]; /* the same in all */
    f->heard = 1;
}

/* Has it been used for so many collectives that it asks for a team?  Alike in all processes. */
static bool wants_team(const struct coll *c)
{
    const MPIR_Comm *comm = c->comm;
    return comm->team == MPIR_TEAM_UNASKED && !comm->local && comm->adi.size > 1 && c->when > TEAM_AFTER;
}

/* May it be over several nodes, and nobody has looked?  Alike in all processes. */
static bool may_have_nodes(const MPIR_Comm *comm)
{
    return !(__builtin_expect(MPIR_Comm_has_team(comm) || MPID_World()->nodes < 2, 1) || comm->nodes_asked ||
             comm->adi.size <= 2 || comm->local);
}

bool MPIR_Coll_facts_there(const struct coll *c)
{
    const MPIR_Comm *comm = c->comm;
    return comm->facts.heard && !comm->facts.asked && !wants_team(c) &&
           !(may_have_nodes(comm) && c->when > TEAM_AFTER);
}

/* The agreements that a nonblocking call has begun, which go on by themselves. */
struct facts_asked {
    struct MPIR_Driven driven;
    struct MPIR_Agreement *agreement; /* NULL: there is none, or it is over */
    MPIR_Comm *comm;                  /* which the call that waits for this refers to */
    int tag;                          /* of that call */
    bool wants_nodes;                 /* when the agreement is over */
    struct coll_nodes_making nodes;
    int words; /* FACTS, or 1: a team alone, or 0 */
    int err;
    uint32_t v[FACTS]; /* the result */
};

void MPIR_Coll_facts_await(MPIR_Comm *comm, struct MPIR_Driven *d)
{
    d->next = comm->awaiting;
    comm->awaiting = d;
}

/* In the order in which they came, since the last has been put first. */
static void wake_awaiting(MPIR_Comm *comm)
{
    struct MPIR_Driven *in_order = NULL, *d;
    while ((d = comm->awaiting) != NULL) {
        comm->awaiting = d->next;
        d->next = in_order;
        in_order = d;
    }
    while ((d = in_order) != NULL) {
        in_order = d->next;
        MPIR_Sched_heard(d);
    }
    MPIR_Coll_meetings_heard(comm);
}

static void take_words(MPIR_Comm *comm, const uint32_t *v, int words, int err)
{
    if (words == FACTS)
        facts_take(comm, v, err);
    else if (words > 0)
        MPIR_Coll_team_join(comm, err ? 0 : v[0]);
    MPIR_Coll_nodes_heard(comm);
    if (comm->facts.known)
        MPIR_Coll_quick_ready(comm);
}

void MPIR_Coll_facts_inherit(const MPIR_Comm *from, MPIR_Comm *to)
{
    if (!from->facts.known)
        return;
    to->facts = from->facts;
    to->facts.asked = to->facts.again = 0;
}

/* One after the other, as their messages have the same tag. */
static enum MPIR_DRIVE facts_go_on(struct MPIR_Driven *driven)
{
    struct facts_asked *a = (struct facts_asked *)driven;
    MPIR_Comm *comm = a->comm;
    if (a->agreement && !MPIR_Agreement_step(a->agreement, a->v, a->words, &a->err))
        return MPIR_DRIVE_WAITS;
    a->agreement = NULL;
    bool again = a->err && MPIR_Refused(comm, MPID_CONTEXT_COLL, a->tag);
    if (a->wants_nodes && !again)
        MPIR_Coll_nodes_begin(&a->nodes, comm, a->tag);
    a->wants_nodes = false;
    if (!MPIR_Coll_nodes_step(&a->nodes, comm))
        return MPIR_DRIVE_WAITS;
    comm->facts.asked = 0;
    comm->facts.again = again || a->nodes.refused;
    if (!again) {
        comm->facts.failed = a->words > 0 ? a->err : comm->facts.failed;
        take_words(comm, a->v, a->words, a->err);
    }
    wake_awaiting(comm);
    free(a);
    return MPIR_DRIVE_DONE;
}

/* There is no memory to go on with this later: the same, but waiting. */
static int facts_now(MPIR_Comm *comm, int tag, uint32_t v[FACTS], int words, bool nodes)
{
    int err = words > 0 ? MPIR_Agree_max(comm, NULL, MPID_CONTEXT_COLL, tag, 0, v, words) : 0;
    int refused = err ? MPIR_Refused(comm, MPID_CONTEXT_COLL, tag) : 0;
    if (refused)
        return refused;
    take_words(comm, v, words, err);
    if (nodes)
        refused = MPIR_Coll_nodes_ask(comm, tag);
    return words == FACTS && err ? err : refused;
}

int MPIR_Coll_facts_ask(const struct coll *c)
{
    MPIR_Comm *comm = c->comm;
    uint32_t v[FACTS];
    int words = !comm->facts.heard ? FACTS : wants_team(c) ? 1 : 0, tag = c->tag;
    bool nodes = may_have_nodes(comm);
    if (comm->facts.asked || MPIR_Coll_facts_there(c))
        return 0;
    comm->facts.again = 0;
    struct facts_asked *a = malloc(sizeof *a);
    if (words == FACTS)
        facts_ask(comm, v);
    else
        v[0] = words > 0 ? MPIR_Coll_team_number(comm) : 0;
    if (a)
        *a = (struct facts_asked){
            .driven.advance = facts_go_on, .comm = comm, .tag = tag, .wants_nodes = nodes, .words = words
        };
    if (a && words > 0)
        a->agreement = MPIR_Agreement_begin(comm, MPID_CONTEXT_COLL, tag, v, words);
    if (!a || (words > 0 && !a->agreement)) {
        free(a);
        return facts_now(comm, tag, v, words, nodes);
    }
    comm->facts.asked = 1;
    if (facts_go_on(&a->driven) != MPIR_DRIVE_DONE)
        MPIR_Drive(&a->driven);
    return 0;
}

int MPIR_Coll_facts_wait(const struct coll *c)
{
    int err = 0;
    do {
        while (c->comm->facts.asked)
            MPID_DeviceCheck(MPID_BLOCKING);
        if (!MPIR_Coll_facts_there(c))
            err = MPIR_Coll_facts_ask(c);
    } while (!err && c->comm->facts.asked);
    return err;
}

int MPIR_Coll_ready(MPIR_Comm *comm, int tag)
{
    uint32_t v[FACTS];
    if (comm->facts.known && !comm->facts.asked)
        return 0;
    while (comm->facts.asked)
        MPID_DeviceCheck(MPID_BLOCKING);
    if (!comm->facts.heard && (comm->local || !facts_alike(comm))) {
        facts_ask(comm, v);
        int err = MPIR_Agree_max(comm, NULL, MPID_CONTEXT_COLL, tag, 0, v, FACTS);
        int refused = err ? MPIR_Refused(comm, MPID_CONTEXT_COLL, tag) : 0;
        if (!refused)
            facts_take(comm, v, err);
        if (err)
            return refused ? refused : err;
    }
    comm->facts.known = 1;
    MPIR_Coll_quick_ready(comm);
    return 0;
}

/* ---- The choice -------------------------------------------------------------------------------------------------- */

static bool can_step(const struct coll_size *s)
{
    enum { LEAST = 2048 };
    int64_t unit = MPIR_Coll_steps_unit(s->p);
    return s->team && (s->bytes > 0 || s->unit == COLL_UNKNOWN) && unit >= LEAST && s->unit <= unit;
}

static bool can(const struct coll_alg *a, const struct coll_size *s)
{
    return !((a->needs & COLL_NEEDS_COMMUTATIVE && !s->commutative) ||
             (a->needs & COLL_NEEDS_POW2 && (s->p & (s->p - 1))) ||
             (a->needs & COLL_NEEDS_SPREAD && s->elements < s->p) ||
             (a->needs & COLL_NEEDS_TEAM && (!s->team || s->room > MPID_World()->team_room)) ||
             (a->needs & COLL_NEEDS_STEPS && !can_step(s)) ||
             (a->needs & COLL_NEEDS_NODES && (!s->nodes || s->flat)) ||
             (a->needs & COLL_NEEDS_BLOCKS && !s->blocks) ||
             (a->needs & COLL_NEEDS_ORDER && !s->blocks && !s->commutative) ||
             (a->needs & COLL_NEEDS_IN_PLACE && !s->in_place) || (a->needs & COLL_NEEDS_SEND && s->in_place));
}

static const struct coll_alg *cheapest(const struct coll_alg *algs, const struct coll_size *s)
{
    const struct coll_alg *best = NULL;
    double least = 0;
    for (const struct coll_alg *a = algs; a->name; a++) {
        if (!can(a, s))
            continue;
        double ns = MPIR_Coll_ns(a, s);
        if (!best || ns < least) {
            best = a;
            least = ns;
        }
    }
    return best;
}

/* Each field by itself: a compiler that loads several at once lets them wait for those that were stored a moment
 * ago. */
#define SAME(field) (*(const volatile __typeof__(a->field) *)&a->field == b->field)
static bool same_size(const struct coll_size *a, const struct coll_size *b)
{
    return SAME(bytes) && SAME(elements) && SAME(p) && SAME(most) && SAME(commutative) && SAME(in_place) &&
           SAME(crowded) && SAME(room) && SAME(unit) && SAME(nodes) && SAME(largest) && SAME(blocks) &&
           SAME(apart) && SAME(flat) && SAME(cost[0].latency_ns) && SAME(cost[0].bandwidth_mbs) &&
           SAME(cost[1].latency_ns) && SAME(cost[1].bandwidth_mbs);
}

static bool named(uint8_t row)
{
    return row && row != COLL_FLAT;
}

/* Programs repeat the same call: the last answers of each kind are kept, as working one out costs as much as a
 * message.  A call that does not wait may ask twice: what it would do at a team, and without. */
const struct coll_alg *MPIR_Coll_choose(enum coll_kind kind, const MPIR_Coll_facts *facts,
                                        struct coll_size *s)
{
    static struct answer {
        struct coll_size size;
        const struct coll_alg *best;
    } answers[COLL_TABLES][2];
    const struct coll_alg *algs = MPIR_Coll_tables[kind].algs;
    s->crowded = facts->crowded && !s->anywhere;
    if (!s->anywhere)
        memcpy(s->cost, facts->cost, sizeof s->cost);
    uint8_t ruled = facts->ruled ? MPIR_Coll_tuned(kind, s) : 0;
    uint8_t forced = facts->forced[kind % COLL_INTER];
    s->flat = ruled == COLL_FLAT || (!ruled && forced == COLL_FLAT);
    if (named(ruled) && can(&algs[ruled - 1], s))
        return &algs[ruled - 1];
    if (named(forced) && can(&algs[forced - 1], s))
        return &algs[forced - 1];
    struct answer *last = &answers[kind][s->team];
    if (!last->best || !same_size(s, &last->size)) {
        last->best = cheapest(algs, s);
        last->size = *s;
    }
    return last->best;
}

int MPIR_Coll_begin(struct coll *c, struct coll_state *st, MPIR_Comm *comm)
{
    int err = 0;
    if (comm->local && c->kind >= COLL_SCAN)
        err = MPIR_Comm_check_intra(comm);
    else if (comm->local)
        c->kind = (enum coll_kind)(c->kind + COLL_INTER);
    if (!err && c->op)
        err = MPIR_Op_check(c->op, c->rtype);
    st->err = st->ntemps = 0;
    st->parts[0] = st->parts[1] = 0;
    st->mute = st->refused = st->team_broke = st->by_messages = false;
    st->turn = COLL_TURN_BOTH;
    st->sched = NULL;
    st->made = NULL;
    st->used = 0;
    c->st = st;
    c->comm = comm;
    c->rank = comm->adi.rank;
    c->size = comm->adi.size;
    c->which = MPID_CONTEXT_COLL;
    c->tag = MPIR_Comm_next_tag(comm); /* also after an error: the others may have found none */
    c->when = comm->coll_seq;
    if (!err && c->kind == COLL_BCAST)
        comm->coll_roots = comm->coll_roots * 5 + (uint32_t)c->root + 1;
    c->roots = comm->coll_roots;
    return err;
}

int MPIR_Coll_end(struct coll *c)
{
    struct coll_state *st = c->st;
    MPIR_Coll_drop(st);
    if (st->err)
        *ku_err_last() = st->words;
    return st->err;
}

static void choose_run(const struct coll_alg *a, struct coll *c, const struct coll_size *s)
{
    if (!c->part)
        MPIR_Coll_count(c, a, s);
    if (MPIR_Comm_has_team(c->comm) && !coll_at_team(a))
        MPID_Team_absent(&c->comm->adi, c->when);
    c->way = coll_way_of(a);
    a->run(c);
}

/* Of the group of an intercommunicator, which both groups hear first, so that the other one cannot refuse the call
 * while this one asks.  What else goes wrong with that is no error of the call. */
static int look_for_local_nodes(MPIR_Comm *comm, int tag)
{
    uint32_t nothing = 0;
    if (comm->nodes_asked)
        return 0;
    if (MPIR_Agree_max(comm, NULL, MPID_CONTEXT_COLL, tag, 0, &nothing, 1) != 0) {
        int refused = MPIR_Refused(comm, MPID_CONTEXT_COLL, tag);
        if (refused)
            return refused;
    }
    comm->nodes_asked = true;
    if (!may_have_nodes(comm->local))
        return 0;
    int err = MPIR_Coll_ready(comm->local, COLL_TAG_TEAM);
    (void)MPIR_Coll_nodes_ask(comm->local, COLL_TAG_NODES);
    return err;
}

static int look_for_nodes(const struct coll *c)
{
    if (c->comm->local)
        return look_for_local_nodes(c->comm, c->tag);
    return may_have_nodes(c->comm) ? MPIR_Coll_nodes_ask(c->comm, c->tag) : 0;
}

int MPIR_Coll_settle(const struct coll *c)
{
    MPIR_Comm *comm = c->comm;
    int err = MPIR_Coll_ready(comm, c->tag);
    if (!err && comm->team == MPIR_TEAM_UNASKED && !comm->local && comm->adi.size > 1)
        err = MPIR_Coll_team_ask(comm, c->tag);
    return err ? err : look_for_nodes(c);
}

/* Choose an algorithm and run it. */
static int choose_and_run(struct coll *c, struct coll_size *s)
{
    int err = MPIR_Coll_ready(c->comm, c->tag);
    if (__builtin_expect(c->comm->meetings.first != NULL, 0)) /* those that have waited for that */
        MPIR_Coll_meetings_end(c->comm);
    if (!err && wants_team(c))
        err = MPIR_Coll_team_ask(c->comm, c->tag);
    if (!err && !c->part && c->when > TEAM_AFTER)
        err = look_for_nodes(c);
    if (err)
        return err;
    c->composes = coll_composes(c->comm);
    c->room = s->room;
    if (c->comm->coll_other.member != 0 && (err = MPIR_Coll_differ(c->comm, MPIR_Coll_words_of(c))) != 0)
        return err;
    s->anywhere = coll_anywhere(c);
    s->team = coll_uses_team(c) && !s->anywhere;
    MPIR_Coll_nodes_is(c->comm, s);
    choose_run(MPIR_Coll_choose(c->kind, &c->comm->facts, s), c, s);
    if (c->st->team_broke && (err = MPIR_Coll_differ(c->comm, MPIR_Coll_words_of(c))) != 0) {
        MPIR_Coll_note(c, err);
    } else if (c->st->team_broke) {
        s->team = c->st->team_broke = false;
        choose_run(MPIR_Coll_choose(c->kind, &c->comm->facts, s), c, s);
    }
    return MPIR_Coll_end(c);
}

int MPIR_Coll_muted;

int MPIR_Coll_blocking(struct coll *c, MPIR_Comm *comm)
{
    int muted = MPIR_Coll_muted;
    struct coll_state st;
    struct coll_size s = { .p = comm->adi.size };
    if (__builtin_expect(comm->meetings.first != NULL, 0))
        MPIR_Coll_meetings_end(comm);
    int err = MPIR_Coll_begin(c, &st, comm);
    if (!err)
        err = MPIR_Coll_tables[c->kind].describe(c, &s);
    if (err) {
        MPIR_Coll_refuse(c, COLL_BLOCKING, err);
        return err;
    }
    if (__builtin_expect(muted != 0, 0)) {
        MPIR_Coll_muted = 0; /* other threads may come while this one waits */
        MPIR_Coll_note(c, muted);
    }
    if (c->before)
        c->before(c);
    return s.local ? MPIR_Coll_end(c) : choose_and_run(c, &s);
}

void MPIR_Coll_within(struct coll *c, struct coll *part, MPIR_Comm *comm)
{
    struct coll_state st;
    struct coll_size s = { .p = comm->adi.size };
    /* also after a call that some members have refused, numbers are the same in all */
    comm->coll_seq = coll_nodes_number(c->tag, c->st->parts[comm == c->comm->nodes->leaders]++);
    comm->coll_roots = 0;
    int err = MPIR_Coll_begin(part, &st, comm);
    part->tag = c->tag;
    part->part = true;
    st.mute = c->st->mute;
    st.refused = c->st->refused;
    if (!err)
        err = MPIR_Coll_tables[part->kind].describe(part, &s);
    if (!err && part->before)
        part->before(part);
    if (!err)
        err = s.local ? MPIR_Coll_end(part) : choose_and_run(part, &s);
    if (err)
        MPIR_Coll_note(c, err);
}

int MPIR_Coll_in_place_misuse(const char *arg, const char *where)
{
    return MPIR_Err(MPI_ERR_BUFFER, arg, "is MPI_IN_PLACE, which is allowed %s only", where);
}

int MPIR_Coll_check_counts(const char *arg, MPIR_Counts counts, int32_t p)
{
    for (int32_t i = 0; MPIR_ENV(check_args) && i < p; i++)
        if (MPIR_counts_get(counts, i) < 0)
            return MPIR_Err(MPI_ERR_COUNT, arg, "[%d] is %lld; expected 0 or more", i,
                            (long long)MPIR_counts_get(counts, i));
    return 0;
}
