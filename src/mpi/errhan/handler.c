/* SPDX-License-Identifier: BSD-3-Clause */
/* handler.c: error handlers as objects, those of communicators, the default one of files, and the initial one. */
#include "config.h"
#include "bodies.h"
#include <stdio.h>
#include <strings.h>
#include "comm.h"
#include "env.h"
#include "mpi_err.h"
#include "errhandler.h"
#include "file.h"
#include "session.h"
#include "win.h"
#include "util/knob.h"
#include "util/lock.h"

MPIR_Errhandler MPIR_Errors_are_fatal =
    MPIR_ERRHANDLER_PREDEFINED(KEEL_MPI_ERRORS_ARE_FATAL, MPIR_ERRHANDLER_FATAL);
MPIR_Errhandler MPIR_Errors_abort = MPIR_ERRHANDLER_PREDEFINED(KEEL_MPI_ERRORS_ABORT, MPIR_ERRHANDLER_ABORT);
MPIR_Errhandler MPIR_Errors_return =
    MPIR_ERRHANDLER_PREDEFINED(KEEL_MPI_ERRORS_RETURN, MPIR_ERRHANDLER_RETURN);

/* For the slab, and for references and handles: those of sessions are made, given and freed in any threads (12.4.1). */
static struct ku_lock lock = KU_LOCK(KU_LOCK_TABLE);

/* What is to be told that the handler is no more, after the lock is released; its abi is NULL if none is. */
KU_NEEDS(lock) static MPIR_Callback drop(MPIR_Errhandler *h)
{
    if (!MPIR_Object_unref(h))
        return (MPIR_Callback){ .abi = NULL };
    MPIR_Callback fn = h->callback;
    MPIR_Object_free(h);
    return fn;
}

static void tell_gone(MPIR_Callback fn)
{
    if (fn.abi && fn.abi->gone)
        fn.abi->gone(&fn);
}

void MPIR_Errhandler_release(MPIR_Errhandler *errhandler)
{
    if (!errhandler)
        return;
    ku_lock(&lock);
    MPIR_Callback fn = drop(errhandler);
    ku_unlock(&lock);
    tell_gone(fn);
}

void MPIR_Errhandler_ref(MPIR_Errhandler *errhandler)
{
    ku_lock(&lock);
    MPIR_Object_ref(errhandler);
    ku_unlock(&lock);
}

static const char *kind_name(enum MPIR_KIND kind)
{
    switch (kind) {
    case MPIR_KIND_WIN:
        return "windows";
    case MPIR_KIND_FILE:
        return "files";
    case MPIR_KIND_SESSION:
        return "sessions";
    default:
        return "communicators";
    }
}

static int handler_create(MPIR_Callback fn, enum MPIR_KIND kind, MPIR_Errhandler **errhandler)
{
    ku_lock(&lock);
    MPIR_Errhandler *h = MPIR_Object_alloc(MPIR_KIND_ERRHANDLER);
    ku_unlock(&lock);
    if (!h)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for one more error handler");
    h->what = MPIR_ERRHANDLER_USER;
    h->object_kind = kind;
    h->handles = 1;
    h->callback = fn;
    *errhandler = h;
    return 0;
}

int MPIR_Comm_create_errhandler(MPIR_Callback comm_errhandler_fn, MPIR_Errhandler **errhandler)
{
    return handler_create(comm_errhandler_fn, MPIR_KIND_COMM, errhandler);
}

int MPIR_Win_create_errhandler(MPIR_Callback win_errhandler_fn, MPIR_Errhandler **errhandler)
{
    return handler_create(win_errhandler_fn, MPIR_KIND_WIN, errhandler);
}

int MPIR_File_create_errhandler(MPIR_Callback file_errhandler_fn, MPIR_Errhandler **errhandler)
{
    return handler_create(file_errhandler_fn, MPIR_KIND_FILE, errhandler);
}

int MPIR_Session_create_errhandler(MPIR_Callback session_errhandler_fn, MPIR_Errhandler **errhandler)
{
    return handler_create(session_errhandler_fn, MPIR_KIND_SESSION, errhandler);
}

int MPIR_Errhandler_check(enum MPIR_KIND kind, const MPIR_Errhandler *errhandler)
{
    bool for_all = errhandler->obj.flags & KEEL_OBJ_PREDEFINED;
    if (errhandler->what == MPIR_ERRHANDLER_USER && errhandler->object_kind != kind && !for_all)
        return MPIR_Err(MPI_ERR_ERRHANDLER, "errhandler", "is an error handler for %s; expected one for %s",
                        kind_name(errhandler->object_kind), kind_name(kind));
    return 0;
}

/* Put the handler into the place of an object of this kind. */
static int set(enum MPIR_KIND kind, MPIR_Errhandler *errhandler, MPIR_Errhandler **place)
{
    int err = MPIR_Errhandler_check(kind, errhandler);
    if (err)
        return err;
    MPIR_Errhandler *old = *place;
    MPIR_Errhandler_ref(errhandler);
    *place = errhandler;
    MPIR_Errhandler_release(old);
    return 0;
}

/* One more handle, which the user frees. */
static int handler_get(MPIR_Errhandler *h, MPIR_Errhandler **errhandler)
{
    ku_lock(&lock);
    MPIR_Object_ref(h);
    h->handles++;
    ku_unlock(&lock);
    *errhandler = h;
    return 0;
}

/* Which of the two communicators that every process has the program has given a handler. */
static bool world_is_set, self_is_set;

MPIR_Comm *MPIR_Errhandler_comm_of_none(void)
{
    bool as_before_4 = world_is_set && !self_is_set && MPIR_ENV(phase) == MPIR_RUNNING;
    return as_before_4 ? &MPIR_Comm_world : &MPIR_Comm_self;
}

int MPIR_Comm_set_errhandler(MPIR_Comm *comm, MPIR_Errhandler *errhandler)
{
    MPIR_Errhandler *h = comm->adi.errhandler;
    int err = set(MPIR_KIND_COMM, errhandler, &h);
    comm->adi.errhandler = h;
    if (!err) {
        world_is_set |= comm == &MPIR_Comm_world;
        self_is_set |= comm == &MPIR_Comm_self;
    }
    return err;
}

int MPIR_Comm_get_errhandler(MPIR_Comm *comm, MPIR_Errhandler **errhandler)
{
    return handler_get(comm->adi.errhandler ? comm->adi.errhandler : &MPIR_Errors_are_fatal, errhandler);
}

int MPIR_Win_set_errhandler(MPIR_Win *win, MPIR_Errhandler *errhandler)
{
    return set(MPIR_KIND_WIN, errhandler, &win->errhandler);
}

int MPIR_Win_get_errhandler(MPIR_Win *win, MPIR_Errhandler **errhandler)
{
    return handler_get(win->errhandler, errhandler);
}

int MPIR_Session_set_errhandler(MPIR_Session *session, MPIR_Errhandler *errhandler)
{
    return set(MPIR_KIND_SESSION, errhandler, &session->errhandler);
}

int MPIR_Session_get_errhandler(MPIR_Session *session, MPIR_Errhandler **errhandler)
{
    return handler_get(session->errhandler, errhandler);
}

/* MPI_FILE_NULL stands for the default handler, that of files which are opened. */
MPIR_Errhandler *MPIR_File_errhandler = &MPIR_Errors_return;

int MPIR_File_set_errhandler(MPIR_File *file, MPIR_Errhandler *errhandler)
{
    return set(MPIR_KIND_FILE, errhandler, file ? &file->errhandler : &MPIR_File_errhandler);
}

int MPIR_File_get_errhandler(MPIR_File *file, MPIR_Errhandler **errhandler)
{
    return handler_get(file ? file->errhandler : MPIR_File_errhandler, errhandler);
}

/* The references of objects are not the user's to drop. */
int MPIR_Errhandler_free(MPIR_Errhandler **errhandler)
{
    MPIR_Errhandler *h = *errhandler;
    bool predefined = h->obj.flags & KEEL_OBJ_PREDEFINED;
    MPIR_Callback fn = { .abi = NULL };
    ku_lock(&lock);
    bool has_handle = predefined || h->handles > 0;
    if (has_handle && !predefined)
        h->handles--;
    if (has_handle)
        fn = drop(h);
    ku_unlock(&lock);
    tell_gone(fn);
    if (!has_handle)
        return MPIR_Err(MPI_ERR_ERRHANDLER, "errhandler",
                        "is an error handler that was freed, though objects still have it");
    *errhandler = NULL;
    return 0;
}

/* ---- The initial handler ------------------------------------------------------------------------------------- */

static const char *const handler_words[] = { "mpi_errors_are_fatal", "mpi_errors_abort",
                                             "mpi_errors_return" };
static const struct ku_names handlers = { "keel_initial_errhandler", 3, handler_words };

static struct ku_knob knob_rows[] = {
    { .name = "INITIAL_ERRHANDLER",
      .type = KU_KNOB_STR,
      .def = "mpi_errors_are_fatal",
      .unit = "",
      .choices = &handlers,
      .once = true,
      .help = "the initial error handler: mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return "
              "(mpiexec -initial-errhandler)" },
};
static struct ku_knob_table knobs = { .rows = knob_rows, .n = 1, .area = "mpi.errors" };

__attribute__((constructor)) static void add_knobs(void)
{
    ku_knob_add(&knobs);
}

static MPIR_Errhandler *initial;

static void read_initial(void)
{
    if (initial != NULL)
        return;
    static MPIR_Errhandler *const rows[] = { &MPIR_Errors_are_fatal, &MPIR_Errors_abort,
                                             &MPIR_Errors_return };
    ku_knob_register(&knobs);
    knob_rows[0].is_used = true;
    initial = rows[ku_knob_int("INITIAL_ERRHANDLER")];
}

MPIR_Errhandler *MPIR_Errhandler_initial(void)
{
    static struct ku_lock lock =
        KU_LOCK(KU_LOCK_TABLE); /* pthread_once would ask the kernel to wake nobody */
    ku_lock(&lock);
    read_initial();
    ku_unlock(&lock);
    return initial;
}

void MPIR_Errhandler_init(void)
{
    MPIR_Comm_world.adi.errhandler = MPIR_Comm_self.adi.errhandler = MPIR_Errhandler_initial();
}
