/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners: who is told what, and those of plug-ins (mpid_listen.h).
 *
 * What a listener hears decides what the process needs (MPID_Need): messages and packets must go ways on which
 * somebody looks, and calls must not go beside the front end's place where they are told.  So nothing looks for
 * listeners that could be left out. */
#include "core.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "util/clock.h"
#include "util/knob.h"

struct MPID_Listeners MPID_Listeners;

/* ---- Who hears what ---- */

static uint32_t hears(const struct MPID_Listener *l)
{
    uint32_t bits = 0;
    if (l->call_entered != NULL || l->call_left != NULL)
        bits |= MPID_HEARD_CALLS;
    if (l->object_made != NULL || l->object_freed != NULL)
        bits |= MPID_HEARD_OBJECTS;
    if (l->transfer_begun != NULL || l->transfer_completed != NULL || l->note != NULL)
        bits |= MPID_HEARD_TRANSFERS;
    if (l->matched != NULL || l->packet != NULL)
        bits |= MPID_HEARD_PACKETS;
    if (l->wait_begun != NULL || l->wait_ended != NULL)
        bits |= MPID_HEARD_WAITS;
    return bits;
}

static void retune(void)
{
    uint32_t bits = 0;
    for (int i = 0; i < MPID_Listeners.n; i++)
        bits |= hears(MPID_Listeners.at[i]);
    MPID_Listeners.heard = bits;
    if (bits & MPID_HEARD_TRANSFERS)
        MPID_core.doubts |= DOUBT_HEARD;
    else
        MPID_core.doubts &= (uint8_t)~DOUBT_HEARD;
    MPID_Need(MPID_NEEDS_OBSERVERS, (bits & (MPID_HEARD_TRANSFERS | MPID_HEARD_PACKETS)) != 0);
    MPID_Need(MPID_NEEDS_LISTENED, (bits & (MPID_HEARD_CALLS | MPID_HEARD_OBJECTS | MPID_HEARD_WAITS)) != 0);
}

int MPID_Listener_add(const struct MPID_Listener *l)
{
    if (MPID_Listeners.n == MPID_LISTENERS_MAX)
        return ku_err_set(MPI_ERR_OTHER, NULL, "there are %d listeners, and no room for another",
                          MPID_LISTENERS_MAX);
    MPID_Listeners.at[MPID_Listeners.n++] = l;
    retune();
    return 0;
}

void MPID_Listener_remove(const struct MPID_Listener *l)
{
    int n = 0;
    for (int i = 0; i < MPID_Listeners.n; i++)
        if (MPID_Listeners.at[i] != l)
            MPID_Listeners.at[n++] = MPID_Listeners.at[i];
    MPID_Listeners.n = n;
    retune();
}

/* ---- What the core tells ---- */

#define TELL(function, ...) \
    for (int i_ = 0; i_ < MPID_Listeners.n; i_++) \
        if (MPID_Listeners.at[i_]->function != NULL) \
    MPID_Listeners.at[i_]->function(MPID_Listeners.at[i_]->self, ##__VA_ARGS__)

static const char *const kind_name[] = { "?",       "SHORT",      "EAGER", "RTS",       "CTS",     "DATA",
                                         "CANCEL",  "CANCEL_ACK", "XOFF",  "XON",       "SYNC",    "SHARE",
                                         "SHARED",  "START",      "PUT",   "GET",       "GOT",     "ATOMIC",
                                         "FLUSH",   "MEM_ACK",    "WATCH", "DIED",      "RTS_KEY", "BYE",
                                         "CTS_KEY", "REFUSED",    "NOTE",  "NOTE_ALONE" };
_Static_assert(sizeof kind_name / sizeof *kind_name == PKT_KINDS, "each kind has a name");

void MPID_Tell_packet(char direction, int32_t grank, const struct dev_head *h, size_t len)
{
    const struct MPID_Packet p = { .direction = direction,
                                   .peer = grank,
                                   .kind = kind_name[h->kind < PKT_KINDS ? h->kind : 0],
                                   .context = h->context,
                                   .source = (int32_t)h->source,
                                   .tag = (int32_t)h->tag,
                                   .bytes = len };
    TELL(packet, &p);
}

void MPID_Tell_matched(const struct MPIR_HANDLE *receive, int32_t source, int32_t tag, int64_t bytes,
                       const struct umsg *kept)
{
    struct MPID_Note note;
    bool noted = MPID_Note_take(receive->context_id, source, tag, kept, &note);
    const struct MPID_Match m = { .context = receive->context_id,
                                  .source = source,
                                  .tag = tag,
                                  .peer = grank_of(receive->comm, source),
                                  .bytes = bytes,
                                  .transfer = (uintptr_t)receive,
                                  .note = noted ? &note : NULL };
    TELL(matched, &m);
}

void MPID_Tell_noted(const struct MPID_Noted *noted)
{
    TELL(noted, noted);
}

static struct MPID_Transfer transfer_of(const struct MPIR_HANDLE *r)
{
    bool sends = r->handle_type == MPIR_SEND;
    return (struct MPID_Transfer){ .id = (uintptr_t)r,
                                   .context = r->context_id,
                                   .rank = r->rank,
                                   .tag = r->tag,
                                   .peer = sends ? r->peer : -1,
                                   .bytes = MPID_Req_capacity(r) };
}

void MPID_Tell_begun(struct MPIR_HANDLE *r)
{
    if (!(MPID_Listeners.heard & MPID_HEARD_TRANSFERS))
        return;
    const struct MPID_Transfer t = transfer_of(r);
    r->state |= REQ_TOLD;
    TELL(transfer_begun, &t);
    if (r->handle_type == MPIR_SEND)
        MPID_Note_begin(r, &t);
}

void MPID_Tell_completed(const struct MPIR_HANDLE *r)
{
    struct MPID_Transfer t = transfer_of(r);
    if (r->state & REQ_NOTED)
        MPID_Note_end(r);
    t.error = r->errval;
    t.cancelled = r->s.cancelled;
    if (r->handle_type != MPIR_SEND) {
        t.rank = r->s.MPI_SOURCE;
        t.tag = r->s.MPI_TAG;
        t.bytes = r->errval == 0 ? r->s.count : 0;
    }
    TELL(transfer_completed, &t);
}

/* ---- Waits: one at a time in a thread ---- */

static _Thread_local bool waits __attribute__((tls_model("initial-exec")));

void MPID_Tell_wait(const struct MPIR_HANDLE *r)
{
    if (waits || !(MPID_Listeners.heard & MPID_HEARD_WAITS))
        return;
    waits = true;
    TELL(wait_begun, &(const struct MPID_Waits){ .transfer = (uintptr_t)r });
}

void MPID_Listeners_left(void)
{
    if (!waits)
        return;
    waits = false;
    TELL(wait_ended);
}

/* ---- Events: rows of the library (util/event.h) ---- */

static void happened(struct ku_event *row, const int64_t *values)
{
    const struct MPID_Happening h = {
        .name = row->name, .n = row->elements.n, .elements = row->elements.item, .values = values
    };
    TELL(happened, &h);
}

static bool is_heard(const struct ku_event *row)
{
    for (int i = 0; i < MPID_Listeners.n; i++) {
        const struct MPID_Listener *l = MPID_Listeners.at[i];
        if (l->happened != NULL && (l->hears == NULL || l->hears(l->self, row->name)))
            return true;
    }
    return false;
}

void MPID_Listeners_tune(void)
{
    struct ku_event *row;
    const char *area;
    ku_event_listener = happened;
    for (int i = 0; (row = ku_event_at(i, &area)) != NULL; i++)
        row->heard = is_heard(row);
}

/* ---- Those of plug-ins ---- */

static struct plugin {
    struct plugin *next;
    void *library;
    struct MPID_Listener listener;
} * plugins;

static struct MPID_Listen_host host;

static void show_text(const char *text)
{
    MPID_Message_places(text);
}

static void set_host(void)
{
    host =
        MPID_core.config.listen_host != NULL ? *MPID_core.config.listen_host : (struct MPID_Listen_host){ 0 };
    host.version = MPID_LISTEN_VERSION;
    host.size = sizeof host;
    host.rank = MPID_core.rank;
    host.nranks = MPID_core.job.size;
    host.node = MPID_core.info.node;
    host.now = ku_clock_ns;
    host.message = show_text;
}

static int refuse(const char *path, const char *why)
{
    return ku_err_set(MPI_ERR_OTHER, NULL, "the listener %.100s cannot be used: %.300s", path, why);
}

/* What it fills in is what it knows of: a shorter table leaves the rest as it was, a longer one of a newer header
 * is refused by itself. */
static int begin(const char *path, struct plugin *p)
{
    int (*entry)(const struct MPID_Listen_host *, struct MPID_Listener *, char *, size_t);
    char why[256] = "it does not say why";
    *(void **)&entry = dlsym(p->library, "MPID_listener");
    if (entry == NULL)
        return refuse(path, "it has no function MPID_listener");
    p->listener = (struct MPID_Listener){ .version = MPID_LISTEN_VERSION, .size = sizeof p->listener };
    if (entry(&host, &p->listener, why, sizeof why) != 0) {
        why[sizeof why - 1] = 0;
        return refuse(path, why);
    }
    if (p->listener.version != MPID_LISTEN_VERSION || p->listener.size != sizeof p->listener) {
        snprintf(why, sizeof why,
                 "its table is of version %u and %u bytes; expected version %d and %zu bytes",
                 p->listener.version, p->listener.size, MPID_LISTEN_VERSION, sizeof p->listener);
        return refuse(path, why);
    }
    return MPID_Listener_add(&p->listener);
}

static int load(const char *path)
{
    struct plugin *p = calloc(1, sizeof *p);
    int err;
    if (p == NULL)
        return refuse(path, "out of memory");
    p->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    err = p->library == NULL ? refuse(path, dlerror()) : begin(path, p);
    if (err != 0) {
        if (p->library != NULL)
            dlclose(p->library);
        free(p);
        return err;
    }
    p->next = plugins;
    plugins = p;
    return 0;
}

int MPID_Listeners_open(void)
{
    const char *list = ku_knob_str("LISTENERS");
    char *copy = list != NULL && *list != 0 ? strdup(list) : NULL, *save = NULL;
    int err = 0;
    if ((list == NULL || *list == 0) && MPID_Listeners.n == 0)
        return 0;
    if (list != NULL && *list != 0 && copy == NULL)
        return ku_err_set(MPI_ERR_NO_MEM, NULL, "no memory for the list of listeners");
    set_host();
    for (char *path = copy != NULL ? strtok_r(copy, ",", &save) : NULL; path != NULL && err == 0;
         path = strtok_r(NULL, ",", &save))
        err = load(path);
    free(copy);
    retune();
    MPID_Listeners_tune();
    return err;
}

/* Those of the library itself stay: they begin and end with what they serve. */
void MPID_Listeners_close(void)
{
    if (MPID_Listeners.n == 0)
        return;
    MPID_Listeners_left(); /* of MPI_Finalize itself */
    TELL(ended);
    while (plugins != NULL) {
        struct plugin *p = plugins;
        plugins = p->next;
        MPID_Listener_remove(&p->listener);
        dlclose(p->library);
        free(p);
    }
    MPID_Listeners_tune();
}
