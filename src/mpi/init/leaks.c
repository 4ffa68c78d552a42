/* SPDX-License-Identifier: BSD-3-Clause */
/* leaks.c: see leaks.h.
 *
 * The objects that live are in the slabs of their kinds, and the messages in the queues of the core; a note an object tells which call
 * gave it to the program, and where.  Without KEEL_LEAKS nothing is kept while the program runs.  Objects that the library keeps for another are not the program's: a communicator without a handle, and a datatype whose
 * references are all held by other datatypes. */
#include "config.h"
#include "leaks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "comm.h"
#include "mpid_listen.h"
#include "request.h"
#include "type.h"
#include "win.h"
#include "util/knob.h"

enum { SHOWN = 8 /* of a kind, each with its words */ };

struct list {
    enum MPIR_KIND kind; /* MPIR_KIND_NONE: it is known to who fills the list */
    FILE *out;
    int64_t n;
    uint32_t *held; /* datatypes: references by others, by index */
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

static void made(void *self, const struct MPID_Object *object)
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
    of->note[o->index] = (struct note){ object->call, MPID_Caller(), o->gen };
}

static const struct MPID_Listener listener = { .version = MPID_LISTEN_VERSION,
                                               .size = sizeof listener,
                                               .object_made = made };

void MPIR_Leaks_begin(void)
{
    wanted = ku_knob_int("LEAKS") != 0 && MPID_Listener_add(&listener) == 0;
}

void MPIR_Leaks_end(void)
{
    if (wanted)
        MPID_Listener_remove(&listener);
    wanted = false;
}

static const struct note *note_of(const struct keel_object *o)
{
    const struct notes *of = &notes[o->kind];
    return o->index < of->room && of->note[o->index].call && of->note[o->index].gen == o->gen
               ? &of->note[o->index]
               : NULL;
}

static void next(struct list *l)
{
    if (l->n++ < SHOWN && l->n > 1)
        fputs(", ", l->out);
}

/* Which call has made it, and where. */
static void add_place(const struct keel_object *o, struct list *l)
{
    const struct note *n = note_of(o);
    if (n && l->n <= SHOWN)
        fprintf(l->out, " (%s, " MPID_PLACE ")", n->call, (unsigned long long)n->caller);
}

static void add_comm(void *obj, void *list)
{
    const MPIR_Comm *c = obj;
    struct list *l = list;
    if (c->no_handle || c->adi.obj.flags & KEEL_OBJ_PENDING)
        return;
    next(l);
    if (l->n <= SHOWN && c->name[0])
        fprintf(l->out, "%s", c->name);
    else if (l->n <= SHOWN)
        fprintf(l->out, "one of %d ranks without a name", c->adi.size);
    add_place(&c->adi.obj, l);
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
    next(l);
    if (l->n <= SHOWN && t->name) /* predefined ones are not here */
        fprintf(l->out, "%s", t->name);
    else if (l->n <= SHOWN)
        fprintf(l->out, "one of %lld bytes without a name", (long long)t->adi.size);
    add_place(&t->adi.obj, l);
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
    if (r->obj.flags & KEEL_OBJ_PREDEFINED) /* or in reserve */
        return;
    next(l);
    if (l->n <= SHOWN)
        fprintf(l->out, "%s%s", r->obj.flags & MPIR_REQUEST_PERSISTENT ? "persistent " : "", kind_of(r));
    add_place(&r->obj, l);
}

static void add_win(void *obj, void *list)
{
    const MPIR_Win *w = obj;
    struct list *l = list;
    next(l);
    if (l->n <= SHOWN && w->name[0])
        fprintf(l->out, "%s", w->name);
    else if (l->n <= SHOWN)
        fprintf(l->out, "one of %lld bytes without a name", (long long)w->size);
    add_place(&w->obj, l);
}

/* Objects of other kinds, of which those with a note are the program's. */
static void add_other(void *obj, void *list)
{
    struct list *l = list;
    if (!note_of(obj))
        return;
    next(l);
    if (l->n <= SHOWN)
        fputs("one", l->out);
    add_place(obj, l);
}

static void add_message(const struct MPIR_COMMUNICATOR *comm, int32_t source, int32_t tag, int64_t bytes,
                        void *list)
{
    struct list *l = list;
    const char *name = comm ? ((const MPIR_Comm *)comm)->name : "";
    next(l);
    if (l->n > SHOWN)
        return;
    fprintf(l->out, "%lld bytes with tag %d from rank %d", (long long)bytes, tag, source);
    if (name[0])
        fprintf(l->out, " on %s", name);
}

/* What fill adds, as one message: so many of these, and which. */
static void show(enum MPIR_KIND kind, const char *one, const char *several, void (*fill)(struct list *l))
{
    char *which = NULL, *text = NULL;
    size_t bytes;
    struct list l = { .kind = kind, .out = open_memstream(&which, &bytes) };
    if (!l.out)
        return;
    fill(&l);
    if (l.n > SHOWN)
        fprintf(l.out, ", and %lld more", (long long)(l.n - SHOWN));
    fclose(l.out);
    if (l.n && asprintf(&text, "MPI_Finalize: the program leaves %lld %s: %s", (long long)l.n,
                        l.n == 1 ? one : several, which) >= 0) {
        MPID_Message_places(text);
        free(text);
    }
    free(which);
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

/* Kinds of which nothing is known but the call that made the object. */
static const struct other {
    enum MPIR_KIND kind;
    const char *one, *several;
} others[] = {
    { MPIR_KIND_GROUP, "group", "groups" },
    { MPIR_KIND_OP, "operation", "operations" },
    { MPIR_KIND_INFO, "info", "infos" },
    { MPIR_KIND_ERRHANDLER, "error handler", "error handlers" },
    { MPIR_KIND_FILE, "open file", "open files" },
};

static void fill_others(struct list *l)
{
    ku_slab_each(&MPIR_slab[l->kind], add_other, l);
}

static void fill_messages(struct list *l)
{
    while (MPID_DeviceCheck(MPID_NOTBLOCKING) > 0)
        ; /* what had come before the last rank was there */
    MPID_Unreceived(add_message, l);
}

void MPIR_Leaks_show(void)
{
    if (!wanted)
        return;
    show(MPIR_KIND_NONE, "communicator", "communicators", fill_comms);
    show(MPIR_KIND_NONE, "datatype", "datatypes", fill_types);
    show(MPIR_KIND_NONE, "request", "requests", fill_requests);
    show(MPIR_KIND_NONE, "window", "windows", fill_wins);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        show(others[i].kind, others[i].one, others[i].several, fill_others);
    show(MPIR_KIND_NONE, "message that no receive has asked for", "messages that no receive has asked for",
         fill_messages);
}
