/* SPDX-License-Identifier: BSD-3-Clause */
/* mpit.h: what the files of MPI_T share.
 *
 * Nothing here exists until MPI_T_init_thread: variables, events and categories are the rows of src/util/knob.h,
 * counter.h and event.h, looked at when somebody asks.  What MPI_T makes are handles: objects in slabs, whose
 * handles carry a generation, so that a freed or made-up one is found out.  The last MPI_T_finalize frees all of
 * them. */
#ifndef MPIR_MPIT_H
#define MPIR_MPIT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "abi.h"
#include "env.h"
#include "info.h"
#include "keel_object.h"
#include "mpi_const.h"
#include "type.h"
#include "util/counter.h"
#include "util/event.h"
#include "util/knob.h"

/* ---- Handles (tool.c) ---- */

enum t_kind { T_CVAR = 48, T_PVAR, T_SESSION, T_REGISTRATION, T_KINDS }; /* beyond every MPIR_KIND */

/* A new object, zeroed but for its header; NULL without memory. */
void *MPIR_T_alloc(enum t_kind kind);
void MPIR_T_free(void *obj);
/* The object of a handle, or NULL. */
void *MPIR_T_object(enum t_kind kind, MPIR_T_handle handle);
/* Call fn for each live object; fn may free it. */
void MPIR_T_each(enum t_kind kind, void (*fn)(void *obj, void *arg), void *arg);

/* ---- Answers ---- */

/* A string as "Convention for Returning Strings" says. */
void MPIR_T_string(const char *text, char *buf, int *len);
/* The public name of a row: "keel_" and the row's, in small letters. */
enum { T_NAME_MAX = 80 };
void MPIR_T_name(const char *row, char name[T_NAME_MAX]);
/* Is `name` the public name of a row? */
bool MPIR_T_is_named(const char *row, const char *name);
int MPIR_T_verbosity(enum ku_audience audience);
static inline void t_put(int *where, int value)
{
    if (where)
        *where = value;
}

/* The handle of an enumeration, MPI_T_ENUM_NULL for NULL (enum.c). */
MPIR_T_handle MPIR_T_enum(const struct ku_names *names);
/* The words of a knob that is one of a few; NULL: it is not. */
const struct ku_names *MPIR_T_knob_names(const struct ku_knob *row);

/* The native value (object.h) of the communicator's handle that the program has at this address; 0 for NULL. */
uint64_t MPIR_T_bound_handle(const void *obj_handle);
/* The object that it names, for what is bound to a communicator; *err says why there is none. */
void *MPIR_T_bound(uint64_t handle, int *err);

MPIR_Datatype *MPIR_T_type(int value);

/* ---- Performance variables (pvar.c) ---- */

struct t_session {
    struct keel_object obj;
};

struct t_pvar {
    struct keel_object obj;
    const struct t_session *session;
    const struct ku_counter *row;
    uint64_t bound; /* the native handle of the communicator, looked up at each use */
    uint64_t base, seen;
    bool used, started;
};

/* Is it only shown, as it is now: neither to be started and stopped, nor written? */
bool MPIR_T_is_shown(const struct ku_counter *row);
int MPIR_T_counter_type(const struct ku_counter *row);

/* ---- Events (raise.c) ---- */
enum { T_LEVELS = 4 };

struct t_registration {
    struct keel_object obj;
    struct t_registration *next; /* of all, the newest first */
    struct ku_event *event;
    MPIR_Callback call[T_LEVELS]; /* by safety level; fn NULL: none */
    MPIR_Callback dropped;
    int64_t ndropped;
    bool freed; /* and stays until no callback runs */
    MPIR_Callback free_call;
};

struct t_instance {
    struct t_instance *outer; /* of a callback within a callback */
    const struct ku_event *event;
    const int64_t *values;
    int64_t time;
};

extern struct t_registration *MPIR_T_registrations;

/* The place of a safety level; -1: it is none. */
int MPIR_T_level(int cb_safety);
/* The instance of a handle: one that a callback is running for; else NULL. */
const struct t_instance *MPIR_T_instance(MPIR_T_handle handle);
/* Say again which events are heard, and let freed registrations go that no callback uses. */
void MPIR_T_hear(void);
/* Where an element lies in the buffer of MPI_T_event_copy. */
int MPIR_T_element_at(const char *types, int index);
void MPIR_T_element_put(char type, int64_t value, void *buf);

/* Free what is left when MPI_T ends. */
void MPIR_T_pvar_end(void);
void MPIR_T_event_end(void);

#endif
