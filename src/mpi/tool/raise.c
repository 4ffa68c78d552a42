/* SPDX-License-Identifier: BSD-3-Clause */
/* raise.c: from an event of the library to the callbacks that tools have registered for it.
 *
 * Invariants
 *   1. A row is `heard` while a registration that is not freed has a callback for it; only then does the library tell.
 *   2. The library tells in the middle of its own work, so a callback may call MPI_T alone:
 *      MPI_T_CB_REQUIRE_MPI_RESTRICTED.  Of a registration's callbacks the one of the lowest level from that on is
 *      called.  A registration that has none of those loses the event, and counts it for its dropped-handler.
 *   3. A registration freed while callbacks run leaves the list, and its free-callback is called, when none runs
 *      any more. */
#include "config.h"
#include "mpit.h"
#include "bodies.h"
#include "mpid.h"
#include "mpid_listen.h"
#include "object.h"
#include "util/clock.h"

static const int levels[T_LEVELS] = { MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                      MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE };
enum { RESTRICTED = 1 };

struct t_registration *MPIR_T_registrations;
static int running; /* callbacks */
static _Thread_local struct t_instance *current;

int MPIR_T_level(int cb_safety)
{
    for (int i = 0; i < T_LEVELS; i++)
        if (levels[i] == cb_safety)
            return i;
    return -1;
}

const struct t_instance *MPIR_T_instance(MPIR_T_handle handle)
{
    for (const struct t_instance *i = current; i; i = i->outer)
        if ((uintptr_t)i == handle)
            return i;
    return NULL;
}

/* ---- Elements: each at a multiple of its size, in order ---- */

static int element_size(char type)
{
    return type == 'i' ? (int)sizeof(int32_t) : (int)sizeof(int64_t);
}

int MPIR_T_element_at(const char *types, int index)
{
    int at = 0;
    for (int i = 0;; i++) {
        int size = element_size(types[i]);
        at = (at + size - 1) / size * size;
        if (i == index)
            return at;
        at += size;
    }
}

void MPIR_T_element_put(char type, int64_t value, void *buf)
{
    if (type == 'i')
        memcpy(buf, &(int32_t){ (int32_t)value }, sizeof(int32_t));
    else
        memcpy(buf, &value, sizeof value);
}

/* ---- Calling ---- */

/* Handles are pointers in every ABI's callbacks of MPI_T. */
typedef void event_function(void *instance, void *registration, int cb_safety, void *user_data);
typedef void free_function(void *registration, int cb_safety, void *user_data);
typedef void dropped_function(MPI_Count count, void *registration, int source_index, int cb_safety,
                              void *user_data);

static void *handle_of(const struct t_registration *r)
{
    return (void *)(uintptr_t)MPIR_Object_handle(r);
}

/* What callbacks are told that they may do. */
static int safety(void)
{
    return &MPIR_Differs ? MPIR_Differs.cb_safety(levels[RESTRICTED]) : levels[RESTRICTED];
}

/* The level of the callback to call; T_LEVELS: there is none. */
static int level_of(const struct t_registration *r)
{
    int i = RESTRICTED;
    while (i < T_LEVELS && !r->call[i].fn)
        i++;
    return i;
}

static void tell_dropped(void)
{
    for (struct t_registration *r = MPIR_T_registrations; r; r = r->next) {
        int level = level_of(r);
        MPI_Count n = r->ndropped;
        if (n == 0 || r->freed || !r->dropped.fn || level == T_LEVELS)
            continue;
        r->ndropped = 0;
        ((dropped_function *)r->dropped.fn)(n, handle_of(r), 0, safety(), r->call[level].extra_state);
    }
}

static bool is_heard(const struct t_registration *r)
{
    return !r->freed && (r->call[0].fn || level_of(r) < T_LEVELS);
}

/* Somebody is called for it. */
static bool is_raised(const struct ku_event *row)
{
    for (const struct t_registration *r = MPIR_T_registrations; r; r = r->next)
        if (r->event == row && !r->freed && level_of(r) < T_LEVELS)
            return true;
    return false;
}

static void raise_to(struct t_registration *r, struct t_instance *i)
{
    int level = level_of(r);
    if (level < T_LEVELS)
        ((event_function *)r->call[level].fn)(i, handle_of(r), safety(), r->call[level].extra_state);
    else if (r->call[0].fn && r->dropped.fn && r->ndropped < INT64_MAX)
        r->ndropped++;
}

/* Names are compared as addresses: each is one row's own. */
static struct ku_event *raise_row_of(const char *name)
{
    const char *area;
    struct ku_event *row;
    for (int i = 0; (row = ku_event_at(i, &area)) && row->name != name; i++)
        ;
    return row;
}

static void happened(void *self, const struct MPID_Happening *h)
{
    struct ku_event *row = raise_row_of(h->name);
    struct t_instance i = { current, row, h->values, (int64_t)ku_clock_ns() };
    struct t_registration *first = MPIR_T_registrations;
    (void)self;
    current = &i;
    running++;
    if (is_raised(row))
        tell_dropped();
    for (struct t_registration *r = first; r; r = r->next)
        if (r->event == row && !r->freed)
            raise_to(r, &i);
    current = i.outer;
    if (--running == 0)
        MPIR_T_hear();
}

/* ---- Who hears what ---- */

static void sweep(void)
{
    running++; /* a callback that frees others leaves them to this */
    for (struct t_registration **p = &MPIR_T_registrations; *p;) {
        struct t_registration *r = *p;
        if (!r->freed) {
            p = &r->next;
            continue;
        }
        *p = r->next;
        if (r->free_call.fn)
            ((free_function *)r->free_call.fn)(handle_of(r), safety(), r->free_call.extra_state);
        MPIR_T_free(r);
        p = &MPIR_T_registrations; /* which a callback may have changed */
    }
    running--;
}

static int hears(void *self, const char *event)
{
    (void)self;
    for (const struct t_registration *r = MPIR_T_registrations; r; r = r->next)
        if (r->event->name == event && is_heard(r))
            return 1;
    return 0;
}

static const struct MPID_Listener listener = {
    .version = MPID_LISTEN_VERSION, .size = sizeof listener, .happened = happened, .hears = hears
};

void MPIR_T_hear(void)
{
    static bool added;
    if (!added)
        added = MPID_Listener_add(&listener) == 0;
    MPID_Listeners_tune();
    if (running == 0)
        sweep();
}

void MPIR_T_event_end(void)
{
    for (struct t_registration *r = MPIR_T_registrations; r; r = r->next)
        r->freed = true;
    MPIR_T_hear();
}
