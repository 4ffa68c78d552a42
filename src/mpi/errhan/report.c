/* report.c: the way of an error to the user: its full text, and the handler of the object it concerns. */
#include "config.h"
#include "bodies.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "comm.h"
#include "env.h"
#include "err.h"
#include "errhandler.h"
#include "request.h"

/* The thread's latest error, for MPI_Error_string, and the communicator of the request that failed
 * (referenced). */
static _Thread_local struct {
    int code;
    char text[MPI_MAX_ERROR_STRING];
} latest;
static _Thread_local MPIR_Comm *request_comm;

int MPIR_Err_exit_code(int errorcode)
{
    return errorcode > 0 && errorcode <= 255 ? errorcode : MPI_ERR_OTHER;
}

/* "invalid rank (MPI_ERR_RANK)", or the user's text for a code of his own. */
static void name_code(char *out, size_t cap, int code)
{
    const char *user = MPIR_Err_user_text(code);
    if (MPIR_Err_class_name(code))
        snprintf(out, cap, "%s (%s)", MPIR_Err_class_text(code), MPIR_Err_class_name(code));
    else if (user && *user)
        snprintf(out, cap, "%s (error code %d)", user, code);
    else
        snprintf(out, cap, "%serror code %d", user ? "" : "unknown ", code);
}

static void name_comm(char *out, size_t cap, const MPIR_Comm *comm)
{
    if (!comm)
        out[0] = 0;
    else if (comm->name[0])
        snprintf(out, cap, " [communicator %s]", comm->name);
    else
        snprintf(out, cap, " [unnamed communicator of %d processes]", comm->adi.size);
}

/* " on rank 1 (host h, pid 123)", or nothing outside a job. */
static void name_process(char *out, size_t cap)
{
    char node[64] = "";
    out[0] = 0;
    if (MPIR_env.phase != MPIR_RUNNING)
        return;
    MPID_Node_name(node, sizeof node);
    snprintf(out, cap, " on rank %d (host %s, pid %d)", MPID_MyWorldRank, node, (int)getpid());
}

/* function, where it happened, what, the recorded words if they are about this code, and the communicator. */
static void compose(char *out, size_t cap, const char *function, const char *where, int code,
                    const MPIR_Comm *comm)
{
    const struct ku_err *e = ku_err_last();
    bool words = e->code == code && (e->text[0] || e->arg[0]);
    char what[MPI_MAX_ERROR_STRING], which[192];
    name_code(what, sizeof what, code);
    name_comm(which, sizeof which, comm);
    snprintf(out, cap, "%s%s: %.300s%s%s%s%s%s", function, where, what, words ? ": " : "",
             words ? e->arg : "", words && e->arg[0] ? " " : "", words ? e->text : "", which);
}

static void call_handler(MPIR_Comm *object, MPIR_Errhandler *handler, const char *fatal_text, int code)
{
    switch (handler ? handler->what : MPIR_ERRHANDLER_FATAL) {
    case MPIR_ERRHANDLER_RETURN:
        return;
    case MPIR_ERRHANDLER_USER: {
        int code_arg = code;
        MPIR_Object_ref(handler); /* it may free itself */
        handler->callback.abi->call_errhandler(&handler->callback, MPIR_KIND_COMM, object, &code_arg);
        MPIR_Errhandler_release(handler);
        return;
    }
    case MPIR_ERRHANDLER_FATAL:
    case MPIR_ERRHANDLER_ABORT:
        MPID_Abort(&object->adi, MPIR_Err_exit_code(code), NULL, (char *)fatal_text);
    }
}

/* Compose both texts and run the handler of `object`.  named: the communicator to name in the text, or NULL.
 */
static void raise_error(MPIR_Comm *object, MPIR_Comm *named, const char *function, int code)
{
    char fatal_text[1024], where[160];
    name_process(where, sizeof where);
    compose(fatal_text, sizeof fatal_text, function, "", code, named);
    compose(latest.text, sizeof latest.text, function, where, code, named);
    latest.code = code;
    ku_err_clear();
    MPIR_Errhandler *handler = MPIR_env.phase == MPIR_RUNNING
                                   ? object->adi.errhandler
                                   : &MPIR_Errors_are_fatal; /* the initial handler */
    call_handler(object, handler, fatal_text, code);
}

static void forget_request(void)
{
    MPIR_Comm *comm = request_comm;
    request_comm = NULL;
    if (comm)
        MPIR_Comm_release(comm);
}

/* A failed MPI_Waitall returns MPI_ERR_IN_STATUS, but the handler gets the code in the status (10.3.1).  What
 * MPIR_Err_request recorded holds for the error that is reported next, if it is the same. */
static int report(MPIR_Comm *comm, const char *function, int errclass)
{
    MPIR_Comm *of_request = request_comm;
    int recorded = ku_err_last()->code;
    bool in_status = errclass == MPI_ERR_IN_STATUS && recorded;
    request_comm = NULL;
    if (of_request && (in_status || recorded == errclass))
        comm = of_request;
    raise_error(comm ? comm : &MPIR_Comm_self, comm, function, in_status ? recorded : errclass);
    if (of_request)
        MPIR_Comm_release(of_request);
    return errclass;
}

int MPIR_Err_comm(MPIR_Comm *comm, const char *function, int errclass)
{
    return report(comm, function, errclass);
}

int MPIR_Err_none(const char *function, int errclass)
{
    return report(NULL, function, errclass);
}

int MPIR_Err_state(const char *function)
{
    static const char *const when[] = {
        [MPIR_BEFORE_INIT] = "before MPI_Init",
        [MPIR_AFTER_FINALIZE] = "after MPI_Finalize",
        [MPIR_FORKED] = "in a child that a rank made by fork; expected calls by the rank alone",
    };
    forget_request();
    MPIR_Err(MPI_ERR_OTHER, NULL, "called %s", when[MPIR_env.phase]);
    return MPIR_Err_none(function, MPI_ERR_OTHER);
}

int MPIR_Err_request(const MPIR_Request *request)
{
    MPIR_Comm *comm = (MPIR_Comm *)request->comm;
    int err = request->errval;
    if (!MPIR_Request_has_closure(request))
        MPID_RecvIcomplete((MPIR_Request *)request, NULL, &err); /* the ADI records the words, again */
    else if (((const struct MPIR_Closure *)request->aux)->ops->explain)
        ((const struct MPIR_Closure *)request->aux)->ops->explain(request);
    forget_request();
    if (comm) {
        MPIR_Object_ref(comm);
        request_comm = comm;
    }
    return err;
}

int MPIR_Error_string(int errorcode, char *string, int *resultlen)
{
    const char *user = MPIR_Err_user_text(errorcode), *text = MPIR_Err_class_text(errorcode);
    if (!user && !text)
        return MPIR_Err(MPI_ERR_ARG, "errorcode", "is %d; expected an error class or code", errorcode);
    if (user)
        snprintf(string, MPI_MAX_ERROR_STRING, "%s", user);
    else if (latest.code == errorcode && errorcode)
        snprintf(string, MPI_MAX_ERROR_STRING, "%s", latest.text);
    else
        name_code(string, MPI_MAX_ERROR_STRING, errorcode);
    *resultlen = (int)strlen(string);
    return 0;
}

/* This body alone calls the handler itself: it is what the call is for. */
int MPIR_Comm_call_errhandler(MPIR_Comm *comm, int errorcode)
{
    ku_err_clear();
    raise_error(comm, comm, "MPI_Comm_call_errhandler", errorcode);
    return 0;
}
