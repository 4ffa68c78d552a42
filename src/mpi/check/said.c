/* SPDX-License-Identifier: BSD-3-Clause */
/* said.c: what a rank says of a collective that it calls, and what it expects others to say (collectives.h).
 *
 * What all have to give alike (which call, root, operation, the amount of data of a broadcast) each rank says to the
 * next one, so that a difference is found at least twice, whoever is wrong.  Of data that two ranks exchange, and that
 * may differ from pair to pair, the sender tells the receiver; of more than PAIRS ranks that is done with so many of
 * them, others in each call.  What a rank sends to itself is compared as well.
 *
 * Only arguments that are significant are looked at. */
#include "config.h"
#include "collectives.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calls.h"
#include "file.h"
#include "object.h"
#include "op.h"
#include "topo.h"
#include "type.h"
#include "win.h"

enum { PAIRS = 64 };

/* ---- The procedures ---- */

/* What data they have: none; one amount, the same everywhere; ... */
enum shape {
    NO_DATA,
    SAME,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER, /* and alltoall: one amount for each pair, the same everywhere */
    ALLGATHERV,
    ALLTOALLV, /* and w */
    NEIGHBORS, /* from neighbor to neighbor: all that this process sends to, and receives from */
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK
};
enum { ROOT = 1, OP = 2, ALL_IN_PLACE = 4 };

/* A procedure's number is its place here, from 1, and its form; the same in all processes. */
static const struct {
    const char *name;
    uint8_t shape, flags;
} table[] = { { "Barrier", NO_DATA, 0 },
              { "Bcast", SAME, ROOT },
              { "Gather", GATHER, ROOT },
              { "Gatherv", GATHERV, ROOT },
              { "Scatter", SCATTER, ROOT },
              { "Scatterv", SCATTERV, ROOT },
              { "Allgather", ALLGATHER, ALL_IN_PLACE },
              { "Allgatherv", ALLGATHERV, ALL_IN_PLACE },
              { "Alltoall", ALLGATHER, ALL_IN_PLACE },
              { "Alltoallv", ALLTOALLV, ALL_IN_PLACE },
              { "Alltoallw", ALLTOALLV, ALL_IN_PLACE },
              { "Reduce", SAME, ROOT | OP },
              { "Allreduce", SAME, OP | ALL_IN_PLACE },
              { "Reduce_scatter", REDUCE_SCATTER, OP },
              { "Reduce_scatter_block", REDUCE_SCATTER_BLOCK, OP | ALL_IN_PLACE },
              { "Scan", SAME, OP },
              { "Exscan", SAME, OP },
              { "Neighbor_allgather", NEIGHBORS, 0 },
              { "Neighbor_allgatherv", NEIGHBORS, 0 },
              { "Neighbor_alltoall", NEIGHBORS, 0 },
              { "Neighbor_alltoallv", NEIGHBORS, 0 },
              { "Neighbor_alltoallw", NEIGHBORS, 0 },
              { "Comm_create", NO_DATA, 0 },
              { "Comm_dup", NO_DATA, 0 },
              { "Comm_dup_with_info", NO_DATA, 0 },
              { "Comm_free", NO_DATA, 0 },
              { "Comm_idup", NO_DATA, 0 },
              { "Comm_idup_with_info", NO_DATA, 0 },
              { "Comm_split", NO_DATA, 0 },
              { "Comm_split_type", NO_DATA, 0 },
              { "Intercomm_create", NO_DATA, 0 },
              { "Intercomm_merge", NO_DATA, 0 },
              { "Cart_create", NO_DATA, 0 },
              { "Cart_sub", NO_DATA, 0 },
              { "Dist_graph_create", NO_DATA, 0 },
              { "Dist_graph_create_adjacent", NO_DATA, 0 },
              { "Graph_create", NO_DATA, 0 },
              { "Comm_accept", NO_DATA, ROOT },
              { "Comm_connect", NO_DATA, ROOT },
              { "Comm_disconnect", NO_DATA, 0 },
              { "Comm_spawn", NO_DATA, ROOT },
              { "Comm_spawn_multiple", NO_DATA, ROOT },
              { "Win_allocate", NO_DATA, 0 },
              { "Win_allocate_shared", NO_DATA, 0 },
              { "Win_create", NO_DATA, 0 },
              { "Win_create_dynamic", NO_DATA, 0 },
              { "File_open", NO_DATA, 0 },
              { "File_read_all", NO_DATA, 0 },
              { "File_read_at_all", NO_DATA, 0 },
              { "File_read_ordered", NO_DATA, 0 },
              { "File_iread_all", NO_DATA, 0 },
              { "File_iread_at_all", NO_DATA, 0 },
              { "File_read_all_begin", NO_DATA, 0 },
              { "File_read_at_all_begin", NO_DATA, 0 },
              { "File_read_ordered_begin", NO_DATA, 0 },
              { "File_write_all", NO_DATA, 0 },
              { "File_write_at_all", NO_DATA, 0 },
              { "File_write_ordered", NO_DATA, 0 },
              { "File_iwrite_all", NO_DATA, 0 },
              { "File_iwrite_at_all", NO_DATA, 0 },
              { "File_write_all_begin", NO_DATA, 0 },
              { "File_write_at_all_begin", NO_DATA, 0 },
              { "File_write_ordered_begin", NO_DATA, 0 },
              { "File_close", NO_DATA, 0 },
              { "File_preallocate", NO_DATA, 0 },
              { "File_seek_shared", NO_DATA, 0 },
              { "File_set_atomicity", NO_DATA, 0 },
              { "File_set_info", NO_DATA, 0 },
              { "File_set_size", NO_DATA, 0 },
              { "File_set_view", NO_DATA, 0 },
              { "File_sync", NO_DATA, 0 },
              { "Win_fence", NO_DATA, 0 },
              { "Win_free", NO_DATA, 0 },
              { "Win_set_info", NO_DATA, 0 } };
enum { TABLE = sizeof table / sizeof *table, FORM_SHIFT = 8, I_FORM = 1, INIT_FORM = 2 };
_Static_assert(TABLE < 1 << FORM_SHIFT, "a number has so many bits, and two for the form");

static int said_row_of(const char *name, size_t n)
{
    for (int i = 0; i < TABLE; i++)
        if (strncasecmp(table[i].name, name, n) == 0 && table[i].name[n] == 0)
            return i + 1;
    return 0;
}

static uint16_t said_number_of(const char *call)
{
    const char *name = call + strlen("MPI_");
    size_t n = strlen(name);
    int row, form = 0;
    if (n > 2 && strcmp(name + n - 2, "_c") == 0)
        n -= 2;
    row = said_row_of(name, n);
    if (row == 0 && n > 5 && strncmp(name + n - 5, "_init", 5) == 0) {
        row = said_row_of(name, n - 5);
        form = INIT_FORM;
    } else if (row == 0 && n > 1 && name[0] == 'I') {
        row = said_row_of(name + 1, n - 1);
        form = I_FORM;
    }
    return row ? (uint16_t)(form << FORM_SHIFT | row) : 0;
}

static int said_row(uint16_t number)
{
    int row = number & ((1 << FORM_SHIFT) - 1);
    return row <= TABLE ? row - 1 : -1;
}

void MPIR_Coll_call_name(uint16_t number, bool large, char name[48])
{
    int row = said_row(number), form = number >> FORM_SHIFT;
    const char *base = row >= 0 ? table[row].name : "?";
    snprintf(name, 48, "MPI_%s%s%s%s", form == I_FORM ? "I" : "", base, form == INIT_FORM ? "_init" : "",
             large ? "_c" : "");
    if (form == I_FORM)
        name[5] = (char)tolower((unsigned char)name[5]);
}

bool MPIR_Coll_known(const char *call)
{
    return said_number_of(call) != 0;
}

/* Of a procedure, by its number in this process: what it is, and which of its arguments are what (-1: none). */
struct said_proc {
    bool looked;
    uint16_t number;
    uint8_t shape, flags, on; /* on: enum MPID_OBJECT_KIND, of the argument that it is on */
    int8_t comm, root, op, in_place;
    int8_t count[2], type[2]; /* of what is received, of what is sent */
};

static int8_t said_arg(const struct MPID_Procedure *p, const char *const *names)
{
    for (; *names; names++)
        for (int i = 0; i < p->nargs; i++)
            if (strcmp(p->args[i].name, *names) == 0)
                return (int8_t)i;
    return -1;
}

/* The communicator, window or file. */
static int8_t said_on(const struct MPID_Procedure *p, struct said_proc *s)
{
    for (int i = 0; i < p->nargs; i++) {
        const struct MPID_Arg *a = &p->args[i];
        bool fits =
            a->object == MPID_OBJECT_COMM || a->object == MPID_OBJECT_WIN || a->object == MPID_OBJECT_FILE;
        s->on = a->object;
        if (a->what == MPID_ARG_HANDLE && fits && a->access != MPID_ARG_OUT)
            return (int8_t)i;
    }
    return -1;
}

static void said_look(struct said_proc *s, const struct MPID_Procedure *p)
{
    int row;
    *s = (struct said_proc){ .looked = true, .number = said_number_of(p->name) };
    s->comm = said_on(p, s);
    if (s->number == 0 || s->comm < 0) {
        s->number = 0;
        return;
    }
    row = said_row(s->number);
    s->shape = table[row].shape;
    s->flags = table[row].flags;
    s->root = said_arg(p, (const char *const[]){ "root", NULL });
    s->op = said_arg(p, (const char *const[]){ "op", NULL });
    bool scatters = s->shape == SCATTER || s->shape == SCATTERV;
    s->in_place = said_arg(p, (const char *const[]){ scatters ? "recvbuf" : "sendbuf", NULL });
    s->count[0] = said_arg(p, (const char *const[]){ "recvcount", "recvcounts", "count", NULL });
    s->type[0] = said_arg(p, (const char *const[]){ "recvtype", "recvtypes", "datatype", NULL });
    s->count[1] = said_arg(p, (const char *const[]){ "sendcount", "sendcounts", "count", NULL });
    s->type[1] = said_arg(p, (const char *const[]){ "sendtype", "sendtypes", "datatype", NULL });
}

static struct said_proc *procs;
static uint32_t nprocs;

static const struct said_proc *said_proc_of(const struct MPID_Procedure *p)
{
    static const struct said_proc none;
    if (p->number >= nprocs) {
        uint32_t n = p->number * 2 + 64;
        struct said_proc *more = realloc(procs, n * sizeof *more);
        if (!more)
            return &none;
        memset(more + nprocs, 0, (n - nprocs) * sizeof *more);
        procs = more;
        nprocs = n;
    }
    if (!procs[p->number].looked)
        said_look(&procs[p->number], p);
    return &procs[p->number];
}

/* ---- A call ---- */

struct coll_view {
    const struct MPID_Call *call;
    const struct said_proc *p;
    const MPIR_Comm *comm;
    uint32_t seq;
    int32_t rank, size, partners; /* partners: those of the other group, if there are two */
    bool inter, in_place;
    int32_t root;
    bool root_here, idle;      /* idle: this rank has no part in it (MPI_PROC_NULL) */
    int *neighbors, degree[2]; /* from which it receives; then those to which it sends */
};

const MPIR_Comm *MPIR_Coll_comm_of(const struct MPID_Call *call, uint64_t *handle, uint8_t *kind)
{
    const struct said_proc *p = said_proc_of(call->procedure);
    const MPIR_Comm *comm = NULL;
    if (!p->number)
        return NULL;
    *handle = MPIR_Call_host.handle(call, p->comm, 0);
    *kind = p->on;
    const void *on = MPIR_Object_of((enum MPIR_KIND)p->on, *handle);
    if (on && p->on == MPID_OBJECT_COMM)
        comm = on;
    else if (on)
        comm = p->on == MPID_OBJECT_WIN ? ((const MPIR_Win *)on)->comm : ((const MPIR_File *)on)->comm;
    return comm && (comm->local || comm->adi.size > 1) ? comm : NULL;
}

/* The neighbors of a communicator with a topology; without memory there are none. */
static void said_find_neighbors(struct coll_view *v)
{
    int in = 0, out = 0;
    if (!v->comm->topo || MPIR_Topo_degrees(v->comm, &in, &out))
        return;
    v->neighbors = malloc((size_t)(in + out + 1) * sizeof *v->neighbors);
    if (!v->neighbors || MPIR_Topo_neighbors(v->comm, v->neighbors, v->neighbors + in))
        return;
    v->degree[false] = in;
    v->degree[true] = out;
}

static struct coll_view said_view(const struct MPID_Call *call, const MPIR_Comm *comm, uint32_t seq)
{
    struct coll_view v = { .call = call, .p = said_proc_of(call->procedure), .comm = comm, .seq = seq };
    v.rank = comm->adi.rank;
    v.size = comm->adi.size;
    v.partners = comm->adi.remote_size;
    v.inter = comm->local != NULL;
    if (v.p->flags & ROOT && v.p->root >= 0) {
        v.root = (int32_t)MPIR_Call_host.integer(call, v.p->root, 0);
        v.root_here = v.inter ? v.root == MPI_ROOT : v.root == v.rank;
        v.idle = v.inter && v.root < 0 && v.root != MPI_ROOT;
    }
    if (v.p->shape != NO_DATA && v.p->in_place >= 0 && !v.inter) {
        bool rooted = v.p->flags & ROOT;
        const void *at;
        memcpy(&at, call->arg[v.p->in_place], sizeof at);
        v.in_place = at == MPI_IN_PLACE && (!rooted || v.root_here);
    }
    if (v.p->shape == NEIGHBORS)
        said_find_neighbors(&v);
    return v;
}

static bool is_array(const struct coll_view *v, int arg)
{
    return v->call->procedure->args[arg].access != MPID_ARG_VALUE;
}

/* What goes to, or comes from, rank i, `times` times. */
static struct MPID_Signature said_amount(const struct coll_view *v, bool sends, int32_t i, int64_t times)
{
    struct MPID_Signature s = { .flags = MPID_SIGNATURE_UNKNOWN };
    int count_arg = v->p->count[sends], type_arg = v->p->type[sends];
    if (count_arg < 0 || type_arg < 0)
        return s;
    int64_t count = MPIR_Call_host.integer(v->call, count_arg, is_array(v, count_arg) ? i : 0);
    MPIR_Datatype *t = MPIR_Object_of(
        MPIR_KIND_DATATYPE, MPIR_Call_host.handle(v->call, type_arg, is_array(v, type_arg) ? i : 0));
    if (t && count >= 0 && !__builtin_mul_overflow(count, times, &count))
        MPID_Signature_of(&t->adi, count, INT64_MAX, &s);
    return s;
}

static uint64_t said_mix(uint64_t sum, uint64_t more)
{
    sum = (sum ^ more) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 29;
}

/* Of what all ranks receive (n of them), which each one has to say alike; 0: nothing is known of it. */
static uint32_t said_counts(const struct coll_view *v, int32_t n)
{
    uint64_t sum = 1469598103934665603u;
    struct MPID_Signature s = { 0 };
    int64_t last = -1;
    for (int32_t i = 0; i < n; i++) {
        int64_t count = MPIR_Call_host.integer(v->call, v->p->count[0], i);
        if (count != last)
            s = said_amount(v, false, i, 1);
        if (s.flags & (MPID_SIGNATURE_UNKNOWN | MPID_SIGNATURE_PACKED))
            return 0;
        last = count;
        sum = said_mix(said_mix(sum, s.digest), (uint64_t)s.n);
    }
    return (uint32_t)(sum >> 32) | 1;
}

/* The sum of recvcounts, times the type. */
static struct MPID_Signature said_sum(const struct coll_view *v)
{
    struct MPID_Signature s = { .flags = MPID_SIGNATURE_UNKNOWN };
    int64_t sum = 0;
    MPIR_Datatype *t = MPIR_Object_of(MPIR_KIND_DATATYPE, MPIR_Call_host.handle(v->call, v->p->type[0], 0));
    bool fits = t != NULL;
    for (int32_t i = 0; i < v->size && fits; i++) {
        int64_t count = MPIR_Call_host.integer(v->call, v->p->count[0], i);
        fits = count >= 0 && !__builtin_add_overflow(sum, count, &sum);
    }
    if (fits)
        MPID_Signature_of(&t->adi, sum, INT64_MAX, &s);
    return s;
}

/* ---- Data of pairs ---- */

/* Is what `from` sends to `to` compared in this call? */
static bool is_looked_at(const struct coll_view *v, int32_t from, int32_t to)
{
    int64_t n = v->size > v->partners ? v->size : v->partners;
    int64_t at = (to - from - (int64_t)v->seq * PAIRS) % n;
    return n <= PAIRS || (at < 0 ? at + n : at) < PAIRS;
}

/* Of all with the same amounts: what a rank sends to itself is compared with what it receives. */
static bool with_itself(const struct coll_view *v, int32_t i)
{
    bool rooted = v->p->shape == GATHER || v->p->shape == SCATTER;
    return !v->inter && i == v->rank && (!rooted || v->root_here);
}

/* Can there be any? */
static bool is_pair_shape(const struct coll_view *v)
{
    return v->p->shape > SAME && v->p->shape < REDUCE_SCATTER;
}

/* Has this rank data for rank i, or from it, of which that one is told? */
static bool said_pair(const struct coll_view *v, bool sends, int32_t i)
{
    if (v->idle || (v->in_place && i == v->rank) ||
        !is_looked_at(v, sends ? v->rank : i, sends ? i : v->rank))
        return false;
    switch (v->p->shape) {
    case GATHERV:
        return sends ? i == v->root : v->root_here;
    case SCATTERV:
        return sends ? v->root_here : i == v->root;
    case NEIGHBORS:
        return i >= 0; /* MPI_PROC_NULL */
    case ALLTOALLV:
        return true;
    case GATHER:
    case SCATTER:
    case ALLGATHER:
    case ALLGATHERV:
        return with_itself(v, i);
    default:
        return false;
    }
}

/* Who can be one side of a pair: each rank, or each neighbor. */
static int32_t said_candidates(const struct coll_view *v, bool sends)
{
    return v->p->shape == NEIGHBORS ? v->degree[sends] : is_pair_shape(v) ? v->partners : 0;
}

static int32_t said_candidate(const struct coll_view *v, bool sends, int32_t i)
{
    return v->p->shape == NEIGHBORS ? v->neighbors[sends ? v->degree[false] + i : i] : i;
}

/* Which of the pairs of the same two processes: of neighbors on a grid, the direction from which it is received (what
 * goes up comes from below); else how many such edges there are before. */
static int32_t said_nth(const struct coll_view *v, bool sends, int32_t i)
{
    int32_t n = 0;
    if (v->p->shape != NEIGHBORS)
        return 0;
    if (MPIR_Topo_is_grid(v->comm))
        return sends ? i ^ 1 : i;
    for (int32_t k = 0; k < i; k++)
        n += said_candidate(v, sends, k) == said_candidate(v, sends, i);
    return n;
}

/* ---- What is said ---- */

static void said_data(struct MPIR_Said *said, uint8_t how, struct MPID_Signature data)
{
    said->how |= SAID_DATA | how;
    said->data = data;
}

/* What all are told, without data. */
static struct MPIR_Said said_of(const struct coll_view *v)
{
    struct MPIR_Said said = { .number = v->p->number,
                              .how = v->in_place ? SAID_IN_PLACE : 0,
                              .root = v->root };
    const char *name = v->call->procedure->name;
    size_t n = strlen(name);
    said.large = strcmp(name + n - 2, "_c") == 0;
    if (v->p->flags & OP && v->p->op >= 0 && !v->idle) {
        const MPIR_Op *op = MPIR_Object_of(MPIR_KIND_OP, MPIR_Call_host.handle(v->call, v->p->op, 0));
        said.op = !op ? 0 : op->user ? SAID_OP_OF_PROGRAM : (uint8_t)op->obj.self;
    }
    return said;
}

/* Which data this rank tells the next one of, or one of the other group, and what it expects in the same place. */
static void said_shared(const struct coll_view *v, int to, int32_t source, struct MPIR_Said *says,
                        struct MPIR_Said *expects)
{
    bool next = to == SAID_TO_NEXT;
    *says = *expects = said_of(v);
    if (v->idle)
        return;
    switch (v->p->shape) {
    case SAME:
        said_data(says, 0, said_amount(v, true, 0, 1));
        *expects = *says;
        break;
    case GATHER:
    case SCATTER: {
        bool sends = (v->p->shape == SCATTER) == v->root_here;
        said_data(says, sends ? SAID_SENDS : SAID_RECEIVES, said_amount(v, sends, 0, 1));
        *expects = *says;
        break;
    }
    case ALLGATHER: {
        bool mixed = !v->inter || !next;
        said_data(says, SAID_SENDS, said_amount(v, !v->in_place, 0, 1));
        said_data(expects, mixed ? SAID_RECEIVES : SAID_SENDS, said_amount(v, !mixed, 0, 1));
        break;
    }
    case ALLGATHERV:
        if (next)
            says->counts = expects->counts = said_counts(v, v->partners);
        if (!v->inter || !next) {
            said_data(says, SAID_SENDS, said_amount(v, !v->in_place, v->rank, 1));
            said_data(expects, SAID_RECEIVES, said_amount(v, false, source, 1));
        }
        break;
    case REDUCE_SCATTER:
        if (next)
            says->counts = expects->counts = said_counts(v, v->size);
        said_data(says, 0, said_sum(v));
        *expects = *says;
        break;
    case REDUCE_SCATTER_BLOCK:
        said_data(says, 0, said_amount(v, false, 0, next ? 1 : v->size));
        *expects = *says;
        break;
    default:
        break;
    }
}

/* Data for candidate i. */
static struct MPIR_Said said_to_partner(const struct coll_view *v, int32_t i)
{
    struct MPIR_Said said = said_of(v);
    said.nth = said_nth(v, true, i);
    bool received = v->in_place && v->p->shape != SCATTER && v->p->shape != SCATTERV;
    said_data(&said, SAID_SENDS, said_amount(v, !received, i, 1));
    return said;
}

void MPIR_Coll_say(const struct MPID_Call *call, const MPIR_Comm *comm, uint32_t seq,
                   void (*say)(void *arg, int to, int32_t rank, const struct MPIR_Said *said), void *arg)
{
    const struct coll_view v = said_view(call, comm, seq);
    struct MPIR_Said says, expects;
    if (v.size > 1) {
        said_shared(&v, SAID_TO_NEXT, v.rank, &says, &expects);
        say(arg, SAID_TO_NEXT, (v.rank + 1) % v.size, &says);
    }
    if (v.inter) {
        said_shared(&v, SAID_TO_OTHERS, 0, &says, &expects);
        say(arg, SAID_TO_OTHERS, v.rank % v.partners, &says);
    }
    for (int32_t i = 0; i < said_candidates(&v, true); i++)
        if (said_pair(&v, true, said_candidate(&v, true, i))) {
            says = said_to_partner(&v, i);
            say(arg, SAID_TO_PARTNER, said_candidate(&v, true, i), &says);
        }
    free(v.neighbors);
}

/* ---- What is expected ---- */

/* From a rank; as a partner, from a candidate. */
static void expect(const struct coll_view *v, struct MPIR_Coll_own *own, int to, int32_t source)
{
    bool partner = to == SAID_TO_PARTNER;
    struct MPIR_Expected *e = &own->expected[own->n++];
    struct MPIR_Said says = { 0 }, expects;
    if (partner) {
        expects = (struct MPIR_Said){ 0 };
        said_data(&expects, SAID_RECEIVES, said_amount(v, false, source, 1));
    } else {
        said_shared(v, to, source, &says, &expects);
    }
    if (to == SAID_TO_NEXT)
        own->is.counts = expects.counts;
    bool sends = expects.how & SAID_SENDS;
    const struct MPID_Arg *args = v->call->procedure->args;
    *e = (struct MPIR_Expected){ .source = partner ? said_candidate(v, false, source) : source,
                                 .nth = partner ? said_nth(v, false, source) : 0,
                                 .to = (uint8_t)to,
                                 .how = expects.how,
                                 .data = expects.data };
    if (v->p->count[sends] >= 0 && v->p->type[sends] >= 0) {
        e->count_name = args[v->p->count[sends]].name;
        e->type_name = args[v->p->type[sends]].name;
    }
}

struct MPIR_Coll_own *MPIR_Coll_own_of(const struct MPID_Call *call, const MPIR_Comm *comm, uint32_t seq)
{
    const struct coll_view v = said_view(call, comm, seq);
    int n = v.size > 1;
    for (int32_t i = v.rank; v.inter && i < v.partners; i += v.size)
        n++;
    for (int32_t i = 0; i < said_candidates(&v, false); i++)
        n += said_pair(&v, false, said_candidate(&v, false, i));
    struct MPIR_Coll_own *own = malloc(sizeof *own + (size_t)n * sizeof *own->expected);
    if (!own) {
        free(v.neighbors);
        return NULL;
    }
    *own = (struct MPIR_Coll_own){ .call = call->procedure->name,
                                   .caller = MPIR_Call_caller(),
                                   .rooted = v.p->flags & ROOT,
                                   .all_in_place = v.p->flags & ALL_IN_PLACE,
                                   .is = said_of(&v),
                                   .left = n };
    if (v.size > 1)
        expect(&v, own, SAID_TO_NEXT, (v.rank + v.size - 1) % v.size);
    for (int32_t i = v.rank; v.inter && i < v.partners; i += v.size)
        expect(&v, own, SAID_TO_OTHERS, i);
    for (int32_t i = 0; i < said_candidates(&v, false); i++)
        if (said_pair(&v, false, said_candidate(&v, false, i)))
            expect(&v, own, SAID_TO_PARTNER, i);
    free(v.neighbors);
    return own;
}
