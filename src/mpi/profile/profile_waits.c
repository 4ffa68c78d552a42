/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_waits.c: in the present call, for whom is it that this process waits?
 *
 * A wait begins when nothing has come for what is waited for, and ends when something comes; a call may have several.
 * For a message it is the other side's: of a receive until its message is there, or begins to come (an event of the
 * library; from then on its data move); of a send until it is complete.  For a collective it is the one that came
 * last, as the host's board has it when the call is over. */
#include "config.h"
#include <string.h>
#include "calls.h"
#include "mpid.h"
#include "object.h"
#include "profile_tables.h"
#include "util/clock.h"
#include "util/own.h"

_Thread_local void *MPIR_Profiled_own __attribute__((tls_model("initial-exec")));

struct MPIR_Profiled_inside *MPIR_Profiled_in_first(void)
{
    static struct MPIR_Profiled_inside spare; /* of threads for which there is no memory */
    return ku_own(&MPIR_Profiled_own, sizeof spare, &spare);
}

static bool is_of_program(const struct MPIR_HANDLE *r)
{
    return r->comm && r->context_id == r->comm->context_id + MPID_CONTEXT_PT2PT;
}

/* 1: it is sent, 2: received; 0: it is no message. */
static int waits_kind(const struct MPIR_HANDLE *r)
{
    if (r->handle_type == MPIR_SEND || r->handle_type == MPIR_PERSISTENT_SEND)
        return 1;
    return r->handle_type == MPIR_RECV || r->handle_type == MPIR_PERSISTENT_RECV ? 2 : 0;
}

/* A receive from MPI_ANY_SOURCE tells whom it was for when it is complete. */
static void waits_look(struct MPIR_Profiled_inside *in, const struct MPIR_HANDLE *r)
{
    const struct MPIR_COMMUNICATOR *comm = r->comm;
    in->message = r;
    in->sends = waits_kind(r) == 1;
    int32_t rank = r->rank, tag = r->tag;
    if (in->sends) {
        in->peer = r->peer;
    } else {
        if (atomic_load_explicit(&r->is_complete, memory_order_relaxed)) {
            rank = r->s.MPI_SOURCE;
            tag = r->s.MPI_TAG;
        }
        bool known = rank >= 0 && rank < comm->remote_size;
        in->peer = !known ? -1 : comm->lrank_to_grank ? comm->lrank_to_grank[rank] : rank;
    }
    in->any = in->peer < 0 || tag < 0;
    in->stream = tag < 0 ? 0 : ku_profiled_stream(r->context_id, tag);
}

/* The first message among the requests of the call that is complete, or is not.  NULL: none. */
static const struct MPIR_HANDLE *waits_pick(const struct MPIR_Profiled_inside *in, bool complete)
{
    enum { LOOKED = 64 };
    int64_t n = MPIR_Call_host.length(in->waits, in->proc->request);
    for (int64_t i = 0; i < n && i < LOOKED; i++) {
        const struct MPIR_HANDLE *r =
            MPIR_Object_of(MPIR_KIND_REQUEST, MPIR_Call_host.handle(in->waits, in->proc->request, i));
        if (r && waits_kind(r) &&
            (atomic_load_explicit(&r->is_complete, memory_order_relaxed) != 0) == complete)
            return r;
    }
    return NULL;
}

void MPIR_Profiled_wait_begun(void *self, const struct MPID_Waits *what)
{
    struct MPIR_Profiled_inside *in = MPIR_Profiled_in();
    const struct MPIR_HANDLE *r = (const struct MPIR_HANDLE *)(uintptr_t)what->transfer;
    (void)self;
    bool first = in->receives && in->ended == 0 && r && !MPID_Receive_begun(r);
    in->since = first ? in->entered : ku_clock_ns();
    in->split = 0;
    in->message = NULL;
    if (!in->id) /* in no call that is told of: what is left of the last one is void */
        return;
    if (!r && in->waits)
        r = waits_pick(in, false);
    if (!r || !waits_kind(r) || !is_of_program(r))
        return;
    waits_look(in, r);
    if (!in->sends && MPID_Receive_begun(r))
        in->split = in->since;
}

void MPIR_Profiled_wait_ended(void *self)
{
    struct MPIR_Profiled_inside *in = MPIR_Profiled_in();
    uint64_t now = ku_clock_ns(), late = (in->split ? in->split : now) - in->since;
    (void)self;
    in->waited += now - in->since;
    in->ended = now;
    if (!in->message)
        return;
    const struct MPIR_HANDLE *r = in->waits && in->proc->any ? waits_pick(in, true) : NULL;
    if (in->any || r)
        waits_look(in, r ? r : in->message);
    in->message = NULL;
    if (in->peer < 0 || in->peer >= MPID_MyWorldSize || in->peer == MPID_MyWorldRank)
        return;
    if (late == 0)
        return;
    in->late += late;
    MPIR_Profiled_waited(in->site, in->sends ? KU_LATE_RECEIVER : KU_LATE_SENDER, in->peer, in->stream,
                         in->id, late);
}

int MPIR_Profiled_hears(void *self, const char *event)
{
    (void)self;
    return strcmp(event, "rendezvous_begun") == 0;
}

/* Is it what is waited for? */
void MPIR_Profiled_happened(void *self, const struct MPID_Happening *h)
{
    struct MPIR_Profiled_inside *in = MPIR_Profiled_in();
    (void)self, (void)h;
    if (in->message && !in->sends && !in->split && MPID_Receive_begun(in->message))
        in->split = ku_clock_ns();
}
