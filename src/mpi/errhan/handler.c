/* handler.c: error handlers as objects, and those of communicators. */
#include "config.h"
#include "bodies.h"
#include "comm.h"
#include "err.h"
#include "errhandler.h"

#define PREDEFINED(value, kind_of) \
    { \
        .obj = { .index = KEEL_NO_INDEX, \
                 .gen = 1, \
                 .kind = MPIR_KIND_ERRHANDLER, \
                 .flags = KEEL_OBJ_PREDEFINED, \
                 .refs = 1, \
                 .self = value }, \
        .what = kind_of \
    }

MPIR_Errhandler MPIR_Errors_are_fatal = PREDEFINED(KEEL_MPI_ERRORS_ARE_FATAL, MPIR_ERRHANDLER_FATAL);
MPIR_Errhandler MPIR_Errors_abort = PREDEFINED(KEEL_MPI_ERRORS_ABORT, MPIR_ERRHANDLER_ABORT);
MPIR_Errhandler MPIR_Errors_return = PREDEFINED(KEEL_MPI_ERRORS_RETURN, MPIR_ERRHANDLER_RETURN);

void MPIR_Errhandler_release(MPIR_Errhandler *errhandler)
{
    if (errhandler && MPIR_Object_unref(errhandler))
        MPIR_Object_free(errhandler);
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

static int create(MPIR_Callback fn, enum MPIR_KIND kind, MPIR_Errhandler **errhandler)
{
    MPIR_Errhandler *h = MPIR_Object_alloc(MPIR_KIND_ERRHANDLER);
    if (!h)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for one more error handler");
    h->what = MPIR_ERRHANDLER_USER;
    h->object_kind = kind;
    h->callback = fn;
    *errhandler = h;
    return 0;
}

int MPIR_Comm_create_errhandler(MPIR_Callback comm_errhandler_fn, MPIR_Errhandler **errhandler)
{
    return create(comm_errhandler_fn, MPIR_KIND_COMM, errhandler);
}

int MPIR_Comm_set_errhandler(MPIR_Comm *comm, MPIR_Errhandler *errhandler)
{
    if (errhandler->what == MPIR_ERRHANDLER_USER && errhandler->object_kind != MPIR_KIND_COMM)
        return MPIR_Err(MPI_ERR_ERRHANDLER, "errhandler",
                        "is an error handler for %s; expected one for communicators",
                        kind_name(errhandler->object_kind));
    MPIR_Errhandler *old = comm->adi.errhandler;
    MPIR_Object_ref(errhandler);
    comm->adi.errhandler = errhandler;
    MPIR_Errhandler_release(old);
    return 0;
}

int MPIR_Comm_get_errhandler(MPIR_Comm *comm, MPIR_Errhandler **errhandler)
{
    MPIR_Errhandler *h = comm->adi.errhandler ? comm->adi.errhandler : &MPIR_Errors_are_fatal;
    MPIR_Object_ref(h);
    *errhandler = h;
    return 0;
}

int MPIR_Errhandler_free(MPIR_Errhandler **errhandler)
{
    MPIR_Errhandler_release(*errhandler);
    *errhandler = NULL;
    return 0;
}
