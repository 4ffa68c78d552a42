/* leaks.c: see leaks.h.
 *
 * Nothing is kept for this while the program runs: the objects that live are in the slabs of their kinds, and the messages in the queues
 * of the core.  Objects that the library keeps for another are not the program's: a communicator without a handle, and a datatype whose
 * references are all held by other datatypes. */
#include "config.h"
#include "leaks.h"
#include <stdio.h>
#include <stdlib.h>
#include "comm.h"
#include "request.h"
#include "type.h"
#include "util/knob.h"

enum { SHOWN = 8 /* of a kind, each with its words */ };

struct list {
    FILE *out;
    int64_t n;
    uint32_t *held; /* datatypes: references by others, by index */
};

static void next(struct list *l)
{
    if (l->n++ < SHOWN && l->n > 1)
        fputs(", ", l->out);
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
    if (l->n <= SHOWN && t->name)
        fprintf(l->out, "%s", t->name);
    else if (l->n <= SHOWN)
        fprintf(l->out, "one of %lld bytes without a name", (long long)t->adi.size);
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
    if (r->obj.flags & KEEL_OBJ_PREDEFINED)
        return;
    next(l);
    if (l->n <= SHOWN)
        fprintf(l->out, "%s%s", r->obj.flags & MPIR_REQUEST_PERSISTENT ? "persistent " : "", kind_of(r));
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
static void show(const char *one, const char *several, void (*fill)(struct list *l))
{
    char *which = NULL, *text = NULL;
    size_t bytes;
    struct list l = { .out = open_memstream(&which, &bytes) };
    if (!l.out)
        return;
    fill(&l);
    if (l.n > SHOWN)
        fprintf(l.out, ", and %lld more", (long long)(l.n - SHOWN));
    fclose(l.out);
    if (l.n && asprintf(&text, "MPI_Finalize: the program leaves %lld %s: %s", (long long)l.n,
                        l.n == 1 ? one : several, which) >= 0) {
        MPID_Message(text);
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

static void fill_messages(struct list *l)
{
    while (MPID_DeviceCheck(MPID_NOTBLOCKING) > 0)
        ; /* what had come before the last rank was there */
    MPID_Unreceived(add_message, l);
}

void MPIR_Leaks_show(void)
{
    if (!ku_knob_int("LEAKS"))
        return;
    show("communicator", "communicators", fill_comms);
    show("datatype", "datatypes", fill_types);
    show("request", "requests", fill_requests);
    show("message that no receive has asked for", "messages that no receive has asked for", fill_messages);
}
