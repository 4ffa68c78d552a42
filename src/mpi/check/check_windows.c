/* SPDX-License-Identifier: BSD-3-Clause */
/* check_windows.c: do the types of the data that a one-sided call moves fit those that it gives for the target (MPI
 * 5.0, "One-Sided Communications")?  All of it stands in the call.  What MPI itself finds is an error of the call. */
#include "config.h"
#include "check_windows.h"
#include <string.h>
#include "calls.h"
#include "check_words.h"
#include "mpi_const.h"
#include "object.h"
#include "tell.h"
#include "type.h"

/* Of the target, the origin, or the result: the arguments that have its count and type; -1: there are none. */
struct side {
    int count, type;
    struct MPID_Signature is;
};

static int arg_of(const struct MPID_Procedure *p, const char *whose, const char *what)
{
    size_t n = strlen(whose);
    for (int i = 0; i < p->nargs; i++)
        if (strncmp(p->args[i].name, whose, n) == 0 && strcmp(p->args[i].name + n, what) == 0)
            return i;
    return -1;
}

/* False: the call has none, or uses none. */
static bool side_of(const struct MPID_Call *call, const char *whose, struct side *s)
{
    s->count = arg_of(call->procedure, whose, "_count");
    s->type = arg_of(call->procedure, whose, "_datatype");
    if (s->count < 0 || s->type < 0)
        return false;
    int64_t count = MPIR_Call_host.integer(call, s->count, 0);
    MPIR_Datatype *t = MPIR_Object_of(MPIR_KIND_DATATYPE, MPIR_Call_host.handle(call, s->type, 0));
    if (!t || count <= 0)
        return false;
    MPID_Signature_of(&t->adi, count, INT64_MAX, &s->is);
    return !(s->is.flags & (MPID_SIGNATURE_UNKNOWN | MPID_SIGNATURE_PACKED));
}

static void tell(const struct MPID_Call *call, const char *whose, const struct side *s,
                 const struct side *target)
{
    struct MPIR_Words w;
    if ((s->is.n == target->is.n && s->is.digest == target->is.digest) || !MPIR_Words_begin(&w))
        return;
    fputs("has ", w.out);
    MPIR_Words_signature(w.out, &target->is);
    fprintf(w.out, " where the %s has ", whose);
    MPIR_Words_signature(w.out, &s->is);
    MPIR_Words_tell(&w, KU_FAULT_WINDOW_TYPES, call->procedure->name,
                    call->procedure->args[target->type].name, MPIR_Call_caller(), 0);
}

static void window_left(void *self, const struct MPID_Call *call, int error)
{
    struct side target, other;
    int rank = arg_of(call->procedure, "target", "_rank"), op = arg_of(call->procedure, "op", "");
    (void)self;
    if (error || rank < 0 || MPIR_Call_host.integer(call, rank, 0) == MPI_PROC_NULL ||
        !side_of(call, "target", &target))
        return;
    bool none = op >= 0 && MPIR_Call_host.handle(call, op, 0) == KEEL_MPI_NO_OP;
    if (!none && side_of(call, "origin", &other))
        tell(call, "origin", &other, &target);
    if (side_of(call, "result", &other))
        tell(call, "result", &other, &target);
}

static const struct MPID_Listener listener = { .version = MPID_LISTEN_VERSION,
                                               .size = sizeof listener,
                                               .call_left = window_left };
static bool window_wanted;

void MPIR_Check_windows_begin(void)
{
    window_wanted = MPIR_Check_wants(KU_FAULT_WINDOW_TYPES) && MPID_Listener_add(&listener) == 0;
}

void MPIR_Check_windows_end(void)
{
    if (window_wanted)
        MPID_Listener_remove(&listener);
    window_wanted = false;
}
