/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.c: how often each procedure was called, where, how long that took, and for whom it waited (profile.h).
 *
 * A listener (mpid_listen.h) adds up in tables that mpiexec reads (util/profiled.h).  It hears of calls and waits
 * alone, so that messages go the ways that they go without it: what is sent is what the calls say.  Calls that a
 * function of the program makes within another call are part of that one. */
#include "config.h"
#include "profile.h"
#include <stdio.h>
#include <sys/resource.h>
#include "calls.h"
#include "object.h"
#include "profile_tables.h"
#include "type.h"
#include "util/clock.h"
#include "util/knob.h"

static uint64_t bytes_of(const struct MPIR_Profiled_proc *p, const struct MPID_Call *call)
{
    int64_t bytes, n = p->count < 0 ? 0 : MPIR_Call_host.integer(call, p->count, 0);
    if (n > 0 && p->parts >= 0 && __builtin_mul_overflow(n, MPIR_Call_host.integer(call, p->parts, 0), &n))
        return 0;
    const MPIR_Datatype *t =
        n > 0 ? MPIR_Object_of(MPIR_KIND_DATATYPE, MPIR_Call_host.handle(call, p->type, 0)) : NULL;
    return !t || __builtin_mul_overflow(n, t->adi.size, &bytes) || bytes < 0 ? 0 : (uint64_t)bytes;
}

static const MPIR_Comm *comm_of(const struct MPIR_Profiled_proc *p, const struct MPID_Call *call)
{
    return p->comm < 0 ? NULL : MPIR_Object_of(MPIR_KIND_COMM, MPIR_Call_host.handle(call, p->comm, 0));
}

/* ---- Requests ---- */

/* The first collective of those that the call waits for: it is what the others may be late for. */
static uint64_t awaited(const struct MPIR_Profiled_proc *p, const struct MPID_Call *call)
{
    enum { LOOKED = 64 };
    uint64_t which = 0;
    int64_t n = MPIR_Call_host.length(call, p->request);
    for (int64_t i = 0; i < n && i < LOOKED && !which; i++)
        which = MPIR_Profiled_kept_slot(MPIR_Call_host.handle(call, p->request, i));
    return which;
}

/* How many bytes are sent. */
static uint64_t started(const struct MPIR_Profiled_proc *p, const struct MPID_Call *call)
{
    uint64_t bytes = 0;
    int64_t n = MPIR_Call_host.length(call, p->request);
    for (int64_t i = 0; i < n; i++) {
        const struct MPIR_Profiled_request *r =
            MPIR_Profiled_kept(MPIR_Call_host.handle(call, p->request, i));
        if (!r)
            continue;
        MPIR_Profiled_sent(MPIR_Profiled_in()->site, r->peer, r->stream, 1, r->bytes);
        bytes += r->bytes;
    }
    return bytes;
}

static void sent(const struct MPIR_Profiled_proc *p, const struct MPID_Call *call, const MPIR_Comm *comm,
                 uint64_t bytes)
{
    int64_t dest = MPIR_Call_host.integer(call, p->dest, 0);
    struct MPIR_Profiled_request r = { .peer = -1, .bytes = bytes };
    if (dest >= 0 && dest < comm->adi.remote_size) {
        r.peer = MPIR_Comm_grank(comm, (int32_t)dest);
        r.stream = ku_profiled_stream(MPIR_Comm_context(comm, MPID_CONTEXT_PT2PT),
                                      (int32_t)MPIR_Call_host.integer(call, p->tag, 0));
    }
    if (p->init && r.peer >= 0) {
        r.handle = MPIR_Call_host.handle(call, p->request, 0);
        MPIR_Profiled_keep(&r);
    } else if (r.peer >= 0) {
        MPIR_Profiled_sent(MPIR_Profiled_in()->site, r.peer, r.stream, 1, bytes);
    }
}

/* ---- Listening ---- */

static void profile_entered(void *self, const struct MPID_Call *call)
{
    struct MPIR_Profiled_inside *in = MPIR_Profiled_in();
    struct ku_profiled *t = MPIR_Profiled;
    (void)self;
    if (call->depth > 0)
        return;
    const struct MPIR_Profiled_proc *p = MPIR_Profiled_proc_of(call);
    *in = (struct MPIR_Profiled_inside){ .id = call->id, .entered = ku_clock_ns() };
    if (!p)
        return;
    in->receives = p->receives;
    in->site = MPIR_Profiled_site(MPIR_Call_caller(), call->procedure->number);
    t->entered = in->entered;
    t->inside = in->site;
    if (p->collective) {
        const MPIR_Comm *comm = comm_of(p, call);
        in->which =
            comm && comm->adi.size + (comm->local != NULL) > 1 ? MPIR_Profiled_arrive(comm, in->entered) : 0;
    } else if (p->waits) {
        in->which = awaited(p, call);
        in->waits = call;
        in->proc = p;
    } else if (p->frees) {
        MPIR_Profiled_drop(MPIR_Call_host.handle(call, p->request, 0));
    }
}

static void profile_add(struct ku_profiled_sum *s, uint64_t ns, uint64_t bytes)
{
    s->calls++;
    s->ns += ns;
    s->waited += MPIR_Profiled_in()->waited;
    s->late += MPIR_Profiled_in()->late;
    s->bytes += bytes;
}

/* What it has sent, or will be known by its request later: the bytes that count as this call's. */
static uint64_t profile_data(const struct MPIR_Profiled_proc *p, const struct MPID_Call *call,
                             const MPIR_Comm *comm)
{
    uint64_t bytes = p->starts ? started(p, call) : bytes_of(p, call);
    if (p->sends && comm)
        sent(p, call, comm, bytes);
    if (p->collective && p->request >= 0 && MPIR_Profiled_in()->which)
        MPIR_Profiled_keep_slot(MPIR_Call_host.handle(call, p->request, 0), MPIR_Profiled_in()->which);
    return p->init ? 0 : bytes;
}

enum { MEMORY_CALLS = 4096 /* between two looks */ };
static uint64_t peak_memory(void)
{
    struct rusage r;
    return getrusage(RUSAGE_SELF, &r) == 0 ? (uint64_t)r.ru_maxrss << 10 : 0;
}

static void profile_left(void *self, const struct MPID_Call *call, int error)
{
    struct MPIR_Profiled_inside *in = MPIR_Profiled_in();
    struct ku_profiled *t = MPIR_Profiled;
    uint64_t now = in->receives && in->ended ? in->ended : ku_clock_ns(), ns = now - in->entered, bytes = 0;
    (void)self;
    if (call->depth > 0 || !in->id)
        return;
    const struct MPIR_Profiled_proc *p = MPIR_Profiled_proc_of(call);
    const MPIR_Comm *comm = p ? comm_of(p, call) : NULL;
    struct ku_profiled_comm *row = comm ? MPIR_Profiled_comm(comm) : NULL;
    if (in->which && !(p->collective && p->request >= 0))
        MPIR_Profiled_over(in->which, in->entered, now);
    if (p && !error)
        bytes = profile_data(p, call, comm);
    if (!p)
        profile_add(&t->rest, ns, bytes);
    else if (!in->site)
        profile_add(&t->call[call->procedure->number].sum, ns, bytes);
    if (row)
        profile_add(&row->sum, ns, bytes);
    if (p && p->count >= 0 && !p->init)
        profile_add(&t->by_class[MPIR_Profiled_class(bytes)], ns, bytes);
    if (in->site) {
        struct ku_profiled_site *s = &t->site[in->site - 1];
        profile_add(&s->sum, ns, bytes);
        s->most = s->most < ns ? ns : s->most;
    }
    if (call->id % MEMORY_CALLS == 1) /* it may be killed */
        t->peak = peak_memory();
    t->entered = 0;
    t->last = now;
    in->id = 0;
}

static const struct MPID_Listener listener = { .version = MPID_LISTEN_VERSION,
                                               .size = sizeof listener,
                                               .call_entered = profile_entered,
                                               .call_left = profile_left,
                                               .wait_begun = MPIR_Profiled_wait_begun,
                                               .wait_ended = MPIR_Profiled_wait_ended,
                                               .happened = MPIR_Profiled_happened,
                                               .hears = MPIR_Profiled_hears };

/* ---- Beginning and end ---- */

void MPIR_Profile_begin(void)
{
    const char *folder = ku_knob_str("PROFILE_FOLDER"), *page = ku_knob_str("PROFILE");
    if ((!folder || !*folder) && page && *page && MPID_MyWorldRank == 0)
        MPID_Message("KEEL_PROFILE: there is no page: Keel's mpiexec writes it, if the variable is in its "
                     "environment");
    if (!folder || !*folder || !MPIR_Profiled_open(folder))
        return;
    MPIR_Profiled_board(folder);
    if (MPID_Listener_add(&listener) != 0)
        MPIR_Profile_end();
    MPID_Listeners_tune();
}

void MPIR_Profile_final(void)
{
    if (!MPIR_Profiled || MPIR_Profiled->ended)
        return;
    MPIR_Profiled->peak = peak_memory();
    MPIR_Profiled->entered = 0;
    MPIR_Profiled->ended = ku_clock_ns();
    MPIR_Profiled_in()->id = 0;
}

void MPIR_Profile_end(void)
{
    if (!MPIR_Profiled)
        return;
    MPIR_Profile_final();
    MPID_Listener_remove(&listener);
    MPIR_Profiled_board_close();
    MPIR_Profiled_forget();
    MPIR_Profiled_close();
}
