/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process waits for, written into its part of the segment when the launcher asks (struct ku_seg_call).
 *
 * Nothing is kept for this while the program runs: a rank that is about to sleep, or polls in vain, sees that the
 * launcher's count of questions has changed, and looks at its own stack (whose call is this, made where?) and at
 * its queues. */
#include "config.h"
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "core.h"
#include "jobs.h"
#include "thread.h"
#include <dlfcn.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <string.h>
#include "util/clock.h"

enum { FRAMES = 32 };

struct report {
    struct ku_seg_call *call;
    const struct MPIR_COMMUNICATOR *comm; /* of the first operation */
    bool waited;                          /* the call is for the operations that are added now */
};

/* "MPI_Recv" of MPI_Recv or PMPI_Recv; NULL for other symbols. */
static const char *procedure(const char *symbol)
{
    if (symbol != NULL && symbol[0] == 'P')
        symbol++;
    return symbol != NULL && strncmp(symbol, "MPI_", 4) == 0 ? symbol : NULL;
}

_Thread_local const char *MPID_Call_name;
_Thread_local struct MPID_Waited MPID_Waited;
_Thread_local struct core_probe MPID_Probing;

/* Does a frame lie outside this library and its Fortran procedures?  *procedure_name is the procedure's that it
 * lies in, or NULL. */
static bool outside(const void *frame, const char **procedure_name)
{
    Dl_info info, here = { 0 };
    *procedure_name = NULL;
    dladdr((void *)&MPID_Request_errors, &here);
    if (dladdr((const char *)frame - 1, &info) == 0)
        return true;
    *procedure_name = procedure(info.dli_sname);
    return info.dli_fbase != here.dli_fbase && strstr(info.dli_fname, "/libmpifort_abi.") == NULL;
}

enum { KNOWN_BITS = 10, NEXT = 16 /* rows that are looked at; if all are others', the first one goes */ };
struct known_frame {
    const void *frame;
    const char *name;
    bool outside;
};
/* A common symbol: behind all other data, where its pages, which few processes write, separate none that all do. */
__attribute__((common)) struct known_frame MPID_Frames_known[(1 << KNOWN_BITS) + NEXT];

/* The same, remembered: the loader looks through all symbols of a library.  A frame of a library that has gone may be
 * one of another: both are outside. */
static bool outside_too(const void *frame, const char **procedure_name)
{
    static atomic_bool busy;
    struct known_frame
        *first = &MPID_Frames_known[(uint64_t)(uintptr_t)frame * 0x9e3779b97f4a7c15u >> (64 - KNOWN_BITS)],
        *k = first;
    if (atomic_exchange_explicit(&busy, true,
                                 memory_order_acquire)) /* by another thread, or below in a handler */
        return outside(frame, procedure_name);
    while (k < first + NEXT && k->frame != NULL && k->frame != frame)
        k++;
    k = k < first + NEXT ? k : first;
    if (k->frame != frame) {
        k->outside = outside(frame, &k->name);
        k->frame = frame;
    }
    bool is_outside = k->outside;
    *procedure_name = k->name;
    atomic_store_explicit(&busy, false, memory_order_release);
    return is_outside;
}

/* Where the program has called this library, and the name of the procedure if its symbol tells (else
 * *procedure_name stays): the innermost frame outside, or the outermost there is; 0: none. */
uint64_t MPID_Find_caller(const char **procedure_name)
{
    void *frame[FRAMES];
    const char *name;
    int n = backtrace(frame, FRAMES), i = 1;
    for (; i < n && !outside_too(frame[i], &name); i++)
        if (name != NULL)
            *procedure_name = name;
    return n < 2 ? 0 : (uint64_t)(uintptr_t)frame[i < n ? i : n - 1];
}

/* The procedure of MPI that the program is in, and who called it.  In the part of a procedure that compilers put
 * elsewhere its symbol is of no use: then the name was left behind. */
static void find_call(struct ku_seg_call *call)
{
    const char *name = NULL;
    uint64_t caller = MPID_Find_caller(&name);
    name = name != NULL ? name : MPID_Call_name;
    if (name != NULL) {
        snprintf(call->call, sizeof call->call, "%s", name);
        call->caller = caller;
    }
}

uint64_t MPID_Caller(void)
{
    const char *name;
    return MPID_Find_caller(&name);
}

uint64_t MPID_Caller_at(const void *frame)
{
    const char *name;
    return outside_too(frame, &name) ? (uint64_t)(uintptr_t)frame : 0;
}

static void describe_comm(struct ku_seg_op *op, const struct MPIR_COMMUNICATOR *comm, uint32_t context_id)
{
    const char *name = NULL;
    op->comm = context_id;
    if (comm == NULL)
        return;
    if (context_id - comm->context_id < MPID_CONTEXT_IDS) {
        op->comm = comm->context_id;
        op->context = (uint8_t)(context_id - comm->context_id);
    }
    op->comm_size = comm->size;
    if (MPID_core.config.comm_name != NULL)
        name = MPID_core.config.comm_name(comm);
    snprintf(op->comm_name, sizeof op->comm_name, "%s", name != NULL ? name : "");
}

/* The next entry for an operation, or NULL if there is no room. */
static struct ku_seg_op *next_op(struct report *rep, const struct MPIR_COMMUNICATOR *comm)
{
    struct ku_seg_call *call = rep->call;
    int32_t at = call->nops++;
    if (at == 0)
        rep->comm = comm;
    if (at >= KU_CALL_OPS)
        return NULL;
    call->op[at] = (struct ku_seg_op){ .waited = rep->waited, .grank = -1, .lrank = -1 };
    return &call->op[at];
}

static void add_recv(struct MPIR_HANDLE *r, void *arg)
{
    struct report *rep = arg;
    struct ku_seg_op *op = next_op(rep, r->comm);
    if (op == NULL)
        return;
    op->kind = KU_OP_RECV;
    op->lrank = r->rank;
    op->tag = r->tag;
    op->grank = r->rank == MPI_ANY_SOURCE ? -1 : grank_of(r->comm, r->rank);
    op->bytes = MPID_Req_capacity(r);
    describe_comm(op, r->comm, r->context_id);
}

static void add_send(const struct MPIR_HANDLE *r, struct report *rep)
{
    struct ku_seg_op *op = next_op(rep, r->comm);
    if (op == NULL)
        return;
    op->kind = KU_OP_SEND;
    op->grank = op->lrank = r->peer;
    op->tag = r->tag;
    op->bytes = req_bytes(r);
    for (int32_t i = 0; r->comm != NULL && i < r->comm->remote_size; i++)
        if (grank_of(r->comm, i) == r->peer)
            op->lrank = i;
    describe_comm(op, r->comm, r->context_id);
}

/* The layer above keeps what it needs for this in the request (src/mpi/part): `peer` of a send, `moved` too. */
static void describe_part(struct ku_seg_op *op, const struct MPIR_HANDLE *r)
{
    bool sends = r->peer >= 0;
    op->kind = sends ? KU_OP_PART_SEND : KU_OP_PART_RECV;
    op->tag = r->tag;
    op->bytes = sends ? r->moved : MPID_Req_capacity(r);
    op->lrank = r->rank;
    op->grank = sends ? r->peer : grank_of(r->comm, r->rank);
}

static void add_message_of(struct MPIR_HANDLE *r, void *arg)
{
    if (r->handle_type == MPIR_RECV)
        add_recv(r, arg);
    else
        add_send(r, arg);
}

/* A collective operation through memory: it waits for a member that has not come. */
static void add_team(struct report *rep, const struct team *t)
{
    struct ku_seg_op *op = next_op(rep, t->comm);
    if (op == NULL)
        return;
    op->kind = KU_OP_RECV;
    op->grank = op->lrank = MPID_Team_missing(t);
    describe_comm(op, t->comm, t->comm->context_id + MPID_CONTEXT_COLL);
}

/* Of this communicator, if there is one. */
static void add_begun(struct report *rep, const struct MPIR_COMMUNICATOR *comm)
{
    const struct team *t = MPID_core.begun;
    while (t != NULL && t->comm != comm)
        t = t->next;
    if (t != NULL)
        add_team(rep, t);
}

/* An operation of several messages, or at a team; false: it does not tell which. */
static bool add_parts(struct MPIR_HANDLE *r, struct report *rep)
{
    int32_t before = rep->call->nops;
    const char *name = NULL;
    if (r->handle_type == MPIR_SCHED && MPID_core.config.parts != NULL)
        name = MPID_core.config.parts(r, add_message_of, rep);
    if (name != NULL && rep->call->what[0] == '\0')
        snprintf(rep->call->what, sizeof rep->call->what, "%s", name);
    if (name != NULL && rep->call->nops == before)
        add_begun(rep, r->comm);
    return rep->call->nops > before;
}

/* A request that the call waits for. */
static void add_request(struct MPIR_HANDLE *r, struct report *rep)
{
    struct ku_seg_op *op;
    if (r == NULL || atomic_load_explicit(&r->is_complete, memory_order_relaxed))
        return;
    if (r->handle_type == MPIR_SEND || r->handle_type == MPIR_PERSISTENT_SEND) {
        add_send(r, rep);
    } else if (r->handle_type == MPIR_RECV || r->handle_type == MPIR_PERSISTENT_RECV) {
        add_recv(r, rep);
    } else if (!add_parts(r, rep) && (op = next_op(rep, r->comm)) != NULL) {
        op->kind = KU_OP_OTHER;
        if (r->handle_type == MPIR_PART)
            describe_part(op, r);
        if (r->comm != NULL)
            describe_comm(op, r->comm, r->comm->context_id + (rep->call->what[0] ? MPID_CONTEXT_COLL : 0));
    }
}

/* An operation under way: a send that the other side has not asked for yet, or whose rest it does not take. */
static void add_rndv(void *obj, void *arg)
{
    struct rndv *v = obj;
    if (v->req == NULL || v->state == RNDV_RTS) /* that one is in its peer's queue */
        return;
    if (v->state >= RNDV_CTS) {
        add_recv(v->req, arg);
        return;
    }
    add_send(v->req, arg);
}

/* What this process has begun, where the call does not say which of it it is for. */
static void add_posted(struct context *c, void *rep)
{
    MPID_Posted_each(&c->posted, add_recv, rep);
}

static void add_all(struct report *rep)
{
    MPID_Contexts_each(add_posted, rep);
    for (const struct peer *p = MPID_core.peers.first; p != NULL; p = p->next_used)
        for (const struct MPIR_HANDLE *r = p->msg_head; r != NULL; r = r->next)
            add_send(r, rep);
    ku_slab_each(&MPID_core.rndvs, add_rndv, rep);
}

/* Also of a context that this process has not used itself. */
static const struct MPIR_COMMUNICATOR *comm_of(const struct context *c)
{
    for (uint32_t k = 0; c->comm == NULL && k < MPID_CONTEXT_IDS; k++) {
        const struct context *of = MPID_Context_find(c->id - k);
        if (of != NULL && of->comm != NULL && of->comm->context_id == of->id)
            return of->comm;
    }
    return c->comm;
}

static void add_message(struct ku_seg_call *call, const struct context *c, const struct umsg *m)
{
    struct ku_seg_op op = { .kind = KU_OP_MESSAGE, .lrank = m->source, .tag = m->tag, .bytes = m->len };
    const struct MPIR_COMMUNICATOR *comm = comm_of(c);
    describe_comm(&op, comm, c->id);
    op.grank = grank_of(comm, m->source);
    if (op.context != MPID_CONTEXT_PT2PT)
        return; /* the library's own */
    if (call->nmsgs < KU_CALL_MSGS)
        call->msg[call->nmsgs] = op;
    call->nmsgs++;
}

static void add_messages(struct context *c, void *rep)
{
    for (const struct umsg *m = c->unexp.head; m != NULL; m = m->next)
        add_message(((struct report *)rep)->call, c, m);
}

struct unreceived {
    void (*fn)(const struct MPIR_COMMUNICATOR *comm, int32_t source, int32_t tag, int64_t bytes,
               const struct MPID_Note *note, void *arg);
    void *arg;
};

static void show_unreceived(struct context *c, void *arg)
{
    const struct unreceived *u = arg;
    const struct MPIR_COMMUNICATOR *comm = comm_of(c);
    if (comm != NULL && c->id != comm->context_id + MPID_CONTEXT_PT2PT)
        return; /* the library's own */
    for (const struct umsg *m = c->unexp.head; m != NULL; m = m->next)
        u->fn(comm, m->source, m->tag, m->len, MPID_Note_beside(m), u->arg);
}

void MPID_Unreceived(void (*fn)(const struct MPIR_COMMUNICATOR *comm, int32_t source, int32_t tag,
                                int64_t bytes, const struct MPID_Note *note, void *arg),
                     void *arg)
{
    struct unreceived u = { fn, arg };
    MPID_Contexts_each(show_unreceived, &u);
}

static void add_probe(const struct core_probe *p, struct report *rep)
{
    struct ku_seg_op *op = next_op(rep, p->comm);
    op->kind = KU_OP_PROBE;
    op->lrank = p->source;
    op->tag = p->tag;
    op->grank = p->source == MPI_ANY_SOURCE ? -1 : grank_of(p->comm, p->source);
    describe_comm(op, p->comm, p->context_id);
}

static void add_members(struct ku_seg_call *call, const struct MPIR_COMMUNICATOR *comm)
{
    memset(call->members, 0, sizeof call->members);
    call->comm_size = 0;
    if (comm == NULL || MPID_core.job.size > KU_CALL_MEMBERS)
        return;
    call->comm = comm->context_id;
    call->comm_size = comm->size;
    for (int32_t i = 0; i < comm->remote_size; i++) {
        int32_t g = grank_of(comm, i);
        if (g >= 0 && g < KU_CALL_MEMBERS)
            call->members[g / 8] |= (uint8_t)(1 << g % 8);
    }
}

/* What a call is for: a collective operation in memory, a probe, one request, several; or it does not say. */
static void add_waits(struct report *rep, const struct core_waits *what)
{
    rep->waited = true;
    if (what->team != NULL)
        add_team(rep, what->team);
    else if (what->probe->on)
        add_probe(what->probe, rep);
    else if (what->request != NULL)
        add_request(what->request, rep);
    else
        for (int i = 0; i < what->waited->n; i++)
            add_request(what->waited->requests[i], rep);
    rep->waited = false;
}

static void add_waited(struct report *rep, struct MPIR_HANDLE *request)
{
    struct core_waits what = { request, MPID_core.waits, &MPID_Probing, &MPID_Waited };
    add_waits(rep, &what);
    rep->call->any = MPID_Waited.n > 0 && MPID_Waited.any;
    if (rep->call->nops == 0)
        add_all(rep);
}

void MPID_Report_thread(const char *name, uint64_t caller, const struct core_waits *what)
{
    struct ku_seg_call found; /* of which the first operation is kept */
    struct ku_seg_call *call = ku_segment_call(&MPID_core.job.segment, (uint32_t)MPID_core.job.local_rank);
    struct report rep = { .call = &found };
    int32_t at = call->nthreads++;
    if (at >= KU_CALL_THREADS)
        return;
    found.nops = 0;
    found.what[0] = '\0';
    add_waits(&rep, what);
    struct ku_seg_thread *t = &call->thread[at];
    *t = (struct ku_seg_thread){ .caller = caller, .nops = found.nops };
    if (found.nops > 0)
        t->op = found.op[0];
    snprintf(t->call, sizeof t->call, "%s", name != NULL ? name : "");
}

/* Memory has no way on which something could be: who looks there sees all that was sent before. */
static bool under_way(void)
{
    for (int i = 0; i < MPID_core.npoll; i++)
        if (MPID_core.poll[i]->fd >= 0 && MPID_core.poll[i]->ops.under_way(MPID_core.poll[i]->dev))
            return true;
    for (struct peer *p = MPID_core.peers.first; p != NULL; p = p->next_used)
        if (MPID_Peer_awaits(p))
            return true;
    return false;
}

/* The other side of an operation, if it is of another job. */
static void name_other(struct ku_seg_op *op)
{
    struct MPID_Process p;
    if (op->grank < MPID_core.job.size)
        return;
    MPID_Process_of(op->grank, &p);
    op->job = p.job;
    op->there = p.rank;
}

static void name_others(struct ku_seg_call *call)
{
    for (int32_t i = 0; i < call->nops && i < KU_CALL_OPS; i++)
        name_other(&call->op[i]);
    for (int32_t i = 0; i < call->nmsgs && i < KU_CALL_MSGS; i++)
        name_other(&call->msg[i]);
    for (int32_t i = 0; i < call->nthreads && i < KU_CALL_THREADS; i++)
        if (call->thread[i].nops > 0)
            name_other(&call->thread[i].op);
}

static uint8_t others(struct ku_seg_call *call)
{
    int32_t n = call->njobs = MPID_Jobs_connected(call->job, KU_CALL_JOBS);
    return (uint8_t)((MPID_core.config.others_end != NULL ? MPID_core.config.others_end() : 0) |
                     (MPID_Jobs_awaited() || n > KU_CALL_JOBS ? KU_OTHERS_JOBS : 0) |
                     (n > 0 ? KU_OTHERS_MET : 0));
}

void MPID_Report(struct MPIR_HANDLE *waited, bool polls)
{
    const struct ku_segment *s = &MPID_core.job.segment;
    struct report rep = { .call = ku_segment_call(s, (uint32_t)MPID_core.job.local_rank) };
    struct ku_seg_call *call = rep.call;
    uint32_t asked = atomic_load_explicit(&s->head->asked, memory_order_acquire);
    atomic_store_explicit(&call->answered, asked - 1, memory_order_release);
    call->polls = polls;
    call->others = others(call);
    call->under_way = under_way();
    call->nops = call->nmsgs = call->nthreads = 0;
    call->call[0] = call->what[0] = '\0';
    call->caller = 0;
    call->progress =
        MPID_core.completions + MPID_core.sends + (MPID_core.waits != NULL ? MPID_core.waits->epoch : 0);
    for (const struct team *t = MPID_core.begun; t != NULL; t = t->next)
        call->progress += 1 + t->epoch;
    find_call(call);
    add_waited(&rep, waited);
    MPID_Contexts_each(add_messages, &rep);
    add_members(call, rep.comm);
    if (needs_some(MPID_NEEDS_THREADS))
        MPID_Thread_report();
    name_others(call);
    atomic_store_explicit(&call->seen, ku_clock_ns(), memory_order_relaxed);
    MPID_core.answered = asked;
    atomic_store_explicit(&call->answered, asked, memory_order_release);
}

/* Does every process here sleep in MPI, or has ended? */
static bool all_sleep(const struct ku_segment *s)
{
    for (uint32_t i = 0; i < s->head->nlocal; i++) {
        const struct ku_seg_rank *r = ku_segment_rank(s, i);
        uint32_t state = atomic_load_explicit(&r->state, memory_order_relaxed);
        if (i != (uint32_t)MPID_core.job.local_rank && state != KU_RANK_DEAD && state != KU_RANK_FINALIZED &&
            (state != KU_RANK_RUNNING ||
             atomic_load_explicit(&r->sleeping, memory_order_relaxed) == KU_AWAKE))
            return false;
    }
    return true;
}

void MPID_Report_still(void)
{
    const struct ku_segment *s = &MPID_core.job.segment;
    uint32_t none = 0;
    pmi_look(&MPID_core.job);
    if (atomic_load_explicit(&s->head->still, memory_order_relaxed) == 0 && all_sleep(s) &&
        atomic_compare_exchange_strong(&s->head->still, &none, 1))
        pmi_still(&MPID_core.job);
}
