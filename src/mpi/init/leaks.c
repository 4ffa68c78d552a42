/* SPDX-License-Identifier: BSD-3-Clause */
/* leaks.c: see leaks.h.
 *
 * The objects that live are in the slabs of their kinds, and the messages in the queues of the core; a note an
 * object tells which call gave it to the program, and where.  Without KEEL_LEAKS and checks nothing is kept while
 * the program runs.  Objects that the library keeps for another are not the program's: a communicator without a
 * handle, and a datatype whose references are all held by other datatypes.
 *
 * KEEL_LEAKS tells of each kind in one message; checks of each call that has made something (tell.h). */
#include "config.h"
#include "leaks.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calls.h"
#include "checks.h"
#include "comm.h"
#include "mpid_listen.h"
#include "request.h"
#include "tell.h"
#include "type.h"
#include "win.h"
#include "util/knob.h"

enum { SHOWN = 8 /* of a kind, each with its words */ };

struct list {
    enum MPIR_KIND kind;      /* MPIR_KIND_NONE: it is known to who fills the list */
    FILE *out;                /* the message; NULL: each object is told by itself, */
    enum ku_fault_kind fault; /* as one of these, */
    const char *one;          /* which is this */
    int64_t n;
    uint32_t *held;                       /* datatypes: references by others, by index */
    const struct MPIR_COMMUNICATOR *comm; /* messages: of this one; NULL: of all */
};

static bool wanted;

/* By kind and index of the object. */
static struct notes {
    struct note {
        const char *call; /* NULL: none */
        uint64_t caller;
        uint16_t gen;
    } * note;
    uint32_t room;
} notes[MPIR_KIND_COUNT];

static void leaks_made(void *self, const struct MPID_Object *object)
{
    (void)self;
    const struct keel_object *o = MPIR_Object_of((enum MPIR_KIND)object->kind, object->handle);
    if (!o && object->kind == MPID_OBJECT_COMM)
        o = MPIR_Object_pending(object->handle);
    if (!o || o->flags & KEEL_OBJ_PREDEFINED)
        return;
    struct notes *of = &notes[o->kind];
    if (o->index >= of->room) {
        uint32_t room = (o->index | 63) * 2;
        struct note *more = realloc(of->note, room * sizeof *more);
        if (!more)
            return;
        memset(more + of->room, 0, (room - of->room) * sizeof *more);
        *of = (struct notes){ more, room };
    }
    of->note[o->index] = (struct note){ object->call, MPIR_Call_caller(), o->gen };
}

static void leaks_entered(void *self, const struct MPID_Call *call);
static const struct MPID_Listener listener = { .version = MPID_LISTEN_VERSION,
                                               .size = sizeof listener,
                                               .call_entered = leaks_entered,
                                               .object_made = leaks_made };

static const struct note *note_of(const struct keel_object *o)
{
    const struct notes *of = &notes[o->kind];
    return o->index < of->room && of->note[o->index].call && of->note[o->index].gen == o->gen
               ? &of->note[o->index]
               : NULL;
}

/* One more, in these words; NULL: it is no object. */
__attribute__((format(printf, 3, 4))) static void leaks_add(struct list *l, const struct keel_object *o,
                                                            const char *fmt, ...)
{
    char words[MPI_MAX_OBJECT_NAME + 192];
    const struct note *n = o ? note_of(o) : NULL;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(words, sizeof words, fmt, ap);
    va_end(ap);
    l->n++;
    if (!l->out) {
        bool more = strcmp(words, "one") != 0;
        MPIR_Check_tell(l->fault, n ? n->call : "MPI_Finalize", NULL, n ? n->caller : 0, 0,
                        "the %s that it has made is left at the end%s%s", l->one, more ? ": " : "",
                        more ? words : "");
    }
    if (!l->out || l->n > SHOWN)
        return;
    fprintf(l->out, "%s%s", l->n > 1 ? ", " : "", words);
    if (n)
        fprintf(l->out, " (%s, " MPID_PLACE ")", n->call, (unsigned long long)n->caller);
}

static void add_comm(void *obj, void *list)
{
    const MPIR_Comm *c = obj;
    if (c->no_handle || c->adi.obj.flags & KEEL_OBJ_PENDING)
        return;
    if (c->name[0])
        leaks_add(list, &c->adi.obj, "%s", c->name);
    else
        leaks_add(list, &c->adi.obj, "one of %d ranks without a name", c->adi.size);
}

static void count_parts(void *obj, void *list)
{
    const MPIR_Datatype *t = obj;
    struct list *l = list;
    for (int64_t i = 0; i < t->nt; i++)
        if (!(t->types[i]->adi.obj.flags & KEEL_OBJ_PREDEFINED))
            l->held[t->types[i]->adi.obj.index]++;
}

static void add_type(void *obj, void *list)
{
    const MPIR_Datatype *t = obj;
    struct list *l = list;
    if (t->adi.obj.flags & KEEL_OBJ_PREDEFINED || (uint32_t)t->adi.obj.refs <= l->held[t->adi.obj.index])
        return;
    if (t->name) /* predefined ones are not here */
        leaks_add(l, &t->adi.obj, "%s", t->name);
    else
        leaks_add(l, &t->adi.obj, "one of %lld bytes without a name", (long long)t->adi.size);
}

static const char *kind_of(const MPIR_Request *r)
{
    switch (r->handle_type) {
    case MPIR_SEND:
    case MPIR_PERSISTENT_SEND:
        return "send";
    case MPIR_RECV:
    case MPIR_PERSISTENT_RECV:
        return "receive";
    case MPIR_USER:
        return "generalized request";
    case MPIR_SCHED:
        return "collective";
    case MPIR_PART:
        return "partitioned message";
    case MPIR_MESSAGE:
        return "matched message that was not received";
    default:
        return "request";
    }
}

static void add_request(void *obj, void *list)
{
    const MPIR_Request *r = obj;
    struct list *l = list;
    l->fault = r->obj.flags & MPIR_REQUEST_INACTIVE ? KU_FAULT_LEAK_PERSISTENT : KU_FAULT_LEAK_REQUEST;
    if (!(r->obj.flags & KEEL_OBJ_PREDEFINED)) /* or in reserve */
        leaks_add(l, &r->obj, "%s%s", r->obj.flags & MPIR_REQUEST_PERSISTENT ? "persistent " : "",
                  kind_of(r));
}

static void add_win(void *obj, void *list)
{
    const MPIR_Win *w = obj;
    if (w->name[0])
        leaks_add(list, &w->obj, "%s", w->name);
    else
        leaks_add(list, &w->obj, "one of %lld bytes without a name", (long long)w->size);
}

/* Objects of other kinds, of which those with a note are the program's. */
static void add_other(void *obj, void *list)
{
    if (note_of(obj))
        leaks_add(list, obj, "one");
}

static void add_message(const struct MPIR_COMMUNICATOR *comm, int32_t source, int32_t tag, int64_t bytes,
                        const struct MPID_Note *note, void *list)
{
    const struct list *l = list;
    if (l->comm && l->comm != comm)
        return;
    const char *name = comm ? ((const MPIR_Comm *)comm)->name : "";
    char *sender = note ? MPIR_Check_sender(note) : NULL;
    leaks_add(list, NULL, "%lld bytes with tag %d from rank %d%s%s%s", (long long)bytes, tag, source,
              name[0] ? " on " : "", name, sender ? sender : "");
    free(sender);
}

static void fill_comms(struct list *l)
{
    ku_slab_each(&MPIR_slab[MPIR_KIND_COMM], add_comm, l);
}

static void fill_types(struct list *l)
{
    const struct ku_slab *types = &MPIR_slab[MPIR_KIND_DATATYPE];
    l->held = calloc((size_t)types->used + 1, sizeof *l->held);
    if (!l->held)
        return;
    ku_slab_each(types, count_parts, l);
    ku_slab_each(types, add_type, l);
    free(l->held);
}

static void fill_requests(struct list *l)
{
    ku_slab_each(&MPIR_slab[MPIR_KIND_REQUEST], add_request, l);
}

static void fill_wins(struct list *l)
{
    ku_slab_each(&MPIR_slab[MPIR_KIND_WIN], add_win, l);
}

static void fill_others(struct list *l)
{
    ku_slab_each(&MPIR_slab[l->kind], add_other, l);
}

static void fill_messages(struct list *l)
{
    while (!l->comm && MPID_DeviceCheck(MPID_NOTBLOCKING) > 0)
        ; /* what had come before the last rank was there */
    MPID_Unreceived(add_message, l);
}

/* call: NULL: MPI_Finalize. */
static void leaks_tell(enum ku_fault_kind fault, const char *call, const char *text, bool checked)
{
    char *full = NULL;
    if (checked)
        MPIR_Check_tell(fault, call ? call : "MPI_Finalize", NULL, call ? MPIR_Call_caller() : MPID_Caller(),
                        0, "%s", text);
    else if (asprintf(&full, "MPI_Finalize: %s", text) >= 0) {
        MPID_Message_places(full);
        free(full);
    }
}

/* Of kinds with a `kind` nothing is known but the call that has made the object. */
static const struct row {
    enum ku_fault_kind fault;
    enum MPIR_KIND kind;
    const char *one, *several;
    void (*fill)(struct list *l);
} rows[] = {
    { KU_FAULT_LEAK_COMM, MPIR_KIND_NONE, "communicator", "communicators", fill_comms },
    { KU_FAULT_LEAK_TYPE, MPIR_KIND_NONE, "datatype", "datatypes", fill_types },
    { KU_FAULT_LEAK_REQUEST, MPIR_KIND_NONE, "request", "requests", fill_requests },
    { KU_FAULT_LEAK_WIN, MPIR_KIND_NONE, "window", "windows", fill_wins },
    { KU_FAULT_LEAK_GROUP, MPIR_KIND_GROUP, "group", "groups", fill_others },
    { KU_FAULT_LEAK_OP, MPIR_KIND_OP, "operation", "operations", fill_others },
    { KU_FAULT_LEAK_INFO, MPIR_KIND_INFO, "info", "infos", fill_others },
    { KU_FAULT_LEAK_ERRHANDLER, MPIR_KIND_ERRHANDLER, "error handler", "error handlers", fill_others },
    { KU_FAULT_LEAK_FILE, MPIR_KIND_FILE, "open file", "open files", fill_others },
    { KU_FAULT_LEAK_MESSAGE, MPIR_KIND_NONE, "message that no receive has asked for",
      "messages that no receive has asked for", fill_messages },
};

/* All of what a list of one message has. */
static void leaks_show_list(const struct row *row, struct list *l, const char *call, bool checked)
{
    char *which = NULL, *text = NULL;
    size_t bytes;
    if (!(l->out = open_memstream(&which, &bytes)))
        return;
    row->fill(l);
    if (l->n > SHOWN)
        fprintf(l->out, ", and %lld more", (long long)(l->n - SHOWN));
    fclose(l->out);
    if (l->n && asprintf(&text, "the program leaves %lld %s: %s", (long long)l->n,
                         l->n == 1 ? row->one : row->several, which) >= 0) {
        leaks_tell(row->fault, call, text, checked);
        free(text);
    }
    free(which);
}

/* Those of checks each by itself, but for messages, which no call here has made. */
static void leaks_show(const struct row *row, bool checked)
{
    struct list l = { .kind = row->kind, .fault = row->fault, .one = row->one };
    if (!checked || row->fault == KU_FAULT_LEAK_MESSAGE)
        leaks_show_list(row, &l, NULL, checked);
    else
        row->fill(&l);
}

/* Messages that are there when their communicator is freed go with it. */
static void leaks_entered(void *self, const struct MPID_Call *call)
{
    const struct row *messages = &rows[sizeof rows / sizeof *rows - 1];
    const char *name = call->procedure->name;
    (void)self;
    if (strncmp(name, "MPI_Comm_", 9) != 0 || !MPIR_Check_wants(KU_FAULT_LEAK_MESSAGE) ||
        (strcmp(name, "MPI_Comm_free") != 0 && strcmp(name, "MPI_Comm_disconnect") != 0))
        return;
    const MPIR_Comm *comm = MPIR_Object_of(MPIR_KIND_COMM, MPIR_Call_host.handle(call, 0, 0));
    struct list l = { .fault = KU_FAULT_LEAK_MESSAGE, .comm = comm ? &comm->adi : NULL };
    if (comm)
        leaks_show_list(messages, &l, name, true);
}

static bool leaks_checked(const struct row *row)
{
    return MPIR_Check_wants(row->fault) ||
           (row->fault == KU_FAULT_LEAK_REQUEST && MPIR_Check_wants(KU_FAULT_LEAK_PERSISTENT));
}

void MPIR_Leaks_show(void)
{
    for (const struct row *row = rows; row < rows + sizeof rows / sizeof *rows; row++) {
        bool checked = leaks_checked(row);
        if (wanted && (checked || ku_knob_int("LEAKS")))
            leaks_show(row, checked);
    }
}

void MPIR_Leaks_begin(void)
{
    bool any = ku_knob_int("LEAKS") != 0;
    for (const struct row *row = rows; row < rows + sizeof rows / sizeof *rows; row++)
        any |= leaks_checked(row);
    wanted = any && MPID_Listener_add(&listener) == 0;
}

void MPIR_Leaks_end(void)
{
    if (wanted)
        MPID_Listener_remove(&listener);
    wanted = false;
}
