/* SPDX-License-Identifier: BSD-3-Clause */
/* listener.c: a log of what each process does, without a change of the program.
 *
 *   gcc -O2 -shared -fPIC $(pkg-config --cflags keel) -o listener.so listener.c
 *   LISTENER_LOG=log KEEL_LISTENERS=$PWD/listener.so mpiexec -n 4 ./prog
 *
 * Each rank writes log.0, log.1, ...: a line for each call of MPI with its arguments when it is entered, with its
 * error and time when it is left, for objects, messages, packets, waits and events of the library.  LISTENER_WHAT
 * chooses among "calls objects transfers matches packets waits events" (all). */
#include <mpid_listen.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct MPID_Listen_host *host;
static FILE *out;
static uint64_t start, calls;

#define NOW (host->now() - start)

static void call_entered(void *self, const struct MPID_Call *call)
{
    char text[400];
    (void)self;
    calls++;
    fprintf(out, "%" PRIu64 " %*scall %s(", NOW, 2 * call->depth, "", call->procedure->name);
    for (int i = 0; i < call->procedure->nargs; i++) {
        host->text(call, i, text, sizeof text);
        fprintf(out, "%s%s", i ? ", " : "", text);
    }
    fprintf(out, ")\n");
}

static void call_left(void *self, const struct MPID_Call *call, int error)
{
    (void)self;
    fprintf(out, "%" PRIu64 " %*sleft %s = %d\n", NOW, 2 * call->depth, "", call->procedure->name, error);
}

static void object_made(void *self, const struct MPID_Object *o)
{
    (void)self;
    fprintf(out, "%" PRIu64 " made %u 0x%" PRIx64 " by %s\n", NOW, o->kind, o->handle, o->call);
}

static void object_freed(void *self, const struct MPID_Object *o)
{
    (void)self;
    fprintf(out, "%" PRIu64 " freed %u 0x%" PRIx64 " by %s\n", NOW, o->kind, o->handle, o->call);
}

static void write_transfer(const char *what, const struct MPID_Transfer *t)
{
    fprintf(out,
            "%" PRIu64 " %s 0x%" PRIx64 " %s peer %d rank %d tag %d context %u bytes %" PRId64
            " error %d%s\n",
            NOW, what, t->id, t->peer >= 0 ? "send" : "receive", t->peer, t->rank, t->tag, t->context,
            t->bytes, t->error, t->cancelled ? " cancelled" : "");
}

static void transfer_begun(void *self, const struct MPID_Transfer *t)
{
    (void)self;
    write_transfer("begun", t);
}

static void transfer_completed(void *self, const struct MPID_Transfer *t)
{
    (void)self;
    write_transfer("completed", t);
}

static void matched(void *self, const struct MPID_Match *m)
{
    (void)self;
    fprintf(out, "%" PRIu64 " matched peer %d source %d tag %d context %u bytes %" PRId64 "\n", NOW, m->peer,
            m->source, m->tag, m->context, m->bytes);
}

static void packet(void *self, const struct MPID_Packet *p)
{
    (void)self;
    fprintf(out, "%" PRIu64 " packet %c %d %s tag %d bytes %zu\n", NOW, p->direction, p->peer, p->kind,
            p->tag, p->bytes);
}

static void wait_begun(void *self, const struct MPID_Waits *w)
{
    (void)self;
    fprintf(out, "%" PRIu64 " waits for 0x%" PRIx64 "\n", NOW, w->transfer);
}

static void wait_ended(void *self)
{
    (void)self;
    fprintf(out, "%" PRIu64 " waits no more\n", NOW);
}

static void happened(void *self, const struct MPID_Happening *h)
{
    (void)self;
    fprintf(out, "%" PRIu64 " event %s", NOW, h->name);
    for (int i = 0; i < h->n; i++)
        fprintf(out, " %s=%" PRId64, h->elements[i], h->values[i]);
    fprintf(out, "\n");
}

static void ended(void *self)
{
    (void)self;
    fprintf(out, "%" PRIu64 " end after %" PRIu64 " calls\n", NOW, calls);
    fclose(out);
}

static int wanted(const char *what)
{
    const char *all = getenv("LISTENER_WHAT");
    return !all || strstr(all, what) != NULL;
}

int MPID_listener(const struct MPID_Listen_host *h, struct MPID_Listener *l, char *why, size_t why_size)
{
    const char *name = getenv("LISTENER_LOG");
    char file[1024];
    host = h;
    if (!name) {
        snprintf(why, why_size, "LISTENER_LOG is not set; expected the name of a file");
        return 1;
    }
    if (h->version != MPID_LISTEN_VERSION || !h->text) {
        snprintf(why, why_size, "it needs version %d of mpid_listen.h, and a program of MPI",
                 MPID_LISTEN_VERSION);
        return 1;
    }
    snprintf(file, sizeof file, "%s.%d", name, h->rank);
    out = fopen(file, "w");
    if (!out) {
        snprintf(why, why_size, "%s cannot be written", file);
        return 1;
    }
    start = h->now();
    if (wanted("calls"))
        l->call_entered = call_entered, l->call_left = call_left;
    if (wanted("objects"))
        l->object_made = object_made, l->object_freed = object_freed;
    if (wanted("transfers"))
        l->transfer_begun = transfer_begun, l->transfer_completed = transfer_completed;
    if (wanted("matches"))
        l->matched = matched;
    if (wanted("packets"))
        l->packet = packet;
    if (wanted("waits"))
        l->wait_begun = wait_begun, l->wait_ended = wait_ended;
    if (wanted("events"))
        l->happened = happened;
    l->ended = ended;
    return 0;
}
