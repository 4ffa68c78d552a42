/* SPDX-License-Identifier: BSD-3-Clause */
/* coll.h: one collective call, the rows of algorithms, and what algorithms are written with.
 *
 * An algorithm is a function of struct coll that sends and receives with the helpers below.  The helpers note the first
 * error and go on, so that a process that has found something wrong still plays its part and nobody waits for ever;
 * but from then on it is mute: it plays with empty messages, so that its peers report an error too instead of using
 * data that is not right. */
#ifndef COLL_H
#define COLL_H

#include <stdbool.h>
#include "coll_kinds.h"
#include "comm.h"
#include "mpi_err.h"
#include "op.h"
#include "p2p.h"
#include "type.h"

enum { COLL_SMALL = 1024, COLL_TEMPS = 16 };

/* At a team: all at once; or (meeting.c) a call that does not wait is to come to its next meeting, or has come to
 * it: all have, or, in a call by steps, it is to look whether they have. */
enum coll_turn { COLL_TURN_BOTH = 0, COLL_TURN_COMES, COLL_TURN_MET };

/* What one call keeps, shared by the parts of composed algorithms. */
struct coll_state {
    int err;             /* first error class; 0 */
    struct ku_err words; /* and its text */
    bool mute;           /* an error was noted: send and receive nothing any more */
    bool refused;        /* a member has refused the call: neither send nor receive (coll_refuse.c) */
    bool team_broke;     /* the call is still to be done, by messages */
    bool by_messages;    /* the others are in a nonblocking form */
    char beat;           /* that of another, as it came (coll_beat_recv) */
    uint8_t parts[2];    /* of a blocking call: those done on the node, and among leaders (nodes.c) */
    enum coll_turn turn;
    struct coll_steps *steps; /* of a call by steps that does not wait: how far it is (steps.h) */
    struct coll_sched
        *sched;          /* NULL: helpers act at once; else they note down what is to be done (sched.h) */
    MPIR_Datatype *made; /* of MPIR_Coll_temp_type; NULL */
    int ntemps;
    size_t used; /* of small */
    void *temps[COLL_TEMPS];
    _Alignas(16) char small[COLL_SMALL];
};

/* How large data goes from one member of a team to the others: through what they show each other, straight out of
 * the other's memory, or as it was faster before. */
enum coll_way { COLL_SHOWN = 0, COLL_READ, COLL_MEASURED };

/* What has become of a meeting, or of a call at a team, when it was asked to go on. */
enum coll_met {
    COLL_MET_NOT,   /* it waits */
    COLL_MET_MOVED, /* likewise, but it has done something */
    COLL_MET_LATER, /* when those before it have met */
    COLL_MET,
    COLL_MET_NEVER /* the team is broken, or has no memory for it: it is to be done by messages, in all processes */
};

/* One call of a collective in this process.  Unused fields are 0.  sbuf may be MPI_IN_PLACE. */
struct coll {
    struct coll_state *st;
    MPIR_Comm *comm;
    int32_t rank, size;
    enum coll_kind kind;
    enum coll_way way; /* of the row that runs */
    bool part;         /* of another call */
    bool composes;     /* on an intercommunicator: parts in the local group may be composed over nodes */
    int64_t room;      /* see struct coll_size */
    /* Elements of the arrays about what is sent, and what is received; 0: there are none, or they do not matter
     * here. */
    int32_t nsend, nrecv;
    int root, tag;
    uint32_t when;  /* number of the call, as a team counts them */
    uint32_t roots; /* of the broadcasts up to this call (differ.c) */
    int which;      /* MPID_CONTEXT_*: of its messages in comm */
    MPIR_Op *op;
    void (*before)(struct coll *c); /* what is to be done whatever the algorithm; NULL: nothing */
    const void *sbuf;
    int64_t scount;
    MPIR_Datatype *stype;
    MPIR_Counts scounts, sdispls;
    MPIR_Datatype *const *stypes;
    void *rbuf;
    int64_t rcount;
    MPIR_Datatype *rtype;
    MPIR_Counts rcounts, rdispls;
    MPIR_Datatype *const *rtypes;
};

/* What an algorithm needs, as bits. */
enum coll_need {
    COLL_NEEDS_COMMUTATIVE = 1,
    COLL_NEEDS_POW2 = 2,     /* ranks are a power of two */
    COLL_NEEDS_SPREAD = 4,   /* at least as many elements as ranks */
    COLL_NEEDS_IN_PLACE = 8, /* sbuf is MPI_IN_PLACE */
    COLL_NEEDS_SEND = 16,    /* sbuf is not MPI_IN_PLACE */
    COLL_NEEDS_TEAM = 32,    /* a team, and what is shown there fits its rooms */
    COLL_NEEDS_STEPS =
        64 /* a team of not too many; an element, if there is something to combine, fits a chunk */,
    COLL_NEEDS_NODES = 512,   /* what nodes.h keeps */
    COLL_NEEDS_BLOCKS = 1024, /* the members of each node are ranks in a row */
    COLL_NEEDS_ORDER = 2048,  /* they are, or the operation is commutative */
    COLL_NEIGHBORS =
        4096, /* no needs: one message at a time goes between two nodes, as data goes from rank to rank, or to one */
    /* no needs: the distance of ranks that exchange doubles, so that where nodes have as many ranks in a row
     * each, a power of two, all rounds but those of a doubling among nodes are on the nodes */
    COLL_NEAR_FIRST = 8192,
    /* no needs: each block goes straight from who has it to who wants it, so what belongs to ranks of one
     * node stays there */
    COLL_STRAIGHT = 16384,
    /* no needs: from rank to rank, so where nodes have ranks in a row only some of the way is between nodes */
    COLL_CHAIN = 32768,
    COLL_RING = 65536, /* no needs: the same of what is on all of the way at once */
    COLL_TREE =
        131072, /* no needs: a binomial tree, so where nodes have ranks in a row its lower levels are on the nodes */
    COLL_BY_READING = 128, /* no needs: the row's way is COLL_READ */
    COLL_BY_MEASURING = 256
};

/* What the choice depends on: the same in all processes. */
struct coll_size {
    int64_t bytes; /* as each row of tables says: of a block, or of the whole vector */
    int64_t elements;
    int32_t p;    /* ranks; on an intercommunicator (inter.h): of both groups */
    int32_t most; /* on an intercommunicator: of the larger one */
    bool commutative, in_place, crowded;
    bool anywhere;          /* the choice must not depend on where ranks are */
    bool local;             /* nobody else is needed: what `before` does is all */
    bool team;              /* the communicator has a team */
    int32_t nodes, largest; /* nodes.h: how many nodes, members of the largest; 0: nothing is kept */
    bool blocks;
    bool flat;                /* no rows over nodes, as the user says */
    bool apart;               /* each rank is on a node of its own */
    struct MPID_Cost cost[2]; /* as in the facts */
    int64_t room;             /* bytes a process would show in it, or COLL_NO_ROOM */
    int64_t
        unit; /* bytes of what cannot be cut; 0: anything can; COLL_UNKNOWN: sizes are not the same in all */
};

#define COLL_NO_ROOM INT64_MAX
enum { COLL_UNKNOWN = -1 };

/* What an algorithm costs: its critical path where each rank has a core, its total where ranks share cores. */
struct coll_cost {
    double rounds;      /* messages one after the other */
    double messages;    /* a process handles on the critical path besides these, each without waiting */
    double bytes;       /* moved one after the other */
    double copied;      /* besides, in a process's own memory */
    double waits;       /* times any process must wait for another, all added up */
    double total_bytes; /* moved by all */
    double net_rounds, net_messages, net_bytes; /* between nodes, besides what is above (rows of nodes.c) */
    bool both_ways; /* a node gets as many of these bytes as it sends, at the same time */
    double turns;   /* times a process must come by at a team; those of all, where ranks share cores */
};

struct coll_alg {
    const char *name; /* as in KEEL_COLL */
    unsigned needs;
    struct coll_cost (*cost)(const struct coll_size *s);
    void (*run)(struct coll *c);
};

/* The algorithms of each kind; a row with name NULL ends them.  The last row works always. */
extern const struct coll_alg MPIR_Coll_barrier_algs[], MPIR_Coll_bcast_algs[], MPIR_Coll_gather_algs[],
    MPIR_Coll_gatherv_algs[], MPIR_Coll_scatter_algs[], MPIR_Coll_scatterv_algs[], MPIR_Coll_allgather_algs[],
    MPIR_Coll_allgatherv_algs[], MPIR_Coll_alltoall_algs[], MPIR_Coll_alltoallv_algs[],
    MPIR_Coll_alltoallw_algs[], MPIR_Coll_reduce_algs[], MPIR_Coll_allreduce_algs[],
    MPIR_Coll_reduce_scatter_algs[], MPIR_Coll_scan_algs[], MPIR_Coll_exscan_algs[],
    MPIR_Coll_neighbor_allgather_algs[], MPIR_Coll_neighbor_alltoall_algs[];

/* Check the arguments of a call that has begun, and say what the choice depends on (*s is zeroed).  Returns an error
 * class. */
typedef int coll_describe(struct coll *c, struct coll_size *s);
extern coll_describe MPIR_Coll_barrier_is, MPIR_Coll_bcast_is, MPIR_Coll_gather_is, MPIR_Coll_gatherv_is,
    MPIR_Coll_scatter_is, MPIR_Coll_scatterv_is, MPIR_Coll_allgather_is, MPIR_Coll_allgatherv_is,
    MPIR_Coll_alltoall_is, MPIR_Coll_alltoallv_is, MPIR_Coll_reduce_is, MPIR_Coll_allreduce_is,
    MPIR_Coll_reduce_scatter_is, MPIR_Coll_scan_is, MPIR_Coll_exscan_is, MPIR_Coll_neighbor_is;

/* Is a row carried out at a team? */
static inline bool coll_at_team(const struct coll_alg *a)
{
    return (a->needs & (COLL_NEEDS_TEAM | COLL_NEEDS_STEPS)) != 0;
}
static inline enum coll_way coll_way_of(const struct coll_alg *a)
{
    return a->needs & COLL_BY_MEASURING ? COLL_MEASURED : a->needs & COLL_BY_READING ? COLL_READ : COLL_SHOWN;
}

struct coll_table {
    const char *name; /* "allreduce" */
    const struct coll_alg *algs;
    coll_describe *describe;
};
extern const struct coll_table MPIR_Coll_tables[COLL_TABLES]; /* by kind, or kind + COLL_INTER */

/* An algorithm is about to run (count.c). */
void MPIR_Coll_count(const struct coll *c, const struct coll_alg *a, const struct coll_size *s);
/* The same of row `row`, from 1. */
void MPIR_Coll_counted(enum coll_kind kind, int row, const MPIR_Comm *comm, int64_t bytes);

/* ---- A call ---------------------------------------------------------------------------------------------------- */

/* The three forms of a collective.  c: its kind and its arguments.  Return an error class. */
int MPIR_Coll_blocking(struct coll *c, MPIR_Comm *comm);
int MPIR_Coll_nonblocking(struct coll *c, MPIR_Comm *comm, MPIR_Request **request);
int MPIR_Coll_persistent(struct coll *c, MPIR_Comm *comm, MPIR_Request **request);

enum coll_form { COLL_BLOCKING, COLL_NONBLOCKING, COLL_PERSISTENT };
/* "MPI_Ibarrier", "MPI_Barrier_init" */
const char *MPIR_Coll_name(const struct coll *c, enum coll_form form);
/* This process takes no part in a call that has begun, for this error (recorded): the others hear of it. */
void MPIR_Coll_refuse(const struct coll *c, enum coll_form form, int err);
/* Nor in what is started of a persistent one. */
void MPIR_Coll_refuse_starts(const struct coll *c, int err);

/* Start a call: state, rank, size, tag; checks the kind of communicator, and the operation if there is one.  Returns an
 * error class. */
int MPIR_Coll_begin(struct coll *c, struct coll_state *st, MPIR_Comm *comm);
/* End one: free the temporaries (drop does this alone); the first error class. */
int MPIR_Coll_end(struct coll *c);
void MPIR_Coll_drop(struct coll_state *st);
/* For calls that will be repeated: agree now on all that a communicator's collectives keep; collective.  Returns
 * an error class. */
int MPIR_Coll_settle(const struct coll *c);
/* Tags that no call has, the last of persistent ones, for what only some members of a communicator agree on. */
enum { COLL_TAG_TEAM = 2 * (MPIR_COMM_TAGS - 1) + 1, COLL_TAG_NODES = COLL_TAG_TEAM - 1 };
/* For a call that may not wait: begin to agree on comm->facts, and on a team and nodes if it is time for them,
 * unless somebody has.  They are there when MPIR_Coll_facts_there says so; comm->facts never will when none of
 * `heard`, `asked`, and `again` is set.  (Without memory it does wait.)  Returns an error class. */
int MPIR_Coll_facts_ask(const struct coll *c);
bool MPIR_Coll_facts_there(const struct coll *c);
/* The same, and wait until they are there or never will be. */
int MPIR_Coll_facts_wait(const struct coll *c);
/* Has the group of an intercommunicator what nodes.h keeps? */
static inline bool coll_composes(const MPIR_Comm *comm)
{
    return comm->local && comm->local->nodes;
}
/* While they are asked for: call MPIR_Sched_heard(d) when that is over. */
void MPIR_Coll_facts_await(MPIR_Comm *comm, struct MPIR_Driven *d);
/* The cheapest algorithm whose needs are met (or the forced one). */
const struct coll_alg *MPIR_Coll_choose(enum coll_kind kind, const MPIR_Coll_facts *facts,
                                        struct coll_size *s);
double MPIR_Coll_ns(const struct coll_alg *a, const struct coll_size *s);
double MPIR_Coll_net_ns(const struct coll_cost *cost, const struct coll_size *s); /* its part between nodes */
/* What a message takes: that another one waits for; one more that a process handles; its bytes. */
struct coll_rates {
    double round_ns, message_ns, bytes_per_ns;
};
struct coll_rates MPIR_Coll_rates(const struct MPID_Cost cost[2], bool between_nodes);
/* Blocking, a part of the call c on a communicator of its nodes; what goes wrong is c's. */
void MPIR_Coll_within(struct coll *c, struct coll *part, MPIR_Comm *comm);

/* No count may be negative (arg names the array). */
int MPIR_Coll_check_counts(const char *arg, MPIR_Counts counts, int32_t p);
/* What the choice of a reduction of rcount elements depends on, but for its room at a team. */
void MPIR_Coll_reduction_is(struct coll *c, struct coll_size *s);
/* MPI_IN_PLACE given where the standard does not allow it. */
int MPIR_Coll_in_place_misuse(const char *arg, const char *where);

static inline bool coll_in_place(const void *buf)
{
    return buf == MPI_IN_PLACE;
}
/* Has the user asked for the same bits whatever the placement of ranks (info key keel_same_bits)? */
static inline bool coll_anywhere(const struct coll *c)
{
    return __builtin_expect((c->comm->hints.asserted & MPIR_HINT_SAME_BITS) != 0, 0) && c->op;
}
/* May it go by the team?  By a stream also if that is broken, as other members may not know it; they find out
 * before they meet. */
static inline bool coll_uses_team(const struct coll *c)
{
    return c->comm->team == MPIR_TEAM_HAS || (c->kind == COLL_BCAST && c->comm->team == MPIR_TEAM_BROKEN);
}
/* MPI_BYTE, which takes long to find. */
static inline MPIR_Datatype *coll_bytes(void)
{
    static MPIR_Datatype *bytes;
    if (__builtin_expect(!bytes, 0))
        bytes = MPIR_Datatype_predefined(KEEL_MPI_BYTE);
    return bytes;
}
static inline bool coll_commutative(const struct coll *c)
{
    return c->op->commutative;
}

/* ---- Helpers of algorithms -------------------------------------------------------------------------------------
 * They act at once, or note down a step that will be done later, in the same order (st->sched): so an algorithm looks
 * neither at data nor at what a receive brought, but in functions that it notes down as steps (MPIR_Coll_call). */

void MPIR_Coll_note(struct coll *c, int err);
/* A receive of `expect` bytes from `source` has ended with err and status: note what was wrong. */
void MPIR_Coll_received(struct coll *c, int err, const MPIR_Status *status, int64_t expect, int source);

/* count elements of type to or from a rank; a message of another length than expected is an error. */
void MPIR_Coll_send(struct coll *c, const void *buf, int64_t count, MPIR_Datatype *type, int dest);
void MPIR_Coll_recv(struct coll *c, void *buf, int64_t count, MPIR_Datatype *type, int source);
void MPIR_Coll_sendrecv(struct coll *c, const void *sbuf, int64_t scount, MPIR_Datatype *stype, int dest,
                        void *rbuf, int64_t rcount, MPIR_Datatype *rtype, int source);

/* A beat says that its sender has come so far: one byte, so that the empty message of a mute one is none. */
extern const char MPIR_Coll_beat;
static inline void coll_beat_send(struct coll *c, int dest)
{
    MPIR_Coll_send(c, &MPIR_Coll_beat, 1, coll_bytes(), dest);
}
static inline void coll_beat_recv(struct coll *c, int source)
{
    MPIR_Coll_recv(c, &c->st->beat, 1, coll_bytes(), source);
}
static inline void coll_beats(struct coll *c, int dest, int source)
{
    MPIR_Coll_sendrecv(c, &MPIR_Coll_beat, 1, coll_bytes(), dest, &c->st->beat, 1, coll_bytes(), source);
}

/* Several at a time.  MPIR_Coll_batch_end waits for all of them. */
enum { COLL_BATCH = 32 };
struct coll_batch {
    struct coll *c;
    uint32_t first, n; /* requests in flight: first .. first + n - 1, modulo COLL_BATCH */
    uint32_t limit;    /* at most so many; COLL_BATCH unless the algorithm says otherwise */
    struct {
        MPIR_Request request;
        int64_t expect; /* bytes; -1: a send */
        int source;
        uint32_t step;      /* noted down: which one */
        const bool *wanted; /* NULL: it is */
    } op[COLL_BATCH];
};
static inline void coll_batch_begin(struct coll_batch *b, struct coll *c)
{
    b->c = c;
    b->first = b->n = 0;
    b->limit = COLL_BATCH;
}
void MPIR_Coll_batch_send(struct coll_batch *b, const void *buf, int64_t count, MPIR_Datatype *type,
                          int dest);
void MPIR_Coll_batch_recv(struct coll_batch *b, void *buf, int64_t count, MPIR_Datatype *type, int source);
void MPIR_Coll_batch_end(struct coll_batch *b);

/* What a receive brought may decide two things later: how long messages are, and what a function does.
 *
 * A heap is bytes whose number shows as they come: the first `used` at `data`, at most `room`. */
struct coll_heap {
    char *data;
    int64_t used, room;
};
/* Add a message of any length for which there is room; send what is there by then. */
void MPIR_Coll_recv_heap(struct coll *c, struct coll_heap *h, int source);
void MPIR_Coll_batch_send_heap(struct coll_batch *b, const struct coll_heap *h, int dest);
/* Receive only if *wanted by then. */
void MPIR_Coll_batch_recv_if(struct coll_batch *b, const bool *wanted, void *buf, int64_t count,
                             MPIR_Datatype *type, int source);
/* Receive, but give it up unless *wanted when the batch waits for it; what makes *wanted false notes an error. */
void MPIR_Coll_batch_recv_while(struct coll_batch *b, const bool *wanted, void *buf, int64_t count,
                                MPIR_Datatype *type, int source);
/* Call fn(c, arg), which may read and write memory, copy, combine and note errors, but neither send nor receive. */
typedef void coll_call(struct coll *c, void *arg);
void MPIR_Coll_call(struct coll *c, coll_call *fn, void *arg);

/* Room for count elements, freed when the call ends; never NULL (see mute). */
void *MPIR_Coll_temp(struct coll *c, int64_t count, MPIR_Datatype *type);
/* The same of bytes that tell a process which messages the others wait for: without memory the job ends. */
void *MPIR_Coll_must_have(struct coll *c, int64_t bytes);
/* A datatype to be constructed, gone when the call ends; one a call.  NULL without memory (noted). */
MPIR_Datatype *MPIR_Coll_temp_type(struct coll *c);
void MPIR_Coll_copy(struct coll *c, const void *src, int64_t scount, MPIR_Datatype *stype, void *dst,
                    int64_t dcount, MPIR_Datatype *dtype);
/* inout[i] = in[i] op inout[i], elements of c->rtype. */
void MPIR_Coll_combine(struct coll *c, const void *in, void *inout, int64_t count);

static inline void *coll_at(const void *buf, int64_t i, const MPIR_Datatype *type)
{
    return (char *)(uintptr_t)buf + i * type->adi.extent;
}

/* `count` elements in p parts that differ by at most one: where part i begins. */
static inline int64_t coll_part(int64_t count, int32_t p, int64_t i)
{
    int64_t q = count / p, r = count % p;
    return i * q + (i < r ? i : r);
}

/* A tree of radix k over 0 .. p-1 in which each subtree is a range: v's is v .. v + span - 1.  Node 0 is the root. */
struct coll_tree {
    int64_t parent; /* -1 for the root */
    int64_t span;   /* ranks in this subtree */
    int64_t step;   /* the power of k at which its children's largest subtrees begin */
};
struct coll_tree MPIR_Coll_tree_of(int64_t v, int64_t p, int radix);

/* Walk the children: for (i = coll_child_first...). Calls fn for each, nearest (smallest subtree) first if `up`. */
typedef void (*coll_child_fn)(struct coll *c, void *arg, int64_t child, int64_t span);
void MPIR_Coll_each_child(struct coll *c, int64_t v, int64_t p, int radix, bool up, coll_child_fn fn,
                          void *arg);

static inline int32_t coll_vrank(const struct coll *c, int root)
{
    return (int32_t)(((int64_t)c->rank - root + c->size) % c->size);
}
static inline int32_t coll_real(const struct coll *c, int root, int64_t v)
{
    return (int32_t)((v + root) % c->size);
}

enum { COLL_WIDE = 32 /* radix of the trees with few levels */ };

double MPIR_Coll_levels(int32_t p, int radix); /* smallest n with radix^n >= p */
struct coll_cost MPIR_Coll_tree_cost(const struct coll_size *s, int radix, double ways, double bytes);

/* Blocks of the vector forms: what is sent to, or received from, rank i. */
struct coll_block {
    void *buf;
    int64_t count;
    MPIR_Datatype *type;
};
struct coll_block MPIR_Coll_sblock(const struct coll *c, int64_t i);
struct coll_block MPIR_Coll_rblock(const struct coll *c, int64_t i);
static inline bool coll_empty(const struct coll_block *b)
{
    return b->count == 0 || b->type->adi.size == 0;
}
static inline int64_t coll_block_bytes(const struct coll_block *b)
{
    return b->count * b->type->adi.size;
}
/* sbuf, unless it is MPI_IN_PLACE, to this rank's block of rbuf; or all of it, rcount elements, to rbuf. */
void MPIR_Coll_own_block(struct coll *c);
void MPIR_Coll_bring_input(struct coll *c);
/* In a scatter: the root's own block of sbuf to rbuf, unless that is MPI_IN_PLACE. */
void MPIR_Coll_take_own_block(struct coll *c);
/* The sum of all p counts, and the largest (most may be NULL). */
int64_t MPIR_Coll_total(MPIR_Counts counts, int32_t p, int64_t *most);

/* ---- Teams (coll_team.c) ------------------------------------------------------------------------------------- */

/* Run once, by the last process to arrive, which may read and write the rooms of all. */
typedef void (*coll_team_fn)(struct coll *c);
/* All arrive; false: the team broke, and the call is to be done by messages. */
bool MPIR_Coll_team_meet(struct coll *c, coll_team_fn last);
/* Before: count elements to this process's room.  After: from a rank's room, from byte `offset` on. */
void *MPIR_Coll_team_own(struct coll *c, int64_t bytes); /* NULL: by messages; team_broke is set */
void MPIR_Coll_team_put(struct coll *c, const void *buf, int64_t count, MPIR_Datatype *type);
void MPIR_Coll_team_get(struct coll *c, int64_t rank, int64_t offset, void *buf, int64_t count,
                        MPIR_Datatype *type);
/* A coll_team_fn that prepares what follows. */
void MPIR_Coll_team_fold(struct coll *c);
/* After it: `count` elements from the first one on, the combination, in rank order, of what ranks 0 to upto show. */
void MPIR_Coll_team_result(struct coll *c, int64_t upto, int64_t first, void *buf, int64_t count);
/* What operands of `count` elements take in a room; those that are not contiguous no team can combine. */
int64_t MPIR_Coll_team_operand(int64_t count, const MPIR_Datatype *type);
struct coll_cost MPIR_Coll_team_cost(const struct coll_size *s);

/* Calls by steps.  All arrive, to work on so many bytes.  Asked again and again if the call does not wait. */
enum coll_met MPIR_Coll_team_meet_for(struct coll *c, int64_t bytes);
/* The same again within one call, where `turn` tells the meetings apart. */
enum coll_met MPIR_Coll_team_meet_again(struct coll *c, int turn);
/* A call that does not wait has come (just now): have all? */
enum coll_met MPIR_Coll_team_look(struct coll *c, bool just_now);
/* Rows that work at a team's benches step by step (slices.c, pieces.c; steps.c: how long what cannot be cut may be). */
int64_t MPIR_Coll_steps_unit(int32_t p);
void MPIR_Coll_slices_allreduce(struct coll *c);
void MPIR_Coll_slices_reduce(struct coll *c);
void MPIR_Coll_slices_reduce_scatter(struct coll *c);
struct coll_cost MPIR_Coll_slices_cost(const struct coll_size *s);
void MPIR_Coll_pieces_alltoall(struct coll *c);
void MPIR_Coll_pieces_alltoallv(struct coll *c);
void MPIR_Coll_pieces_gatherv(struct coll *c);
void MPIR_Coll_pieces_scatterv(struct coll *c);
void MPIR_Coll_pieces_allgather(struct coll *c);
void MPIR_Coll_pieces_gather(struct coll *c);
void MPIR_Coll_pieces_scatter(struct coll *c);
struct coll_cost MPIR_Coll_pieces_cost(const struct coll_size *s);      /* bytes: of a block, one for each */
struct coll_cost MPIR_Coll_pieces_root_cost(const struct coll_size *s); /* the same, from or to one */
struct coll_cost MPIR_Coll_pieces_v_cost(const struct coll_size *s);
struct coll_cost MPIR_Coll_pieces_all_cost(const struct coll_size *s); /* bytes: of all blocks */
/* What a call says that it is for. */
uint32_t MPIR_Coll_team_what(uint32_t when, uint64_t words, uint64_t room);
/* The same for who would know what differs (differ.c).  `root` is 0 where there is none, `op` NULL. */
uint64_t MPIR_Coll_words(uint32_t roots, enum coll_kind kind, int root, uint32_t digest);
uint64_t MPIR_Coll_words_of(const struct coll *c);
enum { COLL_WORDS_NONE = 0x3f /* of what the library does for itself */ };
/* The team has broken at operation `when`, for which this process had `words`: look for a member with others. */
void MPIR_Coll_differ_look(MPIR_Comm *comm, uint32_t when, uint64_t words);
/* An error, if there is one; once. */
int MPIR_Coll_differ(MPIR_Comm *comm, uint64_t words);
/* Calls of the shortest sort; false: nothing has been done (quick.c).  They may be: the facts are known, or there
 * is a team now. */
bool MPIR_Coll_quick_barrier(MPIR_Comm *comm);
bool MPIR_Coll_quick_allreduce(const void *sbuf, void *rbuf, MPI_Count count, MPIR_Datatype *type,
                               const MPIR_Op *op, MPIR_Comm *comm);
bool MPIR_Coll_quick_allgather(const void *sbuf, MPI_Count scount, MPIR_Datatype *stype, void *rbuf,
                               MPI_Count rcount, MPIR_Datatype *rtype, MPIR_Comm *comm);
void MPIR_Coll_quick_ready(MPIR_Comm *comm);

/* From the root to all others: count elements of type, here and there. */
void MPIR_Coll_stream_out(struct coll *c, const void *buf, int64_t count, MPIR_Datatype *type);
void MPIR_Coll_stream_in(struct coll *c, void *buf, int64_t count, MPIR_Datatype *type);
struct coll_cost MPIR_Coll_stream_cost(const struct coll_size *s);

/* Do all members of comm hold the same bytes?  Told by a team that is there without being asked for; false:
 * perhaps not. */
bool MPIR_Coll_team_alike(MPIR_Comm *comm, const void *facts, size_t bytes);
/* Agree on a team of comm; collective. */
int MPIR_Coll_team_ask(MPIR_Comm *comm, int tag);
/* MPI_COMM_WORLD has its team from the start, if the others use it. */
bool MPIR_Coll_team_given(MPIR_Comm *comm);
uint32_t MPIR_Coll_team_number(MPIR_Comm *comm);            /* what this process contributes to asking */
void MPIR_Coll_team_join(MPIR_Comm *comm, uint32_t number); /* 0: there is none */
void MPIR_Coll_team_lost(MPIR_Comm *comm);                  /* it is broken */
/* This process will not come to the present call (meeting.c). */
void MPIR_Coll_team_give_up(MPIR_Comm *comm);
/* Wait for the nonblocking calls that are under way at the team. */
void MPIR_Coll_meetings_end(MPIR_Comm *comm);

/* Parts that composed algorithms use. */
void MPIR_Coll_tree_up(struct coll *c, int radix);   /* rank 0 has heard of all */
void MPIR_Coll_tree_down(struct coll *c, int radix); /* all have heard of rank 0 */
void MPIR_Coll_bcast_tree(struct coll *c, void *buf, int64_t count, MPIR_Datatype *type, int root, int radix);
void MPIR_Coll_reduce_tree(struct coll *c, const void *in, void *out, int64_t count, int root, int radix);
void MPIR_Coll_gather_linear(struct coll *c); /* blocks of any form; only the root uses rbuf */
/* Of a reduce_scatter: the elements of blocks from .. to - 1; rank 0's vector to each its block. */
int64_t MPIR_Coll_lengths(const struct coll *c, int64_t from, int64_t to);
void MPIR_Coll_hand_out(struct coll *c, const void *all);
/* Rows of gatherv and scatterv (packed.c). */
void MPIR_Coll_gather_packed(struct coll *c);
void MPIR_Coll_scatter_packed(struct coll *c);
struct coll_cost MPIR_Coll_packed_cost(const struct coll_size *s);
struct coll_cost
MPIR_Coll_binomial_cost(const struct coll_size *s); /* blocks gathered or scattered in a binomial tree */
struct coll_cost MPIR_Coll_linear_cost(const struct coll_size *s); /* one process with all others in turn */

#endif
