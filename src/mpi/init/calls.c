/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c: see calls.h.
 *
 * The description of a procedure is a text (gen_calls.py), so that a library which nobody listens to has no tables
 * to relocate; it is read when the procedure is called for the first time while somebody listens.  What is read
 * stays as long as the process. */
#include "config.h"
#include "calls.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "comm.h"
#include "mpi_err.h"
#include "mpi_const.h"
#include "mpid.h"
#include "object.h"
#include "op.h"
#include "request.h"
#include "stage.h"
#include "topo.h"
#include "type.h"
#include "win.h"

enum { PAGE = 4096 /* nothing is ever mapped below */ };

_Static_assert((int)MPID_OBJECT_COMM == MPIR_KIND_COMM && (int)MPID_OBJECT_SESSION == MPIR_KIND_SESSION &&
                   (int)MPID_OBJECT_REQUEST == MPIR_KIND_REQUEST,
               "the kinds of objects are numbered alike");

_Thread_local bool MPIR_Call_pass;
static _Thread_local int depth __attribute__((tls_model("initial-exec")));
bool MPIR_Call_untold;

/* Of the innermost call: where it returns to, and as that is told (0: nobody has asked). */
static _Thread_local const void *call_from __attribute__((tls_model("initial-exec")));
static _Thread_local uint64_t call_place __attribute__((tls_model("initial-exec")));
static uint64_t ids;
static uint32_t numbers;

/* ---- Descriptions ---- */

/* The next piece of *text up to `end`, or up to its end. */
static char *piece(char **text, char end)
{
    char *from = *text, *to = strchr(from, end);
    if (to)
        *to++ = 0;
    *text = to ? to : from + strlen(from);
    return from;
}

/* A procedure, with what is not told of its arguments (MPIR_USE). */
struct procedure {
    struct MPID_Procedure told;
    uint8_t *use;
};

static void read_arg(char *text, struct MPID_Arg *a, uint8_t *use)
{
    int number[8] = { 0 };
    a->name = piece(&text, '|');
    a->type = piece(&text, '|');
    for (int i = 0; i < 8; i++)
        number[i] = atoi(piece(&text, '|'));
    a->what = (uint8_t)number[0];
    a->access = (uint8_t)number[1];
    a->size = (uint8_t)number[2];
    a->object = (uint8_t)number[3];
    a->length = (int8_t)number[4];
    a->count = (int8_t)number[5];
    a->datatype = (int8_t)number[6];
    *use = (uint8_t)number[7];
}

static int count_args(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text == ';';
    return n;
}

/* NULL without memory: then the call is not told. */
static const struct MPID_Procedure *read_procedure(const char *text)
{
    int n = count_args(text);
    struct procedure *p = malloc(sizeof *p);
    struct MPID_Arg *args = calloc((size_t)n + 1, sizeof *args);
    uint8_t *use = calloc((size_t)n + 1, sizeof *use);
    char *own = strdup(text);
    if (!p || !args || !use || !own) {
        free(p);
        free(args);
        free(use);
        free(own);
        return NULL;
    }
    p->told =
        (struct MPID_Procedure){ .name = piece(&own, ';'), .nargs = n, .args = args, .number = numbers++ };
    p->use = use;
    for (int i = 0; i < n; i++)
        read_arg(piece(&own, ';'), &args[i], &use[i]);
    return &p->told;
}

/* ---- Arguments ---- */

static const struct MPID_Arg *arg_of(const struct MPID_Call *call, int arg)
{
    static const struct MPID_Arg none = { .name = "", .type = "", .length = MPID_ARG_NONE };
    return arg >= 0 && arg < call->procedure->nargs ? &call->procedure->args[arg] : &none;
}

/* Where the values lie: the argument itself, or what it points to; NULL: nowhere. */
static const void *values_of(const struct MPID_Call *call, int arg)
{
    const struct MPID_Arg *a = arg_of(call, arg);
    const void *at;
    if (!a->name[0] || a->access == MPID_ARG_VALUE)
        return a->name[0] ? call->arg[arg] : NULL;
    memcpy(&at, call->arg[arg], sizeof at);
    return (uintptr_t)at < PAGE ? NULL : at;
}

static int64_t integer(const struct MPID_Call *call, int arg, int64_t index)
{
    const struct MPID_Arg *a = arg_of(call, arg);
    const char *at = values_of(call, arg);
    int32_t narrow;
    int64_t wide;
    if (!at || a->size == 0 || index < 0)
        return 0;
    if (a->size == sizeof wide)
        return memcpy(&wide, at + index * a->size, sizeof wide), wide;
    return memcpy(&narrow, at + index * a->size, sizeof narrow), narrow;
}

static uint64_t handle(const struct MPID_Call *call, int arg, int64_t index)
{
    const struct MPIR_Call *c = (const struct MPIR_Call *)call; /* its first member */
    const struct MPID_Arg *a = arg_of(call, arg);
    const void *at = values_of(call, arg);
    return at && a->what == MPID_ARG_HANDLE && index >= 0 ? c->abi->handle(a->object, at, index) : 0;
}

static void *object_of(enum MPIR_KIND kind, uint64_t value)
{
    void *o = MPIR_Object_of(kind, value);
    return o || kind != MPIR_KIND_COMM ? o : MPIR_Object_pending(value);
}

int MPIR_Call_use(const struct MPID_Call *call, int arg)
{
    return ((const struct procedure *)call->procedure)->use[arg]; /* its first member */
}

const MPIR_Comm *MPIR_Call_comm(const struct MPID_Call *call)
{
    for (int i = 0; i < call->procedure->nargs; i++)
        if (arg_of(call, i)->object == MPID_OBJECT_COMM && arg_of(call, i)->access == MPID_ARG_VALUE)
            return MPIR_Object_of(MPIR_KIND_COMM, handle(call, i, 0));
    return NULL;
}

static int neighbors(const MPIR_Comm *comm, bool out)
{
    int in_degree, out_degree;
    if (!comm->topo || MPIR_Topo_degrees(comm, &in_degree, &out_degree))
        return 0;
    return out ? out_degree : in_degree;
}

static int64_t calls_length(const struct MPID_Call *call, int arg)
{
    const struct MPID_Arg *a = arg_of(call, arg);
    const MPIR_Comm *comm =
        a->length < MPID_ARG_NONE && a->length != MPID_ARG_ONE ? MPIR_Call_comm(call) : NULL;
    int64_t n = 0;
    if (a->length >= 0)
        n = integer(call, a->length, 0);
    else if (a->length == MPID_ARG_ONE)
        n = 1;
    else if (comm && a->length == MPID_ARG_SIZE)
        n = comm->adi.remote_size;
    else if (comm && a->length == MPID_ARG_LOCAL)
        n = comm->adi.size;
    else if (comm && a->length == MPID_ARG_NEIGHBORS)
        n = neighbors(comm, a->name[0] == 's');
    return n > 0 && values_of(call, arg) ? n : 0;
}

/* ---- As a person reads them ---- */

static int handle_text(enum MPIR_KIND kind, uint64_t value, char *text, size_t size)
{
    const void *o = object_of(kind, value);
    const char *name = NULL;
    if (o && kind == MPIR_KIND_COMM)
        name = ((const MPIR_Comm *)o)->name;
    else if (o && kind == MPIR_KIND_DATATYPE)
        name = MPIR_Datatype_name(o);
    else if (o && kind == MPIR_KIND_OP)
        name = ((const MPIR_Op *)o)->name;
    else if (o && kind == MPIR_KIND_WIN)
        name = ((const MPIR_Win *)o)->name;
    if (name && *name)
        return snprintf(text, size, "%s", name);
    if (o && kind == MPIR_KIND_COMM)
        return snprintf(text, size, "0x%llx (%d ranks)", (unsigned long long)value,
                        ((const MPIR_Comm *)o)->adi.size);
    if (o && kind == MPIR_KIND_DATATYPE)
        return snprintf(text, size, "0x%llx (%lld bytes)", (unsigned long long)value,
                        (long long)((const MPIR_Datatype *)o)->adi.size);
    return snprintf(text, size, "0x%llx", (unsigned long long)value);
}

static int integer_text(const struct MPID_Arg *a, int64_t value, char *text, size_t size)
{
    const char *name = NULL;
    if (a->what == MPID_ARG_RANK)
        name = value == MPI_ANY_SOURCE  ? "MPI_ANY_SOURCE"
               : value == MPI_PROC_NULL ? "MPI_PROC_NULL"
               : value == MPI_ROOT      ? "MPI_ROOT"
                                        : NULL;
    else if (a->what == MPID_ARG_TAG && value == MPI_ANY_TAG)
        name = "MPI_ANY_TAG";
    return name ? snprintf(text, size, "%s", name) : snprintf(text, size, "%lld", (long long)value);
}

static int pointer_text(const struct MPID_Call *call, int arg, char *text, size_t size)
{
    const struct MPID_Arg *a = arg_of(call, arg);
    const void *at;
    memcpy(&at, call->arg[arg], sizeof at);
    if (a->what == MPID_ARG_BUFFER && (at == MPI_BOTTOM || at == MPI_IN_PLACE))
        return snprintf(text, size, "%s", at == MPI_BOTTOM ? "MPI_BOTTOM" : "MPI_IN_PLACE");
    if (a->what == MPID_ARG_STRING && a->access == MPID_ARG_IN && strcmp(a->type, "const char *") == 0 && at)
        return snprintf(text, size, "\"%.100s\"", (const char *)at);
    return snprintf(text, size, "%p", at);
}

static int value_text(const struct MPID_Call *call, int arg, int64_t i, char *text, size_t size)
{
    const struct MPID_Arg *a = arg_of(call, arg);
    return a->what == MPID_ARG_HANDLE
               ? handle_text((enum MPIR_KIND)a->object, handle(call, arg, i), text, size)
               : integer_text(a, integer(call, arg, i), text, size);
}

/* Text that grows: where the next piece goes, and what would be needed in all. */
struct text {
    char *at;
    size_t size;
    int n;
};

static void calls_grow(struct text *t, int n)
{
    size_t step = (size_t)n < t->size ? (size_t)n : t->size ? t->size - 1 : 0;
    t->n += n;
    t->at += step;
    t->size -= step;
}

static void array_text(const struct MPID_Call *call, int arg, struct text *t)
{
    enum { SHOWN = 8 };
    int64_t n = calls_length(call, arg);
    for (int64_t i = 0; i < n && i < SHOWN; i++) {
        calls_grow(t, snprintf(t->at, t->size, "%s", i == 0 ? "[" : ", "));
        calls_grow(t, value_text(call, arg, i, t->at, t->size));
    }
    calls_grow(t, snprintf(t->at, t->size, "%s", n == 0 ? "[]" : n > SHOWN ? ", ...]" : "]"));
}

static int text_of(const struct MPID_Call *call, int arg, char *text, size_t size)
{
    const struct MPID_Arg *a = arg_of(call, arg);
    struct text t = { text, size, 0 };
    bool values = a->what == MPID_ARG_INTEGER || a->what == MPID_ARG_RANK || a->what == MPID_ARG_TAG ||
                  a->what == MPID_ARG_HANDLE;
    if (!a->name[0])
        return snprintf(text, size, "(there is no argument %d)", arg);
    calls_grow(&t, snprintf(t.at, t.size, "%s=", a->name));
    if (a->access == MPID_ARG_OUT && !((const struct MPIR_Call *)call)->left)
        values = false;
    if (a->what == MPID_ARG_OTHER || !values || !values_of(call, arg))
        calls_grow(&t, a->what == MPID_ARG_OTHER ? snprintf(t.at, t.size, "...")
                                                 : pointer_text(call, arg, t.at, t.size));
    else if (a->length == MPID_ARG_ONE)
        calls_grow(&t, value_text(call, arg, 0, t.at, t.size));
    else
        array_text(call, arg, &t);
    return t.n;
}

static int calls_place(const struct MPID_Call *call, char *text, size_t size)
{
    (void)call;
    return snprintf(text, size, MPID_PLACE, (unsigned long long)MPIR_Call_caller());
}

const struct MPID_Listen_host MPIR_Call_host = {
    .integer = integer, .length = calls_length, .handle = handle, .text = text_of, .place = calls_place
};

/* ---- Objects ---- */

static bool may_change(const struct MPID_Arg *a)
{
    return a->what == MPID_ARG_HANDLE && a->access == MPID_ARG_INOUT;
}

/* Without memory for them nothing is told of what a call frees. */
static void note_handles(struct MPIR_Call *c)
{
    const struct MPID_Procedure *p = c->told.procedure;
    int64_t n = 0;
    for (int a = 0; a < p->nargs; a++)
        n += may_change(&p->args[a]) ? calls_length(&c->told, a) : 0;
    if (n == 0)
        return;
    c->before =
        n <= (int64_t)(sizeof c->small / sizeof *c->small) ? c->small : malloc((size_t)n * sizeof *c->before);
    n = 0;
    for (int a = 0; a < p->nargs && c->before; a++)
        for (int64_t i = 0, m = may_change(&p->args[a]) ? calls_length(&c->told, a) : 0; i < m; i++)
            c->before[n++] = handle(&c->told, a, i);
}

static void tell_object(const struct MPIR_Call *c, bool made, uint32_t kind, uint64_t value)
{
    const struct MPID_Object o = { .kind = kind, .handle = value, .call = c->told.procedure->name };
    for (int i = 0; i < MPID_Listeners.n; i++) {
        const struct MPID_Listener *l = MPID_Listeners.at[i];
        void (*fn)(void *, const struct MPID_Object *) = made ? l->object_made : l->object_freed;
        if (fn)
            fn(l->self, &o);
    }
}

/* What is predefined is neither made nor freed, and so are null handles. */
static void tell_made(const struct MPIR_Call *c, int arg)
{
    const struct MPID_Arg *a = arg_of(&c->told, arg);
    for (int64_t i = 0, n = calls_length(&c->told, arg); i < n; i++) {
        uint64_t value = handle(&c->told, arg, i);
        if (value >= MPIR_PREDEFINED_MAX)
            tell_object(c, true, a->object, value);
    }
}

static void tell_freed(const struct MPIR_Call *c, int arg, const uint64_t **before)
{
    const struct MPID_Arg *a = arg_of(&c->told, arg);
    for (int64_t i = 0, n = calls_length(&c->told, arg); i < n; i++) {
        uint64_t was = *(*before)++;
        if (was >= MPIR_PREDEFINED_MAX && handle(&c->told, arg, i) != was)
            tell_object(c, false, a->object, was);
    }
}

static void tell_objects(struct MPIR_Call *c, int error)
{
    const struct MPID_Procedure *p = c->told.procedure;
    const uint64_t *before = c->before;
    for (int a = 0; a < p->nargs; a++)
        if (c->before && may_change(&p->args[a]))
            tell_freed(c, a, &before);
        else if (!error && p->args[a].what == MPID_ARG_HANDLE && p->args[a].access == MPID_ARG_OUT)
            tell_made(c, a);
    if (c->before != c->small)
        free(c->before);
}

/* ---- Calls ---- */

bool MPIR_Call_enter(struct MPIR_Call *c, const struct MPID_Procedure **procedure, const char *text,
                     const void *const *arg, const struct MPIR_Abi *abi, const void *from)
{
    if (__builtin_expect(!*procedure, 0))
        *procedure = read_procedure(text);
    c->told = (struct MPID_Call){ *procedure, arg, ++ids, depth++ };
    c->abi = abi;
    c->left = false;
    c->before = NULL;
    c->outer = call_from;
    call_from = from;
    call_place = 0;
    c->refused = 0;
    c->stages = false;
    if (!*procedure) {
        MPIR_Call_untold = true;
        return true;
    }
    MPID_Call_name = (*procedure)->name;
    if (MPID_Listeners.heard & MPID_HEARD_OBJECTS)
        note_handles(c);
    for (int i = 0; i < MPID_Listeners.n; i++)
        if (MPID_Listeners.at[i]->call_entered)
            MPID_Listeners.at[i]->call_entered(MPID_Listeners.at[i]->self, &c->told);
    if (MPID_Needs() & MPID_NEEDS_DEVICE_MEMORY) {
        c->refused = MPIR_Stage_enter(c);
        c->stages = c->refused == 0;
    }
    return c->refused == 0;
}

/* Of a collective that is refused here: the other processes must not wait for this one. */
static void tell_others(const struct MPIR_Call *c, int arg, MPIR_Comm *comm, int error)
{
    struct ku_err words = *ku_err_last();
    int use = c->refused ? MPIR_Call_use(&c->told, arg) : 0;
    if (use == MPIR_USE_COLLECTIVE)
        MPIR_Coll_refused(comm, error, c->told.procedure->name);
    else if (use == MPIR_USE_INIT)
        MPIR_Coll_init_refused(comm, error, c->told.procedure->name);
    else if (use == MPIR_USE_MAKES)
        MPIR_Make_refused(comm, error, c->told.procedure->name, MPIR_Comm_error_ends(comm));
    *ku_err_last() = words;
}

/* Its error goes to the object that it is about. */
static int calls_fail(const struct MPIR_Call *c, int error)
{
    const struct MPID_Procedure *p = c->told.procedure;
    for (int i = 0; i < p->nargs; i++) {
        const struct MPID_Arg *a = &p->args[i];
        void *o = a->what == MPID_ARG_HANDLE && a->access != MPID_ARG_OUT && calls_length(&c->told, i) > 0
                      ? MPIR_Object_of((enum MPIR_KIND)a->object, handle(&c->told, i, 0))
                      : NULL;
        if (o && a->object == MPID_OBJECT_COMM) {
            tell_others(c, i, o, error);
            return MPIR_Err_comm(o, p->name, error);
        }
        if (o && a->object == MPID_OBJECT_WIN)
            return MPIR_Err_win(o, p->name, error);
        if (o && a->object == MPID_OBJECT_FILE)
            return MPIR_Err_file(o, p->name, error);
        if (o && a->object == MPID_OBJECT_REQUEST && ((MPIR_Request *)o)->comm)
            return MPIR_Err_comm((MPIR_Comm *)((MPIR_Request *)o)->comm, p->name, error);
    }
    return MPIR_Err_none(p->name, error);
}

int MPIR_Call_refuse(struct MPIR_Call *c)
{
    return MPIR_Call_leave(c, calls_fail(c, c->refused));
}

uint64_t MPIR_Call_caller(void)
{
    if (call_place == 0 && call_from)
        call_place = MPID_Caller_at(call_from);
    if (call_place == 0)
        call_place = MPID_Caller();
    return call_place;
}

static int calls_left(struct MPIR_Call *c, int error)
{
    c->left = true;
    if (MPID_Needs() & MPID_NEEDS_DEVICE_MEMORY && c->stages) {
        int staged = MPIR_Stage_leave(c, error);
        error = error || !staged ? error : calls_fail(c, staged);
    }
    if (MPID_Listeners.heard & MPID_HEARD_WAITS)
        MPID_Listeners_left();
    if (MPID_Listeners.heard & MPID_HEARD_OBJECTS)
        tell_objects(c, error);
    for (int i = 0; i < MPID_Listeners.n; i++)
        if (MPID_Listeners.at[i]->call_left)
            MPID_Listeners.at[i]->call_left(MPID_Listeners.at[i]->self, &c->told, error);
    return error;
}

int MPIR_Call_leave(struct MPIR_Call *c, int error)
{
    depth--;
    if (c->told.procedure)
        error = calls_left(c, error);
    call_from = c->outer;
    call_place = 0;
    return error;
}
