/* SPDX-License-Identifier: BSD-3-Clause */
/* err_report.c: the way of an error to the user: its full text, and the handler of the object it concerns. */
#include "config.h"
#include "bodies.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "callback.h"
#include "checks.h"
#include "comm.h"
#include "env.h"
#include "mpi_err.h"
#include "errhandler.h"
#include "file.h"
#include "request.h"
#include "session.h"
#include "tell.h"
#include "util/own.h"
#include "win.h"

/* The thread's latest error, for MPI_Error_string, and the communicator of the request that failed
 * (referenced). */
struct latest {
    int code;
    char text[MPI_MAX_ERROR_STRING];
};
static _Thread_local void *latest_place;
static struct latest latest_spare;

static struct latest *latest(void)
{
    return latest_place ? latest_place : ku_own(&latest_place, sizeof(struct latest), &latest_spare);
}

static _Thread_local MPIR_Comm *request_comm;
static _Thread_local MPIR_File *request_file; /* the same of an access to a file */

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

static void name_win(char *out, size_t cap, const MPIR_Win *win)
{
    if (win->name[0])
        snprintf(out, cap, " [window %s]", win->name);
    else
        snprintf(out, cap, " [unnamed window of %d processes]", win->comm->adi.size);
}

/* " on rank 1 (host h, pid 123)", or nothing outside a job. */
static void name_process(char *out, size_t cap)
{
    char node[64] = "";
    out[0] = 0;
    if (!MPIR_ENV(up))
        return;
    MPID_Node_name(node, sizeof node);
    snprintf(out, cap, " on rank %d (host %s, pid %d)", MPID_MyWorldRank, node, (int)getpid());
}

/* function, where it happened, what, the recorded words if they are about this code, and the object's name; what
 * is too long ends in dots. */
static void compose(char *out, size_t cap, const char *function, const char *where, int code,
                    const char *which)
{
    const struct ku_err *e = ku_err_last();
    bool words = e->code == code && (e->text[0] || e->arg[0]);
    char what[MPI_MAX_ERROR_STRING];
    name_code(what, sizeof what, code);
    int n = snprintf(out, cap, "%s%s: %.300s%s%s%s%s%s", function, where, what, words ? ": " : "",
                     words ? e->arg : "", words && e->arg[0] ? " " : "", words ? e->text : "", which);
    if (n >= (int)cap)
        memcpy(out + cap - sizeof "...", "...", sizeof "...");
}

/* How deep error handlers are in one another.  A handler may be left by longjmp, so what counts is whether the
 * stack frame of an earlier report can still be there. */
enum { DEEPEST = 50 };
static _Thread_local struct nested {
    uintptr_t first, last; /* frames; stacks grow downwards */
    int n;
} nested;

static void enter(uintptr_t frame)
{
    if (nested.n > 0 && nested.first <= frame)
        nested.n = 0;
    else if (nested.n > 0 && nested.last <= frame) /* the innermost has been left, others perhaps */
        nested.n = 1;
    if (nested.n++ == 0)
        nested.first = frame;
    nested.last = frame;
}

static _Noreturn void end_job(const MPIR_Comm *comm, int code, const char *text)
{
    MPID_Trace_here();
    MPID_Abort(comm ? (struct MPIR_COMMUNICATOR *)&comm->adi : NULL, MPIR_Err_exit_code(code), NULL,
               (char *)text);
}

/* The code that the user's function leaves.  Nothing is held while it runs, as it may never return (longjmp, a C++
 * exception), nor is anything touched afterwards: it may free the handler and the object. */
static int call_user(const MPIR_Errhandler *handler, enum MPIR_KIND kind, void *object, int code)
{
    MPIR_Callback callback = handler->callback;
    struct nested outer = nested;
    enter((uintptr_t)__builtin_frame_address(0));
    if (nested.n == DEEPEST) {
        char text[MPI_MAX_ERROR_STRING + 80];
        snprintf(text, sizeof text, "error handlers have called one another %d deep; the latest error: %s",
                 DEEPEST, latest()->text);
        end_job(NULL, code, text);
    }
    MPIR_Language = MPIR_C; /* whatever the function calls says for itself what it is */
    bool claimed = MPIR_Callback_begin();
    callback.abi->call_errhandler(&callback, kind, object, &code);
    MPIR_Callback_end(claimed);
    nested = outer;
    return code;
}

/* An error, and where it belongs. */
struct raised {
    enum MPIR_KIND kind;
    void *object; /* what a handler of the user's gets; NULL: the null handle */
    MPIR_Errhandler *handler;
    const MPIR_Comm *named; /* the communicator to name in the text, or NULL */
    int code;
    bool given; /* the call has been given the handler */
};

/* MPI_ERRORS_ABORT ends the communicator's processes, on a session this one; NULL: the whole job. */
static const MPIR_Comm *abort_group(const struct raised *r, const MPIR_Errhandler *handler)
{
    static MPIR_Comm alone = { .adi = { .size = 1, .remote_size = 1, .lrank_to_grank = &MPID_MyWorldRank } };
    if (handler->what != MPIR_ERRHANDLER_ABORT || !MPIR_ENV(up))
        return NULL;
    if (r->kind == MPIR_KIND_SESSION)
        return &alone;
    if (r->kind == MPIR_KIND_WIN)
        return ((MPIR_Win *)r->object)->comm;
    bool some = r->kind == MPIR_KIND_COMM && r->object != NULL && !((MPIR_Comm *)r->object)->remote_group;
    return some ? r->object : NULL;
}

/* Without the world model MPI_COMM_SELF has no handler, nor has what is no object. */
static MPIR_Errhandler *handler_of(const struct raised *r)
{
    bool of_world = r->object == NULL || r->object == &MPIR_Comm_self;
    return of_world && !r->given && MPIR_ENV(phase) != MPIR_RUNNING ? MPIR_Errhandler_initial() : r->handler;
}

/* Checks are told of what is the program's: not that another rank has gone. */
static void tell_checks(const char *function, int code, const char *text, bool ends)
{
    enum ku_fault_kind kind = code == MPI_ERR_RMA_CONFLICT ? KU_FAULT_WINDOW_CONFLICT
                              : ends                       ? KU_FAULT_FATAL
                                                           : KU_FAULT_RETURNED;
    if (!MPIR_Check_wants(kind) || code == MPID_Gone_class() || code == MPID_ERR_REVOKED)
        return;
    if (ends)
        MPIR_Check_before_end(function);
    if (ends)
        MPIR_Check_note(kind, function, NULL, MPID_Caller(), text);
    else
        MPIR_Check_tell(kind, function, NULL, MPID_Caller(), 0, "%s", text);
}

/* Compose both texts and run the handler.  Returns the code as the handler leaves it: 0 from one that has settled
 * the matter. */
static int raise_error(const struct raised *r, const char *function)
{
    char fatal_text[1024], where[160], which[192];
    name_process(where, sizeof where);
    if (r->kind == MPIR_KIND_WIN)
        name_win(which, sizeof which, r->object);
    else
        name_comm(which, sizeof which, r->named);
    compose(fatal_text, sizeof fatal_text, function, "", r->code, which);
    struct latest *shown = latest();
    compose(shown->text, sizeof shown->text, function, where, r->code, which);
    shown->code = r->code;
    ku_err_clear();
    MPIR_Errhandler *handler = handler_of(r); /* it may be gone when its function has run */
    bool settles = handler->what == MPIR_ERRHANDLER_USER && handler->callback.abi->settles;
    int code = r->code;
    bool ends = handler->what != MPIR_ERRHANDLER_USER && handler->what != MPIR_ERRHANDLER_RETURN;
    tell_checks(function, r->code, fatal_text + strlen(function) + 2, ends);
    if (handler->what == MPIR_ERRHANDLER_USER)
        code = call_user(handler, r->kind, r->object, r->code);
    else if (ends)
        end_job(abort_group(r, handler), r->code, fatal_text);
    return settles ? MPI_SUCCESS : code;
}

static int raise_on_comm(MPIR_Comm *comm, const MPIR_Comm *named, const char *function, int code)
{
    return raise_error(
        &(struct raised){ .kind = MPIR_KIND_COMM,
                          .object = comm,
                          .handler = comm->adi.errhandler ? comm->adi.errhandler : &MPIR_Errors_are_fatal,
                          .named = named,
                          .code = code },
        function);
}

static int raise_on_file(MPIR_File *file, const char *function, int code)
{
    return raise_error(
        &(struct raised){ .kind = MPIR_KIND_FILE, .object = file, .handler = file->errhandler, .code = code },
        function);
}

static void forget_request(void)
{
    MPIR_Comm *comm = request_comm;
    MPIR_File *file = request_file;
    request_comm = NULL;
    request_file = NULL;
    if (comm)
        MPIR_Comm_release(comm);
    if (file)
        MPIR_File_release(file);
}

/* A failed MPI_Waitall returns MPI_ERR_IN_STATUS, but the handler gets the code in the status (10.3.1).  What
 * MPIR_Err_request recorded holds for the error that is reported next, if it is the same.  Returns what the call
 * is to return: the class, or what the handler has made of the code. */
static int report(MPIR_Comm *comm, const char *function, int errclass)
{
    MPIR_Comm *of_request = request_comm;
    MPIR_File *file = request_file;
    int recorded = ku_err_last()->code;
    bool in_status = errclass == MPI_ERR_IN_STATUS && recorded;
    bool of_the_request = in_status || recorded == errclass;
    int code = in_status ? recorded : errclass, left;
    request_comm = NULL;
    request_file = NULL;
    if (file && of_the_request) {
        left = raise_on_file(file, function, code);
    } else {
        MPIR_Comm *named = of_request && of_the_request ? of_request : comm;
        left = raise_on_comm(named ? named : MPIR_Errhandler_comm_of_none(), named, function, code);
    }
    if (file)
        MPIR_File_release(file);
    if (of_request)
        MPIR_Comm_release(of_request);
    return left == code ? errclass : left;
}

int MPIR_Err_comm(MPIR_Comm *comm, const char *function, int errclass)
{
    return report(comm, function, errclass);
}

int MPIR_Err_none(const char *function, int errclass)
{
    return report(NULL, function, errclass);
}

static int raise_on_win(MPIR_Win *win, const char *function, int code)
{
    return raise_error(
        &(struct raised){ .kind = MPIR_KIND_WIN, .object = win, .handler = win->errhandler, .code = code },
        function);
}

int MPIR_Err_win(MPIR_Win *win, const char *function, int errclass)
{
    forget_request();
    return raise_on_win(win, function, errclass);
}

static int raise_on_session(MPIR_Session *session, const char *function, int code)
{
    return raise_error(
        &(struct raised){
            .kind = MPIR_KIND_SESSION, .object = session, .handler = session->errhandler, .code = code },
        function);
}

int MPIR_Err_session(MPIR_Session *session, const char *function, int errclass)
{
    forget_request();
    return raise_on_session(session, function, errclass);
}

/* MPI_ERRORS_ABORT ends this process alone, as on a session: there is no communicator. */
int MPIR_Err_given(MPIR_Errhandler *handler, const char *function, int errclass)
{
    bool user = handler->what == MPIR_ERRHANDLER_USER;
    forget_request();
    return raise_error(&(struct raised){ .kind = user ? handler->object_kind : MPIR_KIND_SESSION,
                                         .handler = handler,
                                         .code = errclass,
                                         .given = true },
                       function);
}

int MPIR_Err_state(const char *function)
{
    static const char *const when[] = {
        [MPIR_BEFORE_INIT] = "before MPI_Init",
        [MPIR_AFTER_FINALIZE] = "after MPI_Finalize",
        [MPIR_FORKED] = "in a child that a rank made by fork; expected calls by the rank alone",
    };
    bool world = MPIR_ENV(up) || MPIR_ENV(phase) == MPIR_FORKED; /* then a session would not help */
    forget_request();
    MPIR_Err(MPI_ERR_OTHER, NULL, "called %s%s", when[MPIR_ENV(phase)],
             world ? "" : ", and without a session");
    return MPIR_Err_none(function, MPI_ERR_OTHER);
}

int MPIR_Err_request(const MPIR_Request *request)
{
    MPIR_Comm *comm = (MPIR_Comm *)request->comm;
    int err = request->errval;
    if (!MPIR_Request_has_closure(request))
        err = MPID_Wait((MPIR_Request *)request, NULL); /* the ADI records the words, again */
    else if (((const struct MPIR_Closure *)request->aux)->ops->explain)
        ((const struct MPIR_Closure *)request->aux)->ops->explain(request);
    forget_request();
    if (request->handle_type == MPIR_IO && err) {
        request_file = MPIR_File_of_request(request);
        MPIR_Object_ref(request_file);
    }
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
    else if (errorcode && latest()->code == errorcode)
        snprintf(string, MPI_MAX_ERROR_STRING, "%s", latest()->text);
    else
        name_code(string, MPI_MAX_ERROR_STRING, errorcode);
    *resultlen = (int)strlen(string);
    return 0;
}

/* These bodies alone call the handler themselves: it is what the call is for. */
int MPIR_Comm_call_errhandler(MPIR_Comm *comm, int errorcode)
{
    ku_err_clear();
    raise_on_comm(comm, comm, "MPI_Comm_call_errhandler", errorcode);
    return 0;
}

int MPIR_Win_call_errhandler(MPIR_Win *win, int errorcode)
{
    ku_err_clear();
    raise_on_win(win, "MPI_Win_call_errhandler", errorcode);
    return 0;
}

static int raise_on_no_file(const char *function, int code)
{
    return raise_error(
        &(struct raised){ .kind = MPIR_KIND_FILE, .handler = MPIR_File_errhandler, .code = code }, function);
}

int MPIR_Session_call_errhandler(MPIR_Session *session, int errorcode)
{
    ku_err_clear();
    raise_on_session(session, "MPI_Session_call_errhandler", errorcode);
    return 0;
}

/* MPI_FILE_NULL has a handler, so it can be called. */
int MPIR_File_call_errhandler(MPIR_File *fh, int errorcode)
{
    ku_err_clear();
    if (fh)
        raise_on_file(fh, "MPI_File_call_errhandler", errorcode);
    else
        raise_on_no_file("MPI_File_call_errhandler", errorcode);
    return 0;
}

int MPIR_Err_file(MPIR_File *file, const char *function, int errclass)
{
    forget_request();
    return raise_on_file(file, function, errclass);
}

int MPIR_Err_no_file(const char *function, int errclass)
{
    forget_request();
    return raise_on_no_file(function, errclass);
}
